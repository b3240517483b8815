"""The greedy sampler against a naive twin and against what its counts must say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from seacausal.errors import DataError
from seacausal.sample.subsets import _pick, _pick_in_order, next_random, sample_subsets, start_state


def recount(variables: np.ndarray, d: int) -> np.ndarray:
    visits = np.zeros((d, d), int)
    for subset in variables:
        for i, j in itertools.permutations(subset, 2):
            visits[i, j] += 1
    return visits


def random_scores(seed: int, d: int) -> np.ndarray:
    """Symmetric and of very different sizes."""
    scores = np.random.default_rng(seed).standard_normal((d, d)) ** 3
    return np.triu(scores, 1) + np.triu(scores, 1).T


def sample_naively(scores: np.ndarray, count: int, size: int, random_share: float, generator: np.random.Generator) -> np.ndarray:
    """Visits of method.md, section 1, word by word."""
    d = len(scores)
    visits = np.zeros((d, d))
    for t in range(count):
        a = np.ones((d, d)) if t < round(count * random_share) else np.abs(scores)
        damped = a / np.sqrt(1 + visits)
        np.fill_diagonal(damped, 0)
        drawn: list[int] = []
        while len(drawn) < size:
            weight = damped[drawn].sum(0) if drawn else damped.sum(1)
            weight[drawn] = 0
            drawn.append(int(generator.choice(d, p=weight / weight.sum())))
        visits[np.ix_(drawn, drawn)] += 1
    np.fill_diagonal(visits, 0)
    return visits


def draw_in_order(weights: np.ndarray, visits: np.ndarray, count: int, size: int, state: np.uint64) -> list[list[int]]:
    """The sampler's draws with every sum taken one by one, in the order of the variables."""
    d, drawn = len(weights), []
    row_sums = [sum((weights[i] / np.sqrt(1.0 + visits[i])).tolist()) for i in range(d)]
    for _ in range(count):
        subset: list[int] = []
        while len(subset) < size:
            weight = [sum(float(weights[i, j] / np.sqrt(1.0 + visits[i, j])) for i in subset) for j in range(d)] if subset else list(row_sums)
            for i in subset:
                weight[i] = 0.0
            state, uniform = next_random(np.uint64(state))
            level, at = uniform * sum(max(w, 0.0) for w in weight), -1
            while at < d - 1 and level >= 0.0:
                at += 1
                level -= max(weight[at], 0.0)
            subset.append(at)
        for i in subset:
            for j in subset:
                row_sums[i] += float(weights[i, j] / np.sqrt(2.0 + visits[i, j]) - weights[i, j] / np.sqrt(1.0 + visits[i, j]))
        for i, j in itertools.permutations(subset, 2):
            visits[i, j] += 1
        drawn.append(subset)
    return drawn


@pytest.mark.parametrize("d", [7, 63, 64, 65, 150])
def test_sums_by_blocks_draw_what_sums_in_order_draw(d):
    scores, visits = random_scores(d, d) + np.random.default_rng(d).random((d, d)), np.zeros((d, d))
    sizes = np.abs(scores)
    weights = (sizes + sizes.T) / 2 + 1e-9 * (1 + sizes[~np.eye(d, dtype=bool)].max())
    np.fill_diagonal(weights, 0)
    even = draw_in_order(1 - np.eye(d), visits, 60, 5, start_state(8))
    assert sample_subsets(scores, 120, seed=4).variables.tolist() == even + draw_in_order(weights, visits, 60, 5, start_state(9))


@pytest.mark.parametrize("weight", [np.ones(300), np.full(300, 0.1), np.full(100, 1 / 3), np.tile([0.1, 0.0, -1e-17, 0.7], 50), np.zeros(70)])
def test_a_share_on_the_edge_of_a_variable_is_decided_by_sums_in_order(weight):
    """Shares that are, to rounding, those of the first 0, 1, 2, ... variables."""
    edges = np.cumsum(weight) / max(weight.sum(), 1)
    shares = [u for edge in edges for u in (edge, np.nextafter(edge, 0), np.nextafter(edge, 1)) if 0 <= u < 1]
    assert [_pick(weight, u) for u in shares] == [_pick_in_order(weight, u) for u in shares]


def test_splitmix64():
    """The first numbers from seed 1234567 of the reference implementation (Vigna, 2015), their upper 53 bits."""
    expected = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821)
    state, found = np.uint64(1234567), []
    for _ in expected:
        state, uniform = next_random(np.uint64(state))
        found.append(uniform)
    assert found == [(number >> 11) / 2**53 for number in expected]


sizes = st.integers(2, 25)


@settings(max_examples=100, deadline=None)
@given(
    data=st.data(),
    d=sizes,
    count=st.integers(0, 60),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**62 - 1),
)
def test_variables_are_distinct_and_visits_counted(data, d, count, share, seed):
    size = data.draw(st.integers(2, min(d, 6)))
    scores = data.draw(hnp.arrays(float, (d, d), elements=st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e9]), st.floats(-1, 1))))
    subset = sample_subsets(scores, count, size=size, random_share=share, seed=seed)
    assert subset.variables.shape == (count, size)
    assert all(len(set(row)) == size and set(row) <= set(range(d)) for row in subset.variables.tolist())
    assert np.array_equal(subset.visits, recount(subset.variables, d))


def test_the_seed_decides():
    scores = random_scores(0, 12)
    first, again, other = (sample_subsets(scores, 40, seed=seed) for seed in (3, 3, 4))
    assert first.variables.tobytes() == again.variables.tobytes()
    assert first.visits.tobytes() == again.visits.tobytes()
    for half in (slice(20), slice(20, 40)):
        assert not np.array_equal(first.variables[half], other.variables[half])


def test_the_random_half_comes_first_and_ignores_the_scores():
    first, other = (sample_subsets(random_scores(seed, 12), 40, random_share=0.5).variables for seed in (0, 1))
    assert np.array_equal(first[:20], other[:20])
    assert not np.array_equal(first[20:], other[20:])


def test_only_sizes_of_scores_matter():
    scores = random_scores(0, 12)
    expected = sample_subsets(scores, 40).variables
    assert np.array_equal(sample_subsets(-scores, 40).variables, expected)
    assert np.array_equal(sample_subsets(2 * np.triu(scores), 40).variables, expected)
    assert np.array_equal(sample_subsets(scores + np.eye(12) * np.abs(scores).max(), 40).variables, expected)


def test_all_pairs_are_visited_and_evenly():
    """2,000 visits of 190 pairs. Even draws without damping give counts of variance 9.7; damping spreads them more evenly, about 7."""
    pairs = np.triu_indices(20, 1)
    visits = np.array([sample_subsets(np.zeros((20, 20)), 200, random_share=1.0, seed=seed).visits[pairs] for seed in range(10)])
    assert (visits.sum(1) == 2000).all()
    assert visits.min() > 0
    assert visits.var(1).mean() < 8.3


def test_scores_of_a_pair_raise_its_visits():
    scores = np.full((15, 15), 0.01)
    flat = sample_subsets(scores, 100, random_share=0.0).visits
    scores[2, 9] = scores[9, 2] = 1.0
    raised = sample_subsets(scores, 100, random_share=0.0).visits
    assert raised[2, 9] > 2 * flat[2, 9]
    assert raised[2, 9] == raised.max()
    assert sample_subsets(scores, 100, random_share=1.0).visits[2, 9] < 0.5 * raised[2, 9]


def test_scores_of_zero_still_fill_a_subset():
    """One pair alone has a score, and every subset needs three further variables."""
    scores = np.zeros((8, 8))
    scores[1, 4] = scores[4, 1] = 0.7
    variables = sample_subsets(scores, 50, random_share=0.0).variables
    assert all({1, 4} <= set(row) for row in variables.tolist())
    assert set(variables.ravel().tolist()) == set(range(8))


@pytest.mark.parametrize(("d", "count", "size", "share"), [(8, 12, 5, 0.5), (8, 12, 5, 0.0), (6, 60, 2, 0.0), (12, 8, 5, 1.0)])
def test_frequencies_are_those_of_the_naive_sampler(d, count, size, share):
    """Means over runs of each pair's and each variable's visits, and of their squares, within 4.5 standard errors."""
    scores, runs, generator = random_scores(2, d), 250, np.random.default_rng([5, d, count])
    ours = np.array([sample_subsets(scores, count, size=size, random_share=share, seed=seed).visits for seed in range(runs)], float)
    naive = np.array([sample_naively(scores, count, size, share, generator) for _ in range(runs)])
    for a, b in ((ours, naive), (ours.sum(1), naive.sum(1)), (ours**2, naive**2), (ours.sum(1) ** 2, naive.sum(1) ** 2)):
        error = np.sqrt((a.var(0) + b.var(0)) / runs) + 1e-3
        assert (np.abs(a.mean(0) - b.mean(0)) < 4.5 * error).all()


def test_the_first_variable_is_drawn_by_row_sums():
    scores = random_scores(3, 6)
    share = np.abs(scores).sum(1) / np.abs(scores).sum()
    first = [sample_subsets(scores, 1, random_share=0.0, seed=seed).variables[0, 0] for seed in range(4000)]
    found = np.bincount(first, minlength=6) / 4000
    assert (np.abs(found - share) < 4.5 * np.sqrt(share * (1 - share) / 4000)).all()
    assert np.ptp(share) > 20 / math.sqrt(4000)


def test_visits_of_the_random_part_damp_the_scores():
    """Eight random pairs of four variables, then one by equal scores: each pair in proportion to 1 / sqrt(1 + its visits so far)."""
    excess = []
    for seed in range(3000):
        variables = sample_subsets(np.ones((4, 4)), 9, size=2, random_share=8 / 9, seed=seed).variables
        visits = recount(variables[:8], 4)
        chances = (1 / np.sqrt(1 + visits))[np.triu_indices(4, 1)]
        excess.append(visits[tuple(variables[8])] - np.average(visits[np.triu_indices(4, 1)], weights=chances))
    assert abs(np.mean(excess)) < 4.5 * np.std(excess) / math.sqrt(3000)


@pytest.mark.parametrize(("d", "size"), [(4, 5), (1, 2), (0, 5)])
def test_too_few_variables(d, size):
    with pytest.raises(DataError, match=f"subset of {size} variables .* found {d}"):
        sample_subsets(np.ones((d, d)), 10, size=size)
