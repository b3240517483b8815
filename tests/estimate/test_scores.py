"""Local scores of any number of variables against least squares and against `gies`."""

import numpy as np
import pytest
from gies.scores import GaussIntL0Pen
from scored import degenerate_tables, random_experiment, random_regimes, random_table

from seacausal.errors import DataError
from seacausal.estimate.partial_correlation import condition, condition_all
from seacausal.estimate.scores import score_each, score_parents, score_table, score_targeted_each


def by_least_squares(rows: np.ndarray, v: int, penalty: float) -> np.ndarray:
    n, k = rows.shape
    scores = np.zeros(1 << k)
    for mask in np.flatnonzero(outside(k, v)).tolist():
        parents = [u for u in range(k) if mask >> u & 1]
        design = np.column_stack([np.ones(n), rows[:, parents]])
        left = rows[:, v] - design @ np.linalg.lstsq(design, rows[:, v], rcond=None)[0]
        scores[mask] = -n / 2 * np.log(left.var() / rows[:, v].var()) - penalty * len(parents) / 2 * np.log(n)
    return scores


def outside(k: int, v: int) -> np.ndarray:
    return np.arange(1 << k) >> v & 1 == 0


@pytest.mark.parametrize(("k", "penalty"), [(2, 1.0), (3, 2.0), (5, 1.0), (6, 0.5), (8, 2.0)])
def test_scores_are_those_of_least_squares(k, penalty):
    table = random_table(k, k, 200) * 10.0 ** np.random.default_rng(k).uniform(-3, 3, k) + 5
    scores = score_table(table, penalty=penalty)
    assert scores.shape == (k, 1 << k)
    for v in range(k):
        np.testing.assert_allclose(scores[v, outside(k, v)], by_least_squares(table, v, penalty)[outside(k, v)], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_a_variable_is_scored_on_the_rows_where_it_was_free(seed):
    table, targeted = random_experiment(seed, 5, random_regimes(seed, 5))
    scores = score_table(table, targeted, penalty=1.5)
    for v in range(5):
        expected = by_least_squares(table[~targeted[:, v]], v, 1.5)
        np.testing.assert_allclose(scores[v, outside(5, v)], expected[outside(5, v)], rtol=1e-7, atol=1e-7)
    assert (seed % 5 == 0) == np.array_equal(scores, score_table(table, penalty=1.5))


@pytest.mark.parametrize("seed", range(1, 10))
def test_scores_with_a_mean_per_regime_are_those_of_gies(seed):
    """gies counts all rows in its penalty, where ours counts those that the score is of."""
    regimes = random_regimes(seed, 4)
    table, targeted = random_experiment(seed, 4, regimes)
    parts = [table[(targeted == regime).all(1)] for regime in regimes]
    reference = GaussIntL0Pen(parts, [np.flatnonzero(regime).tolist() for regime in regimes])
    scores = score_table(table, targeted, shared_mean=False)
    for v in range(4):
        count = (~targeted[:, v]).sum()
        for mask in np.flatnonzero(outside(4, v)).tolist():
            parents = {u for u in range(4) if mask >> u & 1}
            theirs = reference.local_score(v, parents) - reference.local_score(v, set())
            assert scores[v, mask] + len(parents) / 2 * np.log(count / len(table)) == pytest.approx(theirs, abs=1e-7)


def test_condition_is_that_of_five_variables():
    table = random_table(3)
    table[:, 3] = table[:, 0] - table[:, 1]
    covariance = np.cov(table.T)
    ours, fast = np.empty((32, 5, 5)), np.empty((32, 5, 5))
    condition_all(covariance, ours)
    condition(covariance, fast)
    np.testing.assert_array_equal(ours, fast)


def test_loops_do_each_subset_alone():
    tables = [random_table(seed, 4, 100 + seed) for seed in range(6)]
    covariances, rows = np.array([np.cov(t.T, bias=True) for t in tables]), np.array([len(t) for t in tables])
    shared, own = np.full((6, 4, 16), np.nan), np.full((6, 4, 16), np.nan)
    score_each(covariances, rows, 1.0, shared)
    score_targeted_each(np.repeat(covariances[:, None], 4, 1).copy(), np.repeat(rows[:, None], 4, 1), 1.0, own)
    np.testing.assert_array_equal(shared, own)
    for table, scores in zip(tables, shared):
        np.testing.assert_allclose(scores, score_table(table), atol=1e-9)


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_finite_scores(kind):
    table = degenerate_tables()[kind]
    targeted = np.zeros(table.shape, bool)
    targeted[::2, 0] = targeted[:, 1] = True  # 1 is never free, and 0 not even once in a table of one row
    for scores in (score_table(table), score_table(table, targeted), score_table(table, targeted, shared_mean=False)):
        assert np.isfinite(scores).all()
        assert (scores[:, 0] == 0).all()
    assert (score_table(table, targeted)[1, 1:] < 0).all()


def test_a_column_that_is_constant_where_it_is_free_gains_nothing():
    table = random_table(0)
    targeted = np.zeros(table.shape, bool)
    targeted[:100, 2] = True
    table[100:, 2] = 0.1
    assert (score_table(table, targeted)[2, 1:] < 0).all()
    two_levels = table.copy()
    two_levels[100:, 2] = np.where(np.arange(200) < 90, 0.1, 0.3)
    targeted[100:190, 3] = True
    assert (score_table(two_levels, targeted, shared_mean=False)[2, 1:] < 0).all()
    assert (score_table(two_levels, targeted)[2, 1:] > 0).any()


def test_penalty_one_is_the_default():
    table = random_table(1)
    conditional, scores = np.empty((32, 5, 5)), np.empty((2, 32))
    condition_all(np.cov(table.T), conditional)
    score_parents(conditional[:, 0, 0], conditional[0, 0, 0], 300.0, scores[0])
    score_parents(conditional[:, 0, 0], conditional[0, 0, 0], 300.0, scores[1], 1.0)
    np.testing.assert_array_equal(scores[0], scores[1])


@pytest.mark.parametrize(
    ("values", "targeted", "penalty", "message"),
    [
        (np.zeros((5, 11)), None, 1, "2 to 10 columns"),
        (np.zeros((5, 1)), None, 1, "2 to 10 columns"),
        (np.zeros((0, 3)), None, 1, "must have rows"),
        (np.array([[0, 1], [np.nan, 2]]), None, 1, "nan in row 1 of column 0"),
        (np.zeros((5, 3)), np.zeros((5, 2)), 1, "shape of `values`"),
        (np.zeros((5, 3)), None, 0, "positive"),
        (np.zeros((5, 3)), None, np.inf, "finite"),
    ],
)
def test_what_is_no_table_is_refused(values, targeted, penalty, message):
    with pytest.raises(DataError, match=message):
        score_table(values, targeted, penalty=penalty)
