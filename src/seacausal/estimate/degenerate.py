"""Columns that carry no information of their own: constant, repeated, linear combinations or classes of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seacausal.data import Degenerate
from seacausal.estimate.category_search import find_categories

PIVOT = 1e-10
"""Share of a column's variance below which what is left of it counts as nothing."""
ALIKE = 1e-3
"""How far from 1 the correlation of two columns may be that nearly are the same."""
SCREENED, MANY, OTHERS = 200, 50, 5
"""Rows on which pairs are looked at first; more values than that, among these, are not classes; and so many rows of other classes than the
largest are the fewest that are no accident."""


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


def find_classes(values: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(column of few values, the first of many of which every value stands for a range): a grade and the points that it was given for.

    Parameters
    ----------
    values
        (n, d).
    names
        Its d columns.
    """
    first = values[:: max(1, len(values) // SCREENED)]
    few = find_categories(first)
    if not few.any():
        return ()
    many = np.array([i for i in np.flatnonzero(~few) if len(np.unique(first[:, i])) > MANY], int)
    found = []
    for j in np.flatnonzero(few).tolist():
        near = many[_tell_apart(first[:, j], first[:, many])].tolist()
        if not near or not find_categories(values[:, [j]])[0]:
            continue
        others = len(values) - np.unique(values[:, j], return_counts=True)[1].max()
        column = next((i for i in near if _tell_apart(values[:, j], values[:, [i]])[0]), None)
        if column is not None and others >= OTHERS:
            found.append((names[j], names[column]))
    return tuple(found)


def _tell_apart(codes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(m,) bool: in which of (n, m) columns the rows of each code lie in a range of their own."""
    groups = [columns[codes == code] for code in np.unique(codes)]
    low, high = (np.stack([getattr(group, end)(0) for group in groups]) for end in ("min", "max"))
    order = low.argsort(0)
    low, high = (np.take_along_axis(ends, order, 0) for ends in (low, high))
    return np.all(high[:-1] <= low[1:], axis=0)
