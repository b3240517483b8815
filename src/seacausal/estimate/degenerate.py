"""Columns that carry no information of their own: constant, repeated, or linear combinations of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seacausal.data import Degenerate

PIVOT = 1e-10
"""Share of a column's variance below which what is left of it counts as nothing."""
ALIKE = 1e-3
"""How far from 1 the correlation of two columns may be that nearly are the same."""


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
    apart = 1 - np.abs(correlation)
    duplicate = _first_of(np.triu(apart < PIVOT, 1), names)
    copies = {name for name, _ in duplicate}
    alike = tuple(pair for pair in _first_of(np.triu(apart < ALIKE, 1), names) if pair[0] not in copies)
    dependent = _dependent_columns(correlation) if rows > len(names) else []
    return Degenerate(tuple(constant), duplicate, alike, tuple(names[j] for j in dependent if names[j] not in copies))


def _first_of(pairs: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each column with the first of the earlier ones that it is paired with; `pairs` (d, d) bool, the earlier one first."""
    return tuple((names[j], names[int(np.argmax(pairs[:, j]))]) for j in np.flatnonzero(pairs.any(0)).tolist())


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
