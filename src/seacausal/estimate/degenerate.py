"""Columns that carry no information of their own: constant, repeated, or linear combinations of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seacausal.data import Degenerate

PIVOT = 1e-10
"""Share of a column's variance below which what is left of it counts as nothing."""


def find_degenerate(correlation: np.ndarray, rows: int, names: Sequence[str], constant: Sequence[str]) -> Degenerate:
    """Name the degenerate columns.

    With no more rows than variables every later column is a combination of the earlier ones; then only copies are reported.

    Parameters
    ----------
    correlation
        (d, d), of the columns that are not constant.
    rows
        n.
    names
        Their d names.
    constant
        Names of the columns left out.
    """
    same = np.triu(1 - np.abs(correlation) < PIVOT, 1)
    duplicate = tuple((names[j], names[int(np.argmax(same[:, j]))]) for j in np.flatnonzero(same.any(0)).tolist())
    copies = {name for name, _ in duplicate}
    dependent = _dependent_columns(correlation) if rows > len(names) else []
    return Degenerate(tuple(constant), duplicate, tuple(names[j] for j in dependent if names[j] not in copies))


def _dependent_columns(correlation: np.ndarray) -> list[int]:
    """Columns whose variance given all earlier ones is below the pivot: a Cholesky sweep that passes them over."""
    left = correlation.copy()
    found = []
    for j in range(len(left)):
        if left[j, j] < PIVOT:
            found.append(j)
            continue
        row = left[j, j + 1 :]
        left[j + 1 :, j + 1 :] -= np.outer(row, row / left[j, j])
    return found
