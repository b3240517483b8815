"""The greedy sampler of subsets (SEA, section 3.2): scores in, subsets and visit counts out.

The first variable of a subset is drawn with probability proportional to the row sums of the damped scores, each next one by the sum of its damped
scores with those already drawn. A pair's score is damped by 1 / sqrt(1 + visits), so that coverage spreads. Draws come from a counter-based generator
(splitmix64) seeded by the caller, never from global state. `samplers` lists the samplers; what they share stands here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.data import Subset
from seacausal.errors import DataError

BLOCK = 64
"""Variables that are looked at together."""


def sample_subsets(scores: np.ndarray, count: int, *, size: int = 5, random_share: float = 0.5, seed: int = 0) -> Subset:
    """Draw `count` subsets: first a random share, then by `scores`, with visit counts shared by both.

    Parameters
    ----------
    scores
        (d, d) magnitudes of a global statistic; only their sizes matter, the diagonal is ignored.
    size
        Variables per subset, k.
    random_share
        1 makes all of them random, 0 none.

    Returns
    -------
    `Subset` of (t, k) variables and (d, d) visits.

    Raises
    ------
    DataError
        If there are fewer variables than `size`.
    """
    d = len(scores)
    visits, chosen = start_subsets(d, count, size)
    first = round(count * random_share)
    draw_greedily(np.ones((1, d)), visits, chosen[:first], 0, start_state(2 * seed))
    if first < count:
        draw_greedily(to_weights(scores), visits, chosen, first, start_state(2 * seed + 1))
    return Subset(chosen, visits)


def sample_random(variables: int, count: int, *, size: int = 5, seed: int = 0) -> Subset:
    """Draw `count` subsets of d `variables`, every pair alike but for its visits."""
    return sample_subsets(np.broadcast_to(1.0, (variables, variables)), count, size=size, random_share=1.0, seed=seed)


def sample_by_statistic(scores: np.ndarray, count: int, *, size: int = 5, seed: int = 0) -> Subset:
    """Draw `count` subsets by the sizes of (d, d) `scores`."""
    return sample_subsets(scores, count, size=size, random_share=0.0, seed=seed)


def start_subsets(d: int, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """(d, d) visits, all 0, and room for (count, size) variables.

    Raises
    ------
    DataError
        If there are fewer than two variables to a subset, or fewer columns than that.
    """
    if size < 2:
        raise DataError(f"A subset must have at least 2 variables; found `size` = {size}.")
    if d < size:
        raise DataError(f"A subset of {size} variables needs at least as many columns; found {d}.")
    return np.zeros((d, d), np.int64), np.empty((count, size), np.int64)


def to_weights(scores: np.ndarray) -> np.ndarray:
    """(d, d) scores to symmetric positive weights with a zero diagonal; a trace is added, so that any subset can be filled."""
    scores = np.ascontiguousarray(scores, np.float64)
    weights = np.empty(scores.shape)
    _fill_weights(scores, weights)
    return weights


@njit(cache=True, nogil=True)
def _fill_weights(scores: np.ndarray, weights: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `weights` with the mean size of [i, j] and [j, i] and the trace. Tiles keep the transpose in the cache."""
    d, tile, largest = len(scores), 32, 0.0
    top = np.zeros(d)  # of each column, for these do not wait for each other
    for i in range(d):
        kept = top[i]
        for j in range(d):
            size = abs(scores[i, j])
            top[j] = size if size > top[j] else top[j]
        top[i] = kept
    for size in top:
        largest = max(largest, size)
    trace = 1e-9 * (1 + largest)
    for i_tile in range(0, d, tile):
        for j_tile in range(i_tile, d, tile):
            for i in range(i_tile, min(i_tile + tile, d)):
                for j in range(max(j_tile, i + 1), min(j_tile + tile, d)):
                    weights[i, j] = weights[j, i] = (abs(scores[i, j]) + abs(scores[j, i])) / 2 + trace
    for i in range(d):
        weights[i, i] = 0.0


def start_state(seed: int) -> np.uint64:
    """State of the generator for a seed below 2^64."""
    return np.uint64((seed * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D) % 2**64)


@njit(cache=True, nogil=True)
def next_random(state: np.uint64) -> tuple[np.uint64, float]:  # pragma: no cover - compiled
    """Advance splitmix64 (Steele, Lea and Flood, 2014); returns the state and a uniform number in [0, 1)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, float(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True, error_model="numpy")
def damp(weight, visits):  # pragma: no cover - compiled
    """Weight after so many visits; of one pair, or of all as arrays."""
    return weight / np.sqrt(1.0 + visits)


@njit(cache=True, nogil=True)
def visit(subset: np.ndarray, visits: np.ndarray) -> None:  # pragma: no cover - compiled
    """Count the pairs of a subset."""
    for i in subset:
        for j in subset:
            if i != j:
                visits[i, j] += 1


@njit(cache=True, nogil=True)
def draw_greedily(
    weights: np.ndarray, visits: np.ndarray, chosen: np.ndarray, start: int, state: np.uint64
) -> np.uint64:  # pragma: no cover - compiled
    """Draw all subsets of `chosen` (t, k) from `start` on; returns the generator's state, from which the next call may go on.

    Parameters
    ----------
    weights
        (d, d), symmetric; or (1, d) where all variables have the same. The diagonal is ignored.
    visits
        (d, d) int64, those of the subsets before; the new ones are added.
    """
    d = len(visits)
    touched = np.zeros((d, (d + BLOCK - 1) // BLOCK), np.bool_)
    for t in range(start):
        _touch(chosen[t], touched)
    row_sums, weight = np.zeros(d), np.empty(d)
    for i in range(d):
        _add_damped_row(weights, visits, touched, i, row_sums)
    for t in range(start, len(chosen)):
        subset = chosen[t]
        for i in range(d):  # assigning an array to an array takes seconds to compile
            weight[i] = row_sums[i]
        for position in range(len(subset)):
            if position == 1:
                weight[:] = 0.0
            if position > 0:
                _add_damped_row(weights, visits, touched, subset[position - 1], weight)
            for earlier in subset[:position]:
                weight[earlier] = 0.0
            state, uniform = next_random(state)
            subset[position] = _pick(weight, uniform)
        for i in subset:
            row = weights[i % len(weights)]
            for j in subset:
                if i != j:
                    row_sums[i] += damp(row[j], visits[i, j] + 1) - damp(row[j], visits[i, j])
        visit(subset, visits)
        _touch(subset, touched)
    return state


@njit(cache=True, nogil=True, inline="always")
def _touch(subset: np.ndarray, touched: np.ndarray) -> None:  # pragma: no cover - compiled
    """Note in which blocks of its pairs a variable has visits: most have none where variables are many, and roots are slow."""
    for i in subset:
        for j in subset:
            touched[i, j // BLOCK] = True


@njit(cache=True, nogil=True)
def _add_damped_row(weights: np.ndarray, visits: np.ndarray, touched: np.ndarray, i: int, total: np.ndarray) -> None:  # pragma: no cover - compiled
    """Add the damped weights of i's pairs to `total` (d,)."""
    kept, row = total[i], weights[i % len(weights)]
    for block in range(touched.shape[1]):
        pairs = slice(block * BLOCK, (block + 1) * BLOCK)
        some, found, seen = total[pairs], row[pairs], visits[i, pairs]
        if touched[i, block]:
            for j in range(len(some)):
                some[j] += damp(found[j], seen[j])
        else:
            for j in range(len(some)):
                some[j] += found[j]
    total[i] = kept


@njit(cache=True, nogil=True, inline="always")
def _pick(weight: np.ndarray, uniform: float) -> int:  # pragma: no cover - compiled
    """The first variable with which the weights add up to more than the share `uniform` of them all, added in the order of the variables.

    Sums by blocks, in whatever order is fast, say which it is unless their rounding might decide.
    """
    if len(weight) <= BLOCK:
        return _pick_in_order(weight, uniform)
    total = _sum_positive(weight)
    slack = 1e-15 * len(weight) * total
    level = uniform * total - slack
    below, start = 0.0, 0
    while start < len(weight):
        block = _sum_positive(weight[start : start + BLOCK])
        if below + block > level:
            break
        below += block
        start += BLOCK
    for i in range(start, len(weight)):
        below += max(weight[i], 0.0)
        if below > level:
            return i if below > level + 2.0 * slack else _pick_in_order(weight, uniform)
    return _pick_in_order(weight, uniform)


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _sum_positive(weight: np.ndarray) -> float:  # pragma: no cover - compiled
    total = 0.0
    for j in range(len(weight)):
        total += weight[j] if weight[j] > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True)
def _pick_in_order(weight: np.ndarray, uniform: float) -> int:  # pragma: no cover - compiled
    """What `_pick` finds, one weight after the other."""
    total = 0.0
    for w in weight:
        total += max(w, 0.0)
    level = uniform * total
    last = -1
    for i in range(len(weight)):
        if weight[i] > 0.0:
            last = i
            level -= weight[i]
            if level < 0.0:
                return i
    return last
