"""Essential graphs of few variables as bit masks: what score-based searches walk over.

A set is a bit mask: bit v is set when variable v belongs to it. A DAG is `parents` (k,); an essential graph is `arrows` (k,), the parents by edges
whose direction the whole class shares, and `lines` (k,), the neighbours by i --- j. What the regimes say is `cut` (k,): the variables that some
regime separates from each, by targeting exactly one of the two. Without interventions it is all zero, and the essential graph is the CPDAG.
References: Andersson, Madigan and Perlman (1997), A characterization of Markov equivalence classes for acyclic digraphs; Hauser and Buehlmann (2012),
Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.graph.marks import ARROW, NO_EDGE, TAIL


def cut_masks(targets: np.ndarray) -> np.ndarray:
    """Which variables some regime separates from each.

    Parameters
    ----------
    targets
        (..., r, k) bool, the targets of each regime; a regime may be repeated, the observational one is welcome and changes nothing.

    Returns
    -------
    (..., k) int64 masks.

    Examples
    --------
    >>> cut_masks(np.array([[True, False, False], [False, True, True]])).tolist()
    [6, 1, 1]
    """
    targets = np.asarray(targets, bool)
    apart = (targets[..., :, None] != targets[..., None, :]).any(-3)
    return (apart << np.arange(targets.shape[-1])).sum(-1)


@njit(cache=True, nogil=True)
def complete(parents: np.ndarray, cut: np.ndarray, arrows: np.ndarray, lines: np.ndarray) -> None:  # pragma: no cover - compiled
    """The essential graph of a DAG: its v-structures and the edges across a cut, closed under Meek's rules R1 to R3.

    R4 adds nothing: two of its edges would have to be --- though a regime separates the ends of one of them.

    Parameters
    ----------
    parents, cut
        (k,) int64, see the module.
    arrows, lines
        (k,) int64, filled with the result. `lines` serves as scratch on the way: it holds the adjacent variables.
    """
    k = len(parents)
    for v in range(k):
        lines[v] = parents[v]
    for v in range(k):
        for u in range(k):
            if parents[v] >> u & 1:
                lines[u] |= 1 << v
    for v in range(k):
        arrows[v] = parents[v] & cut[v]
        for u in range(k):
            if parents[v] >> u & 1 and parents[v] & ~lines[u] & ~(1 << u):
                arrows[v] |= 1 << u
    changed = True
    while changed:
        changed = False
        for v in range(k):
            for u in range(k):
                if parents[v] & ~arrows[v] & 1 << u and _is_forced(arrows, lines, u, v):
                    arrows[v] |= 1 << u
                    changed = True
    for v in range(k):  # last, a line is an adjacency without an arrow either way
        for u in range(k):
            if arrows[v] >> u & 1:
                lines[v] &= ~(1 << u)
                lines[u] &= ~(1 << v)


@njit(cache=True, nogil=True)
def _is_forced(arrows: np.ndarray, adjacent: np.ndarray, u: int, v: int) -> bool:  # pragma: no cover - compiled
    """Whether u --- v must be u --> v. No arrow goes from v to what u could be reached from, for both are of one DAG."""
    if arrows[u] & ~adjacent[v]:
        return True  # R1: c --> u --- v
    between = arrows[v] & adjacent[u] & ~arrows[u]
    forced = 0
    for c in range(len(arrows)):
        if between >> c & 1:  # R2: u --> c --> v; R3: u --- c --> v and u --- e --> v, where c and e are not adjacent
            forced |= arrows[c] >> u & 1 | _undirected(arrows, between, u) & ~adjacent[c] & ~(1 << c)
    return forced != 0


@njit(cache=True, nogil=True)
def _undirected(arrows: np.ndarray, among: int, u: int) -> int:  # pragma: no cover - compiled
    """Those of `among` that no arrow comes to from u."""
    for c in range(len(arrows)):
        if among >> c & 1 and arrows[c] >> u & 1:
            among &= ~(1 << c)
    return among


@njit(cache=True, nogil=True)
def member(arrows: np.ndarray, lines: np.ndarray, clique: int, second: int, third: int, parents: np.ndarray) -> None:  # pragma: no cover - compiled
    """A DAG of the class in which `clique` comes first in its chain component, next `second`, then `third` if no other has to.

    Maximum cardinality search orders the lines without a new v-structure (Tarjan and Yannakakis, 1984); ties go to those who shall come first.

    Parameters
    ----------
    arrows, lines
        (k,) int64, the essential graph.
    clique
        Mask of variables that are all adjacent.
    second, third
        A variable each; -1 for none.
    parents
        (k,) int64, filled with the DAG.
    """
    k = len(arrows)
    placed = 0
    for _ in range(k):
        chosen, best = -1, -1
        for v in range(k):
            if placed >> v & 1:
                continue
            wish = 3 if clique >> v & 1 else 2 if v == second else 1 if v == third else 0
            rank = 4 * size(lines[v] & placed) + wish
            if rank > best:
                chosen, best = v, rank
        parents[chosen] = arrows[chosen] | (lines[chosen] & placed)
        placed |= 1 << chosen


@njit(cache=True, nogil=True)
def size(mask: int) -> int:  # pragma: no cover - compiled
    """How many variables a set has, of up to 16: sums of neighbouring bits, pairs, fours and eights."""
    mask = mask - (mask >> 1 & 0x5555)
    mask = (mask & 0x3333) + (mask >> 2 & 0x3333)
    mask = mask + (mask >> 4) & 0x0F0F
    return mask + (mask >> 8) & 0x1F


@njit(cache=True, nogil=True)
def write_marks(arrows: np.ndarray, lines: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill (k, k) int8 marks, `marks[i, j]` the mark at j's end. A DAG has its parents for arrows, and no lines."""
    k = len(arrows)
    marks[:] = NO_EDGE
    for v in range(k):
        for u in range(k):
            if arrows[v] >> u & 1:
                marks[u, v] = ARROW
                marks[v, u] = TAIL
            elif lines[v] >> u & 1:
                marks[u, v] = TAIL
