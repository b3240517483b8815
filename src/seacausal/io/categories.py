"""Columns of text that hold a few categories, and such as have an order of their own, as numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import Place, is_missing, is_number, leave_out, shown
from seacausal.io.interventions import split_entry

CATEGORIES = 10
"""A column of text with more kinds of cells is refused."""


def to_categories(cells: np.ndarray | Sequence[object], name: str, names: Sequence[str], place: Place) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """(n,) float64 codes 0, 1, ..., NaN for missing, and the categories in their order; None unless a column is text of few categories.

    All cells that hold a value must be text that spells no number. The order is alphabetical, but for numbers within them: "5 mg" before "10 mg".

    Parameters
    ----------
    names
        Of all columns.

    Raises
    ------
    DataError
        If it is one but for a category that occurs once, which is taken for a typo, or that names a variable, as in a column of interventions; or
        has more than `CATEGORIES`, though fewer than half as many as there are rows.
    """
    _refuse_names(cells, name, names, place)
    counts = count_texts(cells, names)
    if not counts:
        return None
    held = [None if is_missing(cell) else str(cell).strip() for cell in cells]
    if len(counts) > max(CATEGORIES, len(held) / 2):
        return None
    if len(counts) > CATEGORIES:
        raise DataError(
            f"Column {name!r}, which is text, must hold at most {CATEGORIES} kinds of cells to stand for categories; found {len(counts)} in "
            f"{place.label}. Merge some, or {leave_out(name)}"
        )
    level, fewest = min(counts.items(), key=lambda item: item[1])
    if fewest == 1:
        raise DataError(
            f"Column {name!r}, which is text, must hold each of its categories in two rows or more; found {shown(level)} in "
            f"{place.row(held.index(level))} alone. Correct the cell, or drop the row or the column."
        )
    levels = tuple(sorted(counts, key=_by_number))
    return np.array([np.nan if cell is None else float(levels.index(cell)) for cell in held]), levels


def number_ordered(
    cells: np.ndarray | Sequence[object], name: str, names: Sequence[str], place: Place, order: Sequence[object]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same of a column that says itself in which `order` its categories stand, whatever these are: text, numbers or intervals, and however many.

    Raises
    ------
    DataError
        If a category names a variable.
    """
    _refuse_names(cells, name, names, place)
    used = {cell for cell in cells if not is_missing(cell)}
    levels = [level for level in order if level in used]
    codes = {level: float(code) for code, level in enumerate(levels)}
    return np.array([codes.get(cell, np.nan) for cell in cells]), tuple(str(level).strip() for level in levels)


def count_texts(cells: np.ndarray | Sequence[object], names: Sequence[str]) -> Counter[str]:
    """How often each text occurs; nothing unless all cells that hold a value are text that spells no number and names no variable."""
    counts = _count(cells)
    known = {name.strip() for name in names}
    return Counter() if any(is_number(kind) or _is_named(kind, known) for kind in counts) else counts


def _count(cells: np.ndarray | Sequence[object]) -> Counter[str]:
    """How often each text occurs; nothing unless all cells that hold a value are text."""
    if not all(isinstance(cell, str) or is_missing(cell) for cell in cells):
        return Counter()
    return Counter(str(cell).strip() for cell in cells if not is_missing(cell))


def _is_named(kind: str, known: Collection[str]) -> bool:
    """Whether a text holds the name of a variable, as what says what was intervened on does."""
    return any(part.strip() in known for part in split_entry(kind, known))


def _refuse_names(cells: np.ndarray | Sequence[object], name: str, names: Sequence[str], place: Place) -> None:
    """Refuse texts that spell no number of which one names a variable."""
    counts, known = _count(cells), {name.strip() for name in names}
    named = next((kind for kind in counts if _is_named(kind, known)), None)
    if named is None or any(map(is_number, counts)):
        return
    row = next(row for row, cell in enumerate(cells) if str(cell).strip() == named)
    raise DataError(
        f"Column {name!r} must hold numbers; found {shown(named)} in {place.row(row)}, which names a column, so that the texts are not taken for "
        f"categories. If it is a category, rename it or that column; else {leave_out(name)}"
    )


def _by_number(level: str) -> list[tuple[str, float]]:
    """Pieces of a category, each text and the number that follows it, which compare as people sort them."""
    return [(text, float(number or -1)) for text, number in re.findall(r"([^\d]*)(\d*)", level)]
