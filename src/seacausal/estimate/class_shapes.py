"""How a column of many values is spread within the classes of a column of few, for whether the classes make or are made.

In: values and codes. Out: for every pair of a class column i and another j, how far j is from normal as a whole and within the classes, and how
spread and skewness differ between these. Where i is a cause, j is a mixture of pieces of one shape. Where i is a cut of j, or a rating of it, j as a
whole is plain and its pieces are not: the lowest class has its tail below, the highest above, those between are narrow.

How far from normal is what the entropy falls short of that of a normal law (from spacings, whose bias is taken off; Vasicek, 1976).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from seacausal.estimate.parents import INNER
from seacausal.estimate.statistics import spaced_rows

ROWS, LEAST_ROWS, CELLS = 4_000, 500, 2e7
"""Rows that are looked at, at most; fewer, but at least so many, where rows times pairs would be more than `CELLS`."""
SMALLEST = 8
"""Rows of a class that is looked at."""
GAP = 1e-3
"""Standard deviations that neighbouring values are taken to be apart, at least: rounded ones are not infinitely regular."""
NORMAL = 0.5 * math.log(2 * math.pi * math.e)
"""Entropy of the standard normal law."""
MEASURES = ("shape", "shape in classes", "spread", "skewness", "skewness trend")


def measure_shapes(rows: np.ndarray, codes: np.ndarray, few: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The measures of every pair of a class column and one that is none.

    Parameters
    ----------
    rows, codes
        (n, d) standardised values and (d, n) codes from 0, those of columns of few values being their classes.
    few
        (d,) bool, which columns these are.
    free
        (d, n) bool, the rows in which j is no target, which count for it.

    Returns
    -------
    (5, d, d), in the order of `MEASURES`: [i, j] for the classes i of j, 0 elsewhere. The first two in nats; "spread" and "skewness" are standard
    deviations between classes, of log standard deviations and of skewnesses; the last is the covariance of these with the standardised class means.
    """
    n, d = rows.shape
    out = np.zeros((5, d, d))
    most = int(min(ROWS, max(LEAST_ROWS, CELLS / d**2)))
    seen = spaced_rows(np.arange(n), most)
    classes = codes[few].astype(np.uint8)
    levels = codes[few].max(1) + 1
    for j in np.flatnonzero(~few):
        kept = seen[free[j, seen]]
        kept = kept[np.argsort(rows[kept, j], kind="stable")]
        x = rows[kept, j]
        if len(x) >= SMALLEST and x[-1] - x[0] > GAP:
            out[:, few, j] = compare_classes((x - x.mean()) / x.std(), classes[:, kept], levels)
    return out


@njit(cache=True, nogil=True)
def compare_classes(x: np.ndarray, codes: np.ndarray, levels: np.ndarray) -> np.ndarray:  # pragma: no cover - compiled
    """(5, c) measures of a sorted and standardised column, for each of (c, n) columns of classes."""
    out = np.zeros((5, len(codes)))
    out[0] = max(NORMAL - _entropy(x), 0.0)
    for i in range(len(codes)):
        out[1:, i] = _compare(x, codes[i], levels[i])
    return out


@INNER
def _entropy(x):  # pragma: no cover - compiled
    """Of the law that sorted x were drawn from."""
    n = len(x)
    reach = max(1, int(0.5 * math.sqrt(n) + 0.5))
    total = 0.0
    for row in range(n):
        below, above = max(row - reach, 0), min(row + reach, n - 1)
        steps = above - below
        total += math.log(max(x[above] - x[below], GAP) * n / steps) + 0.5 / steps
    return total / n


@INNER
def _compare(x, codes, levels):  # pragma: no cover - compiled
    """The last four measures."""
    n = len(x)
    start = np.zeros(levels + 1, np.int64)
    for row in range(n):
        start[codes[row] + 1] += 1
    start = np.cumsum(start)
    place, sorted_by_class = start[:-1].copy(), np.empty(n)
    for row in range(n):
        sorted_by_class[place[codes[row]]] = x[row]
        place[codes[row]] += 1
    share, mean, spread, skewness = np.zeros(levels), np.zeros(levels), np.zeros(levels), np.zeros(levels)
    shape = 0.0
    for level in range(levels):
        part = sorted_by_class[start[level] : start[level + 1]]
        if len(part) < SMALLEST:
            continue
        share[level], mean[level] = len(part), part.mean()
        deviation = max(part.std(), GAP)
        part = (part - mean[level]) / deviation
        spread[level], skewness[level] = math.log(deviation), (part**3).mean()
        shape += len(part) * max(NORMAL - _entropy(part), 0.0)
    out = np.zeros(4)
    total = share.sum()
    if total == 0.0:
        return out
    share /= total
    center, width = (share * mean).sum(), 0.0
    spread -= (share * spread).sum()
    skewness -= (share * skewness).sum()
    for level in range(levels):
        width += share[level] * (mean[level] - center) ** 2
        out[1] += share[level] * spread[level] ** 2
        out[2] += share[level] * skewness[level] ** 2
        out[3] += share[level] * (mean[level] - center) * skewness[level]
    out[0] = shape / total
    out[1], out[2] = math.sqrt(out[1]), math.sqrt(out[2])
    out[3] /= math.sqrt(max(width, GAP**2))
    return out
