"""GIES against the Python package `gies`, for every kind of family of targets."""

import itertools

import gies
import numpy as np
import pytest
from scored import (
    adjacencies_of,
    degenerate_tables,
    every_dag,
    marks_of_adjacency,
    masks_of,
    permuted,
    random_experiment,
    random_regimes,
    random_table,
)

from seacausal.estimate.ges import NO_LIMIT, delete_best, estimate_ges, insert_best, turn_best
from seacausal.estimate.gies import estimate_gies, gies_each
from seacausal.estimate.scores import score_table
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.essential import complete, cut_masks, write_marks
from seacausal.graph.marks import ARROW


class Table:
    """A score for `gies` that looks ours up."""

    def __init__(self, scores: np.ndarray, regimes: np.ndarray) -> None:
        self.scores, self.p = scores, len(scores)
        self.interv = [np.flatnonzero(regime).tolist() for regime in regimes]

    def local_score(self, v, parents):
        return self.scores[v, sum(1 << int(u) for u in parents)]

    def full_score(self, _):
        return 0.0


def search(scores: np.ndarray, regimes: np.ndarray) -> np.ndarray:
    marks = np.full((1, *regimes.shape[1:] * 2), -1, np.int8)
    gies_each(scores[None], cut_masks(regimes)[None], marks)
    return marks[0]


@pytest.mark.parametrize(("k", "count"), [(2, 20), (3, 50), (4, 60), (5, 250), (6, 30), (7, 15)])
def test_equals_gies(k, count):
    directed_by_targets = 0
    for seed in range(count):
        regimes = random_regimes(seed, k)
        table, targeted = random_experiment(seed, k, regimes)
        found = estimate_gies(table, targeted)
        expected = marks_of_adjacency(gies.fit(Table(score_table(table, targeted), regimes))[0])
        np.testing.assert_array_equal(found, expected, err_msg=str(seed))
        directed_by_targets += not np.array_equal(found, search(score_table(table, targeted), regimes[:0]))
    assert directed_by_targets > count / 8


def test_equals_gies_with_its_own_score():
    """A mean per regime, and a penalty by the number of all rows. gies counts a regime that is given twice as two, so none is."""
    for seed in range(150):
        regimes = random_regimes(seed, 5)
        table, targeted = random_experiment(seed, 5, regimes)
        parts = [table[(targeted == regime).all(1)] for regime in regimes]
        expected = gies.fit_bic(parts, [np.flatnonzero(regime).tolist() for regime in regimes])[0]
        scores = score_table(table, targeted, shared_mean=False)
        size = np.array([mask.bit_count() for mask in range(32)])
        scores -= size * 0.5 * (np.log(len(table)) - np.log((~targeted).sum(0)))[:, None]
        np.testing.assert_array_equal(search(scores, regimes), marks_of_adjacency(expected), err_msg=str(seed))


def test_equals_gies_on_scores_that_fit_no_data():
    """Large steps at random: every kind of operator has work. Scores that are not those of data may send gies round for ever; none of these does."""
    generator = np.random.default_rng(0)
    for seed in range(60):
        regimes = np.vstack([np.zeros(5, bool), np.eye(5, dtype=bool)])
        scores = generator.standard_normal((5, 32)) * 3
        np.testing.assert_array_equal(search(scores, regimes), marks_of_adjacency(gies.fit(Table(scores, regimes))[0]), err_msg=str(seed))


@pytest.mark.parametrize("k", [3, 5, 6])
def test_single_steps_equal_those_of_gies_for_any_scores(k):
    """On random essential graphs. Deletion on directed ones only: gies tries a line one way, and such scores tell the ways apart."""
    generator = np.random.default_rng(k)
    taken = dict.fromkeys(("insert", "delete", "turn"), 0)
    for _ in range(150):
        upper, order = np.triu(generator.random((k, k)) < generator.random(), 1), generator.permutation(k)
        regimes = np.vstack([np.zeros(k, bool), generator.random((generator.integers(0, 2), k)) < 0.3])
        dag, cut = upper[np.ix_(order, order)], cut_masks(regimes)
        scores = generator.standard_normal((k, 1 << k))
        start, table = (essential_graph(dag, regimes) > 0).astype(int), Table(scores, regimes)
        start[essential_graph(dag, regimes).T == ARROW] = 0
        for kind, step in (("insert", gies.main.forward_step), ("delete", gies.main.backward_step), ("turn", gies.main.turning_step)):
            arrows, lines, marks = np.empty(k, np.int64), np.empty(k, np.int64), np.empty((k, k), np.int8)
            complete(masks_of(dag), cut, arrows, lines)
            if kind == "delete" and lines.any():
                continue
            gain, after = step(start, table)
            if kind == "insert":
                changed = insert_best(scores, cut, NO_LIMIT, 1e-3, arrows, lines)
            else:
                changed = (delete_best if kind == "delete" else turn_best)(scores, cut, 1e-3, arrows, lines)
            assert changed == (gain > 1e-3)
            if changed:
                write_marks(arrows, lines, marks)
                np.testing.assert_array_equal(marks, marks_of_adjacency(gies.utils.replace_unprotected(after, table.interv)))
                taken[kind] += 1
    assert min(taken.values()) > 15


def test_finds_the_essential_graph_of_most_dags_in_the_limit():
    """GIES is not consistent (Hauser and Buehlmann, 2012, section 4.4), but nearly always right where every DAG of four variables is the truth."""
    right = 0
    dags = adjacencies_of(every_dag(4))
    for at, adjacency in enumerate(dags):
        regimes = (np.eye(4, dtype=bool)[:1], np.array([[True, True, False, False], [False, False, True, False]]))[at % 2]
        generator = np.random.default_rng(at)
        weights = adjacency * generator.uniform(0.5, 1.2, (4, 4)) * generator.choice([-1, 1], (4, 4))
        scores = np.zeros((4, 16))
        for v in range(4):
            covariance = np.zeros((4, 4))
            for regime in np.vstack([np.zeros(4, bool), regimes]):
                if not regime[v]:
                    spread = np.linalg.inv(np.eye(4) - weights * ~regime)
                    covariance += spread.T @ spread
            for mask in range(16):
                parents = [u for u in range(4) if mask >> u & 1 and u != v]
                left = covariance[v, v] - covariance[v, parents] @ np.linalg.solve(covariance[np.ix_(parents, parents)], covariance[parents, v])
                scores[v, mask] = -0.5e6 * (4 - regimes[:, v].sum()) * np.log(left) - 10 * len(parents)
        right += np.array_equal(search(scores, regimes), essential_graph(adjacency, regimes))
    assert right > 0.9 * len(dags)


def test_without_targets_it_is_ges_with_turning():
    for seed in range(100):
        table = random_table(seed)
        expected = estimate_ges(table, turning=True)
        for targeted in (None, np.zeros(table.shape, bool), np.ones(table.shape, bool)[:, :1] & np.zeros(5, bool)):
            np.testing.assert_array_equal(estimate_gies(table, targeted), expected)


def test_one_target_each_directs_every_edge():
    for seed in range(1, 100, 5):
        found = estimate_gies(*random_experiment(seed, 5, random_regimes(1, 5)))
        assert not ((found == 1) & (found.T == 1)).any()


def test_a_regime_may_be_repeated_and_the_order_of_rows_is_irrelevant():
    regimes = random_regimes(3, 5)
    table, targeted = random_experiment(3, 5, regimes)
    order = np.random.default_rng(0).permutation(len(table))
    found = estimate_gies(table, targeted)
    np.testing.assert_array_equal(estimate_gies(table[order], targeted[order]), found)
    np.testing.assert_array_equal(search(score_table(table, targeted), np.vstack([regimes, regimes])), found)


def test_permuting_variables_permutes_the_graph():
    for seed, k in itertools.product(range(30), (5, 6)):
        table, targeted = random_experiment(seed, k, random_regimes(seed, k))
        order = np.random.default_rng(seed).permutation(k)
        np.testing.assert_array_equal(estimate_gies(table[:, order], targeted[:, order]), permuted(estimate_gies(table, targeted), order))


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_an_answer(kind):
    table = degenerate_tables()[kind]
    layouts = np.zeros((4, *table.shape), bool)
    layouts[0, :, 0] = layouts[1] = layouts[2, : len(table) // 2, 1] = layouts[3, 0] = True
    for targeted in layouts:
        marks = estimate_gies(table, targeted)
        assert ((marks == 0) == (marks.T == 0)).all()
        np.testing.assert_array_equal(marks, estimate_gies(table, targeted))
    assert not estimate_gies(table, layouts[1]).any()  # nothing was ever free


@pytest.mark.parametrize("regimes", [np.zeros((1, 5), bool), np.eye(5, dtype=bool)[:2]], ids=["none", "two"])
def test_scores_that_fit_no_data_come_to_an_end(regimes):
    scores = np.random.default_rng(1).standard_normal((300, 5, 32)) * 10
    marks = np.full((300, 5, 5), -1, np.int8)
    gies_each(scores, np.tile(cut_masks(regimes), (300, 1)), marks)
    assert ((marks == 0) == (marks.transpose(0, 2, 1) == 0)).all()
