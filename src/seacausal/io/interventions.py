"""From the names of what was intervened on, row by row, to regimes and their targets."""

from __future__ import annotations

import csv
from collections.abc import Container, Iterable, Sequence
from io import StringIO

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import Place, is_missing
from seacausal.io.names import suggest


def parse_interventions(entries: Sequence[object], names: Sequence[str], place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Find the regimes of a table.

    Parameters
    ----------
    entries
        One for each row: nothing (None, NaN or empty text), a name, several names split by commas, or a sequence of names. A text that is a
        name as it stands is never split; a name within a list that itself has a comma is quoted as in csv: `"a,b",c`.
    names
        The d variables.
    place
        Where the rows stand, for messages.

    Returns
    -------
    regime : (n,) int32
        Numbered by first appearance, after the observational regime where there is one.
    targets : (r, d) bool
        What was intervened on in each regime.

    Raises
    ------
    DataError
        If an entry names no variable; says the row and the closest names.
    """
    index = {name.strip(): i for i, name in enumerate(names)} | {name: i for i, name in enumerate(names)}
    known: dict[object, tuple[int, ...]] = {}
    rows = []
    for row, entry in enumerate(entries):
        key = entry if isinstance(entry, (str, int, float, type(None))) else None
        if key is not None and key in known:
            rows.append(known[key])
            continue
        targets = tuple(sorted({_find(name, index, names, place, row) for name in split_entry(entry, index)}))
        rows.append(targets)
        if key is not None:
            known[key] = targets
    distinct = sorted(dict.fromkeys(rows), key=bool)  # stable: only the observational regime moves
    number = {targets: regime for regime, targets in enumerate(distinct)}
    matrix = np.zeros((len(distinct), len(names)), bool)
    for regime, targets in enumerate(distinct):
        matrix[regime, list(targets)] = True
    return np.array([number[targets] for targets in rows], np.int32), matrix


def split_entry(entry: object, index: Container[str]) -> list[str]:
    """The names in one entry, which is not split where it is in `index` as it stands."""
    if isinstance(entry, str):
        if entry in index or entry.strip() in index:
            return [entry]
        if is_missing(entry):
            return []
        parts = [part for line in csv.reader(StringIO(entry, newline=""), skipinitialspace=True) for part in line]
        return [part for part in parts if part.strip()]
    if is_missing(entry):
        return []
    if isinstance(entry, Iterable):
        return [str(part) for part in entry]
    # A column of whole numbers with gaps comes as floats: 7.0 means the variable called 7.
    return [str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)]


def _find(name: str, index: dict[str, int], names: Sequence[str], place: Place, row: int) -> int:
    """Which variable a name means; spaces around it may differ."""
    position = index.get(name, index.get(name.strip()))
    if position is None:
        raise DataError(
            f"Interventions must name variables of the table; found {name!r} in {place.row(row)}. {suggest(name, names, kind='variables')} "
            "Leave the entry empty where nothing was intervened on."
        )
    return position
