"""Best order score search (BOSS): a graph by moving variables to better places in an order.

In: local scores (k, 2**k) as in `scores`. Out: marks of a CPDAG. An order's score is that of the best parents of each variable among those before
it, which for so few variables is looked up in a table instead of grown and shrunk. Every variable in turn goes to its best place until none gains;
edges are then deleted as in the last phase of GES (`ges`).

Surprising choice: no start is drawn at random. There are 2k, the orders that begin at each variable and run through the columns either way, and each
is followed by starts at other orders of the class that was found. So few variables leave time for that, and single starts miss the best graph often.
The best result counts, the earliest of equals.
Reference: Andrews, Ramsey, Sanchez Romero, Camchong and Kummerfeld (2023), Fast scalable and accurate discovery of DAGs using the best order score
search and grow-shrink trees.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.exact import best_parents
from seacausal.estimate.ges import GAIN, delete_best
from seacausal.estimate.scores import score_table
from seacausal.graph.essential import complete, member, write_marks


def estimate_boss(values: np.ndarray, *, penalty: float = 1.0) -> np.ndarray:
    """The CPDAG that best order score search finds by the Gaussian BIC.

    Parameters
    ----------
    values
        (n, k) rows, k from 2 to 10.
    penalty
        Factor of the BIC penalty.

    Returns
    -------
    (k, k) int8 marks, `marks[i, j]` at j's end (`graph.marks`).

    Raises
    ------
    DataError
        As `scores.score_table`.

    References
    ----------
    Andrews et al. (2023), Fast scalable and accurate discovery of DAGs using the best order score search and grow-shrink trees, algorithms 2 and 3.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((1000, 3))
    >>> estimate_boss(np.column_stack([noise[:, 0], noise[:, 1], noise.sum(1)])).tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    scores = score_table(values, penalty=penalty)[None]
    marks = np.zeros((1, scores.shape[1], scores.shape[1]), np.int8)
    boss_each(scores, marks)
    return marks[0]


@njit(cache=True, nogil=True)
def boss_each(scores: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """BOSS on t subsets: (t, k, 2**k) scores to (t, k, k) int8 marks."""
    t, k, sets = scores.shape
    inside, choice = np.empty((k, sets)), np.empty((k, sets), np.int64)
    order, parents = np.empty(k, np.int64), np.empty(k, np.int64)
    arrows, lines = np.empty(k, np.int64), np.empty(k, np.int64)
    for at in range(t):
        best_parents(scores[at], inside, choice)
        best = -np.inf
        for start in range(2 * k):
            for place in range(k):
                order[place] = (start + place) % k if start < k else (start - place) % k
            total = climb(scores[at], inside, choice, order, parents, arrows, lines)
            if total > best + GAIN:
                best = total
                write_marks(arrows, lines, marks[at])


@njit(cache=True, nogil=True)
def climb(scores, inside, choice, order, parents, arrows, lines) -> float:  # pragma: no cover - compiled
    """From one start to the class that no further order of its DAGs, with any variable first that can be, leads on from; returns its score."""
    k = len(order)
    new_arrows, new_lines = np.empty(k, np.int64), np.empty(k, np.int64)
    improve_order(inside, order)
    total = trim_graph(scores, choice, order, parents, arrows, lines)
    first, idle = 0, 0
    while idle < k:
        member(arrows, lines, 0, first, -1, parents)
        sort_variables(parents, order)
        improve_order(inside, order)
        trimmed = trim_graph(scores, choice, order, parents, new_arrows, new_lines)
        idle += 1
        if trimmed > total + GAIN:
            total = trimmed
            arrows[:] = new_arrows
            lines[:] = new_lines
            idle = 0
        first = (first + 1) % k
    return total


@njit(cache=True, nogil=True)
def improve_order(inside: np.ndarray, order: np.ndarray) -> None:  # pragma: no cover - compiled
    """Move variables of the order (k,) to where the score, of `exact.best_parents`, is best, until no move gains."""
    k = len(order)
    changed = True
    while changed:
        changed = False
        for v in range(k):
            at = 0
            while order[at] != v:
                at += 1
            place, gain = best_place(inside, order, at)
            if gain > GAIN:
                step = 1 if place > at else -1
                while at != place:
                    order[at] = order[at + step]
                    at += step
                order[place] = v
                changed = True


@njit(cache=True, nogil=True)
def best_place(inside: np.ndarray, order: np.ndarray, at: int) -> tuple[int, float]:  # pragma: no cover - compiled
    """Where the variable at place `at` scores best, the others staying in order, and how much is gained over its present place.

    One sweep from the right end to the left keeps what the variables that are passed gain by having it before them.
    """
    k = len(order)
    v = order[at]
    before = (1 << k) - 1 & ~(1 << v)
    later = 0.0
    best, place, present = -np.inf, at, 0.0
    for p in range(k - 1, -1, -1):
        score = inside[v, before] + later
        if p == at:
            present = score
        if score > best:
            best, place = score, p
        if p > 0:
            passed = order[p] if p > at else order[p - 1]
            before &= ~(1 << passed)
            later += inside[passed, before | 1 << v] - inside[passed, before]
    return place, float(best - present)


@njit(cache=True, nogil=True)
def trim_graph(scores, choice, order, parents, arrows, lines) -> float:  # pragma: no cover - compiled
    """The class of the order's graph, less the edges that are better deleted; returns its score."""
    k = len(order)
    cut = np.zeros(k, np.int64)
    before = 0
    for v in order:
        parents[v] = choice[v, before]
        before |= 1 << v
    complete(parents, cut, arrows, lines)
    while delete_best(scores, cut, GAIN, arrows, lines):
        pass
    member(arrows, lines, 0, -1, -1, parents)
    total = 0.0
    for v in range(k):
        total += scores[v, parents[v]]
    return total


@njit(cache=True, nogil=True)
def sort_variables(parents: np.ndarray, order: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `order` (k,) with an order in which parents come first, and of those that may be next the one of smallest index."""
    placed = 0
    for place in range(len(order)):
        for v in range(len(parents)):
            if not placed >> v & 1 and not parents[v] & ~placed:
                order[place] = v
                placed |= 1 << v
                break
