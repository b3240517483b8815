"""Feedback among linear mechanisms: edges that close cycles, and the equilibrium at which all equations hold at once.

X = X W + U, one row a sample, has the solution U (I - W)^-1, which is what X settles at when every variable follows its causes again and again with U
held fixed (Lacerda, Spirtes, Ramsey and Hoyer, "Discovering cyclic causal models by independent components analysis", 2008). It does so from any
start if the spectral radius of W is below 1, and in every regime, whatever an intervention cuts, if that of |W| is.
"""

from __future__ import annotations

import numpy as np

from seacausal.graph.metrics import follow_paths

LIMIT = 0.9
"""The largest spectral radius of |W|."""


def close_cycles(adjacency: np.ndarray, cycles: int, *, mutual: bool = True, generator: np.random.Generator) -> np.ndarray:
    """A copy of an acyclic (d, d) graph with `cycles` more edges, or as many as there can be, each from a descendant to one of its ancestors.

    With `mutual` that may be a parent, so that two variables are causes of each other.
    """
    ancestor = follow_paths(adjacency)
    possible = np.argwhere((ancestor if mutual else ancestor & ~adjacency).T)
    chosen = possible[generator.permutation(len(possible))[:cycles]]
    closed = adjacency.copy()
    closed[chosen[:, 0], chosen[:, 1]] = True
    return closed


def draw_coefficients(adjacency: np.ndarray, weights: tuple[float, float], *, generator: np.random.Generator) -> np.ndarray:
    """(d, d) W, [i, j] being the effect of i on j: |w| uniform over `weights`, random signs; cycles that would not settle are shrunk."""
    w = np.where(adjacency, generator.uniform(*weights, adjacency.shape) * generator.choice([-1.0, 1.0], adjacency.shape), 0.0)
    reach = follow_paths(adjacency | np.eye(len(adjacency), dtype=bool))
    both = reach & reach.T
    for first in np.flatnonzero(both.argmax(1) == np.arange(len(both))):  # of every strongly connected component
        part = np.ix_(both[first], both[first])
        radius = np.abs(np.linalg.eigvals(np.abs(w[part]))).max()
        if radius > LIMIT:
            w[part] *= LIMIT / radius
    return w


def solve_equilibrium(w: np.ndarray, own: np.ndarray, hit: np.ndarray) -> np.ndarray:
    """(n, d) values at which X = X W + `own` but for the variables `hit` (d,), which have no causes: they are their own."""
    cut = np.where(hit[None, :], 0.0, w)
    return np.linalg.solve((np.eye(len(w)) - cut).T, own.T).T
