"""The upper tail of the gamma distribution, compiled."""

from __future__ import annotations

import math

from numba import njit

PRECISION = 1e-14
"""Relative size of the term at which series and fraction end."""


@njit(cache=True, nogil=True)
def upper_gamma(shape: float, x: float) -> float:  # pragma: no cover - compiled
    """Probability that a gamma variable of this shape and of scale 1 exceeds x.

    References
    ----------
    Abramowitz and Stegun (1964), 6.5.29 (the series, below shape + 1) and 6.5.31 (the continued fraction, by Lentz's method).
    """
    if x <= 0.0:
        return 1.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1.0:
        term = total = 1.0 / shape
        step = shape
        while term > PRECISION * total:
            step += 1.0
            term *= x / step
            total += term
        return max(1.0 - front * total, 0.0)
    # x + 1 - shape - 1 (1 - shape) / (x + 3 - shape - 2 (2 - shape) / (x + 5 - shape - ...))
    tiny = 1e-300
    denominator = x + 1.0 - shape
    upper, inverse = 1.0 / tiny, 1.0 / denominator
    fraction, change, step = inverse, 0.0, 0.0
    while abs(change - 1.0) > PRECISION:
        step += 1.0
        factor = step * (shape - step)
        denominator += 2.0
        inverse = 1.0 / (factor * inverse + denominator)
        upper = denominator + factor / upper
        change = upper * inverse
        fraction *= change
    return min(front * fraction, 1.0)
