"""Greedy interventional equivalence search (Hauser and Buehlmann, 2012) for any family of targets.

In: local scores (k, 2**k) of rows where each variable was not a target, and which variables the regimes separate (`graph.essential.cut_masks`): that
is all that targets say about a graph. Out: marks of an interventional essential graph. The steps are those of `ges`; without interventions the
search is GES with turning. Regimes may be missing for some variables, have several targets or repeat one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from seacausal.estimate.ges import NO_LIMIT, search
from seacausal.estimate.scores import regime_cuts, score_table
from seacausal.graph.essential import write_marks

GAIN = 1e-3
"""Nats that a step must gain; as in the Python package `gies` 0.0.3."""


def estimate_gies(values: np.ndarray, targeted: np.ndarray | None = None, *, penalty: float = 1.0) -> np.ndarray:
    """The interventional essential graph that GIES finds by the Gaussian BIC.

    Parameters
    ----------
    values
        (n, k) rows, k from 2 to 10.
    targeted
        (n, k) bool, where a variable was intervened on; the distinct rows are the regimes. None where nothing was.
    penalty
        Factor of the BIC penalty.

    Returns
    -------
    (k, k) int8 marks, `marks[i, j]` at j's end (`graph.marks`).

    Raises
    ------
    DataError
        As `scores.score_table`.

    References
    ----------
    Hauser and Buehlmann (2012), Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((1000, 2))
    >>> targeted = np.arange(1000)[:, None] % 2 == np.array([[1, 2]])
    >>> values = np.column_stack([noise[:, 0], noise[:, 1] + noise[:, 0]])
    >>> estimate_gies(values).tolist(), estimate_gies(values, targeted).tolist()
    ([[0, 1], [1, 0]], [[0, 2], [1, 0]])
    """
    scores = score_table(values, targeted, penalty=penalty)[None]
    marks = np.zeros((1, scores.shape[1], scores.shape[1]), np.int8)
    gies_each(scores, regime_cuts(targeted, scores.shape[1])[None], marks)
    return marks[0]


@njit(cache=True, nogil=True)
def gies_each(scores: np.ndarray, cuts: np.ndarray, marks: np.ndarray) -> None:  # pragma: no cover - compiled
    """GIES on t subsets: (t, k, 2**k) scores and (t, k) int64 masks, from `graph.essential.cut_masks`, to (t, k, k) int8 marks."""
    t, k, _ = scores.shape
    arrows, lines = np.empty(k, np.int64), np.empty(k, np.int64)
    for at in range(t):
        arrows[:] = 0
        lines[:] = 0
        search(scores[at], cuts[at], NO_LIMIT, True, GAIN, arrows, lines)
        write_marks(arrows, lines, marks[at])
