"""Edges that a class can do without: against every graph of the class, and in the search that has them dropped."""

import math

import numpy as np
import pytest

from seacausal.estimate import graph_search
from seacausal.estimate.deletions import drop_line
from seacausal.estimate.graph_search import search_graph
from seacausal.graph.equivalence import class_members, essential_graph
from seacausal.graph.marks import ARROW, TAIL
from seacausal.graph.metrics import score_mark_distance
from seacausal.simulate.dataset import Simulation, simulate_dataset, topological_order

PENALTY = 0.05


def drawn(seed: int, d: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlations of a linear graph, and a denser graph of other edges with an order of its own."""
    generator = np.random.default_rng(seed)
    weights = np.triu(generator.uniform(0.2, 1, (d, d)) * (generator.random((d, d)) < 0.4), 1)
    total = np.linalg.inv(np.eye(d) - weights)
    covariance = total.T @ total
    spread = np.sqrt(covariance.diagonal())
    order = generator.permutation(d)
    graph = np.zeros((d, d), bool)
    graph[np.ix_(order, order)] = np.triu(generator.random((d, d)) < 0.7, 1)
    return covariance / np.outer(spread, spread), graph, order


def log_variance(correlation: np.ndarray, child: int, parents: list[int]) -> float:
    across = correlation[parents, child]
    return math.log(correlation[child, child] - across @ np.linalg.solve(correlation[np.ix_(parents, parents)], across))


def least_gain(correlation: np.ndarray, graph: np.ndarray) -> float:
    """Of lines a --- b with a common neighbour by lines, in the graphs of the class in which at most one of b's other parents is none by an arrow."""
    marks = essential_graph(graph)
    arrows, lines = marks == ARROW, (marks == TAIL) & (marks.T == TAIL)
    gains = [math.inf]
    for member in class_members(marks):
        for a, b in np.argwhere(member & lines):
            parents = np.flatnonzero(member[:, b]).tolist()
            if (lines[a] & lines[b]).any() and sum(lines[c, b] for c in parents if c != a) <= 1:
                others = [c for c in parents if c != a]
                assert (arrows | lines[a, :, None])[others, b].all()
                gains.append(log_variance(correlation, b, others) - log_variance(correlation, b, parents))
    return min(gains)


@pytest.mark.parametrize("seed", range(60))
def test_a_graph_of_the_class_does_without_the_edge(seed):
    correlation, graph, order = drawn(seed)
    parted = drop_line(correlation, graph, order, PENALTY)
    least = least_gain(correlation, graph)
    assert (parted is not None) == (least < PENALTY)
    if parted is not None:
        place = np.argsort(parted)
        member = (graph | graph.T) & (place[:, None] < place)
        assert np.array_equal(essential_graph(member), essential_graph(graph))
        gains = []
        for a, b in np.argwhere(member):
            parents = np.flatnonzero(member[:, b]).tolist()
            gains.append(log_variance(correlation, b, [c for c in parents if c != a]) - log_variance(correlation, b, parents))
        assert min(gains) <= least + 1e-9


def test_there_are_edges_to_drop_and_graphs_without():
    kinds = {drop_line(*drawn(seed), PENALTY) is None for seed in range(60)}
    assert kinds == {True, False}


def test_renamed_variables_give_the_renamed_order():
    correlation, graph, order = drawn(next(seed for seed in range(60) if drop_line(*drawn(seed), PENALTY) is not None))
    names = np.array([3, 0, 5, 1, 4, 2])
    renamed = drop_line(correlation[np.ix_(names, names)], graph[np.ix_(names, names)], np.argsort(names)[order], PENALTY)
    assert np.array_equal(names[renamed], drop_line(correlation, graph, order, PENALTY))


def test_the_search_drops_what_no_single_variable_can(monkeypatch):
    dataset = simulate_dataset(Simulation(variables=40, edges=40, observational_rows=20_000, root_law="gaussian"), generator=np.random.default_rng(1))
    matrix, truth = np.corrcoef(dataset.values.T), essential_graph(dataset.adjacency)

    def distance() -> int:
        _, found = search_graph(matrix[None], np.array(topological_order(dataset.adjacency))[::-1], 20_000, turns=True)
        return score_mark_distance(truth, essential_graph(found.graph))

    assert distance() == 0
    monkeypatch.setattr(graph_search, "drop_line", lambda *_: None)
    assert distance() > 0


def test_one_neighbour_may_stand_before_both_ends():
    """Backwards, v -> x, v -> y, x -> w <- y, w -> u needs x --- y; without it w alone is a collider, and v stays before both."""
    u, v, w, x, y = range(5)
    weights = np.zeros((5, 5))
    weights[[v, v, x, y, w], [x, y, w, w, u]] = 1, 1, 1, 1, 1
    total = np.linalg.inv(np.eye(5) - weights)
    correlation = total.T @ total / np.sqrt(np.outer(*2 * [(total**2).sum(0)]))
    graph = np.zeros((5, 5), bool)
    graph[[u, w, w, x, x, y], [w, x, y, y, v, v]] = True
    place = np.argsort(drop_line(correlation, graph, np.array([u, w, x, y, v]), PENALTY))
    assert place[v] < min(place[x], place[y])
    assert max(place[x], place[y]) < min(place[w], place[u])
    _, found = search_graph(correlation[None], np.array([u, w, x, y, v]), 20_000, turns=True)
    assert np.array_equal(essential_graph(found.graph), essential_graph(weights != 0))
