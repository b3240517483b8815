"""The 80 tests against numpy's inverse and scipy's formula, and columns that carry nothing of their own."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from seacausal.estimate.partial_correlation import PAIR_INDEX, PAIRS, SET_SIZE, condition, fisher_thresholds, independence_bits


def conditional_of(covariance: np.ndarray) -> np.ndarray:
    conditional = np.full((32, 5, 5), np.nan)
    condition(np.ascontiguousarray(covariance, float), conditional)
    return conditional


def bits_of(covariance: np.ndarray, rows: int) -> np.ndarray:
    bits = np.full(10, 2**32 - 1, np.uint32)
    independence_bits(conditional_of(covariance), fisher_thresholds(rows), bits)
    return bits


def random_table(seed: int, rows: int = 60) -> np.ndarray:
    generator = np.random.default_rng(seed)
    scales = 10.0 ** generator.uniform(-6, 6, 5)
    return generator.standard_normal((rows, 5)) @ generator.standard_normal((5, 5)) * scales


def members(given: int) -> list[int]:
    return [v for v in range(5) if given >> v & 1]


def questions() -> list[tuple[int, int, int, int]]:
    """(pair, i, j, given) of all 80 tests."""
    return [(p, i, j, s) for p, (i, j) in enumerate(PAIRS) for s in range(32) if not s & (1 << i | 1 << j)]


def test_tables():
    assert list(PAIRS) == list(itertools.combinations(range(5), 2))
    assert all(PAIR_INDEX[i, j] == PAIR_INDEX[j, i] == p for p, (i, j) in enumerate(PAIRS))
    assert (np.diag(PAIR_INDEX) == -1).all()
    assert SET_SIZE.tolist() == [len(members(s)) for s in range(32)]
    assert len(questions()) == 80


@pytest.mark.parametrize("seed", range(20))
def test_conditional_covariance_is_the_schur_complement(seed):
    covariance = np.cov(random_table(seed).T)
    conditional = conditional_of(covariance)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    for given in range(32):
        inside = members(given)
        outside = [v for v in range(5) if v not in inside]
        expected = covariance[np.ix_(outside, outside)]
        if inside:
            slopes = np.linalg.solve(covariance[np.ix_(inside, inside)], covariance[np.ix_(inside, outside)])
            expected = expected - covariance[np.ix_(outside, inside)] @ slopes
        np.testing.assert_allclose(
            conditional[given][np.ix_(outside, outside)] / scale[np.ix_(outside, outside)], expected / scale[np.ix_(outside, outside)], atol=1e-9
        )
        np.testing.assert_allclose(conditional[given][inside] / scale[inside], 0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_partial_correlation_is_read_off_the_precision_matrix(seed):
    correlation = np.corrcoef(random_table(seed).T)
    conditional = conditional_of(correlation)
    for _, i, j, given in questions():
        precision = np.linalg.inv(correlation[np.ix_([i, j, *members(given)], [i, j, *members(given)])])
        expected = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
        found = conditional[given, i, j] / math.sqrt(conditional[given, i, i] * conditional[given, j, j])
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rows", [5, 6, 7, 8, 30, 500])
def test_decisions_are_those_of_fishers_z(rows):
    for seed in range(20):
        table = random_table(seed, 60)
        covariance = np.cov((table + 3 * np.random.default_rng(seed).standard_normal(table.shape) * table.std(0)).T)
        correlation = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        bits = bits_of(covariance, rows)
        for p, i, j, given in questions():
            degrees = rows - len(members(given)) - 3
            independent = True
            if degrees > 0:
                precision = np.linalg.inv(correlation[np.ix_([i, j, *members(given)], [i, j, *members(given)])])
                z = math.atanh(-precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1]))
                independent = 2 * stats.norm.sf(math.sqrt(degrees) * abs(z)) > 0.05
            assert bool(int(bits[p]) >> given & 1) == independent


def test_sets_that_hold_an_end_of_the_pair_have_no_bit():
    asked = np.zeros(10, np.uint32)
    for p, _, _, given in questions():
        asked[p] |= np.uint32(1 << given)
    assert (bits_of(np.eye(5), 500) == asked).all()


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_thresholds(alpha):
    found = fisher_thresholds(100, alpha)
    expected = [math.tanh(stats.norm.ppf(1 - alpha / 2) / math.sqrt(97 - size)) ** 2 for size in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (np.diff(found) > 0).all()


def test_without_degrees_of_freedom_independence_is_accepted():
    assert fisher_thresholds(3).tolist() == [1, 1, 1, 1]
    assert (fisher_thresholds(5) < 1).tolist() == [True, True, False, False]
    scaled_copies = np.cov(np.outer(np.random.default_rng(0).standard_normal(50), [1, 0.1, 1 / 3, 1e-7, 7e7]).T)
    assert (bits_of(scaled_copies, 3) == bits_of(np.eye(5), 500)).all()


def test_a_constant_column_is_independent_of_everything():
    table = random_table(0, 500)
    table[:, 2] = 4.0
    conditional, bits = conditional_of(np.cov(table.T)), bits_of(np.cov(table.T), 500)
    assert np.isfinite(conditional).all()
    assert all(int(bits[p]) >> given & 1 for p, i, j, given in questions() if 2 in (i, j))
    # To condition on it is to condition on nothing.
    np.testing.assert_array_equal(conditional[0b10110], conditional[0b10010])


@pytest.mark.parametrize("scale", [1.0, -3.7e-5, 1 / 3])
@pytest.mark.parametrize("copy", [0, 2, 4])
def test_a_duplicate_separates_its_twin_from_the_rest(copy, scale):
    table = random_table(1, 500)
    table[:, copy] = scale * table[:, 1] + 2
    conditional, bits = conditional_of(np.cov(table.T)), bits_of(np.cov(table.T), 500)
    assert np.isfinite(conditional).all()
    assert bits[PAIR_INDEX[1, copy]] == 0
    for p, i, j, given in questions():
        if (i, j) != (min(1, copy), max(1, copy)) and any(twin in (i, j) and given >> other & 1 for twin, other in ((1, copy), (copy, 1))):
            assert int(bits[p]) >> given & 1


@pytest.mark.parametrize(
    "covariance", [np.zeros((5, 5)), np.ones((5, 5)), np.full((5, 5), 1e300), np.full((5, 5), 1e-300), np.diag([1e-300, 1, 1e300, 0, 1e-8])]
)
def test_degenerate_covariances_give_no_nan(covariance):
    with np.errstate(all="ignore"):
        assert np.isfinite(conditional_of(covariance)).all()
    bits_of(covariance, 500)


def test_a_sum_is_determined_by_its_terms():
    table = random_table(2, 500)
    table /= table.std(0)
    table[:, 4] = table[:, :4].sum(1)
    conditional, bits = conditional_of(np.cov(table.T)), bits_of(np.cov(table.T), 500)
    assert np.isfinite(conditional).all()
    assert abs(conditional[0b01111, 4, 4]) < 1e-10
    assert np.isfinite(bits.astype(float)).all()
