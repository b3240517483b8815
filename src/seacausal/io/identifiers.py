"""Columns that number or name the rows: no variables, and as independent noise they would make the answer for the others worse.

They are told by what they are called and by what they hold, for a rank that counts the rows of a sorted table may be a variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import Place, to_numbers

COUNTERS = ("unnamed:0", "index", "idx", "row", "rows", "rowname", "rownames", "rownumber", "number", "no", "nr", "#", "obs", "observation")
"""What columns that count the rows are called, in small letters and without spaces, dots and underscores."""
IDENTIFIER = re.compile(r"(?i:(.*[^a-z]|case|cell|patient|person|record|row|sample|subject|user|)id)|.*[a-z](Id|ID)")
"""What columns that name the rows are called: id, patient_id, PassengerId, sampleid, but not acid or paid."""


def names_rows(name: str, cells: np.ndarray | Sequence[object], place: Place) -> bool:
    """Whether a column that is called so numbers or names the rows."""
    if IDENTIFIER.fullmatch(name.strip()) is None:
        return re.sub(r"[ _.]", "", name.lower()) in COUNTERS and counts_rows(cells, place)
    try:
        numbers = to_numbers(cells, "", place)
    except DataError:
        return all(isinstance(cell, str) for cell in cells) and len(set(cells)) == len(cells)
    return bool((numbers == np.rint(numbers)).all()) and len(np.unique(numbers)) == len(numbers)


def counts_rows(cells: np.ndarray | Sequence[object], place: Place) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ..."""
    try:
        numbers = to_numbers(cells, "", place)
    except DataError:
        return False
    return any(np.array_equal(numbers, np.arange(start, start + len(numbers))) for start in (0, 1))
