"""The picture of a simulated data set."""

from dataclasses import replace

import numpy as np
import pytest

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.report.plots import render_png
from seacausal.report.truth import POINTS_SHOWN, plot_dataset, spread_edges
from seacausal.simulate.dataset import Simulation, simulate_dataset


def example(**fields) -> Dataset:
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(3))


def test_edges_are_spread_over_the_effects():
    adjacency = np.zeros((5, 5), bool)
    adjacency[[0, 1, 2, 3], 4] = True
    adjacency[0, [1, 2]] = True
    assert spread_edges(adjacency, 3) == [(0, 1), (0, 2), (0, 4)]
    assert spread_edges(adjacency, 4) == [(0, 1), (0, 2), (0, 4), (1, 4)]
    assert len(spread_edges(adjacency, 99)) == 6
    assert all(adjacency[i, j] for i, j in spread_edges(adjacency, 99))
    assert spread_edges(np.zeros((5, 5), bool), 3) == []


def test_panels_show_effects_over_causes():
    dataset = example(variables=6, edges=8, observational_rows=4000, targets=6, regime_rows=50)
    figure = plot_dataset(dataset, pairs=4)
    panels = figure.axes[1:]
    edges = spread_edges(dataset.adjacency, 4)
    assert [panel.get_title() for panel in panels] == [f"X{i + 1} → X{j + 1}" for i, j in edges]
    targeted = dataset.targets[dataset.regime]
    for panel, (cause, effect) in zip(panels, edges):
        free, cut, hit = (line.get_xydata() for line in panel.lines)
        assert len(free) == POINTS_SHOWN
        np.testing.assert_array_equal(cut, dataset.values[targeted[:, cause]][:, [cause, effect]])
        np.testing.assert_array_equal(hit, dataset.values[targeted[:, effect]][:, [cause, effect]])


@pytest.mark.parametrize(
    "fields",
    [
        {"edges": 0},
        {"variables": 2, "edges": 1, "observational_rows": 1},
        {"variables": 60, "edges": 300, "observational_rows": 50},
        {"measurement": "missing"},
        {"intervention": "knock-out", "targets": 10, "regime_rows": 1},
    ],
)
def test_any_data_set_has_a_picture_always_the_same(fields):
    first, again = (render_png(plot_dataset(example(**fields))) for _ in range(2))
    assert first == again
    assert first.startswith(b"\x89PNG")


def test_without_a_graph_there_is_no_picture():
    with pytest.raises(DataError, match="must be known to be drawn"):
        plot_dataset(replace(example(), adjacency=None))
