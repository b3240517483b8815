"""DirectLiNGAM: a causal order from non-Gaussian noise, then the edges that an adaptive lasso keeps.

In: (n, k) rows. Out: the marks of a DAG. Each step of the order takes the variable that looks least like an effect of any other, by the pairwise
likelihood ratios of Hyvarinen and Smith (2013), and removes its linear influence from the rest. A variable's parents are then chosen among those
before it as the `lingam` package does: lasso with weights from least squares, the point of its path by BIC (Zou, 2006).

Surprising choice: a variable that those before it determine (up to a share of 1e-10 of its variance) comes last in the order, constants included, and
is nobody's parent where an earlier variable can stand for it; so constants have no edge and duplicates one. `lingam` returns NaN or stops there.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from seacausal.estimate.columns import mean_product, rescale
from seacausal.estimate.partial_correlation import PIVOT
from seacausal.estimate.statistics import standardise
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL

# Of the approximation of negentropy by E log cosh u and E u exp(-u^2 / 2), Hyvarinen (1998).
COSH_WEIGHT, COSH_OF_GAUSSIAN, ODD_WEIGHT = 79.047, 0.37457, 7.4129
NO_PENALTY = float(np.finfo(np.float32).eps)
"""The lasso's path ends at this penalty, as scikit-learn's."""


def estimate_lingam(values: np.ndarray) -> np.ndarray:
    """DirectLiNGAM on one table.

    Parameters
    ----------
    values
        (n, k), finite, k from 1 to 10.

    Returns
    -------
    (k, k) int8 marks of a DAG: `marks[i, j]` is the mark at j's end of the edge between i and j.

    References
    ----------
    Shimizu et al. (2011), DirectLiNGAM: a direct method for learning a linear non-Gaussian structural equation model, algorithm in section 3.3;
    Hyvarinen and Smith (2013), Pairwise likelihood ratios for estimation of non-Gaussian structural equation models; Zou (2006), The adaptive lasso
    and its oracle properties.

    Examples
    --------
    >>> cause = np.random.default_rng(0).uniform(-1, 1, 500)
    >>> effect = 2 * cause + np.random.default_rng(1).uniform(-1, 1, 500)
    >>> estimate_lingam(np.column_stack([effect, cause])).tolist()
    [[0, 1], [2, 0]]
    """
    return lingam_each(standardise(np.asarray(values))[0][None])[0]


def causal_order(values: np.ndarray) -> np.ndarray:
    """(k,) int64, the variables of an (n, k) table from first cause to last effect, as DirectLiNGAM orders them."""
    z = standardise(np.asarray(values))[0]
    order = np.empty(z.shape[1], np.int64)
    sort_causes(np.ascontiguousarray(z.T), order)
    return order


@njit(cache=True, nogil=True)
def lingam_each(values: np.ndarray) -> np.ndarray:  # pragma: no cover - compiled
    """DirectLiNGAM on each of t subsets: (t, n, k) float64 rows, of a size that can be squared, to (t, k, k) int8 marks."""
    t, n, k = values.shape
    marks = np.empty((t, k, k), np.int8)
    columns = np.empty((k, n))
    correlation = np.empty((k, k))
    order = np.empty(k, np.int64)
    for s in range(t):
        for v in range(k):
            columns[v] = values[s, :, v]
            rescale(columns[v], 0.0)
        for i in range(k):
            for j in range(i + 1):
                correlation[i, j] = correlation[j, i] = mean_product(columns[i], columns[j])
        sort_causes(columns, order)
        choose_parents(correlation, order, n, marks[s])
    return marks


# The order


@njit(cache=True, nogil=True)
def sort_causes(columns: np.ndarray, order: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `order` (k,) from first cause to last effect. `columns` (k, n), of mean 0 and variance 1 or all 0, is overwritten."""
    k, n = columns.shape
    left = np.ones(k)  # share of the variance that no variable before has explained
    waiting = np.ones(k, np.bool_)
    dependence = np.empty(k)
    own = np.empty(k)
    for v in range(k):
        if not columns[v].any():
            left[v] = 0.0
    for place in range(k):
        first = most_exogenous(columns, waiting & (left > PIVOT), own, dependence)
        if first < 0:  # nothing is left of any: in the order of the columns
            first = int(np.argmax(waiting))
        order[place] = first
        waiting[first] = False
        for v in range(k):
            if waiting[v] and left[v] > PIVOT and left[first] > PIVOT:
                slope = mean_product(columns[v], columns[first])
                for row in range(n):
                    columns[v, row] -= slope * columns[first, row]
                left[v] *= rescale(columns[v], PIVOT)


@njit(cache=True, nogil=True)
def most_exogenous(columns: np.ndarray, among: np.ndarray, own: np.ndarray, dependence: np.ndarray) -> int:  # pragma: no cover - compiled
    """The variable of `among` that the likelihood ratios against it speak least against; -1 where there is none.

    Between two, the ratio is the negentropy of i and of what i leaves of j, less the same with i and j exchanged: positive where i causes j.
    """
    k = len(columns)
    for v in range(k):
        dependence[v] = 0.0
        own[v] = negentropy(columns[v], columns[v], 0.0) if among[v] else 0.0
    for i in range(k):
        for j in range(i):
            if not (among[i] and among[j]):
                continue
            slope = mean_product(columns[i], columns[j])
            if 1.0 - slope * slope <= PIVOT:
                continue  # copies: neither explains the other better
            ratio = own[i] - own[j] + negentropy(columns[j], columns[i], slope) - negentropy(columns[i], columns[j], slope)
            dependence[j if ratio > 0.0 else i] += ratio * ratio
    found = -1
    for v in range(k):
        if among[v] and (found < 0 or dependence[v] < dependence[found]):
            found = v
    return found


@njit(cache=True, nogil=True)
def negentropy(x: np.ndarray, y: np.ndarray, slope: float) -> float:  # pragma: no cover - compiled
    """Approximate distance in entropy, in nats, of what y leaves of x (their covariance is `slope`), scaled to variance 1, from a Gaussian."""
    n = len(x)
    scale = 1.0 / math.sqrt(1.0 - slope * slope)
    size = odd = log_cosh = 0.0
    factor = 1.0
    for row in range(n):
        u = (x[row] - slope * y[row]) * scale
        size += abs(u)
        odd += u * math.exp(-0.5 * u * u)
        # log cosh u = |u| - log 2 + log(1 + exp(-2 |u|)); one logarithm serves many rows.
        factor *= 1.0 + math.exp(-2.0 * abs(u))
        if factor > 1e200:
            log_cosh += math.log(factor)
            factor = 1.0
    log_cosh = (log_cosh + math.log(factor) + size) / n - math.log(2.0)
    return COSH_WEIGHT * (log_cosh - COSH_OF_GAUSSIAN) ** 2 + ODD_WEIGHT * (odd / n) ** 2


# The parents


@njit(cache=True, nogil=True)
def choose_parents(correlation: np.ndarray, order: np.ndarray, rows: int, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `marks` (k, k) with arrows from those of the variables before it in `order` that the adaptive lasso keeps, for each variable."""
    k = len(order)
    marks[:] = NO_EDGE
    parents = np.empty(k, np.int64)
    count = 0  # of the variables so far that are not determined by earlier ones
    factor = np.zeros((k, k))
    cross = np.empty(k)
    least_squares = np.empty(k)
    for target in order:
        if correlation[target, target] <= 0.0:
            continue
        for p in range(count):
            cross[p] = correlation[parents[p], target]
        unexplained = float(correlation[target, target] - solve_factored(factor, cross, count, least_squares))
        if count:
            noise = max(unexplained, PIVOT * float(correlation[target, target])) / max(rows - count - 1, 1) * rows
            kept = adaptive_lasso(correlation, parents[:count], target, least_squares, noise, rows)
            for p in range(count):
                if kept >> p & 1:
                    marks[parents[p], target] = ARROW
                    marks[target, parents[p]] = TAIL
        if unexplained > PIVOT * correlation[target, target]:
            extend_factor(factor, correlation, parents, count, target)
            parents[count] = target
            count += 1


@njit(cache=True, nogil=True)
def adaptive_lasso(
    correlation: np.ndarray, parents: np.ndarray, target: int, least_squares: np.ndarray, noise: float, rows: int
) -> int:  # pragma: no cover - compiled
    """The candidates that the best point of the lasso's path by BIC keeps, as a bit mask over `parents`.

    Each candidate is multiplied by the size of its coefficient in least squares, `least_squares`. The path falls from the penalty that keeps none to
    0; between its corners coefficients move along straight lines (Efron et al., 2004), and BIC = rows * (residual variance / noise) + log(rows) *
    coefficients is looked at in the corners.
    """
    p = len(parents)
    gram = np.empty((p, p))
    pull = np.empty(p)  # covariance of each weighted candidate with the residual
    for i in range(p):
        pull[i] = abs(least_squares[i]) * correlation[parents[i], target]
        for j in range(p):
            gram[i, j] = abs(least_squares[i] * least_squares[j]) * correlation[parents[i], parents[j]]
    residual = correlation[target, target]
    coefficients, sign, direction, speed = np.zeros(p), np.zeros(p), np.zeros(p), np.zeros(p)
    penalty, entering, dropped, active, best_mask = np.max(np.abs(pull)), int(np.argmax(np.abs(pull))), -1, 0, 0
    best = rows * residual / noise
    while penalty > NO_PENALTY:
        if dropped < 0:
            active |= 1 << entering
            sign[entering] = 1.0 if pull[entering] > 0.0 else -1.0
        move_along(gram, sign, active, direction, speed)
        step, event = penalty, -1
        for i in range(p):
            if active >> i & 1:  # a coefficient reaches 0
                when = -coefficients[i] / direction[i] if coefficients[i] * direction[i] < 0.0 else penalty
            else:  # a covariance reaches the penalty, of either sign; one that has just left is there already
                above = (penalty - pull[i]) / (1.0 - speed[i]) if speed[i] < 1.0 and not (i == dropped and sign[i] > 0.0) else penalty
                below = (penalty + pull[i]) / (1.0 + speed[i]) if speed[i] > -1.0 and not (i == dropped and sign[i] < 0.0) else penalty
                when = min(above, below)
            if when < step:
                step, event = max(when, 0.0), i
        for i in range(p):
            if active >> i & 1:
                residual -= step * direction[i] * (2.0 * pull[i] - step * speed[i])
                coefficients[i] += step * direction[i]
        for i in range(p):
            pull[i] -= step * speed[i]
        penalty -= step
        dropped = -1
        if event >= 0 and active >> event & 1:
            active &= ~(1 << event)
            coefficients[event] = 0.0
            dropped = event
        entering = event
        score, members = rows * residual / noise, active
        while members:
            score += math.log(rows)
            members &= members - 1
        if score < best:
            best, best_mask = score, active
        if event < 0:
            break
    return best_mask


@njit(cache=True, nogil=True)
def move_along(gram: np.ndarray, sign: np.ndarray, active: int, direction: np.ndarray, speed: np.ndarray) -> None:  # pragma: no cover
    """Fill `direction` (p,), how the active coefficients grow as the penalty falls by 1, and `speed` (p,), how fast each candidate's pull falls."""
    p = len(gram)
    members, signs, solution = np.empty(p, np.int64), np.empty(p), np.empty(p)
    factor = np.zeros((p, p))
    count = 0
    for i in range(p):
        direction[i] = speed[i] = 0.0
        if active >> i & 1:
            extend_factor(factor, gram, members, count, i)
            members[count], signs[count] = i, sign[i]
            count += 1
    solve_factored(factor, signs, count, solution)
    for m in range(count):
        direction[members[m]] = solution[m]
        for i in range(p):
            speed[i] += gram[i, members[m]] * solution[m]


@njit(cache=True, nogil=True)
def extend_factor(factor: np.ndarray, matrix: np.ndarray, members: np.ndarray, count: int, new: int) -> None:  # pragma: no cover - compiled
    """Add a row to the Cholesky factor of `matrix` on the first `count` of `members`, for the variable `new`."""
    rest = matrix[new, new]
    for i in range(count):
        value = matrix[new, members[i]]
        for j in range(i):
            value -= factor[count, j] * factor[i, j]
        factor[count, i] = value / factor[i, i]
        rest -= factor[count, i] ** 2
    # A weight of almost nothing leaves almost nothing; a coefficient of that size changes no decision.
    factor[count, count] = math.sqrt(max(rest, PIVOT * matrix[new, new], np.finfo(np.float64).tiny))


@njit(cache=True, nogil=True)
def solve_factored(factor: np.ndarray, right: np.ndarray, count: int, solution: np.ndarray) -> float:  # pragma: no cover - compiled
    """Solve (factor factor') solution = right on the first `count` entries; returns right' solution."""
    explained = 0.0
    for i in range(count):
        value = right[i]
        for j in range(i):
            value -= factor[i, j] * solution[j]
        solution[i] = value / factor[i, i]
        explained += solution[i] ** 2
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            solution[i] -= factor[j, i] * solution[j]
        solution[i] /= factor[i, i]
    return explained
