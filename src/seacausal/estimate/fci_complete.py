"""FCI with Zhang's ten rules to the letter, on k variables, k from 2 to 10: from a table of answers (`independence`) to the marks of a PAG.

If the answers come from a graph with unmeasured causes and selection, the result is its PAG: exactly the marks that all graphs with these answers
share. Unlike `fci_general` and `fci_full`, which copy a program, nothing here depends on the order of the columns as long as the answers fit a graph.
Surprising choice: paths are found by trying all of them; with ten variables at most there are few.
References: Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias;
Spirtes, Glymour and Scheines (2000), section 6.7, for the possibly d-separating sets.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.fci_general import orient_colliders, orient_from_arrows
from seacausal.estimate.independence import LARGEST, SIZE, answer_tests
from seacausal.estimate.skeleton import ends, neighbours, search_skeleton
from seacausal.graph.equivalence import directed
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


@njit(cache=True, nogil=True)
def fci_complete_each(covariances: np.ndarray, rows: np.ndarray, thresholds: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """FCI with the complete rules on each of t subsets of k variables; arguments as in `fci_general.fci_general_each`."""
    k = marks.shape[1]
    accepted = np.empty((k, k, 1 << k), np.bool_)
    for t in range(len(covariances)):
        answer_tests(covariances[t], thresholds[rows[t]], accepted)
        fci_complete(accepted, marks[t])


@njit(cache=True, nogil=True)
def fci_complete(accepted: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """The PAG that the tests imply; arguments as in `fci_general.fci_general`. Every round of rules removes a circle, so there is an end."""
    separating = np.empty(marks.shape, np.int64)
    search_skeleton(accepted, marks, separating)
    orient_colliders(marks, separating)
    search_beyond_neighbours(accepted, marks, separating)
    orient_colliders(marks, separating)
    changed = True
    while changed:
        changed = orient_from_arrows(marks) | orient_into_colliders(marks) | orient_path_ends(marks, separating)
    orient_circle_cycles(marks)
    changed = True
    while changed:
        changed = orient_tails(marks) | orient_parents(marks)


@njit(cache=True, nogil=True)
def search_beyond_neighbours(accepted: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """Cut every edge whose ends a set of possibly d-separating variables separates; smallest sets first, all sought in one frozen graph."""
    k = len(marks)
    possible = np.empty(k, np.int64)
    for v in range(k):
        possible[v] = possible_d_separating(marks, v)
    for i in range(k):
        for j in range(i + 1, k):
            if marks[i, j] == NO_EDGE:
                continue
            one, other = possible[i] & ~(1 << j), possible[j] & ~(1 << i)
            best = -1
            for given in range(1 << k):
                inside = given & ~one == 0 or given & ~other == 0
                if inside and accepted[i, j, given] and (best < 0 or SIZE[given] < SIZE[best]):
                    best = given
            if best >= 0:
                separating[i, j] = separating[j, i] = best
                marks[i, j] = marks[j, i] = NO_EDGE


@njit(cache=True, nogil=True)
def possible_d_separating(marks: np.ndarray, x: int) -> int:  # pragma: no cover - compiled
    """The variables that a path from x reaches whose every inner variable is a collider on it or closes a triangle."""
    k = len(marks)
    reached = np.zeros((k, k), np.bool_)  # by the last edge of a path
    for b in range(k):
        reached[x, b] = marks[x, b] != NO_EDGE
    changed = True
    while changed:
        changed = False
        for a in range(k):
            for b in range(k):
                for c in range(k):
                    if not reached[a, b] or reached[b, c] or marks[b, c] == NO_EDGE or c in (a, x):
                        continue
                    if marks[a, c] != NO_EDGE or (marks[a, b] == ARROW and marks[c, b] == ARROW):
                        reached[b, c] = changed = True
    found = 0
    for b in range(k):
        found |= 1 << b if reached[:, b].any() else 0
    return found


@njit(cache=True, nogil=True)
def orient_into_colliders(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R3: a *-> b <-* c, a *-o d o-* c, d *-o b, a and c not adjacent, becomes d *-> b; whether any mark changed."""
    k = len(marks)
    changed = False
    for b in range(k):
        for d in range(k):
            sources = ends(marks, b, ARROW) & ends(marks, d, CIRCLE) if marks[d, b] == CIRCLE else 0
            for a in range(k):
                if sources >> a & 1 and sources & ~neighbours(marks, a) & ~(1 << a):
                    marks[d, b] = ARROW
                    changed = True
                    break
    return changed


@njit(cache=True, nogil=True)
def orient_path_ends(marks: np.ndarray, separating: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R4: a discriminating path d, ..., a, b, c with b o-* c makes b --> c if b helps to separate d from c, else a <-> b <-> c.

    Between d and b every variable is a collider on the path and a parent of c; d and c are not adjacent. Whether any mark changed.
    """
    k = len(marks)
    changed = False
    for b in range(k):
        for c in range(k):
            for a in range(k):
                if marks[c, b] != CIRCLE or marks[b, a] != ARROW or not directed(marks, a, c):
                    continue
                d = far_end(marks, a, b, c)
                if d < 0:
                    continue
                if separating[d, c] >> b & 1:
                    marks[c, b], marks[b, c] = TAIL, ARROW
                else:
                    marks[a, b] = marks[b, a] = marks[b, c] = marks[c, b] = ARROW
                changed = True
    return changed


@njit(cache=True, nogil=True)
def far_end(marks: np.ndarray, a: int, b: int, c: int) -> int:  # pragma: no cover - compiled
    """Where a shortest discriminating path for b that ends in a, b, c starts; -1 if there is none."""
    k = len(marks)
    queue = np.empty(k, np.int64)
    queue[0] = a
    closed = 1 << a | 1 << b | 1 << c
    at, count = 0, 1
    while at < count:
        t = queue[at]
        at += 1
        for d in range(k):
            if closed >> d & 1 or marks[d, t] != ARROW:
                continue
            if marks[d, c] == NO_EDGE:
                return d
            if marks[t, d] == ARROW and directed(marks, d, c):
                closed |= 1 << d
                queue[count] = d
                count += 1
    return -1


@njit(cache=True, nogil=True)
def orient_circle_cycles(marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """Rule R5: a o-o b and an uncovered path a o-o c o-o ... o-o d o-o b, a and d, b and c not adjacent, all become ---.

    Each edge of such a cycle has the rest of it for its path, so that each is found on its own.
    """
    k = len(marks)
    frozen = marks.copy()
    for a in range(k):
        for b in range(k):
            if frozen[a, b] == CIRCLE and frozen[b, a] == CIRCLE and first_steps(frozen, a, b, True) & ~neighbours(frozen, b) & ~(1 << b):
                marks[a, b] = marks[b, a] = TAIL


@njit(cache=True, nogil=True)
def orient_tails(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rules R6 and R7: b o-* c becomes b --* c if a --- b, or if a --o b and a and c are not adjacent; whether any mark changed."""
    k = len(marks)
    changed = False
    for b in range(k):
        for a in range(k):
            for c in range(k):
                if c == a or marks[c, b] != CIRCLE or marks[b, a] != TAIL:
                    continue
                if marks[a, b] == TAIL or (marks[a, b] == CIRCLE and marks[a, c] == NO_EDGE):
                    marks[c, b] = TAIL
                    changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_parents(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rules R8, R9 and R10 make a --> c of a o-> c; whether any mark changed.

    R8: a --> b --> c or a --o b --> c. R9: an uncovered path a, b, ..., c that may be directed, b and c not adjacent. R10: b --> c <-- d and
    uncovered paths that may be directed from a to b and from a to d whose first steps are different and not adjacent.
    """
    k = len(marks)
    changed = False
    for a in range(k):
        for c in range(k):
            if marks[a, c] != ARROW or marks[c, a] != CIRCLE:
                continue
            causes = first_steps(marks, a, c, False) & ~neighbours(marks, c) & ~(1 << c) != 0
            for b in range(k):
                causes |= marks[b, a] == TAIL and marks[a, b] != TAIL and directed(marks, b, c)
            if causes or two_ways(marks, a, c):
                marks[c, a] = TAIL
                changed = True
    return changed


@njit(cache=True, nogil=True)
def two_ways(marks: np.ndarray, a: int, c: int) -> bool:  # pragma: no cover - compiled
    """Whether rule R10 applies to a o-> c."""
    k = len(marks)
    steps = np.zeros(k, np.int64)  # the first steps of the ways from a to each parent of c
    for b in range(k):
        if b != a and directed(marks, b, c):
            steps[b] = first_steps(marks, a, b, False)
    for b in range(k):
        for s in range(k):
            if steps[b] >> s & 1:
                apart = ~neighbours(marks, s) & ~(1 << s)
                for d in range(k):
                    if d != b and steps[d] & apart:
                        return True
    return False


@njit(cache=True, nogil=True)
def first_steps(marks: np.ndarray, start: int, goal: int, circles: bool) -> int:  # pragma: no cover - compiled
    """The set of the second variables of all uncovered paths from start to goal, that of the edge itself included.

    Edges are o-o if `circles`, and then the last variable but one is not adjacent to `start`; else each edge may be directed from start to goal.
    """
    k = len(marks)
    path = np.empty(LARGEST + 1, np.int64)
    untried = np.empty(LARGEST + 1, np.int64)  # the continuations of each variable on the path
    path[0], untried[0] = start, onward(marks, start, circles)
    found, used, depth = 0, 1 << start, 0
    while depth >= 0:
        if untried[depth] == 0:
            used &= ~(1 << path[depth])
            depth -= 1
            continue
        step = 0
        while not untried[depth] >> step & 1:
            step += 1
        untried[depth] &= ~(1 << step)
        if step == goal:
            if not circles or depth == 0 or marks[path[depth], start] == NO_EDGE:
                found |= 1 << (path[1] if depth else goal)
        elif depth < k - 1:
            untried[depth + 1] = onward(marks, step, circles) & ~used & ~(1 << step) & ~neighbours(marks, path[depth])
            path[depth + 1] = step
            used |= 1 << step
            depth += 1
    return found


@njit(cache=True, nogil=True)
def onward(marks: np.ndarray, v: int, circles: bool) -> int:  # pragma: no cover - compiled
    """The neighbours u of v with v o-o u if `circles`, else those to which the edge may be directed."""
    found = 0
    for u in range(len(marks)):
        if marks[v, u] != NO_EDGE:
            open_ends = marks[u, v] == CIRCLE and marks[v, u] == CIRCLE if circles else marks[u, v] != ARROW and marks[v, u] != TAIL
            found |= 1 << u if open_ends else 0
    return found
