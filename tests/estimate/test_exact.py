"""The best DAG against the enumeration of all of them."""

import numpy as np
import pytest
from scored import adjacencies_of, degenerate_tables, every_dag, masks_of, member_score, permuted, random_experiment, random_regimes, random_table

from seacausal.errors import DataError
from seacausal.estimate.exact import estimate_exact, exact_each
from seacausal.estimate.ges import estimate_ges
from seacausal.estimate.gies import estimate_gies
from seacausal.estimate.scores import score_table
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.essential import cut_masks
from seacausal.graph.marks import ARROW


def best_of(scores: np.ndarray, *, essential: bool, cut: np.ndarray | None = None) -> np.ndarray:
    k = len(scores)
    marks = np.full((1, k, k), -1, np.int8)
    exact_each(scores[None], np.zeros((1, k), np.int64) if cut is None else cut[None], essential, marks)
    return marks[0]


def total_of(scores: np.ndarray, dags: np.ndarray) -> np.ndarray:
    return scores[np.arange(len(scores)), dags].sum(1)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_random_scores(k):
    dags = every_dag(k)
    generator = np.random.default_rng(k)
    for _ in range(200):
        scores = generator.standard_normal((k, 1 << k))
        best = dags[np.argmax(total_of(scores, dags))]
        np.testing.assert_array_equal(masks_of(best_of(scores, essential=False) == ARROW), best)
        np.testing.assert_array_equal(best_of(scores, essential=True), essential_graph(adjacencies_of(best[None])[0]))


def test_random_scores_of_five_variables(dags):
    generator = np.random.default_rng(5)
    for _ in range(100):
        scores, regimes = generator.standard_normal((5, 32)), generator.random((2, 5)) < 0.3
        best = dags[np.argmax(total_of(scores, dags))]
        np.testing.assert_array_equal(masks_of(best_of(scores, essential=False) == ARROW), best)
        expected = essential_graph(adjacencies_of(best[None])[0], regimes)
        np.testing.assert_array_equal(best_of(scores, essential=True, cut=cut_masks(regimes)), expected)


def test_tables(dags):
    for seed in range(60):
        regimes = random_regimes(seed, 5)
        table, targeted = random_experiment(seed, 5, regimes)
        scores = score_table(table, targeted)
        total = total_of(scores, dags)
        found = estimate_exact(table, targeted)
        expected = {essential_graph(adjacencies_of(dag[None])[0], regimes).tobytes() for dag in dags[total > total.max() - 1e-7]}
        assert found.tobytes() in expected
        assert len(expected) == 1, "DAGs as good as the best are of its class"
        dag = estimate_exact(table, targeted, output="DAG") == ARROW
        assert total_of(scores, masks_of(dag)[None])[0] == pytest.approx(total.max())
        np.testing.assert_array_equal(essential_graph(dag, regimes), found)


@pytest.mark.parametrize("k", [5, 8, 10])
def test_no_search_beats_it(k):
    differ = 0
    for seed in range(40 if k == 5 else 8):
        table = random_table(seed, k)
        scores, found = score_table(table), estimate_exact(table)
        for other in (estimate_ges(table), estimate_ges(table, turning=True), estimate_gies(table)):
            gap = member_score(scores, found) - member_score(scores, other)
            assert gap > -1e-7
            assert (gap < 1e-7) == np.array_equal(found, other)
            differ += gap > 1e-7
    assert differ > 0


def test_the_penalty_counts():
    table = random_table(3, 6)
    edges = [(estimate_exact(table, penalty=penalty) > 0).sum() for penalty in (0.1, 1, 10, 1000)]
    assert edges == sorted(edges, reverse=True)
    assert edges[0] > edges[1] > edges[3] == 0


def test_permuting_variables_permutes_the_graph():
    for seed in range(40):
        table, targeted = random_experiment(seed, 6, random_regimes(seed, 6))
        order = np.random.default_rng(seed).permutation(6)
        np.testing.assert_array_equal(estimate_exact(table[:, order], targeted[:, order]), permuted(estimate_exact(table, targeted), order))


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_an_answer(kind):
    table = degenerate_tables()[kind]
    marks = estimate_exact(table)
    assert ((marks == 0) == (marks.T == 0)).all()
    np.testing.assert_array_equal(marks, estimate_exact(table))
    assert not estimate_exact(table, np.ones(table.shape, bool)).any()
    if kind == "constant":
        assert not marks[4].any()
    if kind in ("all constant", "one row"):
        assert not marks.any()
    if kind == "dependent":
        assert marks[4, [0, 3]].all()


def test_masks_that_hold_the_variable_are_never_read():
    scores = score_table(random_table(1))
    expected = best_of(scores, essential=True)
    scores[np.arange(32) >> np.arange(5)[:, None] & 1 == 1] = np.nan
    np.testing.assert_array_equal(best_of(scores, essential=True), expected)


def test_other_outputs_are_refused():
    with pytest.raises(DataError, match="'PAG'"):
        estimate_exact(random_table(0), output="PAG")
