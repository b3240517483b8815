"""Columns with heavy tails, drawn in before any statistic: counts of molecules, incomes, ratios, noise without a variance.

In such a column a few rows make up nearly all of every moment, so that correlations, regressions and powers see those rows alone. Its values are
replaced by arcsinh(u) of u = (x - median) / unit, which keeps their order and is close to u itself in the bulk, and to log u far from it. All other
columns stay as they are.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.statistics import standardise

HEAVY = 30.0
"""Fourth moment of a standardised column beyond which its tails are heavy: a Gaussian law has 3, an exponential one 9, a log-normal one 114."""
BULK = 2.0
"""The unit, in medians of the absolute deviations from the median that are not 0."""


def find_heavy(z: np.ndarray) -> np.ndarray:
    """Numbers of the columns of standardised (n, d) `z` that have heavy tails."""
    far = np.maximum(z.max(0), -z.min(0)) ** 2 > HEAVY  # the fourth moment is at most the largest square
    return np.array([j for j in np.flatnonzero(far) if (z[:, j] ** 4).mean() > HEAVY], int)


def draw_in(z: np.ndarray, spread: np.ndarray, columns: np.ndarray) -> None:
    """Draw the tails of columns in, in place; they are standardised again, and `spread` becomes what they spread by now, in their own units.

    Parameters
    ----------
    z
        (n, d) standardised rows.
    spread
        (d,) standard deviations before standardising.
    columns
        Numbers of the columns.
    """
    for j in columns:
        deviation = z[:, j] - np.median(z[:, j])
        unit = BULK * np.median(np.abs(deviation[deviation != 0]))
        drawn, _, width = standardise(np.arcsinh(deviation / unit)[:, None])
        z[:, j] = drawn[:, 0]
        spread[j] *= unit * width[0]
