"""How much simpler a pair of columns is told in one direction than in the other, by entropies measured from spacings.

In: rows. Out: for ordered pairs, in nats a row, how much shorter i and then what a straight line, or a cubic, of i leaves of j can be described than
j and what that leaves of i; and how far every column is from normal. Where j is a function of i and independent noise, that is positive: it is the
dependence between j and what is left of i, less that between i and what is left of j (Mooij et al., 2016).

The surprising choice: rounded columns have infinitely regular spacings, and what was rounded more coarsely would always look simpler. So values that
are equal are spread over half the way to their neighbours first.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.class_shapes import GAP, NORMAL
from seacausal.estimate.statistics import average_ranks, spaced_rows

ROWS, LEAST_ROWS, CELLS = 2_000, 400, 8e6
"""Rows that are looked at, at most; fewer, but at least so many, where rows times pairs would be more than `CELLS`."""
PAIRS = 10_000
"""Beyond so many pairs, those that depend on each other most."""
FEWEST = 10
"""A column of fewer values is of categories and left out, and so is what is measured on fewer rows."""
GOLDEN = (1 + np.sqrt(5)) / 2
CUT = 4.0
"""Standard deviations at which a column is cut before its powers."""


def entropy_statistics(rows: np.ndarray, strength: np.ndarray) -> dict[str, np.ndarray]:
    """The channels "negentropy" of j, "linear entropy" and "curve entropy" of i -> j over j -> i, and significances of these two.

    Parameters
    ----------
    rows
        (n, d) standardised rows, see `order.control_rows`.
    strength
        (d, d) how strongly pairs depend on each other.

    Returns
    -------
    (d, d) arrays, compressed; the last four change their sign with the order of i and j and are 0 where a pair is left out.
    """
    d = rows.shape[1]
    seen = spaced_rows(rows, int(min(ROWS, max(LEAST_ROWS, CELLS / d**2))))
    names = ("linear entropy", "linear entropy significance", "curve entropy", "curve entropy significance")
    own, longer = np.zeros(d), np.zeros((2, d, d))
    columns = [j for j in range(d) if len(np.unique(seen[:, j])) >= FEWEST]
    if len(columns) > 0 and len(seen) > FEWEST:
        x = spread_ties(seen[:, columns])
        x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        entropy = measure_entropies(x)
        own[columns] = NORMAL - entropy
        wanted = _choose_pairs(strength[np.ix_(columns, columns)])
        for i, column in enumerate(columns):
            others = np.flatnonzero(wanted[i])
            if len(others):
                longer[:, column, np.take(columns, others)] = entropy[i] + _leave(x[i], x[others])
    found = longer.swapaxes(1, 2) - longer
    sure = np.arcsinh(np.sqrt(len(seen)) * found)
    found = np.arcsinh(20 * found)
    channels = dict(zip(names, (found[0], sure[0], found[1], sure[1]), strict=True))
    return channels | {"negentropy": np.broadcast_to(np.arcsinh(10 * np.maximum(own, 0)), (d, d))}


def spread_ties(rows: np.ndarray) -> np.ndarray:
    """(d, n) columns of (n, d) rows, in which values that are equal are spread over half the way to their neighbours.

    Where a row's value goes is as good as random, but follows from the ranks of all its values, so that the order of rows and columns is irrelevant.
    """
    columns = rows.T.copy()
    tied = [j for j, column in enumerate(columns) if len(np.unique(column)) < len(column)]
    if not tied:
        return columns
    ranks = np.array([average_ranks(column) for column in columns])
    total = GOLDEN * ranks.sum(0)
    for j in tied:
        values, which, count = np.unique(columns[j], return_inverse=True, return_counts=True)
        if len(values) > 1:
            middle = (values[1:] + values[:-1]) / 2
            low = np.concatenate([[2 * values[0] - middle[0]], middle])
            high = np.concatenate([middle, [2 * values[-1] - middle[-1]]])
            anywhere = low[which] + (high - low)[which] * ((total + np.sqrt(2) * ranks[j]) % 1)
            columns[j] = np.where(count[which] > 1, anywhere, columns[j])
    return columns


def measure_entropies(x: np.ndarray) -> np.ndarray:
    """(k,) entropies in nats of the laws that (k, n) rows were drawn from, by spacings (Vasicek, 1976) less their bias; the rows have variance 1."""
    n = x.shape[1]
    reach = max(1, int(0.5 * np.sqrt(n) + 0.5))
    x = np.pad(np.sort(x, axis=1), ((0, 0), (reach, reach)), mode="edge")
    row = np.arange(n)
    steps = np.minimum(row + reach, n - 1) - np.maximum(row - reach, 0)
    spacing = np.maximum(x[:, 2 * reach :] - x[:, : -2 * reach], GAP)
    return np.log(spacing).mean(1) + (np.log(n / steps) + 0.5 / steps).mean()


def _leave(x: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(2, k) entropies of what a line and a cubic of (n,) x leave of (k, n) others."""
    cut = np.clip(x, -CUT, CUT)
    out = np.empty((2, len(others)))
    for fit, powers in enumerate((x[:, None], np.column_stack([cut, cut**2, cut**3]))):
        basis = np.linalg.qr(powers - powers.mean(0))[0]
        left = others - (others @ basis) @ basis.T
        spread = np.maximum(left.std(1), GAP)
        out[fit] = measure_entropies(left / spread[:, None]) + np.log(spread)
    return out


def _choose_pairs(strength: np.ndarray) -> np.ndarray:
    """(k, k) bool, symmetric: all pairs, or the strongest."""
    strength = np.maximum(strength, strength.T)
    i, j = np.triu_indices(len(strength), 1)
    wanted = np.zeros(strength.shape, bool)
    strongest = np.argsort(-strength[i, j], kind="stable")[:PAIRS]
    wanted[i[strongest], j[strongest]] = True
    return wanted | wanted.T
