"""The local estimates that the network is given: for each subset FCI and the exact posterior, in one compiled pass over the sums of its rows.

A variable's score uses only the rows where it was not a target; FCI sees only the rows where no variable of the subset was one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from seacausal.estimate.compiled import is_compiled
from seacausal.estimate.fci import fci
from seacausal.estimate.gather import TRIANGLE, K, RowPlan, SubsetData, run_parts, score_subset, unpack
from seacausal.estimate.partial_correlation import condition, independence_bits, threshold_table
from seacausal.estimate.posterior import dag_posterior


@dataclass(frozen=True)
class LocalEstimates:
    """Answers on t subsets of k = 5 variables."""

    marks: np.ndarray
    """(t, 5, 5) int8 FCI marks: [i, j] is the mark at j; 0 means no edge."""
    direct: np.ndarray | None
    """(t, 5, 5) float64, [i, j] the posterior probability of i -> j; None where nobody asked for it."""
    free_rows: np.ndarray
    """(t,) int64, rows without a target in the subset: all that algorithms see which do not use interventions."""


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
    """Run FCI (Fisher-z) and the exact BIC posterior on every subset; parameters as in `gather.gather_sums`."""
    return estimate_gathered(SubsetData(z, regime, targets, variables, plan, rows, workers), alpha=alpha)


def estimate_gathered(data: SubsetData, *, alpha: float = 0.05) -> LocalEstimates:
    """`estimate_subsets` on rows that other estimators may share."""
    gathered, count = data.sums, len(data.variables)
    thresholds = threshold_table(data.rows, alpha)
    marks = np.zeros((count, K, K), np.int8)
    direct = np.zeros((count, K, K))

    def run(part: slice) -> None:
        _estimate(gathered.sums[part], gathered.shared[part], thresholds, marks[part], direct[part])

    run_parts(run, count, data.workers)
    return LocalEstimates(marks, direct, gathered.sums[:, K, 0].astype(np.int64))


def local_compiled() -> bool:
    """Whether the kernels are compiled already."""
    return is_compiled(_estimate)


def compile_local() -> None:
    """Compile the kernels, for no subset at all."""
    nothing = np.zeros((0, K, K))
    _estimate(np.zeros((0, K + 1, TRIANGLE)), np.zeros(0, bool), threshold_table(1, 0.05), nothing.astype(np.int8), nothing)


@njit(cache=True, nogil=True)
def _estimate(sums, shared, thresholds, marks, direct):  # pragma: no cover - compiled
    covariance = np.empty((K, K))
    conditional = np.empty((32, K, K))
    bits = np.empty(10, np.uint32)
    scores = np.empty((K, 32))
    for t in range(len(sums)):
        unpack(sums[t, K], covariance)
        condition(covariance, conditional)
        independence_bits(conditional, thresholds[int(sums[t, K, 0])], bits)
        fci(bits, marks[t])
        score_subset(sums[t], shared[t], 1.0, covariance, conditional, scores)
        dag_posterior(scores, direct[t])


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

    assert estimates.direct is not None
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
