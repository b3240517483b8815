"""Selection: which rows get into a table at all, by common effects that are not in it (Heckman, 1979; Spirtes, Meek and Richardson, 1995).

Among the rows that were let in, the causes of such an effect depend on each other, without an edge and without a common cause.
"""

from __future__ import annotations

import numpy as np

DRAWN = 4
"""How many rows are simulated for each that is kept, where there is one effect; twice as many for each of two more."""


def oversample(effects: int) -> int:
    """How many rows are to be simulated for each that is kept."""
    return DRAWN * 2 ** (min(effects, 3) - 1) if effects else 1


def select_rows(values: np.ndarray, regime: np.ndarray, effects: int, *, generator: np.random.Generator) -> np.ndarray:
    """Indices, in order, of the rows that are kept: of each regime one in `oversample(effects)`.

    An effect is the sum or the difference of the z-scores of two variables, and noise of standard deviation 0.5. It lets a row in with probability
    1 / (1 + exp(-a effect)), a in (2, 6) or in (-6, -2), and all effects must. Where more rows pass than are needed the chances are lowered in
    proportion, which changes no law; where fewer do, in a regime that moves a cause far away, say, they are raised.
    """
    chance = draw_chances(values, effects, generator=generator)
    threshold = (1 - generator.random(len(values))) / chance  # of the factor from which on a row passes
    share = oversample(effects)
    kept = []
    for number in np.unique(regime):
        rows = np.flatnonzero(regime == number)
        kept.append(np.sort(rows[np.argsort(threshold[rows], kind="stable")[: len(rows) // share]]))
    return np.concatenate(kept) if kept else np.zeros(0, int)


def draw_chances(values: np.ndarray, effects: int, *, generator: np.random.Generator) -> np.ndarray:
    """(n,) chances of every row to be let in by all effects, above 0."""
    z = values.astype(np.float64) - values.mean(0)
    z /= z.std(0) + 1e-30
    chance = np.ones(len(values))
    for _ in range(effects):
        first, second = generator.choice(values.shape[1], 2, replace=False)
        effect = z[:, first] + generator.choice([-1.0, 1.0]) * z[:, second] + 0.5 * generator.standard_normal(len(z))
        effect *= generator.choice([-1.0, 1.0]) * generator.uniform(2, 6)
        chance /= 1 + np.exp(-np.clip(effect, -100, 100))
    return np.maximum(chance, 1e-300)
