"""Greedy equivalence search: steps over essential graphs, each the best of one kind, while the score rises.

In: local scores (k, 2**k) as in `scores`. Out: marks of a CPDAG. The steps insert, delete or turn an edge; they are those of GIES (`gies`), which
without interventions are the operators of GES (Chickering, 2002, definitions 12 and 13; Hauser and Buehlmann, 2012, propositions 26, 28, 31 and 34).
A graph is `arrows` and `lines`, bit masks as in `graph.essential`; after each step a DAG of the class is written out and completed again.

Surprising choice: whether an edge may be changed is asked only if the change would be better than the best so far, which is cheaper than any table.
With penalty 2 and at most k / 2 parents it is the GES that causal-learn 0.1.3.7 runs by default, the release that SEA's authors pinned.
References: Chickering (2002), Optimal structure identification with greedy search.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.scores import score_table
from seacausal.graph.essential import complete, member, size, write_marks

NO_LIMIT = 64
"""For `most_parents`."""
GAIN = 1e-9
"""Nats that a step must gain: more than rounding."""


def estimate_ges(values: np.ndarray, *, penalty: float = 1.0, most_parents: float | None = None, turning: bool = False) -> np.ndarray:
    """The CPDAG that greedy equivalence search finds by the Gaussian BIC.

    Parameters
    ----------
    values
        (n, k) rows, k from 2 to 10.
    penalty
        Factor of the BIC penalty: 1 is BIC, 2 what causal-learn 0.1.3.7 takes.
    most_parents
        Insert no edge into a variable with more arrows than this; None for no limit. causal-learn takes k / 2.
    turning
        Whether edges are turned, too, and the phases repeated until none helps (Hauser and Buehlmann, 2012).

    Returns
    -------
    (k, k) int8 marks, `marks[i, j]` at j's end (`graph.marks`).

    Raises
    ------
    DataError
        As `scores.score_table`.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((1000, 3))
    >>> estimate_ges(np.column_stack([noise[:, 0], noise[:, 1], noise.sum(1)])).tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    scores = score_table(values, penalty=penalty)[None]
    marks = np.zeros((1, scores.shape[1], scores.shape[1]), np.int8)
    ges_each(scores, float(NO_LIMIT if most_parents is None else most_parents), turning, marks)
    return marks[0]


@njit(cache=True, nogil=True)
def ges_each(scores: np.ndarray, most_parents: float, turning: bool, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """GES on t subsets: (t, k, 2**k) scores to (t, k, k) int8 marks; `most_parents` and `turning` as in `estimate_ges`."""
    t, k, _ = scores.shape
    cut = np.zeros(k, np.int64)
    arrows, lines = np.empty(k, np.int64), np.empty(k, np.int64)
    for at in range(t):
        arrows[:] = 0
        lines[:] = 0
        search(scores[at], cut, most_parents, turning, GAIN, arrows, lines)
        write_marks(arrows, lines, marks[at])


@njit(cache=True, nogil=True)
def search(scores, cut, most_parents, turning, least_gain, arrows, lines):  # pragma: no cover - compiled
    """Insert while that gains, delete while that gains; with `turning`, turn too and start again until nothing gains.

    Scores that differ within a class could send the search round for ever, so rounds and turns have an end: k**2 each.
    """
    k = len(arrows)
    for _ in range(k * k if turning else 1):
        changed = False
        while insert_best(scores, cut, most_parents, least_gain, arrows, lines):
            changed = True
        while delete_best(scores, cut, least_gain, arrows, lines):
            changed = True
        turns = 0
        while turning and turns < k * k and turn_best(scores, cut, least_gain, arrows, lines):
            changed = True
            turns += 1
        if not changed:
            return


@njit(cache=True, nogil=True)
def insert_best(scores, cut, most_parents, least_gain, arrows, lines) -> bool:  # pragma: no cover - compiled
    """Insert the edge x --> y, with some neighbours of y made its parents, that gains most; whether one gains enough.

    y's neighbours that are adjacent to x, and the chosen others, must be a clique that every path from y to x without an arrow against it meets.
    """
    k = len(arrows)
    adjacent, onward = _surroundings(arrows, lines)
    best, best_x, best_y, best_held = least_gain, -1, -1, 0
    for x in range(k):
        for y in range(k):
            if x == y or adjacent[x] >> y & 1 or size(arrows[y]) > most_parents:
                continue
            shared, free = lines[y] & adjacent[x], lines[y] & ~adjacent[x]
            chosen = 0
            while True:
                held = shared | chosen
                before = arrows[y] | held
                gain = scores[y, before | 1 << x] - scores[y, before]
                if gain > best and _is_clique(held, adjacent) and not _leads(onward, onward[y], x, held | 1 << y):
                    best, best_x, best_y, best_held = gain, x, y, held
                if chosen == free:
                    break
                chosen = (chosen - free) & free  # the next larger subset
    if best_x < 0:
        return False
    parents = np.empty(k, np.int64)
    member(arrows, lines, best_held, best_y, -1, parents)
    parents[best_y] |= 1 << best_x
    complete(parents, cut, arrows, lines)
    return True


@njit(cache=True, nogil=True)
def delete_best(scores, cut, least_gain, arrows, lines) -> bool:  # pragma: no cover - compiled
    """Delete the edge x --> y or x --- y, with some common neighbours made children of both, that gains most; whether one gains enough.

    y's neighbours that are adjacent to x and stay its parents must be a clique.
    """
    k = len(arrows)
    adjacent, _ = _surroundings(arrows, lines)
    best, best_x, best_y, best_held = least_gain, -1, -1, 0
    for y in range(k):
        for x in range(k):
            if not (arrows[y] | lines[y]) >> x & 1:
                continue
            shared = lines[y] & adjacent[x]
            held = 0
            while True:
                after = (arrows[y] | held) & ~(1 << x)
                gain = scores[y, after] - scores[y, after | 1 << x]
                if gain > best and _is_clique(held, adjacent):
                    best, best_x, best_y, best_held = gain, x, y, held
                if held == shared:
                    break
                held = (held - shared) & shared
    if best_x < 0:
        return False
    parents = np.empty(k, np.int64)
    member(arrows, lines, best_held, best_x if lines[best_y] >> best_x & 1 else best_y, best_y, parents)
    parents[best_y] &= ~(1 << best_x)
    complete(parents, cut, arrows, lines)
    return True


@njit(cache=True, nogil=True)
def turn_best(scores, cut, least_gain, arrows, lines) -> bool:  # pragma: no cover - compiled
    """Turn the edge y --> x, or give y --- x the direction x --> y that changes the class, that gains most; whether one gains enough."""
    k = len(arrows)
    adjacent, onward = _surroundings(arrows, lines)
    best, best_x, best_y, best_held = least_gain, -1, -1, 0
    for x in range(k):
        for y in range(k):
            line = lines[x] >> y & 1 == 1
            if not line and not arrows[x] >> y & 1:
                continue
            shared = lines[y] & adjacent[x]
            fixed = 0 if line else shared
            free = lines[y] & ~(1 << x) & ~fixed
            chosen = 0
            while True:
                held = fixed | chosen
                before_y = arrows[y] | held
                before_x = (arrows[x] | (held & shared if line else 0)) & ~(1 << y)
                gain = scores[y, before_y | 1 << x] - scores[y, before_y] + scores[x, before_x] - scores[x, before_x | 1 << y]
                if gain > best and _is_clique(held, adjacent) and _may_turn(x, y, line, held, shared, lines, onward):
                    best, best_x, best_y, best_held = gain, x, y, held
                if chosen == free:
                    break
                chosen = (chosen - free) & free
    if best_x < 0:
        return False
    parents = np.empty(k, np.int64)
    member(arrows, lines, best_held, best_y, best_x, parents)
    parents[best_x] &= ~(1 << best_y)
    parents[best_y] |= 1 << best_x
    complete(parents, cut, arrows, lines)
    return True


@njit(cache=True, nogil=True)
def _may_turn(x, y, line, held, shared, lines, onward) -> bool:  # pragma: no cover - compiled
    """Whether y's parents may be `held`, beside its arrows and x, without a cycle and with a change of class.

    y --> x: every other path from y to x without an arrow against it meets `held` or a neighbour of x. y --- x: `held` has one that is not adjacent
    to x, and x and y separate it, among the lines, from their other common neighbours.
    """
    if not line:
        return not _leads(onward, onward[y] & ~(1 << x), x, held | lines[x] | 1 << y)
    if not held & ~shared:
        return False
    reached = held
    for _ in range(len(lines)):
        for v in range(len(lines)):
            if reached >> v & 1:
                reached |= lines[v] & ~(1 << x) & ~(1 << y)
    return not reached & shared & ~held


@njit(cache=True, nogil=True)
def _surroundings(arrows: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # pragma: no cover - compiled
    """(k,) which variables are adjacent to each, and to which of them no arrow points back."""
    k = len(arrows)
    adjacent, onward = np.empty(k, np.int64), np.empty(k, np.int64)
    for v in range(k):
        adjacent[v] = arrows[v] | lines[v]
        onward[v] = lines[v]
    for v in range(k):
        for u in range(k):
            if arrows[v] >> u & 1:
                adjacent[u] |= 1 << v
                onward[u] |= 1 << v
    return adjacent, onward


@njit(cache=True, nogil=True)
def _is_clique(mask: int, adjacent: np.ndarray) -> bool:  # pragma: no cover - compiled
    apart = 0
    for v in range(len(adjacent)):
        if mask >> v & 1:
            apart |= mask & ~adjacent[v] & ~(1 << v)
    return apart == 0


@njit(cache=True, nogil=True)
def _leads(onward: np.ndarray, start: int, goal: int, closed: int) -> bool:  # pragma: no cover - compiled
    """Whether a path leads on from `start` to `goal` outside the set `closed`."""
    reached = start & ~closed
    done = 0
    while reached != done:
        if reached >> goal & 1:
            return True
        fresh = reached & ~done
        done = reached
        for v in range(len(onward)):
            if fresh >> v & 1:
                reached |= onward[v] & ~closed
    return False
