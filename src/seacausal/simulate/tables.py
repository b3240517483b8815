"""Categories that depend on categories: tables of probabilities, one row for every configuration of the parents, as in the networks of experts.

The logit of a category is a sum of effects of single parents and of effects of their configuration as a whole, both drawn anew for every variable.
"""

from __future__ import annotations

import numpy as np

from seacausal.simulate.noise import log_uniform

FEW = 20
"""A parent of more values is cut at its quartiles."""


def draw_categories(parents: np.ndarray, levels: int, *, rare: bool = False, generator: np.random.Generator) -> np.ndarray:
    """(n,) codes from 0 to `levels` - 1 at most, given the (n, k) values of the parents.

    Logits have a standard deviation of 0.5 to 4 over configurations, log-uniform; a uniform share of their variance is that of whole configurations.
    Without parents, chances have Dirichlet's law of concentration 3.

    Where categories may be `rare`, as diseases are, that concentration is 0.2 to 5, log-uniform, and the deviation up to 6. Three variables in ten
    then follow the order of their parents' categories, with a fifth of that share.
    """
    n, k = parents.shape
    strength, whole = log_uniform(0.5, 6 if rare else 4, generator=generator), generator.random()
    concentration = log_uniform(0.2, 5, generator=generator) if rare else 3.0
    logits = np.tile(np.log(generator.dirichlet(np.full(levels, concentration)) + 1e-3), (n, 1))
    if k:
        codes = [_number(column) for column in parents.T]
        ordered = rare and generator.random() < 0.3
        whole *= 0.2 if ordered else 1.0
        configuration = np.zeros(n, np.int64)
        for code in codes:
            values = int(code.max()) + 1
            configuration = np.unique(configuration * values + code, return_inverse=True)[1]
            if ordered:
                effects = generator.standard_normal() * np.outer(_score(values), _score(levels))
            else:
                effects = generator.standard_normal((values, levels))
            logits += strength * np.sqrt((1 - whole) / k) * effects[code]
        logits += strength * np.sqrt(whole) * generator.standard_normal((configuration.max() + 1, levels))[configuration]
    return (logits + generator.gumbel(size=logits.shape)).argmax(1)


def _score(values: int) -> np.ndarray:
    """(values,) at equal distances, mean 0 and standard deviation 1."""
    rank = np.arange(values) - (values - 1) / 2
    return rank / max(float(rank.std()), 1e-9)


def _number(column: np.ndarray) -> np.ndarray:
    """(n,) codes 0, 1, ..."""
    values, code = np.unique(column, return_inverse=True)
    return code if len(values) <= FEW else np.searchsorted(np.quantile(column, (0.25, 0.5, 0.75)), column)
