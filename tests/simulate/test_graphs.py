"""Random graphs against the laws that they are meant to follow."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.simulate.graphs import GRAPHS, simulate_erdos_renyi, simulate_scale_free

sizes = st.integers(2, 30).flatmap(lambda d: st.tuples(st.just(d), st.floats(0, d * (d - 1) / 2)))


@pytest.mark.parametrize("kind", GRAPHS)
@settings(max_examples=60, deadline=None)
@given(size=sizes, seed=st.integers(0, 2**32))
def test_graphs_are_acyclic(kind, size, seed):
    adjacency = GRAPHS[kind](*size, generator=np.random.default_rng(seed))
    assert adjacency.shape == (size[0], size[0])
    assert adjacency.dtype == bool
    assert nx.is_directed_acyclic_graph(nx.from_numpy_array(adjacency, create_using=nx.DiGraph))


@pytest.mark.parametrize("kind", GRAPHS)
def test_the_generator_alone_decides(kind):
    first, again, other = (GRAPHS[kind](12, 20, generator=np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", GRAPHS)
def test_both_extremes(kind):
    generator = np.random.default_rng(0)
    assert not GRAPHS[kind](9, 0, generator=generator).any()
    full = GRAPHS[kind](9, 36, generator=generator)
    assert (full ^ full.T)[~np.eye(9, dtype=bool)].all()


@pytest.mark.parametrize(("variables", "edges"), [(2, 0.5), (5, 5), (20, 20), (20, 80), (100, 400)])
def test_erdos_renyi_edge_counts_are_binomial(variables, edges):
    generator, graphs = np.random.default_rng([1, variables]), 400
    counts = np.array([simulate_erdos_renyi(variables, edges, generator=generator).sum() for _ in range(graphs)])
    variance = edges * (1 - edges / math.comb(variables, 2))
    assert abs(counts.mean() - edges) < 4 * math.sqrt(variance / graphs)
    assert abs(counts.var() / variance - 1) < 4 * math.sqrt(2 / graphs)


@pytest.mark.parametrize("kind", GRAPHS)
def test_variables_come_in_random_order(kind):
    generator, graphs = np.random.default_rng(2), 2000
    share = sum(GRAPHS[kind](5, 4, generator=generator) for _ in range(graphs)) / graphs
    # 4 of 20 ordered pairs, whichever they are
    np.testing.assert_allclose(share[~np.eye(5, dtype=bool)], 0.2, atol=4.5 * math.sqrt(0.2 * 0.8 / graphs))


@pytest.mark.parametrize(("variables", "edges"), [(2, 1), (10, 7), (10, 10), (20, 80), (30, 400), (100, 400)])
def test_scale_free_graphs_have_as_many_edges_as_asked(variables, edges):
    generator = np.random.default_rng(3)
    assert {int(simulate_scale_free(variables, edges, generator=generator).sum()) for _ in range(20)} == {edges}


def test_scale_free_rounds_a_broken_number_of_edges_to_either_side():
    generator = np.random.default_rng(4)
    counts = [int(simulate_scale_free(10, 12.5, generator=generator).sum()) for _ in range(400)]
    assert set(counts) == {12, 13}
    assert abs(np.mean(counts) - 12.5) < 0.5


def test_attachment_is_preferential():
    """Four variables, one parent each but the first: 0 -> 1, then 2 joins 0 or 1 alike, and 3 joins a variable of 3 in 7 if it is 2's choice.

    A source of three children therefore has probability 1/2 x 3/7; even attachment would give 1/6.
    """
    generator, graphs = np.random.default_rng(5), 4000
    stars = np.mean([simulate_scale_free(4, 3, generator=generator).sum(1).max() == 3 for _ in range(graphs)])
    assert abs(stars - 3 / 14) < 4 * math.sqrt(3 / 14 * 11 / 14 / graphs)


def test_scale_free_graphs_have_hubs():
    generator = np.random.default_rng(6)
    most = {kind: np.mean([simulate(100, 200, generator=generator).sum(1).max() for _ in range(30)]) for kind, simulate in GRAPHS.items()}
    assert most["scale-free"] > 1.5 * most["erdos-renyi"]
