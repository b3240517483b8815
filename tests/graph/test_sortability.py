"""Sortability against paths counted one by one and regressions fitted one by one."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.graph.sortability import explain_columns, score_order, score_r2_sortability, score_varsortability
from seacausal.simulate.dataset import Simulation, simulate_dataset


def draw(seed, **fields):
    return simulate_dataset(Simulation(variables=7, edges=10, **fields), generator=np.random.default_rng(seed))


def order_by_hand(adjacency, scores):
    """Every pair counts once for every length that a path between its ends has."""
    graph = nx.DiGraph(adjacency)
    lengths = {(i, j, len(path)) for i, j in itertools.permutations(graph, 2) for path in nx.all_simple_paths(graph, i, j)}
    credit = [1.0 if scores[i] < scores[j] else 0.5 if scores[i] == scores[j] else 0.0 for i, j, _ in lengths]
    return np.mean(credit) if credit else np.nan


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7))
def test_paths_are_counted_as_by_hand(seed, variables):
    rng = np.random.default_rng(seed)
    order = rng.permutation(variables)
    adjacency = np.triu(rng.random((variables, variables)) < rng.random(), 1)[np.ix_(order, order)]
    scores = rng.integers(0, 4, variables).astype(float)  # with ties
    assert score_order(adjacency, scores) == pytest.approx(order_by_hand(adjacency, scores), nan_ok=True, abs=1e-12)


def test_r2_is_that_of_a_regression_on_all_others():
    values = draw(0).values.astype(float) * 3 + 7
    for j, found in enumerate(explain_columns(values)):
        design = np.column_stack([np.ones(len(values)), np.delete(values, j, 1)])
        residual = values[:, j] - design @ np.linalg.lstsq(design, values[:, j], rcond=None)[0]
        assert found == pytest.approx(1 - residual.var() / values[:, j].var(), abs=1e-10)


def test_dependent_and_constant_columns():
    values = np.random.default_rng(0).standard_normal((200, 4))
    values = np.column_stack([values, values[:, 0] + values[:, 1], np.full(200, 3.0)])
    r2 = explain_columns(values)
    np.testing.assert_allclose(r2[[0, 1, 4]], 1, atol=1e-9)
    assert (r2[[2, 3]] < 0.1).all()
    assert r2[5] == 0
    assert explain_columns(np.ones((5, 2))).tolist() == [0, 0]


def test_scale_moves_varsortability_alone():
    dataset = draw(1)
    values = dataset.values.astype(float)
    level = np.empty(7)
    for place, j in enumerate(nx.topological_sort(nx.DiGraph(dataset.adjacency))):
        level[j] = 2.0**place
    z = (values - values.mean(0)) / values.std(0)
    assert score_varsortability(z * level, dataset.adjacency) == 1
    assert score_varsortability(z / level, dataset.adjacency) == 0
    assert score_varsortability(z, dataset.adjacency) == 0.5  # equal up to rounding
    assert score_r2_sortability(z * level, dataset.adjacency) == pytest.approx(score_r2_sortability(values, dataset.adjacency))


def test_both_are_those_of_causaldisco():
    analytics = pytest.importorskip("CausalDisco.analytics", reason="causaldisco is not installed")
    for seed in range(100):
        dataset = draw(seed, mechanisms=("linear", "nn"))
        values, weights = dataset.values.astype(float), dataset.adjacency.astype(float)
        assert score_varsortability(values, dataset.adjacency) == pytest.approx(analytics.var_sortability(values, weights), abs=1e-8)
        assert score_r2_sortability(values, dataset.adjacency) == pytest.approx(analytics.r2_sortability(values, weights), abs=1e-8)
