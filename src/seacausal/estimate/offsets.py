"""Regimes that are off in all columns, as batches, plates and days are: whether there are any, and the rows without them.

An intervention moves its target and what follows from it. Where the columns that move least from regime to regime still move by more than chance
in most regimes, something else moves them; so rows are compared within regimes, and shifts between regimes count by how far all of these are apart.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from seacausal.estimate.statistics import spaced_rows

FEWEST_REGIMES, FEWEST_ROWS = 4, 5
"""Regimes that are enough to tell, and rows of a regime that is looked at."""
LEAST = 0.1
"""Share of the columns, those that move least, that has to move."""
FEW, FEW_ROWS = 20, 2000
"""A column of at most so many values, among so many rows, is of categories."""
MOVED = 1.25
"""Standard errors by which a column moves in half of the regimes where it is off in all of them; chance makes 0.67."""


def find_offsets(z: np.ndarray, regime: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
    """How far the regimes' means are apart in the columns that are no targets there, where regimes are off in all columns.

    Parameters
    ----------
    z
        (n, d) standardised rows.
    regime, targets
        (n,) numbers of regimes, and (regimes, d) bool, what each intervened on.

    Returns
    -------
    (d,) standard deviations between regimes, by the median, in the units of z; None where regimes are not off.
    """
    size = np.bincount(regime, minlength=len(targets))
    large = np.flatnonzero(size >= FEWEST_ROWS)
    if len(large) < FEWEST_REGIMES:
        return None
    mean, variance = (np.ma.empty((len(large), z.shape[1])) for _ in range(2))
    for number, name in enumerate(large):
        rows = z[regime == name]
        mean[number], variance[number] = rows.mean(0), rows.var(0)
    mean.mask = variance.mask = targets[large]
    known = (~mean.mask).sum(0) >= FEWEST_REGIMES
    if not known.any():
        return None
    far = np.ma.abs(mean - np.ma.median(mean, 0))
    error = np.ma.sqrt(np.ma.median(variance, 0) / size[large, None] + 1e-12)
    moved = np.ma.median(far / error, 0).filled(0)[known]
    if np.quantile(moved, LEAST) < MOVED:
        return None
    return np.ma.median(far, 0).filled(0) / NormalDist().inv_cdf(0.75)


def centre_regimes(z: np.ndarray, regime: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(n, d) rows whose mean is 0 in each regime of `FEWEST_ROWS` or more.

    What was intervened on there stays, and so do columns of at most `FEW` values, which would be no categories any more, and those that are constant
    within regimes.
    """
    out = z.copy()
    for name in np.flatnonzero(np.bincount(regime, minlength=len(targets)) >= FEWEST_ROWS):
        rows = np.flatnonzero(regime == name)
        out[rows] -= np.where(targets[name], 0, out[rows].mean(0))
    for j in range(z.shape[1]):
        if out[:, j].var() < 1e-6 or len(np.unique(spaced_rows(z[:, j], FEW_ROWS))) <= FEW:
            out[:, j] = z[:, j]
    return out
