"""Sample and estimate: from a data set to everything that the network is shown of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seacausal.data import Dataset, Degenerate
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


def view_dataset(
    dataset: Dataset, subsets: int, *, seed: int = 0, rows: int = 500, workers: int = 1, progress: Callable[[str], None] | None = None
) -> Views:
    """Statistics of all pairs, then local estimates on `subsets` subsets of five variables.

    Half of the subsets are drawn evenly and half by the size of the partial correlation. Below five variables, or with `subsets` = 0, there are no
    local estimates. Constant columns must have been removed.
    """
    marks: list[tuple[str, float]] = []

    def begin(stage: str) -> None:
        marks.append((stage, time.perf_counter()))
        if progress and stage:
            progress(stage)

    begin("statistics")
    z, _, spread = standardise(dataset.values)
    targeted = dataset.targets[dataset.regime] if dataset.interventional else None
    channels = global_statistics(z, spread, targeted)
    if targeted is not None:
        channels |= interventional_statistics(z, targeted)
    if z.shape[1] >= SUBSET_SIZE and subsets > 0:
        begin("sample")
        subset = sample_subsets(channels["partial correlation"], subsets, size=SUBSET_SIZE, seed=seed)
        begin("estimate")
        plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(seed))
        estimates = estimate_subsets(z, dataset.regime, dataset.targets, subset.variables, plan, rows=rows, workers=workers)
        channels |= pool_estimates(estimates, subset.variables, z.shape[1])
    begin("")
    seconds = {stage: after - before for (stage, before), (_, after) in zip(marks, marks[1:])}
    return Views(channels, len(z), seconds)


def find_degenerate(dataset: Dataset) -> Degenerate:
    """Constant columns, columns that repeat an earlier one, and linear combinations of earlier ones, by a relative pivot of 1e-10.

    With no more rows than variables every later column is a combination of the earlier ones; then only copies are reported.
    """
    z, _, spread = standardise(dataset.values)
    live = np.flatnonzero(spread > 0)
    correlation = z[:, live].T @ z[:, live] / len(z)
    names = [dataset.names[i] for i in live]
    duplicate, dependent = [], []
    same = np.triu(1 - np.abs(correlation) < 1e-10, 1)
    for j in np.flatnonzero(same.any(0)):
        duplicate.append((names[j], names[int(np.argmax(same[:, j]))]))
    if len(z) > len(live):
        copies = {name for name, _ in duplicate}
        dependent = [names[j] for j in _dependent_columns(correlation) if names[j] not in copies]
    constant = tuple(name for name, s in zip(dataset.names, spread) if s == 0)
    return Degenerate(constant, tuple(duplicate), tuple(dependent))


def _dependent_columns(correlation: np.ndarray) -> list[int]:
    """Columns whose variance given all earlier ones is below 1e-10: a Cholesky sweep that passes them over."""
    left = correlation.copy()
    found = []
    for j in range(len(left)):
        if left[j, j] < 1e-10:
            found.append(j)
            continue
        row = left[j, j + 1 :] / left[j, j]
        left[j + 1 :, j + 1 :] -= np.outer(left[j, j + 1 :], row)
    return found
