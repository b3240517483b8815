"""Columns that number or name the rows, or whom these belong to: no variables, and they would make the answer for the others worse.

They are told by what they are called and by what they hold, for a rank that counts the rows of a sorted table may be a variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from seacausal.errors import DataError
from seacausal.io.categories import CATEGORIES
from seacausal.io.cells import Place, is_missing, to_numbers

COUNTERS = (
    "index",
    "idx",
    "level0",
    "row",
    "rows",
    "rowname",
    "rownames",
    "rownumber",
    "number",
    "no",
    "nr",
    "sno",
    "srno",
    "#",
    "obs",
    "observation",
)
"""What columns that count the rows are called, in small letters and without spaces, dots and underscores."""
WHOSE = "case|cell|customer|employee|gu|order|p|participant|patient|person|record|row|sample|student|subject|transaction|u|user|uu"
IDENTIFIER = re.compile(rf"(?i:(.*[^a-z]|{WHOSE}|)id|unnamed: [\d.]+|\.\.\.1|)|.*[a-z](Id|ID)")
"""What columns that name the rows are called, if they are called anything: id, patient_id, PassengerId, sampleid, but not acid or paid."""
MEASUREMENT = re.compile(r"[\s=:$€£][-+]?\d*[.,]\d")
"""A number with decimals behind a unit, as in "pH 7.1"."""
SEPARATOR = re.compile(r"[\W_]+")


def names_rows(name: str, cells: np.ndarray | Sequence[object], place: Place, columns: Sequence[str] = ()) -> bool:
    """Whether a column that is called so numbers or names the rows, or whom every few of them belong to.

    It does by whole numbers or texts, of more than `CATEGORIES` kinds and at least one for ten rows; without a name, one for each. Texts that begin
    with a letter, of which at most half repeat others, name the rows whatever the column is called, unless one holds a measurement or the name of
    one of the table's `columns`, which may say what was intervened on.
    """
    if IDENTIFIER.fullmatch(name.strip()) is None:
        return (re.sub(r"[ _.]", "", name.lower()) in COUNTERS and _counts_rows(cells, place)) or _are_names(cells, columns)
    try:
        numbers = to_numbers(cells, "", place)
    except DataError:
        held = [cell for cell in cells if not is_missing(cell)]
        kinds = len(set(map(str, held))) if all(isinstance(cell, str) for cell in held) else 0
    else:
        held = numbers[np.isfinite(numbers)]
        kinds = len(np.unique(held)) if (held == np.rint(held)).all() else 0
    return kinds > CATEGORIES and kinds >= (len(cells) / 10 if name.strip() else len(cells))


def _counts_rows(cells: np.ndarray | Sequence[object], place: Place) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ..."""
    try:
        numbers = to_numbers(cells, "", place)
    except DataError:
        return False
    return any(np.array_equal(numbers, np.arange(start, start + len(numbers))) for start in (0, 1))


def _are_names(cells: np.ndarray | Sequence[object], columns: Sequence[str]) -> bool:
    """Whether a column holds words, most of them another in each row: no numbers, of which a few might be misspelt, or that follow a unit."""
    # A column of numbers is done with at the first of them.
    if not all(is_missing(cell) or (isinstance(cell, str) and cell[:1].isalpha() and MEASUREMENT.search(cell) is None) for cell in cells):
        return False
    kinds = {str(cell) for cell in cells if not is_missing(cell)}
    parts = {part for kind in kinds for part in (kind, *SEPARATOR.split(kind))}
    return len(kinds) > max(CATEGORIES, len(cells) / 2) and parts.isdisjoint(columns)
