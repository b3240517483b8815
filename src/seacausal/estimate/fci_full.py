"""FCI with all ten rules as causal-learn 0.1.4.8 runs it, on k variables, k from 2 to 10: from a table of answers to the marks of a PAG.

The rules are Zhang's (2008), R0 to R4 those of `fci_general`; R5 to R7 are about selection, R8 to R10 turn o-> into -->.
Surprising choice: causal-learn's readings of R5, R8, R9 and R10 are kept, each named where it stands. They depend on the order of the columns, leave
circles that the rules resolve, and R9 and R10 draw tails that no rule allows. `fci_complete` follows the paper instead. Where causal-learn goes
through a Python set of nodes, whose order changes with the hash seed, the order here is that of the columns.
Reference: Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.fci_general import (
    may_cause,
    orient_discriminating_paths,
    orient_double_triangles,
    orient_from_arrows,
    search_adjacencies,
)
from seacausal.estimate.independence import answer_tests
from seacausal.estimate.skeleton import ends, neighbours
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


@njit(cache=True, nogil=True)
def fci_full_each(covariances: np.ndarray, rows: np.ndarray, thresholds: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """FCI with all rules on each of t subsets of k variables; arguments as in `fci_general.fci_general_each`."""
    k = marks.shape[1]
    accepted = np.empty((k, k, 1 << k), np.bool_)
    for t in range(len(covariances)):
        answer_tests(covariances[t], thresholds[rows[t]], accepted)
        fci_full(accepted, marks[t])


@njit(cache=True, nogil=True)
def fci_full(accepted: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """The PAG that the tests imply; arguments as in `fci_general.fci_general`."""
    separating = np.empty(marks.shape, np.int64)
    search_adjacencies(accepted, marks, separating)
    changed = True
    while changed:
        changed = orient_from_arrows(marks) | orient_double_triangles(marks, separating)
        if changed:
            orient_discriminating_paths(accepted, marks, separating)
        changed |= orient_circle_paths(marks)
        changed |= orient_beside_selection(marks) | orient_beside_tails(marks)
        changed |= orient_shortcuts(marks) | orient_around(marks) | orient_between_parents(marks)


@njit(cache=True, nogil=True)
def orient_circle_paths(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R5: a o-o b and an uncovered path a o-o c o-o ... o-o d o-o b, a and d, b and c not adjacent, all become ---; whether any mark changed.

    causal-learn tries one shortest path between c and d, and does not ask whether a, c and the variable after c are an uncovered triple.
    """
    k = len(marks)
    changed = False
    before = np.empty(k, np.int64)
    for b in range(k):
        circles = ends(marks, b, CIRCLE)
        for a in range(k):
            if not circles >> a & 1 or marks[b, a] != CIRCLE:
                continue
            starts = both_circles(marks, a) & ~(1 << b) & ~neighbours(marks, b)
            goals = both_circles(marks, b) & ~(1 << a) & ~neighbours(marks, a)
            for c in range(k):
                for d in range(k):
                    if starts >> c & 1 and goals >> d & 1 and search_path(marks, c, d, 1 << a | 1 << b, True, before):
                        before[c] = -1
                        if uncovered(marks, before, d):
                            before[c] = a
                            orient_undirected(marks, before, d, a, b)
                            changed = True
    return changed


@njit(cache=True, nogil=True)
def both_circles(marks: np.ndarray, v: int) -> int:  # pragma: no cover - compiled
    """The set of the variables u with u o-o v."""
    found = 0
    for u in range(len(marks)):
        found |= 1 << u if marks[u, v] == CIRCLE and marks[v, u] == CIRCLE else 0
    return found


@njit(cache=True, nogil=True)
def orient_undirected(marks: np.ndarray, before: np.ndarray, d: int, a: int, b: int) -> None:  # pragma: no cover - compiled
    """Make --- of a, b and of each edge on the path b, d, before[d], ..., a."""
    marks[a, b] = marks[b, a] = marks[d, b] = marks[b, d] = TAIL
    while d != a:
        marks[d, before[d]] = marks[before[d], d] = TAIL
        d = before[d]


@njit(cache=True, nogil=True)
def search_path(marks: np.ndarray, start: int, goal: int, closed: int, circles: bool, before: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Look for a shortest path from start to goal that avoids a set; `before` tells the way back, except that of `start`. Whether there is one.

    Its edges are o-o if `circles`, and else such that each may point forwards.
    """
    k = len(marks)
    queue = np.empty(k, np.int64)
    queue[0] = start
    closed |= 1 << start
    at, count = 0, 1
    while at < count:
        v = queue[at]
        at += 1
        if v == goal:
            return True
        for u in range(k):
            if closed >> u & 1 or marks[v, u] == NO_EDGE:
                continue
            open_end = marks[u, v] == CIRCLE and marks[v, u] == CIRCLE if circles else marks[u, v] != ARROW and marks[v, u] != TAIL
            if open_end:
                closed |= 1 << u
                before[u] = v
                queue[count] = u
                count += 1
    return False


@njit(cache=True, nogil=True)
def uncovered(marks: np.ndarray, before: np.ndarray, v: int) -> bool:  # pragma: no cover - compiled
    """Whether no two variables that are two steps apart on the way back from v, up to the one that has -1 before it, are adjacent."""
    while before[v] != -1 and before[before[v]] != -1:
        if marks[v, before[before[v]]] != NO_EDGE:
            return False
        v = before[v]
    return True


@njit(cache=True, nogil=True)
def orient_beside_selection(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R6: a --- b o-* c becomes a --- b --* c; whether any mark changed."""
    k = len(marks)
    changed = False
    for b in range(k):
        selected = False
        for a in range(k):
            selected |= marks[a, b] == TAIL and marks[b, a] == TAIL
        for c in range(k):
            if selected and marks[c, b] == CIRCLE:
                marks[c, b] = TAIL
                changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_beside_tails(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R7: a --o b o-* c, a and c not adjacent, becomes a --o b --* c; whether any mark changed.

    What was a --o b before the first orientation at b still counts.
    """
    k = len(marks)
    changed = False
    for b in range(k):
        circles, tails = ends(marks, b, CIRCLE), np.int64(0)
        for a in range(k):
            tails |= 1 << a if circles >> a & 1 and marks[b, a] == TAIL else 0
        for c in range(k):
            if circles >> c & 1 and tails & ~neighbours(marks, c) & ~(1 << c):
                marks[c, b] = TAIL
                changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_shortcuts(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R8: a --> b --> c or a --o b --> c, with a o-> c, becomes a --> c; whether any mark changed.

    causal-learn looks at a before c in the order of the columns only.
    """
    k = len(marks)
    changed = False
    for b in range(k):
        for a in range(k):
            for c in range(a + 1, k):
                step = marks[b, a] == TAIL and marks[a, b] != TAIL and marks[b, c] == ARROW and marks[c, b] == TAIL
                if step and marks[a, c] == ARROW and marks[c, a] == CIRCLE:
                    marks[c, a] = TAIL
                    changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_around(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R9: a o-> c and an uncovered path a, b, ..., c that may be directed, b and c not adjacent, becomes a --> c; whether any mark changed.

    causal-learn tries one shortest path from b, and does not ask for the mark at b of the edge from a.
    """
    k = len(marks)
    changed = False
    before = np.empty(k, np.int64)
    for c in range(k):
        for a in range(k):
            if marks[a, c] != ARROW or marks[c, a] != CIRCLE:
                continue
            steps = neighbours(marks, a) & ~ends(marks, a, ARROW) & ~(1 << c) & ~neighbours(marks, c)
            for b in range(k):
                if steps >> b & 1 and marks[c, a] == CIRCLE and search_path(marks, b, c, 1 << a, False, before):
                    before[b], before[a] = a, -1
                    if uncovered(marks, before, c):
                        marks[c, a] = TAIL
                        changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_between_parents(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R10: a o-> c, b --> c <-- d, ways from a to b and to d that start apart, becomes a --> c; whether any mark changed.

    causal-learn looks at b before d and at their starts in the same order only, lets ways be covered, and takes b itself for a start only if a way
    leads from b back to b.
    """
    k = len(marks)
    changed = False
    for c in range(k):
        arrows, from_circles = ends(marks, c, ARROW), np.int64(0)
        for a in range(k):
            from_circles |= 1 << a if arrows >> a & 1 and marks[c, a] == CIRCLE else 0
        for a in range(k):
            if from_circles >> a & 1 and ways_start_apart(marks, a, c, arrows):
                marks[c, a] = TAIL
                changed = True
    return changed


@njit(cache=True, nogil=True)
def ways_start_apart(marks: np.ndarray, a: int, c: int, arrows: int) -> bool:  # pragma: no cover - compiled
    """Whether a may cause s and t, not adjacent, s < t, from which ways lead to b and d, b < d, parents of c."""
    k = len(marks)
    starts = neighbours(marks, a) & ~ends(marks, a, ARROW) & ~(1 << c)
    for b in range(k):
        for d in range(b + 1, k):
            if not arrows >> b & arrows >> d & 1 or marks[c, b] != TAIL or marks[c, d] != TAIL:
                continue
            for s in range(k):
                for t in range(s + 1, k):
                    if starts >> s & starts >> t & 1 and marks[s, t] == NO_EDGE and may_cause(marks, s, b) and may_cause(marks, t, d):
                        return True
    return False
