"""From the names of what was intervened on, row by row, to regimes and their targets."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from io import StringIO
from typing import NoReturn

import numpy as np

from seacausal.errors import DataError
from seacausal.io.aligned import Mask
from seacausal.io.cells import Place, is_missing, shown
from seacausal.io.names import suggest

JOINERS = "_|;/&"
"""Signs that join names in guides for two genes, and may also be part of a name."""

CONTROL = re.compile(
    r"\W*((non?|not)[\W_]*target(ing|ed)?|(neg(ative)?[\W_]*)?(ctrl|ctl|controls?)|ntc?|safe[\W_]*(harbou?r|target(ing)?)|scrambled?|neg(ative)?|"
    r"no[\W_]*(target|guide|intervention|treatment|drug|perturbation)|un(perturbed|treated|stimulated)|observational|baseline|vehicle|dmso|mock|"
    r"placebo|none|wt|wild[\W_]*type)([\W_]+\d+)?\W*",
    re.IGNORECASE,
)
"""What labels for no intervention are called, perhaps with a number behind."""
GUIDE = re.compile(r"(?=.*[^\W\d_])(?:s[ghi][-_]?)?(?P<target>.+?)(?:[-_.:# ]\d{1,3})?")
"""A guide of many for one target: sg, sh or si before it, a number behind it. No number alone is one: 1.5."""


def parse_interventions(
    entries: Sequence[object], names: Sequence[str], place: Place, *, control: Collection[str] = (), others: bool = True
) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    """Find the regimes of a table.

    Parameters
    ----------
    entries
        One for each row: nothing (None, NaN or empty text), a name, several names split by commas or plus signs, or a sequence of names. A text
        that is a name as it stands is never split; a name within a list that itself has a comma is quoted as in csv: `"a,b",c`. A text is also
        split at one of `JOINERS` where all of its pieces are names or controls: `A_B`, `ctrl_A`; else a guide stands for its target, see `GUIDE`.
    names
        The d variables.
    place
        Where the rows stand, for messages.
    control
        Labels that stand for no intervention, too.
    others
        Whether entries that name no variable are refused; else the regime of their rows is -1.

    Returns
    -------
    regime : (n,) int32
        Numbered by first appearance, after the observational regime where there is one.
    targets : (r, d) bool
        What was intervened on in each regime.
    guides
        Labels that were taken for guides of a variable, and which.

    Raises
    ------
    DataError
        If an entry names no variable, says the row and the closest names; if a label of `control` is a variable or occurs in no entry.
    """
    index = {name.strip(): i for i, name in enumerate(names)} | {name: i for i, name in enumerate(names)}
    known: dict[object, tuple[int, ...]] = {}
    for label in control:
        if label.strip() in index:
            raise DataError(f"`control` must not be a variable; found {label!r}, which is a column of {place.label}. Rename one of both.")
    controls, used = {label.strip() for label in control}, set()
    words = index.keys() | controls
    rows, guides = [], dict[str, str]()
    for row, entry in enumerate(entries):
        key = entry if isinstance(entry, (str, int, float, type(None))) else None
        if key is not None and key in known:
            rows.append(known[key])
            continue
        split = [entry] if isinstance(entry, str) and entry.strip() in controls else split_entry(entry, index)
        pieces = [piece for part in split for piece in _split_joined(part, words)]
        split = [_target_of(piece, words) for piece in pieces]
        guides |= {piece.strip(): target for piece, target in zip(pieces, split) if target != piece and target in index}
        parts = [part for part in split if part.strip() not in controls]
        used |= controls.intersection(part.strip() for part in split)
        found = {_find(name, index) for name in parts}
        if -1 in found and others:
            _refuse(next(name for name in parts if _find(name, index) < 0), names, place, row)
        targets = (-1,) if -1 in found else tuple(sorted(found))
        rows.append(targets)
        if key is not None:
            known[key] = targets
    for label in control:
        if label.strip() not in used:
            labels = sorted({part.strip() for entry in known if entry is not None for part in split_entry(entry, index)} - set(index))
            guess = suggest(label, labels, kind="labels") if labels else "There are no labels but names of variables."
            raise DataError(f"`control` must stand among the interventions of {place.label}; found {label!r}, which does not. {guess}")
    distinct = sorted(dict.fromkeys(targets for targets in rows if targets != (-1,)), key=bool)  # stable: only the observational regime moves
    number = {targets: regime for regime, targets in enumerate(distinct)} | {(-1,): -1}
    matrix = np.zeros((len(distinct), len(names)), bool)
    for regime, targets in enumerate(distinct):
        matrix[regime, list(targets)] = True
    return np.array([number[targets] for targets in rows], np.int32), matrix, guides


def parse_mask(given: Mask, names: Sequence[str], place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Regimes and targets as of `parse_interventions`, of numbers that say of each row and variable whether it was intervened on there.

    Raises
    ------
    DataError
        If the array has another shape, columns of other names than the variables, or values but 0 and 1.
    """
    if given.names is not None and sorted(given.names) != sorted(names):
        _refuse_columns(given.names, names, place)
    mask = given.values
    if mask.shape[1:] != (len(names),):
        begin = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        raise DataError(
            f"`interventions` as an array of numbers must say of each row which of the {len(names)} variables were intervened on there, one column "
            f"for each; found {mask.shape[1]} columns. The variables of {place.label} are {begin}."
        )
    mask = mask.toarray() if hasattr(mask, "toarray") else mask
    if given.names is not None:
        index = {name: i for i, name in enumerate(given.names)}
        mask = mask[:, [index[name] for name in names]]
    strange = ~((mask == 0) | (mask == 1))
    if strange.any():
        row, column = np.argwhere(strange)[0].tolist()
        raise DataError(
            f"`interventions` as an array of numbers must hold 1 where a variable was intervened on, and 0 elsewhere; found {mask[row, column]} in "
            f"{place.row(row)}, column {names[column]!r}. Give names for anything else."
        )
    distinct, first, regime = np.unique(mask.astype(bool), axis=0, return_index=True, return_inverse=True)
    order = np.lexsort((first, distinct.any(1)))  # by first appearance, after the observational regime
    return np.argsort(order)[regime.ravel()].astype(np.int32), distinct[order]


def _refuse_columns(found: Sequence[str], names: Sequence[str], place: Place) -> NoReturn:
    counts = Counter(found)
    kinds = {
        "none for": [name for name in names if name not in counts],
        "unknown": [name for name in counts if name not in names],
        "repeated": [name for name, count in counts.items() if count > 1],
    }
    said = "; ".join(f"{kind} {', '.join(map(repr, held[:5]))}{', ...' if len(held) > 5 else ''}" for kind, held in kinds.items() if held)
    raise DataError(
        f"`interventions` as a frame of numbers must have one column for each variable of {place.label}, called as it is; found {said}. Add columns "
        "of 0 for variables that were never intervened on and drop the others, or give interventions.to_numpy() if columns are in the table's order."
    )


def find_controls(labels: Iterable[str]) -> list[str]:
    """The labels that, or parts of which, are called as controls usually are."""
    return [label for label in labels if any(CONTROL.fullmatch(part) for part in (label, *re.split(r"[+,;|/&]", label)))]


def split_entry(entry: object, index: Container[str]) -> list[str]:
    """The names in one entry, which is not split where it is in `index` as it stands."""
    if isinstance(entry, str):
        if entry in index or entry.strip() in index:
            return [entry]
        if is_missing(entry):
            return []
        try:
            parts = [part for line in csv.reader(StringIO(entry, newline=""), skipinitialspace=True) for part in line]
        except csv.Error:  # longer than any list of names
            return [entry]
        parts = [piece for part in parts for piece in ([part] if part in index or part.strip() in index else part.split("+"))]
        return [part for part in parts if part.strip()]
    if is_missing(entry):
        return []
    if isinstance(entry, Iterable):
        return [str(part) for part in entry if not is_missing(part)]
    # A column of whole numbers with gaps comes as floats: 7.0 means the variable called 7.
    return [str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)]


def _split_joined(part: str, known: Container[str]) -> list[str]:
    """The pieces between `JOINERS`, where `part` is not known as it stands and all of them are; else `part` alone."""
    if part.strip() in known:
        return [part]
    ends = [*(at for at, sign in enumerate(part) if sign in JOINERS), len(part)]
    pieces: dict[int, list[str]] = {len(part) + 1: []}  # by where they start
    for start in reversed([0, *(end + 1 for end in ends[:-1])]):
        for end in ends:
            if start < end and end + 1 in pieces and part[start:end].strip() in known:
                pieces[start] = [part[start:end], *pieces[end + 1]]
    return pieces.get(0, [part])


def _target_of(part: str, known: Container[str]) -> str:
    """The name that a guide stands for where `part` is not known as it stands; else `part`."""
    label = part.strip()
    found = None if label in known else GUIDE.fullmatch(label)
    return found["target"] if found and found["target"] in known else part


def _find(name: str, index: dict[str, int]) -> int:
    """Which variable a name means, -1 for none; spaces around it may differ."""
    return index.get(name, index.get(name.strip(), -1))


def _refuse(name: str, names: Sequence[str], place: Place, row: int) -> NoReturn:
    begun = max((known for known in names if name.startswith(known.strip()) and known.strip()), key=len, default=None)
    if begun is not None and not name[len(begun.strip())].isalnum():
        guess = f"If it is a guide for {begun.strip()!r}, give that name alone."
    else:
        guess = suggest(name, names, kind="variables")
    advice = "Leave the entry empty where nothing was intervened on"
    if guess.startswith("The"):
        advice += (
            f", or say control={shown(name)} (`--control`) if it means that; other_targets='drop' (`--other-targets drop`) leaves out rows with "
            "interventions on what is no column"
        )
    raise DataError(f"Interventions must name variables of the table; found {shown(name)} in {place.row(row)}. {guess} {advice}.")
