"""GES against causal-learn 0.1.3.7, and on graphs that are known."""

import numpy as np
import pytest
from scored import degenerate_tables, every_dag, marks_of_causal_learn, masks_of, member_score, old_numpy, permuted, random_table

from seacausal.estimate.ges import estimate_ges, ges_each
from seacausal.estimate.scores import score_table
from seacausal.graph.equivalence import essential_graph

with old_numpy():
    from causallearn.search.ScoreBased.GES import ges


def reference(table: np.ndarray, most_parents: float | None = None) -> np.ndarray:
    with old_numpy():
        return marks_of_causal_learn(ges(table, "local_score_BIC", maxP=most_parents)["G"])


@pytest.mark.parametrize(("k", "count"), [(2, 30), (3, 60), (4, 60), (5, 150), (6, 25), (7, 10)])
def test_equals_causal_learn(k, count):
    """Whose penalty is twice that of BIC, and which inserts no edge into a variable with more than k / 2 parents."""
    for seed in range(count):
        table = random_table(seed, k)
        np.testing.assert_array_equal(estimate_ges(table, penalty=2, most_parents=k / 2), reference(table), err_msg=str(seed))


def test_equals_causal_learn_without_a_limit_of_parents():
    limited = 0
    for seed in range(200, 260):
        table = random_table(seed)
        found = estimate_ges(table, penalty=2)
        np.testing.assert_array_equal(found, reference(table, 5), err_msg=str(seed))
        limited += not np.array_equal(found, estimate_ges(table, penalty=2, most_parents=2.5))
    assert limited > 0


def test_equals_causal_learn_with_the_penalty_of_bic():
    for seed in range(300, 340):
        table = random_table(seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("causallearn.search.ScoreBased.GES.local_score_BIC_from_cov", half_penalty)
            np.testing.assert_array_equal(estimate_ges(table, most_parents=2.5), reference(table), err_msg=str(seed))


def half_penalty(data, v, parents, parameters):
    covariance, n = np.cov(data.T), len(data)
    if not len(parents):
        return n * np.log(covariance[v, v])
    to_v = covariance[np.ix_([v], parents)]
    left = covariance[v, v] - to_v @ np.linalg.solve(covariance[np.ix_(parents, parents)], to_v.T)
    return n * np.log(left.item()) + np.log(n) * len(parents)


def oracle_scores(dag: np.ndarray, k: int) -> np.ndarray:
    """(k, 2**k) scores of very many rows of a linear system with this DAG, (k,) parent masks."""
    generator = np.random.default_rng(dag.tolist())
    weights = (dag[None] >> np.arange(k)[:, None] & 1) * generator.uniform(0.5, 1.2, (k, k)) * generator.choice([-1, 1], (k, k))
    spread = np.linalg.inv(np.eye(k) - weights)
    covariance = spread.T @ spread
    scores = np.zeros((k, 1 << k))
    for v in range(k):
        for mask in range(1 << k):
            parents = [u for u in range(k) if mask >> u & 1 and u != v]
            left = covariance[v, v] - covariance[v, parents] @ np.linalg.solve(covariance[np.ix_(parents, parents)], covariance[parents, v])
            scores[v, mask] = -0.5e8 * np.log(left) - 10 * len(parents)
    return scores


def test_finds_the_class_of_every_dag_of_four_variables_in_the_limit():
    """Chickering (2002), theorem 4."""
    dags = every_dag(4)
    marks = np.full((len(dags), 4, 4), -1, np.int8)
    ges_each(np.array([oracle_scores(dag, 4) for dag in dags]), 64.0, False, marks)
    for dag, found in zip(dags, marks):
        np.testing.assert_array_equal(found, essential_graph(dag >> np.arange(4)[:, None] & 1))


def test_turning_never_lowers_the_score_and_often_raises_it():
    raised = 0
    for seed in range(150):
        table = random_table(seed)
        scores = score_table(table)
        gain = member_score(scores, estimate_ges(table, turning=True)) - member_score(scores, estimate_ges(table))
        assert gain > -1e-6
        raised += gain > 1e-6
    assert raised > 3


def test_permuting_variables_permutes_the_graph():
    for seed in range(60):
        table, order = random_table(seed, 6), np.random.default_rng(seed).permutation(6)
        for turning in (False, True):
            found = estimate_ges(table[:, order], turning=turning)
            np.testing.assert_array_equal(found, permuted(estimate_ges(table, turning=turning), order))


def test_scale_and_shift_change_nothing():
    table = random_table(4, 6)
    moved = table * np.array([1e-6, 3, -1, 1e5, 7, 0.1]) + np.arange(6)
    np.testing.assert_array_equal(estimate_ges(moved), estimate_ges(table))


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_an_answer(kind):
    table = degenerate_tables()[kind]
    for turning in (False, True):
        marks = estimate_ges(table, turning=turning)
        assert ((marks == 0) == (marks.T == 0)).all()
        np.testing.assert_array_equal(marks, estimate_ges(table, turning=turning))
    if kind == "constant":
        assert not marks[4].any()
    if kind in ("all constant", "one row"):
        assert not marks.any()
    if kind == "duplicated":
        assert marks[0, 3]
        assert marks[1, 4]


@pytest.mark.parametrize("turning", [False, True])
def test_scores_that_fit_no_data_come_to_an_end(turning):
    scores = np.random.default_rng(0).standard_normal((300, 5, 32)) * 10
    marks = np.full((300, 5, 5), -1, np.int8)
    ges_each(scores, 64.0, turning, marks)
    assert ((marks == 0) == (marks.transpose(0, 2, 1) == 0)).all()


def test_masks_that_hold_the_variable_are_never_read():
    scores = np.array([score_table(random_table(seed)) for seed in range(50)])
    expected, marks = np.empty((50, 5, 5), np.int8), np.empty((50, 5, 5), np.int8)
    ges_each(scores, 64.0, True, expected)
    scores[:, np.arange(32) >> np.arange(5)[:, None] & 1 == 1] = np.nan
    ges_each(scores, 64.0, True, marks)
    np.testing.assert_array_equal(marks, expected)


def test_masks_of_an_adjacency():
    assert masks_of(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])).tolist() == [0, 1, 3]
