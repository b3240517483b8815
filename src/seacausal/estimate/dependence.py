"""Statistics of every pair of columns as plain functions, (n, d) rows to (d, d), and the table that lists them.

All accept any finite table: a column without variance has 0 with all others and with itself. The network's own channels come from `statistics`, which
shares one pass between them; these are for those who want one statistic of a table as papers define it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seacausal.errors import DataError
from seacausal.estimate.covariance import BLOCK, standard_moments
from seacausal.estimate.distance_correlation import distance_correlation
from seacausal.estimate.partial_correlation import PIVOT
from seacausal.estimate.statistics import average_ranks

SHRINK_FROM = 100
"""So many columns and more have their covariance shrunk before it is inverted."""


def correlation(values: np.ndarray) -> np.ndarray:
    """Pearson's correlation.

    Examples
    --------
    >>> correlation(np.array([[1, 1, 0], [2, 3, 0], [3, 2, 0]])).round(6).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return standard_moments(values)[2]


def inverse_covariance(values: np.ndarray) -> np.ndarray:
    """Inverse of the covariance: the pseudo-inverse below 100 columns, that of Ledoit and Wolf's estimate from there.

    The pseudo-inverse is taken of the correlation and then given its units, so that the units do not decide what counts as dependent; where the
    covariance is regular that is its inverse. Eigenvalues of the correlation below 1e-10 of the largest count as 0.
    """
    if values.shape[1] >= SHRINK_FROM:
        return np.linalg.pinv(ledoit_wolf(values), hermitian=True)
    _, spread, scaled = standard_moments(values)
    scale = _invert(spread)
    return np.linalg.pinv(scaled, rcond=PIVOT, hermitian=True) * scale[:, None] * scale


def partial_correlation(values: np.ndarray) -> np.ndarray:
    """Correlation of each pair given all other columns.

    From 100 columns, of Ledoit and Wolf's estimate for the standardised rows, which the units of the columns do not change.
    """
    mean, spread, scaled = standard_moments(values)
    varies = spread > 0
    if values.shape[1] >= SHRINK_FROM:
        scaled = _shrink(scaled, values, mean, _invert(spread))
    precision = np.linalg.pinv(scaled, rcond=PIVOT, hermitian=True)
    diagonal = np.where(varies, precision.diagonal(), 1.0)
    partial = np.clip(-precision / np.sqrt(np.outer(diagonal, diagonal)), -1, 1)
    partial[~varies] = partial[:, ~varies] = 0.0
    np.fill_diagonal(partial, varies)
    return partial


def ledoit_wolf(values: np.ndarray) -> np.ndarray:
    """Covariance, shrunk towards the mean variance times the identity as far as its own error asks for (Ledoit and Wolf, 2004, section 3.3)."""
    mean, spread, scaled = standard_moments(values)
    peak = spread.max() or 1.0
    share = spread / peak  # so that fourth powers are of a moderate size
    return _shrink(scaled * share[:, None] * share, values, mean, np.full(len(mean), 1 / peak)) * peak**2


def spearman(values: np.ndarray) -> np.ndarray:
    """Spearman's correlation of ranks, equal values sharing the mean of their ranks; exact, from all rows."""
    ranks = np.empty(values.shape)
    for v in range(values.shape[1]):
        ranks[:, v] = average_ranks(values[:, v])
    return correlation(ranks)


def nonparanormal_correlation(values: np.ndarray) -> np.ndarray:
    """The correlation that Gaussian columns would have to have these ranks: 2 sin(pi / 6 Spearman's) (Liu et al., 2012, equation 5)."""
    return 2 * np.sin(np.pi / 6 * spearman(values))


def _shrink(second: np.ndarray, values: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Ledoit and Wolf's estimate from the covariance `second` of the rows less `mean` (d,), times `scale` (d,)."""
    n, d = values.shape
    fourth = 0.0
    for start in range(0, n, BLOCK):
        rows = (values[start : start + BLOCK] - mean) * scale
        fourth += float((np.einsum("nd,nd->n", rows, rows) ** 2).sum())
    middle = float(np.trace(second)) / d
    square = float((second**2).sum())
    distance = (square - d * middle**2) / d
    error = min((fourth / n - square) / (n * d), distance)
    share = error / distance if error > 0 else 0.0
    return (1 - share) * second + share * middle * np.eye(d)


def _invert(spread: np.ndarray) -> np.ndarray:
    """1 / spread, 0 for 0."""
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)


@dataclass(frozen=True)
class Statistic:
    """A statistic of pairs."""

    name: str
    """As one writes it on a command line."""
    function: Callable[[np.ndarray], np.ndarray]
    """(n, d) rows to (d, d); entry [i, j] is about i and j."""
    symmetric: bool
    """Whether entries [i, j] and [j, i] are equal."""
    needs: Literal["covariance", "ranks", "rows"]
    """What it looks at: one pass over the rows; the order of each column; all rows of every pair."""
    reference: str
    """Where it is defined."""


STATISTICS: tuple[Statistic, ...] = (
    Statistic("correlation", correlation, True, "covariance", "Pearson (1895)"),
    Statistic("partial-correlation", partial_correlation, True, "covariance", "Lauritzen (1996), Graphical models, proposition 5.2"),
    Statistic("inverse-covariance", inverse_covariance, True, "covariance", "Ledoit and Wolf (2004)"),
    Statistic("spearman", spearman, True, "ranks", "Spearman (1904)"),
    Statistic("nonparanormal", nonparanormal_correlation, True, "ranks", "Liu et al. (2012)"),
    Statistic("distance-correlation", distance_correlation, True, "rows", "Szekely, Rizzo and Bakirov (2007); Huo and Szekely (2016)"),
)
"""All of them."""


def find_statistic(name: str) -> Statistic:
    """The statistic of a name.

    Raises
    ------
    DataError
        If there is none.
    """
    for statistic in STATISTICS:
        if statistic.name == name:
            return statistic
    raise DataError(f"`statistic` must be one of {', '.join(s.name for s in STATISTICS)}; found {name!r}. `seacausal algorithms` lists them.")
