import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import seacausal
from seacausal import DataError, Dataset, Simulation, discover, simulate_dataset
from seacausal.data import EdgeProbabilities
from seacausal.graph.metrics import score_average_precision
from seacausal.result import Link


@pytest.fixture(scope="module")
def chain():
    """Three linear effects of one another, a nonlinear one and a bystander."""
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, 2000)
    b = a + 0.4 * rng.standard_normal(2000)
    c = np.tanh(2 * b) + 0.3 * rng.standard_normal(2000)
    d = a - c + 0.3 * rng.standard_normal(2000)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": rng.standard_normal(2000)})


def test_finds_the_chain(chain):
    graph = discover(chain)
    assert {edge[:2] for edge in graph.edges()} == {("a", "b"), ("b", "c"), ("a", "d"), ("c", "d")}
    assert graph.names == tuple(chain.columns)


def test_probabilities_are_probabilities(chain):
    p = discover(chain).probabilities
    assert p.shape == (5, 5)
    assert (np.diag(p) == 0).all()
    assert (p >= 0).all()
    assert (p + p.T <= 1 + 1e-12).all()


def test_frames_arrays_and_files_give_the_same(chain, tmp_path):
    expected = discover(chain).probabilities
    chain.to_csv(tmp_path / "t.csv", index=False)
    chain.to_parquet(tmp_path / "t.parquet")
    assert np.array_equal(discover(pl.from_pandas(chain)).probabilities, expected)
    assert np.array_equal(discover(chain.to_numpy(), names=list(chain.columns)).probabilities, expected)
    assert np.array_equal(discover(tmp_path / "t.parquet").probabilities, expected)
    np.testing.assert_allclose(discover(tmp_path / "t.csv").probabilities, expected, atol=1e-9)


@pytest.mark.parametrize(("columns", "subsets"), [(5, 20), (9, 0)])
def test_permuting_columns_permutes_the_result(columns, subsets):
    """With five variables there is one subset whatever their order; beyond, the sampler sees other subsets, so estimates are left out."""
    dataset = simulate_dataset(Simulation(variables=columns, edges=columns, observational_rows=3000), generator=np.random.default_rng(3))
    order = np.random.default_rng(1).permutation(columns)
    straight = discover(dataset.values, subsets=subsets).probabilities
    permuted = discover(dataset.values[:, order], subsets=subsets).probabilities
    np.testing.assert_allclose(permuted, straight[np.ix_(order, order)], atol=2e-5)
    assert np.abs(permuted - straight).max() > 0.1


def test_rescaling_a_column_changes_nothing_where_variances_are_off(chain):
    rescaled = chain.assign(b=chain["b"] * 1024.0, d=chain["d"] / 64 + 3)
    np.testing.assert_allclose(discover(rescaled, scale=False).probabilities, discover(chain, scale=False).probabilities, atol=1e-5)
    assert np.abs(discover(rescaled).probabilities - discover(chain).probabilities).max() > 1e-3
    pair = discover(chain[["a", "b"]]).probabilities
    np.testing.assert_allclose(discover(rescaled[["a", "b"]]).probabilities, pair, atol=1e-5)
    assert np.array_equal(discover(chain[["a", "b"]], scale=False).probabilities, pair)
    assert np.array_equal(discover(chain[["a", "b"]].assign(c=7.0)).probabilities[:2, :2], pair)


def test_the_seed_and_nothing_else_decides(chain):
    wide = pd.concat([chain, chain.add_suffix("2").sample(frac=1, random_state=0, ignore_index=True)], axis=1)
    first, again, parallel = discover(wide, seed=1), discover(wide, seed=1), discover(wide, seed=1, workers=1)
    assert np.array_equal(first.probabilities, again.probabilities)
    assert np.array_equal(first.probabilities, parallel.probabilities)
    assert not np.array_equal(first.probabilities, discover(wide, seed=2).probabilities)


def test_interventions_orient_what_observation_cannot():
    """Linear Gaussian pairs of equal variance have no direction in observational data; perfect interventions give it."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal(3000)
    y = 0.8 * x + 0.6 * rng.standard_normal(3000)
    target = np.array([""] * 2000 + ["x"] * 500 + ["y"] * 500, dtype=object)
    x[2000:2500] = rng.standard_normal(500) + 2
    y[2000:2500] = 0.8 * x[2000:2500] + 0.6 * rng.standard_normal(500)
    y[2500:] = rng.standard_normal(500) + 2
    frame = pd.DataFrame({"x": x, "y": y, "who": target})
    graph = discover(frame, interventions="who")
    assert graph.probabilities[0, 1] > 0.9
    assert graph.names == ("x", "y")
    assert graph.dataset["intervened variables"] == ["x", "y"]
    assert discover(frame[["x", "y"]][:2000]).probabilities[0, 1] < 0.9


def test_constant_columns_get_no_edges_and_copies_are_named(chain):
    close = chain["c"].round(2)
    frame = chain.assign(flat=7.0, copy=-2 * chain["a"] + 1, mixture=chain["b"] + chain["c"], close=close)
    graph = discover(frame)
    assert graph.degenerate.constant == ("flat",)
    assert graph.degenerate.duplicate == (("copy", "a"),)
    assert graph.degenerate.dependent == (("mixture", ("b", "c")),)
    assert graph.degenerate.alike == (("close", "c"),)
    assert "Columns that are nearly the same: close and c." in " ".join(graph.notes())
    assert graph.summary()["notes"] == graph.notes()
    at = graph.names.index("flat")
    assert (graph.probabilities[at] == 0).all()
    assert (graph.probabilities[:, at] == 0).all()
    assert np.isfinite(graph.probabilities).all()


def test_classes_of_another_column_are_named(chain):
    grade = np.digitize(-chain["b"], [-1.0, 0.5])
    frame = chain.assign(
        grade=grade, noisy=np.digitize(chain["b"] + 0.3 * chain["c"], [-1.0, 1.0]), rare=np.arange(len(chain)) == chain["a"].argmax()
    )
    graph = discover(frame)
    assert graph.degenerate.classes == (("grade", "b"),)
    assert "Columns that hold the classes of another: grade of b." in " ".join(graph.notes())


def test_graphs_are_compared_by_identity_and_drawn_at_probabilities_alone(chain):
    graph = discover(chain)
    assert graph == graph
    assert graph != discover(chain)
    assert len({graph, discover(chain)}) == 2
    for threshold in (2.0, -1.0, float("nan"), "half"):
        with pytest.raises(DataError, match="threshold"):
            graph.plot(threshold)


def test_all_columns_constant_is_an_empty_graph():
    graph = discover(np.ones((50, 3)))
    assert graph.edges(0.0) == []
    assert len(graph.degenerate.constant) == 3


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_few_variables_need_no_subsets(columns, chain):
    graph = discover(chain.iloc[:, :columns])
    assert ("a", "b") in {edge[:2] for edge in graph.edges(0.3)}


def test_more_variables_than_rows():
    graph = discover(np.random.default_rng(0).standard_normal((40, 60)))
    assert np.isfinite(graph.probabilities).all()
    assert len(graph.edges()) < 20


def test_saving_writes_the_same_bytes(chain, tmp_path):
    first = {path.name: path.read_bytes() for path in discover(chain, seed=3).save(tmp_path / "one")}
    second = {path.name: path.read_bytes() for path in discover(chain, seed=3).save(tmp_path / "two")}
    assert sorted(first) == ["edges.csv", "graph.graphml", "graph.html", "graph.png", "result.json"]
    assert first == second
    summary = json.loads(first["result.json"])
    assert summary["configuration"]["seed"] == 3
    assert summary["data"]["rows"] == 2000
    assert len(summary["weights sha256"]) == 64


def test_networkx_has_all_variables_and_the_edges(chain):
    graph = discover(chain)
    exported = graph.to_networkx()
    assert set(exported) == set(chain.columns)
    assert {(c, e): d["probability"] for c, e, d in exported.edges(data=True)} == {edge[:2]: edge.probability for edge in graph.edges()}


def test_networkx_without_cycles_joins_what_either_direction_does():
    tell = np.array([[0, 0.48, 0.0], [0.47, 0, 0.7], [0.6, 0.2, 0]])
    graph = replace(discover(np.random.default_rng(0).standard_normal((50, 3))), estimate=EdgeProbabilities(tell, ("a", "b", "c")))
    assert set(graph.to_networkx().edges) == {("b", "c"), ("c", "a")}
    assert set(graph.to_networkx(acyclic=True).edges) == {("b", "c"), ("c", "a"), ("b", "a")}
    assert set(graph.to_networkx(0.99, acyclic=True)) == {"a", "b", "c"}


def test_edges_are_sorted_and_follow_the_threshold(chain):
    graph = discover(chain, threshold=0.9)
    everything = graph.edges(0.0)
    assert len(everything) == 20
    assert [e.probability for e in everything] == sorted((e.probability for e in everything), reverse=True)
    assert all(edge.probability > 0.9 for edge in graph.edges())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"treshold": 0.5}, "found treshold"),
        ({"threshold": 1.5}, r"`threshold` must be .* found 1\.5"),
        ({"subsets": -1}, "`subsets` must lie"),
        ({"rows": 3}, "`rows` must lie"),
        ({"workers": 0}, "`workers` must lie"),
        ({"seed": -1}, "`seed` must be"),
        ({"seed": "1"}, "`seed` must be a whole number; found '1'"),
        ({"subsets": 1.5}, "`subsets` must be a whole number"),
        ({"threshold": "high"}, "`threshold` must be"),
        ({"threshold": float("nan")}, "`threshold` must be"),
        ({"scale": "no"}, "`scale` must be True or False"),
        ({"aggregator": "tiny"}, "`aggregator` must be one of base, resolve, vote; found 'tiny'"),
        ({"algorithm": "notears"}, "`algorithm` must be one of fci, .*; found 'notears'"),
        ({"statistic": "mutual-information"}, "`statistic` must be one of partial-correlation, .*; found 'mutual-information'"),
        ({"sampler": "grid"}, "`sampler` must be one of mixture, .*; found 'grid'"),
        ({"sampler": "uncertainty", "aggregator": "vote"}, "'uncertainty' needs the network; found `aggregator` = 'vote'"),
        ({"aggregator": "vote", "subsets": 0}, "'vote' needs local estimates; found `subsets` = 0"),
        ({"aggregator": "vote", "network": object()}, "`network` must not be given with the aggregator 'vote'"),
        ({"config": "run.toml"}, "`config` must be a DiscoverConfig"),
    ],
)
def test_options_are_checked(chain, options, message):
    with pytest.raises(DataError, match=message):
        discover(chain, **options)


def test_numpy_scalars_are_options_too(chain, tmp_path):
    graph = discover(chain, seed=np.int64(3), threshold=np.float32(0.5), scale=np.True_)
    graph.save(tmp_path)
    with pytest.raises(DataError, match="`threshold` must be"):
        graph.edges(-1)
    with pytest.raises(DataError, match="path must be text"):
        graph.save(5)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-200, 2.0**800])
def test_a_common_unit_changes_nothing(chain, unit):
    np.testing.assert_allclose(discover(chain * unit).probabilities, discover(chain).probabilities, atol=1e-6)


def test_public_names_load():
    for name in seacausal.__all__:
        assert getattr(seacausal, name) is not None
    assert set(seacausal.__all__) <= set(dir(seacausal))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = seacausal.nonsense


@pytest.mark.parametrize("aggregator", ["vote", "resolve"])
def test_aggregators_without_a_network(aggregator, chain):
    """A chain a, b, c that could run either way, a collider c -> d <- e, and a constant column in front."""
    wide = chain.assign(c=0.9 * chain["b"] + 0.4 * chain["e"].sample(frac=1, random_state=0).to_numpy()).drop(columns="d")
    wide["d"] = wide["e"] - wide["c"] + 0.3 * np.random.default_rng(1).standard_normal(2000)
    wide.insert(0, "flat", 1.0)
    graph = discover(wide, aggregator=aggregator)
    p = graph.probabilities
    assert not p[0].any()
    assert not p[:, 0].any()
    joined = {(graph.names[i], graph.names[j]) for i, j in zip(*np.nonzero(p + p.T > 0.5)) if i < j}
    assert joined == {("a", "b"), ("b", "c"), ("c", "d"), ("e", "d")}
    assert {edge[:2] for edge in graph.edges(0.7)} == {("c", "d"), ("e", "d")}
    assert (p + p.T <= 1 + 1e-12).all()
    assert np.array_equal(discover(wide, aggregator=aggregator, scale=False, workers=1).probabilities, p)
    assert graph.weights is None
    summary = graph.summary()
    assert summary["configuration"]["aggregator"] == aggregator
    assert "weights sha256" not in summary
    assert "onnxruntime" not in summary["versions"]


def test_the_aggregators_differ(chain):
    found = [discover(chain, aggregator=name).probabilities for name in ("base", "vote", "resolve")]
    assert len({p.tobytes() for p in found}) == 3
    assert set(np.unique(found[2])) <= {0.0, 0.5, 1.0}
    assert np.array_equal(discover(chain).probabilities, found[0])


@pytest.mark.parametrize("aggregator", ["vote", "resolve"])
def test_without_a_network_five_columns_must_vary(aggregator, chain):
    with pytest.raises(DataError, match=f"'{aggregator}' needs subsets of five columns that vary; found 4"):
        discover(chain.assign(e=0.0), aggregator=aggregator)


def test_a_dataset_may_be_given_directly():
    dataset = simulate_dataset(Simulation(variables=6, edges=6, targets=6, regime_rows=50), generator=np.random.default_rng(0))
    assert isinstance(dataset, Dataset)
    assert discover(dataset).dataset["intervened rows"] == 300


@pytest.mark.parametrize("algorithm", ["pc", "exact", "lingam"])
def test_another_algorithm_moves_the_prediction_a_little(algorithm):
    dataset = simulate_dataset(Simulation(variables=8, edges=10), generator=np.random.default_rng(4))
    usual, found = discover(dataset).probabilities, discover(dataset, algorithm=algorithm).probabilities
    assert not np.array_equal(usual, found)
    assert np.abs(usual - found).mean() < 0.05
    votes = discover(dataset, algorithm=algorithm, aggregator="vote").probabilities
    assert score_average_precision(dataset.adjacency, votes) > 0.5


@pytest.mark.parametrize("statistic", ["spearman", "distance-correlation"])
def test_another_statistic_guides_the_sampler(statistic):
    dataset = simulate_dataset(Simulation(variables=9, edges=12), generator=np.random.default_rng(7))
    usual, found = discover(dataset, subsets=10).probabilities, discover(dataset, subsets=10, statistic=statistic).probabilities
    assert not np.array_equal(usual, found)
    assert score_average_precision(dataset.adjacency, found) > 0.8


@pytest.mark.parametrize("sampler", ["random", "statistic", "uncertainty", "program"])
def test_every_sampler_serves(sampler):
    dataset = simulate_dataset(Simulation(variables=7, edges=9), generator=np.random.default_rng(5))
    usual, found = discover(dataset, subsets=15).probabilities, discover(dataset, subsets=15, sampler=sampler).probabilities
    assert not np.array_equal(usual, found)
    assert np.array_equal(found, discover(dataset, subsets=15, sampler=sampler, workers=1).probabilities)
    assert score_average_precision(dataset.adjacency, found) > 0.8


def test_subsets_without_free_rows_are_counted_and_refused_where_nothing_else_counts():
    """Five regimes of forty rows and no control: every row acts on a variable of the only subset there is."""
    fields = {"variables": 5, "edges": 5, "observational_rows": 0, "targets": 5, "regime_rows": 40}
    dataset = simulate_dataset(Simulation(**fields), generator=np.random.default_rng(6))
    assert discover(dataset, subsets=4).summary()["data"]["subsets"] == {"drawn": 4, "without free rows": 4}
    assert discover(dataset, subsets=4, algorithm="gies", aggregator="resolve").edges(0.4)
    for options in ({"algorithm": "pc"}, {"aggregator": "resolve"}):
        with pytest.raises(DataError, match=r"found fewer in 4 of 4 subsets\. Choose 'gies'"):
            discover(dataset, subsets=4, **options)


def test_a_graph_shows_itself_in_a_line(chain):
    graph = discover(chain)
    assert repr(graph) == f"CausalGraph(5 variables, {len(graph.edges())} edges above 0.5)"


def test_pairs_in_an_open_direction_are_links(chain):
    direct = np.zeros((5, 5))
    direct[[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]] = [0.3, 0.5, 0.6, 0.4, 0.4, 0.4]
    graph = discover(chain)
    graph = replace(graph, estimate=replace(graph.estimate, direct=direct))
    a, b, _, d, e = graph.names
    assert graph.undecided() == [Link(b, a, 0.8), Link(d, e, 0.8)]
    assert [edge[:2] for edge in graph.edges()] == [(b, graph.names[2])]
    assert {frozenset(link[:2]) for link in graph.undecided(0.7)} == {frozenset((a, b)), frozenset((d, e)), frozenset(graph.names[1:3])}
    with pytest.raises(DataError, match="threshold"):
        graph.undecided(1.5)
