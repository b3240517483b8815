"""Local estimates to one graph without a network: SEA's Algorithm 1 (appendix, "Resolving marginal estimates into global graphs").

In: the marks of t local estimates. Out: the marks of a CPDAG. A pair is adjacent where every subset that holds it says so; unshielded colliders of
the estimates orient what is left, and Meek's rules go on from there.

What the theorem needs of an estimate on a subset S: i and j are adjacent exactly if no set inside S separates them, and i *-> j <-* k with i and k
not adjacent exactly if j is in none of the sets that separate those. Other marks are never read. Given that for all subsets of min(d, degree + 2)
variables, degree being the largest number of neighbours, the answer is the CPDAG: the parents of i, where k does not descend from it, separate i
from k, and i, k, their collider j and those parents are at most degree + 2, because j is a neighbour of i, too, and no parent. (More variables in a
subset leave less adjacent and take no collider away, so smaller subsets have nothing to add.)

What Algorithm 1 leaves open, for estimates from data contradict each other:
- A pair that no subset holds has no edge in the answer, but is not taken for separated either: no rule that needs two variables not to be adjacent
  rests on it. (Algorithm 1, which sees all subsets, would keep it; most pairs of a large graph are neither adjacent nor covered.)
- Of colliders that claim both i -> j and j -> i, the direction with more claims wins; where they are level the edge stays undirected, whatever the
  rules say. So no edge has two arrows.
- Nothing forbids a directed cycle; and where arrows contradict each other, rules apply in the order of the columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.graph.equivalence import complete_orientations
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


def resolve(variables: np.ndarray, d: int, marks: np.ndarray) -> np.ndarray:
    """Algorithm 1 on all local estimates.

    Parameters
    ----------
    variables
        (t, k) int, the variables of each subset.
    d
        Variables in all.
    marks
        (t, k, k) int8, `marks[s, i, j]` is the mark at j's end in subset s, see `graph.marks`; of a PAG, a CPDAG or a DAG.

    Returns
    -------
    (d, d) int8 marks: arrow and tail, or two tails, or no edge.

    Examples
    --------
    >>> collider = np.array([[[0, 2, 0], [3, 0, 3], [0, 2, 0]]], np.int8)  # 0 o-> 1 <-o 2
    >>> resolve(np.array([[3, 0, 2]]), 4, collider).tolist()  # 3 -> 0 <- 2; nobody looked at 1
    [[0, 0, 1, 1], [0, 0, 0, 0], [2, 0, 0, 0], [2, 0, 0, 0]]
    """
    marks, variables = np.ascontiguousarray(marks, np.int8), np.ascontiguousarray(variables, np.int64)
    joined = np.zeros((d, d), np.int8)
    claims = np.zeros((d, d), np.int64)
    _intersect(marks, variables, joined)
    _count_colliders(marks, variables, joined, claims)
    contested = (claims > 0) & (claims == claims.T)
    joined[claims > claims.T] = ARROW
    joined[contested] = CIRCLE  # which no rule touches, as with the pairs that no subset holds
    complete_orientations(joined)
    joined[joined == CIRCLE] = NO_EDGE
    joined[contested] = TAIL
    return joined


@njit(cache=True, nogil=True)
def _intersect(marks: np.ndarray, variables: np.ndarray, joined: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `joined`: TAIL where all subsets that hold a pair join it, NO_EDGE where one does not, CIRCLE where none holds it."""
    joined[:] = CIRCLE
    for i in range(len(joined)):
        joined[i, i] = NO_EDGE
    for t in range(len(variables)):
        subset = variables[t]
        for a in range(len(subset)):
            for b in range(len(subset)):
                i, j = subset[a], subset[b]
                if marks[t, a, b] == NO_EDGE:
                    joined[i, j] = NO_EDGE
                elif joined[i, j] == CIRCLE:
                    joined[i, j] = TAIL


@njit(cache=True, nogil=True)
def _count_colliders(marks: np.ndarray, variables: np.ndarray, joined: np.ndarray, claims: np.ndarray) -> None:  # pragma: no cover - compiled
    """Add to `claims[i, j]` one for every unshielded collider i *-> j <-* k of an estimate whose arms are left in `joined`."""
    k = variables.shape[1]
    for t in range(len(variables)):
        subset = variables[t]
        for b in range(k):
            j = subset[b]
            for a in range(k):
                if marks[t, a, b] != ARROW or joined[subset[a], j] != TAIL:
                    continue
                for c in range(a):
                    if marks[t, c, b] == ARROW and joined[subset[c], j] == TAIL and marks[t, a, c] == NO_EDGE:
                        claims[subset[a], j] += 1
                        claims[subset[c], j] += 1
