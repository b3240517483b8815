"""The adjacency search of PC and FCI for k variables, k from 2 to 10: from a table of answers (`independence`) to a skeleton and separating sets.

Sets of variables are bit masks. Independent of the order of the columns ("stable"; Colombo and Maathuis, 2014, Order-independent constraint-based
causal structure learning).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.independence import SIZE
from seacausal.graph.marks import CIRCLE, NO_EDGE

NO_SET = -1
"""In `separating[i, j]`: no set that separates i from j is on file."""


@njit(cache=True, nogil=True)
def search_skeleton(accepted: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """Join all pairs by i o-o j, then cut those that neighbours of either end separate: smallest sets first, each size against one frozen graph.

    Parameters
    ----------
    accepted
        (k, k, 2**k) bool, `accepted[i, j, S]` says that i is independent of j given S.
    marks
        (k, k) int8, filled.
    separating
        (k, k) int64, filled: the union of all sets that separate i and j at the first size where any does, as in causal-learn. The union is safe: if
        the answers come from a graph, a collider between i and j is in none of those sets and a non-collider in all.
    """
    k = len(marks)
    for i in range(k):
        for j in range(k):
            marks[i, j] = NO_EDGE if i == j else CIRCLE
            separating[i, j] = NO_SET
    frozen = np.empty(k, np.int64)
    for size in range(k - 1):
        for v in range(k):
            frozen[v] = neighbours(marks, v)
        for i in range(k):
            for j in range(i + 1, k):
                if marks[i, j] == NO_EDGE:
                    continue
                union = separators(accepted[i, j], size, frozen[i] & ~(1 << j), frozen[j] & ~(1 << i))
                if union != NO_SET:
                    separating[i, j] = separating[j, i] = union
                    marks[i, j] = marks[j, i] = NO_EDGE


@njit(cache=True, nogil=True)
def separators(answers: np.ndarray, size: int, one: int, other: int) -> int:  # pragma: no cover - compiled
    """The union of the accepted sets of this size inside `one` or inside `other`; `NO_SET` where there is none."""
    found = NO_SET
    for candidates in (one, other):
        if SIZE[candidates] < size:
            continue
        given = candidates  # every set inside the candidates, in falling order
        while True:
            if SIZE[given] == size and answers[given]:
                found = given if found == NO_SET else found | given
            if given == 0:
                break
            given = (given - 1) & candidates
    return found


@njit(cache=True, nogil=True)
def neighbours(marks: np.ndarray, v: int) -> int:  # pragma: no cover - compiled
    """The set of the variables adjacent to v."""
    found = 0
    for u in range(len(marks)):
        found |= 1 << u if marks[u, v] != NO_EDGE else 0
    return found


@njit(cache=True, nogil=True)
def ends(marks: np.ndarray, v: int, mark: int) -> int:  # pragma: no cover - compiled
    """The set of the variables whose edge to v has this mark at v."""
    found = 0
    for u in range(len(marks)):
        found |= 1 << u if marks[u, v] == mark else 0
    return found
