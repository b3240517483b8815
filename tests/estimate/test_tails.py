"""Columns with heavy tails: which they are, and what becomes of them."""

import numpy as np
import pytest

from seacausal.config import DiscoverConfig
from seacausal.discovery import discover
from seacausal.estimate.statistics import standardise
from seacausal.estimate.tails import draw_in, find_heavy


def drawn(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z, _, spread = standardise(values)
    heavy = find_heavy(z)
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
    assert (np.abs((z**4).mean(0)[[5, 6, 8]]) < 10).all()


def test_order_and_bulk_are_kept():
    """Within a unit of the median the curve is a line to 5 in 100, and a column is standardised again; its spread is in the column's own units."""
    x = 1000 + 7 * np.random.default_rng(1).standard_cauchy(5000)
    z, spread, found = drawn(x[:, None])
    assert found.tolist() == [0]
    assert (np.argsort(z[:, 0]) == np.argsort(x)).all()
    assert z.mean() == pytest.approx(0, abs=1e-12)
    assert z.std() == pytest.approx(1)
    unit = 2 * np.median(np.abs(x - np.median(x)))
    near = np.abs(x - np.median(x)) < 0.5 * unit
    slope = np.polyfit(x[near], z[near, 0], 1)[0]
    assert slope * spread[0] == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(("scale", "shift"), [(3.0, -1e3), (-0.01, 5.0)])
def test_units_do_not_matter(scale, shift):
    x = np.random.default_rng(2).standard_t(1.5, (3000, 3))
    z, spread, _ = drawn(x)
    other, other_spread, _ = drawn(scale * x + shift)
    np.testing.assert_allclose(other, np.sign(scale) * z, atol=1e-6)
    np.testing.assert_allclose(other_spread, abs(scale) * spread, rtol=1e-6)


def test_two_values_stay_two_values():
    x = (np.random.default_rng(3).random(4000) < 0.005).astype(float)
    before = standardise(x[:, None])[0]
    z, _, found = drawn(x[:, None])
    assert found.tolist() == [0]
    np.testing.assert_allclose(z, before, atol=1e-12)


def test_a_chain_with_cauchy_noise_is_found():
    """x -> y -> z, bent, with noise that has no variance; the answer names the columns, and without heavy tails it names none."""
    generator = np.random.default_rng(4)
    x = generator.standard_cauchy((2000, 6))
    for j in (1, 2, 3):
        x[:, j] += 3 * np.tanh(x[:, j - 1])
    graph = discover(x, config=DiscoverConfig())
    assert graph.dataset["heavy-tailed columns"] == list(graph.names)
    joined = graph.probabilities + graph.probabilities.T
    assert {(i, j) for i, j in np.argwhere(np.triu(joined > 0.5)).tolist()} == {(0, 1), (1, 2), (2, 3)}
    assert discover(generator.standard_normal((500, 4))).dataset["heavy-tailed columns"] == []


def test_sums_of_heavy_columns_are_still_named():
    x = np.random.default_rng(5).standard_cauchy((500, 3))
    found = discover(np.column_stack([x, x[:, 0] + x[:, 1], 2 * x[:, 2]]))
    assert found.degenerate.dependent == (found.names[3],)
    assert found.degenerate.duplicate == ((found.names[4], found.names[2]),)
