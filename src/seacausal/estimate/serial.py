"""How many independent rows a table is worth whose rows follow one another in time.

A row that resembles the one before says little new: where two columns are autoregressive with coefficients p and q, their correlation varies as
that of (1 - p q) / (1 + p q) as many independent rows does (Bartlett, 1935). What tells p is how much further apart rows are at k steps than at
one, in mean squares 1 + p + ... + p^(k - 1) times: rows that were merely sorted by group are as far apart at one step as at two. Where a column
rises or falls all along, by uneven steps unlike a clock's, the table was sorted by it, and the order says nothing of time.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.category_search import find_categories
from seacausal.estimate.statistics import spaced_rows

LEAST, ERRORS = 0.25, 4.0
"""A coefficient counts from here on, and from so many of its standard errors."""
SLIGHT = 0.95
"""A larger share counts as all."""
MOST = 0.995
"""The largest coefficient."""
NEAR, FAR = 2, 8
"""Steps that tell whether rows follow one another, and by how much: more tell large coefficients better, but see trends in what was sorted."""
UNEVEN = 0.25
"""Ways of `FAR` steps vary by less on a clock or calendar, in their means; those of sorted values by 0.35 and more."""
SEEN = 4000
"""Rows from which steps are taken."""
DOSES = 10
"""Values that a target is set to in one regime, at most, for each to count as a regime."""
FEWEST = 30
"""Independent rows that a table is worth at least; the network has seen no fewer."""


def independent_share(z: np.ndarray, regime: np.ndarray) -> float:
    """The share of the rows that as many independent ones would be worth; 1 where nothing says that they are not.

    Parameters
    ----------
    z
        (n, d) standardised rows in their order. Columns of few values, which are categories, do not count; most of the others must follow in time.
    regime
        (n,) int, the regime of each row; steps stay within one.
    """
    n = len(z)
    stretch = np.cumsum(np.diff(regime, prepend=regime[:1]) != 0)
    near, far = (spaced_rows(np.flatnonzero(stretch[:-steps] == stretch[steps:]), SEEN) for steps in (NEAR, FAR))
    counts = np.flatnonzero(~find_categories(z))
    if len(near) < FEWEST or len(counts) < 2:
        return 1.0
    starts, steps = (far, FAR) if len(far) >= FEWEST else (near, NEAR)
    if _is_sorted(z, counts, starts, steps):
        return 1.0
    coefficients = _fit_coefficients(z, counts, near, NEAR)
    if np.sort(coefficients)[(len(counts) - 1) // 2] < max(LEAST, ERRORS / np.sqrt(len(near))):
        return 1.0
    if steps > NEAR:
        coefficients = _fit_coefficients(z, counts, starts, steps)
    product = np.outer(coefficients, coefficients)[np.triu_indices(len(counts), 1)]
    share = float(np.mean((1 - product) / (1 + product)))
    return 1.0 if share > SLIGHT else max(share, FEWEST / n)


def split_doses(z: np.ndarray, regime: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(n,) int, a number for each stretch of rows of one regime in which targets are set to the same, where these are `DOSES` in a regime at most.

    Parameters
    ----------
    z, regime
        (n, d) rows and (n,) their regimes.
    targets
        (regimes, d) bool, what each intervened on.
    """
    changes = np.diff(regime, prepend=regime[:1]) != 0
    for name in np.flatnonzero(targets.any(1)):
        rows = np.flatnonzero(regime == name)
        doses = z[np.ix_(rows, np.flatnonzero(targets[name]))]
        if len(rows) and all(len(np.unique(column)) <= DOSES for column in doses.T):
            changes[rows[1:]] |= (doses[1:] != doses[:-1]).any(1)
    return np.cumsum(changes)


def _is_sorted(z: np.ndarray, columns: np.ndarray, starts: np.ndarray, steps: int) -> bool:
    """Whether the rows are in the order of a column."""
    first = z[np.ix_(starts, columns)]
    rise, way = (z[np.ix_(starts + step, columns)] - first for step in (1, steps))
    one_way = (rise >= 0).all(0) | (rise <= 0).all(0)
    return bool((one_way & (way.std(0) > UNEVEN * np.abs(way.mean(0)))).any())


def _fit_coefficients(z: np.ndarray, columns: np.ndarray, starts: np.ndarray, steps: int) -> np.ndarray:
    """(d,) autoregressive coefficients from 0 to `MOST`, by the distance of rows `steps` apart over that of neighbours."""
    first, second, before, last = (z[np.ix_(starts + step, columns)] for step in (0, 1, steps - 1, steps))
    near = (np.mean((second - first) ** 2, axis=0) + np.mean((last - before) ** 2, axis=0)) / 2
    ratio = np.divide(np.mean((last - first) ** 2, axis=0), near, out=np.ones_like(near), where=near > 0)
    grid = np.linspace(0, MOST, 1000)
    return np.interp(ratio, sum(grid**k for k in range(steps)), grid)
