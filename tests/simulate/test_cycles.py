"""Feedback against its closed form and against equations that are followed until they settle."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.cli import main
from seacausal.errors import DataError
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.metrics import check_acyclic, is_acyclic
from seacausal.graph.sortability import score_r2_sortability, score_varsortability
from seacausal.io.layout import write_layout
from seacausal.io.npz import read_datasets
from seacausal.simulate import dataset as module
from seacausal.simulate.cycles import LIMIT, close_cycles, draw_coefficients, solve_equilibrium
from seacausal.simulate.dataset import Simulation, simulate_dataset, topological_order
from seacausal.simulate.interventions import PERFECT

LOOP = np.array([[0, 0.8, 0, 0], [0, 0, 0.7, 0], [0, -0.6, 0, 0.9], [0, 0, 0, 0]])
"""0 -> 1, 1 -> 2 -> 1, 2 -> 3."""


def simulate(seed, **fields):
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(seed))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0, 0.6), st.integers(0, 30))
def test_each_further_edge_closes_a_cycle(seed, d, density, cycles):
    generator = np.random.default_rng(seed)
    order = generator.permutation(d)
    dag = np.triu(generator.random((d, d)) < density, 1)[np.ix_(order, order)]
    before = dag.copy()
    closed = close_cycles(dag, cycles, generator=generator)
    np.testing.assert_array_equal(dag, before)
    assert (closed | dag == closed).all()
    graph = nx.DiGraph(dag)
    further = np.argwhere(closed & ~dag)
    assert all(nx.has_path(graph, effect, cause) and cause != effect for cause, effect in further.tolist())
    descendants = sum(len(nx.descendants(graph, v)) for v in graph)
    assert len(further) == min(cycles, descendants)
    longer = close_cycles(dag, cycles, mutual=False, generator=generator)
    assert not (longer & longer.T).any()
    assert (longer & ~dag).sum() == min(cycles, descendants - dag.sum())


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 10), st.integers(1, 12))
def test_equations_settle_whatever_is_cut(seed, d, cycles):
    generator = np.random.default_rng(seed)
    graph = close_cycles(np.triu(generator.random((d, d)) < 0.6, 1), cycles, generator=generator)
    w = draw_coefficients(graph, (0.5, 2.0), generator=generator)
    assert ((w != 0) == graph).all()
    own = generator.standard_normal((4, d))
    for hit in (np.zeros(d, bool), generator.random(d) < 0.3):
        x, cut = np.zeros_like(own), np.where(hit, 0, w)
        assert np.abs(np.linalg.eigvals(cut)).max() < LIMIT + 1e-2  # a defective matrix's eigenvalues are found to the d-th root of the precision
        for _ in range(3000):
            x = x @ cut + own
        np.testing.assert_allclose(solve_equilibrium(w, own, hit), x, rtol=1e-8, atol=1e-8)
        np.testing.assert_array_equal(x[:, hit], own[:, hit])


def test_coefficients_stay_where_they_settle():
    generator = np.random.default_rng(0)
    graph = LOOP != 0
    drawn = np.abs([draw_coefficients(graph, (0.5, 0.8), generator=generator)[graph] for _ in range(500)])
    assert drawn.min() >= 0.5
    assert drawn.max() <= 0.8
    heavy = np.abs([draw_coefficients(graph, (2.0, 3.0), generator=generator)[graph] for _ in range(500)])
    edges = [tuple(edge) for edge in np.argwhere(graph).tolist()]
    for edge, sizes in zip(edges, heavy.T):
        assert (sizes >= 2).all() == (edge not in ((1, 2), (2, 1)))  # only the cycle shrinks
    np.testing.assert_allclose(np.sqrt(heavy[:, edges.index((1, 2))] * heavy[:, edges.index((2, 1))]), LIMIT)


@pytest.fixture
def loop(monkeypatch):
    """Simulations of `LOOP`, whose noise has variance 0.16 times 1 to 2."""
    monkeypatch.setitem(module.GRAPHS, "fixed", lambda *_, **__: np.triu(LOOP != 0))
    monkeypatch.setattr(module, "close_cycles", lambda *_, **__: LOOP != 0)
    monkeypatch.setattr(module, "draw_coefficients", lambda *_, **__: LOOP)

    def draw(seed, **fields):
        return simulate(seed, variables=4, edges=3, graph="fixed", cycles=1, **fields)

    return draw


@pytest.mark.parametrize("law", ["gaussian", "exponential"])
def test_observational_moments_are_those_of_the_equilibrium(loop, law):
    n = 60_000
    values = loop(0, observational_rows=n, noise_law=law, noise_coefficient=1.0).values.astype(float)
    errors = values - values @ LOOP
    spread = errors.std(0)
    assert abs(spread[0] - 1 / np.sqrt(3)) < 0.01
    assert ((spread[1:] > 0.98) & (spread[1:] < np.sqrt(2) * 1.02)).all()
    correlation = np.corrcoef(errors.T)[np.triu_indices(4, 1)]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(n)
    spread_matrix = np.linalg.inv(np.eye(4) - LOOP)
    expected = spread_matrix.T @ np.diag(spread**2) @ spread_matrix
    np.testing.assert_allclose(np.cov(values.T), expected, atol=0.05)


@pytest.mark.parametrize("intervention", PERFECT)
def test_interventions_cut_the_edges_into_their_target_alone(loop, intervention):
    n = 20_000
    found = loop(1, observational_rows=n, targets=4, regime_rows=n, intervention=intervention)
    for regime, hit in enumerate(found.targets):
        values = found.values[found.regime == regime].astype(float)
        errors = values - values @ np.where(hit, 0, LOOP)
        moments = {"gaussian": (0, 1), "shifted": (2, 1), "uniform": (0, 3**-0.5), "knock-out": (0, 0)}
        for target in np.flatnonzero(hit):
            mean, spread = moments.get(intervention, (errors[0, target], 0))
            assert errors[:, target].mean() == pytest.approx(mean, abs=0.04)
            assert errors[:, target].std() == pytest.approx(spread, abs=0.03)
        varying = errors[:, errors.std(0) > 1e-6]
        correlation = np.corrcoef(varying.T) - np.eye(varying.shape[1])
        assert np.abs(correlation).max() < 4.5 / np.sqrt(n)
        assert (errors[:, ~hit].std(0)[1:] < 0.4 * np.sqrt(2) * 1.03).all()


@pytest.mark.parametrize("target", range(4))
def test_blocked_activity_changes_what_children_see_alone(target):
    generator = np.random.default_rng(target)
    own, hit = generator.standard_normal((50, 4)), np.arange(4) == target
    values = module._block_activity(LOOP, own, hit, own.std(0), generator)
    missing = own - (values - values @ LOOP)  # w (x - a (x + b)) of the target, for its children
    children = LOOP[target] != 0
    np.testing.assert_allclose(missing[:, ~children], 0, atol=1e-12)
    for child in np.flatnonzero(children):
        slope, offset = np.polyfit(values[:, target], missing[:, child] / LOOP[target, child], 1)
        np.testing.assert_allclose(missing[:, child] / LOOP[target, child], slope * values[:, target] + offset, atol=1e-9)
        assert 0.5 <= slope <= 1
        assert abs(offset) <= 2 * (1 - slope) * own.std(0)[target]


def test_feedback_under_blocked_activity_is_drawn(loop):
    found = loop(2, observational_rows=20_000, targets=4, regime_rows=20_000, intervention="activity")
    for regime, hit in enumerate(found.targets):
        errors = found.values[found.regime == regime].astype(float) @ (np.eye(4) - LOOP)
        moved = np.abs(errors.mean(0)) > 0.03
        assert not moved[~LOOP[hit].any(0)].any()


def test_the_truth_is_kept_with_its_cycles(tmp_path):
    fields = {"variables": 8, "edges": 12, "cycles": 2, "targets": 8, "regime_rows": 5}
    plain, cyclic = (simulate(3, **(fields | {"cycles": k})) for k in (0, 2))
    assert (cyclic.adjacency & plain.adjacency == plain.adjacency).all()
    assert cyclic.adjacency.sum() == plain.adjacency.sum() + 2
    assert simulate(3, **fields).values.tobytes() == cyclic.values.tobytes()
    assert cyclic.values.dtype == np.float32
    assert main(["simulate", str(tmp_path / "c.npz"), "--cycles", "2", "--edges", "15", "--show", str(tmp_path / "c.png")]) == 0
    assert not is_acyclic(read_datasets(tmp_path / "c.npz")[0].adjacency)


def test_hidden_roots_stay_roots():
    for seed in range(20):
        found = simulate(seed, variables=6, edges=12, cycles=3, hidden=2)
        assert found.values.shape == (1000, 6)
        assert np.isfinite(found.values).all()
        assert not found.adjacency.diagonal().any()


def test_who_needs_a_dag_says_so(tmp_path, capsys):
    cyclic = simulate(3, variables=8, edges=12, cycles=2)
    for refuse in (
        lambda: topological_order(cyclic.adjacency),
        lambda: essential_graph(cyclic.adjacency),
        lambda: score_varsortability(cyclic.values, cyclic.adjacency),
        lambda: score_r2_sortability(cyclic.values, cyclic.adjacency),
        lambda: write_layout(tmp_path / "x", 1, observational=cyclic),
        lambda: check_acyclic(cyclic.adjacency, "here"),
    ):
        with pytest.raises(DataError, match="must be acyclic"):
            refuse()
    check_acyclic(simulate(3).adjacency, "here")
    assert not any(tmp_path.iterdir())
    assert main(["simulate", str(tmp_path / "c.npz"), "--cycles", "2", "--edges", "15"]) == 0
    assert main(["sortability", str(tmp_path / "c.npz")]) == 2
    assert "found a directed cycle" in capsys.readouterr().err
