"""Columns with heavy tails become normal scores before any statistic: counts of molecules, incomes, ratios, outliers, noise without a variance.

In such a column a few rows make up nearly all of every moment, so that correlations, regressions and powers see those rows alone. Normal scores are
the quantiles of a Gaussian at the column's ranks (van der Waerden, 1952); they keep its order and nothing else. All other columns stay as they are.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from seacausal.estimate.statistics import average_ranks, spaced_rows, standardise

HEAVY = 12.0
"""Fourth moment of a standardised column beyond which its tails are heavy: a Gaussian law has 3, an exponential one 9, a log-normal one 114."""
HEAVY_SCREEN = 30.0
"""The same where effects of interventions cannot be told from tails, for want of rows without any."""
JUDGED = 20_000
"""Rows that moments are taken of."""
GRID = 4096
"""Quantiles that scores are interpolated between."""


def find_heavy(rows: np.ndarray, *, screen: bool) -> np.ndarray:
    """Numbers of the columns of (n, d) `rows` with heavy tails; `screen` says whether effects of interventions are among them."""
    square = spaced_rows(rows, JUDGED)
    square = (square - square.mean(0)) ** 2
    return np.flatnonzero((square**2).mean(0) > (HEAVY_SCREEN if screen else HEAVY) * np.maximum(square.mean(0), 1e-300) ** 2)


def draw_in(z: np.ndarray, spread: np.ndarray, columns: np.ndarray) -> None:
    """Put normal scores in the place of columns, standardised again.

    Parameters
    ----------
    z
        (n, d) standardised rows, changed in place.
    spread
        (d,) standard deviations before standardising, changed in place to those of Gaussians with the same median deviation.
    columns
        Numbers of the columns.
    """
    places = (np.arange(GRID) + 0.5) / GRID
    quantiles = np.array([NormalDist().inv_cdf(place) for place in places])
    for j in columns:
        deviation = np.abs(z[:, j] - np.median(z[:, j]))
        spread[j] *= np.median(deviation[deviation > 0]) / quantiles[3 * GRID // 4]
        scores = np.interp((average_ranks(z[:, j]) + 0.5) / len(z), places, quantiles)
        z[:, j] = standardise(scores[:, None])[0][:, 0]
