"""One simulated data set: graph, mechanisms, noise, interventions and measurement, from a small specification."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.simulate.cycles import close_cycles, draw_coefficients, solve_equilibrium
from seacausal.simulate.graphs import GRAPHS, most_edges
from seacausal.simulate.interventions import INTERVENTIONS, PERFECT, draw_drift, draw_off_targets, draw_sizes, draw_targets, shift
from seacausal.simulate.measurement import MEASUREMENTS, cut_column
from seacausal.simulate.mechanisms import MECHANISMS, draw_mechanism
from seacausal.simulate.networks import read_network, sample_subgraph
from seacausal.simulate.noise import ANY, LAWS, SQRT3, draw_noise, log_uniform
from seacausal.simulate.selection import oversample, select_rows
from seacausal.simulate.tables import draw_categories

CHOICES: dict[str, Collection[str]] = {
    "graph": GRAPHS,
    "mechanisms": MECHANISMS,
    "root_law": (*LAWS, ANY),
    "noise_law": (*LAWS, ANY),
    "intervention": INTERVENTIONS,
    "measurement": MEASUREMENTS,
}
"""Field of `Simulation`: the names that it takes."""


@dataclass(frozen=True)
class Simulation:
    """What to simulate. The defaults are the paper's generator as its program runs (roots uniform in (-1, 1))."""

    variables: int = 10
    """d."""
    edges: float = 10
    """Expected number of edges, of which those from hidden roots then go."""
    graph: str = "erdos-renyi"
    """Law of the graph."""
    network: str | None = None
    """A file that `read_network` reads. The graph is then a connected part of that network, and `graph` and `edges` are ignored."""
    mechanisms: tuple[str, ...] = ("linear",)
    """Every variable draws one of them."""
    observational_rows: int = 1000
    """Rows without interventions."""
    root_law: str = "uniform"
    """Law of the roots, or "any" for another one at every root."""
    root_scale: float = 1 / SQRT3
    """Standard deviation of the roots; a uniform root of half-width w has w / sqrt(3)."""
    root_spread: float = 1.0
    """Each root has `root_scale` times or divided by up to this, log-uniform; 1 for equal roots."""
    noise_law: str = "gaussian"
    """Law of the noise, or "any" for another one at every variable with parents."""
    strays: float = 0.0
    """Chance of a root, and of the noise of any other variable, to have one of all laws in the place of these."""
    noise_coefficient: float = 0.4
    """The noise of a variable has standard deviation `noise_coefficient` times s, s^2 uniform in (1, `noise_spread`)."""
    noise_spread: float = 2.0
    """1 for noise of the same variance everywhere."""
    noise_per_regime: bool = True
    """Whether s is drawn anew in every regime, as the paper's program does."""
    weights: tuple[float, float] = (0.25, 1.0)
    """Range of the size of linear coefficients."""
    rescaled: bool = False
    """Whether every variable is brought to unit variance before its children are computed, so that no variance order builds up."""
    levels: int = 0
    """Cut variables into 2 to `levels` ordered values before their children are computed; 0 for continuous variables."""
    levels_share: float = 1.0
    """Chance of a variable to be cut, where any are."""
    tables: bool = False
    """Whether those variables are categories in no order instead, whose probabilities are drawn for each configuration of the parents."""
    rare: bool = False
    """Whether some of their values may be rare, and some categories follow the order of their parents' after all."""
    ratings: float = 0.0
    """Chance of such a variable to be the class of one continuous parent, with little noise or none; its other parents are left out."""
    bystanders: int = 0
    """How many variables lose all their edges again."""
    hidden: int = 0
    """How many roots, at most, are simulated and then left out: common causes that nobody measured."""
    mediators: int = 0
    """How many variables with parents and children, at most, are simulated and then left out: their parents become parents of their children."""
    cycles: int = 0
    """How many edges, at most, are added that close a cycle. Linear mechanisms at equilibrium, interventions that are perfect or block a target's
    activity; the truth keeps its cycles."""
    mutual: bool = True
    """Whether two variables may be causes of each other where there are cycles."""
    selection: int = 0
    """How many unmeasured effects of two variables decide which rows are in the table; there are as many rows as asked for."""
    targets: int = 0
    """How many variables are intervened on, each in one regime."""
    targets_per_regime: int = 1
    """How many of them at once."""
    roots_first: bool = False
    """Whether variables without parents are targets before any others, as where the inputs of an apparatus are set."""
    settings: float = 0.0
    """Chance of a target without parents to have one value wherever it is not intervened on, as the settings of an instrument."""
    regime_rows: int = 0
    """Rows of each of these regimes."""
    regime_spread: float = 1.0
    """Regimes have `regime_rows` times or divided by up to this many rows, log-uniform, at least 1; 1 for equal regimes."""
    off_target: float = 0.0
    """Chance that a regime shifts one more variable, which is not named among its targets."""
    compensation: bool = False
    """Whether what a regime hits beside its target is a parent of that, where it has one: cells drive harder what a drug has blocked."""
    drift: float = 0.0
    """How far, in standard deviations, variables move from regime to regime on their own, as between batches or days."""
    drift_share: float = 1.0
    """Chance of a variable to be one that drifts, as some sensors do."""
    intervention: str = "gaussian"
    """What an intervention does to its target."""
    measurement: str = "none"
    """What an instrument makes of the values."""

    def __post_init__(self) -> None:
        if isinstance(self.mechanisms, str) or not self.mechanisms:
            raise DataError(f"`mechanisms` must be a tuple of at least one name; found {self.mechanisms!r}.")
        for name, known in CHOICES.items():
            given = getattr(self, name)
            for value in (given,) if isinstance(given, str) else given:
                if value not in known:
                    raise DataError(f"`{name}` must be one of {', '.join(known)}; found {value!r}.")
        self._check_numbers()
        if self.cycles:
            self._check_cycles()

    def _check_cycles(self) -> None:
        """Only what an equilibrium of linear equations is defined for."""
        plain = {"mechanisms": ("linear",), "rescaled": False, "levels": 0, "mediators": 0, "settings": 0.0, "off_target": 0.0, "drift": 0.0}
        for name, needed in plain.items():
            if getattr(self, name) != needed:
                raise DataError(f"`{name}` must be {needed!r} where there are `cycles`; found {getattr(self, name)!r}. Leave out one of them.")
        possible = (*PERFECT, "activity")
        if self.targets and self.intervention not in possible:
            raise DataError(f"`intervention` must be one of {', '.join(possible)} where there are `cycles`; found {self.intervention!r}.")

    def _check_numbers(self) -> None:
        most = most_edges(self.graph, self.variables)
        if self.variables < 2 or not (self.network or 0 <= self.edges <= most):
            raise DataError(f"`variables` must be at least 2 and `edges` between 0 and {most}; found {self.variables} and {self.edges}.")
        if self.levels < 0 or self.levels == 1:
            raise DataError(f"`levels` must be 0 for continuous variables or at least 2; found {self.levels}.")
        if not 0 <= self.levels_share <= 1:
            raise DataError(f"`levels_share` must be a probability; found {self.levels_share}.")
        if not 0 <= self.ratings <= 1:
            raise DataError(f"`ratings` must be a probability; found {self.ratings}.")
        for name in ("tables", "rare", "ratings"):
            if getattr(self, name) and not self.levels:
                raise DataError(f"`levels` must be at least 2 where there are `{name}`; found 0.")
        if min(self.bystanders, self.hidden, self.mediators) < 0:
            found = f"{self.bystanders}, {self.hidden} and {self.mediators}"
            raise DataError(f"`bystanders`, `hidden` and `mediators` must not be negative; found {found}.")
        if min(self.cycles, self.selection) < 0:
            raise DataError(f"`cycles` and `selection` must not be negative; found {self.cycles} and {self.selection}.")
        if not 0 <= self.targets <= self.variables:
            raise DataError(f"`targets` must lie between 0 and {self.variables} variables; found {self.targets}.")
        if self.targets_per_regime < 1:
            raise DataError(f"`targets_per_regime` must be at least 1; found {self.targets_per_regime}.")
        for name in ("root_spread", "noise_spread", "regime_spread"):
            if not 1 <= getattr(self, name) < float("inf"):
                raise DataError(f"`{name}` must be a factor of at least 1; found {getattr(self, name)}.")
        for name in ("strays", "off_target", "settings", "drift_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise DataError(f"`{name}` must be a probability; found {getattr(self, name)}.")
        if not 0 <= self.drift < float("inf"):
            raise DataError(f"`drift` must be a number of standard deviations of at least 0; found {self.drift}.")
        if self.observational_rows + self.targets * self.regime_rows < 1 or min(self.observational_rows, self.regime_rows) < 0:
            raise DataError(f"Row counts must not be negative and must add up to at least 1; found {self.observational_rows} and {self.regime_rows}.")


def simulate_dataset(simulation: Simulation, *, generator: np.random.Generator) -> Dataset:
    """Draw a graph, its mechanisms and the rows, the observational ones first.

    Returns
    -------
    A `Dataset` of float32 values with its `adjacency`, d columns in random causal order. The adjacency is acyclic unless `cycles` are asked for.
    """
    d = simulation.variables
    adjacency = _draw_graph(simulation, generator)
    targets, off_targets, regime = _draw_regimes(simulation, adjacency, generator)
    regime = np.repeat(regime, oversample(simulation.selection))
    if simulation.cycles:
        adjacency[:d, :d] = close_cycles(adjacency[:d, :d], simulation.cycles, mutual=simulation.mutual, generator=generator)
        values = _simulate_equilibrium(simulation, adjacency, targets, regime, generator)
    else:
        values = _simulate_in_order(simulation, adjacency, targets, off_targets, regime, generator)
    values = values[:, :d]
    if simulation.selection:
        kept = select_rows(values, regime, simulation.selection, generator=generator)
        values, regime = values[kept], regime[kept]
    names = tuple(f"X{i + 1}" for i in range(d))
    return Dataset(MEASUREMENTS[simulation.measurement](values, generator), names, regime, targets, _leave_out(adjacency, d))


def _simulate_in_order(
    simulation: Simulation, adjacency: np.ndarray, targets: np.ndarray, off_targets: np.ndarray, regime: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """(n, d + h) float32, every variable after its parents; of those of a rating all but one leave the `adjacency`."""
    d = simulation.variables
    values = np.empty((len(regime), len(adjacency)), np.float32, order="F")  # columns are written and read one by one
    active = values if simulation.intervention != "activity" else np.empty_like(values)  # what children see
    nothing = np.zeros(len(regime), bool)
    for variable in topological_order(adjacency):
        hit = targets[regime, variable] if variable < d else nothing
        parents = active[:, adjacency[:, variable]]
        cut = simulation.levels > 0 and (simulation.levels_share == 1 or generator.random() < simulation.levels_share)
        rated = cut and simulation.ratings > 0 and _choose_rated(simulation, adjacency[:, variable], active, generator)
        if rated:
            own = _rate(active[:, adjacency[:, variable]][:, 0], generator)
        elif cut and simulation.tables:
            own = _simulate_categories(simulation, parents, hit, generator)
        else:
            own = _simulate_variable(simulation, parents, regime, len(targets), hit, generator)
            if simulation.drift and (simulation.drift_share == 1 or generator.random() < simulation.drift_share):
                own += draw_drift(len(targets), simulation.drift * own.std(), generator=generator)[regime]
        if cut and (rated or not simulation.tables):
            own = _cut(own, int(generator.integers(2, simulation.levels + 1)), simulation.rare, generator)
        known, usual = np.unique(own) if cut else None, float(own.std())
        setting = simulation.settings > 0 and not parents.shape[1] and hit.any() and generator.random() < simulation.settings
        if setting:
            own[~hit] = own[0]
        if variable < d and off_targets[:, variable].any():
            off = off_targets[regime, variable]
            own[off] = _snap(shift(own[off], usual, generator), known)
        values[:, variable] = own
        if hit.any():
            intervene = partial(INTERVENTIONS[simulation.intervention], own[hit], usual if setting else float(own.std()), generator)
            if setting and known is None and generator.random() < 0.5:
                known = intervene()[: generator.integers(1, 5)]  # it is set to one of a few values
            own[hit] = _snap(intervene(), known)
        active[:, variable] = own
    return np.ascontiguousarray(values)


def _simulate_equilibrium(
    simulation: Simulation, adjacency: np.ndarray, targets: np.ndarray, regime: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """(n, d + h) float32, linear equations that may have cycles, solved in each regime without the equations of its targets."""
    n, whole = len(regime), len(adjacency)
    w = draw_coefficients(adjacency, simulation.weights, generator=generator)
    own = np.empty((n, whole))
    for variable in range(whole):
        if adjacency[:, variable].any():
            own[:, variable] = _draw_error(simulation, regime, len(targets), generator)
        else:
            own[:, variable] = _draw_root(simulation, n, generator)
    targets = np.pad(targets, ((0, 0), (0, whole - targets.shape[1])))
    values = np.empty((n, whole), np.float32)
    for number, hit in enumerate(targets):
        rows = regime == number
        part = own[rows]
        if simulation.intervention == "activity":
            values[rows] = _block_activity(w, part, hit, own.std(0), generator)
            continue
        for variable in np.flatnonzero(hit):
            part[:, variable] = INTERVENTIONS[simulation.intervention](part[:, variable], 1.0, generator)
        values[rows] = solve_equilibrium(w, part, hit)
    return values


def _block_activity(w: np.ndarray, own: np.ndarray, hit: np.ndarray, spread: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """(n, d) equilibrium at which children see `interventions.block` of a variable that is hit: a (x + b), which stands for w a, and b w a more."""
    w, own = w.copy(), own.copy()
    for variable in np.flatnonzero(hit):
        w[variable] *= generator.uniform(0, 0.5)
        own += generator.uniform(-2, 2) * spread[variable] * w[variable]
    return solve_equilibrium(w, own, np.zeros_like(hit))


def _draw_root(simulation: Simulation, n: int, generator: np.random.Generator) -> np.ndarray:
    """(n,) float32 values of a variable without parents."""
    scale = simulation.root_scale
    if simulation.root_spread > 1:
        scale *= log_uniform(1 / simulation.root_spread, simulation.root_spread, generator=generator)
    return np.float32(scale) * draw_noise(_choose_law(simulation, simulation.root_law, generator), n, generator=generator)


def _choose_law(simulation: Simulation, usual: str, generator: np.random.Generator) -> str:
    return ANY if simulation.strays and generator.random() < simulation.strays else usual


def _draw_error(simulation: Simulation, regime: np.ndarray, regimes: int, generator: np.random.Generator) -> np.ndarray:
    """(n,) float32 noise of a variable with parents."""
    spread = np.sqrt(generator.uniform(1, simulation.noise_spread, regimes if simulation.noise_per_regime else 1)).astype(np.float32)
    noise = draw_noise(_choose_law(simulation, simulation.noise_law, generator), len(regime), generator=generator)
    noise *= np.float32(simulation.noise_coefficient) * (spread[regime] if simulation.noise_per_regime else spread)
    return noise


def _draw_graph(simulation: Simulation, generator: np.random.Generator) -> np.ndarray:
    """(d, d) adjacency, or (d + h, d + h) with the h variables that are left out last."""
    d = simulation.variables
    whole = d + simulation.hidden + simulation.mediators
    if simulation.network:
        adjacency = sample_subgraph(read_network(simulation.network), whole, generator=generator)
    else:
        adjacency = GRAPHS[simulation.graph](whole, simulation.edges * whole / d, generator=generator)
    parents, children = adjacency.sum(0), adjacency.sum(1)
    roots = np.flatnonzero((parents == 0) & (children > 1))[: simulation.hidden]
    mediators = np.flatnonzero((parents > 0) & (children > 0))[: simulation.mediators]
    out = np.concatenate([roots, mediators])
    kept = np.concatenate([np.setdiff1d(np.arange(whole), out)[:d], out])
    adjacency = adjacency[np.ix_(kept, kept)]
    if simulation.bystanders:
        alone = generator.choice(d, min(simulation.bystanders, d), replace=False)
        adjacency[alone], adjacency[:, alone] = False, False
    return adjacency


def _leave_out(adjacency: np.ndarray, d: int) -> np.ndarray:
    """(d, d) the graph of the first d variables: the parents of one that is left out become parents of its children."""
    adjacency = adjacency.copy()
    for variable in range(len(adjacency) - 1, d - 1, -1):
        adjacency |= np.outer(adjacency[:, variable], adjacency[variable])
    return adjacency[:d, :d]


def _draw_regimes(simulation: Simulation, adjacency: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(r, d) targets, (r, d) variables hit beside them, and (n,) regime of every row."""
    d = simulation.variables
    roots = np.logical_not(adjacency[:, :d].any(axis=0)) if simulation.roots_first else None
    targets = draw_targets(d, simulation.targets, simulation.targets_per_regime, first=roots, generator=generator)
    sizes = draw_sizes(len(targets) - 1, simulation.regime_rows, simulation.regime_spread, generator=generator)
    parents = targets @ adjacency[:d, :d].T if simulation.compensation else None
    off_targets = draw_off_targets(targets, simulation.off_target, first=parents, generator=generator)
    regime = np.repeat(np.arange(len(targets)), [simulation.observational_rows, *sizes]).astype(np.int32)
    return targets, off_targets, regime


def topological_order(adjacency: np.ndarray) -> list[int]:
    """Variables with every parent before its children (Kahn, 1962); `adjacency[i, j]` is i -> j."""
    waiting = adjacency.sum(0)
    ready = list(np.flatnonzero(waiting == 0))
    order = []
    while ready:
        variable = int(ready.pop())
        order.append(variable)
        children = np.flatnonzero(adjacency[variable])
        waiting[children] -= 1
        ready += [c for c in children if waiting[c] == 0]
    if len(order) < len(adjacency):
        raise DataError("`adjacency` must be acyclic; found a cycle. Remove an edge of it.")
    return order


def _simulate_variable(
    simulation: Simulation, parents: np.ndarray, regime: np.ndarray, regimes: int, hit: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """(n,) float32 from the (n, k) values of its parents, before any intervention but an imperfect one on the rows `hit`."""
    n, k = parents.shape
    changed = simulation.intervention == "imperfect" and bool(hit.any())
    if k == 0:
        own = _draw_root(simulation, n, generator)
        if changed:
            place, spread = generator.uniform(0.5, 2) * generator.choice([-1, 1]), np.exp(generator.uniform(-1, 1))
            own[hit] = np.float32(spread) * own[hit] + np.float32(place * simulation.root_scale)
        return own
    noise = _draw_error(simulation, regime, regimes, generator)
    name = simulation.mechanisms[generator.integers(len(simulation.mechanisms))]
    own = draw_mechanism(name, k, generator=generator, weights=simulation.weights)(parents, noise).astype(np.float32)
    if changed:
        own[hit] = draw_mechanism(name, k, generator=generator, weights=simulation.weights)(parents[hit], noise[hit])
    if simulation.rescaled:
        own /= own.std() + np.float32(1e-6)
    return own


def _simulate_categories(simulation: Simulation, parents: np.ndarray, hit: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """(n,) float32 from the (n, k) values of its parents, centred and of standard deviation 1; an imperfect intervention draws another table."""
    levels = int(generator.integers(2, simulation.levels + 1))
    own = draw_categories(parents, levels, rare=simulation.rare, generator=generator)
    if simulation.intervention == "imperfect" and hit.any():
        own[hit] = draw_categories(parents[hit], levels, rare=simulation.rare, generator=generator)
    return _scale(own.astype(np.float32))


def _choose_rated(simulation: Simulation, parents: np.ndarray, values: np.ndarray, generator: np.random.Generator) -> bool:
    """Whether a variable is a rating; if so, one continuous parent alone stays among its (d + h,) `parents`."""
    if generator.random() >= simulation.ratings:
        return False
    continuous = [parent for parent in np.flatnonzero(parents) if len(np.unique(values[:, parent])) > simulation.levels]
    if continuous:
        parents[:] = False
        parents[generator.choice(continuous)] = True
    return bool(continuous)


def _rate(parent: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """(n,) what is cut into classes: the parent, in two of three cases with noise of up to 0.6 of its standard deviation."""
    noise = generator.uniform(0, 0.6) if generator.random() < 2 / 3 else 0.0
    return parent + np.float32(noise * parent.std()) * generator.standard_normal(len(parent), np.float32)


def _snap(values: np.ndarray, known: np.ndarray | None) -> np.ndarray:
    """The nearest of the `known` values, if a variable has only these."""
    return values if known is None else known[np.abs(values[:, None] - known).argmin(1)]


def _scale(own: np.ndarray) -> np.ndarray:
    return (own - own.mean()) / (own.std() + np.float32(1e-6))


def _cut(own: np.ndarray, levels: int, rare: bool, generator: np.random.Generator) -> np.ndarray:
    """Ordered values 0, 1, ... split at random quantiles, centred and of standard deviation 1."""
    return _scale(cut_column(own, levels, rare=rare, generator=generator).astype(np.float32))
