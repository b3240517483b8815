"""The rows that each subset sees, and their sums.

Rows: blocks of `b` of them from one random permutation, so that consecutive subsets see disjoint rows. With
interventions, b / (k + 1) come from the rows that target each of the subset's variables and the rest from the observational
regime, or where that is small from all rows that target none of them; targets outside the subset are ignored.

Out: for each subset six triangles of sums: of the rows where variable 0 was no target, 1, ..., 4, and of those without a target in the subset.
Everything Gaussian follows from these.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from seacausal.estimate.partial_correlation import condition
from seacausal.estimate.scores import score_parents
from seacausal.graph.essential import cut_masks

K = 5
TRIANGLE = 21
"""1, x_0 to x_4 and their products."""
FEWEST_FREE = 10
"""Rows without a target in a subset below which what does not use interventions has nothing to go by."""
PART = 256
"""Subsets whose regimes are compared at a time."""
MIN_OBSERVATIONAL = 250
"""With fewer observational rows than this, any row that targets none of a subset's variables may fill its quota."""


@dataclass(frozen=True)
class RowPlan:
    """Which rows may serve which subset."""

    pool: np.ndarray
    """(p,) row numbers, permuted: the observational rows, or all where those are few."""
    hit: np.ndarray
    """(m,) row numbers, permuted within a variable: the rows that target variable 0, then 1, ..."""
    hit_start: np.ndarray
    """(d + 1,) where each variable's part of `hit` starts."""


def plan_rows(regime: np.ndarray, targets: np.ndarray, *, generator: np.random.Generator) -> RowPlan:
    """Permute the rows once; every subset takes its share from there."""
    order = generator.permutation(len(regime))
    targeted = targets[regime[order]]
    control = ~targeted.any(1)
    pool = order[control] if control.sum() >= MIN_OBSERVATIONAL else order
    hits = [order[column] for column in targeted.T] if targets.any() else []
    start = np.concatenate([[0], np.cumsum([len(h) for h in hits] or np.zeros(targets.shape[1], int))])
    return RowPlan(pool, np.concatenate(hits) if hits else np.zeros(0, order.dtype), start.astype(np.int64))


@dataclass(frozen=True)
class SubsetSums:
    """Sums over the rows of t subsets."""

    sums: np.ndarray
    """(t, 6, 21) float64."""
    shared: np.ndarray
    """(t,) bool, whether no row had a target in the subset, so that all six are alike."""

    def covariances(self) -> tuple[np.ndarray, np.ndarray]:
        """(t, 5, 5) covariances of the rows without a target in the subset, and (t,) how many those were."""
        out = np.empty((len(self.sums), K, K))
        _all_covariances(self.sums, out)
        return out, self.sums[:, K, 0].astype(np.int64)

    def scores(self, penalty: float = 1.0) -> np.ndarray:
        """(t, 5, 32) BIC of every parent mask, see `scores.score_parents`; a variable's rest on the rows where it was no target."""
        out = np.empty((len(self.sums), K, 1 << K))
        _all_scores(self.sums, self.shared, penalty, out)
        return out


def gather_sums(
    z: np.ndarray, regime: np.ndarray, targets: np.ndarray, variables: np.ndarray, plan: RowPlan, *, rows: int = 500, workers: int = 1
) -> SubsetSums:
    """Choose each subset's rows and add them up.

    Parameters
    ----------
    z
        (n, d) float64 standardised rows, C order.
    regime, targets
        (n,) and (r, d), as in `Dataset`.
    variables
        (t, 5) subsets.
    rows
        b, rows per subset.
    workers
        Threads; the sums do not depend on it.
    """
    if not targets.any():
        return _sum_blocks(z, variables, plan.pool, rows)
    # Another type or layout would be compiled for: seconds, for every one of them.
    z, regime, targets = np.ascontiguousarray(z, np.float64), np.ascontiguousarray(regime, np.int32), np.ascontiguousarray(targets, bool)
    variables = np.ascontiguousarray(variables, np.int64)
    sums, shared = np.zeros((len(variables), K + 1, TRIANGLE)), np.zeros(len(variables), bool)

    def run(part: slice) -> None:
        _gather(z, regime, targets, variables[part], part.start, plan.pool, plan.hit, plan.hit_start, rows, sums[part], shared[part])

    run_parts(run, len(variables), workers)
    return SubsetSums(sums, shared)


def gather_rows(z: np.ndarray, regime: np.ndarray, targets: np.ndarray, variables: np.ndarray, plan: RowPlan, *, rows: int = 500) -> list[np.ndarray]:
    """(m, 5) rows of each subset without a target in it; parameters as in `gather_sums`."""
    regime, targets = np.ascontiguousarray(regime, np.int32), np.ascontiguousarray(targets, bool)
    chosen, out = np.empty(rows, np.int64), []
    for t, subset in enumerate(np.ascontiguousarray(variables, np.int64)):
        if targets.any():
            used = _choose_rows(t, regime, targets, subset, plan.pool, plan.hit, plan.hit_start, rows, chosen)
            own = chosen[:used][~targets[regime[chosen[:used]]][:, subset].any(1)]
        else:
            own = _block(plan.pool, t, rows)
        out.append(z[np.ix_(own, subset)])
    return out


def _block(pool: np.ndarray, turn: int, rows: int) -> np.ndarray:
    """The rows of the subset `turn` where there are no interventions."""
    start = turn % max(1, len(pool) // rows) * rows
    return pool[start : start + rows]


def _sum_blocks(z: np.ndarray, variables: np.ndarray, pool: np.ndarray, rows: int) -> SubsetSums:
    """Without interventions a block of rows serves many subsets: one matrix product for it, and each subset picks its 5 x 5 entries."""
    t, blocks = len(variables), max(1, len(pool) // rows)
    sums = np.empty((t, K + 1, TRIANGLE))
    first, second = np.triu_indices(K)
    for block in range(min(blocks, t)):
        x = z[_block(pool, block, rows)]
        product, total = x.T @ x, x.sum(0)
        of_block = variables[block::blocks]
        triangle = np.column_stack([np.full(len(of_block), float(len(x))), total[of_block], product[of_block[:, first], of_block[:, second]]])
        sums[block::blocks] = triangle[:, None]
    return SubsetSums(sums, np.ones(t, bool))


@dataclass(frozen=True)
class SubsetData:
    """What the estimators are given of t subsets, each part computed when it is first asked for."""

    z: np.ndarray
    """(n, d) float64 standardised rows."""
    regime: np.ndarray
    """(n,) as in `Dataset`."""
    targets: np.ndarray
    """(r, d) as in `Dataset`."""
    variables: np.ndarray
    """(t, 5) subsets."""
    plan: RowPlan
    """Which rows may serve which subset."""
    rows: int = 500
    """b, rows per subset."""
    workers: int = 1
    """Threads."""

    @cached_property
    def sums(self) -> SubsetSums:
        """Sums over each subset's rows."""
        return gather_sums(self.z, self.regime, self.targets, self.variables, self.plan, rows=self.rows, workers=self.workers)

    @cached_property
    def cuts(self) -> np.ndarray:
        """(t, 5) which variables of the subset a regime separates, see `graph.essential.cut_masks`."""
        present = self.targets[np.unique(self.regime)]
        parts = [present[:, self.variables[at : at + PART]].swapaxes(0, 1) for at in range(0, len(self.variables), PART)]
        return np.concatenate([cut_masks(part) for part in parts]) if parts else np.zeros((0, K), np.int64)

    def tables(self) -> list[np.ndarray]:
        """(m, 5) rows without a target in the subset, for each subset."""
        return gather_rows(self.z, self.regime, self.targets, self.variables, self.plan, rows=self.rows)


def run_parts(run: Callable[[slice], None], count: int, workers: int) -> None:
    """Call `run` on `workers` slices of range(count), each in a thread of its own."""
    bounds = np.linspace(0, count, workers + 1).astype(int)
    parts = [slice(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:]) if b > a]
    if len(parts) <= 1:
        for part in parts:
            run(part)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, parts))


@njit(cache=True, nogil=True)
def _gather(z, regime, targets, variables, first, pool, hit, hit_start, rows, sums, shared):  # pragma: no cover - compiled
    chosen = np.empty(rows, np.int64)
    for t in range(len(variables)):
        used = _choose_rows(first + t, regime, targets, variables[t], pool, hit, hit_start, rows, chosen)
        shared[t] = _sum_products(z, regime, targets, variables[t], chosen[:used], sums[t])


@njit(cache=True, nogil=True)
def _all_covariances(sums, covariances):  # pragma: no cover - compiled
    for t in range(len(sums)):
        unpack(sums[t, K], covariances[t])


@njit(cache=True, nogil=True)
def _all_scores(sums, shared, penalty, scores):  # pragma: no cover - compiled
    covariance, conditional = np.empty((K, K)), np.empty((1 << K, K, K))
    for t in range(len(sums)):
        score_subset(sums[t], shared[t], penalty, covariance, conditional, scores[t])


@njit(cache=True, nogil=True)
def score_subset(sums, shared, penalty, covariance, conditional, scores):  # pragma: no cover - compiled
    """Scores (5, 32) of one subset from its sums (6, 21); `covariance` (5, 5) and `conditional` (32, 5, 5) are scratch."""
    for v in range(K):
        if v == 0 or not shared:
            unpack(sums[v], covariance)
            condition(covariance, conditional)
        score_parents(conditional[:, v, v], covariance[v, v], sums[v, 0], scores[v], penalty)


@njit(cache=True, nogil=True)
def _choose_rows(turn, regime, targets, subset, pool, hit, hit_start, rows, chosen):  # pragma: no cover - compiled
    share = rows // (K + 1)
    used = 0
    for position in range(K):
        v = subset[position]
        size = hit_start[v + 1] - hit_start[v]
        wanted = used + min(share, size)
        for q in range(size):
            if used == wanted:
                break
            row = hit[hit_start[v] + (turn * share + q) % size]
            if not _targets_any(targets[regime[row]], subset[:position]):  # else it has had its turn with that variable
                chosen[used] = row
                used += 1
    quota = rows - used
    for q in range(len(pool)):
        if used == rows:
            break
        row = pool[(turn * quota + q) % len(pool)]
        if not _targets_any(targets[regime[row]], subset):  # rows that target the subset have had their share
            chosen[used] = row
            used += 1
    return used


@njit(cache=True, nogil=True)
def _targets_any(targets, variables):  # pragma: no cover - compiled
    found = False
    for v in variables:
        found = found or targets[v]
    return found


@njit(cache=True, nogil=True)
def _sum_products(z, regime, targets, subset, chosen, sums):  # pragma: no cover - compiled
    """Counts, sums and products over the rows where each variable is free; True where no row has a target, so that all are alike."""
    sums[:] = 0.0
    part = np.zeros(TRIANGLE)
    x = np.empty(K)
    pattern = -1
    shared = True
    for row in chosen:
        hits = 0
        targets_row = targets[regime[row]]
        for v in range(K):
            if targets_row[subset[v]]:
                hits |= 1 << v
        if hits != pattern:
            if pattern >= 0:
                _add(part, pattern, sums)
            part[:] = 0.0
            pattern = hits
        if hits != 0:
            shared = False
        for v in range(K):
            x[v] = z[row, subset[v]]
        part[0] += 1.0
        at = 6
        for i in range(K):
            part[1 + i] += x[i]
            for j in range(i, K):
                part[at] += x[i] * x[j]
                at += 1
    if pattern >= 0:
        _add(part, pattern, sums)
    return shared


@njit(cache=True, nogil=True)
def _add(part, pattern, sums):  # pragma: no cover - compiled
    for v in range(K):
        if not pattern >> v & 1:
            sums[v] += part
    if pattern == 0:
        sums[K] += part


@njit(cache=True, nogil=True)
def unpack(sums, covariance):  # pragma: no cover - compiled
    """The covariance (5, 5) of a triangle of sums (21,)."""
    n = max(sums[0], 1.0)
    at = 6
    for i in range(K):
        for j in range(i, K):
            value = sums[at] / n - sums[1 + i] * sums[1 + j] / (n * n)
            covariance[i, j] = value
            covariance[j, i] = value
            at += 1
