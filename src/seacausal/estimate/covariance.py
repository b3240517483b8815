"""Covariance and Gram matrix of tables that are too large to copy: some rows at a time, added up in float64.

In: (n, d) rows of any real type. Out: what numpy would make of the whole table, to rounding. Each block of rows is centred on its own mean before it
is multiplied (Chan, Golub and LeVeque, 1983), so that columns far from zero lose no digits; a copy of one block is the only memory that is needed.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.statistics import CHUNK, gram_matrix, size_units

BLOCK = 1024
"""Rows that are multiplied at a time: few enough for a processor's cache."""


def covariance(values: np.ndarray) -> np.ndarray:
    """Covariance of all pairs of columns, divided by n; that of a column that varies by less than 1e-10 of its size is 0.

    Parameters
    ----------
    values
        (n, d), finite, of any real type, with n at least 1. Squares must be representable.

    Returns
    -------
    (d, d) float64, symmetric.

    References
    ----------
    Chan, Golub and LeVeque (1983), Algorithms for computing the sample variance: analysis and recommendations, equation 2.1.

    Examples
    --------
    >>> covariance(np.array([[1, 10], [2, 30], [3, 20]])).round(3).tolist()
    [[0.667, 3.333], [3.333, 66.667]]
    """
    return _moments(values, np.ones(values.shape[1]))[2]


def standard_moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, standard deviations and correlations of the columns, of any size.

    Returns
    -------
    (d,) and (d,), as `statistics.standardise` finds them, and (d, d) with 0 for columns without spread, diagonal included.
    """
    unit = size_units(values)
    origin, mean, products = _moments(values, unit)
    spread, scale = _scales(products)
    correlation = np.clip(products * scale[:, None] * scale, -1, 1)
    np.fill_diagonal(correlation, spread > 0)
    return (origin + mean) / unit, spread / unit, correlation


def gram_of_table(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`gram_matrix` of the standardised rows, without standardising them all at once.

    Returns
    -------
    (1 + 3d, 1 + 3d) sums of products of (1, z, z^2, z^3), (d,) means and (d,) standard deviations, as `statistics.standardise` finds them.
    """
    unit = size_units(values)
    origin, mean, products = _moments(values, unit)
    spread, scale = _scales(products)
    d = values.shape[1]
    gram = np.zeros((1 + 3 * d, 1 + 3 * d))
    for start in range(0, len(values), CHUNK):
        z = values[start : start + CHUNK] * unit
        z -= origin
        z -= mean
        z *= scale
        gram += gram_matrix(z)
    return gram, (origin + mean) / unit, spread / unit


def _scales(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations, and their inverses with 0 for 0."""
    spread = np.sqrt(products.diagonal())
    return spread, np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)


def _moments(values: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First row, means less the first row, and covariance of the columns times `unit` (d,)."""
    n, d = values.shape
    origin = values[0] * unit
    mean, products = np.zeros(d), np.zeros((d, d))
    whole = bool((unit == 1).all())
    for start in range(0, n, BLOCK):
        rows = values[start : start + BLOCK]
        block = np.subtract(rows if whole else rows * unit, origin, dtype=np.float64)
        centre = block.mean(0)
        block -= centre
        shift = centre - mean
        products += block.T @ block
        products += np.outer(shift, shift * (start * len(rows) / (start + len(rows))))
        mean += shift * (len(rows) / (start + len(rows)))
    products /= n
    still = np.sqrt(products.diagonal()) <= 1e-10 * (np.abs(origin + mean) + np.abs(mean))
    products[still] = products[:, still] = 0.0
    return origin, mean, products
