"""Selection: what it does to dependence, that it delivers every row asked for, and that the rows follow the law of being let in."""

import numpy as np
import pytest

from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.graphs import GRAPHS
from seacausal.simulate.selection import draw_chances, oversample, select_rows


def simulate(seed, **fields):
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(seed))


def test_causes_of_a_selection_depend_on_each_other(monkeypatch):
    """Independent variables: one pair of them is correlated once rows are selected, the truth has no edge, and no third variable matters."""
    monkeypatch.setitem(GRAPHS, "empty", lambda d, *_, **__: np.zeros((d, d), bool))
    fields = {"variables": 5, "edges": 0, "graph": "empty", "observational_rows": 4000}
    for seed in range(10):
        found = simulate(seed, selection=1, **fields)
        assert found.values.shape == (4000, 5)
        assert not found.adjacency.any()
        size = np.sort(np.abs(np.corrcoef(found.values.T)[np.triu_indices(5, 1)]))
        assert size[-1] > 0.2
        assert size[-2] < 4.5 / np.sqrt(4000)
        assert np.abs(np.corrcoef(simulate(seed, **fields).values.T)[np.triu_indices(5, 1)]).max() < 4.5 / np.sqrt(4000)


@pytest.mark.parametrize("intervention", ["gaussian", "clamp", "shift", "activity"])
@pytest.mark.parametrize("effects", [1, 2, 5])
def test_every_regime_has_its_rows(effects, intervention):
    fields = {"variables": 6, "edges": 8, "observational_rows": 70, "targets": 6, "regime_rows": 9, "intervention": intervention}
    found = simulate(1, selection=effects, **fields)
    assert np.bincount(found.regime).tolist() == [70] + [9] * 6
    assert (np.diff(found.regime) >= 0).all()
    assert np.isfinite(found.values).all()
    plain = simulate(1, **fields)
    np.testing.assert_array_equal(found.adjacency, plain.adjacency)
    np.testing.assert_array_equal(found.targets, plain.targets)
    assert simulate(1, selection=effects, **fields).values.tobytes() == found.values.tobytes()


def test_it_goes_with_cycles_hidden_causes_and_unequal_regimes():
    found = simulate(2, selection=2, cycles=2, hidden=1, targets=5, regime_rows=6, regime_spread=3.0, observational_rows=50, measurement="missing")
    assert found.values.shape[1] == 10
    assert (np.bincount(found.regime)[1:] >= 2).all()


def test_rows_follow_the_law_of_being_let_in():
    """The mean of any function of the kept rows is that of all rows weighted by their chances, so long as no chance is raised above 1."""
    generator = np.random.default_rng(3)
    values = generator.standard_normal((200_000, 3))
    regime = np.repeat([0, 1], 100_000)
    kept = select_rows(values, regime, 1, generator=np.random.default_rng(4))
    assert (np.diff(kept) > 0).all()
    assert np.bincount(regime[kept]).tolist() == [25_000, 25_000]
    chances = draw_chances(values, 1, generator=np.random.default_rng(4))  # the same effect
    assert chances.mean() == pytest.approx(0.5, abs=0.02)
    weights = chances / chances.sum()
    for one in (values, values**2, np.roll(values, 1, axis=1) * values, chances[:, None]):
        expected = weights @ one
        error = np.sqrt(weights @ (one - expected) ** 2 / len(kept))
        assert (np.abs(one[kept].mean(0) - expected) < 4.5 * error).all()
    assert chances[kept].mean() > 0.6


def test_chances_are_those_of_sums_or_differences():
    generator = np.random.default_rng(5)
    values = generator.standard_normal((20_000, 4)) * [1, 10, 100, 0.1] + 7
    z = (values - values.mean(0)) / values.std(0)
    signs = set()
    for seed in range(40):
        logit = draw_chances(values, 1, generator=np.random.default_rng(seed))
        logit = np.log(logit / (1 - np.minimum(logit, 1 - 1e-12)))
        slopes = np.linalg.lstsq(z, np.clip(logit, -27, 27), rcond=None)[0]
        pair = np.sort(np.abs(slopes))
        assert pair[1] < 0.15
        assert pair[2] == pytest.approx(pair[3], rel=0.05)
        assert 1.9 < pair[3] < 6.2
        signs.add(tuple(np.sign(slopes[np.abs(slopes) > 1])))
    assert len(signs) == 4


def test_a_regime_out_of_reach_is_filled_by_the_nearest_rows():
    values = np.random.default_rng(6).standard_normal((8000, 2)) * 1e-3
    values[4000:] += [-50, 0]
    values[:4000] += [50, 0]
    regime = np.repeat([0, 1], 4000)
    kept = select_rows(values, regime, 1, generator=np.random.default_rng(0))
    assert np.bincount(regime[kept]).tolist() == [1000, 1000]


@pytest.mark.parametrize(("effects", "expected"), [(0, 1), (1, 4), (2, 8), (3, 16), (9, 16)])
def test_more_effects_ask_for_more_rows(effects, expected):
    assert oversample(effects) == expected
