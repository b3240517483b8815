"""Entropies of pairs: known laws, directions that are known, and what must not matter."""

import numpy as np
import pytest
from scipy import stats

from seacausal.estimate import pair_entropies
from seacausal.estimate.pair_entropies import entropy_statistics, measure_entropies, spread_ties
from seacausal.estimate.statistics import standardise


def found_in(values: np.ndarray, strength: np.ndarray | None = None) -> dict[str, np.ndarray]:
    d = values.shape[1]
    return entropy_statistics(standardise(values)[0], np.ones((d, d)) if strength is None else strength)


def pair(law: str, n: int = 2000, shape=lambda x: x) -> np.ndarray:
    """x -> y, both of one law before y is scaled."""
    generator = np.random.default_rng(3)
    x, noise = (getattr(generator, law)(size=n) for _ in range(2))
    return np.column_stack([x, shape(x) + noise])


@pytest.mark.parametrize("law", [stats.norm, stats.uniform, stats.expon, stats.laplace])
def test_entropies_are_those_of_the_laws(law):
    rows = law.rvs(size=(20, 2000), random_state=1)
    rows = (rows - rows.mean(1, keepdims=True)) / rows.std(1, keepdims=True)
    assert measure_entropies(rows).mean() == pytest.approx(law.entropy() - np.log(law.std()), abs=0.02)


@pytest.mark.parametrize("law", ["exponential", "uniform", "laplace", "gumbel"])
@pytest.mark.parametrize("shape", [lambda x: x, np.arcsinh])
def test_causes_come_first(law, shape):
    found = found_in(pair(law, shape=shape))
    assert found["curve entropy"][0, 1] > 0.5
    assert found["curve entropy significance"][0, 1] > 1
    for name in ("linear entropy", "linear entropy significance", "curve entropy", "curve entropy significance"):
        np.testing.assert_array_equal(found[name], -found[name].T)


def test_a_gaussian_pair_has_no_direction():
    found = found_in(pair("standard_normal"))
    assert max(abs(found[name][0, 1]) for name in ("linear entropy", "curve entropy")) < 0.3
    assert found["negentropy"].max() < 0.2
    assert found_in(pair("exponential"))["negentropy"][1, 0] > found_in(pair("uniform"))["negentropy"][1, 0] > 1


def test_what_the_difference_is():
    """Entropies of the cause and of what a line of it leaves, less the same the other way round, by the function for single rows."""
    z, _, _ = standardise(pair("exponential"))
    r = np.corrcoef(z.T)[0, 1]
    spread = np.sqrt(1 - r**2)
    ends = [measure_entropies(row[None])[0] for row in (z[:, 0], z[:, 1], (z[:, 1] - r * z[:, 0]) / spread, (z[:, 0] - r * z[:, 1]) / spread)]
    expected = ends[1] + ends[3] - ends[0] - ends[2]
    assert np.sinh(found_in(z)["linear entropy"][0, 1]) / 20 == pytest.approx(expected, abs=1e-9)
    assert np.sinh(found_in(z)["linear entropy significance"][0, 1]) / np.sqrt(2000) == pytest.approx(expected, abs=1e-9)


def test_order_units_and_coarse_rounding_do_not_matter():
    values = np.column_stack([pair("exponential"), pair("laplace")[:, 1]])
    values[:, 1] = np.round(values[:, 1] * 3) / 3
    found, order = found_in(values), [2, 0, 1]
    for scale, off in ((7, 1e-6), (-7, 0.15)):  # ties are spread otherwise where the order of values is another
        turned = found_in(1000 + scale * values[:, order])
        for name, channel in found.items():
            np.testing.assert_allclose(turned[name], channel[np.ix_(order, order)], atol=off)
    assert found["linear entropy"][0, 1] == pytest.approx(found_in(pair("exponential"))["linear entropy"][0, 1], abs=0.3)


def test_ties_are_spread_half_the_way():
    column = np.array([0.0, 0.0, 0.0, 1.0, 3.0, 3.0])
    rows = np.column_stack([column, np.arange(6.0)])
    spread, other = spread_ties(rows)
    assert spread[3] == 1
    assert (np.abs(spread[:3]) <= 0.5).all()
    assert len(set(spread[:3])) == 3
    assert ((spread[4:] >= 2) & (spread[4:] <= 4)).all()
    np.testing.assert_array_equal(other, rows[:, 1])
    np.testing.assert_array_equal(spread_ties(rows[::-1, ::-1]), [other[::-1], spread[::-1]])
    np.testing.assert_array_equal(spread_ties(np.ones((4, 1))), np.ones((1, 4)))


def test_spread_ties_are_uniform_and_independent():
    """Two columns of whole numbers from 0 to 19: what is added to them is like independent draws."""
    values = np.random.default_rng(5).integers(0, 20, (2000, 2)).astype(float)
    values = np.column_stack([values, np.random.default_rng(6).standard_normal(2000)])
    added = spread_ties(values)[:2] - values.T[:2]
    assert max(stats.kstest(one, stats.uniform(-0.5, 1).cdf).statistic for one in added) < 0.04
    assert np.abs(np.corrcoef([*added, *values.T])[np.triu_indices(5, 1)][:7]).max() < 0.07


def test_columns_of_few_values_and_weak_pairs_are_left_out(monkeypatch):
    values = np.column_stack([pair("exponential"), np.arange(2000) % 3])
    found = found_in(values)
    assert found["linear entropy"][2].tolist() == [0, 0, 0]
    assert found["linear entropy"][0, 1] > 0
    monkeypatch.setattr(pair_entropies, "PAIRS", 1)
    strength = np.zeros((4, 4))
    strength[2, 1] = 1
    found = found_in(np.column_stack([pair("exponential"), pair("laplace")]), strength)
    assert np.argwhere(found["linear entropy"]).tolist() == [[1, 2], [2, 1]]


def test_too_few_rows_say_nothing():
    assert not any(channel.any() for channel in found_in(pair("exponential", 9)).values())
