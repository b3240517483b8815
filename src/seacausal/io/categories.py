"""Columns of text that hold a few categories, as numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import Place, is_missing, is_number, leave_out, shown
from seacausal.io.interventions import split_entry

CATEGORIES = 10
"""A column of text with more kinds of cells is refused."""


def to_categories(
    cells: np.ndarray | Sequence[object], name: str, names: Sequence[str], place: Place, *, order: Sequence[str] | None = None
) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """(n,) float64 codes 0, 1, ..., NaN for missing, and the categories in their order; None unless a column is text of few categories.

    All cells that hold a value must be text that spells no number. Nor may they name variables, as in a column of interventions.

    Parameters
    ----------
    names
        Of all columns.
    order
        Of the categories, by default alphabetical, but for numbers within them: "5 mg" before "10 mg".

    Raises
    ------
    DataError
        If it is one but for a category that occurs once, which is taken for a typo; or has more than `CATEGORIES`, though fewer than half as many
        as there are rows.
    """
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
    levels = tuple(sorted(counts, key=_by_number) if order is None else (level for level in map(str.strip, order) if level in counts))
    return np.array([np.nan if cell is None else float(levels.index(cell)) for cell in held]), levels


def count_texts(cells: np.ndarray | Sequence[object], names: Sequence[str]) -> Counter[str]:
    """How often each text occurs; nothing unless all cells that hold a value are text that spells no number and names no variable."""
    if not all(isinstance(cell, str) or is_missing(cell) for cell in cells):
        return Counter()
    counts = Counter(str(cell).strip() for cell in cells if not is_missing(cell))
    known = {name.strip() for name in names}
    if any(is_number(kind) or any(part.strip() in known for part in split_entry(kind, known)) for kind in counts):
        return Counter()
    return counts


def _by_number(level: str) -> list[tuple[str, float]]:
    """Pieces of a category, each text and the number that follows it, which compare as people sort them."""
    return [(text, float(number or -1)) for text, number in re.findall(r"([^\d]*)(\d*)", level)]
