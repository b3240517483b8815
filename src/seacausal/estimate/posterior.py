"""Exact posterior of every edge over all 29,281 DAGs of five variables, from Gaussian BIC scores.

The prior is uniform over DAGs. A DAG's score is the sum of five local scores, and the last variable may take any parent set inside the variables
that do not descend from it; summing that set out first leaves 8,688 combinations of the other four parent sets to visit instead of 29,281.
Bit masks number the 32 subsets: bit i stands for variable i.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from numba import njit

K = 5
NEGLIGIBLE = 20.0
"""Nats below the best combination under which a combination is left out: 2e-9 of its weight."""


@functools.cache
def parent_combinations() -> tuple[np.ndarray, np.ndarray]:
    """Every acyclic choice of parents for variables 0..3, with variable 4 free to be among them.

    Returns
    -------
    (8688, 4) uint8 parent masks of the variables 0..3, and (8688,) uint8 mask of the variables that do not descend from variable 4.
    """
    four = np.array(list(itertools.product(*[[m for m in range(16) if not m >> v & 1] for v in range(4)])), np.uint8)
    placed = np.zeros(len(four), np.uint8)
    for _ in range(4):
        for v in range(4):
            placed |= np.where((four[:, v] & ~placed) == 0, 1 << v, 0).astype(np.uint8)
    four = four[placed == 15]  # the 543 DAGs of variables 0..3, each with any children of variable 4
    children = (16 * (np.arange(16)[:, None] >> np.arange(4) & 1)).astype(np.uint8)
    masks = (four[:, None] | children).reshape(-1, 4)
    descends = np.full(len(masks), 16, np.uint8)
    for _ in range(4):
        for v in range(4):
            descends |= np.where((masks[:, v] & descends) != 0, 1 << v, 0).astype(np.uint8)
    return masks, (31 & ~descends).astype(np.uint8)


@njit(cache=True, nogil=True)
def edge_posterior(scores, masks, allowed, total, direct):  # pragma: no cover - compiled
    """Fill `direct` (5, 5): direct[i, j] is the posterior probability of i -> j.

    `scores` (5, 32) local scores; `masks` and `allowed` from `parent_combinations`; `total` (8688,) is scratch.
    """
    inside = np.empty(16)  # log of the summed weight of all parent sets of variable 4 inside a mask
    for mask in range(16):
        top = -np.inf
        for parents in range(16):
            if parents & ~mask == 0:
                top = max(top, scores[4, parents])
        weight = 0.0
        for parents in range(16):
            if parents & ~mask == 0:
                weight += math.exp(scores[4, parents] - top)
        inside[mask] = top + math.log(weight)
    best = -np.inf
    for c in range(len(masks)):
        score = scores[0, masks[c, 0]] + scores[1, masks[c, 1]] + scores[2, masks[c, 2]] + scores[3, masks[c, 3]] + inside[allowed[c]]
        total[c] = score
        best = max(best, score)
    weights = np.zeros((5, 32))
    inside_weight = np.zeros(16)
    whole = 0.0
    for c in range(len(masks)):
        if total[c] > best - NEGLIGIBLE:
            weight = math.exp(total[c] - best)
            whole += weight
            for v in range(4):
                weights[v, masks[c, v]] += weight
            inside_weight[allowed[c]] += weight
    for mask in range(16):
        if inside_weight[mask] > 0.0:
            for parents in range(16):
                if parents & ~mask == 0:
                    weights[4, parents] += inside_weight[mask] * math.exp(scores[4, parents] - inside[mask])
    direct[:] = 0.0
    for v in range(5):
        for mask in range(32):
            if weights[v, mask] > 0.0:
                for parent in range(5):
                    if mask >> parent & 1:
                        direct[parent, v] += weights[v, mask] / whole
