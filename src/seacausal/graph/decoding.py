"""From edge probabilities to one graph without directed cycles; `direct[i, j]` is P(i -> j)."""

from __future__ import annotations

import numpy as np


def decode_dag(direct: np.ndarray, threshold: float = 0.5) -> np.ndarray:
    """The edges above a threshold, the most probable first, but those that would close a directed cycle with the ones before.

    Greedy: the sum of the probabilities kept need not be the largest there is.

    Parameters
    ----------
    direct
        (d, d) probabilities of i -> j; the diagonal never counts.

    Returns
    -------
    (d, d) bool, acyclic.

    Examples
    --------
    >>> ring = np.array([[0.0, 0.9, 0.0], [0.0, 0.0, 0.8], [0.7, 0.0, 0.0]])
    >>> np.argwhere(decode_dag(ring)).tolist()
    [[0, 1], [1, 2]]
    """
    d = len(direct)
    adjacency = np.zeros((d, d), bool)
    reached = np.eye(d, dtype=bool)  # [i, j]: i is j or an ancestor of j
    cause, effect = np.nonzero((direct > threshold) & ~np.eye(d, dtype=bool))
    for k in np.argsort(-direct[cause, effect], kind="stable"):
        i, j = cause[k], effect[k]
        if not reached[j, i]:
            adjacency[i, j] = True
            reached |= reached[:, i, None] & reached[j]
    return adjacency
