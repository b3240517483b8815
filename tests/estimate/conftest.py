"""Slow twins of the exact posterior: every DAG of five variables, one by one, and scores from raw rows."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest


@pytest.fixture(scope="session")
def dags() -> np.ndarray:
    """(29281, 5) parent masks of every DAG: all subgraphs of the complete DAGs of all 120 orders."""
    found: set[tuple[int, ...]] = set()
    for order in itertools.permutations(range(5)):
        before = [sum(1 << u for u in order[: order.index(v)]) for v in range(5)]
        found.update(itertools.product(*[[mask for mask in range(32) if mask & ~before[v] == 0] for v in range(5)]))
    return np.array(sorted(found))


@pytest.fixture(scope="session")
def enumerate_posterior(dags) -> Callable[[np.ndarray], np.ndarray]:
    """(5, 32) local scores -> (5, 5) posterior of every edge i -> j."""
    adjacency = (dags[:, None, :] >> np.arange(5)[:, None] & 1).astype(float)

    def posterior(scores: np.ndarray) -> np.ndarray:
        total = scores[np.arange(5), dags].sum(1)
        weight = np.exp(total - total.max())
        return np.einsum("g,gij->ij", weight / weight.sum(), adjacency)

    return posterior


@pytest.fixture(scope="session")
def score_by_least_squares() -> Callable[[np.ndarray, int], np.ndarray]:
    """(n, 5) rows and a variable -> (32,) BIC of its parent masks in nats, relative to no parents; 0 where a mask contains the variable."""

    def score(rows: np.ndarray, v: int) -> np.ndarray:
        n, scores = len(rows), np.zeros(32)
        for mask in range(32):
            if not mask >> v & 1:
                parents = [u for u in range(5) if mask >> u & 1]
                design = np.column_stack([np.ones(n), rows[:, parents]])
                left = rows[:, v] - design @ np.linalg.lstsq(design, rows[:, v], rcond=None)[0]
                scores[mask] = -n / 2 * np.log(left.var() / rows[:, v].var()) - len(parents) / 2 * np.log(n)
        return scores

    return score
