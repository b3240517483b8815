"""The wide domain that the released weights are trained on: every data set draws its own generator.

Judged mechanisms that must stay unseen (sigmoid, polynomial) are left out. Roots, noise, row counts, densities, interventions and measurement all
vary, because a network trained on one generator learns that generator's short-cuts: the variance order, the kurtosis of uniform roots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seacausal.simulate.dataset import Simulation
from seacausal.simulate.noise import LAWS, SQRT3


@dataclass(frozen=True)
class Domain:
    """What training data sets are drawn from."""

    mechanisms: tuple[str, ...] = ("linear", "nn-additive", "nn")
    """The usual mechanisms; a data set has one of them, or all mixed."""
    further: tuple[str, ...] = ("gp", "gp-additive", "post-nonlinear", "heteroscedastic", "threshold")
    """Rarer mechanisms."""
    further_share: float = 0.25
    """Share of data sets whose mechanisms are drawn from `further`."""
    discrete: float = 0.05
    """Share of data sets of ordered values, two to six to a variable."""
    quiet: float = 0.3
    """Share of interventional data sets that hardly vary but for the interventions."""
    mixed: float = 0.15
    """Share of data sets in which every variable draws its own mechanism."""
    interventional: float = 0.45
    """Share of data sets with interventions."""
    hidden: float = 0.1
    """Share of data sets with unmeasured common causes."""
    cells: int = 400_000
    """Rows times variables of a data set, at most."""


def draw_simulation(domain: Domain, variables: int, *, generator: np.random.Generator) -> Simulation:
    """Draw the specification of one data set of `variables` columns."""
    d = variables
    pairs = d * (d - 1) / 2
    share = generator.random
    wide_noise = share() < 0.3
    low = 0.25 if share() < 0.6 else generator.uniform(0.05, 0.5)
    kinds = ("none", "units", "round", "exponential", "zero-inflate", "noise")
    interventions = ("gaussian", "shifted", "uniform", "shift", "knock-down", "activity")
    observational, targets, regime_rows = _draw_rows(domain, d, generator)
    mechanisms = domain.further if domain.further and share() < domain.further_share else domain.mechanisms
    loudness = np.exp(generator.uniform(np.log(0.02), 0)) if targets and share() < domain.quiet else 1.0
    return Simulation(
        variables=d,
        edges=min(d * generator.uniform(0.4, 5), pairs * generator.uniform(0.4, 0.97)),
        graph="erdos-renyi" if share() < 0.65 else "scale-free",
        mechanisms=mechanisms if share() < domain.mixed else (str(generator.choice(mechanisms)),),
        observational_rows=observational,
        root_law=_draw_law(generator, uniform=0.5, gaussian=0.25),
        root_scale=loudness * generator.uniform(0.5, 2.5) / SQRT3,
        noise_law=_draw_law(generator, uniform=0.0, gaussian=0.75),
        noise_coefficient=loudness * (np.exp(generator.uniform(np.log(0.2), np.log(2))) if wide_noise else generator.uniform(0.2, 0.6)),
        noise_per_regime=share() < 0.5,
        weights=(low, 1.0 if low == 0.25 else low + generator.uniform(0.3, 1.5)),
        rescaled=share() < 0.25,
        levels=int(generator.integers(2, 7)) if share() < domain.discrete else 0,
        hidden=int(generator.integers(1, 2 + d // 5)) if share() < domain.hidden else 0,
        targets=targets,
        regime_rows=regime_rows,
        intervention=str(generator.choice(interventions, p=(0.25, 0.2, 0.05, 0.15, 0.2, 0.15))),
        measurement=str(generator.choice(kinds, p=(0.54, 0.28, 0.05, 0.04, 0.04, 0.05))),
    )


def _draw_law(generator: np.random.Generator, *, uniform: float, gaussian: float) -> str:
    draw = generator.random()
    if draw < uniform:
        return "uniform"
    return "gaussian" if draw < uniform + gaussian else str(generator.choice(tuple(LAWS)))


def _draw_rows(domain: Domain, d: int, generator: np.random.Generator) -> tuple[int, int, int]:
    """Observational rows, targets and rows per regime: from one row a regime to thousands."""
    most = min(20_000, domain.cells // d)

    def log_uniform(low: float, high: float) -> int:
        return int(np.exp(generator.uniform(np.log(low), np.log(max(high, low)))))

    if generator.random() >= domain.interventional:
        return log_uniform(60, most), 0, 0
    targets = d if generator.random() < 0.6 else int(generator.integers(1, d + 1))
    if generator.random() < 0.2:  # a screen: hardly any control, one to three rows for each target
        regime_rows = int(generator.integers(1, 4))
        return max(log_uniform(1, 100), 60 - targets * regime_rows), targets, regime_rows
    regime_rows = log_uniform(1, max(1, min(1000, most // (targets + 1))))
    observational = log_uniform(1, 30) if generator.random() < 0.15 else log_uniform(50, max(60, most - targets * regime_rows))
    return max(observational, 60 - targets * regime_rows), targets, regime_rows
