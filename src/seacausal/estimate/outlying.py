"""Rows that fit nothing: where a sensor failed, two cells were taken for one, or a line of the file slipped.

Such a row lies far from the middle of many columns, and in two fifths of all far from what the others let expect. Extreme rows in line with
the others stay: where noise has heavy tails, a single shock moves all that follows from it, and these rows say more of the effects than all others.
The middle is that of the row's regime, because what an intervention moves is no outlier, and the spread at least that of the regime; rows of small
regimes stay.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.category_search import find_categories
from seacausal.estimate.statistics import CHUNK, spaced_rows

FAR, SHARE, ODD, LEAST = 4.0, 0.25, 0.4, 3
"""A row is suspect that lies so many robust standard deviations from the middle in this share of the columns; it is left out if it lies as far from
the regression on the others in that share; three columns at least."""
MOST = 0.05
"""Where more than this share of the rows are suspect, they are a part of the population."""
MIDDLE = 20
"""Rows of a regime that has a middle of its own."""
SEEN = 2000
"""Rows, of the table and of each regime, that middles and spreads are measured on."""
RIDGE = 0.01
"""Share of the identity in the correlations."""


def find_outlying(z: np.ndarray, regime: np.ndarray) -> np.ndarray:
    """(n,) bool, the rows that fit nothing.

    Parameters
    ----------
    z
        (n, d) standardised rows. Columns of few values, which are categories, do not count.
    regime
        (n,) int, the regime of each row.
    """
    n = len(z)
    nothing = np.zeros(n, bool)
    sizes = np.bincount(regime)
    middles, spreads = np.full((2, len(sizes), z.shape[1]), np.nan)
    for r in np.flatnonzero(sizes >= MIDDLE):
        rows = spaced_rows(z[regime == r] if sizes[r] < n else z, SEEN)
        middles[r], spreads[r] = np.median(rows, axis=0), _robust_spread(rows)
    seen = spaced_rows(np.flatnonzero(sizes[regime] >= MIDDLE), SEEN)
    if not len(seen):
        return nothing
    spread = _robust_spread(z[seen] - middles[regime[seen]])
    counts = np.flatnonzero((spread > 0) & ~find_categories(z[seen]))
    spreads = np.maximum(spreads, spread)
    suspect = nothing.copy()
    for start in range(0, n if len(counts) >= LEAST else 0, CHUNK):
        rows = slice(start, start + CHUNK)
        far = np.abs(z[rows] - middles[regime[rows]]) > FAR * spreads[regime[rows]]  # false where there is no middle
        suspect[rows] = far[:, counts].sum(1) >= max(LEAST, SHARE * len(counts))
    if not 0 < suspect.sum() <= MOST * n:
        return nothing
    others = seen[~suspect[seen]]
    usual = np.clip((z[others] - middles[regime[others]])[:, counts], -FAR * spread[counts], FAR * spread[counts])
    mean, spread = usual.mean(0), usual.std(0)
    precision = np.linalg.inv((1 - RIDGE) * np.corrcoef(usual.T) + RIDGE * np.eye(len(counts)))
    off = ((z[suspect] - middles[regime[suspect]])[:, counts] - mean) / spread
    residual = off @ precision / np.sqrt(precision.diagonal())
    suspect[suspect] = (np.abs(residual) > FAR).sum(1) >= max(LEAST, ODD * len(counts))
    return suspect


def _robust_spread(rows: np.ndarray) -> np.ndarray:
    """(d,) standard deviations of Gaussians with the same middle half, or the same middle four fifths if that is more."""
    low, lower, upper, high = np.quantile(rows, (0.1, 0.25, 0.75, 0.9), axis=0)
    return np.maximum((upper - lower) / 1.35, (high - low) / 2.56)
