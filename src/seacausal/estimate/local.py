"""All local estimates of a data set in one compiled pass: for each subset its rows, its covariances, FCI and the exact posterior.

Rows: `b` of them per subset, taken in order from one random permutation, so that consecutive subsets see disjoint blocks. With
interventions, b / (k + 1) come from the rows that target each of the subset's variables and the rest from the observational
regime, or where that is small from all rows that target none of them; targets outside the subset are ignored. A variable's score
uses only the rows where it was not a target; FCI sees only the rows where no variable of the subset was one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit

from seacausal.estimate.fci import fci
from seacausal.estimate.partial_correlation import condition, fisher_thresholds, independence_bits
from seacausal.estimate.posterior import edge_posterior, parent_combinations
from seacausal.estimate.scores import score_parents

K = 5
MIN_OBSERVATIONAL = 250
"""With fewer observational rows than this, any row that targets none of a subset's variables may fill its quota."""


@dataclass(frozen=True)
class LocalEstimates:
    """Answers on t subsets of k = 5 variables."""

    marks: np.ndarray
    """(t, 5, 5) int8 FCI marks: [i, j] is the mark at j; 0 means no edge."""
    direct: np.ndarray
    """(t, 5, 5) float64, [i, j] the posterior probability of i -> j."""


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


def estimate_subsets(
    z: np.ndarray,
    regime: np.ndarray,
    targets: np.ndarray,
    variables: np.ndarray,
    plan: RowPlan,
    *,
    rows: int = 500,
    alpha: float = 0.05,
    workers: int = 1,
) -> LocalEstimates:
    """Run FCI (Fisher-z) and the exact BIC posterior on every subset.

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
        Threads; the answers do not depend on it.
    """
    # Another type or layout would be compiled for: seconds, for every one of them.
    z, regime, targets = np.ascontiguousarray(z, np.float64), np.ascontiguousarray(regime, np.int32), np.ascontiguousarray(targets, bool)
    variables = np.ascontiguousarray(variables, np.int64)
    thresholds = np.array([fisher_thresholds(n, alpha) for n in range(rows + 1)])
    masks, allowed = parent_combinations()
    marks = np.zeros((len(variables), K, K), np.int8)
    direct = np.zeros((len(variables), K, K))

    def run(part: slice) -> None:
        _estimate(
            z,
            regime,
            targets,
            variables[part],
            part.start,
            plan.pool,
            plan.hit,
            plan.hit_start,
            rows,
            thresholds,
            masks,
            allowed,
            marks[part],
            direct[part],
        )

    bounds = np.linspace(0, len(variables), workers + 1).astype(int)
    parts = [slice(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:]) if b > a]
    if len(parts) <= 1:
        for part in parts:
            run(part)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, parts))
    return LocalEstimates(marks, direct)


def kernels_compiled() -> bool:
    """Whether an earlier run left the compiled kernels on disk, or this one has them."""
    return bool(_estimate.signatures) or any(Path(_estimate.stats.cache_path or "").glob("*._estimate-*.nbi"))


@njit(cache=True, nogil=True)
def _estimate(
    z, regime, targets, variables, first, pool, hit, hit_start, rows, thresholds, masks, allowed, marks, direct
):  # pragma: no cover - compiled
    sums = np.empty((K + 1, 21))  # of each variable's own rows, then of the rows without a target in the subset
    covariance = np.empty((K, K))
    conditional = np.empty((32, K, K))
    bits = np.empty(10, np.uint32)
    scores = np.empty((K, 32))
    total = np.empty(len(masks))
    chosen = np.empty(rows, np.int64)
    for t in range(len(variables)):
        subset = variables[t]
        used = _choose_rows(first + t, regime, targets, subset, pool, hit, hit_start, rows, chosen)
        shared = _sum_products(z, regime, targets, subset, chosen[:used], sums)
        _unpack(sums[K], covariance)
        condition(covariance, conditional)
        independence_bits(conditional, thresholds[int(sums[K, 0])], bits)
        fci(bits, marks[t])
        for v in range(K):
            if not shared:
                _unpack(sums[v], covariance)
                condition(covariance, conditional)
            score_parents(conditional[:, v, v], covariance[v, v], sums[v, 0], scores[v])
        edge_posterior(scores, masks, allowed, total, direct[t])


@njit(cache=True, nogil=True)
def _choose_rows(turn, regime, targets, subset, pool, hit, hit_start, rows, chosen):  # pragma: no cover - compiled
    share = rows // (K + 1)
    used = 0
    for v in subset:
        size = hit_start[v + 1] - hit_start[v]
        take = min(share, size)
        for q in range(take):
            chosen[used] = hit[hit_start[v] + (turn * take + q) % size]
            used += 1
    for q in range(len(pool)):
        if used == rows:
            break
        row = pool[(turn * rows + q) % len(pool)]
        targets_row = targets[regime[row]]
        free = True
        for v in subset:
            free = free and not targets_row[v]
        if free:  # rows that target the subset have had their share
            chosen[used] = row
            used += 1
    return used


@njit(cache=True, nogil=True)
def _sum_products(z, regime, targets, subset, chosen, sums):  # pragma: no cover - compiled
    """Counts, sums and products over the rows where each variable is free; True where no row has a target, so that all are alike."""
    sums[:] = 0.0
    part = np.zeros(21)
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
def _unpack(sums, covariance):  # pragma: no cover - compiled
    n = max(sums[0], 1.0)
    at = 6
    for i in range(K):
        for j in range(i, K):
            value = sums[at] / n - sums[1 + i] * sums[1 + j] / (n * n)
            covariance[i, j] = value
            covariance[j, i] = value
            at += 1


def pool_estimates(estimates: LocalEstimates, variables: np.ndarray, d: int) -> dict[str, np.ndarray]:
    """Average the answers over the subsets that hold a pair: (d, d) arrays, entry [i, j] about i -> j.

    `arrow`, `tail` and `circle` are the shares of FCI estimates with that mark at j; `posterior` the mean probability of i -> j and `least adjacent`
    the smallest probability of any edge between the two that a subset gave; `covered` and `visits` say how often the pair was looked at.
    """
    cells = (variables[:, :, None] * d + variables[:, None, :]).ravel()
    visits = np.bincount(cells, minlength=d * d).reshape(d, d).astype(float)
    np.fill_diagonal(visits, 0)
    each = np.maximum(visits, 1)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(cells, values.ravel().astype(float), minlength=d * d).reshape(d, d) / each

    least = np.ones(d * d)
    np.minimum.at(least, cells, (estimates.direct + estimates.direct.swapaxes(1, 2)).ravel())
    covered = (visits > 0).astype(float)
    return {
        "tail": mean(estimates.marks == 1),
        "arrow": mean(estimates.marks == 2),
        "circle": mean(estimates.marks == 3),
        "posterior": mean(estimates.direct),
        "least adjacent": least.reshape(d, d) * covered,
        "covered": covered,
        "visits": np.log1p(visits) / 4,
    }
