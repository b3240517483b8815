"""FCI with the complete rules against PAGs by brute force: the marks that all equivalent graphs share."""

import itertools

import numpy as np
import pytest
from mixed_graphs import are_ancestral, are_maximal, dag_of, graphs_on, observed, pag_of, separated_in, shared_marks
from references import random_answers, random_dag, random_table

from seacausal.estimate.fci import estimate_fci
from seacausal.estimate.fci_complete import fci_complete, fci_complete_each, first_steps, possible_d_separating
from seacausal.estimate.partial_correlation import fisher_thresholds
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


def marks_from(accepted: np.ndarray) -> np.ndarray:
    marks = np.empty(accepted.shape[:2], np.int8)
    fci_complete(accepted, marks)
    return marks


@pytest.mark.parametrize(("k", "graphs", "classes"), [(2, 5, 2), (3, 72, 11), (4, 3045, 251)])
def test_every_class_of_graphs_has_its_pag(k, graphs, classes):
    """All maximal ancestral graphs, that is all that unmeasured causes and selection can make of a DAG."""
    every = graphs_on(~np.eye(k, dtype=bool), free=True)
    every = every[are_ancestral(every)]
    separated = separated_in(every)
    maximal = are_maximal(every, separated)
    every, separated = every[maximal], separated[maximal]
    _, first, kind = np.unique(separated.reshape(len(every), -1), axis=0, return_index=True, return_inverse=True)
    assert (len(every), len(first)) == (graphs, classes)
    for c, member in enumerate(first):
        np.testing.assert_array_equal(marks_from(separated[member]), shared_marks(every[kind == c]))


@pytest.mark.parametrize("k", [5, 6])
def test_unmeasured_and_selected_variables_leave_the_pag(k):
    """k of k + 2 variables of random DAGs, given one or none of the others; the PAG by trying all graphs with the same skeleton."""
    generator = np.random.default_rng(k)
    tried = 0
    while tried < (40 if k == 5 else 8):
        whole = separated_in(dag_of(random_dag(generator, k + 2, 1.2))[None])[0]
        order = generator.permutation(k + 2).tolist()
        accepted = observed(whole, order[:k], order[k : k + generator.integers(2)])
        if (~accepted.any(2)).sum() - k <= 12:  # six edges
            np.testing.assert_array_equal(marks_from(accepted), pag_of(accepted))
            tried += 1


def test_without_unmeasured_variables_arrows_are_those_of_the_cpdag():
    """A collider of a DAG is one of its PAG, and a PAG's arrows and tails hold in the DAG."""
    generator = np.random.default_rng(0)
    for _ in range(40):
        adjacency = random_dag(generator, 6, 1.2)
        marks, cpdag, dag = marks_from(separated_in(dag_of(adjacency)[None])[0]), essential_graph(adjacency), dag_of(adjacency)
        np.testing.assert_array_equal(marks == NO_EDGE, cpdag == NO_EDGE)
        assert ((marks == dag) | (marks == CIRCLE)).all()
        np.testing.assert_array_equal(marks == ARROW, cpdag == ARROW)


@pytest.mark.parametrize("k", [5, 7])
def test_permuting_columns_permutes_the_graph(k):
    generator = np.random.default_rng(k)
    for _ in range(12):
        whole = separated_in(dag_of(random_dag(generator, k + 1, 1.5))[None])[0]
        measured = generator.permutation(k + 1)[:k].tolist()
        order = generator.permutation(k)
        before = marks_from(observed(whole, measured, []))
        after = marks_from(observed(whole, [measured[v] for v in order], []))
        np.testing.assert_array_equal(after, before[np.ix_(order, order)])


@pytest.mark.parametrize("k", range(2, 9))
def test_answers_that_fit_no_graph_have_one_nevertheless(k):
    generator = np.random.default_rng(k)
    for _ in range(50):
        accepted = random_answers(generator, k)
        marks = marks_from(accepted)
        np.testing.assert_array_equal(marks == NO_EDGE, (marks == NO_EDGE).T)
        assert (marks[~accepted.any(2) & ~np.eye(k, dtype=bool)] != NO_EDGE).all()


def test_a_loop_over_subsets_is_its_subsets_one_by_one():
    tables = [random_table(seed, 6)[: 500 - 3 * seed] for seed in range(40)]
    covariances, rows = np.stack([np.cov(table.T) for table in tables]), np.array([len(table) for table in tables])
    marks = np.empty((40, 6, 6), np.int8)
    fci_complete_each(covariances, rows, np.array([fisher_thresholds(n, sizes=5) for n in range(501)]), marks)
    np.testing.assert_array_equal(marks, [estimate_fci(table, rules="complete") for table in tables])


def plain_first_steps(marks: np.ndarray, start: int, goal: int, circles: bool) -> int:
    """By trying all orders of all variables between the two."""
    k = len(marks)
    found = 0
    others = [v for v in range(k) if v not in (start, goal)]
    for length in range(k - 1):
        for inner in itertools.permutations(others, length):
            path = [start, *inner, goal]
            steps = list(zip(path, path[1:]))
            if circles:
                fits = all(marks[i, j] == marks[j, i] == CIRCLE for i, j in steps) and (not inner or marks[inner[-1], start] == NO_EDGE)
            else:
                fits = all(marks[i, j] in (ARROW, CIRCLE) and marks[j, i] in (TAIL, CIRCLE) for i, j in steps)
            if fits and all(marks[i, j] == NO_EDGE for i, j in zip(path, path[2:])):
                found |= 1 << path[1]
    return found


@pytest.mark.parametrize("circles", [False, True])
def test_first_steps_are_those_of_all_uncovered_paths(circles):
    generator = np.random.default_rng(3)
    longer = 0
    for _ in range(60):
        upper = np.triu(generator.random((6, 6)) < 0.45, 1)
        marks = np.where(upper | upper.T, generator.choice([TAIL, ARROW, CIRCLE], (6, 6), p=(0.1, 0.1, 0.8)), NO_EDGE).astype(np.int8)
        for start, goal in itertools.permutations(range(6), 2):
            found = first_steps(marks, start, goal, circles)
            assert found == plain_first_steps(marks, start, goal, circles)
            longer += (found & ~(1 << goal)) > 0
    assert longer > 20


def test_possibly_d_separating_variables_lie_behind_colliders_and_triangles():
    """0 o-> 1 <-> 2 <-o 3, 3 o-o 4 o-o 5, 4 and 2 adjacent: 4 from 0 by colliders and a triangle, 5 behind a variable that is neither."""
    marks = np.zeros((6, 6), np.int8)
    for i, j, at_i, at_j in (
        (0, 1, CIRCLE, ARROW),
        (1, 2, ARROW, ARROW),
        (2, 3, ARROW, CIRCLE),
        (3, 4, CIRCLE, CIRCLE),
        (2, 4, CIRCLE, CIRCLE),
        (4, 5, CIRCLE, CIRCLE),
    ):
        marks[j, i], marks[i, j] = at_i, at_j
    assert possible_d_separating(marks, 0) == 0b011110
    assert possible_d_separating(marks, 5) == 0b010000
