"""Numbers that stand for a failed or absent measurement: -999 and its like."""

from __future__ import annotations

import numpy as np

from seacausal.data import Dataset

CODES = np.array([sign * int(digit * length) for digit in "789" for length in range(2, 8) for sign in (1, -1)], np.float64)
"""What such numbers are: 99, -999, 8888, ..."""
SHARE = 0.05
"""Share of the rows that hold one, at least."""
FAR = 5.0
"""It lies so many interquartile ranges of the other values beyond all of them."""
KINDS = 10
"""Columns of more other values are measurements."""


def find_failure_codes(dataset: Dataset) -> dict[str, dict[int, float]]:
    """For each column that seems to hold such numbers: which, and in what share of the rows in which it is no target."""
    found: dict[str, dict[int, float]] = {}
    values = dataset.values
    ends = np.isin(values.min(0), CODES) | np.isin(values.max(0), CODES)
    for j in np.flatnonzero(ends).tolist():
        column = values[~dataset.targets[dataset.regime, j], j]
        others = column[~np.isin(column, CODES)]
        if len(np.unique(others)) <= KINDS:
            continue
        reach = FAR * np.subtract(*np.quantile(others, [0.75, 0.25]))
        codes = [code for code in CODES.tolist() if reach > 0 and max(others.min() - code, code - others.max()) > reach]
        shares = {int(code): float((column == code).mean()) for code in codes}
        if kept := {code: share for code, share in shares.items() if share >= SHARE}:
            found[dataset.names[j]] = kept
    return found
