"""Categories that depend on categories: tables of probabilities, one row for every configuration of the parents, as in the networks of experts.

The logit of a category is a sum of effects of single parents and of effects of their configuration as a whole, both drawn anew for every variable.
"""

from __future__ import annotations

import numpy as np

from seacausal.simulate.noise import log_uniform

FEW = 20
"""A parent of more values is cut at its quartiles."""


def draw_categories(parents: np.ndarray, levels: int, *, generator: np.random.Generator) -> np.ndarray:
    """(n,) codes from 0 to `levels` - 1 at most, given the (n, k) values of the parents.

    Logits have a standard deviation of 0.5 to 4 over configurations, log-uniform; a uniform share of their variance is that of whole configurations.
    """
    n, k = parents.shape
    strength, whole = log_uniform(0.5, 4, generator=generator), generator.random()
    logits = np.tile(np.log(generator.dirichlet(np.full(levels, 3.0)) + 1e-3), (n, 1))
    if k:
        codes = [_number(column) for column in parents.T]
        configuration = np.zeros(n, np.int64)
        for code in codes:
            configuration = np.unique(configuration * (code.max() + 1) + code, return_inverse=True)[1]
            logits += strength * np.sqrt((1 - whole) / k) * generator.standard_normal((code.max() + 1, levels))[code]
        logits += strength * np.sqrt(whole) * generator.standard_normal((configuration.max() + 1, levels))[configuration]
    return (logits + generator.gumbel(size=logits.shape)).argmax(1)


def _number(column: np.ndarray) -> np.ndarray:
    """(n,) codes 0, 1, ..."""
    values, code = np.unique(column, return_inverse=True)
    return code if len(values) <= FEW else np.searchsorted(np.quantile(column, (0.25, 0.5, 0.75)), column)
