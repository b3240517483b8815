"""The parents of every variable of a graph under search, and what they explain.

In: correlations of all variables' features. Out: variances that are left, by parents tried, taken and dropped one at a time.

The surprising choice: every variable keeps the Cholesky factor of its parents' correlations, and a candidate is tried by writing its rows behind the
last, so that a trial is one triangular solve, and taking it is counting one more.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

MOST = 24
"""Parents that a variable can have."""
LEAST = 1e-6
"""Variances below count as this."""
GAIN = 1e-7
"""Smaller gains are rounding errors."""
OPTIONS: Any = {"cache": True, "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INNER, FAST_INNER = njit(**OPTIONS), njit(fastmath=True, **OPTIONS)
"""For functions that only compiled ones may call: half of the time that these take to compile would be for calls from Python."""
INLINE = njit(cache=True, nogil=True, inline="always")
"""For those that stand in the code of their callers."""


class Task(NamedTuple):
    """What is searched for."""

    matrices: np.ndarray
    """(g, d k, d k) correlations of the features, the k of a variable side by side, itself first."""
    which: np.ndarray
    """(d,) in which of the matrices a child is found."""
    block: int
    """k."""
    penalty: float
    """Of an edge, in -2 log-likelihoods a row."""
    weight: np.ndarray
    """(d,) share of the rows that a child is fitted on."""
    worth: np.ndarray
    """(d,) of what is left of a child's variance, the share that one more parent has to leave at most."""
    work: np.ndarray
    """(1,) counts multiplications."""
    inverse: np.ndarray
    """(m k, m k) scratch."""
    losses: np.ndarray
    """(m,) scratch."""


class Parents(NamedTuple):
    """A graph in the making, m = `MOST`."""

    order: np.ndarray
    """(d,) variables; parents stand before children."""
    place: np.ndarray
    """(d,) where each stands."""
    joined: np.ndarray
    """(d, d) bool, [i, j] for i -> j."""
    parents: np.ndarray
    """(d, m) of which the first `counts` are parents."""
    counts: np.ndarray
    """(d,)."""
    feature: np.ndarray
    """(d, m k) columns of the parents in the matrix."""
    factor: np.ndarray
    """(d, m k, m k) lower Cholesky factors of the parents' correlations."""
    loads: np.ndarray
    """(d, m k) solution of the factor for the child."""
    variance: np.ndarray
    """(d,) what the parents leave of the child."""


def new_task(matrices: np.ndarray, which: np.ndarray, weight: np.ndarray, block: int, penalty: float) -> Task:
    """With its scratch."""
    worth = np.exp(-penalty / weight - GAIN)
    return Task(matrices, which, block, penalty, weight, worth, np.zeros(1, np.int64), np.empty((MOST * block, MOST * block)), np.empty(MOST))


def no_parents(order: np.ndarray, block: int) -> Parents:
    """The graph without edges."""
    d, rows = len(order), MOST * block
    joined, parents, counts = np.zeros((d, d), np.bool_), np.zeros((d, MOST), np.int64), np.zeros(d, np.int64)
    factors = np.zeros((d, rows), np.int64), np.zeros((d, rows, rows)), np.zeros((d, rows)), np.ones(d)
    return Parents(order.astype(np.int64), np.argsort(order), joined, parents, counts, *factors)


@FAST_INNER
def try_parent(task, graph, y, c):  # pragma: no cover - compiled
    """Variance of y that one more parent c would leave; its rows are written behind the others."""
    matrix, block = task.matrices[task.which[y]], task.block
    factor, loads, feature = graph.factor[y], graph.loads[y], graph.feature[y]
    variance, child, first = graph.variance[y], y * block, graph.counts[y] * block
    task.work[0] += (first + block) ** 2 * block + 20
    for row in range(first, first + block):
        column = c * block + row - first
        pivot, load = matrix[column, column], matrix[column, child]
        for i in range(row):
            x = matrix[column, feature[i]]
            for k in range(i):
                x -= factor[i, k] * factor[row, k]
            x /= factor[i, i]
            factor[row, i] = x
            pivot -= x * x
            load -= x * loads[i]
        root = math.sqrt(pivot) if pivot > LEAST else 1e9  # a feature that adds nothing new
        factor[row, row] = root
        loads[row] = load / root
        feature[row] = column
        variance -= loads[row] * loads[row]
    return max(variance, LEAST)


@INLINE
def take_parent(task, graph, y, c):  # pragma: no cover - compiled
    """Make c the last parent of y."""
    graph.variance[y] = try_parent(task, graph, y, c)
    graph.parents[y, graph.counts[y]] = c
    graph.counts[y] += 1
    graph.joined[c, y] = True


@INNER
def drop_parent(task, graph, y, slot):  # pragma: no cover - compiled
    """The parent of y in this slot is one no more; those behind it move up."""
    count = graph.counts[y]
    graph.joined[graph.parents[y, slot], y] = False
    graph.counts[y] = slot
    variance = task.matrices[task.which[y], y * task.block, y * task.block]
    for row in range(slot * task.block):
        variance -= graph.loads[y, row] ** 2
    graph.variance[y] = max(variance, LEAST)
    for later in range(slot + 1, count):
        take_parent(task, graph, y, graph.parents[y, later])


@INNER
def fit_parents(task, graph, y, slot, c):  # pragma: no cover - compiled
    """Let y lose the parent in `slot`, if there is one, take c, if that is no d, and the best before it, and drop those that no longer pay."""
    d, most = len(graph.order), len(graph.parents[y])
    changed = slot < graph.counts[y] or c < d
    if slot < graph.counts[y]:
        drop_parent(task, graph, y, slot)
    if c < d:
        take_parent(task, graph, y, c)
    while graph.counts[y] < most:
        best, least = d, graph.variance[y] * task.worth[y]
        for p in range(graph.place[y]):
            if not graph.joined[graph.order[p], y]:
                variance = try_parent(task, graph, y, graph.order[p])
                if variance < least:
                    best, least = graph.order[p], variance
        if best == d:
            break
        take_parent(task, graph, y, best)
        changed = True
    while changed and graph.counts[y] > 0:
        lose_parents(task, graph, y)
        least_slot = np.int64(0)
        for other in range(1, graph.counts[y]):
            if task.losses[other] < task.losses[least_slot]:
                least_slot = other
        if (graph.variance[y] + task.losses[least_slot]) * task.worth[y] >= graph.variance[y]:
            break
        drop_parent(task, graph, y, least_slot)


@FAST_INNER
def lose_parents(task, graph, y):  # pragma: no cover - compiled
    """Fill the task's `losses` with what each parent of y explains beyond the others."""
    block, inverse = task.block, task.inverse
    factor, loads, size = graph.factor[y], graph.loads[y], graph.counts[y] * task.block
    task.work[0] += size**3 // 3
    for c in range(size):
        inverse[c, c] = 1 / factor[c, c]
        for r in range(c + 1, size):
            x = 0.0
            for k in range(c, r):
                x -= factor[r, k] * inverse[k, c]
            inverse[r, c] = x / factor[r, r]
    precision, weight = np.empty((block, block)), np.empty(block)
    for slot in range(graph.counts[y]):
        for a in range(block):
            column = slot * block + a
            weight[a] = 0.0
            for r in range(column, size):
                weight[a] += inverse[r, column] * loads[r]
            for b in range(a + 1):
                x = 0.0
                for r in range(column, size):
                    x += inverse[r, column] * inverse[r, slot * block + b]
                precision[a, b] = precision[b, a] = x
        task.losses[slot] = quadratic(precision, weight)


@njit(cache=True, nogil=True)
def quadratic(matrix: np.ndarray, x: np.ndarray) -> float:  # pragma: no cover - compiled
    """Value of the inverse's quadratic form at x, by elimination in place."""
    k = len(x)
    total = 0.0
    for a in range(k):
        total += x[a] * x[a] / matrix[a, a]
        for b in range(a + 1, k):
            ratio = matrix[b, a] / matrix[a, a]
            x[b] -= ratio * x[a]
            for c in range(a + 1, k):
                matrix[b, c] -= ratio * matrix[a, c]
    return total


@INNER
def copy_parents(source, target, y):  # pragma: no cover - compiled
    """The parents of y with all that belongs to them."""
    for slot in range(target.counts[y]):
        target.joined[target.parents[y, slot], y] = False
    for slot in range(source.counts[y]):
        target.parents[y, slot] = source.parents[y, slot]
        target.joined[source.parents[y, slot], y] = True
    for row in range(source.counts[y] * (len(source.loads[y]) // len(source.parents[y]))):
        target.feature[y, row] = source.feature[y, row]
        target.loads[y, row] = source.loads[y, row]
        for k in range(row + 1):
            target.factor[y, row, k] = source.factor[y, row, k]
    target.counts[y] = source.counts[y]
    target.variance[y] = source.variance[y]
