"""From a DAG to its equivalence class, and the orientation rules that complete one (marks as in `marks`).

A CPDAG has an arrow where all DAGs of the Markov equivalence class agree, and i --- j elsewhere. With interventions the class is smaller: an edge is
directed, too, where a regime targets exactly one of its ends (Hauser and Buehlmann, 2012, the interventional essential graph).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit

from seacausal.graph.marks import ARROW, NO_EDGE, TAIL, undirected_edges
from seacausal.graph.metrics import check_acyclic


def essential_graph(adjacency: np.ndarray, targets: np.ndarray | None = None) -> np.ndarray:
    """The CPDAG of a DAG, or its interventional essential graph.

    Parameters
    ----------
    adjacency
        (d, d), `adjacency[i, j]` is i -> j, acyclic.
    targets
        (r, d) bool, the targets of each regime; the observational regime, if any, has none.

    Returns
    -------
    (d, d) int8 marks.

    Raises
    ------
    DataError
        If the graph has a cycle.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    >>> essential_graph(chain).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> essential_graph(chain, np.array([[True, False, False]])).tolist()
    [[0, 2, 0], [1, 0, 2], [0, 1, 0]]
    """
    adjacency = np.asarray(adjacency, bool)
    check_acyclic(adjacency, "to have an equivalence class of DAGs")
    marks = np.where(adjacency | adjacency.T, TAIL, NO_EDGE).astype(np.int8)
    joined = adjacency | adjacency.T
    arrows = np.zeros_like(joined)
    for child in range(len(adjacency)):
        parents = np.flatnonzero(adjacency[:, child])
        apart = ~joined[np.ix_(parents, parents)] & ~np.eye(len(parents), dtype=bool)
        arrows[parents[apart.any(0)], child] = True
    if targets is not None:
        for regime in np.asarray(targets, bool):
            arrows |= adjacency & (regime[:, None] != regime[None])
    marks[arrows] = ARROW
    complete_orientations(marks)
    return marks


def to_probabilities(marks: np.ndarray) -> np.ndarray:
    """(d, d) marks of a CPDAG as probabilities of i -> j: 1 along an arrow, a half each way along an undirected edge, else 0."""
    direct = np.where(marks == ARROW, 1.0, 0.0)
    direct[undirected_edges(marks)] = 0.5
    return direct


def class_members(marks: np.ndarray) -> Iterator[np.ndarray]:
    """Every DAG of an equivalence class, once.

    Each undirected edge of a graph that is completed under Meek's rules can take either direction (Meek, 1995, theorem 4): so one is given both, the
    rules are applied, and so on until none is left. Classes can be huge: that of the complete graph of k variables has k! members.

    Parameters
    ----------
    marks
        (d, d) marks of a CPDAG or an interventional essential graph, see `essential_graph`.

    Yields
    ------
    (d, d) bool, [i, j] for i -> j.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    >>> [np.argwhere(dag).tolist() for dag in class_members(essential_graph(chain))]
    [[[0, 1], [1, 2]], [[1, 0], [1, 2]], [[1, 0], [2, 1]]]
    """
    cause, effect = np.nonzero(np.triu(undirected_edges(marks)))
    if not len(cause):
        yield marks == ARROW
        return
    for i, j in ((cause[0], effect[0]), (effect[0], cause[0])):
        oriented = np.array(marks, np.int8)
        oriented[i, j] = ARROW
        complete_orientations(oriented)
        yield from class_members(oriented)


@njit(cache=True, nogil=True)
def complete_orientations(marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """Orient i --- j in place until no rule of Meek (1995, "Causal inference and causal explanation with background knowledge") applies.

    R1: a --> b --- c, a and c not adjacent, becomes b --> c; R2: a --> b --> c with a --- c becomes a --> c; R3: a --- b with a --- c --> b and
    a --- d --> b, c and d not adjacent, becomes a --> b; R4: a --- b with a --- d --> c --> b, a and c adjacent, b and d not, becomes a --> b.
    """
    d = len(marks)
    changed = True
    while changed:
        changed = False
        for a in range(d):
            for b in range(d):
                if marks[a, b] == TAIL and marks[b, a] == TAIL and _forced(marks, a, b):
                    marks[a, b] = ARROW
                    changed = True


@njit(cache=True, nogil=True)
def _forced(marks: np.ndarray, a: int, b: int) -> bool:  # pragma: no cover - compiled
    """Whether a rule makes a --- b into a --> b."""
    d = len(marks)
    for c in range(d):
        if directed(marks, c, a) and marks[c, b] == NO_EDGE and c != b:
            return True
        if directed(marks, a, c) and directed(marks, c, b):
            return True
        if directed(marks, c, b) and marks[a, c] != NO_EDGE:
            for e in range(d):
                if e in (a, b, c) or not undirected(marks, a, e):
                    continue
                if undirected(marks, a, c) and directed(marks, e, b) and marks[c, e] == NO_EDGE:
                    return True
                if directed(marks, e, c) and marks[e, b] == NO_EDGE:
                    return True
    return False


@njit(cache=True, nogil=True)
def directed(marks: np.ndarray, i: int, j: int) -> bool:  # pragma: no cover - compiled
    """Whether i --> j."""
    return marks[i, j] == ARROW and marks[j, i] == TAIL


@njit(cache=True, nogil=True)
def undirected(marks: np.ndarray, i: int, j: int) -> bool:  # pragma: no cover - compiled
    """Whether i --- j."""
    return marks[i, j] == TAIL and marks[j, i] == TAIL
