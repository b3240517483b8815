"""All conditional independence tests among k variables, k from 2 to 10, from their covariance.

In: the (k, k) covariance of a subset. Out: a table with one answer for every question "is i independent of j given S?", S a bit mask. For five
variables `partial_correlation` answers the same questions faster, and alike to the last bit. Constraint-based algorithms for other k read the table
made here, whatever filled it: these tests, another test, a d-separation oracle.

A table has at most 10 x 10 x 1024 answers, so that all are computed, asked for or not: a Schur complement for each set, in 10 variables 0.2 ms.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.errors import DataError
from seacausal.estimate.partial_correlation import PIVOT, condition_all

LARGEST = 10
"""Variables that a table can hold."""

SIZE = np.array([s.bit_count() for s in range(1 << LARGEST)])
"""(1024,), how many variables each set has."""


def covariance_of(values: np.ndarray) -> np.ndarray:
    """Covariance of the columns of a small table, each scaled to a largest deviation of 1; a constant column has exact zeros.

    Parameters
    ----------
    values
        (n, k) float, k from 2 to 10. Partial correlations are free of scale, and scaled squares neither overflow nor vanish.

    Returns
    -------
    (k, k) float64.

    Raises
    ------
    DataError
        If the table has no row, a column too few or too many, or an entry that is not finite.
    """
    values = check_table(values)
    low, high = values.min(0), values.max(0)
    centred = values / np.maximum(np.maximum(-low, high), np.finfo(float).tiny)
    centred -= centred.mean(0)
    centred[:, low == high] = 0
    centred /= np.maximum(np.abs(centred).max(0), np.finfo(float).tiny)
    return centred.T @ centred / len(values)


def check_table(values: np.ndarray) -> np.ndarray:
    """(n, k) rows of 2 to 10 columns as float64, or a `DataError`."""
    values = np.asarray(values, np.float64)
    if values.ndim != 2 or not 2 <= values.shape[1] <= LARGEST or len(values) == 0:
        raise DataError(f"`values` must have rows and from 2 to {LARGEST} columns; found shape {values.shape}.")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(f"`values` must be finite; found {values[row, column]} in row {row} of column {column}. Drop or impute missing values.")
    return values


@njit(cache=True, nogil=True)
def answer_tests(covariance: np.ndarray, thresholds: np.ndarray, accepted: np.ndarray) -> None:  # pragma: no cover - compiled
    """Answer every question "is i independent of j given S?" by the size of the partial correlation.

    Parameters
    ----------
    covariance
        (k, k) float64, symmetric.
    thresholds
        (k - 1,) float64, from `fisher_thresholds`.
    accepted
        (k, k, 2**k) bool, filled with the result: `accepted[i, j, S]`, symmetric in i and j; False where S holds one of the two.
    """
    k = len(covariance)
    conditional = np.empty((1 << k, k, k))
    condition_all(covariance, conditional)
    accepted[:] = False
    for given in range(1 << k):
        for i in range(k):
            for j in range(i + 1, k):
                if given & (1 << i | 1 << j):
                    continue
                variance_i, variance_j = conditional[given, i, i], conditional[given, j, j]
                determined = variance_i <= PIVOT * covariance[i, i] or variance_j <= PIVOT * covariance[j, j]
                product = variance_i * variance_j
                # The minimum: rounding may lift a squared correlation above 1, which a threshold of 1 must still accept.
                explained = min(conditional[given, i, j] ** 2, product)
                answer = determined or explained <= thresholds[SIZE[given]] * product
                accepted[i, j, given] = answer
                accepted[j, i, given] = answer
