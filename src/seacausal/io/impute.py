"""Missing cells, from what the others of their row say: chained linear regressions with predictive mean matching.

In: rows with missing values. Out: the same rows without. A missing cell takes the value of a row for which the regression on all other columns
foresees about the same (Little, 1988, Missing-data adjustments in large surveys; chained as by van Buuren and Groothuis-Oudshoorn, 2011, mice). So
categories, bounds and noise stay what they are; the mean in its place would take away the noise that graphs are read from.
"""

from __future__ import annotations

import numpy as np

SWEEPS = 3
"""How often every column with missing cells is filled."""
PARTS = 3
"""Parts of a sweep: the columns of one are filled from the same regressions, all of which one inversion gives."""
NEAR = 5
"""A value is that of one of so many donors with the next lower or the next higher predictions."""
DONORS = 5_000
"""Rows that give values to a column, at most."""


def impute_missing(values: np.ndarray, regime: np.ndarray, targets: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Fill the cells that are not finite.

    Parameters
    ----------
    values
        (n, d), a finite value at least in every column.
    regime, targets
        (n,) int and (r, d) bool, see `Dataset`. Where a variable was intervened on its value has no part in the regressions, and a missing one is
        drawn from those of the same regime, if there are any.

    Returns
    -------
    (n, d) copy, finite.
    """
    generator = np.random.default_rng(seed)
    known = np.isfinite(values).T.copy()  # a variable a row, for speed
    filled = values.T.copy()
    columns = np.flatnonzero(~known.all(1))
    empty, donors, gifts = {}, {}, {}
    for j in columns.tolist():
        free = ~targets[regime, j]
        for one in np.flatnonzero(targets[:, j]).tolist():
            inside = regime == one
            own = filled[j, known[j] & inside]
            if len(own):
                filled[j, ~known[j] & inside] = generator.choice(own, (~known[j] & inside).sum())
            else:
                free |= inside
        empty[j] = np.flatnonzero(~known[j] & free)
        donors[j] = np.flatnonzero(known[j] & free if (known[j] & free).any() else known[j])
        if len(donors[j]) > DONORS:
            donors[j] = generator.choice(donors[j], DONORS, replace=False)
        gifts[j] = filled[j, donors[j]]
        filled[j, empty[j]] = generator.choice(gifts[j], len(empty[j]))
    for _ in range(SWEEPS):
        for part in np.array_split(generator.permutation(columns), min(PARTS, len(columns))):
            for j, predicted in zip(part.tolist(), _predict(filled, part)):
                offered = predicted[donors[j]]
                order = np.argsort(offered, kind="stable")
                place = np.searchsorted(offered[order], predicted[empty[j]]) + generator.integers(-NEAR, NEAR, len(empty[j]))
                filled[j, empty[j]] = gifts[j][order[np.clip(place, 0, len(order) - 1)]]
    return np.ascontiguousarray(filled.T)


def _predict(filled: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(k, n) linear regressions of k variables on all others of (d, n), standardised; the precision matrix holds them all."""
    d, n = filled.shape
    size = np.abs(filled).max(1, keepdims=True)
    z = filled / np.where(size > 0, size, 1)  # squares of the largest floats would overflow
    z -= z.mean(1, keepdims=True)
    spread = np.sqrt(np.einsum("ij,ij->i", z, z) / n)
    z /= np.where(spread > 0, spread, 1)[:, None]
    precision = np.linalg.inv(z @ z.T / n + (1e-3 + 0.5 * d / n) * np.eye(d))
    coefficients = -precision[columns] / precision[columns, columns][:, None]
    coefficients[np.arange(len(columns)), columns] = 0
    return coefficients @ z
