"""What any method must beat: sorting by variance or R2, correlation, the shift under intervention, and local estimates without a network.

Scores are (d, d), entry [i, j] for i -> j; None where a data set lacks what a baseline needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.errors import DataError
from seacausal.estimate.statistics import standardise


def score_var_sort(dataset: Dataset) -> np.ndarray:
    """Sort by variance, regress each variable on those before it (Reisach et al., 2021); absolute standardised coefficients."""
    z, _, spread = standardise(dataset.values)
    return _sort_regress(z, spread)


def score_r2_sort(dataset: Dataset) -> np.ndarray:
    """Sort by how well all others explain a variable, then regress (Reisach et al., 2023); free of scale."""
    z, _, _ = standardise(dataset.values)
    precision = np.linalg.pinv(z.T @ z / len(z), hermitian=True)
    return _sort_regress(z, 1 - 1 / np.maximum(precision.diagonal(), 1e-12))


def score_correlation(dataset: Dataset) -> np.ndarray:
    """Absolute correlation, the same in both directions."""
    z, _, _ = standardise(dataset.values)
    return np.abs(z.T @ z) / len(z)


def score_shift(dataset: Dataset) -> np.ndarray | None:
    """How far, in standard deviations of the other rows, j's mean moves where i is intervened on; 0 where i never is."""
    if not dataset.interventional:
        return None
    z, _, _ = standardise(dataset.values)
    targeted = dataset.targets[dataset.regime]
    control = ~targeted.any(1)
    out = np.zeros((z.shape[1], z.shape[1]))
    for i in np.flatnonzero(targeted.any(0)):
        reference = z[control] if control.sum() >= 30 else z[~targeted[:, i]]
        out[i] = np.abs(z[targeted[:, i]].mean(0) - reference.mean(0)) / np.maximum(reference.std(0), 1e-9)
    return out


def score_vote(dataset: Dataset) -> np.ndarray | None:
    """Mean vote of the local estimates."""
    return _aggregate(dataset, "vote")


def score_resolve(dataset: Dataset) -> np.ndarray | None:
    """The paper's Algorithm 1 on the local estimates."""
    return _aggregate(dataset, "resolve")


def _aggregate(dataset: Dataset, aggregator: Literal["vote", "resolve"]) -> np.ndarray | None:
    """None below five variables, and where subsets lack rows without an intervention on their variables."""
    if (standardise(dataset.values)[2] > 0).sum() < 5:
        return None
    try:
        return discover(dataset, aggregator=aggregator).probabilities
    except DataError:
        return None


def _sort_regress(z: np.ndarray, key: np.ndarray) -> np.ndarray:
    covariance = z.T @ z / len(z)
    order = np.argsort(key, kind="stable")
    out = np.zeros_like(covariance)
    for place in range(1, len(order)):
        before, j = order[:place], order[place]
        out[before, j] = np.abs(np.linalg.lstsq(covariance[np.ix_(before, before)], covariance[before, j], rcond=1e-10)[0])
    return out


BASELINES: dict[str, Callable[[Dataset], np.ndarray | None]] = {
    "VarSort": score_var_sort,
    "R2-sort": score_r2_sort,
    "correlation": score_correlation,
    "shift": score_shift,
    "vote": score_vote,
    "resolve": score_resolve,
}
WITHOUT_NETWORK = ("vote", "resolve", "BIC search")
"""Those of our own making, which are no rivals."""
