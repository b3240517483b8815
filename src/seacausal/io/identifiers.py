"""Columns that number, name or date the rows, or whom these belong to: no variables, and they would make the answer for the others worse.

They are told by what they are called and by what they hold, for a rank that counts the rows of a sorted table may be a variable. Dates as numbers are
told by these alone.
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
    "seq",
    "sequence",
    "experiment",
    "individual",
)
"""What columns that count the rows are called, or `WHOSE`, in small letters and without spaces, dots and underscores."""
WHOSE = "case|cell|customer|employee|gu|order|p|participant|patient|person|record|row|sample|student|subject|transaction|u|user|uu"
IDENTIFIER = re.compile(rf"(?i:(.*[^a-z]|{WHOSE}|)id|unnamed: [\d.]+|\.\.\.1|)|.*[a-z](Id|ID)")
"""What columns that name the rows are called, if they are called anything: id, patient_id, PassengerId, sampleid, but not acid or paid."""
MEASUREMENT = re.compile(r"[\s=:$€£][-+]?\d*[.,]\d")
"""A number with decimals behind a unit, as in "pH 7.1"."""
PARTS = ((1, 12), (1, 31), (0, 23), (0, 59), (0, 59))
"""Least and largest month, day, hour, minute and second, two digits each, of which the first one or more follow the year in dates as numbers."""
YEARS = (1900, 2100)
"""The years of such dates."""
EPOCH = (10**9, 22 * 10**8)
"""Seconds since 1970, from 2001 to 2039; or milli-, micro- and nanoseconds, a thousand times more each."""
SEPARATOR = re.compile(r"[\W_]+")


def names_rows(name: str, cells: np.ndarray | Sequence[object], place: Place, columns: Sequence[str] = ()) -> bool:
    """Whether a column that is called so numbers or names the rows, or whom every few of them belong to.

    It does by whole numbers or texts, of more than `CATEGORIES` kinds and at least one for ten rows; without a name, one for each. Texts that begin
    with a letter, of which at most half repeat others, name the rows whatever the column is called, unless one holds a measurement or the name of
    one of the table's `columns`, which may say what was intervened on; so do dates, see `dates_rows`.
    """
    if IDENTIFIER.fullmatch(name.strip()) is None:
        plain = re.sub(r"[ _.]", "", name.lower())
        counts = (plain in COUNTERS or plain in WHOSE.split("|")) and _counts_rows(cells, place)
        return counts or _are_names(cells, columns) or dates_rows(cells, place)
    try:
        numbers = to_numbers(cells, "", place)
    except DataError:
        held = [cell for cell in cells if not is_missing(cell)]
        kinds = len(set(map(str, held))) if all(isinstance(cell, str) for cell in held) else 0
    else:
        held = numbers[np.isfinite(numbers)]
        kinds = len(np.unique(held)) if (held == np.rint(held)).all() else 0
    return kinds > CATEGORIES and kinds >= (len(cells) / 10 if name.strip() else len(cells))


def count_kinds(cells: np.ndarray | Sequence[object]) -> int:
    """How many different values a column holds, a missing one counted for each of its rows."""
    missing = sum(map(is_missing, cells))
    return len({str(cell) for cell in cells if not is_missing(cell)}) + missing


def _counts_rows(cells: np.ndarray | Sequence[object], place: Place) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ..."""
    try:
        numbers = to_numbers(cells, "", place)
    except DataError:
        return False
    return any(np.array_equal(numbers, np.arange(start, start + len(numbers))) for start in (0, 1))


def dates_rows(cells: np.ndarray | Sequence[object], place: Place) -> bool:
    """Whether a column holds dates as whole numbers, most of them another in each row, that rise or fall all along the table.

    They are written as year and month, or with day, hour, minute and second, too (20240131235959), or are times since 1970 (`EPOCH`).
    """
    try:
        if not len(cells) or to_numbers(cells[:1], "", place)[0] < YEARS[0] * 100:  # a quick look, which passes most columns over
            return False
        numbers = to_numbers(cells, "", place)
    except DataError:
        return False
    held = numbers[np.isfinite(numbers)]
    steps = np.diff(held)
    if not ((held == np.rint(held)).all() and ((steps >= 0).all() or (steps <= 0).all()) and 2 * (np.count_nonzero(steps) + 1) >= len(cells)):
        return False
    low, high = held.min(), held.max()
    if any(EPOCH[0] * unit <= low and high <= EPOCH[1] * unit for unit in (1, 10**3, 10**6, 10**9)):
        return True
    return any(_are_dates(held, parts) for parts in range(1, len(PARTS) + 1))


def _are_dates(numbers: np.ndarray, parts: int) -> bool:
    """Whether whole numbers are years that so many of `PARTS` follow."""
    if not (YEARS[0] * 100**parts <= numbers.min() and numbers.max() < (YEARS[1] + 1) * 100**parts):
        return False
    pieces = [numbers // 100 ** (parts - 1 - i) % 100 for i in range(parts)]
    return all(low <= piece.min() and piece.max() <= high for piece, (low, high) in zip(pieces, PARTS))


def _are_names(cells: np.ndarray | Sequence[object], columns: Sequence[str]) -> bool:
    """Whether a column holds words, most of them another in each row: no numbers, of which a few might be misspelt, or that follow a unit."""
    # A column of numbers is done with at the first of them.
    if not all(is_missing(cell) or (isinstance(cell, str) and cell[:1].isalpha() and MEASUREMENT.search(cell) is None) for cell in cells):
        return False
    kinds = {str(cell) for cell in cells if not is_missing(cell)}
    parts = {part for kind in kinds for part in (kind, *SEPARATOR.split(kind))}
    return len(kinds) > max(CATEGORIES, len(cells) / 2) and parts.isdisjoint(columns)
