"""Columns that carry no information of their own: constant, repeated, or computed from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from seacausal.data import Degenerate
from seacausal.estimate.category_search import find_categories
from seacausal.estimate.statistics import spaced_rows

PIVOT = 1e-10
"""Share of a column's variance below which what is left of it counts as nothing."""
LEFT = 2e-4
"""The same of a combination of others, which may have been rounded."""
ALIKE = 1e-3
"""How far from 1 the correlation of two columns may be that nearly are the same."""
ROWS = 2000
"""Rows that products are looked for in."""
EXPECTED = 10
"""Rows that chance has to mark in two columns for them to be exclusive where none is."""
SCREENED, MANY, OTHERS = 200, 50, 5
"""Rows on which pairs are looked at first; more values than that, among these, are not classes; and so many rows of other classes than the
largest are the fewest that are no accident."""
FEWEST = 10
"""Different values, among as many rows, below which a column is no function of another but by accident."""


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
    return Degenerate(tuple(constant), duplicate, alike, _find_combinations(correlation, rows, names, copies | {name for name, _ in alike}))


def _first_of(pairs: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each column with the first of the earlier ones that it is paired with; `pairs` (d, d) bool, the earlier one first."""
    return tuple((names[j], names[int(np.argmax(pairs[:, j]))]) for j in np.flatnonzero(pairs.any(0)).tolist())


def _find_combinations(correlation: np.ndarray, rows: int, names: Sequence[str], known: set[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Columns of whose variance less than `LEFT` is left by all earlier ones, a Cholesky sweep that passes them over, and which of these they need.

    Less than `PIVOT` where there are not twice as many rows as columns, for chance leaves little there; with no more rows than columns nothing. What
    is `known`, or needs a single one, is passed over and not named.
    """
    d = len(correlation)
    most = LEFT if rows > 2 * d else PIVOT
    left, found, kept = correlation.copy(), [], []
    for j in range(d if rows > d else 0):
        if kept and left[j, j] < most:
            needed = _needed(correlation, kept, j, most)
            if names[j] not in known and len(needed) > 1:
                found.append((names[j], tuple(names[i] for i in needed)))
            continue
        kept.append(j)
        row = left[j, j + 1 :]
        left[j + 1 :, j + 1 :] -= np.outer(row, row / left[j, j])
    return tuple(found)


def _needed(correlation: np.ndarray, columns: list[int], j: int, most: float) -> list[int]:
    """Those of the columns without which more than `most` of j's variance would be left, the least weighty left out first."""
    needed = np.array(columns)
    while len(needed) > 1:
        inverse = np.linalg.inv(correlation[np.ix_(needed, needed)])
        weight = inverse @ correlation[needed, j]
        spare = most - (1 - correlation[needed, j] @ weight)
        loss = weight**2 / inverse.diagonal()  # what is left more without one of them, and, where that is little, without several
        order = np.argsort(loss)
        out = max(int((loss[order].cumsum() < spare / 2).sum()), int(loss[order[0]] < spare))
        if out == 0:
            break
        needed = np.delete(needed, order[:out])
    return needed.tolist()


def find_computed(values: np.ndarray, names: Sequence[str], linear: Degenerate) -> Degenerate:
    """Add to what `find_degenerate` found the products of powers, and what rises or falls with another.

    Parameters
    ----------
    values
        (n, d).
    names
        Its d columns.
    linear
        What is known already, and not told again.
    """
    known = {name for name, *_ in (*linear.duplicate, *linear.alike, *linear.dependent)}
    rows = spaced_rows(values, ROWS)
    many = np.array([j for j in range(len(names)) if len(np.unique(rows[:SCREENED, j])) > FEWEST], int)
    monotone = tuple((names[j], names[i]) for i, j in _find_monotone(values, rows, many) if names[j] not in known)
    known |= {name for name, _ in monotone}
    positive = many[(rows[:, many] > 0).all(0)]
    logarithms = np.log(rows[:, positive])
    logarithms -= logarithms.mean(0)
    logarithms /= np.sqrt((logarithms**2).mean(0))
    products = _find_combinations(logarithms.T @ logarithms / len(rows), len(rows), np.array(names)[positive].tolist(), known)
    return replace(linear, products=products, monotone=monotone)


def _find_monotone(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> list[tuple[int, int]]:
    """(i, j), i the first of `columns` that j is a monotone function of, and it of j: the ranks are the same, or reversed."""
    first: dict[bytes, int] = {}
    found = []
    for j in columns.tolist():
        ranks = np.unique(rows[:, j], return_inverse=True)[1].astype(np.int32)
        keys = ranks.tobytes(), (ranks.max() - ranks).tobytes()
        i = next((first[key] for key in keys if key in first), None)
        if i is None:
            first[keys[0]] = j
        elif len(rows) == len(values) or _rise_together(values[:, i], values[:, j]):
            found.append((i, j))
    return found


def _rise_together(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether one of two columns only rises or only falls with the other, and is equal where it is."""
    order = np.argsort(x, kind="stable")
    dx, dy = np.diff(x[order]), np.diff(y[order])
    return bool(((dx > 0) == (dy != 0)).all() and ((dy >= 0).all() or (dy <= 0).all()))


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


def find_exclusive(values: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of columns of two values that never have their larger one in the same row, as indicators of one category's kinds.

    Parameters
    ----------
    values
        (n, d).
    names
        Its d columns.
    """
    low, high = values.min(0), values.max(0)
    first = values[:SCREENED]
    two = np.flatnonzero(((first == low) | (first == high)).all(0) & (high > low))
    two = two[((values[:, two] == low[two]) | (values[:, two] == high[two])).all(0)]
    marked = (values[:, two] == high[two]).astype(np.float64)
    count, together = marked.sum(0), marked.T @ marked
    apart = (together == 0) & (np.outer(count, count) >= EXPECTED * len(values))
    left, found = list(range(len(two))), []
    while left:
        group = [left.pop(0)]
        for j in left[:]:
            if apart[j, group].all():
                group.append(j)
                left.remove(j)
        if len(group) > 1:
            found.append(tuple(names[two[j]] for j in group))
    return tuple(found)


def _tell_apart(codes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(m,) bool: in which of (n, m) columns the rows of each code lie in a range of their own."""
    groups = [columns[codes == code] for code in np.unique(codes)]
    low, high = (np.stack([getattr(group, end)(0) for group in groups]) for end in ("min", "max"))
    order = low.argsort(0)
    low, high = (np.take_along_axis(ends, order, 0) for ends in (low, high))
    return np.all(high[:-1] <= low[1:], axis=0)
