"""Categories that depend on categories: tables of probabilities, one row for every configuration of the parents, as in the networks of experts.

The logit of a category is a sum of effects of single parents and of effects of their configuration as a whole, both drawn anew for every variable.
Or the variable is a gate: whether any of its parents, or all of them, are in certain states decides between two distributions, surely or by chance
(the noisy OR of Pearl, 1988).
"""

from __future__ import annotations

import numpy as np

FEW = 20
"""A parent of more values is cut at its quartiles."""
GATES = 0.25
"""Share of the variables with parents that are gates."""


def draw_categories(parents: np.ndarray, levels: int, *, generator: np.random.Generator) -> np.ndarray:
    """(n,) codes from 0 to `levels` - 1 at most, given the (n, k) values of the parents.

    Logits have a standard deviation of 0.5 to 4 over configurations, log-uniform; a uniform share of their variance is that of whole configurations.
    """
    n, k = parents.shape
    logits = np.tile(np.log(generator.dirichlet(_concentrations(levels, generator)) + 1e-3), (n, 1))
    codes = [_number(column) for column in parents.T]
    if k and generator.random() < GATES:
        logits = _draw_gate(codes, levels, generator)
    elif k:
        strength, whole = np.exp(generator.uniform(np.log(0.5), np.log(4))), generator.random()
        configuration = np.zeros(n, np.int64)
        for code in codes:
            configuration = np.unique(configuration * (code.max() + 1) + code, return_inverse=True)[1]
            logits += strength * np.sqrt((1 - whole) / k) * generator.standard_normal((code.max() + 1, levels))[code]
        logits += strength * np.sqrt(whole) * generator.standard_normal((configuration.max() + 1, levels))[configuration]
    return (logits + generator.gumbel(size=logits.shape)).argmax(1)


def _draw_gate(codes: list[np.ndarray], levels: int, generator: np.random.Generator) -> np.ndarray:
    """(n, levels) logits, one of two rows, by whether any parent, or every one, is in one of its states that count.

    A parent counts surely in half of the gates, else with a chance of its own; the two rows are then two distributions, else two categories, but for
    a single parent of two states, which would be copied.
    """
    n, every = len(codes[0]), generator.random() < 0.5
    sure = generator.random() < 0.5 and (len(codes) > 1 or codes[0].max() > 1)
    passed = np.full(n, every)
    for code in codes:
        states = generator.permutation(code.max() + 1)[: generator.integers(1, max(2, code.max() + 1))]
        counts = np.isin(code, states) & (sure or generator.random(n) < generator.uniform(0.3, 1))
        passed = passed & counts if every else passed | counts
    if sure:
        rows = np.full((2, levels), -np.inf)
        rows[[0, 1], generator.permutation(levels)[:2]] = 0
    else:
        rows = np.log(generator.dirichlet(_concentrations(levels, generator), 2) + 1e-3)
    return rows[passed.astype(np.int64)]


def _concentrations(levels: int, generator: np.random.Generator) -> np.ndarray:
    """Of a Dirichlet distribution: from rare categories to even ones."""
    return np.full(levels, np.exp(generator.uniform(np.log(0.4), np.log(5))))


def _number(column: np.ndarray) -> np.ndarray:
    """(n,) codes 0, 1, ..."""
    values, code = np.unique(column, return_inverse=True)
    return code if len(values) <= FEW else np.searchsorted(np.quantile(column, (0.25, 0.5, 0.75)), column)
