"""The wide domain that the released weights are trained on: every data set draws its own specification.

Judged mechanisms that must stay unseen (sigmoid, polynomial) are left out. Roots, noise, row counts, densities, interventions and measurement all
vary, because a network trained on one generator learns that generator's short-cuts: the variance order, the kurtosis of uniform roots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seacausal.simulate.dataset import Simulation
from seacausal.simulate.expression import Expression
from seacausal.simulate.graphs import most_edges
from seacausal.simulate.noise import ANY, SQRT3, log_uniform
from seacausal.simulate.technical import Technical

STRUCTURED = ("small-world", "stochastic-block", "bipartite", "layered", "regulatory")
ROOT_SHARES = {
    **{"uniform": 0.17, "gaussian": 0.12, "skewed": 0.03, "irregular": 0.06, "mixture": 0.03, "steps": 0.05, ANY: 0.42},
    **{"laplace": 0.02, "exponential": 0.03, "gumbel": 0.02, "student": 0.02, "heavy": 0.03},
}
NOISE_SHARES = {
    **{"gaussian": 0.54, "skewed": 0.03, "uniform": 0.04, "irregular": 0.05, "mixture": 0.03, ANY: 0.12},
    **{"laplace": 0.04, "exponential": 0.03, "gumbel": 0.04, "student": 0.04, "heavy": 0.04},
}
INTERVENTION_SHARES = {
    **{"gaussian": 0.2, "shifted": 0.15, "uniform": 0.05, "shift": 0.13, "knock-down": 0.14, "activity": 0.12},
    **{"imperfect": 0.06, "scale": 0.05, "knock-out": 0.05, "clamp": 0.05},
}
MEASUREMENT_SHARES = {
    **{"none": 0.285, "units": 0.35, "round": 0.05, "classes": 0.03, "exponential": 0.04, "zero-inflate": 0.04, "noise": 0.04},
    **{"outliers": 0.04, "dropout": 0.015, "counts": 0.015, "molecules": 0.015, "shared": 0.055, "sizes": 0.025},
}

ONE_LAW = ("uniform", "laplace", "exponential", "gumbel", "skewed", "skewed", "student", ANY)
"""Laws of plain data sets that are not Gaussian; with `ANY` each variable has its own."""
GENTLE = 14
"""Most variables of a data set of gentle effects."""
OF_SETTINGS = ("linear", "nn-additive", "nn", "gp", "saturating", "multiplicative", "heteroscedastic", "scaled", "scaled", "scaled")
"""Mechanisms of variables that an instrument's settings act on: half of them change the spread, or what other parents do."""


@dataclass(frozen=True)
class Domain:
    """What training data sets are drawn from."""

    mechanisms: tuple[str, ...] = ("linear", "nn-additive", "nn")
    """The usual mechanisms; a data set has one of them, or all mixed."""
    further: tuple[str, ...] = (
        *("gp", "gp-additive", "post-nonlinear", "heteroscedastic", "threshold"),
        *("saturating", "multiplicative", "tree", "count"),
    )
    """Rarer mechanisms."""
    further_share: float = 0.3
    """Share of data sets whose mechanisms are drawn from `further`."""
    discrete: float = 0.05
    """Share of data sets of few values, two to six to a variable."""
    codes: float = 0.0
    """Share of those in which categories are numbered in an order that means nothing."""
    tables: float = 0.0
    """Share of those whose categories have tables of probabilities, rather than being cut from the usual mechanisms."""
    partly: float = 0.0
    """Share of those in which some of the variables stay continuous."""
    quiet: float = 0.3
    """Share of interventional data sets that hardly vary but for the interventions."""
    mixed: float = 0.15
    """Share of data sets in which every variable draws its own mechanism."""
    interventional: float = 0.45
    """Share of data sets with interventions."""
    structured: float = 0.2
    """Share of data sets whose graph is of blocks, layers, rings or regulators, rather than Erdos-Renyi or scale-free."""
    sparse: float = 0.0
    """Share of data sets with fewer than 0.4 edges a variable, down to none, which six variables or fewer may have anyway."""
    bystanders: float = 0.0
    """Share of data sets in which a fifth of the variables or more, in one of four all of them, have no edges."""
    equal: float = 0.0
    """Share of data sets in which roots and noise have one law and one variance, as where all that varies is a sum with unit noise."""
    textbook: float = 0.0
    """Share of those that have few edges and stay in the units of the sums."""
    everyday: float = 0.0
    """Share of the other data sets that are like people's own tables: columns of few values, ratings among them, beside continuous ones; what has no
    causes is Gaussian or of few values in most."""
    plain: float = 0.0
    """Share of the remaining data sets in which everything is linear and of one law, Gaussian in half of them, measured as it is or in arbitrary
    units, and nothing else happens; of those with interventions half have one target."""
    gentle: float = 0.0
    """Share of the data sets of up to `GENTLE` variables, before all others, in which effects raise or lower all along, roots and noises have laws
    of their own, and half of the columns may be rounded or on a skewed scale, but nothing else happens: as pairs of measurements look."""
    strays: float = 0.0
    """Share of the data sets in which 5 to 40 % of roots and noises have laws of their own, where the others share one."""
    hidden: float = 0.1
    """Share of data sets with unmeasured common causes."""
    mediators: float = 0.1
    """Share of data sets in which variables between others are unmeasured."""
    inputs: float = 0.0
    """Share of interventional data sets in which at most half of the variables are targets, those without parents before any others."""
    settings: float = 0.0
    """Share of interventional data sets that are of an instrument: at most half of the variables are targets, those without parents first.
    Most of these have one value where they are no target, and what they change is as often the spread of others as their mean."""
    several: float = 0.1
    """Share of interventional data sets whose regimes have two or three targets, or up to half of all; one in three of these has hardly any
    control."""
    unequal: float = 0.2
    """Share of interventional data sets whose regimes differ in size."""
    off_target: float = 0.1
    """Share of interventional data sets in which regimes hit variables they do not name."""
    compensation: float = 0.0
    """Share of those in which these are parents of the variables that they name."""
    drift: float = 0.0
    """Share of interventional data sets in which variables move between regimes: all, in half of the sets, as between batches; or some, less."""
    expression: float = 0.06
    """Share of data sets that are expression levels of single cells."""
    cycles: float = 0.03
    """Share of data sets with feedback among linear mechanisms."""
    selection: float = 0.03
    """Share of data sets whose rows were selected by unmeasured effects."""
    paper: float = 0.0
    """Share of data sets drawn as those of the SEA paper are, with `mechanisms`, `interventional` and `cells`; nothing else is heeded there."""
    cells: int = 400_000
    """Rows times variables of a data set, at most."""
    expression_cells: int = 100_000
    """The same where they are expression levels."""
    law: str = ""
    """A key of `LAWS` that roots and noise have in all data sets but those of expression levels; empty to draw one for each of the two."""


@dataclass(frozen=True)
class Size:
    """Data sets of similar width."""

    smallest: int
    """Fewest variables."""
    largest: int
    """Most variables."""
    batch: int
    """Data sets per minibatch, over all workers together."""
    share: float
    """Share of the steps."""


SIZES = (Size(2, 14, 16, 0.57), Size(15, 30, 8, 0.27), Size(31, 60, 4, 0.1), Size(61, 110, 2, 0.06))


def draw_specification(domain: Domain, variables: int, *, generator: np.random.Generator) -> Simulation | Expression:
    """Draw the specification of one data set of `variables` columns."""
    if domain.paper and generator.random() < domain.paper:
        return _draw_paper(domain, variables, generator)
    if generator.random() < domain.expression:
        return _draw_expression(domain, variables, generator)
    simulation = _draw_simulation(domain, variables, generator)
    if domain.gentle and variables <= GENTLE and generator.random() < domain.gentle:
        return _soften(simulation, generator)
    if domain.equal and generator.random() < domain.equal:
        simulation = _equalise(simulation, generator)
        if domain.textbook and generator.random() < domain.textbook:
            edges = min(variables * generator.uniform(0.3, 1.5), 0.9 * most_edges(simulation.graph, variables))
            simulation = replace(simulation, edges=edges, measurement="none")
    elif domain.everyday and generator.random() < domain.everyday:
        simulation = _mix_kinds(simulation, generator)
    elif domain.plain and generator.random() < domain.plain:
        return _simplify(simulation, generator)
    if simulation.targets and domain.settings and generator.random() < domain.settings:
        simulation = _add_settings(simulation, generator)
    count = int(generator.integers(1, 2 + variables // 5))
    if generator.random() < domain.cycles:
        plain: dict[str, object] = {"mechanisms": ("linear",), "rescaled": False, "levels": 0, "tables": False, "rare": False, "ratings": 0.0}
        plain |= {"mediators": 0, "off_target": 0.0, "drift": 0.0, "settings": 0.0}
        plain |= {"measurement": "none"} if simulation.measurement == "codes" else {}
        intervention = "activity" if generator.random() < 0.5 else "gaussian"
        return replace(simulation, cycles=count, mutual=False, intervention=intervention, **plain)
    return replace(simulation, selection=min(count, 2)) if generator.random() < domain.selection else simulation


def _draw_simulation(domain: Domain, d: int, generator: np.random.Generator) -> Simulation:
    share = generator.random
    graph = _draw_graph(domain, generator)
    low = 0.25 if share() < 0.6 else generator.uniform(0.05, 0.5)
    mediators = int(generator.integers(1, 2 + d // 5)) if share() < domain.mediators else 0
    if graph == "layered" and share() < 0.5:
        mediators = d // 2  # the middle layer is unmeasured: inputs and sensors
    inputs = share() < domain.inputs
    observational, targets, regime_rows = _draw_rows(domain, 1 + d // 2 if inputs else d, d, generator)
    several = targets > 0 and share() < domain.several
    per_regime = 1
    if several:
        per_regime = int(generator.integers(2, 4 if share() < 2 / 3 else max(4, 1 + targets // 2)))
        if share() < 1 / 3:
            observational = int(generator.integers(1, 31))
    unequal = targets > 0 and regime_rows >= 10 and share() < domain.unequal
    mechanisms = domain.further if domain.further and share() < domain.further_share else domain.mechanisms
    loudness = log_uniform(0.02, 1, generator=generator) if targets and share() < domain.quiet else 1.0
    noise = generator.uniform(0.2, 0.6) if share() < 0.7 else log_uniform(0.05, 2, generator=generator)
    levels = int(generator.integers(2, 7)) if share() < domain.discrete else 0
    if levels and share() < 0.5:
        noise = log_uniform(0.3, 2, generator=generator)  # chances rather than thresholds
    tables = levels > 0 and share() < domain.tables
    levels_share = generator.uniform(0.2, 0.9) if levels and share() < domain.partly else 1.0
    off_target = generator.uniform(0.1, 0.8) if targets and share() < domain.off_target else 0.0
    measurement = "codes" if levels and share() < domain.codes else _draw_key(MEASUREMENT_SHARES, generator)
    noise_per_regime = share() < 0.5
    sparse = domain.sparse > 0 and share() < domain.sparse
    density = generator.uniform(0, 0.4) if sparse else generator.uniform(0.4, 2.5 if tables else 5)
    most = most_edges(graph, d) * generator.uniform(0.1 if d < 7 else 0.4, 0.97)
    everywhere = share() < 0.5
    alone = 0.0
    if domain.bystanders and share() < domain.bystanders:
        alone = 1.0 if share() < 0.25 else generator.uniform(0.2, 1)
    return Simulation(
        variables=d,
        edges=min(d * density, most),
        graph=graph,
        mechanisms=mechanisms if share() < domain.mixed else (str(generator.choice(mechanisms)),),
        observational_rows=max(observational, 60 if unequal else 60 - -(-targets // per_regime) * regime_rows),
        root_law=domain.law or _draw_key(ROOT_SHARES, generator),
        root_scale=loudness * generator.uniform(0.5, 2.5) / SQRT3,
        root_spread=log_uniform(1, 4, generator=generator) if share() < 0.3 else 1.0,
        noise_law=domain.law or _draw_key(NOISE_SHARES, generator),
        strays=generator.uniform(0.05, 0.4) if domain.strays and not domain.law and share() < domain.strays else 0.0,
        noise_coefficient=loudness * noise,
        noise_spread=log_uniform(2, 20, generator=generator) if not noise_per_regime and share() < 0.4 else 2.0,
        noise_per_regime=noise_per_regime,
        weights=(low, 1.0 if low == 0.25 else low + generator.uniform(0.3, 1.5)),
        rescaled=share() < 0.25,
        levels=levels,
        levels_share=levels_share,
        tables=tables,
        rare=levels > 0,
        bystanders=round(alone * d),
        hidden=int(generator.integers(1, 2 + d // 5)) if share() < domain.hidden else 0,
        mediators=mediators,
        targets=targets,
        roots_first=inputs,
        targets_per_regime=per_regime,
        regime_rows=regime_rows,
        regime_spread=generator.uniform(1.5, 6) if unequal else 1.0,
        off_target=off_target,
        compensation=off_target > 0 and domain.compensation > 0 and share() < domain.compensation,
        drift=log_uniform(0.03, 2 if everywhere else 0.6, generator=generator) if targets and domain.drift and share() < domain.drift else 0.0,
        drift_share=1.0 if everywhere else generator.uniform(0.1, 0.6),
        intervention=_draw_key(INTERVENTION_SHARES, generator),
        measurement=measurement,
    )


def _equalise(simulation: Simulation, generator: np.random.Generator) -> Simulation:
    """Roots and noise of one law and variance, in two of three sets with linear effects alone, which are larger then."""
    law = "gaussian" if generator.random() < 0.7 else simulation.noise_law
    low = generator.uniform(0.2, 0.8)
    linear = {"mechanisms": ("linear",), "weights": (low, low + generator.uniform(0.3, 1.5))} if generator.random() < 2 / 3 else {}
    scale = log_uniform(0.2, 2, generator=generator)
    even = {"root_spread": 1.0, "noise_spread": 1.0, "rescaled": False, "strays": 0.0}
    return replace(simulation, root_law=law, noise_law=law, root_scale=scale, noise_coefficient=scale, **even, **linear)


def _mix_kinds(simulation: Simulation, generator: np.random.Generator) -> Simulation:
    """Columns of few values beside continuous ones, roots Gaussian or of few values, effects mostly linear, and few edges in half of the sets."""
    share = generator.random
    low = generator.uniform(0.2, 0.8)
    d, edges = simulation.variables, simulation.edges
    root = share()
    return replace(
        simulation,
        edges=min(edges, d * generator.uniform(0.4, 1.5)) if share() < 0.5 else edges,
        mechanisms=("linear",) if share() < 2 / 3 else simulation.mechanisms,
        root_law="gaussian" if root < 0.5 else "steps" if root < 0.7 else simulation.root_law,
        root_scale=1.0,
        noise_law="gaussian" if share() < 0.7 else simulation.noise_law,
        noise_coefficient=log_uniform(0.2, 1.5, generator=generator),
        weights=(low, low + generator.uniform(0.3, 1.5)),
        rescaled=share() < 0.7,
        levels=int(generator.integers(2, 8)),
        levels_share=generator.uniform(0.15, 0.7),
        tables=False,
        rare=True,
        ratings=generator.uniform(0, 0.7) if share() < 0.5 else 0.0,
        measurement="codes" if share() < 0.2 else simulation.measurement,
    )


def _simplify(simulation: Simulation, generator: np.random.Generator) -> Simulation:
    """What every method is tried on first: linear, of one law, variances that differ, no more than the graph and the interventions."""
    law = "gaussian" if generator.random() < 0.5 else str(generator.choice(ONE_LAW))
    low, targets = generator.uniform(0.2, 0.8), simulation.targets
    return Simulation(
        variables=simulation.variables,
        edges=min(simulation.variables * generator.uniform(0.3, 2), generator.uniform(0.2, 0.8) * most_edges(simulation.graph, simulation.variables)),
        graph=simulation.graph,
        observational_rows=max(simulation.observational_rows, 60),  # fewer targets may be left
        root_law=law,
        noise_law=law,
        root_scale=log_uniform(0.3, 2, generator=generator),
        root_spread=log_uniform(1, 3, generator=generator),
        noise_coefficient=log_uniform(0.2, 1.5, generator=generator),
        noise_spread=log_uniform(1, 4, generator=generator),
        weights=(low, low + generator.uniform(0.3, 1.2)),
        rescaled=generator.random() < 0.3,
        targets=min(targets, 1) if generator.random() < 0.5 else targets,
        regime_rows=simulation.regime_rows,
        intervention=simulation.intervention,
        measurement="none" if generator.random() < 0.5 else "units",
    )


def _soften(simulation: Simulation, generator: np.random.Generator) -> Simulation:
    """Monotone effects, laws of any kind; the graph, interventions and hidden causes are those of any set."""
    measurement, d = generator.random(), simulation.variables
    most = most_edges(simulation.graph, d)
    return replace(
        simulation,
        edges=most * generator.uniform(0.5, 0.97) if d < 4 else min(d * generator.uniform(0.4, 2), 0.9 * most),
        mechanisms=("gentle",),
        root_law=ANY,
        noise_law=ANY,
        strays=0.6,
        root_scale=log_uniform(0.5, 2, generator=generator),
        root_spread=1.5,
        noise_coefficient=log_uniform(0.15, 1.5, generator=generator),
        levels=0,
        levels_share=1.0,
        tables=False,
        rare=False,
        measurement="none" if measurement < 0.3 else "units" if measurement < 0.5 else "round" if measurement < 0.7 else "exponential",
    )


def _add_settings(simulation: Simulation, generator: np.random.Generator) -> Simulation:
    """Some targets without parents have one value elsewhere; in two of three sets every variable draws a mechanism of its own among `OF_SETTINGS`."""
    return replace(
        simulation,
        mechanisms=OF_SETTINGS if generator.random() < 2 / 3 else simulation.mechanisms,
        observational_rows=max(simulation.observational_rows, 60),
        targets=min(simulation.targets, 1 + simulation.variables // 2),
        roots_first=True,
        settings=generator.uniform(0.5, 1),
        intervention=str(generator.choice(("gaussian", "shifted", "uniform", "shift", "clamp", "imperfect"))),
    )


def _draw_paper(domain: Domain, d: int, generator: np.random.Generator) -> Simulation:
    """The law of `simulate.paper`, with fewer rows and further densities and root widths; all other laws are the defaults of `Simulation`.

    Half of the graphs have the paper's own densities, one or four edges a variable.
    """
    share = generator.random
    graph = str(generator.choice(("erdos-renyi", "scale-free-replaced")))
    rows = int(min(1000 * d, domain.cells // d) * log_uniform(0.1, 1, generator=generator))
    density = generator.choice((1.0, 4.0)) if share() < 0.5 else generator.uniform(0.8, 4.2)
    regime_rows = max(1, rows // (d + 1)) if share() < domain.interventional else 0
    return Simulation(
        variables=d,
        edges=min(d * density, 0.9 * most_edges(graph, d)),
        graph=graph,
        mechanisms=(str(generator.choice(domain.mechanisms)),),
        observational_rows=max(60, rows - d * regime_rows),
        root_scale=(1.0 if share() < 0.5 else generator.uniform(0.5, 2.5)) / SQRT3,
        targets=d if regime_rows else 0,
        regime_rows=regime_rows,
        intervention="gaussian" if share() < 0.75 else "uniform",
    )


def _draw_expression(domain: Domain, d: int, generator: np.random.Generator) -> Expression:
    share = generator.random
    cells, targets, regime_cells = _draw_rows(domain, d, d, generator)
    most = max(60, domain.expression_cells // d)
    graph = str(generator.choice(("scale-free", "erdos-renyi", "regulatory")))
    technical = Technical(
        outliers=generator.uniform(0, 0.1),
        library_law=(generator.uniform(0, 2 if share() < 0.5 else 8) + np.log(d), generator.uniform(0.1, 0.6)),
        dropout=generator.uniform(20, 85) if share() < 0.7 else None,
        counts=share() < 0.8,
    )
    return Expression(
        variables=d,
        edges=min(d * generator.uniform(0.4, 2.5), 0.9 * most_edges(graph, d)),
        graph=graph,
        cells=min(cells, most),
        cell_types=int(generator.integers(1, 11)),
        hill=float(generator.choice((0.5, 1.0, 2.0, 4.0))),
        noise=float(log_uniform(0.1, 1.5, generator=generator)),
        repressors=generator.uniform(0, 0.7),
        targets=targets,
        regime_cells=min(regime_cells, max(1, most // max(targets, 1))),
        remaining=0.0 if share() < 0.5 else generator.uniform(0, 0.6) if share() < 0.8 else generator.uniform(1.5, 4),
        technical=technical if share() < 0.5 else None,
        logarithm=share() < 0.7,
    )


def _draw_key(shares: dict[str, float], generator: np.random.Generator) -> str:
    return str(generator.choice(tuple(shares), p=tuple(shares.values())))


def _draw_graph(domain: Domain, generator: np.random.Generator) -> str:
    """A key of `GRAPHS`."""
    if generator.random() < domain.structured:
        return str(generator.choice(STRUCTURED))
    return "erdos-renyi" if generator.random() < 0.65 else "scale-free"


def _draw_rows(domain: Domain, targets: int, d: int, generator: np.random.Generator) -> tuple[int, int, int]:
    """Observational rows, targets, of which there are at most so many, and rows per regime: from one row a regime to thousands."""
    most = min(20_000, domain.cells // d)

    def between(low: float, high: float) -> int:
        return int(log_uniform(low, max(high, low), generator=generator))

    if generator.random() >= domain.interventional:
        return between(60, most), 0, 0
    targets = targets if generator.random() < 0.6 else int(generator.integers(1, targets + 1))
    if generator.random() < 0.2:  # a screen: hardly any control, one to three rows for each target
        regime_rows = int(generator.integers(1, 4))
        return max(between(1, 100), 60 - targets * regime_rows), targets, regime_rows
    regime_rows = between(1, max(1, min(1000, most // (targets + 1))))
    observational = between(1, 30) if generator.random() < 0.15 else between(50, max(60, most - targets * regime_rows))
    return max(observational, 60 - targets * regime_rows), targets, regime_rows
