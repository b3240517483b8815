"""Equivalence classes against enumeration of all DAGs."""

import itertools

import numpy as np
import pytest

from seacausal.graph.equivalence import class_members, essential_graph
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL
from seacausal.graph.metrics import is_acyclic


def dags_of(d: int) -> list[np.ndarray]:
    pairs = list(itertools.combinations(range(d), 2))
    found = []
    for ways in itertools.product((0, 1, 2), repeat=len(pairs)):
        adjacency = np.zeros((d, d), bool)
        for (i, j), way in zip(pairs, ways):
            adjacency[i, j], adjacency[j, i] = way == 1, way == 2
        if is_acyclic(adjacency):
            found.append(adjacency)
    return found


def signature(adjacency: np.ndarray, targets: np.ndarray) -> bytes:
    """Skeleton and v-structures, of the graph itself and of each regime's, whose targets have lost their parents."""
    parts = []
    for regime in np.vstack([np.zeros(len(adjacency), bool), targets]):
        cut = adjacency & ~regime[None]
        joined = cut | cut.T
        colliders = [(i, j, k) for j in range(len(cut)) for i, k in itertools.combinations(np.flatnonzero(cut[:, j]), 2) if not joined[i, k]]
        parts += [joined.tobytes(), repr([tuple(map(int, c)) for c in colliders]).encode()]
    return b"|".join(parts)


TARGETS = [
    np.zeros((0, 4), bool),
    np.array([[True, False, False, False]]),
    np.array([[True, True, False, False], [False, False, False, True]]),
    np.eye(4, dtype=bool),
]


@pytest.mark.parametrize("targets", TARGETS, ids=["none", "one", "several", "each"])
def test_essential_graph_is_what_the_class_agrees_on(targets):
    dags = dags_of(4)
    assert len(dags) == 543
    classes: dict[bytes, list[np.ndarray]] = {}
    for dag in dags:
        classes.setdefault(signature(dag, targets), []).append(dag)
    if len(targets) == 0:
        assert len(classes) == 185
    for members in classes.values():
        union = np.any(members, 0)
        expected = np.where(union & ~union.T, ARROW, np.where(union | union.T, TAIL, NO_EDGE))
        for member in members:
            np.testing.assert_array_equal(essential_graph(member, targets), expected)


@pytest.mark.parametrize("targets", TARGETS, ids=["none", "one", "several", "each"])
def test_members_are_the_dags_of_the_class(targets):
    """Every class of four variables, by skeleton and v-structures of all 543 DAGs."""
    classes: dict[bytes, set[bytes]] = {}
    for dag in dags_of(4):
        classes.setdefault(signature(dag, targets), set()).add(dag.tobytes())
    for dags in classes.values():
        marks = essential_graph(np.frombuffer(min(dags), bool).reshape(4, 4), targets)
        members = [member.tobytes() for member in class_members(marks)]
        assert len(members) == len(set(members))
        assert set(members) == dags


@pytest.mark.parametrize(("d", "count"), [(2, 2), (5, 120), (6, 720)])
def test_members_of_the_complete_graph_are_all_orders(d, count):
    marks = essential_graph(np.triu(np.ones((d, d), bool), 1))
    assert sum(is_acyclic(member) for member in class_members(marks)) == count
    assert (marks == TAIL).sum() == d * (d - 1)  # untouched


@pytest.mark.parametrize("d", [4, 8, 10])
def test_members_of_an_undirected_tree_are_one_for_each_root(d):
    tree = np.zeros((d, d), bool)
    for child in range(1, d):
        tree[(child - 1) // 2, child] = True
    members = list(class_members(essential_graph(tree)))
    roots = {tuple(np.flatnonzero(~member.any(0))) for member in members}
    assert len(members) == len(roots) == d
    assert all(len(root) == 1 for root in roots)
