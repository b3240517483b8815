"""Rows that fit nothing: which they are, and that the graph is found without them."""

import numpy as np
import pytest

from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.outlying import find_outlying
from seacausal.estimate.statistics import standardise


def chain(rows: int, columns: int, generator: np.random.Generator, noise=np.random.Generator.standard_normal) -> np.ndarray:
    x = noise(generator, (rows, columns))
    for j in range(1, columns):
        x[:, j] += x[:, j - 1]
    return x


def outlying(values: np.ndarray, regime: np.ndarray | None = None) -> list[int]:
    regime = np.zeros(len(values), int) if regime is None else regime
    return np.flatnonzero(find_outlying(standardise(values)[0], regime)).tolist()


def damage(values: np.ndarray, rows: np.ndarray, generator: np.random.Generator) -> None:
    """Neighbours of a chain, which rise together, move apart."""
    signs = generator.choice([-1, 1], (len(rows), 1)) * (-1) ** np.arange(values.shape[1])
    values[rows] += 10 * values.std(0) * signs * generator.uniform(0.8, 1.2, values[rows].shape)


@pytest.mark.parametrize("shape", [(100, 3), (1000, 10), (20_000, 6), (300, 120)])
def test_rows_that_break_all_relations_are_found(shape):
    generator = np.random.default_rng(shape[0])
    values = chain(*shape, generator)
    assert outlying(values) == []
    bad = np.sort(generator.choice(shape[0], shape[0] // 100, replace=False))
    damage(values, bad, generator)
    assert outlying(values) == bad.tolist()
    assert outlying(values * 1e-3 + 1e6) == bad.tolist()


def test_extreme_rows_in_line_with_the_others_stay():
    values = chain(2000, 8, np.random.default_rng(0), lambda generator, shape: generator.standard_t(1.5, shape))
    assert len(outlying(values)) < 4
    values = chain(2000, 8, np.random.default_rng(1))
    values[7] += 40  # the root's shock
    assert outlying(values) == []
    values[7] *= 30  # another unit
    assert outlying(values) == [7]


@pytest.mark.parametrize(("n", "d"), [(40, 60), (100, 60), (100, 40)])
def test_extreme_rows_stay_where_rows_are_few_for_their_columns(n, d):
    """What the others let expect is then known to some error."""
    for seed in range(5):
        generator = np.random.default_rng(seed)
        factor = generator.standard_normal(n)
        factor[7] = 9
        values = factor[:, None] + 0.5 * generator.standard_normal((n, d))
        assert outlying(values) == []
        values[7] = 9 * generator.standard_normal(d)
        assert outlying(values) == ([7] if n > d else [])


def test_a_bent_relation_of_two_columns_is_no_bad_row():
    x = np.random.default_rng(10).standard_t(5, (2000, 4))
    x[:, 1] = x[:, 0] ** 2
    assert outlying(x) == []
    assert outlying(x[:, :2]) == []


def test_a_part_of_the_population_stays():
    generator = np.random.default_rng(2)
    values = chain(1000, 8, generator)
    damage(values, np.arange(0, 1000, 12), generator)
    assert outlying(values) == []


def test_one_bad_cell_is_no_bad_row():
    values = chain(1000, 8, np.random.default_rng(3))
    values[5, 2] = 1e3
    assert outlying(values) == []


def test_the_middle_is_that_of_the_regime():
    generator = np.random.default_rng(4)
    values = chain(1000, 8, generator)
    regime = np.where(np.arange(1000) < 970, 0, 1)
    values[regime == 1] += 20 * generator.choice([-1, 1], 8)
    assert len(outlying(values)) == 30
    assert outlying(values, regime) == []
    damage(values, np.array([980]), generator)
    assert outlying(values, regime) == [980]


def test_a_regime_that_spreads_everything_out_stays():
    generator = np.random.default_rng(9)
    values = chain(1000, 8, generator)
    regime = np.where(np.arange(1000) < 960, 0, 1)
    values[regime == 1] = 15 * generator.standard_normal((40, 8))
    assert len(outlying(values)) > 20
    assert outlying(values, regime) == []


def test_rows_of_small_regimes_stay():
    generator = np.random.default_rng(5)
    values = chain(200, 8, generator)
    damage(values, np.array([150, 199]), generator)
    assert outlying(values) == [150, 199]
    assert outlying(values, np.where(np.arange(200) < 160, 0, np.arange(200))) == [150]
    assert outlying(values, np.arange(200)) == []


def test_categories_and_constant_middles_do_not_count():
    generator = np.random.default_rng(6)
    values = (generator.random((1000, 6)) < 0.03).astype(float)
    assert outlying(values) == []
    values = np.where(generator.random((1000, 6)) < 0.03, generator.standard_normal((1000, 6)), 0)
    assert outlying(values) == []


def test_discover_leaves_them_out_and_says_so():
    generator = np.random.default_rng(7)
    values = chain(600, 5, generator)
    whole = discover(values)
    assert whole.dataset["outlying rows"] == []
    bad = np.array([3, 100, 250, 599])
    damaged = np.insert(values, bad - np.arange(4), 0, axis=0)
    damaged[bad] = 40 * generator.choice([-1, 1], (4, 5))
    found = discover(damaged)
    assert found.dataset["outlying rows"] == bad.tolist()
    assert found.dataset["rows"] == 604
    np.testing.assert_allclose(found.probabilities, whole.probabilities, atol=1e-2)
    kept = discover(damaged, keep_outliers=True)
    assert kept.dataset["outlying rows"] == []
    assert np.abs(kept.probabilities - whole.probabilities).max() > 0.1


def test_regimes_of_the_rows_that_stay_are_kept():
    generator = np.random.default_rng(8)
    values = chain(600, 4, generator)
    regime = np.repeat([0, 1], 300)
    values[300:, 3] = generator.standard_normal(300) + 5
    targets = np.array([[False] * 4, [False] * 3 + [True]])
    names = tuple("abcd")
    damaged, regimes = np.insert(values, 10, 50 * np.array([1, -1, 1, -1]), axis=0), np.insert(regime, 10, 0)
    first = discover(Dataset(values, names, regime, targets))
    second = discover(Dataset(damaged, names, regimes, targets))
    assert second.dataset["outlying rows"] == [10]
    np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-2)


@pytest.mark.parametrize("spread", [0.5, 1, 1.5, -1])
def test_skewed_columns_are_judged_by_their_logarithm(spread):
    """Log-normal chains, some upside down: their long sides are no outliers, and rows that break the chain still are."""
    generator = np.random.default_rng(11)
    straight = chain(2000, 8, generator)
    assert outlying(np.sign(spread) * np.exp(abs(spread) * straight / straight.std(0))) == []
    bad = np.array([3, 500, 1999])
    damage(straight, bad, generator)
    assert outlying(np.sign(spread) * np.exp(abs(spread) * straight / 4)) == bad.tolist()
