"""How far a causal order can be read off a table by sorting its columns: 1 is always, 0.5 as by chance, 0 always the wrong way round.

A method that sorts by variance looks good on data of high varsortability, and fails once the columns are standardised. `adjacency[i, j]` is i -> j.
"""

from __future__ import annotations

import numpy as np

from seacausal.graph.metrics import check_acyclic

TIE = 1e-9
"""Two scores that differ by less than this share of the larger one are equal."""


def score_order(adjacency: np.ndarray, scores: np.ndarray) -> float:
    """Share of directed paths along which the score increases, ties counting half (Reisach et al., 2021, section 3.1).

    Parameters
    ----------
    adjacency
        (d, d), the true graph.
    scores
        (d,) numbers to sort by.

    Returns
    -------
    The share, over every pair joined by a path and every length such a path has; nan where there is no edge.

    Raises
    ------
    DataError
        If the graph has a cycle.

    Examples
    --------
    >>> import numpy as np
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> score_order(chain, np.array([1.0, 2.0, 3.0])), score_order(chain, np.array([1.0, 3.0, 3.0]))
    (1.0, 0.8333333333333334)
    """
    check_acyclic(adjacency, "to have an order to sort by")
    edges = (adjacency != 0).astype(np.float64)
    cause, effect = scores[:, None], scores[None, :]
    tied = np.abs(effect - cause) <= TIE * np.maximum(np.abs(effect), np.abs(cause))
    credit = np.where(tied, 0.5, effect > cause)
    paths, count, right = edges, 0.0, 0.0
    for _ in range(len(edges) - 1):
        count += paths.sum()
        right += (paths * credit).sum()
        paths = (paths @ edges > 0).astype(np.float64)
    return float(right / count) if count else float("nan")


def score_varsortability(values: np.ndarray, adjacency: np.ndarray) -> float:
    """`score_order` by variance (Reisach, Seiler and Weichwald, "Beware of the simulated DAG!", 2021); `values` is (n, d)."""
    return score_order(adjacency, np.asarray(values, np.float64).var(axis=0))


def score_r2_sortability(values: np.ndarray, adjacency: np.ndarray) -> float:
    """`score_order` by R2, how well all others explain a variable (Reisach et al., "A scale-invariant sorting criterion", 2023)."""
    return score_order(adjacency, explain_columns(values))


def explain_columns(values: np.ndarray) -> np.ndarray:
    """(d,) R2 of the linear regression of each column of `values` (n, d) on all others; 0 for a constant column."""
    z = np.asarray(values, np.float64)
    z = z - z.mean(axis=0)
    spread = z.std(axis=0)
    varying = spread > 0
    r2 = np.zeros(z.shape[1])
    z = z[:, varying] / spread[varying]
    correlation = z.T @ z / len(z)
    level = np.linalg.eigvalsh(correlation)
    if len(level) and level[0] > 1e-12 * level[-1]:
        r2[varying] = 1 - 1 / np.linalg.inv(correlation).diagonal()
        return r2
    for k, column in enumerate(np.flatnonzero(varying)):  # columns that depend on each other linearly
        others = np.arange(len(correlation)) != k
        at = correlation[others, k]
        r2[column] = at @ np.linalg.lstsq(correlation[np.ix_(others, others)], at, rcond=1e-12)[0]
    return r2
