"""Local Gaussian BIC scores: how well each set of parents explains a variable.

In: covariances of k variables and how many rows they are of. Out: `scores` (k, 2**k) in nats, `scores[v, mask]` for the parents `mask` of v (bit u
is set when u is a parent) relative to no parents; entries of masks that hold v itself are never read. The score of a DAG is the sum over its
variables. With interventions a variable has a covariance of its own, of the rows where it was not a target (Hauser and Buehlmann, 2012, section 5).

Surprising choice: a residual variance counts down to 1e-10 of the whole, and a variable that the others determine explains nothing more; so
constant, duplicated and linearly dependent columns have finite scores, though the DAGs of one class may then differ in score.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from seacausal.errors import DataError
from seacausal.estimate.partial_correlation import condition_all
from seacausal.estimate.statistics import standardise
from seacausal.graph.essential import cut_masks, size

MOST_VARIABLES = 10
"""A table of scores doubles with every variable."""


@njit(cache=True, nogil=True)
def score_parents(conditional, variance, rows, scores, penalty=1.0):  # pragma: no cover - compiled
    """BIC of one variable for each parent mask, in nats relative to no parents.

    -n/2 log(residual / total variance) - penalty |parents| log(n) / 2; the penalty is 1 in BIC, 2 in the GES and GRaSP of causal-learn 0.1.3.7.

    `conditional` (2**k,) holds the variance given each mask; masks that contain the variable itself are never read.
    """
    cost = 0.5 * penalty * math.log(max(rows, 2.0))
    for mask in range(len(conditional)):
        ratio = conditional[mask] / variance if variance > 0.0 else 1.0
        scores[mask] = -0.5 * rows * math.log(max(ratio, 1e-10)) - cost * size(mask)


@njit(cache=True, nogil=True)
def score_each(covariances: np.ndarray, rows: np.ndarray, penalty: float, scores: np.ndarray) -> None:  # pragma: no cover - compiled
    """Scores of t subsets whose variables share their rows.

    Parameters
    ----------
    covariances, rows
        (t, k, k) float64 and (t,) how many rows each is of.
    penalty
        1 for BIC.
    scores
        (t, k, 2**k) float64, filled with the result.
    """
    k = covariances.shape[1]
    conditional = np.empty((1 << k, k, k))
    for t in range(len(covariances)):
        condition_all(covariances[t], conditional)
        for v in range(k):
            score_parents(conditional[:, v, v], covariances[t, v, v], float(rows[t]), scores[t, v], penalty)


@njit(cache=True, nogil=True)
def score_targeted_each(covariances: np.ndarray, rows: np.ndarray, penalty: float, scores: np.ndarray) -> None:  # pragma: no cover - compiled
    """Scores of t subsets where each variable v has rows of its own: (t, k, k, k) covariances and (t, k) rows, [t, v] for v; else as `score_each`."""
    k = covariances.shape[1]
    conditional = np.empty((1 << k, k, k))
    for t in range(len(covariances)):
        for v in range(k):
            condition_all(covariances[t, v], conditional)
            score_parents(conditional[:, v, v], covariances[t, v, v, v], float(rows[t, v]), scores[t, v], penalty)


def score_table(values: np.ndarray, targeted: np.ndarray | None = None, *, penalty: float = 1.0, shared_mean: bool = True) -> np.ndarray:
    """Local scores of one small table.

    Parameters
    ----------
    values
        (n, k) rows, k from 2 to 10.
    targeted
        (n, k) bool, where a variable was intervened on: its own score leaves these rows out. None where nothing was.
    penalty
        Factor of the BIC penalty.
    shared_mean
        Whether a variable's intercept is the same in all regimes, so that a shift of its parents' means counts as evidence; if not, each distinct
        row of `targeted` is centred on its own.

    Returns
    -------
    (k, 2**k) float64 in nats.

    Raises
    ------
    DataError
        If the values are not a finite table of 2 to 10 columns and at least one row, `targeted` is of another shape, or the penalty is not positive.
    """
    values, targeted = check_table(values, targeted, penalty)
    k = values.shape[1]
    scores = np.zeros((1, k, 1 << k))
    if targeted is None or not targeted.any():
        score_each(_covariance(values, None)[None], np.array([len(values)]), float(penalty), scores)
        return scores[0]
    regime = None if shared_mean else np.unique(targeted, axis=0, return_inverse=True)[1].ravel()
    free = [~targeted[:, v] for v in range(k)]
    covariances = np.array([_covariance(values[rows], None if regime is None else regime[rows]) for rows in free])
    score_targeted_each(covariances[None], np.array([[rows.sum() for rows in free]]), float(penalty), scores)
    return scores[0]


def regime_cuts(targeted: np.ndarray | None, k: int) -> np.ndarray:
    """(k,) `graph.essential.cut_masks` of the regimes that the rows of a table name; 0 where nothing was intervened on."""
    return np.zeros(k, np.int64) if targeted is None else cut_masks(np.unique(np.asarray(targeted, bool), axis=0))


def check_table(values: np.ndarray, targeted: np.ndarray | None, penalty: float) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows as float64 and the targets as bool, or a `DataError`."""
    values = np.ascontiguousarray(values, np.float64)
    if values.ndim != 2 or not 2 <= values.shape[1] <= MOST_VARIABLES or not len(values):
        raise DataError(f"`values` must have rows and 2 to {MOST_VARIABLES} columns; found shape {values.shape}. Sample subsets of larger tables.")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(f"`values` must be finite; found {values[row, column]} in row {row} of column {column}. Drop or impute missing values.")
    if not penalty > 0 or not math.isfinite(penalty):
        raise DataError(f"`penalty` must be positive and finite; found {penalty}. 1 is BIC.")
    if targeted is not None:
        targeted = np.asarray(targeted, bool)
        if targeted.shape != values.shape:
            raise DataError(f"`targeted` must have the shape of `values`, {values.shape}; found {targeted.shape}. Give one row of targets per row.")
    return values, targeted


def _covariance(values: np.ndarray, regime: np.ndarray | None) -> np.ndarray:
    """(k, k) of standardised columns, centred within each regime where one is given; zero where nothing varies."""
    k = values.shape[1]
    if not len(values):
        return np.zeros((k, k))
    z = standardise(values)[0]
    if regime is not None:
        for which in np.unique(regime):
            z[regime == which] -= z[regime == which].mean(0)
        z[:, (z**2).mean(0) <= 1e-20] = 0.0
    return z.T @ z / len(z)
