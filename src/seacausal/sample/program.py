"""The best subset each time, by an integer linear program (SEA, appendix on subset selection), solved to optimality by HiGHS through scipy.

The paper's program has a binary x_i for each variable and y_ij for each pair: maximise the sum of w_ij y_ij with y_ij >= x_i + x_j - 1, y_ij <= x_i,
y_ij <= x_j and sum_i x_i = k. Here sum_j y_ij = (k - 1) x_i is added, which holds for every subset of k, so that the bound that the search starts
from is near the optimum; it implies the first constraint and binary y, which are left out. The greedy sampler takes microseconds for a subset, this
one a tenth of a second at 20 variables, half a second at 30 and seconds at 50; more where the scores are alike.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from seacausal.data import Subset
from seacausal.errors import DataError
from seacausal.sample.subsets import damp, start_subsets, to_weights, visit

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

TIE = 1e-5
"""Share of a weight up to which the seed may move it, so that it decides between subsets that are as good."""


def sample_by_program(scores: np.ndarray, count: int, *, size: int = 5, seed: int = 0) -> Subset:
    """Choose `count` subsets, each with the largest sum of damped scores inside it.

    Parameters
    ----------
    scores
        (d, d) magnitudes of a global statistic; only their sizes matter, the diagonal is ignored.
    size
        Variables per subset, k.

    Raises
    ------
    DataError
        If there are fewer variables than `size`, scipy is not installed, or the solver gives up.
    """
    visits, chosen = start_subsets(len(scores), count, size)
    weights = to_weights(scores)
    generator = np.random.default_rng(seed)
    for t in range(count):
        tie = np.triu(generator.random(weights.shape), 1)
        chosen[t] = choose_best(damp(weights, visits) * (1 + TIE * (tie + tie.T)), size)
        visit(chosen[t], visits)
    return Subset(chosen, visits)


def choose_best(weights: np.ndarray, size: int) -> np.ndarray:
    """The subset with the largest sum of weights over its pairs.

    Parameters
    ----------
    weights
        (d, d), symmetric, at least 0 off the diagonal and finite.
    size
        Variables per subset, k, from 2 to d.

    Returns
    -------
    (k,) int64 variables, ascending.

    Raises
    ------
    DataError
        If scipy is not installed, or the solver gives up.
    """
    optimize = _import_optimize()
    d = len(weights)
    pair = weights[np.triu_indices(d, 1)]
    gain = np.concatenate([np.zeros(d), pair * (1000 / pair.max())])  # the solver stops within 1e-6 of the optimum, in absolute terms
    found = optimize.milp(
        -gain,
        integrality=np.arange(len(gain)) < d,
        bounds=optimize.Bounds(0, 1),
        constraints=_constraints(d, size),
        options={"mip_rel_gap": 0.0},
    )
    if not found.success:
        raise DataError(f"The integer program must have a solution; the solver says: {found.message}. Use the greedy sampler by statistic.")
    return np.flatnonzero(found.x[:d] > 0.5)


@lru_cache(maxsize=1)
def _constraints(d: int, size: int) -> LinearConstraint:
    """On d variables x and then d (d - 1) / 2 pairs y in the order of `np.triu_indices`."""
    from scipy.sparse import csr_array

    first, second = np.triu_indices(d, 1)
    m, x = len(first), np.arange(d)
    row = np.arange(m)
    y = d + row
    # Rows 0 to 2 m - 1: y - x of either end <= 0; then d rows: sum of a variable's y - (k - 1) x = 0; the last: sum of x = k.
    rows = [row, row, m + row, m + row, 2 * m + first, 2 * m + second, 2 * m + x, np.full(d, 2 * m + d)]
    columns = [y, first, y, second, y, y, x, x]
    values = [np.full(len(part), value) for part, value in zip(rows, (1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0 - size, 1.0))]
    matrix = csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(2 * m + d + 1, d + m))
    upper = np.concatenate([np.zeros(2 * m + d), [size]])
    lower = np.concatenate([np.full(2 * m, -np.inf), np.zeros(d), [size]])
    return _import_optimize().LinearConstraint(matrix, lower, upper)


def _import_optimize() -> Any:
    restore_scipy()
    try:
        from scipy import optimize
    except ImportError:
        raise DataError("The integer program needs scipy, which is not installed. Run: pip install scipy. Or draw the subsets greedily.") from None
    return optimize


def restore_scipy() -> None:
    """Let scipy be imported whole: the command line keeps a part of it from numba, to start sooner."""
    if sys.modules.get("scipy.linalg.cython_blas", True) is None:
        del sys.modules["scipy.linalg.cython_blas"]
