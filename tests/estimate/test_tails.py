"""Columns with heavy tails: which they are, and what becomes of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.statistics import standardise
from seacausal.estimate.tails import SET_CUT, cut_targets, draw_in, find_heavy, gain_of_dependence, score_ranks


def drawn(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    z, _, spread = standardise(values)
    before = z.tobytes(), spread.tobytes()
    found = draw_in(z, spread, values, None)
    assert (z.tobytes(), spread.tobytes()) == before
    return found


def bent(seed: int, columns: int, rows: int, shape=lambda x: np.exp(1.5 * x)) -> np.ndarray:
    """A Gaussian chain, each column of which has another shape: normal scores make it a line again."""
    x = np.random.default_rng(seed).standard_normal((rows, columns))
    for j in range(1, columns):
        x[:, j] += x[:, j - 1]
    return shape(x / x.std(0))


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
    between = np.where(generator.random(n) < 0.05, 6.0, 1.0) * generator.standard_normal(n)  # fourth moment 23
    rows = np.column_stack([*light, *heavy, between])
    assert find_heavy(rows, screen=False) == [5, 6, 7, 8, 9]
    assert find_heavy(rows, screen=True) == [5, 6, 7, 8]
    late = generator.standard_normal((30_001, 2))
    late[[104, 30_000], [0, 1]] = 1e6
    assert find_heavy(late, screen=False) == [0, 1]


@pytest.mark.parametrize("values", [np.random.default_rng(1).standard_cauchy(50_001), np.random.default_rng(2).negative_binomial(0.1, 0.01, 3000)])
def test_scores_are_gaussian_quantiles_of_ranks(values):
    z = score_ranks(values)
    scores = norm.ppf((rankdata(values) - 0.5) / len(values))
    line = np.polyfit(scores, z, 1)
    np.testing.assert_allclose(z, np.polyval(line, scores), atol=1e-3)
    assert len(np.unique(z)) == len(np.unique(values))
    assert (z.mean(), z.std()) == pytest.approx((0, 1))


def test_bent_columns_are_straightened_and_others_left_alone():
    values = np.column_stack([bent(1, 4, 2000), np.random.default_rng(2).standard_normal(2000)])
    before, _, before_spread = standardise(values)
    z, spread, found = drawn(values)
    assert found == [0, 1, 2, 3]
    for j in range(4):
        np.testing.assert_array_equal(z[:, j], score_ranks(values[:, j]))
        deviation = np.abs(values[:, j] - np.median(values[:, j]))
        assert spread[j] == pytest.approx(np.median(deviation) / 0.6745, rel=1e-3)
    assert z[:, 4].tobytes() == before[:, 4].tobytes()
    assert spread[4] == before_spread[4]


@pytest.mark.parametrize("noise", ["lognormal", "standard_t"])
def test_straight_effects_of_heavy_noise_are_left_straight(noise):
    generator = np.random.default_rng(3)
    draw = {"lognormal": lambda: generator.lognormal(size=3000), "standard_t": lambda: generator.standard_t(2.2, 3000)}[noise]
    x = np.column_stack([draw() for _ in range(5)])
    for j in range(1, 5):
        x[:, j] += x[:, j - 1]
    z, spread, found = drawn(x)
    assert len(find_heavy(z, screen=False)) >= 3
    assert found == []
    assert z.tobytes() == standardise(x)[0].tobytes()
    assert spread.tobytes() == standardise(x)[2].tobytes()


def test_gain_is_the_mutual_information_of_gaussians():
    """-1/2 log det of the correlations, of which half of the rows know the other half's."""
    mixing = np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0.6, 0.8]])
    z = np.random.default_rng(4).standard_normal((200_000, 3)) @ mixing.T
    assert gain_of_dependence(z) == pytest.approx(-0.5 * np.linalg.slogdet(mixing @ mixing.T)[1], abs=0.02)
    assert gain_of_dependence(np.random.default_rng(5).standard_normal((20_000, 3))) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(("scale", "shift"), [(3.0, -1e3), (-0.01, 5.0)])
def test_units_do_not_matter(scale, shift):
    x = bent(2, 3, 3000)
    z, spread, found = drawn(x)
    other, other_spread, _ = drawn(scale * x + shift)
    assert found == [0, 1, 2]
    np.testing.assert_allclose(other, np.sign(scale) * z, atol=1e-9)
    np.testing.assert_allclose(other_spread, abs(scale) * spread, rtol=1e-6)


@pytest.mark.parametrize("size", [1e6, 1e20, 1e36, np.finfo(float).max])
@pytest.mark.parametrize("row", [0, 5])
def test_one_outlier_of_any_size_changes_next_to_nothing(size, row):
    x = np.random.default_rng(6).standard_normal((1500, 6))
    for j in (1, 2, 3):
        x[:, j] += x[:, j - 1]
    plain = discover(x, scale=False).probabilities
    x[row, 2] = size
    graph = discover(x, scale=False)
    assert graph.dataset["normal scores"] == [graph.names[2]]
    np.testing.assert_allclose(graph.probabilities, plain, atol=0.25)
    np.testing.assert_allclose((graph.probabilities + graph.probabilities.T) > 0.5, (plain + plain.T) > 0.5)


def test_categories_have_no_tails():
    values = np.column_stack([bent(7, 3, 2000), np.random.default_rng(7).random(2000) < 0.005])
    assert find_heavy(values, screen=False) == [0, 1, 2, 3]
    assert drawn(values)[2] == [0, 1, 2]


def test_a_chain_with_cauchy_noise_is_found():
    """0 -> 1 -> 2 -> 3, bent, with noise that has no variance; the answer names the columns, and without heavy tails it names none."""
    generator = np.random.default_rng(4)
    x = generator.standard_cauchy((2000, 6))
    for j in (1, 2, 3):
        x[:, j] += 3 * np.tanh(x[:, j - 1])
    graph = discover(x)
    assert graph.dataset["normal scores"] == list(graph.names)
    joined = graph.probabilities + graph.probabilities.T
    assert {(i, j) for i, j in np.argwhere(np.triu(joined > 0.5)).tolist()} == {(0, 1), (1, 2), (2, 3)}
    assert discover(generator.standard_normal((500, 4))).dataset["normal scores"] == []


def test_effects_of_interventions_are_no_tails_where_rows_without_any_say_so():
    """A column that an intervention moves far off is judged by the control rows; where there are too few, by all, and more leniently."""
    generator = np.random.default_rng(5)
    values = generator.standard_normal((400, 3))
    values[380:, 0] = 30.0
    values[:, 1] += np.tanh(values[:, 0])
    regime = np.repeat([0, 1], [380, 20])
    dataset = Dataset(values, ("a", "b", "c"), regime, np.array([[False] * 3, [True, False, False]]))
    assert discover(dataset).dataset["normal scores"] == []
    assert discover(replace(dataset, targets=np.zeros((2, 3), bool))).dataset["normal scores"] == ["a"]
    screened = replace(dataset, regime=np.repeat([0, 1, 2], [50, 20, 330]), targets=np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1]], bool))
    assert discover(screened).dataset["normal scores"] == []


def test_sums_of_heavy_columns_are_still_named():
    x = np.random.default_rng(5).standard_cauchy((500, 3))
    found = discover(np.column_stack([x, x[:, 0] + x[:, 1], 2 * x[:, 2]]))
    assert found.degenerate.dependent == ((found.names[3], found.names[:2]),)
    assert found.degenerate.duplicate == ((found.names[4], found.names[2]),)


def far_out(shape, *, seed: int = 0, far: float = 40.0) -> tuple[np.ndarray, np.ndarray]:
    """a -> b -> c, 300 rows as they are, and 5 rows in which each of them is set far out."""
    generator = np.random.default_rng(seed)
    targeted = np.zeros((315, 3), bool)
    values = generator.standard_normal((315, 3))
    for j in range(3):
        targeted[300 + 5 * j : 305 + 5 * j, j] = True
        if j:
            values[:, j] += shape(values[:, j - 1])
        values[targeted[:, j], j] = far
    return values, targeted


def test_what_is_set_far_out_is_cut_where_nothing_follows():
    values, targeted = far_out(np.tanh)
    z, _, spread = standardise(values)
    before = z.tobytes(), spread.tobytes()
    cut, spreads, columns = cut_targets(z, spread, targeted)
    assert (z.tobytes(), spread.tobytes()) == before
    assert columns == [0, 1, 2]
    np.testing.assert_allclose(cut.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(cut.std(0), 1)
    for j in range(3):
        free = ~targeted[:, j]
        level = np.median(cut[free, j])
        unit = np.median(np.abs(cut[free, j] - level)) / norm.ppf(0.75)
        np.testing.assert_allclose((cut[targeted[:, j], j] - level) / unit, SET_CUT)
        np.testing.assert_allclose(spreads[j] * cut[free, j].std(), values[free, j].std())


@pytest.mark.parametrize(("shape", "far"), [(lambda x: x, 40.0), (np.tanh, 6.0)])
def test_what_others_follow_and_what_is_near_stays(shape, far):
    values, targeted = far_out(shape, far=far)
    z, _, spread = standardise(values)
    found = cut_targets(z, spread, targeted)
    assert found[0] is z
    assert found[1] is spread
    assert found[2] == []


def test_strong_interventions_do_not_hide_what_levels_off():
    values, targeted = far_out(np.tanh)
    regimes, regime = np.unique(targeted, axis=0, return_inverse=True)
    graph = discover(Dataset(values, ("a", "b", "c"), regime.ravel().astype(np.int32), regimes))
    assert min(graph.probabilities[0, 1], graph.probabilities[1, 2]) > 0.9
    assert graph.probabilities[0, 2] < 0.2
    assert graph.dataset["cut targets"] == ["a", "b", "c"]
    assert any(note.startswith("Set far beyond their other values") and note.endswith(": a, b, c.") for note in graph.notes())
