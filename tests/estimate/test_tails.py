"""Columns with heavy tails: which they are, and what becomes of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.statistics import standardise
from seacausal.estimate.tails import draw_in, find_heavy


def drawn(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z, _, spread = standardise(values)
    heavy = find_heavy(z, screen=False)
    draw_in(z, spread, heavy)
    return z, spread, heavy


def test_only_heavy_tails_are_found():
    generator = np.random.default_rng(0)
    n = 20_000
    light = [
        generator.standard_normal(n),
        generator.exponential(size=n),
        generator.laplace(size=n),
        generator.integers(0, 2, n),
        generator.poisson(0.5, n),
    ]
    heavy = [generator.standard_cauchy(n), np.exp(1.5 * generator.standard_normal(n)), generator.random(n) < 0.01, generator.pareto(1, n)]
    values = np.column_stack([*light, *heavy])
    z, spread, found = drawn(values)
    assert found.tolist() == [5, 6, 7, 8]
    before, _, before_spread = standardise(values)
    assert z[:, :5].tobytes() == before[:, :5].tobytes()
    assert spread[:5].tobytes() == before_spread[:5].tobytes()
    assert find_heavy(before, screen=True).tolist() == [5, 6, 7, 8]
    between = np.where(generator.random(n) < 0.05, 6.0, 1.0) * generator.standard_normal(n)  # fourth moment 23
    assert [find_heavy(between[:, None], screen=screen).tolist() for screen in (False, True)] == [[0], []]


@pytest.mark.parametrize("values", [np.random.default_rng(1).standard_cauchy(5001), np.random.default_rng(2).negative_binomial(0.1, 0.01, 3000)])
def test_scores_are_gaussian_quantiles_of_ranks(values):
    z, spread, found = drawn(values[:, None].astype(float))
    assert found.tolist() == [0]
    scores = norm.ppf((rankdata(values) - 0.5) / len(values))
    inner = np.abs(scores) < 3
    line = np.polyfit(scores[inner], z[inner, 0], 1)
    np.testing.assert_allclose(z[inner, 0], np.polyval(line, scores[inner]), atol=2e-3)
    assert (z.mean(), z.std()) == pytest.approx((0, 1))
    deviation = np.abs(values - np.median(values))
    assert spread[0] == pytest.approx(np.median(deviation[deviation > 0]) / 0.6745, rel=1e-3)


@pytest.mark.parametrize(("scale", "shift"), [(3.0, -1e3), (-0.01, 5.0)])
def test_units_do_not_matter(scale, shift):
    x = np.random.default_rng(2).standard_t(1.5, (3000, 3))
    z, spread, _ = drawn(x)
    other, other_spread, _ = drawn(scale * x + shift)
    np.testing.assert_allclose(other, np.sign(scale) * z, atol=1e-9)
    np.testing.assert_allclose(other_spread, abs(scale) * spread, rtol=1e-6)


def test_two_values_stay_as_they_are():
    x = (np.random.default_rng(3).random(4000) < 0.005).astype(float)
    z, _, found = drawn(x[:, None])
    assert found.tolist() == [0]
    np.testing.assert_allclose(z, standardise(x[:, None])[0], atol=1e-12)


def test_a_chain_with_cauchy_noise_is_found():
    """0 -> 1 -> 2 -> 3, bent, with noise that has no variance; the answer names the columns, and without heavy tails it names none."""
    generator = np.random.default_rng(4)
    x = generator.standard_cauchy((2000, 6))
    for j in (1, 2, 3):
        x[:, j] += 3 * np.tanh(x[:, j - 1])
    graph = discover(x)
    assert graph.dataset["heavy-tailed columns"] == list(graph.names)
    joined = graph.probabilities + graph.probabilities.T
    assert {(i, j) for i, j in np.argwhere(np.triu(joined > 0.5)).tolist()} == {(0, 1), (1, 2), (2, 3)}
    assert discover(generator.standard_normal((500, 4))).dataset["heavy-tailed columns"] == []


def test_effects_of_interventions_are_no_tails_where_rows_without_any_say_so():
    """A column that an intervention moves far off is judged by the control rows; where there are too few, by all, and more leniently."""
    generator = np.random.default_rng(5)
    values = generator.standard_normal((400, 3))
    values[380:, 0] = 30.0
    values[:, 1] += values[:, 0]
    regime = np.repeat([0, 1], [380, 20])
    dataset = Dataset(values, ("a", "b", "c"), regime, np.array([[False] * 3, [True, False, False]]))
    assert discover(dataset).dataset["heavy-tailed columns"] == []
    assert discover(replace(dataset, targets=np.zeros((2, 3), bool))).dataset["heavy-tailed columns"] == ["a", "b"]
    screened = replace(dataset, regime=np.repeat([0, 1, 2], [50, 20, 330]), targets=np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1]], bool))
    assert discover(screened).dataset["heavy-tailed columns"] == []


def test_sums_of_heavy_columns_are_still_named():
    x = np.random.default_rng(5).standard_cauchy((500, 3))
    found = discover(np.column_stack([x, x[:, 0] + x[:, 1], 2 * x[:, 2]]))
    assert found.degenerate.dependent == (found.names[3],)
    assert found.degenerate.duplicate == ((found.names[4], found.names[2]),)
