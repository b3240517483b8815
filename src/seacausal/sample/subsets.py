"""The greedy sampler of subsets (SEA, section 3.2): scores in, subsets and visit counts out.

The first variable of a subset is drawn with probability proportional to the row sums of the damped scores, each next one by the sum of its damped
scores with those already drawn. A pair's score is damped by 1 / sqrt(1 + visits), so that coverage spreads. Draws come from a counter-based generator
(splitmix64) seeded by the caller, never from global state.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.data import Subset
from seacausal.errors import DataError


def sample_subsets(scores: np.ndarray, count: int, *, size: int = 5, random_share: float = 0.5, seed: int = 0) -> Subset:
    """Draw `count` subsets: first a random share, then by `scores`, with visit counts shared by both.

    Parameters
    ----------
    scores
        (d, d) magnitudes of a global statistic; only their sizes matter, the diagonal is ignored.
    size
        Variables per subset, k.

    Returns
    -------
    `Subset` of (t, k) variables and (d, d) visits.

    Raises
    ------
    DataError
        If there are fewer variables than `size`.
    """
    d = len(scores)
    if d < size:
        raise DataError(f"A subset of {size} variables needs at least as many columns; found {d}.")
    weights = np.abs(np.asarray(scores, float))
    np.fill_diagonal(weights, 0)
    weights = (weights + weights.T) / 2 + 1e-9 * (1 + weights.max())
    np.fill_diagonal(weights, 0)
    visits = np.zeros((d, d), np.int64)
    first = round(count * random_share)
    even = np.ones((d, d)) - np.eye(d)
    chosen = np.empty((count, size), np.int64)
    _draw_subsets(even, visits, chosen[:first], np.uint64(2 * seed))
    _draw_subsets(weights, visits, chosen[first:], np.uint64(2 * seed + 1))
    np.fill_diagonal(visits, 0)
    return Subset(chosen, visits)


@njit(cache=True, nogil=True)
def next_random(state: np.uint64) -> tuple[np.uint64, float]:  # pragma: no cover - compiled
    """Advance splitmix64 (Steele, Lea and Flood, 2014); returns the state and a uniform number in [0, 1)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, float(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _draw_subsets(scores, visits, chosen, seed):  # pragma: no cover - compiled
    d = len(scores)
    damped = scores / np.sqrt(1.0 + visits)
    row_sums = damped.sum(axis=1)
    weight = np.empty(d)
    state = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(0x2545F4914F6CDD1D)
    for t in range(len(chosen)):
        subset = chosen[t]
        for position in range(len(subset)):
            if position == 0:
                weight[:] = row_sums
            elif position == 1:
                weight[:] = damped[subset[0]]
            else:
                weight += damped[subset[position - 1]]
            for earlier in subset[:position]:
                weight[earlier] = 0.0
            state, uniform = next_random(state)
            subset[position] = _pick(weight, uniform)
        for i in subset:
            for j in subset:
                visits[i, j] += 1
                updated = scores[i, j] / np.sqrt(1.0 + visits[i, j])
                row_sums[i] += updated - damped[i, j]
                damped[i, j] = updated


@njit(cache=True, nogil=True)
def _pick(weight, uniform):  # pragma: no cover - compiled
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
