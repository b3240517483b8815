"""Many variables: the network looks at neighbourhoods of them, and every pair is judged where most of its surroundings are seen.

Attention over d x d pairs costs d^3, and the weights were trained on tables of up to 110 variables. Beyond, every variable names the ones it may
be joined with, neighbourhoods are grown until each such pair stands in one, and the logits of a pair are averaged over the neighbourhoods that
hold it. The channels stay those of the whole table: what is left out of a neighbourhood is still accounted for in every partial statistic. The
rest of the pairs, most of them, never reach the network; they get a probability too small to matter, in the order of the statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

LARGEST = 128
"""Up to so many variables the network sees all at once."""
SIZE = 100
"""Variables of a neighbourhood."""
CANDIDATES = 10
"""How many others each variable names."""
UNSEEN = 1e-4
"""The probability of a pair in no neighbourhood stays below this."""
FOCUS = 4
"""Power of the share of its candidates that a variable sees, in the weight of a neighbourhood."""
NEAR = (
    "correlation significance",
    "partial correlation significance",
    "rank partial correlation",
    "cubic gain significance",
    "additive significance",
    "variance order strength significance",
    "additive order strength significance",
    "linear graph strength significance",
    "sparse linear graph strength significance",
    "additive graph strength significance",
    "targeted linear graph strength significance",
    "category graph strength",
    "posterior",
    "shift significance",
)
"""The channels that say which pairs may be joined."""


def predict_logits(channels: dict[str, np.ndarray], forward: Callable[[dict[str, np.ndarray]], np.ndarray]) -> np.ndarray:
    """(d, d, 3) logits of no edge, i -> j, j -> i.

    Parameters
    ----------
    channels
        (d, d) arrays by name.
    forward
        From the channels of some variables to their logits.
    """
    d = len(next(iter(channels.values())))
    if d <= LARGEST:
        return forward(channels)
    near = measure_nearness(channels)
    named = name_candidates(near, CANDIDATES)
    share = np.where(named, near, 0.0)
    share /= share.sum(1, keepdims=True)
    logits, weight = np.zeros((d, d, 3)), np.zeros((d, d, 1))
    for inside in cover_candidates(near, named, SIZE):
        block = np.ix_(inside, inside)
        seen = share[block].sum(1)
        heed = (np.outer(seen, seen) ** FOCUS + 1e-9)[..., None]
        logits[block] += heed * forward({name: channel[block] for name, channel in channels.items()})
        weight[block] += heed
    unseen = weight[..., 0] == 0
    logits[~unseen] /= weight[~unseen]
    logits[unseen, 1:] = np.log(UNSEEN * near[unseen] / near.max())[:, None]
    return logits


def measure_nearness(channels: dict[str, np.ndarray]) -> np.ndarray:
    """(d, d) symmetric, diagonal 0: the sum over all measures of 1 / rank of j for i, and of i for j (rank fusion, Cormack et al., 2009)."""
    d = len(next(iter(channels.values())))
    near = np.zeros((d, d))
    for name in NEAR:
        if name in channels:
            size = np.abs(channels[name])
            size = np.maximum(size, size.T)
            np.fill_diagonal(size, -1.0)
            rank = np.empty((d, d))
            np.put_along_axis(rank, np.argsort(-size, axis=1, kind="stable"), np.arange(1.0, d + 1)[None], axis=1)
            near += 1 / rank + 1e-6 * size / max(1.0, size.max())  # the second part breaks ties
    near += near.T
    np.fill_diagonal(near, 0.0)
    return near


def name_candidates(near: np.ndarray, count: int) -> np.ndarray:
    """(d, d) bool, symmetric: the pairs in which one is among the `count` nearest of the other."""
    d = len(near)
    named = np.zeros((d, d), bool)
    named[np.arange(d)[:, None], np.argsort(-near, axis=1, kind="stable")[:, :count]] = True
    named |= named.T
    np.fill_diagonal(named, False)
    return named


def cover_candidates(near: np.ndarray, named: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Neighbourhoods of `size` variables, in increasing order, until every named pair stands in one.

    Each begins with the variable that has the most and nearest pairs left, takes up to half of its room from the far ends of these, nearest first,
    and grows by the variable that is nearest to all inside.
    """
    left, central = named.copy(), 1e-6 * near.sum(1)  # the second decides between the ends of a pair
    while left.any():
        centre = int((np.einsum("ij,ij->i", left, near) + central).argmax())
        ends = np.flatnonzero(left[centre])
        inside = [centre, *ends[np.argsort(-near[centre, ends], kind="stable")][: size // 2].tolist()]
        pull = near[inside].sum(0) + 2 * near[centre]
        pull[inside] = -1.0
        while len(inside) < size:
            nearest = int(pull.argmax())
            inside.append(nearest)
            pull += np.where(pull < 0, 0.0, near[nearest])
            pull[nearest] = -1.0
        inside = np.sort(inside)
        left[np.ix_(inside, inside)] = False
        yield inside
