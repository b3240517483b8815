"""FCI on five variables: from the answers of 80 independence tests to the marks of a PAG.

In: `bits`, for each pair one word whose bit S says that the pair is independent given S (of `partial_correlation`, a d-separation oracle, any test).
Out: `marks[i, j]`, the mark at j's end of the edge between i and j (`graph.marks`). A set of variables is a bit mask, a family of sets one bit a set.
Surprising choice: this is FCI as causal-learn 0.1.3.7 runs it, the release that SEA's authors pinned, with its peculiarities, each named where it
stands, and no rule beyond R4. Only its KeyError has no counterpart: on five variables it cannot arise (see `orient_double_triangles`).
`estimate_fci` takes a table of any other width, and other rules.
References: Spirtes, Glymour and Scheines (2000), Causation, Prediction, and Search, sections 6.3 and 6.7; Zhang (2008), On the completeness of
orientation rules for causal discovery in the presence of latent confounders and selection bias, section 3.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.errors import DataError
from seacausal.estimate.independence import covariance_of
from seacausal.estimate.partial_correlation import (
    PAIR_INDEX,
    PAIRS,
    SET_SIZE,
    SETS,
    VARIABLES,
    condition,
    fisher_thresholds,
    independence_bits,
)
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

NO_SET = -1  # in `separating[i, j]`: no set that separates i from j is on file
# Families: the sets of each size, the subsets of each set, the sets that contain each variable.
OF_SIZE = np.array([sum(1 << s for s in range(SETS) if SET_SIZE[s] == size) for size in range(4)])
INSIDE = np.array([sum(1 << s for s in range(SETS) if s & ~whole == 0) for whole in range(SETS)])
WITH = np.array([sum(1 << s for s in range(SETS) if s >> v & 1) for v in range(VARIABLES)])


def estimate_fci(values: np.ndarray, *, rules: str = "paper", alpha: float = 0.05) -> np.ndarray:
    """FCI on one small table, with Fisher's z-test.

    Parameters
    ----------
    values
        (n, k) rows of k variables, k from 2 to 10.
    rules
        "paper": R0 to R4, as causal-learn 0.1.3.7, the release of SEA's authors (`fci`, `fci_general`). "full": R0 to R10, as causal-learn 0.1.4.8
        (`fci_full`). "complete": R0 to R10 as Zhang (2008) states them, exact where the tests are (`fci_complete`).
    alpha
        Level of the tests.

    Returns
    -------
    (k, k) int8 marks of a PAG, `marks[i, j]` at j's end.

    Raises
    ------
    DataError
        If `values` is not such a table, or `rules` none of the three.

    References
    ----------
    Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias.

    Examples
    --------
    >>> x, y, noise = np.random.default_rng(0).standard_normal((3, 500))
    >>> estimate_fci(np.column_stack([x, x + y + noise, y])).tolist()
    [[0, 2, 0], [3, 0, 3], [0, 2, 0]]
    """
    # Here, because the others build on this file, and a run on subsets of five needs none of them.
    from seacausal.estimate.fci_complete import fci_complete_each
    from seacausal.estimate.fci_full import fci_full_each
    from seacausal.estimate.fci_general import fci_general_each

    if rules not in ("paper", "full", "complete"):
        raise DataError(f"`rules` must be 'paper', 'full' or 'complete'; found {rules!r}.")
    covariance = covariance_of(values)
    k = len(covariance)
    paper = fci_each if k == VARIABLES else fci_general_each
    each = {"paper": paper, "full": fci_full_each, "complete": fci_complete_each}[rules]
    marks = np.zeros((1, k, k), np.int8)
    each(covariance[None], np.zeros(1, np.int64), fisher_thresholds(len(values), alpha, k - 1)[None], marks)
    return marks[0]


@njit(cache=True, nogil=True)
def fci_each(covariances: np.ndarray, rows: np.ndarray, thresholds: np.ndarray, marks: np.ndarray) -> None:
    """FCI on each of t subsets of five variables, rules R0 to R4.

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
    conditional = np.empty((SETS, VARIABLES, VARIABLES))
    bits = np.empty(len(PAIRS), np.uint32)
    for t in range(len(covariances)):
        condition(covariances[t], conditional)
        independence_bits(conditional, thresholds[rows[t]], bits)
        fci(bits, marks[t])


@njit(cache=True, nogil=True)
def fci(bits: np.ndarray, marks: np.ndarray) -> None:
    """The PAG that the tests imply. Never fails: answers that fit no graph are resolved by the order of the search, as in causal-learn 0.1.3.7.

    Parameters
    ----------
    bits
        (10,) uint32, bit S of `bits[p]` is set when the two variables of `partial_correlation.PAIRS[p]` are independent given the set S.
    marks
        (5, 5) int8, filled with the result: `marks[i, j]` is the mark at j's end of the edge between i and j.
    """
    separating = np.empty((VARIABLES, VARIABLES), np.int8)
    search_skeleton(bits, marks, separating)
    orient_colliders(marks, separating)
    if search_possible_d_separating(bits, marks, separating):
        orient_colliders(marks, separating)
    # Each round removes a circle, so there is an end. As in causal-learn, R4 has its turn only after another rule has changed something.
    while orient_from_arrows(marks) | orient_double_triangles(marks):
        orient_discriminating_paths(bits, marks, separating)


@njit(cache=True, nogil=True)
def search_skeleton(bits: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:
    """Join all pairs, then cut those that neighbours of either end separate: smallest sets first, each size against one frozen graph.

    `separating[i, j]` becomes the union of all sets that separate i and j at the first size where any does. The union is causal-learn's, and is safe:
    if the answers come from a graph, a collider between i and j is in none of those sets and a non-collider in all.
    """
    for i in range(VARIABLES):
        for j in range(VARIABLES):
            marks[i, j] = NO_EDGE if i == j else CIRCLE
            separating[i, j] = NO_SET
    frozen = np.empty(VARIABLES, np.int64)
    for size in range(4):
        for v in range(VARIABLES):
            frozen[v] = neighbours(marks, v)
        for i, j in PAIRS:
            tried = INSIDE[frozen[i] & ~(1 << j)] | INSIDE[frozen[j] & ~(1 << i)]
            accepted = bits[PAIR_INDEX[i, j]] & OF_SIZE[size] & tried
            if marks[i, j] != NO_EDGE and accepted:
                union = 0
                for v in range(VARIABLES):
                    union |= 1 << v if accepted & WITH[v] else 0
                separating[i, j] = separating[j, i] = union
                marks[i, j] = marks[j, i] = NO_EDGE


@njit(cache=True, nogil=True)
def orient_colliders(marks: np.ndarray, separating: np.ndarray) -> None:
    """Rule R0: forget all marks, then make a *-> b <-* c of every path a, b, c whose ends are separated by a set without b."""
    for i in range(VARIABLES):
        for j in range(VARIABLES):
            marks[i, j] = NO_EDGE if marks[i, j] == NO_EDGE else CIRCLE
    for a, c in PAIRS:
        if marks[a, c] == NO_EDGE and separating[a, c] != NO_SET:
            for b in range(VARIABLES):
                if marks[a, b] != NO_EDGE and marks[c, b] != NO_EDGE and not separating[a, c] >> b & 1:
                    marks[a, b] = marks[c, b] = ARROW


@njit(cache=True, nogil=True)
def search_possible_d_separating(bits: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> bool:
    """Cut edges whose ends are separated by a set beyond the neighbours of each, as unmeasured causes may require; whether any was cut."""
    any_cut = False
    for i, j in PAIRS:
        untried = bits[PAIR_INDEX[i, j]] & ~(INSIDE[neighbours(marks, i)] | INSIDE[neighbours(marks, j)])
        if marks[i, j] == NO_EDGE or not untried:
            continue
        # causal-learn turns an edge so that it does not point left, and files the set under that order of its ends only.
        a, b = (j, i) if marks[j, i] == ARROW and marks[i, j] != ARROW else (i, j)
        for x, y in ((a, b), (b, a)):
            found = first_inside(untried, possible_d_separating(marks, x, y))
            if marks[a, b] != NO_EDGE and found != NO_SET:
                separating[a, b] = found
                marks[a, b] = marks[b, a] = NO_EDGE
                any_cut = True
    return any_cut


@njit(cache=True, nogil=True)
def first_inside(family: int, candidates: int) -> int:
    """The first set of two or three candidates that the family holds, in causal-learn's order; `NO_SET` where it holds none.

    A slip there leaves out the first set of each size: of three candidates, and there are no more, the two highest are not tried as a pair.
    """
    for size in range(2, 4):
        for chosen in range(SETS - 1, 0, -1):
            if family & INSIDE[candidates] & OF_SIZE[size] & 1 << chosen and chosen & candidates & -candidates:
                return chosen
    return NO_SET


@njit(cache=True, nogil=True)
def possible_d_separating(marks: np.ndarray, x: int, y: int) -> int:
    """The neighbours of x; and what lies behind a collider, x *-> b <-* far, where a neighbour of far that was met before may cause x or far."""
    candidates = met = neighbours(marks, x) & ~(1 << y)
    for far in range(VARIABLES):
        if far in (x, y) or marks[x, far] != NO_EDGE:
            continue
        for b in range(VARIABLES):
            if met >> b & 1 and marks[x, b] == ARROW and marks[far, b] == ARROW:
                met |= 1 << far
        for b in range(VARIABLES):
            if met >> far & met >> b & 1 and marks[b, far] != NO_EDGE and (may_cause(marks, b, x) or may_cause(marks, b, far)):
                candidates |= 1 << far
    return candidates


@njit(cache=True, nogil=True)
def may_cause(marks: np.ndarray, start: int, goal: int) -> bool:
    """Whether a path leads from start to goal on which no edge has an arrow at the end that it leaves from."""
    reached = 1 << start
    for _ in range(VARIABLES - 1):
        for v in range(VARIABLES):
            if reached >> v & 1:
                reached |= neighbours(marks, v) & ~ends(marks, v, ARROW)
    return reached >> goal & 1 == 1


@njit(cache=True, nogil=True)
def orient_from_arrows(marks: np.ndarray) -> bool:
    """Rules R1 and R2 on each path a, b, c; whether any mark changed.

    R1: a *-> b o-* c, a and c not adjacent, becomes a *-> b --> c, or b would have been found to be a collider.
    R2: a --> b *-> c or a *-> b --> c, with a *-o c, becomes a *-> c, or there would be a cycle.
    """
    changed = False
    for b in range(VARIABLES):
        for i, j in PAIRS:
            for a, c in ((i, j), (j, i)):
                if marks[a, b] == ARROW and marks[a, c] == NO_EDGE and marks[c, b] == CIRCLE:
                    marks[c, b], marks[b, c] = TAIL, ARROW
                    changed = True
                directed = marks[a, b] == ARROW and marks[b, c] == ARROW and (marks[b, a] == TAIL or marks[c, b] == TAIL)
                if directed and marks[a, c] == CIRCLE:
                    marks[a, c] = ARROW
                    changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_double_triangles(marks: np.ndarray) -> bool:
    """Rule R3: a *-> b <-* c, a *-o d o-* c, d *-o b, a and c not adjacent, becomes d *-> b; whether any mark changed.

    causal-learn also asks whether d helps to separate a from c. It does, or R0 would have made arrows of the circles at d. The KeyError comes from
    there, if the set is on file in the reverse order only. That takes an arrow at a from a fifth variable; but then a is adjacent to all others,
    and no set that separates it reaches beyond its neighbours.
    """
    changed = False
    for b in range(VARIABLES):
        arrows, circles = ends(marks, b, ARROW), ends(marks, b, CIRCLE)
        for d in range(VARIABLES):
            sources = arrows & ends(marks, d, CIRCLE) if circles >> d & 1 else 0
            for a, c in PAIRS:
                if sources >> a & sources >> c & 1 and marks[a, c] == NO_EDGE:
                    marks[d, b] = ARROW
                    changed = True
    return changed


@njit(cache=True, nogil=True)
def orient_discriminating_paths(bits: np.ndarray, marks: np.ndarray, separating: np.ndarray) -> None:
    """Rule R4, on each triangle a <-* b o-* c with a --> c and b *-> c: a discriminating path tells whether b is a collider on it.

    The path is d *-> a <-* b or d *-> t <-> a <-* b, with t --> c and d not adjacent to c; on five variables there is no longer one.
    """
    for b in range(VARIABLES):
        circles = ends(marks, b, CIRCLE)  # as they stand before the first orientation at b
        for a in range(VARIABLES):
            for c in range(VARIABLES):
                if not circles >> c & 1 or marks[b, a] != ARROW or marks[b, c] != ARROW or marks[a, c] != ARROW or marks[c, a] != TAIL:
                    continue
                told = False
                for step in range(VARIABLES + 1):  # the shorter path first: t = a
                    t = step - 1 if step else a
                    if t != a and (t == b or marks[t, a] != ARROW or marks[a, t] != ARROW or marks[t, c] != ARROW or marks[c, t] != TAIL):
                        continue
                    for d in range(VARIABLES):
                        if not told and d not in (a, b) and marks[d, t] == ARROW and marks[d, c] == NO_EDGE:
                            told = orient_path_end(bits, marks, separating, d, 1 << t | 1 << a, a, b, c)


@njit(cache=True, nogil=True)
def orient_path_end(bits: np.ndarray, marks: np.ndarray, separating: np.ndarray, d: int, body: int, a: int, b: int, c: int) -> bool:
    """Orient b on a path d, body, b, c, where a is the last of the set `body`: a collider if body separates d from c without b, not if with b.

    Whether the path told. causal-learn asks the tests first, and what separated d from c only if they accept neither.
    """
    accepted = bits[PAIR_INDEX[d, c]]
    with_b = accepted >> (body | 1 << b) & 1
    if not with_b and not accepted >> body & 1:
        if separating[d, c] == NO_SET:
            return False
        with_b = separating[d, c] >> b & 1
    if with_b:
        marks[c, b] = TAIL
        return True
    if marks[a, b] == TAIL or marks[c, b] == TAIL:
        return False
    marks[a, b] = marks[c, b] = ARROW
    return True


@njit(cache=True, nogil=True)
def ends(marks: np.ndarray, v: int, mark: int) -> int:
    """The set of the variables whose edge to v has this mark at v."""
    found = 0
    for u in range(VARIABLES):
        found |= 1 << u if marks[u, v] == mark else 0
    return found


@njit(cache=True, nogil=True)
def neighbours(marks: np.ndarray, v: int) -> int:
    """The set of the variables adjacent to v."""
    found = 0
    for u in range(VARIABLES):
        found |= 1 << u if marks[u, v] != NO_EDGE else 0
    return found
