"""FCI on a few variables with the kernel conditional independence test of Zhang et al. (2011): all tests from features, not kernel matrices.

In: (n, k) rows, k from 2 to 10. Out: a p-value for every question "is i independent of j given S?", and from these the marks of a PAG.
With a kernel matrix K = F'F of (f, n) features F, centring, removing what z explains and every trace that the test needs are sums over features.
The conventions are causal-learn 0.1.3.7's: columns of variance 1 (n - 1), a ridge of 1e-3, the gamma approximation of the null, and the lower of two
variables beside z / 2 while the higher stands alone (theorem 4 takes (x, z) and y), so that p-values depend a little on the order of the columns.

The polynomial kernel (1 + <x, y>)^2 has few features and nothing is lost. The Gaussian kernel has as many as rows; `kernel_features` keeps those that
matter (a Nystroem approximation). Surprising choice: features of z alone, of which the removal leaves 1e-6, are not among those of (x, z / 2) where
the kernel is polynomial; and a variable that S determines is called independent of everything given S, as in `partial_correlation`.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numba import njit

from seacausal.estimate.columns import mean_product, rescale
from seacausal.estimate.fci import fci
from seacausal.estimate.fci_general import fci_general
from seacausal.estimate.gamma import upper_gamma
from seacausal.estimate.independence import check_table
from seacausal.estimate.kernel_features import (
    RANK,
    fill_monomials,
    gaussian_features,
    polynomial_features,
    subtract,
    subtract_projection,
    whiten,
)
from seacausal.estimate.partial_correlation import PAIRS, PIVOT, SETS, VARIABLES, condition_all
from seacausal.estimate.statistics import standardise
from seacausal.graph.essential import size

RIDGE = 1e-3
"""Added to the diagonal of the kernel matrix of z before what it explains is removed."""
Kernel = Literal["polynomial", "gaussian"]


def estimate_fci_kci(values: np.ndarray, *, kernel: Kernel = "polynomial", alpha: float = 0.05) -> np.ndarray:
    """FCI on one small table, by the KCI test, rules R0 to R4.

    Parameters
    ----------
    values
        (n, k) rows of k variables, k from 2 to 10. Every question is answered, asked for or not: k (k - 1) 2^(k - 3) of them.
    kernel
        "polynomial", (1 + <x, y>)^2, sees what polynomials of degree 2 can: 500 rows of ten variables take 0.2 s. "gaussian" sees every dependence
        and takes some 500 times as long.
    alpha
        Level of the tests: a p-value above it is independence.

    Returns
    -------
    (k, k) int8 marks of a PAG: `marks[i, j]` is the mark at j's end of the edge between i and j.

    Raises
    ------
    DataError
        If `values` is not such a table.

    References
    ----------
    Zhang, Peters, Janzing and Schoelkopf (2011), Kernel-based conditional independence test and application in causal discovery, theorem 4 and
    proposition 5; section 3.4 for the gamma approximation.
    """
    values = check_table(values)
    k = values.shape[1]
    if k == VARIABLES:
        return fci_kci_each(standardise(values)[0][None], kernel == "gaussian", alpha)[0]
    marks = np.zeros((k, k), np.int8)
    fci_general(answers_of(kci_p_values(values, kernel=kernel), k, alpha), marks)
    return marks


def kci_p_values(values: np.ndarray, *, kernel: Kernel = "polynomial") -> np.ndarray:
    """All p-values of an (n, k) table: (k (k - 1) / 2, 2**k), entry [p, S] of the p-th pair given S; 0 where S has one of the two.

    Pairs are (0, 1), (0, 2), ..., (1, 2), ..., as in `partial_correlation.PAIRS`. Raises `DataError` as `estimate_fci_kci`.
    """
    values = check_table(values)
    k = values.shape[1]
    p_values = np.zeros((k * (k - 1) // 2, 1 << k))
    fill_p_values(np.ascontiguousarray(standardise(values)[0].T), kernel == "gaussian", p_values)
    return p_values


def answers_of(p_values: np.ndarray, k: int, alpha: float) -> np.ndarray:
    """(k, k, 2**k) bool, the table that `fci_general` reads, of the p-values above `alpha`."""
    accepted = np.zeros((k, k, 1 << k), bool)
    i, j = np.triu_indices(k, 1)
    given = np.arange(1 << k)
    accepted[i, j] = accepted[j, i] = (p_values > alpha) & (given & (1 << i | 1 << j)[:, None] == 0)
    return accepted


@njit(cache=True, nogil=True)
def fci_kci_each(values: np.ndarray, gaussian: bool, alpha: float) -> np.ndarray:  # pragma: no cover - compiled
    """FCI by the KCI test on each of t subsets: (t, n, 5) float64 rows, of a size that can be squared, to (t, 5, 5) int8 marks."""
    t, n, _ = values.shape
    marks = np.empty((t, VARIABLES, VARIABLES), np.int8)
    columns = np.empty((VARIABLES, n))
    p_values = np.zeros((len(PAIRS), SETS))
    bits = np.empty(len(PAIRS), np.uint32)
    for s in range(t):
        for v in range(VARIABLES):
            columns[v] = values[s, :, v]
        fill_p_values(columns, gaussian, p_values)
        for pair in range(len(PAIRS)):
            accepted = 0
            for given in range(SETS):
                accepted |= 1 << given if p_values[pair, given] > alpha else 0
            bits[pair] = accepted
        fci(bits, marks[s])
    return marks


@njit(cache=True, nogil=True)
def fill_p_values(columns: np.ndarray, gaussian: bool, p_values: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `p_values` of `kci_p_values`, but for sets that have one of the two variables. `columns` (k, n) are standardised in place."""
    k, n = columns.shape
    most = k - 2  # variables given
    for v in range(k):
        rescale(columns[v], 0.0)
        columns[v] *= math.sqrt((n - 1) / n)
    monomials = np.empty((2 * k + len(p_values), 1 if gaussian else n))
    if not gaussian:
        fill_monomials(columns, monomials)
    basis = np.empty((RANK if gaussian else 2 * most + most * (most - 1) // 2, n))
    features = np.empty((2, k, RANK if gaussian else 2 + most, n))  # of each variable beside the given ones, and of each alone
    width = np.zeros((2, k), np.int64)
    squares = np.empty((2, k, n))
    products = np.empty((2, k, 1 if gaussian else (2 + most) * (3 + most) // 2, n))
    fourth = np.empty(len(p_values))
    conditional = linear_residuals(columns)
    for given in range(1 << k):
        if size(given) > most:
            continue
        explaining = 0
        if given:
            explaining = fill_features(columns, monomials, gaussian, -1, given, False, basis)
            whiten(basis[:explaining], RIDGE)
        for alone in range(2):
            for v in range(k):
                width[alone, v] = 0
                if not given >> v & 1 and conditional[given, v, v] > PIVOT * conditional[0, v, v]:
                    found = fill_features(columns, monomials, gaussian, v, given, alone == 1, features[alone, v])
                    whole = sum_squares(features[alone, v, :found], squares[alone, v])
                    subtract_projection(features[alone, v, :found], basis[:explaining])
                    left = sum_squares(features[alone, v, :found], squares[alone, v])
                    width[alone, v] = found if left > PIVOT * whole else 0
        if given and gaussian:
            fourth_moments_by_rows(features, width, products[:, :, 0], fourth)
        elif given:
            fourth_moments_by_products(features, width, products, fourth)
        pair = -1
        for i in range(k):
            for j in range(i + 1, k):
                pair += 1
                if given & (1 << i | 1 << j):
                    continue
                x, y = features[0, i, : width[0, i]], features[1, j, : width[1, j]]
                if given:
                    mean, variance = n * mean_product(squares[0, i], squares[1, j]), 2.0 * fourth[pair]
                else:
                    mean = n * squares[0, i].mean() * squares[1, j].mean()
                    variance = 2.0 * sum_squared_products(x, x) * sum_squared_products(y, y) / n**2
                testable = len(x) > 0 and len(y) > 0 and variance > 0.0
                statistic = sum_squared_products(x, y)
                p_values[pair, given] = upper_gamma(mean * mean / variance, statistic * mean / variance) if testable else 1.0


@njit(cache=True, nogil=True)
def linear_residuals(columns: np.ndarray) -> np.ndarray:  # pragma: no cover - compiled
    """(2**k, k, k), the covariance given each set, see `partial_correlation.condition`."""
    k = len(columns)
    covariance = np.empty((k, k))
    conditional = np.empty((1 << k, k, k))
    for i in range(k):
        for j in range(k):
            covariance[i, j] = mean_product(columns[i], columns[j])
    condition_all(covariance, conditional)
    return conditional


@njit(cache=True, nogil=True)
def fill_features(
    columns: np.ndarray, monomials: np.ndarray, gaussian: bool, x: int, given: int, alone: bool, features: np.ndarray
) -> int:  # pragma: no cover - compiled
    """The features of one kernel or the other, see `kernel_features`; returns how many there are."""
    if gaussian:
        return gaussian_features(columns, x, given, alone, features)
    return polynomial_features(monomials, len(columns), x, given, alone, features)


@njit(cache=True, nogil=True)
def sum_squares(features: np.ndarray, squares: np.ndarray) -> float:  # pragma: no cover - compiled
    """Fill `squares` (n,) with the diagonal of the matrix of `features` (f, n); returns its trace."""
    squares[:] = 0.0
    for f in range(len(features)):
        for r in range(len(squares)):
            squares[r] += features[f, r] * features[f, r]
    return squares.sum()


@njit(cache=True, nogil=True)
def sum_squared_products(x: np.ndarray, y: np.ndarray) -> float:  # pragma: no cover - compiled
    """Sum of squares of the entries of X Y', which is the trace of Kx Ky."""
    total = 0.0
    for i in range(len(x)):  # over rows by number: an iterator's are ten times slower to multiply
        for j in range(len(y)):
            total += (x.shape[1] * mean_product(x[i], y[j])) ** 2
    return total


@njit(cache=True, nogil=True)
def fourth_moments_by_products(
    features: np.ndarray, width: np.ndarray, products: np.ndarray, fourth: np.ndarray
) -> None:  # pragma: no cover - compiled
    """Fill `fourth`, one a pair, with the sum of squares of Kx * Ky by entries, where features are few: from the products of every two of x and of y.

    `products` (2, k, f (f + 1) / 2, n) is scratch.
    """
    _, k, _, n = features.shape
    count = width * (width + 1) // 2
    for alone in range(2):
        for v in range(k):
            at = 0
            for i in range(width[alone, v]):
                for j in range(i + 1):
                    first, second, product = features[alone, v, i], features[alone, v, j], products[alone, v, at]
                    weight = 1.0 if i == j else math.sqrt(2.0)
                    for r in range(n):
                        product[r] = weight * first[r] * second[r]
                    at += 1
    pair = 0
    for i in range(k):
        for j in range(i + 1, k):
            fourth[pair] = sum_squared_products(products[0, i, : count[0, i]], products[1, j, : count[1, j]])
            pair += 1


@njit(cache=True, nogil=True)
def fourth_moments_by_rows(features: np.ndarray, width: np.ndarray, rows: np.ndarray, fourth: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `fourth`, one a pair, with the sum of squares of Kx * Ky by entries, where features are many: from one row of every matrix at a time.

    `rows` (2, k, n) is scratch.
    """
    _, k, _, n = features.shape
    fourth[:] = 0.0
    for r in range(n):
        for alone in range(2):
            for v in range(k):
                row = rows[alone, v, r:]
                row[:] = 0.0
                for f in range(width[alone, v]):
                    subtract(row, features[alone, v, f, r], features[alone, v, f, r:])
                row *= row
        pair = 0
        for i in range(k):
            for j in range(i + 1, k):
                if width[0, i] and width[1, j]:
                    fourth[pair] += 2.0 * (n - r) * mean_product(rows[0, i, r:], rows[1, j, r:]) - rows[0, i, r] * rows[1, j, r]
                pair += 1
