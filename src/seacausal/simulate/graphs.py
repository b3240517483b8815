"""Random directed acyclic graphs. `adjacency[i, j]` is i -> j; variables come in random order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def simulate_erdos_renyi(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Every pair is joined with the same probability, so that `edges` are expected; a random order directs them.

    Returns
    -------
    (d, d) bool adjacency.
    """
    pairs = variables * (variables - 1) / 2
    upper = np.triu(generator.random((variables, variables)) < edges / pairs, 1)
    return _shuffle(upper, generator)


def simulate_scale_free(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Each new variable takes parents with probability proportional to 1 + their number of edges (Barabasi and Albert, 1999).

    The number of parents is drawn round `edges / variables`, raised so that the early variables, which have few candidates, do not make the graph
    sparser than asked.

    Returns
    -------
    (d, d) bool adjacency.
    """
    adjacency = np.zeros((variables, variables), bool)
    degree = np.ones(variables)
    left = float(edges)
    for child in range(1, variables):
        wanted = max(0.0, left / (variables - child))
        count = min(child, int(wanted) + int(generator.random() < wanted % 1))
        chosen = generator.choice(child, count, replace=False, p=degree[:child] / degree[:child].sum())
        adjacency[chosen, child] = True
        degree[chosen] += 1
        degree[child] += count
        left -= count
    return _shuffle(adjacency, generator)


def _shuffle(adjacency: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    order = generator.permutation(len(adjacency))
    return adjacency[np.ix_(order, order)]


GRAPHS: dict[str, Callable[..., np.ndarray]] = {"erdos-renyi": simulate_erdos_renyi, "scale-free": simulate_scale_free}
