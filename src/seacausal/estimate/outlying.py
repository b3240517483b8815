"""Rows that fit nothing: where a sensor failed, two cells were taken for one, or a line of the file slipped.

Such a row lies far from the middle of many columns, and in two fifths of all far from what the others let expect. Extreme rows in line with
the others stay: where noise has heavy tails, a single shock moves all that follows from it, and these rows say more of the effects than all others.
The middle is that of the row's regime, because what an intervention moves is no outlier, and the spread at least that of the regime; rows of small
regimes stay. Skewed columns, as of concentrations, are judged by a logarithm of their longer side.
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
TENTH = 1.2816
"""A tenth of a Gaussian lies beyond so many standard deviations."""
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
    seen = spaced_rows(np.flatnonzero(sizes[regime] >= MIDDLE), SEEN)
    counts = np.flatnonzero(~find_categories(z[seen])) if len(seen) else seen
    if len(counts) < LEAST:
        return nothing
    law = _fit_skewness(z[seen][:, counts])
    middles, spreads = np.full((2, len(sizes), len(counts)), np.nan)
    for r in np.flatnonzero(sizes >= MIDDLE):
        rows = _straighten(spaced_rows(z[regime == r] if sizes[r] < n else z, SEEN)[:, counts], *law)
        middles[r], spreads[r] = np.median(rows, axis=0), _robust_spread(rows)
    usual = _straighten(z[seen][:, counts], *law) - middles[regime[seen]]
    spread = _robust_spread(usual)
    varying = spread > 0
    spreads = np.where(varying, np.maximum(spreads, spread), np.inf)
    bounds = np.full((2, len(sizes), z.shape[1]), np.nan)  # nothing is beyond those
    bounds[0][:, counts] = _bend(middles - FAR * spreads, *law)
    bounds[1][:, counts] = _bend(middles + FAR * spreads, *law)
    suspect = nothing.copy()
    for start in range(0, n, CHUNK):
        rows = slice(start, start + CHUNK)
        low, high = bounds[:, regime[rows]] if len(sizes) > 1 else bounds
        suspect[rows] = ((z[rows] < low) | (z[rows] > high)).sum(1) >= max(LEAST, SHARE * varying.sum())
    if not 0 < suspect.sum() <= MOST * n:
        return nothing
    usual = np.clip(usual[~suspect[seen]], -FAR * spread, FAR * spread)[:, varying]
    precision = np.linalg.inv((1 - RIDGE) * np.corrcoef(usual.T) + RIDGE * np.eye(varying.sum()))
    off = (_straighten(z[suspect][:, counts], *law) - middles[regime[suspect]])[:, varying]
    residual = (off - usual.mean(0)) / usual.std(0) @ precision / np.sqrt(precision.diagonal())
    residual *= max(0.0, 1 - varying.sum() / len(usual))  # how much nearer rows are to the regressions that were fitted to them
    suspect[suspect] = (np.abs(residual) > FAR).sum(1) >= max(LEAST, ODD * varying.sum())
    return suspect


def _fit_skewness(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(d,) middle m, unit s and signed skewness g: the longer side is that of Tukey's g-law, m + s (exp(g u) - 1) / g of a Gaussian u."""
    low, middle, high = np.quantile(rows, (0.1, 0.5, 0.9), axis=0)
    above, below = np.maximum(high - middle, 1e-9), np.maximum(middle - low, 1e-9)
    g = np.clip(np.log(above / below) / TENTH, -2, 2)
    longer = np.maximum(above, below)
    g[np.abs(g) < 0.1] = 0
    unit = np.where(g == 0, 1.0, longer * np.abs(g) / np.maximum(np.expm1(TENTH * np.abs(g)), 1e-9))
    return middle, unit, g


def _straighten(rows: np.ndarray, middle: np.ndarray, unit: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The longer side of a skewed column by the logarithm that makes it Gaussian; the rest as it is, but for shift and unit."""
    out = (rows - middle) / unit
    for j in np.flatnonzero(g):
        long = out[:, j] * g[j] > 0
        out[long, j] = np.log1p(out[long, j] * g[j]) / g[j]
    return out


def _bend(straight: np.ndarray, middle: np.ndarray, unit: np.ndarray, g: np.ndarray) -> np.ndarray:
    """What `_straighten` makes so of."""
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond all values, and infinite where a column counts for nothing
        bent = straight * g
        return np.where(bent > 0, np.expm1(bent) / np.where(g == 0, 1, g), straight) * unit + middle


def _robust_spread(rows: np.ndarray) -> np.ndarray:
    """(d,) standard deviations of Gaussians with the same middle half, or the same middle four fifths if that is more."""
    low, lower, upper, high = np.quantile(rows, (0.1, 0.25, 0.75, 0.9), axis=0)
    return np.maximum((upper - lower) / 1.35, (high - low) / 2.56)
