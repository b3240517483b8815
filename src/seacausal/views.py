"""Sample and estimate: from a data set to everything that the network is shown of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from seacausal.data import Dataset, Degenerate, Subset
from seacausal.errors import DataError
from seacausal.estimate.degenerate import find_degenerate
from seacausal.estimate.gather import SubsetData, plan_rows
from seacausal.estimate.local import LocalEstimates, estimate_gathered, estimate_subsets, local_compiled, pool_estimates
from seacausal.estimate.order import control_rows, order_compiled, order_statistics
from seacausal.estimate.statistics import global_statistics, gram_matrix, interventional_statistics, spaced_rows, standardise
from seacausal.sample.subsets import sample_subsets

SUBSET_SIZE = 5
SCORE_ROWS = 2000
"""Rows of a statistic that guides the sampler."""
COMPILE = "compile (first run only, up to half a minute)"


@dataclass(frozen=True)
class Views:
    """What the aggregator is given."""

    channels: dict[str, np.ndarray]
    """Arrays by name over the columns that vary, see `aggregate.encoding.CHANNELS`; empty where fewer than two do."""
    kept: np.ndarray
    """(d,) bool, the columns that vary."""
    degenerate: Degenerate
    """Columns that carry no information of their own."""
    rows: int
    """n."""
    seconds: dict[str, float]
    """Wall time of each stage."""
    local: tuple[np.ndarray, LocalEstimates] | None
    """(t, 5) subsets, numbered over the columns that vary, and their estimates; None where there are no local estimates."""


def view_dataset(
    dataset: Dataset,
    subsets: int,
    *,
    seed: int = 0,
    rows: int = 500,
    workers: int = 1,
    algorithm: str = "fci",
    sampler: str = "mixture",
    statistic: str = "partial-correlation",
    shown: bool = False,
    predict: Callable[[dict[str, np.ndarray]], np.ndarray] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Views:
    """Statistics of all pairs, then local estimates on `subsets` subsets of five variables. Below five variables there are none.

    Parameters
    ----------
    rows
        b, rows per subset.
    algorithm
        A name of `estimate.algorithms.ALGORITHMS`, whose marks take the place of FCI's.
    sampler
        A name of `sample.samplers.SAMPLERS`.
    statistic
        A name of `estimate.dependence.STATISTICS`: the scores that samplers go by.
    shown
        Whether the statistic, of at most 2,000 standardised rows, also takes the place of the channel "partial correlation", for a network that was
        fine-tuned to it. That is the one slot for every statistic, as in the paper; its significance, the correlation and all other channels stay.
        Entry [i, j] stands as the statistic gives it, and `encode` puts its transpose beside it, so one that is not symmetric loses nothing. The
        diagonal becomes 0.
    predict
        From channels to (d, d) probabilities of i -> j, for the sampler "uncertainty".
    progress
        Called with the name of each stage as it begins.
    """
    marks: list[tuple[str, float]] = []

    def begin(stage: str) -> None:
        marks.append((stage, time.perf_counter()))
        if progress and stage:
            progress(stage)

    begin("statistics")
    z, _, spread = standardise(dataset.values)
    kept = spread > 0
    targets = dataset.targets
    if not kept.all():
        z, spread, targets = np.ascontiguousarray(z[:, kept]), spread[kept], targets[:, kept]
    n, d = z.shape
    gram = gram_matrix(z)
    varying, constant = [[name for name, keep in zip(dataset.names, kept.tolist()) if keep is wanted] for wanted in (True, False)]
    degenerate = find_degenerate(gram[1 : 1 + d, 1 : 1 + d] / n, n, varying, constant)
    channels: dict[str, np.ndarray] = {}
    local = None
    if d >= 2:
        targeted = targets[dataset.regime] if dataset.interventional else None
        channels = global_statistics(z, spread, targeted, gram=gram)
        if shown and statistic != "partial-correlation":
            channels["partial correlation"] = _score_pairs(statistic, z)
        control = control_rows(z, targeted)
        if not order_compiled():
            begin(COMPILE)
            order_statistics(z[:, :2], spread[:2], gram_matrix(z[:, :2]))
        begin("order")
        channels |= order_statistics(control, spread, gram if len(control) == n else gram_matrix(control))
        if targeted is not None:
            channels |= interventional_statistics(z, targeted)
    if d >= SUBSET_SIZE and subsets > 0:
        plan = plan_rows(dataset.regime, targets, generator=np.random.default_rng(seed))
        if not local_compiled():
            begin(COMPILE)
            first = sample_subsets(channels["partial correlation"], 1, size=SUBSET_SIZE).variables
            estimate_subsets(z, dataset.regime, targets, first, plan, rows=rows)

        def estimate(variables: np.ndarray) -> LocalEstimates:
            data = SubsetData(z, dataset.regime, targets, variables, plan, rows, workers)
            found = estimate_gathered(data)
            if algorithm == "fci":
                return found
            from seacausal.estimate.algorithms import find_algorithm

            return replace(found, marks=find_algorithm(algorithm).each(data))

        def believe(sofar: Subset) -> np.ndarray:
            if predict is None:
                raise DataError("The sampler 'uncertainty' needs `predict`; found none. Give it, or choose 'random'.")
            return predict(channels | pool_estimates(estimate(sofar.variables), sofar.variables, d))

        begin("sample")
        scores = channels["partial correlation"] if shown or statistic == "partial-correlation" else _score_pairs(statistic, z)
        subset = _draw(sampler, scores, subsets, seed, believe)
        begin("estimate")
        estimates = estimate(subset.variables)
        channels |= pool_estimates(estimates, subset.variables, d)
        local = subset.variables, estimates
    begin("")
    seconds: dict[str, float] = {}
    for (stage, before), (_, after) in zip(marks, marks[1:]):
        seconds[stage] = seconds.get(stage, 0.0) + after - before
    return Views(channels, kept, degenerate, n, seconds, local)


def _score_pairs(statistic: str, z: np.ndarray) -> np.ndarray:
    """(d, d) another statistic, on at most `SCORE_ROWS` rows, with a diagonal of 0."""
    from seacausal.estimate.dependence import find_statistic

    scores = find_statistic(statistic).function(spaced_rows(z, SCORE_ROWS))
    np.fill_diagonal(scores, 0)
    return scores


def _draw(sampler: str, scores: np.ndarray, count: int, seed: int, predict: Callable[[Subset], np.ndarray]) -> Subset:
    if sampler == "mixture":
        return sample_subsets(scores, count, size=SUBSET_SIZE, seed=seed)
    from seacausal.sample.samplers import draw_subsets

    return draw_subsets(sampler, len(scores), count, scores=scores, predict=predict, size=SUBSET_SIZE, seed=seed)
