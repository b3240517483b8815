"""What the compiled estimators that need rows do to a column: centre, scale, multiply."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from seacausal.estimate.partial_correlation import PIVOT


@njit(cache=True, nogil=True)
def rescale(column: np.ndarray, least: float) -> float:  # pragma: no cover - compiled
    """Bring a column to mean 0 and variance 1; returns the variance that it had. With no more than `least`, or than rounding makes, it becomes 0."""
    mean = column.mean()
    column -= mean
    variance = mean_product(column, column)
    column *= 1.0 / math.sqrt(variance) if variance > max(least, (PIVOT * mean) ** 2) else 0.0
    return variance


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def mean_product(x: np.ndarray, y: np.ndarray) -> float:  # pragma: no cover - compiled
    """Mean over the rows of x y."""
    total = 0.0
    for row in range(len(x)):
        total += x[row] * y[row]
    return total / len(x)
