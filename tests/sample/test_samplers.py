"""The table of samplers: what they have in common, the uncertainty sampler, and the integer program against enumeration."""

import itertools
import sys
from collections import Counter

import numpy as np
import pytest

from seacausal.data import Subset
from seacausal.errors import DataError
from seacausal.sample.program import TIE, choose_best, sample_by_program
from seacausal.sample.samplers import SAMPLERS, draw_subsets
from seacausal.sample.subsets import sample_subsets
from seacausal.sample.uncertainty import sample_by_uncertainty, score_uncertainty

NAMES = [sampler.name for sampler in SAMPLERS]


def random_scores(seed: int, d: int) -> np.ndarray:
    scores = np.random.default_rng(seed).standard_normal((d, d)) ** 3
    return np.triu(scores, 1) + np.triu(scores, 1).T


def random_direct(seed: int, d: int) -> np.ndarray:
    classes = np.random.default_rng(seed).dirichlet((1, 1, 1), (d, d))
    return np.triu(classes[..., 0], 1) + np.triu(classes[..., 1], 1).T


def draw(name: str, d: int, count: int, **options) -> Subset:
    return draw_subsets(name, d, count, scores=random_scores(1, d), predict=lambda subset: random_direct(2, d), **options)


def recount(variables: np.ndarray, d: int) -> np.ndarray:
    visits = np.zeros((d, d), int)
    for subset in variables:
        for i, j in itertools.permutations(subset, 2):
            visits[i, j] += 1
    return visits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("d", "size", "count"), [(9, 5, 23), (5, 5, 3), (7, 2, 12), (4, 3, 0)])
def test_every_sampler_gives_distinct_variables_and_their_visits(name, d, size, count):
    subset = draw(name, d, count, size=size)
    assert subset.variables.shape == (count, size)
    assert subset.variables.dtype == subset.visits.dtype == np.int64
    assert all(len(set(row)) == size and set(row) <= set(range(d)) for row in subset.variables.tolist())
    assert np.array_equal(subset.visits, recount(subset.variables, d))


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides(name):
    """With equal scores, for those that use scores: the integer program leaves to the seed only what is as good."""
    first, again, other = (draw_subsets(name, 9, 12, scores=np.ones((9, 9)), predict=lambda s: np.full((9, 9), 0.2), seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.variables, again.variables)
    assert not np.array_equal(first.variables, other.variables)


@pytest.mark.parametrize("name", NAMES)
def test_too_few_variables(name):
    with pytest.raises(DataError, match=r"subset of 5 variables .* found 4"):
        draw(name, 4, 10)
    with pytest.raises(DataError, match="at least 2 variables; found `size` = 1"):
        draw(name, 4, 10, size=1)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_sampler_needs_must_be_given(name):
    needs = {sampler.name: sampler.needs for sampler in SAMPLERS}[name]
    if needs == ("variables",):
        assert draw_subsets(name, 6, 2).variables.shape == (2, 5)
    else:
        with pytest.raises(DataError, match=f"'{name}' needs `{needs[-1]}`"):
            draw_subsets(name, 6, 2)


def test_names_and_shapes_are_checked():
    with pytest.raises(DataError, match=r"one of mixture, random, .* found 'greedy'"):
        draw_subsets("greedy", 6, 2)
    with pytest.raises(DataError, match=r"`scores` must have shape \(6, 6\); found \(5, 5\)"):
        draw_subsets("mixture", 6, 2, scores=np.ones((5, 5)))


def test_the_mixture_is_its_parts():
    """Its first half is the random sampler's; the rest is what the statistic gives with the visits of the first half."""
    scores = random_scores(0, 12)
    mixture = draw_subsets("mixture", 12, 40, scores=scores, seed=5).variables
    assert np.array_equal(mixture, sample_subsets(scores, 40, seed=5).variables)
    assert np.array_equal(mixture[:20], draw_subsets("random", 12, 20, seed=5).variables)
    by_statistic = draw_subsets("statistic", 12, 20, scores=scores, seed=5).variables
    assert not np.array_equal(mixture[20:], by_statistic)


def test_draws_stay_as_they_were():
    """A result is reproduced from its seed by later versions, too."""
    drawn = sample_subsets(random_scores(0, 12), 4, seed=3).variables.tolist()
    assert drawn == [[0, 5, 10, 11, 7], [6, 3, 9, 1, 4], [9, 5, 6, 1, 11], [0, 9, 5, 8, 7]]


def test_ordered_draws_follow_the_formula():
    """Every ordered triple of five variables: row sums, then sums of scores with those drawn, by enumeration."""
    scores, runs = np.abs(random_scores(8, 5)), 6000
    chance = {}
    for a, b, c in itertools.permutations(range(5), 3):
        with_ab = scores[a] + scores[b]
        rest = with_ab.sum() - with_ab[a] - with_ab[b]
        chance[a, b, c] = scores[a].sum() / scores.sum() * scores[a, b] / scores[a].sum() * with_ab[c] / rest
    assert sum(chance.values()) == pytest.approx(1)
    found = Counter(tuple(draw_subsets("statistic", 5, 1, scores=scores, size=3, seed=seed).variables[0].tolist()) for seed in range(runs))
    distance = sum((found[triple] - runs * p) ** 2 / (runs * p) for triple, p in chance.items())
    assert distance < 120  # chi-square of 59 degrees of freedom: one in 200,000
    assert max(chance.values()) > 20 * min(chance.values())


class Recorder:
    """A prediction that remembers what it was asked."""

    def __init__(self, *answers: np.ndarray) -> None:
        self.answers, self.asked = answers, []

    def __call__(self, subset: Subset) -> np.ndarray:
        self.asked.append(subset)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.mark.parametrize(("count", "calls"), [(0, []), (1, [0]), (10, [0]), (11, [0, 10]), (35, [0, 10, 20, 30])])
def test_the_prediction_is_renewed_every_ten_subsets(count, calls):
    predict = Recorder(random_direct(0, 8))
    drawn = sample_by_uncertainty(8, predict, count, seed=1)
    assert [len(subset.variables) for subset in predict.asked] == calls
    for subset in predict.asked:
        assert np.array_equal(subset.variables, drawn.variables[: len(subset.variables)])
        assert np.array_equal(subset.visits, recount(subset.variables, 8))


def test_the_uncertain_pair_is_drawn_and_then_the_next_one():
    """Certain of all but one pair, which changes after ten subsets; subsets of two variables hold one pair each."""
    first, second = np.zeros((6, 6)), np.zeros((6, 6))
    first[1, 4] = second[5, 2] = 0.5
    drawn = sample_by_uncertainty(6, Recorder(first, second), 20, size=2)
    assert {tuple(sorted(row)) for row in drawn.variables[:10].tolist()} == {(1, 4)}
    assert {tuple(sorted(row)) for row in drawn.variables[10:].tolist()} == {(2, 5)}


def test_an_unchanged_prediction_draws_as_the_statistic_does():
    """Asking anew restarts neither the visits nor the random numbers."""
    direct = random_direct(3, 15)
    drawn = sample_by_uncertainty(15, Recorder(direct), 60, seed=2)
    expected = draw_subsets("statistic", 15, 60, scores=score_uncertainty(direct), seed=2)
    assert np.array_equal(drawn.variables, expected.variables)


def test_entropy_of_three_classes():
    direct = random_direct(4, 7)
    direct[0, 1], direct[1, 0] = 1.0, 0.0
    direct[0, 2], direct[2, 0] = 1 / 3, 1 / 3
    found = score_uncertainty(direct)
    for i, j in itertools.permutations(range(7), 2):
        parts = np.array([direct[i, j], direct[j, i], 1 - direct[i, j] - direct[j, i]])
        np.testing.assert_allclose(found[i, j], -sum(p * np.log(p) for p in parts if p > 0), atol=1e-12)
    assert found[0, 1] == 0
    assert found[0, 2] == pytest.approx(np.log(3)) == found.max()
    assert not found.diagonal().any()


@pytest.mark.parametrize("answer", [np.full((6, 6), 0.6), np.full((6, 6), -0.1), np.full((6, 6), np.nan)])
def test_predictions_must_be_probabilities(answer):
    with pytest.raises(DataError, match="must be at least 0 and sum to 1"):
        sample_by_uncertainty(6, Recorder(answer), 5)
    with pytest.raises(DataError, match=r"shape \(7, 7\); found \(6, 6\)"):
        sample_by_uncertainty(7, Recorder(answer), 5)


def inside(weights: np.ndarray, subset) -> float:
    return float(weights[np.ix_(subset, subset)].sum()) / 2


@pytest.mark.parametrize("d", range(2, 10))
@pytest.mark.parametrize("kind", ["uneven", "sparse", "even", "tiny"])
def test_the_program_is_optimal(d, kind):
    """Against all subsets."""
    generator = np.random.default_rng([d, len(kind)])
    for _ in range(3):
        weights = generator.random((d, d)) ** 3
        weights = {"uneven": weights, "sparse": weights * (generator.random((d, d)) < 0.2), "even": np.ones((d, d)), "tiny": weights * 1e-9}[kind]
        weights = np.triu(weights, 1) + np.triu(weights, 1).T + 1e-12
        size = int(generator.integers(2, d + 1))
        found = choose_best(weights, size)
        assert len(set(found.tolist())) == size
        best = max(inside(weights, subset) for subset in itertools.combinations(range(d), size))
        assert inside(weights, found) >= best * (1 - 1e-7)


def test_the_programs_next_subset_is_the_best_of_the_damped_scores():
    scores, visits = np.abs(random_scores(6, 8)), np.zeros((8, 8))
    for row in sample_by_program(scores, 12, size=4).variables:
        damped = scores / np.sqrt(1 + visits)
        best = max(inside(damped, subset) for subset in itertools.combinations(range(8), 4))
        assert inside(damped, row) >= best * (1 - 2 * TIE) - 1e-6
        visits[np.ix_(row, row)] += 1
    assert np.linalg.matrix_rank(visits) > 4  # damping moved it on


def test_without_scipy_the_program_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name == "scipy" or name.startswith("scipy.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(DataError, match="pip install scipy"):
        draw("program", 6, 2)
    assert draw("mixture", 6, 2).variables.shape == (2, 5)
