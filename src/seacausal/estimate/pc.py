"""PC, order-independent, Fisher's z: from covariances to the marks of a CPDAG.

In: covariances, or for each pair the answers of all independence tests. Out: `marks[i, j]`, the mark at j's end (`graph.marks`): i --> j or i --- j.
Surprising choice: this is PC as causal-learn 0.1.3.7 runs it (`stable=True`, `uc_rule=0`, `uc_priority=2`), mark for mark. Where the tests fit a
graph, any order of orientations gives its CPDAG (`graph.equivalence`). Where they do not, colliders contradict each other, and what remains depends
on the order; so the order here is causal-learn's: an earlier collider wins, and an arrow is not drawn where it would close a cycle that is known of.
References: Spirtes, Glymour and Scheines (2000), section 5.4.2; Colombo and Maathuis (2014); Meek (1995).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate import fci
from seacausal.estimate.independence import answer_tests, covariance_of
from seacausal.estimate.partial_correlation import condition, fisher_thresholds, independence_bits
from seacausal.estimate.skeleton import search_skeleton
from seacausal.graph.equivalence import directed, undirected
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL

search_skeleton_of_five = fci.search_skeleton


def estimate_pc(values: np.ndarray, *, alpha: float = 0.05) -> np.ndarray:
    """PC on one small table, with Fisher's z-test.

    Parameters
    ----------
    values
        (n, k) rows of k variables, k from 2 to 10.
    alpha
        Level of the tests.

    Returns
    -------
    (k, k) int8 marks, `marks[i, j]` at j's end: `ARROW` and `TAIL` as in a CPDAG.

    Raises
    ------
    DataError
        If `values` is not such a table.

    References
    ----------
    Colombo and Maathuis (2014), Order-independent constraint-based causal structure learning, algorithms 3 and 4.

    Examples
    --------
    >>> x, y, noise = np.random.default_rng(0).standard_normal((3, 500))
    >>> estimate_pc(np.column_stack([x, x + y + noise, y])).tolist()
    [[0, 2, 0], [1, 0, 1], [0, 2, 0]]
    """
    covariance = covariance_of(values)
    k = len(covariance)
    marks = np.zeros((1, k, k), np.int8)
    pc_general_each(covariance[None], np.zeros(1, np.int64), fisher_thresholds(len(values), alpha, k - 1)[None], marks)
    return marks[0]


@njit(cache=True, nogil=True)
def pc_each(covariances: np.ndarray, rows: np.ndarray, thresholds: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """PC on each of t subsets of five variables.

    Parameters
    ----------
    covariances
        (t, 5, 5) float64.
    rows
        (t,) int64, how many rows each was computed from.
    thresholds
        (r, 4) float64, `fisher_thresholds` of 0, 1, 2, ... rows.
    marks
        (t, 5, 5) int8, filled with the result.
    """
    conditional = np.empty((32, 5, 5))
    bits = np.empty(10, np.uint32)
    for t in range(len(covariances)):
        condition(covariances[t], conditional)
        independence_bits(conditional, thresholds[rows[t]], bits)
        pc(bits, marks[t])


@njit(cache=True, nogil=True)
def pc_general_each(covariances: np.ndarray, rows: np.ndarray, thresholds: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """PC on each of t subsets of k variables: as `pc_each`, with (t, k, k) covariances and (r, k - 1) thresholds."""
    k = marks.shape[1]
    accepted = np.empty((k, k, 1 << k), np.bool_)
    for t in range(len(covariances)):
        answer_tests(covariances[t], thresholds[rows[t]], accepted)
        pc_general(accepted, marks[t])


@njit(cache=True, nogil=True)
def pc(bits: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """(10,) uint32 answers (`partial_correlation.independence_bits`) to (5, 5) int8 marks."""
    separating = np.empty((5, 5), np.int8)
    search_skeleton_of_five(bits, marks, separating)
    orient(marks, separating)


@njit(cache=True, nogil=True)
def pc_general(accepted: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """(k, k, 2**k) bool answers (`independence.answer_tests`) to (k, k) int8 marks."""
    separating = np.empty(marks.shape, np.int64)
    search_skeleton(accepted, marks, separating)
    orient(marks, separating)


@njit(cache=True, nogil=True)
def orient(marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """From a skeleton and its separating sets to arrows: colliders, then Meek's rules."""
    k = len(marks)
    above = np.empty(k, np.int64)
    for i in range(k):
        above[i] = 1 << i
        for j in range(k):
            marks[i, j] = NO_EDGE if marks[i, j] == NO_EDGE else TAIL
    orient_colliders(marks, separating, above)
    start = marks.copy()
    while orient_forced(marks, start, above, 1) | orient_forced(marks, start, above, 2) | orient_forced(marks, start, above, 3):
        pass


@njit(cache=True, nogil=True)
def orient_colliders(marks: np.ndarray, separating: np.ndarray, above: np.ndarray) -> None:  # pragma: no cover - compiled
    """Colliders: a --> b <-- c for every path a, b, c whose ends are separated by a set without b, unless an earlier collider points out of b."""
    k = len(marks)
    for b in range(k):
        for a in range(k):
            for c in range(a + 1, k):
                apart = b not in (a, c) and marks[a, b] != NO_EDGE and marks[b, c] != NO_EDGE and marks[a, c] == NO_EDGE
                if apart and not separating[a, c] >> b & 1 and marks[b, a] != ARROW and marks[b, c] != ARROW:
                    for end in (a, c):
                        if marks[end, b] == ARROW:  # causal-learn takes the arrow out and draws it again
                            marks[end, b] = TAIL
                            file_all(marks, above)
                        marks[end, b] = ARROW
                        file_arrow(above, end, b)


@njit(cache=True, nogil=True)
def orient_forced(marks: np.ndarray, start: np.ndarray, above: np.ndarray, rule: int) -> bool:  # pragma: no cover - compiled
    """One of Meek's rules R1, R2, R3 on all paths i, j, c; whether any mark changed.

    Paths come in causal-learn's order: pairs with a tail at their second variable before those with an arrow, as the marks were when Meek's rules
    began (`start`), then by the second and by the first variable.
    """
    k = len(marks)
    changed = False
    for first in (TAIL, ARROW):
        for j in range(k):
            for i in range(k):
                if start[i, j] != first:
                    continue
                for second in (TAIL, ARROW):
                    for c in range(k):
                        if start[j, c] == second and c != i and forces(marks, i, j, c, rule):
                            source = j if rule == 1 else i
                            if not above[source] >> c & 1:
                                marks[source, c] = ARROW
                                file_arrow(above, source, c)
                                changed = True
    return changed


@njit(cache=True, nogil=True)
def forces(marks: np.ndarray, i: int, j: int, c: int, rule: int) -> bool:  # pragma: no cover - compiled
    """R1: i --> j --- c, i and c not adjacent. R2: i --> j --> c, i --- c. R3: i --- j --> c, i --- e --> c, i --- c, j and e not adjacent."""
    if rule == 1:
        return marks[i, c] == NO_EDGE and directed(marks, i, j) and undirected(marks, j, c)
    if not undirected(marks, i, c) or not directed(marks, j, c):
        return False
    if rule == 2:
        return directed(marks, i, j)
    if undirected(marks, i, j):
        for e in range(j + 1, len(marks)):
            if marks[j, e] == NO_EDGE and undirected(marks, i, e) and directed(marks, e, c):
                return True
    return False


@njit(cache=True, nogil=True)
def file_arrow(above: np.ndarray, i: int, j: int) -> None:  # pragma: no cover - compiled
    """Note that i --> j: `above[v]` holds v and what is known to lie before it.

    causal-learn's book-keeping: j takes over what lies before i, but what lies behind j learns of i alone. Few cycles go unnoticed for that.
    """
    above[j] |= above[i] | 1 << i
    for v in range(len(above)):
        if above[v] >> j & 1:
            above[v] |= 1 << i


@njit(cache=True, nogil=True)
def file_all(marks: np.ndarray, above: np.ndarray) -> None:  # pragma: no cover - compiled
    """Start `above` anew from the arrows there are, last pair first."""
    k = len(marks)
    for v in range(k):
        above[v] = 1 << v
    for i in range(k - 1, -1, -1):
        for j in range(k - 1, i, -1):
            if directed(marks, i, j):
                file_arrow(above, i, j)
            elif directed(marks, j, i):
                file_arrow(above, j, i)
