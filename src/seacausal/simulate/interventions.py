"""Which variables are intervened on in which rows, and what becomes of them.

An intervention is given the target's values in the rows that are hit, its standard deviation over all rows, and a generator; it returns the values
that take their place. "imperfect" alone works earlier: there the mechanism is drawn anew, before there are values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.simulate.noise import log_uniform

Intervention = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]
"""(values of the rows that are hit (m,), standard deviation over all rows, generator) -> (m,)."""


def draw_targets(variables: int, targets: int, per_regime: int, *, first: np.ndarray | None = None, generator: np.random.Generator) -> np.ndarray:
    """(1 + r, d) bool, which variables each regime intervenes on: none in the first one, then `per_regime` of the `targets` variables each.

    Parameters
    ----------
    first
        (d,) bool, variables that are chosen before any others.
    """
    drawn = generator.choice(variables, targets, replace=False) if first is None else np.lexsort((generator.random(variables), ~first))[:targets]
    targeted = np.sort(drawn)
    if per_regime > 1:
        targeted = generator.permutation(targeted)
    regime = 1 + np.arange(targets) // per_regime
    matrix = np.zeros((1 + -(-targets // per_regime), variables), bool)
    matrix[regime, targeted] = True
    return matrix


def draw_sizes(regimes: int, rows: int, spread: float, *, generator: np.random.Generator) -> list[int]:
    """Rows of every regime: `rows`, or log-uniform between `rows / spread` and `rows * spread`, at least 1."""
    if spread == 1 or not rows:
        return [rows] * regimes
    factors = np.exp(generator.uniform(-np.log(spread), np.log(spread), regimes))
    return np.maximum(1, np.round(rows * factors)).astype(int).tolist()


def draw_off_targets(targets: np.ndarray, chance: float, *, first: np.ndarray | None = None, generator: np.random.Generator) -> np.ndarray:
    """(r, d) bool, the variables that are hit without being named: with this chance one in each regime that intervenes.

    Parameters
    ----------
    targets
        (r, d) bool, the variables that are named.
    first
        (r, d) bool, variables that are chosen before any others.
    """
    hit = np.zeros_like(targets)
    if chance:
        for regime in np.flatnonzero(targets.any(1) & ~targets.all(1)):
            if generator.random() < chance:
                others = ~targets[regime]
                preferred = others if first is None or not (others & first[regime]).any() else others & first[regime]
                hit[regime, generator.choice(np.flatnonzero(preferred))] = True
    return hit


def draw_drift(regimes: int, spread: float, *, generator: np.random.Generator) -> np.ndarray:
    """(r,) float32, how far one variable moves in each regime: normal, and twice as far or half as far in some regimes as in others."""
    return (spread * np.exp(generator.normal(0, 0.7, regimes)) * generator.standard_normal(regimes)).astype(np.float32)


def shift(own: np.ndarray, spread: float, generator: np.random.Generator) -> np.ndarray:
    """Moved by a constant of 0.5 to 3 standard deviations."""
    return own + np.float32(generator.uniform(0.5, 3) * generator.choice([-1, 1]) * spread)


def shrink(own: np.ndarray, spread: float, generator: np.random.Generator) -> np.ndarray:
    """Times 0 to 0.5."""
    return own * np.float32(generator.uniform(0, 0.5))


def block(own: np.ndarray, spread: float, generator: np.random.Generator) -> np.ndarray:
    """Moved and shrunk for the children alone, as under a drug that blocks a protein without removing it; the measured value stays."""
    return shrink(own + np.float32(generator.uniform(-2, 2) * spread), spread, generator)


def scale(own: np.ndarray, spread: float, generator: np.random.Generator) -> np.ndarray:
    """The standard deviation times or divided by 1.5 to 4; the mean of the rows stays."""
    factor = np.exp(generator.uniform(np.log(1.5), np.log(4)) * generator.choice([-1, 1]))
    mean = own.mean()
    return mean + np.float32(factor) * (own - mean)


def clamp(own: np.ndarray, spread: float, generator: np.random.Generator) -> np.ndarray:
    """One value in all rows, 0.5 to 5 above or below 0, log-uniform."""
    return np.full_like(own, log_uniform(0.5, 5, generator=generator) * generator.choice([-1, 1]))


INTERVENTIONS: dict[str, Intervention] = {
    "gaussian": lambda own, spread, generator: generator.standard_normal(len(own), dtype=np.float32),
    "shifted": lambda own, spread, generator: generator.standard_normal(len(own), dtype=np.float32) + np.float32(2.0),
    "uniform": lambda own, spread, generator: generator.uniform(-1, 1, len(own)).astype(np.float32),
    "shift": shift,
    "knock-down": shrink,
    "activity": block,
    "imperfect": lambda own, spread, generator: own,
    "scale": scale,
    "knock-out": lambda own, spread, generator: np.zeros_like(own),
    "clamp": clamp,
}
"""What a target becomes: N(0, 1), N(2, 1) or U(-1, 1) instead of its mechanism; its own value moved, or shrunk; shrunk and moved for its children
alone; its mechanism with new parameters, a root being moved and scaled; its own value spread out or drawn together; 0; a constant."""
PERFECT = ("gaussian", "shifted", "uniform", "knock-out", "clamp")
"""The interventions that cut a target off from its parents."""
