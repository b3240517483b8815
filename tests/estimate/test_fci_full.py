"""FCI with all rules against the golden answers of causal-learn 0.1.4.8, and where its rules are not Zhang's."""

from pathlib import Path

import numpy as np
import pytest
from references import random_table

from seacausal.estimate import fci_complete, fci_full
from seacausal.estimate.fci import estimate_fci
from seacausal.estimate.partial_correlation import fisher_thresholds
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "fci.npz")


def golden_answers(name: str) -> np.ndarray:
    """(t, k, k, 2**k) bool, unpacked."""
    k = int(name.split()[-1])
    return np.unpackbits(GOLDEN[name], axis=1, count=k * k << k).reshape(-1, k, k, 1 << k).astype(bool)


def marks_from(accepted: np.ndarray, algorithm=fci_full.fci_full) -> np.ndarray:
    marks = np.empty(accepted.shape[:2], np.int8)
    algorithm(accepted, marks)
    return marks


def graph(k: int, *edges: str) -> np.ndarray:
    """Marks from edges like "0o>1": variable, its mark, the mark at the other, the other."""
    signs = {"-": TAIL, "o": CIRCLE, "<": ARROW, ">": ARROW}
    marks = np.zeros((k, k), np.int8)
    for i, at_i, at_j, j in edges:
        marks[int(j), int(i)], marks[int(i), int(j)] = signs[at_i], signs[at_j]
    return marks


@pytest.mark.parametrize("k", [4, 5, 6, 7])
def test_equals_causal_learn_on_data(k):
    upper = GOLDEN[f"covariances of {k}"]
    covariances = np.zeros((len(upper), k, k))
    covariances[:, *np.triu_indices(k)] = upper
    covariances += np.triu(covariances, 1).swapaxes(1, 2)
    marks = np.empty((len(upper), k, k), np.int8)
    fci_full.fci_full_each(covariances, np.zeros(len(upper), np.int64), fisher_thresholds(500, sizes=k - 1)[None], marks)
    np.testing.assert_array_equal(marks, GOLDEN[f"marks of covariances of {k}"])


@pytest.mark.parametrize("name", [name for name in GOLDEN.files if name.split()[0] in ("answers", "graphs", "undirected")])
def test_equals_causal_learn_on_answers(name):
    for accepted, expected in zip(golden_answers(name), GOLDEN[f"marks of {name}"]):
        np.testing.assert_array_equal(marks_from(accepted), expected)


def test_the_golden_inputs_give_every_rule_work():
    """Tail and tail (R5), circle and tail (R6, R7), and marks that R0 to R4 leave as circles (R8 to R10)."""
    marks = [m for name in GOLDEN.files if name.startswith("marks") for m in GOLDEN[name]]
    assert sum(((m == TAIL) & (m.T == TAIL)).any() for m in marks) > 20
    assert sum(((m == TAIL) & (m.T == CIRCLE)).any() for m in marks) > 5
    paper = [estimate_fci(random_table(1000 + seed)) for seed in range(80)]
    resolved = [(p == CIRCLE) & (m == TAIL) & (m.T == ARROW) for p, m in zip(paper, GOLDEN["marks of covariances of 5"])]
    assert np.any(resolved, (1, 2)).sum() > 2


def test_departs_from_the_pag_now_and_then():
    """Of answers that come from graphs. `fci_complete` is exact there (see its tests)."""
    accepted = golden_answers("graphs of 5")
    full, complete = (np.array([marks_from(a, algorithm) for a in accepted]) for algorithm in (fci_full.fci_full, fci_complete.fci_complete))
    np.testing.assert_array_equal(full == NO_EDGE, complete == NO_EDGE)
    assert 0 < (full != complete).any((1, 2)).sum() < 8
    # A mark that both set is the same.
    assert ((full == complete) | (full == CIRCLE) | (complete == CIRCLE)).all()


def assert_rule(marks: np.ndarray, rule: str, *, applies: bool) -> np.ndarray:
    after = marks.copy()
    assert getattr(fci_full, rule)(after) == applies
    assert (after != marks).any() == applies
    return after


def assert_zhang(marks: np.ndarray, *, applies: bool) -> None:
    after = marks.copy()
    assert fci_complete.orient_parents(after) == applies
    assert (after != marks).any() == applies


def test_r8_looks_forwards_only():
    forwards, backwards = graph(3, "0->1", "1->2", "0o>2"), graph(3, "2->1", "1->0", "2o>0")
    assert assert_rule(forwards, "orient_shortcuts", applies=True)[2, 0] == TAIL
    assert_rule(backwards, "orient_shortcuts", applies=False)
    assert_zhang(forwards, applies=True)
    assert_zhang(backwards, applies=True)


def test_r9_tries_one_shortest_path():
    """0, 1, 2, 5 is covered, 1 and 5 being 2's neighbours both, and found first; 0, 1, 3, 4, 5 is not."""
    short, both = ("0o>5", "0oo1", "1oo3", "3oo4", "4oo5"), ("1oo2", "2oo5", "0oo2")
    assert assert_rule(graph(6, *short), "orient_around", applies=True)[5, 0] == TAIL
    marks = graph(6, *short, *both)
    marks[2, 5], marks[5, 2] = ARROW, CIRCLE
    assert_rule(marks, "orient_around", applies=False)
    assert_zhang(marks, applies=True)


def test_r9_does_not_ask_for_the_mark_at_the_second_variable():
    marks = graph(4, "0o>3", "0--1", "1->2", "2->3")
    assert_rule(marks, "orient_around", applies=True)
    assert_zhang(marks, applies=False)


def test_r10_does_not_take_the_parents_for_first_steps():
    marks = graph(4, "0o>3", "0o>1", "0o>2", "1->3", "2->3")
    assert_rule(marks, "orient_between_parents", applies=False)
    assert_zhang(marks, applies=True)


def test_r10_lets_ways_be_covered():
    """0, 1, 3 and 0, 2, 4 are ways to the parents of 5, but 0 is adjacent to 3."""
    marks = graph(6, "0o>5", "0o>1", "0o>2", "1->3", "2->4", "3->5", "4->5", "0<>3", "1<>5", "2<>5")
    assert_rule(marks, "orient_between_parents", applies=True)
    assert_zhang(marks, applies=False)


def test_r5_does_not_ask_for_uncovered_ends():
    """0 o-o 1 with 0, 2, 3, 4, 1, where 0 and 3 are adjacent: the path itself is covered, and the cycle 0, 3, 4, 1 is the one that counts."""
    marks = graph(5, "0oo1", "0oo2", "2oo3", "3oo4", "4oo1", "0oo3")
    after = assert_rule(marks, "orient_circle_paths", applies=True)
    assert all(after[i, j] == after[j, i] == TAIL for i, j in ((0, 1), (0, 2), (2, 3), (3, 4), (4, 1)))
    assert after[0, 3] == after[3, 0] == CIRCLE
    exact = marks.copy()
    fci_complete.orient_circle_cycles(exact)
    assert (exact[2] == marks[2]).all()
    assert all(exact[i, j] == exact[j, i] == TAIL for i, j in ((0, 1), (0, 3), (3, 4), (4, 1)))
