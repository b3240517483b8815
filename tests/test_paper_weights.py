"""`discover` with weights of the paper's network."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from seacausal import DataError, Simulation, discover, simulate_dataset
from seacausal.aggregate.axial import Paper, PaperConfig
from seacausal.aggregate.export_axial import export_paper
from seacausal.aggregate.network import FOLDER, PaperNetwork
from seacausal.graph.metrics import score_average_precision
from seacausal.train.release import write_network
from seacausal.views import view_marginals


def write_weights(path, algorithm="fci", statistic="inverse-covariance"):
    torch.manual_seed(1)
    model = Paper(PaperConfig(width=16, blocks=2, heads=2, hidden=16, variables=12, subsets=120))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 0, 0.3)
    write_network(path, model, export_paper(model.eval(), algorithm, statistic))
    return path


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return str(write_weights(tmp_path_factory.mktemp("weights") / "small.onnx"))


@pytest.fixture(scope="module")
def dataset():
    return simulate_dataset(Simulation(variables=8, edges=10, targets=8, regime_rows=200), generator=np.random.default_rng(4))


def test_the_weights_say_which_algorithm_and_statistic(weights, dataset, tmp_path):
    graph = discover(dataset, weights=weights, seed=5)
    views = view_marginals(dataset, 100, algorithm="fci", statistic="inverse-covariance", seed=5)
    subsets, estimates = views.local
    expected = PaperNetwork(Path(weights)).predict(views.channels["inverse-covariance"], subsets, estimates.marks, seed=5)
    np.testing.assert_allclose(graph.probabilities, expected, atol=1e-6)
    assert (graph.config.algorithm, graph.config.statistic) == ("fci", "inverse-covariance")
    summary = json.loads(graph.save(tmp_path)[2].read_text())
    assert summary["configuration"]["weights"] == weights
    assert summary["weights sha256"] == PaperNetwork(Path(weights)).sha256
    other = str(write_weights(tmp_path / "gies.onnx", "gies", "correlation"))
    assert discover(dataset, weights=other).config.algorithm == "gies"
    assert discover(dataset, weights=other, algorithm="pc").config.algorithm == "pc"


@pytest.mark.parametrize("options", [{"algorithm": "gies"}, {"statistic": "correlation"}, {"sampler": "random"}, {"scale": False}, {"seed": 1}])
def test_every_option_has_its_part(weights, dataset, options):
    usual, found = discover(dataset, weights=weights, subsets=20), discover(dataset, weights=weights, subsets=20, **options)
    assert not np.array_equal(usual.probabilities, found.probabilities)
    assert np.array_equal(found.probabilities, discover(dataset, weights=weights, subsets=20, workers=1, **options).probabilities)


def test_units_play_no_part_where_variances_may_not(weights, dataset):
    values = dataset.values * np.array([1, 2, 4, 0.5, 1, 8, 1, 1])
    first, second = (discover(table, weights=weights, scale=False).probabilities for table in (dataset.values, values))
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert np.abs(discover(values, weights=weights).probabilities - discover(dataset.values, weights=weights).probabilities).max() > 1e-3


def test_the_uncertainty_of_the_prediction_guides_the_sampler(weights, dataset):
    assert discover(dataset, weights=weights, subsets=30, sampler="uncertainty").dataset["subsets"]["drawn"] == 30


def test_constant_columns_get_no_edges(weights, dataset):
    values = np.insert(dataset.values, 2, 7.0, axis=1)
    p = discover(values, weights=weights).probabilities
    assert not p[2].any()
    assert not p[:, 2].any()
    assert (p[np.ix_([0, 1, 3], [0, 1, 3])] + np.eye(3) > 0).all()


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (13, {}, "'small' hold embeddings of 12 variables at most; found 13. Use the weights 'base'"),
        (8, {"subsets": 121}, "embeddings of 120 subsets at most; found 121"),
        (8, {"subsets": 0}, "'small' need subsets of 5 columns that vary; found 8 such columns and `subsets` = 0"),
        (4, {}, "found 4 such columns"),
        (8, {"aggregator": "vote"}, "`weights` must not be given with the aggregator 'vote'"),
    ],
)
def test_what_does_not_fit_is_refused(weights, columns, options, message):
    with pytest.raises(DataError, match=message):
        discover(np.random.default_rng(0).standard_normal((200, columns)), weights=weights, **options)


@pytest.mark.parametrize("weights", ["basis", 5])
def test_unknown_weights_are_refused(weights, dataset):
    with pytest.raises(DataError, match=f"`weights` must be .*found '?{weights}"):
        discover(dataset, weights=weights)


def test_base_is_the_default(dataset):
    assert np.array_equal(discover(dataset, weights="base").probabilities, discover(dataset).probabilities)


@pytest.mark.parametrize(("name", "interventional"), [("base-paper", False), ("base-paper", True), ("paper-fci", False), ("paper-gies", True)])
def test_released_weights_find_linear_graphs(name, interventional):
    rows = {"observational_rows": 900, "targets": 10, "regime_rows": 900} if interventional else {"observational_rows": 10_000}
    scores = []
    for seed in range(3):
        drawn = simulate_dataset(Simulation(10, 10, mechanisms=("linear",), **rows), generator=np.random.default_rng(seed))
        scores.append(score_average_precision(drawn.adjacency, discover(drawn, weights=name).probabilities))
    assert np.mean(scores) > 0.9


def test_released_weights_stay_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 10e6
