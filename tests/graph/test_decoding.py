"""Acyclic graphs from probabilities, against a search of our own for cycles."""

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.graph.decoding import decode_dag


@st.composite
def probabilities(draw):
    d = draw(st.integers(1, 9))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    return generator.random((d, d)) ** draw(st.sampled_from([0.2, 1, 3]))


@settings(max_examples=200, deadline=None)
@given(direct=probabilities())
def test_greedy_decoding_edge_by_edge(direct):
    """networkx is asked for a path back and for colliders before every edge, and what a new edge may meet comes next."""

    def meets(cause, effect):
        return any(not joined[other, cause] and other != cause for other in graph.predecessors(effect))

    joined = direct + direct.T > 0.5
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(direct)))

    def undecided(i, j):
        return 0.5 < direct[i, j] / direct[j, i] < 2

    def settle(i, j):
        pairs.remove({i, j})
        i, j = (i, j) if direct[i, j] > direct[j, i] else (j, i)
        doubtful = undecided(i, j) and not nx.has_path(graph, i, j)
        i, j = (j, i) if nx.has_path(graph, j, i) or (doubtful and meets(i, j) and not meets(j, i)) else (i, j)
        graph.add_edge(i, j)
        due.extend({j, k} for k in range(len(direct)) if {j, k} in pairs and not joined[i, k] and undecided(j, k))

    pairs, due = [{i, j} for i in range(len(direct)) for j in range(i) if direct[i, j] + direct[j, i] > 0.5], []
    ranked = sorted(map(sorted, pairs), key=lambda pair: (undecided(*pair), -abs(direct[tuple(pair)] - direct[tuple(pair[::-1])])))
    for i, j in ranked:
        while undecided(i, j) and due:
            pair = due.pop()
            if pair in pairs:
                settle(*sorted(pair))
        if {i, j} in pairs:
            settle(i, j)
    assert nx.is_directed_acyclic_graph(graph)
    assert np.argwhere(decode_dag(direct)).tolist() == sorted([list(edge) for edge in graph.edges])


def test_a_dag_is_left_as_it_is_and_the_threshold_followed():
    direct = np.triu(np.random.default_rng(0).random((6, 6)), 1)
    np.fill_diagonal(direct, 1.0)
    off = ~np.eye(6, dtype=bool)
    for threshold in (0.0, 0.3, 0.9):
        np.testing.assert_array_equal(decode_dag(direct, threshold), (direct > threshold) & off)
    assert not decode_dag(np.full((3, 3), 0.25)).any()


def test_a_direction_that_nobody_can_tell_is_an_edge_nevertheless():
    direct = np.array([[0, 0.48, 0.0], [0.47, 0, 0.2], [0.1, 0.2, 0]])
    assert np.argwhere(decode_dag(direct)).tolist() == [[0, 1]]


def test_the_least_certain_edge_of_a_cycle_is_turned_round_or_left_out_where_it_cannot_be():
    direct = np.zeros((4, 4))
    direct[0, 1], direct[1, 2], direct[2, 0], direct[2, 3] = 0.6, 0.9, 0.8, 0.7
    assert np.argwhere(decode_dag(direct)).tolist() == [[1, 2], [2, 0], [2, 3]]
    direct[1, 0] = 1e-6
    assert np.argwhere(decode_dag(direct)).tolist() == [[1, 0], [1, 2], [2, 0], [2, 3]]


def test_a_doubtful_edge_makes_no_collider_but_a_probable_one_does():
    direct = np.array([[0, 0.9, 0], [0.05, 0, 0.4], [0, 0.55, 0]])
    assert np.argwhere(decode_dag(direct)).tolist() == [[0, 1], [1, 2]]
    direct[1, 2] = 0.2
    assert np.argwhere(decode_dag(direct)).tolist() == [[0, 1], [2, 1]]
    direct[0, 2] = 0.6  # now the causes are joined
    direct[1, 2] = 0.4
    assert np.argwhere(decode_dag(direct)).tolist() == [[0, 1], [0, 2], [2, 1]]


def test_a_chain_that_nobody_can_tell_stays_one():
    """The surest directions of a --- b --- c --- d point at each other from both ends."""
    direct = np.zeros((4, 4))
    direct[0, 1], direct[1, 0], direct[2, 1], direct[1, 2], direct[3, 2], direct[2, 3] = 0.55, 0.4, 0.48, 0.47, 0.54, 0.41
    assert np.argwhere(decode_dag(direct)).tolist() == [[0, 1], [1, 2], [2, 3]]
