"""Sample and estimate: from a data set to everything that the network is shown of it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from seacausal.data import Dataset
from seacausal.estimate.local import estimate_subsets, plan_rows, pool_estimates
from seacausal.estimate.statistics import global_statistics, interventional_statistics, standardise
from seacausal.sample.subsets import sample_subsets

SUBSET_SIZE = 5


@dataclass(frozen=True)
class Views:
    """What the aggregator is given."""

    channels: dict[str, np.ndarray]
    """(d, d) arrays by name, see `aggregate.encoding.CHANNELS`."""
    rows: int
    """n."""
    seconds: dict[str, float]
    """Wall time of each stage."""


def view_dataset(dataset: Dataset, subsets: int, *, seed: int = 0, rows: int = 500, workers: int = 1) -> Views:
    """Statistics of all pairs, then local estimates on `subsets` subsets of five variables.

    Half of the subsets are drawn evenly and half by the size of the partial correlation. Below five variables, or with `subsets` = 0, there are no
    local estimates. Constant columns must have been removed.
    """
    clock = time.perf_counter()
    seconds: dict[str, float] = {}

    def lap(stage: str) -> None:
        nonlocal clock
        seconds[stage] = time.perf_counter() - clock
        clock = time.perf_counter()

    z, _, spread = standardise(dataset.values)
    targeted = dataset.targets[dataset.regime] if dataset.interventional else None
    channels = global_statistics(z, spread, targeted)
    if targeted is not None:
        channels |= interventional_statistics(z, targeted)
    lap("statistics")
    if z.shape[1] >= SUBSET_SIZE and subsets > 0:
        subset = sample_subsets(channels["partial correlation"], subsets, size=SUBSET_SIZE, seed=seed)
        lap("sample")
        plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(seed))
        estimates = estimate_subsets(z, dataset.regime, dataset.targets, subset.variables, plan, rows=rows, workers=workers)
        channels |= pool_estimates(estimates, subset.variables, z.shape[1])
        lap("estimate")
    return Views(channels, len(z), seconds)
