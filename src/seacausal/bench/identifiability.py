"""Does a network claim to know more than linear Gaussian data can say? Its scores beside those of the true Markov equivalence class.

Standardised data of linear mechanisms and Gaussian noise tell the class apart and nothing within it. Two oracles know the class: the mean metric
over the class is what a random member scores on average, the metric of the mean graph what the shares of members with each edge score. A method that
stands far above both reads directions from the simulator's habits, so the channel groups that could carry these are left out in turn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.aggregate.encoding import GROUPS
from seacausal.aggregate.network import Network
from seacausal.bench.accuracy import Scores, standardise_columns
from seacausal.bench.suites import simulated_cases
from seacausal.config import DiscoverConfig
from seacausal.data import Dataset
from seacausal.graph.equivalence import class_members, essential_graph
from seacausal.graph.metrics import score_auc, score_average_precision, score_orientation, score_shd
from seacausal.views import usual_subsets, view_dataset

METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "mAP": score_average_precision,
    "AUC": score_auc,
    "SHD": score_shd,
    "OA": score_orientation,
}
"""From a true graph and probabilities, both (d, d), [i, j] for i -> j."""
LEFT_OUT = {
    "seacausal": (),
    "seacausal without variances": ("variances",),
    "seacausal without orders": ("orders",),
    "seacausal without variances and orders": ("variances", "orders"),
}
"""Row of the table: the channel groups that are switched off."""


def measure_identifiability(network: Network, *, graphs: int = 20, progress: Callable[[str], None] | None = None) -> Scores:
    """Scores of ours and of the oracles on standardised linear Gaussian data, N=10, E=10."""
    scores = Scores()
    for case in simulated_cases(roots="gaussian", cells=((10, 10, graphs),), mechanisms=("linear",)):
        if progress:
            progress(f"{case.group} {case.column}")
        truth = case.dataset.adjacency
        assert truth is not None
        members = [member.astype(float) for member in class_members(essential_graph(truth))]
        predicted = predict_without(standardise_columns(case.dataset), network, LEFT_OUT)
        for metric, score in METRICS.items():
            scores.add("mean metric over the class", metric, float(np.mean([score(truth, member) for member in members])))
            scores.add("metric of the mean graph", metric, score(truth, np.mean(members, 0)))
            for method, direct in predicted.items():
                scores.add(method, metric, score(truth, direct))
        scores.add("mean metric over the class", "members", len(members))
    return scores


def predict_without(dataset: Dataset, network: Network, left_out: dict[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    """(d, d) probabilities of i -> j by name, each without the channel groups named; every column must vary."""
    config = DiscoverConfig()
    views = view_dataset(dataset, usual_subsets(len(dataset.names)), seed=config.seed, rows=config.rows, workers=config.workers)
    assert views.kept.all()
    return {name: network.predict_table(views.channels, views.rows, set(GROUPS) - set(groups)) for name, groups in left_out.items()}
