"""All 80 conditional independence tests among five variables, from their covariance.

In: the (5, 5) covariance of a subset. Out: the covariance of all five given each of the 32 sets of them, and from that one bit for every
question "is i independent of j given S?". A set is a bit mask: bit v is set when variable v belongs to it, so that S is also its own row of a table.
Residual variances, which the BIC score of a node needs, are the diagonals of the same table.

Surprising choice: a variable that the set before it determines (up to rounding) is not conditioned on a second time, and is called independent of
everything given that set. Constant, duplicated and linearly dependent columns therefore give definite answers and no NaN.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numba import njit

VARIABLES = 5
SETS = 32

PAIRS = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4))
"""The unordered pairs in the order of every table that is indexed by pair."""

PAIR_INDEX = np.array([[-1, 0, 1, 2, 3], [0, -1, 4, 5, 6], [1, 4, -1, 7, 8], [2, 5, 7, -1, 9], [3, 6, 8, 9, -1]])
"""(5, 5) symmetric, the place of the pair of i and j in `PAIRS`; -1 on the diagonal."""

SET_SIZE = np.array([s.bit_count() for s in range(SETS)])
"""(32,), how many variables each set has."""

PIVOT = 1e-10
"""A variable is determined by a set when it keeps no more than this share of its variance given the set."""


def fisher_thresholds(rows: int, alpha: float = 0.05, sizes: int = 4) -> np.ndarray:
    """Largest squared partial correlation that Fisher's z-test accepts as independence, by size of the conditioning set.

    With `rows <= size + 3` the test has no degrees of freedom; it can reject nothing, and the threshold is 1: independence is accepted.

    Parameters
    ----------
    rows
        How many rows the covariance was computed from.
    alpha
        Level of the two-sided test.
    sizes
        How many sizes: k - 1 for tests among k variables.

    Returns
    -------
    (sizes,) float, for conditioning sets of 0, 1, 2, ... variables.

    References
    ----------
    Fisher (1921), On the "probable error" of a coefficient of correlation deduced from a small sample.

    Examples
    --------
    >>> fisher_thresholds(500).round(5).tolist()
    [0.00769, 0.00771, 0.00772, 0.00774]
    """
    quantile = NormalDist().inv_cdf(1 - alpha / 2)
    degrees = [rows - size - 3 for size in range(sizes)]
    return np.array([math.tanh(quantile / math.sqrt(n)) ** 2 if n > 0 else 1.0 for n in degrees])


def threshold_table(most_rows: int, alpha: float = 0.05) -> np.ndarray:
    """`fisher_thresholds` of 0, 1, ..., `most_rows` rows, for five variables: (most_rows + 1, 4)."""
    return np.array([fisher_thresholds(rows, alpha) for rows in range(most_rows + 1)])


@njit(cache=True, nogil=True)
def condition(covariance: np.ndarray, conditional: np.ndarray) -> None:
    """Covariance of the five variables given each set of them, by one Schur complement for each set.

    Entries of variables inside the set are zero up to rounding, of either sign; so is the variance of a variable that the set determines. Whoever
    takes a logarithm clamps first.

    Parameters
    ----------
    covariance
        (5, 5) float64, symmetric.
    conditional
        (32, 5, 5) float64, filled with the result: `conditional[S, i, j]` is the covariance of i and j given S.
    """
    for i in range(VARIABLES):
        for j in range(VARIABLES):
            conditional[0, i, j] = covariance[i, j]
    for last in range(VARIABLES):
        for before in range(1 << last):
            given = before | 1 << last
            pivot = conditional[before, last, last]
            # Dividing by the rounding error that is left of a determined variable would make noise of everything: leave it out.
            precision = 1.0 / pivot if pivot > PIVOT * covariance[last, last] else 0.0
            for i in range(VARIABLES):
                slope = conditional[before, i, last] * precision
                for j in range(i, VARIABLES):
                    rest = conditional[before, i, j] - slope * conditional[before, last, j]
                    conditional[given, i, j] = rest
                    conditional[given, j, i] = rest


@njit(cache=True, nogil=True)
def condition_all(covariance: np.ndarray, conditional: np.ndarray) -> None:  # pragma: no cover - compiled
    """`condition` for any k: (k, k) covariance to (2**k, k, k)."""
    k = len(covariance)
    conditional[0] = covariance
    for last in range(k):
        for before in range(1 << last):
            given = before | 1 << last
            pivot = conditional[before, last, last]
            precision = 1.0 / pivot if pivot > PIVOT * covariance[last, last] else 0.0
            for i in range(k):
                slope = conditional[before, i, last] * precision
                for j in range(i, k):
                    rest = conditional[before, i, j] - slope * conditional[before, last, j]
                    conditional[given, i, j] = rest
                    conditional[given, j, i] = rest


@njit(cache=True, nogil=True)
def independence_bits(conditional: np.ndarray, thresholds: np.ndarray, bits: np.ndarray) -> None:
    """Answer every question "is i independent of j given S?" by the size of the partial correlation.

    Parameters
    ----------
    conditional
        (32, 5, 5) float64, from `condition`.
    thresholds
        (4,) float64, from `fisher_thresholds`: independence is accepted when the squared partial correlation is at most `thresholds[size of S]`.
    bits
        (10,) uint32, filled with the result: bit S of `bits[p]` is set when the two variables of `PAIRS[p]` are independent given S. Bits of sets
        that contain one of the two are 0.
    """
    for pair, (i, j) in enumerate(PAIRS):
        ends = 1 << i | 1 << j
        accepted = 0
        for given in range(SETS):
            if given & ends:
                continue
            variance_i, variance_j = conditional[given, i, i], conditional[given, j, j]
            determined = variance_i <= PIVOT * conditional[0, i, i] or variance_j <= PIVOT * conditional[0, j, j]
            product = variance_i * variance_j
            # The minimum: rounding may lift a squared correlation above 1, which a threshold of 1 must still accept.
            explained = min(conditional[given, i, j] ** 2, product)
            if determined or explained <= thresholds[SET_SIZE[given]] * product:
                accepted |= 1 << given
        bits[pair] = accepted
