"""Accuracy over a suite: ours, the baselines and the peers on the very same data sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from seacausal.aggregate.network import Network, PaperNetwork
from seacausal.bench.baselines import BASELINES
from seacausal.bench.peers import PeerRuns
from seacausal.bench.suites import Case
from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.statistics import standardise
from seacausal.graph.decoding import decode_dag
from seacausal.graph.equivalence import essential_graph, to_probabilities
from seacausal.graph.marks import ARROW, undirected_edges
from seacausal.graph.metrics import (
    is_acyclic,
    pool_calibration,
    score_auc,
    score_average_precision,
    score_log_loss,
    score_mark_distance,
    score_orientation,
    score_shd,
)


@dataclass
class Scores:
    """Scores of one cell, a list over its data sets for each metric of each method."""

    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    predictions: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    """True graph and our probabilities of each data set."""

    def add(self, method: str, metric: str, value: float) -> None:
        """One more data set."""
        self.values.setdefault((method, metric), []).append(value)

    def mean(self, method: str, metric: str = "mAP") -> float:
        """Mean over data sets; nan where there is none. The expected calibration error, "ECE", is that of all their pairs together."""
        if metric == "ECE":
            return pool_calibration(self.predictions) if method == "seacausal" else float("nan")
        found = [value for value in self.values.get((method, metric), []) if not np.isnan(value)]
        return float(np.mean(found)) if found else float("nan")

    def drop(self, method: str) -> None:
        """Forget a method that did not finish every data set: the mean over those that it did finish would flatter it."""
        self.values = {key: value for key, value in self.values.items() if key[0] != method}


def measure(
    cases: Iterable[Case],
    *,
    standardised: bool = False,
    network: Network | PaperNetwork | None = None,
    peers: PeerRuns | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[tuple[str, str], Scores]:
    """Run ours, every baseline and the peers on each case; results by (group, column).

    Parameters
    ----------
    standardised
        Bring every column to mean 0 and variance 1 first.
    peers
        Other people's methods to run, too.
    """
    cells: dict[tuple[str, str], Scores] = {}
    for case in cases:
        if progress:
            progress(f"{case.group} {case.column}")
        dataset = standardise_columns(case.dataset) if standardised else case.dataset
        scores = cells.setdefault((case.group, case.column), Scores())
        truth = case.dataset.adjacency
        assert truth is not None
        started = time.perf_counter()
        direct = discover(dataset, network=network).probabilities
        scores.add("seacausal", "seconds", time.perf_counter() - started)
        for metric, value in judge(truth, direct).items():
            scores.add("seacausal", metric, value)
        scores.predictions.append((truth, direct))
        for name, baseline in BASELINES.items():
            found = baseline(dataset)
            if found is not None:
                scores.add(name, "mAP", score_average_precision(truth, found))
        if peers:
            _measure_peers(peers, dataset, truth, case.group, scores)
    return cells


def _measure_peers(peers: PeerRuns, dataset: Dataset, truth: np.ndarray, row: str, scores: Scores) -> None:
    for name, marks, seconds in peers.run(dataset, row):
        if marks is None:
            scores.drop(name)
            continue
        scores.add(name, "seconds", seconds)
        scores.add(name, "mAP", score_average_precision(truth, to_probabilities(marks)))
        if is_acyclic(truth):
            scores.add(name, "CPDAG-SHD", score_mark_distance(essential_graph(truth), to_cpdag(marks)))


def to_cpdag(marks: np.ndarray) -> np.ndarray:
    """A DAG stands for its class; what has an undirected edge is a CPDAG already, and a cycle is left as it is."""
    return marks if undirected_edges(marks).any() or not is_acyclic(marks == ARROW) else essential_graph(marks == ARROW)


def judge(truth: np.ndarray, direct: np.ndarray) -> dict[str, float]:
    """All metrics of one prediction."""
    found = {
        "mAP": score_average_precision(truth, direct),
        "skeleton mAP": score_average_precision(truth | truth.T, direct + direct.T),
        "AUC": score_auc(truth, direct),
        "SHD": float(score_shd(truth, direct)),
        "log-loss": score_log_loss(truth, direct),
        "OA": score_orientation(truth, direct),
        "acyclic": float(is_acyclic(direct > 0.5)),
    }
    if is_acyclic(truth):  # with feedback there is no class of DAGs
        found["CPDAG-SHD"] = float(score_mark_distance(essential_graph(truth), essential_graph(decode_dag(direct))))
    return found


def standardise_columns(dataset: Dataset) -> Dataset:
    """Every column with mean 0 and variance 1."""
    return replace(dataset, values=standardise(dataset.values)[0])
