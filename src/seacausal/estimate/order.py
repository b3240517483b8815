"""Whole-graph order searches: how much worse does the data's fit become when i has to come after j?

In: standardised rows and their Gram matrix. Out: for every ordered pair the loss of fit, and how much i explains of j among all that come before j.
Three scores are searched, because each identifies the order under an assumption of its own:

- "variance order": the sum of residual variances in the columns' own units (equal noise variances; Chen, Drton and Wang, 2019);
- "additive order": the sum of log residual variances of additive cubic regressions (nonlinear additive noise; Buehlmann, Peters and Ernest, 2014);
- "entropy order": the sum of residual entropies of linear regressions (non-Gaussian noise; Shimizu et al., 2006). The last two are free of scale.

The surprising choice: moving a variable through an order is a chain of swaps of neighbours, and a swap is a Givens rotation of the QR factor
of the rows, so that a position costs O(d), not a new factorisation, and all positions of all variables come within milliseconds.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from seacausal.estimate.compiled import is_compiled
from seacausal.estimate.parents import quadratic
from seacausal.estimate.statistics import ROWS_CAP, correlate_features, join_powers, spaced_rows

POWERS = 3
"""Columns of a variable in the cubic regressions: z, z^2, z^3."""
ENTROPY_ROWS = 500
"""Rows that residual entropies are measured on, or 10 for each variable if that is more."""
MIN_CONTROL = 100
"""With interventions the observational rows alone are used where there are at least so many, and five for each variable; else all rows."""
PASSES = 8
"""Rounds in which every variable is tried at every position."""
REACH = 500_000
"""Beyond sqrt(REACH / d) variables, a variable moves at most REACH / d^2 places, so that a round costs O(d) swaps."""
VARIANCE, LOGARITHM, ENTROPY = 0, 1, 2
"""Scores."""

Channels = dict[str, np.ndarray]

_ODD, _EVEN = 13.4687518, 11.0937700
"""Weights of E[u / (1 + u^2)]^2 and (E|u| - sqrt(2 / pi))^2 in u's negentropy (Hyvarinen, 1998, New approximations of differential entropy)."""


def order_statistics(z: np.ndarray, spread: np.ndarray, gram: np.ndarray) -> Channels:
    """Search the three orders.

    Parameters
    ----------
    z
        (n, d) standardised rows, see `control_rows`.
    spread
        (d,) standard deviations before standardising.
    gram
        (1 + 3d, 1 + 3d), `statistics.gram_matrix(z)`, or a share of it where the rows are worth fewer independent ones.

    Returns
    -------
    (d, d) arrays, compressed, four for each order: "precedence" [i, j] (what a row's fit loses when i moves behind j, in -2 log-likelihood), its
    "significance" (the same of all rows), "strength" (log ratio of j's residual variances without and with i, among the variables before j) and its
    significance.
    """
    n, d = int(gram[0, 0]), z.shape[1]
    _, variance, correlation = correlate_features(gram)
    cubic = join_powers(correlation) + (1e-3 + 1.5 * d / n) * np.eye(POWERS * d)
    linear = cubic[::POWERS, ::POWERS]
    units = np.maximum((spread / spread.max()) ** 2 * variance[:d], 1e-30)
    explained_last = np.argsort(np.linalg.inv(linear).diagonal(), kind="stable")
    out = _search("variance order", cubic, None, np.argsort(units, kind="stable"), n, VARIANCE, units / units.mean())
    out |= _search("additive order", cubic, None, explained_last, n, LOGARITHM)
    rows = spaced_rows(z, min(max(ENTROPY_ROWS, 10 * d), n))
    return out | _search("entropy order", linear, rows, explained_last, len(rows), ENTROPY)


def control_rows(z: np.ndarray, targeted: np.ndarray | None) -> np.ndarray:
    """The rows that the orders are searched on."""
    if targeted is None:
        return z
    control = ~targeted.any(1)
    return z[control] if control.sum() >= max(MIN_CONTROL, 5 * z.shape[1]) else z


def order_compiled() -> bool:
    """Whether the kernels are compiled already."""
    return is_compiled(search_order)


def _search(
    name: str, matrix: np.ndarray, rows: np.ndarray | None, start: np.ndarray, n: int, score: int, units: np.ndarray | None = None
) -> Channels:
    """One order search from `start`: the channels of `name`."""
    d, order = len(start), start.copy()
    block = len(matrix) // d
    factor, residuals = _factorise(matrix, order) if rows is None else _factorise_rows(rows, order)
    weight = np.ones(d) if units is None else units
    precedence = search_order(factor, residuals, order, weight, score, block, max(8, REACH // d**2), PASSES)
    columns = (order[:, None] * block + np.arange(block)).ravel()
    lower = np.linalg.cholesky(matrix[np.ix_(columns, columns)])
    strength = _explain(lower, invert_triangle(lower), order, block)
    count = min(n, ROWS_CAP)
    return {
        f"{name} precedence": np.arcsinh(4 * precedence),
        f"{name} significance": np.arcsinh(count * precedence / 2) / 4,
        f"{name} strength": np.log1p(strength),
        f"{name} strength significance": np.log1p(count * strength) / 8,
    }


def invert_triangle(lower: np.ndarray) -> np.ndarray:
    """(m, m) inverse of a lower triangular matrix, by halves: a quarter of the work of a general inverse."""
    m = len(lower)
    if m <= 128:
        return np.linalg.inv(lower)
    half, out = m // 2, np.zeros_like(lower)
    out[:half, :half], out[half:, half:] = invert_triangle(lower[:half, :half]), invert_triangle(lower[half:, half:])
    out[half:, :half] = -out[half:, half:] @ (lower[half:, :half] @ out[:half, :half])
    return out


def _factorise(matrix: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    block = len(matrix) // len(order)
    columns = (order[:, None] * block + np.arange(block)).ravel()
    factor = np.empty_like(matrix, order="C")
    factor[:, columns] = np.linalg.cholesky(matrix[np.ix_(columns, columns)]).T
    return factor, np.zeros((len(matrix), 0), np.float32)


def _factorise_rows(rows: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, d = rows.shape
    z = rows[:, order] - rows[:, order].mean(0)
    z /= np.sqrt(n * np.maximum((z**2).mean(0), 1e-12))
    residuals, triangle = np.linalg.qr(np.vstack([z, np.sqrt(1e-3 + 0.5 * d / n) * np.eye(d)]))
    factor = np.empty((d, d))
    factor[:, order] = triangle
    return factor, np.ascontiguousarray(residuals[:n].T.astype(np.float32))


@njit(cache=True, nogil=True)
def _explain(lower: np.ndarray, inverse: np.ndarray, order: np.ndarray, block: int) -> np.ndarray:
    """The rows of the inverse factor hold the regressions on the prefixes; their running cross products the precisions of the prefixes."""
    d = len(order)
    out = np.zeros((d, d))
    precision, matrix, x = np.zeros((d, block, block)), np.empty((block, block)), np.empty(block)
    for p in range(d):
        level = p * block
        for q in range(p):
            for a in range(block):  # the regression's coefficients, as shares of the residual's standard deviation
                x[a] = inverse[level, q * block + a]
                for b in range(block):
                    matrix[a, b] = precision[q, a, b]
            out[order[q], order[p]] = quadratic(matrix, x)
        for row in range(level, level + block):
            for q in range(p + 1):
                for a in range(block):
                    for b in range(block):
                        precision[q, a, b] += inverse[row, q * block + a] * inverse[row, q * block + b]
    return out


@njit(cache=True, nogil=True)
def search_order(
    factor: np.ndarray, residuals: np.ndarray, order: np.ndarray, weight: np.ndarray, score: int, block: int, reach: int, passes: int
) -> np.ndarray:
    """Move single variables to their best places until none moves; `factor`, `residuals` and `order` are changed in place.

    Parameters
    ----------
    factor
        (d k, d k) QR factor of the features, k = `block` columns a variable: upper triangular once its columns stand in the order's order, in which
        they are never put.
    residuals
        (d k, n) float32, the transposed orthogonal factor; n = 0 where the score needs no rows.
    order
        (d,) variables, the first place first.
    weight
        (d,) squared units of the columns, for the score VARIANCE.

    Returns
    -------
    (d, d): [i, j] the best score with i moved behind j minus the best score with i moved before j, the others left as they are. VARIANCE scores d
    times the logarithm of the sum, so that all scores are -2 log-likelihoods a row.
    """
    # Loops, not array expressions, which take seconds to compile.
    d = len(order)
    cost, at = np.empty(d), np.empty(d)
    before, behind = np.empty(d), np.empty(d)
    turns = np.empty(d, np.int64)
    out = np.zeros((d, d))
    for p in range(d):
        cost[p] = _cost(factor, residuals, order, weight, score, block, p)
    for _ in range(passes):
        moved = False
        for p in range(d):
            turns[p] = order[p]
        for variable in turns:
            start = 0
            while order[start] != variable:
                start += 1
            low, high = max(0, start - reach), min(d - 1, start + reach)
            at[start] = _total(cost, score)
            for step in range(start - low + high - low):  # down to the lowest place, then up to the highest
                down = step < start - low
                p = start - 1 - step if down else 2 * low - start + step
                _swap(factor, residuals, order, block, p)
                for q in range(p, p + 2):
                    cost[q] = _cost(factor, residuals, order, weight, score, block, q)
                at[p if down else p + 1] = _total(cost, score)
            margins(at, low, high, order, high, variable, before, behind, out)
            best = start
            for p in range(low, high + 1):
                if at[p] < at[best] and at[p] <= at[start] - 1e-7:
                    best = p
            moved = moved or best != start
            for p in range(high - 1, best - 1, -1):
                _swap(factor, residuals, order, block, p)
                for q in range(p, p + 2):
                    cost[q] = _cost(factor, residuals, order, weight, score, block, q)
        if not moved:
            break
    return out


@njit(cache=True, nogil=True)
def _total(cost: np.ndarray, score: int) -> float:
    total = 0.0
    for one in cost:
        total += one
    return len(cost) * math.log(total) if score == VARIANCE else total


@njit(cache=True, nogil=True, inline="always")
def margins(
    at: np.ndarray, low: int, high: int, order: np.ndarray, place: int, variable: np.int64, before: np.ndarray, behind: np.ndarray, out: np.ndarray
) -> None:
    """Fill out[variable] (d,): the best score behind each other variable minus the best score before it, the others left in order.

    `at` (d,) holds the scores of `variable` at the places `low` to `high`; it stands at `place` of the `order`. Variables out of reach count as the
    farthest within it. `before` and `behind` (d,) are scratch.
    """
    for p in range(low, high + 1):
        before[p] = min(at[p], before[p - 1]) if p > low else at[p]
    for p in range(high, low - 1, -1):
        behind[p] = min(at[p], behind[p + 1]) if p < high else at[p]
    for p in range(len(order)):
        if p != place:
            rank = min(max(p if p < place else p - 1, low), high - 1)
            out[variable, order[p]] = behind[rank + 1] - before[rank]


@njit(cache=True, nogil=True, fastmath=True)
def _swap(factor: np.ndarray, residuals: np.ndarray, order: np.ndarray, block: int, p: int) -> None:
    """Exchange the variables at p and p + 1: rotations of neighbouring rows bring each column of the second before those of the first."""
    size, n = factor.shape[1], residuals.shape[1]
    order[p], order[p + 1] = order[p + 1], order[p]
    for t in range(block):
        column = order[p] * block + t
        for k in range((p + 1) * block + t - 1, p * block + t - 1, -1):
            length = math.sqrt(factor[k, column] ** 2 + factor[k + 1, column] ** 2)
            cosine, sine = factor[k, column] / length, factor[k + 1, column] / length
            for c in range(size):
                upper, lower = factor[k, c], factor[k + 1, c]
                factor[k, c] = cosine * upper + sine * lower
                factor[k + 1, c] = cosine * lower - sine * upper
            factor[k + 1, column] = 0.0
            cosine32, sine32 = np.float32(cosine), np.float32(sine)
            for c in range(n):
                first, second = residuals[k, c], residuals[k + 1, c]
                residuals[k, c] = cosine32 * first + sine32 * second
                residuals[k + 1, c] = cosine32 * second - sine32 * first


@njit(cache=True, nogil=True, fastmath=True)
def _cost(factor: np.ndarray, residuals: np.ndarray, order: np.ndarray, weight: np.ndarray, score: int, block: int, p: int) -> float:
    """What the variable at place p adds to the score, given those before it."""
    variance = factor[p * block, order[p] * block] ** 2
    if score == VARIANCE:
        return variance * weight[order[p]]
    cost = math.log(variance)
    if score == ENTROPY:
        n = residuals.shape[1]
        scale = np.float32(math.sqrt(n))
        odd, even = np.float32(0), np.float32(0)
        for row in range(n):
            u = residuals[p * block, row] * scale
            odd += u / (np.float32(1) + u * u)
            even += abs(u)
        cost -= 2 * (_ODD * (odd / n) ** 2 + _EVEN * (even / n - 0.7978845608) ** 2)
    return cost
