"""The oracles against a brute force over all directions of the undirected edges, and channel groups left out."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from seacausal.aggregate.network import released
from seacausal.bench.identifiability import METRICS, measure_identifiability, predict_without
from seacausal.bench.suites import simulated_cases
from seacausal.discovery import discover
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.marks import ARROW, TAIL
from seacausal.graph.metrics import is_acyclic

OFF = ~np.eye(10, dtype=bool)


def cases(count: int) -> list:
    return list(simulated_cases(roots="gaussian", cells=((10, 10, count),), mechanisms=("linear",)))


def members_by_brute_force(truth: np.ndarray) -> list[np.ndarray]:
    marks = essential_graph(truth)
    lines = np.argwhere(np.triu((marks == TAIL) & (marks.T == TAIL)))
    found = []
    for ways in itertools.product((False, True), repeat=len(lines)):
        dag = marks == ARROW
        for (i, j), way in zip(lines, ways):
            dag[(i, j) if way else (j, i)] = True
        if is_acyclic(dag) and (essential_graph(dag) == marks).all():
            found.append(dag)
    return found


def test_oracles_know_the_class():
    scores = measure_identifiability(released(), graphs=3)
    each, mean, sizes = [], [], []
    for case in cases(3):
        truth = case.dataset.adjacency
        members = members_by_brute_force(truth)
        sizes.append(len(members))
        share = np.mean(members, 0)
        each.append([average_precision_score(truth[OFF], member[OFF]) for member in members])
        mean.append(roc_auc_score(truth[OFF], share[OFF]))
    assert max(sizes) > 1
    assert scores.values["mean metric over the class", "members"] == sizes
    assert scores.values["mean metric over the class", "mAP"] == pytest.approx([np.mean(values) for values in each])
    assert scores.values["metric of the mean graph", "AUC"] == pytest.approx(mean)
    # By symmetry, the SHD between two members counts the edges that either directs otherwise.
    assert 0 < scores.mean("mean metric over the class", "SHD") <= 10
    assert {metric for _, metric in scores.values} == {*METRICS, "members"}
    assert scores.mean("seacausal", "AUC") > 0.9


def test_all_groups_are_what_discover_gives_and_a_group_left_out_counts():
    dataset, network = cases(1)[0].dataset, released(threads=2)
    found = predict_without(dataset, network, {"all": (), "no variances": ("variances",), "nothing else": ("orders", "moments")})
    np.testing.assert_array_equal(found["all"], discover(dataset, network=network).probabilities)
    np.testing.assert_array_equal(found["no variances"], discover(dataset, network=network, scale=False).probabilities)
    assert np.abs(found["nothing else"] - found["all"]).max() > 1e-3
