"""Distance correlation of every pair of columns, in O(n log n) for each pair.

In: (n, d) rows. Out: (d, d) numbers between 0 and 1, 0 for columns that are independent in the sample (Szekely, Rizzo and Bakirov, 2007, equations
2.8 to 2.10: the square root, and the statistic that divides by n squared). It is free of the columns' shift and scale.

With the rows in the order of x, the sum of |x_i - x_j| |y_i - y_j| needs, of the rows before i with a smaller y, their number and the sums of x, y
and xy; a binary indexed tree over the ranks of y gives all four at once (the dyadic sums of Huo and Szekely, 2016; Chaudhuri and Hu, 2019, merge
instead). Surprising choice: ties need no care, since a pair with equal x or equal y adds nothing in whichever order it is met.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.statistics import standardise

ROUNDING = 1e-13
"""A squared distance correlation up to here is rounding, and 0."""


def distance_correlation(values: np.ndarray) -> np.ndarray:
    """Distance correlation of all pairs of columns.

    Parameters
    ----------
    values
        (n, d), finite; n at least 1.

    Returns
    -------
    (d, d) float64, symmetric, 1 on the diagonal; a constant column has 0 everywhere, its diagonal included.

    References
    ----------
    Szekely, Rizzo and Bakirov (2007), Measuring and testing dependence by correlation of distances; Huo and Szekely (2016), Fast computing for
    distance covariance.

    Examples
    --------
    >>> x = np.arange(-2.0, 3.0)
    >>> distance_correlation(np.column_stack([x, x**2, np.ones(5)])).round(3).tolist()
    [[1.0, 0.516, 0.0], [0.516, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    columns = np.ascontiguousarray(standardise(np.asarray(values))[0].T)
    order = np.argsort(columns, axis=1, kind="stable")
    found = np.zeros((len(columns), len(columns)))
    distance_correlation_all(columns, order, found)
    return found


@njit(cache=True, nogil=True)
def distance_correlation_all(columns: np.ndarray, order: np.ndarray, found: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `found` (d, d) from (d, n) float64 columns of mean 0 and variance 1, constant ones all 0, and the (d, n) int64 order that sorts each."""
    d, n = columns.shape
    rank = np.empty((d, n), np.int64)
    centre = np.empty((d, n))  # each row's mean distance from all rows, less the mean of those
    mean = np.empty(d)
    variance = np.empty(d)
    for v in range(d):
        for place in range(n):
            rank[v, order[v, place]] = place
        mean[v] = mean_distances(columns[v], order[v], centre[v])
        variance[v] = 2.0 * np.mean(columns[v] ** 2) - mean[v] ** 2 - 2.0 * np.mean(centre[v] ** 2)
    tree = np.empty((n + 1, 4))
    for a in range(d):
        if variance[a] <= 0.0:
            continue
        found[a, a] = 1.0
        for b in range(a):
            if variance[b] <= 0.0:
                continue
            shared = product_of_distances(columns[a], columns[b], order[a], rank[b], tree)
            covariance = shared - mean[a] * mean[b] - 2.0 * np.mean(centre[a] * centre[b])
            squared = covariance / np.sqrt(variance[a] * variance[b])
            found[a, b] = found[b, a] = min(np.sqrt(squared), 1.0) if squared > ROUNDING else 0.0


@njit(cache=True, nogil=True)
def mean_distances(column: np.ndarray, order: np.ndarray, centre: np.ndarray) -> float:  # pragma: no cover - compiled
    """Fill `centre` (n,) with each row's mean distance from all rows, less the mean over the rows, which is returned."""
    n = len(column)
    total = column.sum()
    below = 0.0
    for place in range(n):
        x = column[order[place]]
        centre[order[place]] = (x * (2 * place - n) + total - 2.0 * below) / n
        below += x
    mean = centre.mean()
    centre -= mean
    return mean


@njit(cache=True, nogil=True)
def product_of_distances(x: np.ndarray, y: np.ndarray, order: np.ndarray, rank: np.ndarray, tree: np.ndarray) -> float:  # pragma: no cover
    """Mean over all n^2 pairs of rows of |x_i - x_j| |y_i - y_j|; `order` sorts x, `rank` is of y, `tree` (n + 1, 4) is scratch.

    Node q of the tree sums (1, x, y, xy) over the places q - (lowest bit of q) + 1 to q of y's order.
    """
    n = len(x)
    tree[:] = 0.0
    all_x = all_y = all_xy = twice = 0.0
    for place in range(n):
        row = order[place]
        u, v = x[row], y[row]
        count = sum_x = sum_y = sum_xy = 0.0
        at = rank[row]
        while at > 0:
            count += tree[at, 0]
            sum_x += tree[at, 1]
            sum_y += tree[at, 2]
            sum_xy += tree[at, 3]
            at &= at - 1
        # (u - x_j) |v - y_j| over the rows before: twice those with a smaller y, less all.
        twice += 2.0 * (u * v * count - u * sum_y - v * sum_x + sum_xy) - (u * v * place - u * all_y - v * all_x + all_xy)
        product = u * v
        all_x += u
        all_y += v
        all_xy += product
        at = rank[row] + 1
        while at <= n:
            tree[at, 0] += 1.0
            tree[at, 1] += u
            tree[at, 2] += v
            tree[at, 3] += product
            at += at & -at
    return float(2.0 * twice / n**2)
