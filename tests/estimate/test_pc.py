"""PC against causal-learn 0.1.3.7, and against graphs whose independences are known."""

import importlib.metadata
import itertools

import numpy as np
import pytest
from mixed_graphs import dag_of, separated_in
from references import ancestors, random_answers, random_dag, random_table, reference_pc
from test_independence import degenerate_tables

from seacausal.errors import DataError
from seacausal.estimate.partial_correlation import PAIRS, fisher_thresholds
from seacausal.estimate.pc import estimate_pc, orient_colliders, pc, pc_each, pc_general, pc_general_each
from seacausal.estimate.skeleton import search_skeleton
from seacausal.graph.equivalence import complete_orientations, essential_graph
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL


def marks_from(accepted: np.ndarray) -> np.ndarray:
    marks = np.empty(accepted.shape[:2], np.int8)
    pc_general(accepted, marks)
    return marks


def pattern_of(accepted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The marks after the colliders, and the separating sets."""
    k = len(accepted)
    marks, separating = np.empty((k, k), np.int8), np.empty((k, k), np.int64)
    search_skeleton(accepted, marks, separating)
    marks[marks != NO_EDGE] = TAIL
    orient_colliders(marks, separating, 1 << np.arange(k))
    return marks, separating


def some_dag_fits(marks: np.ndarray, separating: np.ndarray) -> bool:
    """Whether a DAG with this skeleton has the colliders that the separating sets ask for and no other, by trying all."""
    k = len(marks)
    pairs = [(i, j) for i, j in itertools.combinations(range(k), 2) if marks[i, j]]
    triples = [(a, b, c) for b in range(k) for a, c in itertools.combinations(range(k), 2) if marks[a, b] and marks[b, c] and not marks[a, c]]
    wanted = np.array([not separating[a, c] >> b & 1 for a, b, c in triples], bool)
    ways = np.array(list(itertools.product([False, True], repeat=len(pairs))), bool).reshape(2 ** len(pairs), len(pairs))
    adjacency = np.zeros((len(ways), k, k), bool)
    for p, (i, j) in enumerate(pairs):
        adjacency[:, i, j], adjacency[:, j, i] = ways[:, p], ~ways[:, p]
    for (a, b, c), collider in zip(triples, wanted):
        adjacency = adjacency[(adjacency[:, a, b] & adjacency[:, c, b]) == collider]
    return any(not (ancestors(dag) & dag.T).any() for dag in adjacency)


def test_the_reference_is_the_release_of_the_papers_authors():
    assert importlib.metadata.version("causal-learn") == "0.1.3.7"


@pytest.mark.parametrize(("k", "count"), [(2, 10), (3, 20), (4, 40), (5, 200), (6, 30), (7, 20), (8, 10), (10, 3)])
def test_equals_causal_learn_on_data(k, count):
    for seed in range(count):
        table = random_table(seed, k)
        np.testing.assert_array_equal(estimate_pc(table), reference_pc(table=table), err_msg=str(seed))


@pytest.mark.parametrize(("k", "count"), [(3, 50), (4, 100), (5, 150), (6, 100), (7, 60), (8, 20)])
def test_equals_causal_learn_on_answers_that_fit_no_graph(k, count):
    generator = np.random.default_rng(k)
    for _ in range(count):
        accepted = random_answers(generator, k)
        np.testing.assert_array_equal(marks_from(accepted), reference_pc(accepted=accepted))


def test_the_kernel_for_five_is_the_general_one():
    generator = np.random.default_rng(0)
    for _ in range(500):
        accepted = random_answers(generator, 5)
        bits = np.array([sum(1 << s for s in range(32) if accepted[i, j, s]) for i, j in PAIRS], np.uint32)
        marks = np.empty((5, 5), np.int8)
        pc(bits, marks)
        np.testing.assert_array_equal(marks, marks_from(accepted))


def test_loops_over_subsets_are_their_subsets_one_by_one():
    tables = [random_table(seed)[: 500 - 3 * seed] for seed in range(50)]
    covariances, rows = np.stack([np.cov(table.T) for table in tables]), np.array([len(table) for table in tables])
    thresholds = np.array([fisher_thresholds(n) for n in range(501)])
    fast, general = np.empty((50, 5, 5), np.int8), np.empty((50, 5, 5), np.int8)
    pc_each(covariances, rows, thresholds, fast)
    pc_general_each(covariances, rows, thresholds, general)
    np.testing.assert_array_equal(fast, [estimate_pc(table) for table in tables])
    np.testing.assert_array_equal(general, fast)


def test_every_dag_of_four_variables_has_its_cpdag():
    for edges in itertools.product([0, 1, 2], repeat=6):
        adjacency = np.zeros((4, 4), bool)
        for way, (i, j) in zip(edges, itertools.combinations(range(4), 2)):
            adjacency[i, j], adjacency[j, i] = way == 1, way == 2
        if not (ancestors(adjacency) & adjacency.T).any():
            np.testing.assert_array_equal(marks_from(separated_in(dag_of(adjacency)[None])[0]), essential_graph(adjacency))


@pytest.mark.parametrize("k", [5, 6, 7])
def test_d_separation_gives_the_cpdag(k):
    generator = np.random.default_rng(k)
    for n in range(60 if k == 5 else 15):
        adjacency = random_dag(generator, k, (0.7, 1.2, 2.0)[n % 3])
        np.testing.assert_array_equal(marks_from(separated_in(dag_of(adjacency)[None])[0]), essential_graph(adjacency))


def test_the_order_of_meeks_rules_matters_only_where_no_dag_fits():
    """`complete_orientations` goes through the pairs in another order than causal-learn, and does not look for cycles."""
    generator = np.random.default_rng(1)
    different = 0
    for _ in range(400):
        accepted = random_answers(generator, 5)
        marks, separating = pattern_of(accepted)
        completed = marks.copy()
        complete_orientations(completed)
        if some_dag_fits(marks, separating):
            np.testing.assert_array_equal(marks_from(accepted), completed)
        else:
            different += (marks_from(accepted) != completed).any()
    assert different > 5


@pytest.mark.parametrize(("share", "same"), [(1e-3, True), (1e-7, False)])
def test_causal_learn_conditions_on_what_is_determined(share, same):
    """The one difference: 1 is 0 up to a share of noise that 2 depends on. Below `PIVOT` of its variance that noise is called rounding here."""
    x, noise, own = np.random.default_rng(0).standard_normal((3, 500))
    table = np.column_stack([x, x + share * noise, x + noise + own])
    assert reference_pc(table=table)[1, 2] != NO_EDGE
    assert (estimate_pc(table)[1, 2] != NO_EDGE) == same


def test_an_earlier_collider_wins():
    """1 and 3 are separated by {}, without 0 between them, 0 and 2 by {}, without 1: only the collider at 0 fits, as its turn comes first."""
    accepted = np.zeros((4, 4, 16), bool)
    for i, j, given in ((1, 3, 0), (0, 2, 0), (2, 3, 0)):
        accepted[i, j, given] = accepted[j, i, given] = True
    marks = marks_from(accepted)
    assert {(i, j): marks[i, j] for i, j in np.argwhere(marks == ARROW).tolist()} == {(1, 0): ARROW, (3, 0): ARROW}
    assert marks[1, 2] == marks[2, 1] == TAIL
    np.testing.assert_array_equal(marks, reference_pc(accepted=accepted))


@pytest.mark.parametrize("k", [4, 6])
def test_permuting_columns_permutes_the_graph(k):
    """Where some graph fits: with answers from one. (With others, an earlier collider wins.)"""
    generator = np.random.default_rng(k)
    for _ in range(20):
        adjacency = random_dag(generator, k, 1.2)
        order = generator.permutation(k)
        before = marks_from(separated_in(dag_of(adjacency)[None])[0])
        shuffled = adjacency[np.ix_(order, order)]
        np.testing.assert_array_equal(marks_from(separated_in(dag_of(shuffled)[None])[0]), before[np.ix_(order, order)])


@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize("kind", degenerate_tables(3))
def test_degenerate_tables_have_a_graph(kind, k):
    marks = estimate_pc(degenerate_tables(k)[kind])
    assert marks.dtype == np.int8
    assert np.isin(marks, (NO_EDGE, TAIL, ARROW)).all()
    np.testing.assert_array_equal(marks == NO_EDGE, (marks == NO_EDGE).T)
    if kind in ("all constant", "one row", "two rows"):
        assert (marks == NO_EDGE).all()
    if kind == "constant":
        assert (marks[0] == NO_EDGE).all()
    if kind == "dependent" and k == 5:
        assert (marks[:-1, -1] != NO_EDGE).any()


def test_what_is_not_a_small_table_is_an_error():
    with pytest.raises(DataError, match="from 2 to 10 columns"):
        estimate_pc(np.zeros((10, 11)))
