"""Local estimates to edge probabilities without a network: the subsets that hold a pair vote on it.

In: marks and posteriors of t local estimates. Out: P(i -> j) for every pair, as the network gives it; what is left of a pair is "no edge". Every
subset has two ballots on each of its pairs, one by its marks and one by its posterior, and the answer is the mean of all: with marks alone the share
of votes, a majority where it exceeds 0.5. A pair that no subset holds gets no edge.

Surprising choice: marks of a PAG are read as if no cause were hidden (i o-> j is a vote for i -> j) but for i <-> j, a vote against an edge.
"""

from __future__ import annotations

import numpy as np

from seacausal.errors import DataError

BALLOT = np.array(
    [  # at j: no edge, tail, arrow, circle       at i:
        [0.0, 0.0, 0.0, 0.0],  #                      no edge
        [0.0, 0.5, 1.0, 1.0],  #                      tail
        [0.0, 0.0, 0.0, 0.0],  #                      arrow
        [0.0, 0.0, 1.0, 0.5],  #                      circle
    ]
)
"""Vote for i -> j by the marks at the two ends; that for j -> i is read with the ends exchanged."""


def vote(variables: np.ndarray, d: int, *, marks: np.ndarray | None = None, direct: np.ndarray | None = None) -> np.ndarray:
    """Mean vote for every ordered pair.

    Parameters
    ----------
    variables
        (t, k) int, the variables of each subset.
    d
        Variables in all.
    marks
        (t, k, k) int8, `marks[s, i, j]` is the mark at j's end in subset s, see `graph.marks`.
    direct
        (t, k, k), `direct[s, i, j]` is the posterior probability of i -> j in subset s.

    Returns
    -------
    (d, d) float64, [i, j] for i -> j; the diagonal is 0 and `[i, j] + [j, i] <= 1`.

    Raises
    ------
    DataError
        If neither marks nor posteriors are given.

    Examples
    --------
    >>> subsets = np.array([[0, 1], [1, 0], [0, 2]])
    >>> vote(subsets, 3, marks=np.array([[[0, 2], [1, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 0]]], np.int8)).tolist()
    [[0.0, 0.75, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    ballots = [] if marks is None else [BALLOT[marks.swapaxes(1, 2), marks]]
    ballots += [] if direct is None else [direct]
    if not ballots:
        raise DataError("A vote needs `marks` or `direct`; found neither. Give one of them or both.")
    cells = (variables[:, :, None] * d + variables[:, None, :]).ravel()
    votes = np.bincount(cells, np.mean(ballots, 0).ravel(), minlength=d * d)
    out = (votes / np.maximum(np.bincount(cells, minlength=d * d), 1)).reshape(d, d)
    np.fill_diagonal(out, 0)
    return out
