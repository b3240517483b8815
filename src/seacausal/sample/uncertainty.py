"""Subsets where the prediction is least sure: greedy draws by the entropy of what is believed so far (SEA, appendix on selection scores, item 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.data import Subset
from seacausal.errors import DataError
from seacausal.sample.subsets import draw_greedily, start_state, start_subsets, to_weights

Predict = Callable[[Subset], np.ndarray]
"""From the subsets drawn so far to (d, d) probabilities, [i, j] of i -> j."""
REFRESH = 10
"""Subsets between two predictions."""


def sample_by_uncertainty(variables: int, predict: Predict, count: int, *, size: int = 5, seed: int = 0) -> Subset:
    """Draw `count` subsets by the entropy of the prediction, which is asked for anew every ten subsets.

    Parameters
    ----------
    variables
        d.
    predict
        Called with copies of the first 0, 10, 20, ... subsets and their visits, so that it may estimate the new ones; the caller owns the model.
    size
        Variables per subset, k.

    Raises
    ------
    DataError
        If there are fewer variables than `size`, or the prediction is not (d, d) probabilities.
    """
    visits, chosen = start_subsets(variables, count, size)
    state = start_state(2 * seed + 1)
    for start in range(0, count, REFRESH):
        direct = np.asarray(predict(Subset(chosen[:start].copy(), visits.copy())), float)
        if direct.shape != visits.shape:
            raise DataError(f"The prediction must have shape {visits.shape}; found {direct.shape}. Return the probability of i -> j at [i, j].")
        state = np.uint64(draw_greedily(to_weights(score_uncertainty(direct)), visits, chosen[: start + REFRESH], start, state))
    return Subset(chosen, visits)


def score_uncertainty(direct: np.ndarray) -> np.ndarray:
    """Entropy of "no edge, i -> j, j -> i" for every pair, in nats.

    Parameters
    ----------
    direct
        (d, d), `direct[i, j]` is the probability of i -> j.

    Returns
    -------
    (d, d), symmetric, zero on the diagonal.

    Raises
    ------
    DataError
        If an entry is no probability, or those of a pair exceed 1 in sum.

    Examples
    --------
    >>> score_uncertainty(np.array([[0.0, 0.5], [0.25, 0.0]])).round(4).tolist()
    [[0.0, 1.0397], [1.0397, 0.0]]
    """
    classes = np.stack([direct, direct.T, 1 - direct - direct.T])
    off = ~np.eye(len(direct), dtype=bool)
    least = classes[:, off].min(initial=0.0)  # nan where there is one
    if not least >= -1e-6:
        raise DataError(f"Probabilities of a pair must be at least 0 and sum to 1; found {least:.3g}. Return the probability of i -> j at [i, j].")
    classes = np.where(off & (classes > 0), classes, 1.0)
    return np.abs((classes * np.log(classes)).sum(0))
