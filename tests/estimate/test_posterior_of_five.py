"""The exact posterior of five variables against the enumeration of all DAGs, and local scores against least squares."""

import itertools
import math

import numpy as np
import pytest

from seacausal.estimate.partial_correlation import condition
from seacausal.estimate.posterior import dag_posterior
from seacausal.estimate.scores import score_parents


def posterior_of(scores: np.ndarray) -> np.ndarray:
    direct = np.full((5, 5), np.nan)
    dag_posterior(np.ascontiguousarray(scores, float), direct)
    return direct


def scores_of(covariance: np.ndarray, rows: int) -> np.ndarray:
    conditional, scores = np.empty((32, 5, 5)), np.empty((5, 32))
    condition(np.ascontiguousarray(covariance, float), conditional)
    for v in range(5):
        score_parents(conditional[:, v, v], float(covariance[v, v]), float(rows), scores[v])
    return scores


def own_masks() -> np.ndarray:
    """(5, 32) bool, where a mask contains the variable itself."""
    return np.arange(32) >> np.arange(5)[:, None] & 1 == 1


def test_there_are_29281_dags(dags):
    assert len(dags) == 29_281


def test_flat_scores_give_the_share_of_dags_with_an_edge(dags, enumerate_posterior):
    direct = posterior_of(np.zeros((5, 32)))
    share = np.mean(dags[:, 1] & 1)  # 0 -> 1
    np.testing.assert_allclose(direct[~np.eye(5, dtype=bool)], share, rtol=1e-12)
    assert (np.diag(direct) == 0).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [0.01, 0.3, 1, 2, 3, 5, 10, 100, 5000])
def test_posterior_is_that_of_all_dags(spread, seed, enumerate_posterior):
    scores = spread * np.random.default_rng([seed, int(100 * spread)]).standard_normal((5, 32))
    direct = posterior_of(scores)
    np.testing.assert_allclose(direct, enumerate_posterior(scores), rtol=0, atol=1e-10)
    assert direct.max() <= 1 + 1e-12
    assert (direct + direct.T).max() <= 1 + 1e-12


@pytest.mark.parametrize("offset", [-1e5, 1e5])
def test_a_constant_added_to_a_variables_scores_changes_nothing(offset):
    scores = np.random.default_rng(0).standard_normal((5, 32))
    shifted = scores + offset * np.array([1, -2, 3, 0, 5])[:, None]
    np.testing.assert_allclose(posterior_of(shifted), posterior_of(scores), rtol=0, atol=1e-8)


def test_masks_that_contain_the_variable_are_never_read():
    scores = np.random.default_rng(1).standard_normal((5, 32))
    expected = posterior_of(scores)
    scores[own_masks()] = np.nan
    assert np.array_equal(posterior_of(scores), expected)


def test_permuting_variables_permutes_the_posterior():
    """Every variable may be the last one, which is summed out first."""
    scores = np.random.default_rng(2).standard_normal((5, 32))
    expected = posterior_of(scores)
    for order in itertools.permutations(range(5)):
        moved = np.array([sum(1 << order.index(u) for u in range(5) if mask >> u & 1) for mask in range(32)])
        permuted = np.empty((5, 32))
        permuted[:, moved] = scores[list(order)]
        np.testing.assert_allclose(posterior_of(permuted), expected[np.ix_(order, order)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows", [10, 40, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_least_squares(seed, rows, score_by_least_squares):
    generator = np.random.default_rng([seed, rows])
    table = generator.standard_normal((rows, 5)) @ generator.standard_normal((5, 5)) * 10.0 ** generator.uniform(-3, 3, 5) + 3
    scores = scores_of(np.cov(table.T, bias=True), rows)
    for v in range(5):
        inside = ~own_masks()[v]
        np.testing.assert_allclose(scores[v, inside], score_by_least_squares(table, v)[inside], rtol=1e-7, atol=1e-7)


def test_a_determined_variable_gains_a_bounded_score():
    """Residual variances count down to 1e-10 of the whole."""
    table = np.random.default_rng(3).standard_normal((100, 5))
    table[:, 4] = table[:, 0] - table[:, 1]
    scores = scores_of(np.cov(table.T, bias=True), 100)
    assert scores[4, 0b00011] == pytest.approx(50 * math.log(1e10) - math.log(100))
    assert np.isfinite(posterior_of(scores)).all()


def test_constant_variables_have_no_parents():
    table = np.random.default_rng(4).standard_normal((1000, 5))
    table[:, 2] = 1.0
    scores = scores_of(np.cov(table.T, bias=True), 1000)
    count = np.array([mask.bit_count() for mask in range(32)])
    np.testing.assert_allclose(scores[2], -count * math.log(1000) / 2)
    direct = posterior_of(scores)
    assert np.isfinite(direct).all()
    assert direct[2].max() < 0.1
    assert direct[:, 2].max() < 0.1


def test_no_rows_give_no_preference():
    """A variable that is a target in every row of a subset."""
    scores = scores_of(np.zeros((5, 5)), 0)
    assert np.isfinite(scores).all()
    direct = posterior_of(scores)
    np.testing.assert_allclose(direct, direct.T)
