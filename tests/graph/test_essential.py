"""Essential graphs on bit masks against `equivalence.essential_graph`, and member DAGs."""

import itertools

import numpy as np
import pytest

from seacausal.graph.equivalence import essential_graph
from seacausal.graph.essential import complete, cut_masks, member, size, write_marks
from seacausal.graph.marks import ARROW, TAIL


def masks_of(adjacency: np.ndarray) -> np.ndarray:
    return (np.asarray(adjacency, np.int64) << np.arange(len(adjacency))[:, None]).sum(0)


def completed(adjacency: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrows, lines and marks."""
    k = len(adjacency)
    arrows, lines, marks = np.full(k, -1), np.full(k, -1), np.full((k, k), -1, np.int8)
    complete(masks_of(adjacency), cut_masks(targets), arrows, lines)
    write_marks(arrows, lines, marks)
    return arrows, lines, marks


def every_dag_of_four() -> list[np.ndarray]:
    found = []
    for order in itertools.permutations(range(4)):
        for bits in itertools.product((False, True), repeat=6):
            adjacency = np.zeros((4, 4), bool)
            adjacency[np.triu_indices(4, 1)] = bits
            found.append(adjacency[np.ix_(order, order)])
    return list({a.tobytes(): a for a in found}.values())


def random_dag(generator: np.random.Generator, k: int) -> np.ndarray:
    upper = np.triu(generator.random((k, k)) < generator.random(), 1)
    order = generator.permutation(k)
    return upper[np.ix_(order, order)]


@pytest.mark.parametrize(
    "targets", [np.zeros((1, 4)), np.eye(4)[:1], np.eye(4), [[1, 1, 0, 0], [0, 0, 0, 1]], [[1, 1, 1, 1]], [[0, 1, 1, 0]]], ids=str
)
def test_every_dag_of_four_variables(targets):
    dags = every_dag_of_four()
    assert len(dags) == 543
    for adjacency in dags:
        np.testing.assert_array_equal(completed(adjacency, np.asarray(targets, bool))[2], essential_graph(adjacency, np.asarray(targets, bool)))


@pytest.mark.parametrize("k", [2, 5, 7, 10])
def test_random_dags_and_targets(k):
    generator = np.random.default_rng(k)
    for _ in range(300):
        adjacency, targets = random_dag(generator, k), generator.random((generator.integers(0, 4), k)) < 0.5 * generator.random()
        np.testing.assert_array_equal(completed(adjacency, targets)[2], essential_graph(adjacency, targets))


@pytest.mark.parametrize("k", [3, 5, 8])
def test_members_belong_to_the_class_and_start_as_told(k):
    generator = np.random.default_rng(k)
    led = 0
    for _ in range(200):
        targets = generator.random((generator.integers(0, 2), k)) < 0.3
        arrows, lines, marks = completed(random_dag(generator, k), targets)
        for second in range(k):
            neighbours = [v for v in range(k) if lines[second] >> v & 1]
            clique = [v for v in neighbours if all(u == v or marks[u, v] for u in neighbours)][:2]
            others = [v for v in neighbours if v not in clique]
            third = others[0] if others else -1
            parents = np.full(k, -1)
            member(arrows, lines, sum(1 << v for v in clique), second, third, parents)
            adjacency = (parents >> np.arange(k)[:, None] & 1).astype(bool)
            np.testing.assert_array_equal(essential_graph(adjacency, targets), marks)
            assert not (adjacency & adjacency.T).any()
            assert parents[second] == arrows[second] | sum(1 << v for v in clique)
            led += len(clique) > 0 and third >= 0
    assert led > 20 or k == 3


def test_cut_masks_of_many_subsets_at_once():
    targets = np.random.default_rng(0).random((7, 3, 5)) < 0.4
    np.testing.assert_array_equal(cut_masks(targets), [cut_masks(one) for one in targets])
    for masks, one in zip(cut_masks(targets), targets):
        for i, j in itertools.product(range(5), repeat=2):
            assert masks[i] >> j & 1 == any(regime[i] != regime[j] for regime in one)


def test_repeated_and_empty_regimes_cut_nothing_more():
    targets = np.array([[True, False, True]])
    assert cut_masks(targets).tolist() == cut_masks(np.vstack([targets, targets, np.zeros((1, 3), bool)])).tolist()
    assert cut_masks(np.zeros((0, 3), bool)).tolist() == [0, 0, 0]


def test_size_counts_bits():
    assert [size(mask) for mask in range(1 << 16)] == [mask.bit_count() for mask in range(1 << 16)]


def test_marks_of_a_dag():
    marks = np.full((3, 3), -1, np.int8)
    write_marks(np.array([0, 1, 3]), np.zeros(3, np.int64), marks)
    assert (marks == ARROW).tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    assert ((marks == TAIL) == (marks.T == ARROW)).all()
