"""FCI as causal-learn 0.1.3.7 runs it, on k variables, k from 2 to 10: from a table of answers (`independence`) to the marks of a PAG.

`fci` is the same algorithm for five variables and faster; the two give equal marks. A set of variables is a bit mask; `marks[i, j]` is the mark at
j's end. causal-learn's peculiarities are kept and named where they stand. Two of them cannot be kept. Python's sets hand out its nodes in an order
that changes with the hash seed, and the search for possibly d-separating sets depends on it in rare graphs of six and more variables: here the order
is that of the columns. And where it raises a KeyError, rule R3 does not apply here, as in later releases.
References: Spirtes, Glymour and Scheines (2000), sections 6.3 and 6.7; Zhang (2008), section 3.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.independence import LARGEST, SIZE, answer_tests
from seacausal.estimate.skeleton import NO_SET, ends, neighbours, search_skeleton
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

BY_NAME = np.array(sorted(range(LARGEST), key=lambda v: f"X{v + 1}", reverse=True))
"""The variables as causal-learn sorts its candidates: by name, as text, last name first. X10 comes between X2 and X1."""


@njit(cache=True, nogil=True)
def fci_general_each(covariances: np.ndarray, rows: np.ndarray, thresholds: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """FCI on each of t subsets of k variables.

    Parameters
    ----------
    covariances
        (t, k, k) float64.
    rows
        (t,) int64, how many rows each was computed from.
    thresholds
        (r, k - 1) float64, `fisher_thresholds` of 0, 1, 2, ... rows.
    marks
        (t, k, k) int8, filled with the result.
    """
    k = marks.shape[1]
    accepted = np.empty((k, k, 1 << k), np.bool_)
    for t in range(len(covariances)):
        answer_tests(covariances[t], thresholds[rows[t]], accepted)
        fci_general(accepted, marks[t])


@njit(cache=True, nogil=True)
def fci_general(accepted: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """The PAG that the tests imply, by rules R0 to R4.

    Parameters
    ----------
    accepted
        (k, k, 2**k) bool, `accepted[i, j, S]` says that i is independent of j given S.
    marks
        (k, k) int8, filled with the result.
    """
    separating = np.empty(marks.shape, np.int64)
    search_adjacencies(accepted, marks, separating)
    while orient_from_arrows(marks) | orient_double_triangles(marks, separating):
        orient_discriminating_paths(accepted, marks, separating)


@njit(cache=True, nogil=True)
def search_adjacencies(accepted: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """Everything up to and with rule R0: the skeleton, possibly d-separating sets, colliders."""
    search_skeleton(accepted, marks, separating)
    orient_colliders(marks, separating)
    search_possible_d_separating(accepted, marks, separating)
    orient_colliders(marks, separating)


@njit(cache=True, nogil=True)
def orient_colliders(marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """Rule R0: forget all marks, then make a *-> b <-* c of every path a, b, c whose ends are separated by a set without b."""
    k = len(marks)
    for i in range(k):
        for j in range(k):
            marks[i, j] = NO_EDGE if marks[i, j] == NO_EDGE else CIRCLE
    for a in range(k):
        for c in range(a + 1, k):
            if marks[a, c] == NO_EDGE and separating[a, c] != NO_SET:
                for b in range(k):
                    if marks[a, b] != NO_EDGE and marks[c, b] != NO_EDGE and not separating[a, c] >> b & 1:
                        marks[a, b] = marks[c, b] = ARROW


@njit(cache=True, nogil=True)
def search_possible_d_separating(accepted: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """Cut edges whose ends are separated by a set beyond the neighbours of each, as unmeasured causes may require."""
    k = len(marks)
    for i in range(k):
        for j in range(i + 1, k):
            if marks[i, j] == NO_EDGE:
                continue
            # causal-learn turns an edge so that it does not point left, and files the set under that order of its ends only.
            a, b = (j, i) if marks[j, i] == ARROW and marks[i, j] != ARROW else (i, j)
            for x, y in ((a, b), (b, a)):
                if marks[a, b] != NO_EDGE:
                    found = first_separator(accepted[i, j], possible_d_separating(marks, x, y), neighbours(marks, a), neighbours(marks, b))
                    if found != NO_SET:
                        separating[a, b] = found
                        marks[a, b] = marks[b, a] = NO_EDGE


@njit(cache=True, nogil=True)
def first_separator(answers: np.ndarray, candidates: int, tried: int, also_tried: int) -> int:  # pragma: no cover - compiled
    """The first accepted set of two or more candidates that is inside neither tried set, in causal-learn's order; `NO_SET` where there is none.

    A slip there leaves out the first set of each size, unless it is the only one.
    """
    order = np.empty(len(BY_NAME), np.int64)
    count = 0
    for v in BY_NAME:
        if candidates >> v & 1:
            order[count] = v
            count += 1
    for size in range(2, count + 1):
        first = size < count
        for code in range((1 << count) - 1, 0, -1):  # the highest bit is the first candidate, so that codes fall as choices go on
            if SIZE[code] != size:
                continue
            if first:
                first = False
                continue
            given = 0
            for at in range(count):
                given |= 1 << order[at] if code >> (count - 1 - at) & 1 else 0
            if answers[given] and given & ~tried and given & ~also_tried:
                return given
    return NO_SET


@njit(cache=True, nogil=True)
def possible_d_separating(marks: np.ndarray, x: int, y: int) -> int:  # pragma: no cover - compiled
    """The neighbours of x; and what lies behind a collider, x *-> b <-* far, where a neighbour of far that was met before may cause x or far."""
    k = len(marks)
    candidates = met = neighbours(marks, x) & ~(1 << y)
    closed = met | 1 << x | 1 << y
    queue = np.empty(k, np.int64)
    count = 0
    for b in range(k):
        if not met >> b & 1 or marks[x, b] != ARROW:
            continue
        for far in range(k):
            if not closed >> far & 1 and marks[x, far] == NO_EDGE and marks[far, b] == ARROW:
                closed |= 1 << far
                queue[count] = far
                count += 1
    for at in range(count):
        far = queue[at]
        for b in range(k):
            if met >> b & 1 and marks[b, far] != NO_EDGE and (may_cause(marks, b, x) or may_cause(marks, b, far)):
                candidates |= 1 << far
        met |= 1 << far
    return candidates


@njit(cache=True, nogil=True)
def may_cause(marks: np.ndarray, start: int, goal: int) -> bool:  # pragma: no cover - compiled
    """Whether a path of one edge or more leads from start to goal on which no edge has an arrow at the end that it leaves from."""
    reached = neighbours(marks, start) & ~ends(marks, start, ARROW)
    for _ in range(len(marks) - 1):
        for v in range(len(marks)):
            if reached >> v & 1:
                reached |= neighbours(marks, v) & ~ends(marks, v, ARROW)
    return reached >> goal & 1 == 1


@njit(cache=True, nogil=True)
def orient_from_arrows(marks: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rules R1 and R2 on each path a, b, c; whether any mark changed.

    R1: a *-> b o-* c, a and c not adjacent, becomes a *-> b --> c, or b would have been found to be a collider.
    R2: a --> b *-> c or a *-> b --> c, with a *-o c, becomes a *-> c, or there would be a cycle.
    """
    k = len(marks)
    changed = False
    for b in range(k):
        for i in range(k):
            for j in range(i + 1, k):
                for a, c in ((i, j), (j, i)):
                    if marks[a, b] != ARROW:
                        continue
                    if marks[a, c] == NO_EDGE and marks[c, b] == CIRCLE and marks[b, c] != TAIL:
                        marks[c, b], marks[b, c] = TAIL, ARROW
                        changed = True
                    elif marks[a, c] == CIRCLE and marks[b, c] == ARROW and (marks[b, a] == TAIL or marks[c, b] == TAIL):
                        marks[a, c] = ARROW
                        changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_double_triangles(marks: np.ndarray, separating: np.ndarray) -> bool:  # pragma: no cover - compiled
    """Rule R3: a *-> b <-* c, a *-o d o-* c, d *-o b, a and c not adjacent, becomes d *-> b; whether any mark changed.

    causal-learn also asks whether a set with d separates a from c, on file in this order of a and c.
    """
    k = len(marks)
    changed = False
    for b in range(k):
        arrows, circles = ends(marks, b, ARROW), ends(marks, b, CIRCLE)
        for d in range(k):
            sources = arrows & ends(marks, d, CIRCLE) if circles >> d & 1 else 0
            for a in range(k):
                for c in range(a + 1, k):
                    known = sources >> a & sources >> c & 1 and marks[a, c] == NO_EDGE and separating[a, c] != NO_SET
                    if known and separating[a, c] >> d & 1:
                        marks[d, b] = ARROW
                        changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_discriminating_paths(accepted: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:  # pragma: no cover - compiled
    """Rule R4, on each triangle a <-* b o-* c with a --> c and b *-> c: a discriminating path tells whether b is a collider on it."""
    k = len(marks)
    for b in range(k):
        # As they stand before the first orientation at b.
        circles, heads = ends(marks, b, CIRCLE), np.int64(0)
        for a in range(k):
            heads |= 1 << a if marks[b, a] == ARROW else 0
        for a in range(k):
            for c in range(k):
                if heads >> a & circles >> c & 1 and marks[b, c] == ARROW and marks[a, c] == ARROW and marks[c, a] == TAIL:
                    follow_discriminating_paths(accepted, marks, separating, a, b, c)


@njit(cache=True, nogil=True)
def follow_discriminating_paths(
    accepted: np.ndarray, marks: np.ndarray, separating: np.ndarray, a: int, b: int, c: int
) -> None:  # pragma: no cover - compiled
    """From a outwards, shortest paths first, along colliders that are parents of c, to a variable that is not adjacent to c, until one path tells."""
    k = len(marks)
    parents = ends(marks, c, ARROW)
    for v in range(k):
        parents &= ~(1 << v) if marks[c, v] != TAIL else -1
    before = np.full(k, -1)  # on the way back to b
    body = np.zeros(k, np.int64)  # the variables from here to a
    queue = np.empty(k, np.int64)
    queue[0], before[a], body[a] = a, b, 1 << a
    closed = 1 << a | 1 << b
    at, count = 0, 1
    while at < count:
        t = queue[at]
        at += 1
        into = ends(marks, t, ARROW) & ~closed
        for d in range(k):
            if not into >> d & 1 or marks[before[t], t] != ARROW:
                continue
            if d != c and marks[d, c] == NO_EDGE and orient_path_end(accepted[d, c], marks, separating[d, c], int(body[t]), a, b, c):
                return
            if parents >> d & 1:
                closed |= 1 << d
                before[d], body[d] = t, body[t] | 1 << d
                queue[count] = d
                count += 1


@njit(cache=True, nogil=True)
def orient_path_end(answers: np.ndarray, marks: np.ndarray, separator: int, body: int, a: int, b: int, c: int) -> bool:  # pragma: no cover - compiled
    """Orient b on a path d, body, b, c, where a is the last of the set `body`: a collider if body separates d from c without b, not if with b.

    Whether the path told. causal-learn asks the tests first, and what separated d from c only if they accept neither.
    """
    with_b = answers[body | 1 << b]
    if not with_b and not answers[body]:
        if separator == NO_SET:
            return False
        with_b = separator >> b & 1 == 1
    if with_b:
        marks[c, b] = TAIL
        return True
    if marks[a, b] == TAIL or marks[c, b] == TAIL:
        return False
    marks[a, b] = marks[c, b] = ARROW
    return True
