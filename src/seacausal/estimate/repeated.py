"""How many rows a table is worth that holds exact copies of rows, as where they were drawn with replacement or a file was put together twice.

In tables of categories and rounded numbers rows repeat by themselves. There, a row that occurs again and again mostly has neighbours, too, which
differ from it in one column alone. Copied rows hardly have any, unless by a column of real numbers, no two of which come near one another.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.category_search import find_categories
from seacausal.estimate.serial import FEWEST

COPIES = 1 / 3
"""Copies count for less where they are a larger share of the rows than this,"""
SPREAD = 0.25
"""where at least this share of the distinct rows has copies, for values that many rows hold by nature, as all zeros, are few rows,"""
DIFFERENT = 0.5
"""where a column has different values in more than this share of the distinct rows,"""
NEIGHBOURS = 0.5
"""and where at most this share of the rows that have copies has neighbours."""
REAL, FILLED = 0.9, 0.1
"""A column of real numbers has different values in this share of the distinct rows, and these fill less than this share of a grid of their least
distance."""


def distinct_rows(values: np.ndarray, regime: np.ndarray) -> np.ndarray | None:
    """(u,) int, the first of each set of equal rows, in order, where the others are copies that say nothing new; None where there are none such.

    Parameters
    ----------
    values
        (n, d) columns.
    regime
        (n,) int, the regime of each row; rows of different regimes are no copies.
    """
    n, d = values.shape
    many = np.flatnonzero(~find_categories(values))
    if not len(many) or any(len(np.unique(values[:, j])) >= (1 - COPIES) * n for j in many):
        return None
    rows = _hash(regime.astype(np.float64), d)
    for j in range(d):
        rows += _hash(values[:, j], j)
    distinct, first, counts = np.unique(rows, return_index=True, return_counts=True)
    u, copied = len(distinct), counts > 1
    if n - u <= COPIES * n or copied.sum() < SPREAD * u or u < FEWEST:
        return None
    held = values[first]
    different = np.array([len(np.unique(column)) for column in held.T])
    if different.max() <= DIFFERENT * u:
        return None
    beside = np.zeros(u, bool)
    for j in range(d):
        if different[j] < REAL * u or _fills_grid(held[:, j]):
            _, place, sizes = np.unique(distinct - _hash(held[:, j], j), return_inverse=True, return_counts=True)
            beside |= sizes[place] > 1
    return None if beside[copied].mean() > NEIGHBOURS else np.sort(first)


def _hash(column: np.ndarray, number: int) -> np.ndarray:
    """(n,) uint64, hashes of a column's values, which add up to those of rows (the finaliser of splitmix64)."""
    bits = (column.astype(np.float64) + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (number + 1) % 2**64)  # -0.0 + 0.0 is 0.0
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _fills_grid(column: np.ndarray) -> bool:
    """Whether values lie as close as on the grid that their least distance spans."""
    steps = np.diff(np.unique(column))
    return bool(len(steps) + 1 > FILLED * (steps.sum() / steps.min() + 1))
