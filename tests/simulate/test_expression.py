"""Simulated expression against closed forms, against the plain Euler-Maruyama method, and its interventions and technical noise."""

import time

import numpy as np
import pytest

from seacausal.errors import DataError
from seacausal.simulate.dataset import topological_order
from seacausal.simulate.expression import Expression, _draw_kinetics, simulate_expression
from seacausal.simulate.graphs import GRAPHS
from seacausal.simulate.technical import Technical, measure_cells


@pytest.fixture
def fix_graph(monkeypatch):
    def fix(variables, *edges):
        adjacency = np.zeros((variables, variables), bool)
        adjacency[tuple(np.transpose(edges))] = True
        monkeypatch.setitem(GRAPHS, "fixed", lambda *_, **__: adjacency)

    return fix


def simulate(seed, **fields):
    return simulate_expression(Expression(**fields), generator=np.random.default_rng(seed))


def within(found, expected, count, deviations=4.5):
    """A variance or covariance ratio of `count` nearly Gaussian draws."""
    assert found == pytest.approx(expected, rel=deviations * np.sqrt(2 / count))


@pytest.mark.parametrize("step", [0.02, 0.1, 0.5])
@pytest.mark.parametrize(("rate", "decay", "noise"), [(40.0, 0.8, 1.0), (100.0, 2.0, 0.5)])
def test_a_single_gene_has_its_closed_form(rate, decay, noise, step):
    # d Var / dt = -2 d Var + q^2 (P + d mean) = 0 with mean = P / d: the variance is q^2 P / d, exactly.
    cells = 30_000
    found = simulate(0, edges=0, variables=2, cell_types=1, cells=cells, rates=(rate, rate), decay=decay, noise=noise, step=step, logarithm=False)
    for level in found.values.astype(float).T:
        variance = noise**2 * rate / decay
        assert abs(level.mean() - rate / decay) < 4.5 * np.sqrt(variance / cells)
        within(level.var(), variance, cells)


@pytest.mark.parametrize("repressors", [0.0, 1.0])
@pytest.mark.parametrize("hill", [0.25, 0.5, 1.0, 1.5, 2.0, 4.0])
def test_a_cascade_has_its_linearised_moments(hill, repressors, fix_graph):
    # At x1 = h production is K / 2 with slope s = +-K n / (4 h). The Lyapunov equation of the linearised pair gives
    # Var1 = q^2 m1, Cov = s Var1 / (2 d), Var2 = q^2 m2 + s Cov / d.
    fix_graph(2, (0, 1))
    cells, decay, m1, m2 = 30_000, 0.8, 2000.0, 1500.0
    K = 2 * decay * m2
    fields = {"rates": (m1 * decay,) * 2, "strengths": (K, K), "repressors": repressors, "hill": hill, "decay": decay}
    found = simulate(1, graph="fixed", variables=2, edges=1, cell_types=1, cells=cells, logarithm=False, **fields).values.astype(float)
    slope = K * hill / (4 * m1) * (-1 if repressors else 1)
    covariance = slope * m1 / (2 * decay)
    variance = m2 + slope * covariance / decay
    np.testing.assert_allclose(found.mean(0), [m1, m2], rtol=4e-3)
    within(found[:, 0].var(), m1, cells)
    within(found[:, 1].var(), variance, cells, deviations=6)
    correlation = covariance / np.sqrt(m1 * variance)
    assert np.corrcoef(found.T)[0, 1] == pytest.approx(correlation, abs=6 / np.sqrt(cells))


def test_moments_are_those_of_small_euler_maruyama_steps(fix_graph):
    edges = ((0, 2), (1, 2), (2, 3), (1, 4), (3, 4))
    fix_graph(5, *edges)
    fields = {"graph": "fixed", "variables": 5, "edges": 5, "cell_types": 1, "rates": (20.0, 30.0), "strengths": (20.0, 40.0)}
    cells = 6000
    found = simulate(2, cells=cells, logarithm=False, **fields).values.astype(float)
    twin = euler_maruyama(Expression(**fields), seed=2, cells=cells)
    # Standard errors of the difference of two independent means and covariances.
    deviation = np.sqrt(found.var(0))
    assert (np.abs(found.mean(0) - twin.mean(0)) < 4.5 * deviation * np.sqrt(2 / cells) + 2e-3 * deviation).all()
    assert (np.abs(np.cov(found.T) - np.cov(twin.T)) < np.outer(deviation, deviation) * (4.5 * np.sqrt(4 / cells))).all()
    assert np.abs(np.corrcoef(found.T)[tuple(np.transpose(edges))]).min() > 0.1


def euler_maruyama(spec, *, seed, cells, step=0.01):
    """The equation as it is printed: a noise for production and one for decay, same graph and kinetics as `simulate_expression` draws."""
    order = topological_order(GRAPHS["fixed"]())
    adjacency = GRAPHS["fixed"]()[np.ix_(order, order)]
    generator = np.random.default_rng(seed)
    generator.choice(len(adjacency), 0, replace=False)
    basal, edges = _draw_kinetics(spec, adjacency, generator)
    x = np.tile(basal[0] / spec.decay + 10.0, (cells, 1))
    generator = np.random.default_rng([seed, 1])
    for _ in range(int(9 / spec.decay / step)):
        production = np.tile(basal[0], (cells, 1))
        for child in range(len(adjacency)):
            for e in range(edges.first[child], edges.first[child + 1]):
                level = x[:, edges.parent[e]]
                activated = level**spec.hill / (edges.half[e] ** spec.hill + level**spec.hill)
                production[:, child] += abs(edges.strength[e]) * (activated if edges.strength[e] > 0 else 1 - activated)
        produced, decayed = generator.standard_normal((2, *x.shape), dtype=np.float32)
        x = x + step * (production - spec.decay * x)
        x += spec.noise * np.sqrt(step) * (np.sqrt(production) * produced + np.sqrt(np.maximum(spec.decay * x, 0)) * decayed)
        x = np.maximum(x, 0)
    return x[:, np.argsort(order)]


def test_parents_settle_at_half_effect_and_edges_point_the_right_way():
    spec = Expression(variables=12, edges=20, graph="erdos-renyi", noise=0.0, cells=10, cell_types=5, repressors=0.3, logarithm=False)
    found = simulate_expression(spec, generator=np.random.default_rng(3))
    for gene in range(12):
        by_type = found.values[:, gene].reshape(2, 5)
        np.testing.assert_allclose(by_type[0], by_type[1], rtol=1e-6)  # without noise a type is one point
        parents = np.flatnonzero(found.adjacency[:, gene])
        if not len(parents):
            assert (by_type[0] > 0.5 / 0.8 - 1e-6).all()
            assert (by_type[0] < 4 / 0.8 + 1e-6).all()
            continue
        u = (found.values[:5, parents] / found.values[:5, parents].mean(0)) ** 2
        # The level is a combination of a constant and the parents' Hill functions, each with a weight of size K / d.
        if len(parents) == 1:
            slope, _ = np.polyfit(u[:, 0] / (1 + u[:, 0]), by_type[0], 1)
            assert 1 / 0.8 < abs(slope) < 5 / 0.8
            np.testing.assert_allclose(np.polyval(np.polyfit(u[:, 0] / (1 + u[:, 0]), by_type[0], 1), u[:, 0] / (1 + u[:, 0])), by_type[0], rtol=1e-4)


@pytest.mark.parametrize("remaining", [0.0, 0.3, 2.0])
def test_interventions_multiply_production_of_their_target_alone(remaining, fix_graph):
    fix_graph(3, (0, 1), (1, 2))
    fields = {"graph": "fixed", "variables": 3, "edges": 2, "cell_types": 1, "noise": 0.0, "repressors": 0.0, "logarithm": False}
    found = simulate(4, cells=1, targets=3, regime_cells=2, remaining=remaining, **fields)
    control = found.values[0]
    assert found.targets.tolist() == [[False] * 3, [True, False, False], [False, True, False], [False, False, True]]
    assert found.regime.tolist() == [0, 1, 1, 2, 2, 3, 3]
    for target in range(3):
        level = found.values[1 + 2 * target]
        np.testing.assert_allclose(level[:target], control[:target], rtol=1e-6)
        assert level[target] == pytest.approx(remaining * control[target], rel=1e-6)
        if target < 2:
            ratio = remaining**2
            assert level[target + 1] == pytest.approx(control[target + 1] * 2 * ratio / (1 + ratio), rel=1e-4)


def test_the_same_seed_gives_the_same_cells_and_levels_are_not_negative():
    one, other = (simulate(5, targets=3, regime_cells=100, cells=300, technical=Technical()) for _ in range(2))
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.adjacency, other.adjacency)
    assert one.values.dtype == np.float32
    assert one.values.shape == (600, 10)
    levels = simulate(5, cells=500, logarithm=False).values
    assert levels.min() >= 0
    assert np.isfinite(levels).all()
    np.testing.assert_allclose(simulate(5, cells=500).values, np.log1p(levels), rtol=1e-6)


# Technical noise


QUIET = {"outliers": 0.0, "library_law": None, "dropout": None, "counts": False}


def measure(levels, **fields):
    return measure_cells(levels, Technical(**QUIET | fields), generator=np.random.default_rng(0))


def test_without_any_technical_noise_levels_stay():
    levels = np.random.default_rng(0).gamma(2, 2, (50, 6))
    np.testing.assert_array_equal(measure(levels), levels)


def test_outlier_genes_are_multiplied_whole():
    levels = np.random.default_rng(1).gamma(2, 2, (50, 2000))
    factor = measure(levels, outliers=0.2, outlier_law=(0.8, 1.0)) / levels
    np.testing.assert_allclose(factor, np.tile(factor[0], (50, 1)))
    hit = factor[0] != 1
    assert hit.mean() == pytest.approx(0.2, abs=0.04)
    assert np.log(factor[0, hit]).mean() == pytest.approx(0.8, abs=0.25)
    assert np.log(factor[0, hit]).std() == pytest.approx(1.0, abs=0.2)


def test_libraries_have_their_law_and_keep_proportions():
    levels = np.random.default_rng(2).gamma(2, 2, (4000, 5))
    levels[7] = 0
    found = measure(levels, library_law=(4.6, 0.4))
    assert not found[7].any()
    found, levels = np.delete(found, 7, 0), np.delete(levels, 7, 0)
    np.testing.assert_allclose(found / found.sum(1, keepdims=True), levels / levels.sum(1, keepdims=True))
    logs = np.log(found.sum(1))
    assert logs.mean() == pytest.approx(4.6, abs=0.03)
    assert logs.std() == pytest.approx(0.4, abs=0.02)


def test_dropout_loses_half_at_its_percentile_and_low_values_first():
    levels = np.random.default_rng(3).gamma(2, 2, (2000, 50))
    found = measure(levels, dropout=60.0, dropout_shape=6.5)
    lost = found == 0
    np.testing.assert_array_equal(found[~lost], levels[~lost])
    middle = np.percentile(np.log1p(levels), 60)
    for offset, kept in ((-0.4, 1 / (1 + np.exp(2.6))), (0.0, 0.5), (0.4, 1 / (1 + np.exp(-2.6)))):
        near = np.abs(np.log1p(levels) - middle - offset) < 0.02
        assert (~lost[near]).mean() == pytest.approx(kept, abs=0.05)


def test_counts_are_poisson():
    found = measure(np.full((20_000, 2), [3.0, 40.0]), counts=True)
    np.testing.assert_array_equal(found, np.round(found))
    np.testing.assert_allclose(found.mean(0), [3, 40], rtol=0.02)
    np.testing.assert_allclose(found.var(0), [3, 40], rtol=0.06)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"graph": "tree"}, "`graph` must be one of"),
        ({"variables": 1}, "`variables` must be at least 2"),
        ({"edges": 46}, "between 0 and 45; found 10 and 46"),
        ({"cell_types": 0}, "`cell_types` must be at least 1"),
        ({"hill": 0.0}, "`hill` must lie above 0"),
        ({"hill": 21.0}, "`hill` must lie above 0"),
        ({"decay": 0.0}, "`decay` must be positive"),
        ({"step": float("nan")}, "`step` must be positive"),
        ({"noise": -1.0}, "`noise` must be finite and not negative"),
        ({"remaining": -0.1}, "`remaining` must be finite and not negative"),
        ({"rates": (0.0, 1.0)}, "`rates` must be a range of positive numbers"),
        ({"strengths": (2.0, 1.0)}, "`strengths` must be a range"),
        ({"repressors": 1.1}, "`repressors` must be a probability"),
        ({"targets": 11}, "`targets` must lie between 0 and 10"),
        ({"cells": 0}, "add up to at least 1"),
        ({"cells": 5, "regime_cells": -1}, "must not be negative"),
    ],
)
def test_impossible_expression_is_refused(fields, message):
    with pytest.raises(DataError, match=message):
        Expression(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"outliers": -0.1}, "`outliers` must be a share"),
        ({"dropout": 101.0}, "`dropout` must be a percentile"),
        ({"dropout_shape": 0.0}, "`dropout_shape` must be positive"),
        ({"library_law": (4.0, -1.0)}, "`library_law` must be a mean"),
        ({"outlier_law": (float("inf"), 1.0)}, "`outlier_law` must be a mean"),
    ],
)
def test_impossible_technical_noise_is_refused(fields, message):
    with pytest.raises(DataError, match=message):
        Technical(**fields)


def test_a_hundred_genes_of_a_thousand_cells_take_two_seconds_of_one_core():
    fields = {"variables": 100, "edges": 200, "cells": 1000, "technical": Technical()}
    simulate(0, **(fields | {"cells": 1}))  # compiles
    started = time.process_time()
    simulate(0, **fields)
    assert time.process_time() - started < 2
