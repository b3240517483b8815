"""BOSS against the best graph there is, and against causal-learn's GRaSP."""

import random

import numpy as np
import pytest
from scored import degenerate_tables, marks_of_causal_learn, member_score, old_numpy, permuted, random_table

from seacausal.estimate.boss import best_place, boss_each, estimate_boss
from seacausal.estimate.exact import best_parents, estimate_exact
from seacausal.estimate.ges import estimate_ges
from seacausal.estimate.scores import score_table

with old_numpy():
    from causallearn.search.PermutationBased.GRaSP import grasp


@pytest.mark.parametrize(("k", "count"), [(3, 40), (5, 200), (7, 40)])
def test_never_worse_than_grasp(k, count, capsys):
    """Whose penalty is twice that of BIC, and whose starts are random."""
    better = 0
    for seed in range(count):
        table = random_table(seed, k)
        random.seed(seed)
        with old_numpy():
            theirs = marks_of_causal_learn(grasp(table))
        scores = score_table(table, penalty=2)
        gain = member_score(scores, estimate_boss(table, penalty=2)) - member_score(scores, theirs)
        assert gain > -1e-6, seed
        better += gain > 1e-6
    capsys.readouterr()
    assert k == 3 or better > 0


@pytest.mark.parametrize(("k", "count", "share"), [(2, 20, 1.0), (5, 300, 0.99), (8, 60, 0.9)])
def test_nearly_always_the_best_graph(k, count, share):
    equal = 0
    for seed in range(count):
        table = random_table(seed, k)
        scores, found, best = score_table(table), estimate_boss(table), estimate_exact(table)
        gap = member_score(scores, best) - member_score(scores, found)
        assert gap > -1e-7
        assert (gap < 1e-7) == np.array_equal(found, best)
        equal += gap < 1e-7
        assert k > 5 or member_score(scores, found) - member_score(scores, estimate_ges(table)) > -1e-6
    assert equal >= share * count


@pytest.mark.parametrize(("k", "seed"), [(5, 667), (6, 283), (6, 291), (7, 81), (7, 106)])
def test_other_orders_of_the_class_lead_on(k, seed):
    """Tables on which the first 2k starts alone miss the best graph."""
    np.testing.assert_array_equal(estimate_boss(random_table(seed, k)), estimate_exact(random_table(seed, k)))


def test_the_best_place_is_found_and_its_gain_is_true():
    generator = np.random.default_rng(0)
    for _ in range(100):
        inside, choice = np.empty((6, 64)), np.empty((6, 64), np.int64)
        best_parents(generator.standard_normal((6, 64)), inside, choice)
        order, at = generator.permutation(6), int(generator.integers(6))
        rest = np.delete(order, at)
        totals = []
        for place in range(6):
            moved = np.insert(rest, place, order[at])
            totals.append(sum(inside[v, sum(1 << u for u in moved[:p].tolist())] for p, v in enumerate(moved)))
        place, gain = best_place(inside, order, at)
        assert totals[place] == pytest.approx(max(totals))
        assert gain == pytest.approx(max(totals) - totals[at])


def test_permuting_variables_permutes_the_graph():
    """Where the best graph is found, as on all of these; starts follow the order of the columns."""
    for seed in range(60):
        table, order = random_table(seed), np.random.default_rng(seed).permutation(5)
        np.testing.assert_array_equal(estimate_boss(table[:, order]), permuted(estimate_boss(table), order))


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_an_answer(kind):
    table = degenerate_tables()[kind]
    marks = estimate_boss(table)
    assert ((marks == 0) == (marks.T == 0)).all()
    np.testing.assert_array_equal(marks, estimate_boss(table))
    if kind == "constant":
        assert not marks[4].any()
    if kind in ("all constant", "one row"):
        assert not marks.any()


def test_scores_that_fit_no_data_come_to_an_end():
    scores = np.random.default_rng(0).standard_normal((300, 5, 32)) * 10
    marks = np.full((300, 5, 5), -1, np.int8)
    boss_each(scores, marks)
    assert ((marks == 0) == (marks.transpose(0, 2, 1) == 0)).all()
