"""What the configuration of its parents tells of a category: a table of its own for each, or main effects alone.

In: counts. Out: maximal log-likelihoods, and these less the price of what was fitted (BIC), whichever of the two is worth more.

The surprising choice: main effects, a multinomial logit without interactions, are fitted by iterative proportional fitting to the counts of every
parent with the child (Bishop, Fienberg and Holland, 1975). That takes no matrix and no derivative, and any number of values on either side; with
three parents or more it asks for far fewer numbers than a table does, which few rows seldom pay for.
"""

from __future__ import annotations

import numpy as np

from seacausal.estimate.parents import INNER

MAIN = 1024
"""Entries of the largest table whose main effects are fitted."""
ROUNDS, CLOSE = 15, 0.1
"""Rounds of that, at most, and by how much counts may be off where it ends."""


@INNER
def fit_table(table, sizes, ky, price, logs, fitted, main):  # pragma: no cover - compiled
    """Log-likelihood of a child of ky values and that less the price of what is fitted, whichever of the two fits is worth more.

    Parameters
    ----------
    table
        Counts, first the configurations of the parents, the last of these fastest, then the child's values.
    sizes
        (p,) how many values each parent has.
    price
        Of each configuration or effect, in log-likelihoods.
    logs
        k log k for k = 0, 1, ...
    fitted
        Scratch as large as `table`.
    main
        Whether main effects are to be tried.
    """
    configurations, effects = 1, 1
    for size in sizes:
        configurations *= size
        effects += size - 1
    whole = _fit_all(table, configurations, ky, logs)
    worth = whole - price * configurations
    if main and len(sizes) > 1 and configurations * ky <= MAIN:
        less = _fit_main(table, sizes, configurations, ky, fitted)
        if less - price * effects > worth:
            return less, less - price * effects
    return whole, worth


@INNER
def _fit_all(table, configurations, ky, logs):  # pragma: no cover - compiled
    """Maximal log-likelihood of (configurations, ky) counts."""
    total = 0.0
    for c in range(configurations):
        count = 0
        for v in range(ky):
            total += logs[table[c * ky + v]]
            count += table[c * ky + v]
        total -= logs[count]
    return total


@INNER
def _fit_main(table, sizes, configurations, ky, fitted):  # pragma: no cover - compiled
    """The same of main effects alone; a little below the maximum where the rounds do not reach it."""
    counts = np.zeros(configurations)
    wanted, found = np.zeros((len(sizes), sizes.max(), ky)), np.empty((sizes.max(), ky))
    for c in range(configurations):
        for v in range(ky):
            counts[c] += table[c * ky + v]
        for v in range(ky):
            fitted[c * ky + v] = counts[c] / ky
    stride = configurations
    for k, size in enumerate(sizes):
        stride //= size
        _add_up(table, stride, size, configurations, ky, wanted[k])
    for _ in range(ROUNDS):
        stride, off = configurations, 0.0
        for k, size in enumerate(sizes):
            stride //= size
            found[:size] = 0.0
            _add_up(fitted, stride, size, configurations, ky, found)
            for a in range(size):
                for v in range(ky):
                    off = max(off, abs(wanted[k, a, v] - found[a, v]))
                    found[a, v] = wanted[k, a, v] / found[a, v] if found[a, v] > 0 else 0.0
            for start in range(0, configurations, stride * size):
                for a in range(size):
                    for c in range(start + a * stride, start + (a + 1) * stride):
                        for v in range(ky):
                            fitted[c * ky + v] *= found[a, v]
        for c in range(configurations):
            total = 0.0
            for v in range(ky):
                total += fitted[c * ky + v]
            if total > 0:
                for v in range(ky):
                    fitted[c * ky + v] *= counts[c] / total
        if off < CLOSE:
            break
    total = 0.0
    for c in range(configurations):
        for v in range(ky):
            if table[c * ky + v]:
                total += table[c * ky + v] * np.log(fitted[c * ky + v] / counts[c])
    return total


@INNER
def _add_up(table, stride, size, configurations, ky, sums):  # pragma: no cover - compiled
    """Add to (size, ky) sums the rows of `table` by the values of the parent whose digit has this `stride`."""
    for start in range(0, configurations, stride * size):
        for a in range(size):
            for c in range(start + a * stride, start + (a + 1) * stride):
                for v in range(ky):
                    sums[a, v] += table[c * ky + v]
