"""From edge probabilities to one graph without directed cycles; `direct[i, j]` is P(i -> j)."""

from __future__ import annotations

import numpy as np


def decode_dag(direct: np.ndarray, threshold: float = 0.5) -> np.ndarray:
    """Every pair that is joined, either way, with a probability above a threshold, in its more probable direction, but for directed cycles.

    Pairs with one direction at least twice as probable as the other come first, then the others, by the difference in probability. An edge that would
    close a cycle with those before is turned round, or left out where the other direction is impossible. Of the others one is turned round, too, that
    would meet an earlier edge in a collider of two causes that are not joined, where the other direction meets none: colliders can be told from data,
    so causes that nobody can tell hardly make one. Such a pair comes as soon as an edge is there to meet, lest its other end become an effect of
    something else in the meantime. Greedy: no sum of probabilities need be the largest there is. Pairs are judged as such because a direction that no
    data can tell is worth 0.5 at most.

    Parameters
    ----------
    direct
        (d, d) probabilities of i -> j; the diagonal never counts.

    Returns
    -------
    (d, d) bool, acyclic.

    Examples
    --------
    >>> ring = np.array([[0.0, 0.9, 0.0], [0.0, 0.0, 0.8], [0.7, 0.1, 0.0]])
    >>> np.argwhere(decode_dag(ring)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    d = len(direct)
    adjacency = np.zeros((d, d), bool)
    reached = np.eye(d, dtype=bool)  # [i, j]: i is j or an ancestor of j
    joined = (direct + direct.T > threshold) | reached
    undecided = joined & (direct < 2 * direct.T) & (2 * direct > direct.T)
    left = joined & ~reached
    first, second = np.nonzero(np.triu(left))
    margin = np.abs(direct[first, second] - direct[second, first])
    last = np.lexsort((-margin, undecided[first, second]))[::-1]
    following, due = list(zip(first[last].tolist(), second[last].tolist())), []
    while following:
        i, j = due.pop() if due and undecided[following[-1]] else following.pop()
        if not left[i, j]:
            continue
        left[i, j] = left[j, i] = False
        if direct[j, i] > direct[i, j]:
            i, j = j, i
        meets = (adjacency[:, j] & ~joined[i]).any() and not (adjacency[:, i] & ~joined[j]).any()
        if reached[j, i] or (meets and undecided[i, j] and not reached[i, j]):
            i, j = j, i
            if direct[i, j] == 0:
                continue
        adjacency[i, j] = True
        reached |= reached[:, i, None] & reached[j]
        due += [(j, other) for other in np.flatnonzero(left[j] & undecided[j] & ~joined[i]).tolist()]
    return adjacency
