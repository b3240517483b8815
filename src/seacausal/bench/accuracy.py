"""Accuracy over a suite: ours and the baselines on the very same data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from seacausal.aggregate.network import Network
from seacausal.bench.baselines import BASELINES
from seacausal.bench.suites import Case
from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.statistics import standardise
from seacausal.graph.metrics import is_acyclic, score_auc, score_average_precision, score_calibration, score_orientation, score_shd


@dataclass
class Scores:
    """Scores of one cell, a list over its data sets for each metric of each method."""

    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, method: str, metric: str, value: float) -> None:
        """One more data set."""
        self.values.setdefault((method, metric), []).append(value)

    def mean(self, method: str, metric: str = "mAP") -> float:
        """Mean over data sets; nan where there is none."""
        found = self.values.get((method, metric))
        return float(np.nanmean(found)) if found else float("nan")


def measure(
    cases: Iterable[Case], *, standardised: bool = False, network: Network | None = None, progress: Callable[[str], None] | None = None
) -> dict[tuple[str, str], Scores]:
    """Run ours and every baseline on each case; results by (group, column).

    Parameters
    ----------
    standardised
        Bring every column to mean 0 and variance 1 first.
    """
    cells: dict[tuple[str, str], Scores] = {}
    for case in cases:
        if progress:
            progress(f"{case.group} {case.column}")
        dataset = standardise_dataset(case.dataset) if standardised else case.dataset
        scores = cells.setdefault((case.group, case.column), Scores())
        truth = case.dataset.adjacency
        assert truth is not None
        direct = discover(dataset, network=network).probabilities
        for metric, value in judge(truth, direct).items():
            scores.add("seacausal", metric, value)
        for name, baseline in BASELINES.items():
            found = baseline(dataset)
            if found is not None:
                scores.add(name, "mAP", score_average_precision(truth, found))
    return cells


def judge(truth: np.ndarray, direct: np.ndarray) -> dict[str, float]:
    """All metrics of one prediction."""
    return {
        "mAP": score_average_precision(truth, direct),
        "AUC": score_auc(truth, direct),
        "SHD": float(score_shd(truth, direct)),
        "OA": score_orientation(truth, direct),
        "ECE": score_calibration(truth, direct),
        "acyclic": float(is_acyclic(direct > 0.5)),
    }


def standardise_dataset(dataset: Dataset) -> Dataset:
    """The same with every column brought to mean 0 and variance 1."""
    return replace(dataset, values=standardise(dataset.values)[0])
