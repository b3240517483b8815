"""The layered layout: causes above effects, nothing overlaps, and edges run through no box but their own two."""

import numpy as np
import pytest

from seacausal.report.layout import _count_crossings, _isotonic, edge_curves, feedback_edges, layout_layers, rounded_boxes


def random_dag(d: int, e: int, seed: int) -> np.ndarray:
    """(d, d) bool, `adjacency[i, j]` is i -> j."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(np.ones((d, d), bool), 1))
    order = rng.permutation(d)
    adjacency = np.zeros((d, d), bool)
    adjacency[tuple(order[pairs[rng.permutation(len(pairs))[:e]]].T)] = True
    return adjacency


GRAPHS = [
    random_dag(d, e, seed) for seed, (d, e) in enumerate([(2, 1), (5, 4), (11, 17), (20, 30), (20, 12), (30, 90), (50, 70), (50, 200), (120, 100)])
]


@pytest.mark.parametrize("adjacency", GRAPHS, ids=lambda a: f"{len(a)}-{a.sum()}")
def test_a_dag_is_drawn_downwards(adjacency):
    layout = layout_layers(adjacency)
    assert (layout.edges == np.argwhere(adjacency)).all()
    assert not layout.feedback.any()
    layer = layout.positions[:, 1]
    assert (layer == layer.round()).all()
    assert layer.min() == 0
    for (cause, effect), bends in zip(layout.edges, layout.bends):
        assert layer[cause] < layer[effect]
        assert bends[:, 1].tolist() == list(range(int(layer[cause]) + 1, int(layer[effect])))


@pytest.mark.parametrize("adjacency", GRAPHS, ids=lambda a: f"{len(a)}-{a.sum()}")
def test_boxes_are_apart_and_edges_touch_only_their_own(adjacency):
    d = len(adjacency)
    widths = np.random.default_rng(d).uniform(20, 90, d)
    layout = layout_layers(adjacency, widths=widths)
    scale, height = (1.3, 60.0), 17.0
    centres = layout.positions * scale
    side_by_side = np.abs(centres[:, None, 1] - centres[None, :, 1]) < height
    gaps = np.abs(centres[:, None, 0] - centres[None, :, 0]) - (widths[:, None] + widths) / 2
    assert (gaps[side_by_side & ~np.eye(d, dtype=bool)] > 5).all()
    curves, tips = edge_curves(layout, centres, scale, widths, height, 5.0)
    for (cause, effect), curve, (tip, direction) in zip(layout.edges, curves, tips):
        inside = (np.abs(curve[:, None] - centres) < np.column_stack([widths / 2, np.full(d, height / 2 - 1e-6)])).all(2)
        assert not inside.any()
        assert np.abs(curve[0] - centres[cause])[1] == pytest.approx(height / 2)
        assert np.abs(tip - centres[effect])[1] == pytest.approx(height / 2)
        assert abs(tip[0] - centres[effect, 0]) < widths[effect] / 2
        assert tip - 5 * direction == pytest.approx(curve[-1])
        assert (np.diff(curve[:, 1]) >= 0).all()


def test_the_same_graph_gives_the_same_layout():
    first, second = layout_layers(GRAPHS[6]), layout_layers(GRAPHS[6].copy())
    assert (first.positions == second.positions).all()
    assert all((a == b).all() for a, b in zip(first.bends, second.bends))


@pytest.mark.parametrize("d", [0, 1, 2, 7])
def test_a_graph_without_edges(d):
    layout = layout_layers(np.zeros((d, d), bool))
    assert layout.positions.shape == (d, 2)
    assert layout.bends == ()
    assert len(np.unique(layout.positions, axis=0)) == d


def test_the_weakest_edge_of_a_cycle_runs_upwards():
    weights = np.zeros((4, 4))
    for (cause, effect), weight in {(0, 1): 0.9, (1, 2): 0.8, (2, 3): 0.3, (3, 0): 0.7}.items():
        weights[cause, effect] = weight
    layout = layout_layers(weights > 0, weights)
    assert layout.edges[layout.feedback].tolist() == [[2, 3]]
    assert layout.positions[:, 1].tolist() == [1, 2, 3, 0]
    (bends,) = (chain for chain, upwards in zip(layout.bends, layout.feedback) if upwards)
    assert bends[:, 1].tolist() == [2, 1]
    curves, tips = edge_curves(layout, layout.positions * (1, 50), (1, 50), np.full(4, 40.0), 17, 5)
    up = int(np.flatnonzero(layout.feedback)[0])
    assert curves[up][0, 1] > curves[up][-1, 1]
    assert tips[up, 1, 1] < 0


@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_without_feedback_edges_is_acyclic_and_maximal(seed):
    rng = np.random.default_rng(seed)
    adjacency = (rng.random((9, 9)) < 0.3) & ~np.eye(9, dtype=bool)
    edges = np.argwhere(adjacency)
    feedback = feedback_edges(edges, rng.random(len(edges)), 9)
    kept = np.zeros((9, 9))
    kept[tuple(edges[~feedback].T)] = 1
    closure = np.linalg.matrix_power(np.eye(9) + kept, 9) > 0
    assert not (closure & closure.T & ~np.eye(9, dtype=bool)).any()
    assert all(closure[effect, cause] for cause, effect in edges[feedback])
    layer = layout_layers(adjacency).positions[:, 1]
    layout = layout_layers(adjacency)
    assert ((layer[layout.edges[:, 0]] > layer[layout.edges[:, 1]]) == layout.feedback).all()


def test_self_loops_are_ignored():
    assert layout_layers(np.eye(3, dtype=bool)).edges.shape == (0, 2)


def test_a_tree_is_drawn_without_crossings():
    adjacency = np.zeros((31, 31), bool)
    order = np.random.default_rng(0).permutation(31)
    for child in range(1, 31):
        adjacency[order[(child - 1) // 2], order[child]] = True
    layout = layout_layers(adjacency)
    ends = layout.positions[layout.edges]
    for first in ends:
        for second in ends:
            if (first[:, 1] == second[:, 1]).all():
                assert (first[0, 0] - second[0, 0]) * (first[1, 0] - second[1, 0]) >= 0


def test_the_effects_of_a_hub_make_a_block_and_not_a_line():
    adjacency = np.zeros((60, 60), bool)
    adjacency[0, 1:] = True
    layers = np.bincount(layout_layers(adjacency).positions[:, 1].astype(int))
    assert layers[0] == 1
    assert layers.max() <= 12


@pytest.mark.parametrize("seed", range(20))
def test_crossings_against_all_pairs(seed):
    rng = np.random.default_rng(seed)
    place = rng.permutation(24).astype(float)
    upper, lower = rng.integers(0, 24, (2, 30))
    expected = sum((place[upper[a]] - place[upper[b]]) * (place[lower[a]] - place[lower[b]]) < 0 for a in range(30) for b in range(a))
    assert _count_crossings(place, upper, lower) == expected


def test_isotonic_regression():
    assert _isotonic(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist() == [1.0, 2.5, 2.5, 4.0]
    assert _isotonic(np.array([3.0, 0.0, 0.0]), np.array([2.0, 1.0, 1.0])).tolist() == [1.5] * 3


def test_rounded_boxes_have_their_size():
    (outline,) = rounded_boxes(np.array([[10.0, 20.0]]), np.array([30.0]), 8.0)
    assert outline.max(0) == pytest.approx([25, 24])
    assert outline.min(0) == pytest.approx([-5, 16])
