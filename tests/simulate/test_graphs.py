"""Random graphs against the laws that they are meant to follow."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.errors import DataError
from seacausal.simulate.graphs import (
    GRAPHS,
    most_edges,
    simulate_bipartite,
    simulate_erdos_renyi,
    simulate_layered,
    simulate_regulatory,
    simulate_scale_free,
    simulate_scale_free_replaced,
    simulate_small_world,
    simulate_stochastic_block,
)

EXACT = [kind for kind in GRAPHS if kind != "scale-free-replaced"]
"""The families whose expected number of edges is the one asked for."""
sizes = st.tuples(st.integers(2, 30), st.floats(0, 1))


@pytest.mark.parametrize("kind", GRAPHS)
@settings(max_examples=60, deadline=None)
@given(size=sizes, seed=st.integers(0, 2**32))
def test_graphs_are_acyclic(kind, size, seed):
    adjacency = GRAPHS[kind](size[0], size[1] * most_edges(kind, size[0]), generator=np.random.default_rng(seed))
    assert adjacency.shape == (size[0], size[0])
    assert adjacency.dtype == bool
    assert nx.is_directed_acyclic_graph(nx.from_numpy_array(adjacency, create_using=nx.DiGraph))


@pytest.mark.parametrize("kind", GRAPHS)
def test_the_generator_alone_decides(kind):
    first, again, other = (GRAPHS[kind](12, 20, generator=np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("variables", [2, 9, 10])
def test_both_extremes(kind, variables):
    generator = np.random.default_rng(0)
    most = most_edges(kind, variables)
    assert not GRAPHS[kind](variables, 0, generator=generator).any()
    full = GRAPHS[kind](variables, most, generator=generator)
    if kind in EXACT:
        assert full.sum() == most
    if kind not in ("bipartite", "layered", "scale-free-replaced"):
        assert (full ^ full.T)[~np.eye(variables, dtype=bool)].all()


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize(("variables", "edges"), [(2, 0.4), (5, 5), (12, 30.5), (20, 4), (100, 600)])
def test_as_many_edges_are_expected_as_asked(kind, variables, edges):
    """No family varies more than independent edges do, whose variance is at most `edges`."""
    generator, graphs = np.random.default_rng([7, variables]), 200
    counts = [GRAPHS[kind](variables, edges, generator=generator).sum() for _ in range(graphs)]
    assert abs(np.mean(counts) - edges) < 4 * math.sqrt(edges / graphs)


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("density", [0.2, 6])
def test_graphs_of_two_thousand_variables(kind, density):
    adjacency = GRAPHS[kind](2000, 2000 * density, generator=np.random.default_rng(8))
    edges = int(adjacency.sum())
    assert edges <= 2000 * density + 4 * math.sqrt(2000 * density)
    assert edges >= (2000 * density - 4 * math.sqrt(2000 * density) if kind in EXACT else 1000 * density)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(np.argwhere(adjacency).tolist()))


@pytest.mark.parametrize(("variables", "edges"), [(2, 0.5), (5, 5), (20, 20), (20, 80), (100, 400)])
def test_erdos_renyi_edge_counts_are_binomial(variables, edges):
    generator, graphs = np.random.default_rng([1, variables]), 400
    counts = np.array([simulate_erdos_renyi(variables, edges, generator=generator).sum() for _ in range(graphs)])
    variance = edges * (1 - edges / math.comb(variables, 2))
    assert abs(counts.mean() - edges) < 4 * math.sqrt(variance / graphs)
    assert abs(counts.var() / variance - 1) < 4 * math.sqrt(2 / graphs)


@pytest.mark.parametrize("kind", EXACT)
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


@pytest.mark.parametrize("kind", ["scale-free", "scale-free-replaced", "regulatory"])
def test_some_graphs_have_hubs(kind):
    generator = np.random.default_rng(6)
    most = {one: np.mean([GRAPHS[one](100, 200, generator=generator).sum(1).max() for _ in range(30)]) for one in (kind, "erdos-renyi")}
    assert most[kind] > 1.5 * most["erdos-renyi"]


def test_parents_drawn_twice_make_fewer_edges():
    """Three variables with p = edges / 3. The last has Binomial(2, p) parents, two being one with chance 1/2; the second Binomial(1, p)."""
    generator, graphs = np.random.default_rng(9), 4000
    p = 0.8
    counts = np.array([simulate_scale_free_replaced(3, 3 * p, generator=generator).sum() for _ in range(graphs)])
    expected = 2 * p * (1 - p) + p * p * 1.5 + p
    assert expected < 3 * p - 0.3
    assert abs(counts.mean() - expected) < 4 * counts.std() / math.sqrt(graphs)


def test_small_worlds_are_clustered_until_they_are_rewired():
    """In a ring of distances 1 to k, 3 (k - 1) / (2 (2k - 1)) of the pairs of neighbours are joined: 0.5 for k = 2."""
    generator = np.random.default_rng(10)

    def clustering(rewired: float) -> float:
        return nx.average_clustering(nx.from_numpy_array(simulate_small_world(200, 400, rewired=rewired, generator=generator)).to_undirected())

    assert clustering(0.0) == pytest.approx(0.5)
    assert 0.3 < clustering(0.1) < 0.45
    assert clustering(1.0) < 0.1
    ring = simulate_small_world(200, 400, rewired=0.0, generator=generator)
    assert set((ring.sum(0) + ring.sum(1)).tolist()) == {4}


@pytest.mark.parametrize("rewired", [0.0, 0.3, 1.0])
def test_rewiring_loses_no_edge(rewired):
    generator = np.random.default_rng(11)
    assert {int(simulate_small_world(9, edges, rewired=rewired, generator=generator).sum()) for edges in (9, 18, 27, 36)} == {9, 18, 27, 36}


def test_blocks_are_denser_inside():
    """Two blocks of about 100: an even division of edges would leave half of them between; a tenth of the chance leaves one in eleven."""
    generator = np.random.default_rng(12)
    adjacency = simulate_stochastic_block(200, 1000, blocks=2, between=0.1, generator=generator)
    joined = (adjacency | adjacency.T).astype(float)
    side = np.linalg.eigh(joined)[1][:, -2] > 0  # the second eigenvector tells two blocks apart
    across = adjacency[side][:, ~side].sum() + adjacency[~side][:, side].sum()
    assert 60 < side.sum() < 140
    assert across / adjacency.sum() == pytest.approx(1 / 11, abs=0.04)


@pytest.mark.parametrize(("variables", "edges"), [(2, 1), (7, 9), (40, 100)])
def test_bipartite_graphs_have_two_layers(variables, edges):
    adjacency = simulate_bipartite(variables, edges, generator=np.random.default_rng(13))
    assert not (adjacency.any(0) & adjacency.any(1)).any()
    assert adjacency.any(1).sum() <= variables // 2


@pytest.mark.parametrize(("variables", "edges"), [(2, 1), (7, 8), (40, 100)])
def test_layered_graphs_join_each_layer_to_the_next(variables, edges):
    adjacency = simulate_layered(variables, edges, generator=np.random.default_rng(13)).astype(int)
    assert not (adjacency @ adjacency @ adjacency).any()
    assert not (adjacency.astype(bool) & (adjacency @ adjacency).astype(bool)).any()
    assert (adjacency @ adjacency).any() == (variables > 2)


def test_two_layers_have_room_for_a_quarter_of_the_square():
    with pytest.raises(DataError, match="must lie between 0 and 12; found 13"):
        simulate_bipartite(7, 13, generator=np.random.default_rng(14))


def test_few_regulators_have_all_targets_mostly_of_their_module():
    generator = np.random.default_rng(15)
    adjacency = simulate_regulatory(200, 400, regulators=0.1, module=20, between=0.05, generator=generator)
    assert adjacency.any(1).sum() <= 20
    children = adjacency[adjacency.any(1)].astype(float)
    overlap = children @ children.T / np.minimum.outer(children.sum(1), children.sum(1))
    shared = overlap[np.triu_indices(len(children), 1)]
    assert (shared > 0.3).mean() > 0.03  # regulators of one module
    assert np.median(shared) < 0.15  # of two
    assert simulate_regulatory(10, 45, generator=generator).sum() == 45  # as many regulators as the edges need
