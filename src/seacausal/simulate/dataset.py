"""One simulated data set: graph, mechanisms, noise, interventions and measurement, from a small specification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.simulate.graphs import GRAPHS
from seacausal.simulate.mechanisms import MECHANISMS, Mechanism, draw_mechanism
from seacausal.simulate.noise import LAWS, SQRT3, draw_noise

INTERVENTIONS = ("gaussian", "shifted", "uniform", "shift", "knock-down", "activity")
"""What a target becomes: N(0, 1), N(2, 1) or U(-1, 1) instead of its mechanism; its own value moved by a constant, or shrunk; or, as under a drug
that blocks a protein without removing it, only its children see it shrunk and moved while its measured value stays."""
MEASUREMENTS = ("none", "units", "round", "exponential", "zero-inflate", "noise")


@dataclass(frozen=True)
class Simulation:
    """What to simulate. The defaults are the paper's generator as its program runs (roots uniform in (-1, 1))."""

    variables: int = 10
    """d."""
    edges: float = 10
    """Expected number of edges, of which those from hidden roots then go."""
    graph: str = "erdos-renyi"
    """A key of `GRAPHS`."""
    mechanisms: tuple[str, ...] = ("linear",)
    """Keys of `MECHANISMS`; every variable draws one of them."""
    observational_rows: int = 1000
    """Rows without interventions."""
    root_law: str = "uniform"
    """A key of `LAWS`."""
    root_scale: float = 1 / SQRT3
    """Standard deviation of the roots; a uniform root of half-width w has w / sqrt(3)."""
    noise_law: str = "gaussian"
    """A key of `LAWS`."""
    noise_coefficient: float = 0.4
    """The noise of a variable has standard deviation `noise_coefficient` times s, s^2 uniform in (1, 2)."""
    noise_per_regime: bool = True
    """Whether s is drawn anew in every regime, as the paper's program does."""
    weights: tuple[float, float] = (0.25, 1.0)
    """Range of the size of linear coefficients."""
    rescaled: bool = False
    """Whether every variable is brought to unit variance before its children are computed, so that no variance order builds up."""
    levels: int = 0
    """Cut every variable into 2 to `levels` ordered values before its children are computed; 0 for continuous variables."""
    hidden: int = 0
    """How many roots, at most, are simulated and then left out: common causes that nobody measured."""
    targets: int = 0
    """How many variables are intervened on, each alone in a regime of its own."""
    regime_rows: int = 0
    """Rows of each of these regimes."""
    intervention: str = "gaussian"
    """One of `INTERVENTIONS`."""
    measurement: str = "none"
    """One of `MEASUREMENTS`: arbitrary units for every column, or a change of shape for a random half of them."""

    def __post_init__(self) -> None:
        if isinstance(self.mechanisms, str) or not self.mechanisms:
            raise DataError(f"`mechanisms` must be a tuple of at least one name; found {self.mechanisms!r}.")
        checks = {
            "graph": (self.graph,),
            "mechanisms": self.mechanisms,
            "root_law": (self.root_law,),
            "noise_law": (self.noise_law,),
            "intervention": (self.intervention,),
            "measurement": (self.measurement,),
        }
        known = {
            "graph": GRAPHS,
            "mechanisms": MECHANISMS,
            "root_law": LAWS,
            "noise_law": LAWS,
            "intervention": INTERVENTIONS,
            "measurement": MEASUREMENTS,
        }
        for name, values in checks.items():
            for value in values:
                if value not in known[name]:
                    raise DataError(f"`{name}` must be one of {', '.join(known[name])}; found {value!r}.")
        pairs = self.variables * (self.variables - 1) / 2
        if self.variables < 2 or not 0 <= self.edges <= pairs:
            raise DataError(f"`variables` must be at least 2 and `edges` between 0 and {pairs:.0f}; found {self.variables} and {self.edges}.")
        if self.levels < 0 or self.levels == 1:
            raise DataError(f"`levels` must be 0 for continuous variables or at least 2; found {self.levels}.")
        if self.hidden < 0:
            raise DataError(f"`hidden` must not be negative; found {self.hidden}.")
        if not 0 <= self.targets <= self.variables:
            raise DataError(f"`targets` must lie between 0 and {self.variables} variables; found {self.targets}.")
        if self.observational_rows + self.targets * self.regime_rows < 1 or min(self.observational_rows, self.regime_rows) < 0:
            raise DataError(f"Row counts must not be negative and must add up to at least 1; found {self.observational_rows} and {self.regime_rows}.")


def simulate_dataset(simulation: Simulation, *, generator: np.random.Generator) -> Dataset:
    """Draw a graph, its mechanisms and the rows, the observational ones first.

    Returns
    -------
    A `Dataset` of float32 values with its `adjacency`, d columns in random causal order.
    """
    d = simulation.variables
    adjacency = _draw_graph(simulation, generator)
    targeted = np.sort(generator.choice(d, simulation.targets, replace=False))
    targets = np.zeros((1 + len(targeted), len(adjacency)), bool)
    targets[1 + np.arange(len(targeted)), targeted] = True
    regime = np.repeat(np.arange(len(targets)), [simulation.observational_rows] + [simulation.regime_rows] * len(targeted)).astype(np.int32)
    values = np.empty((len(regime), len(adjacency)), np.float32)
    active = values if simulation.intervention != "activity" else np.empty_like(values)  # what children see
    for variable in topological_order(adjacency):
        parents = np.flatnonzero(adjacency[:, variable])
        own = _simulate_variable(simulation, active[:, parents], regime, len(targets), generator)
        if simulation.levels:
            own = _cut(own, int(generator.integers(2, simulation.levels + 1)), generator)
        values[:, variable] = own
        hit = targets[regime, variable]
        if hit.any():
            own[hit] = _intervene(simulation.intervention, own[hit], float(own.std()), generator)
        active[:, variable] = own
    names = tuple(f"X{i + 1}" for i in range(d))
    return Dataset(_measure(simulation.measurement, values[:, :d], generator), names, regime, targets[:, :d], adjacency[:d, :d])


def _draw_graph(simulation: Simulation, generator: np.random.Generator) -> np.ndarray:
    """(d, d) adjacency, or (d + h, d + h) with the hidden roots last."""
    d = simulation.variables
    whole = d + simulation.hidden
    adjacency = GRAPHS[simulation.graph](whole, simulation.edges * whole / d, generator=generator)
    roots = np.flatnonzero((adjacency.sum(0) == 0) & (adjacency.sum(1) > 1))[: simulation.hidden]
    others = np.setdiff1d(np.arange(whole), roots)[:d]
    kept = np.concatenate([others, roots])
    return adjacency[np.ix_(kept, kept)]


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


def _simulate_variable(simulation: Simulation, parents: np.ndarray, regime: np.ndarray, regimes: int, generator: np.random.Generator) -> np.ndarray:
    n, k = parents.shape
    if k == 0:
        return np.float32(simulation.root_scale) * draw_noise(simulation.root_law, n, generator=generator)
    spread = np.sqrt(generator.uniform(1, 2, regimes if simulation.noise_per_regime else 1)).astype(np.float32)
    noise = draw_noise(simulation.noise_law, n, generator=generator)
    noise *= np.float32(simulation.noise_coefficient) * (spread[regime] if simulation.noise_per_regime else spread)
    name = simulation.mechanisms[generator.integers(len(simulation.mechanisms))]
    mechanism: Mechanism = draw_mechanism(name, k, generator=generator, weights=simulation.weights)
    own = mechanism(parents, noise).astype(np.float32)
    if simulation.rescaled:
        own /= own.std() + np.float32(1e-6)
    return own


def _cut(own: np.ndarray, levels: int, generator: np.random.Generator) -> np.ndarray:
    """Ordered values 0, 1, ... split at random quantiles, centred and of standard deviation 1."""
    shares = np.cumsum(generator.dirichlet(np.full(levels, 3.0)))[:-1]
    cut = np.searchsorted(np.quantile(own, shares), own).astype(np.float32)
    return (cut - cut.mean()) / (cut.std() + np.float32(1e-6))


def _intervene(kind: str, own: np.ndarray, spread: float, generator: np.random.Generator) -> np.ndarray:
    """What the rows `own` of a target become; `spread` is its standard deviation over all rows."""
    n = len(own)
    if kind == "uniform":
        return generator.uniform(-1, 1, n).astype(np.float32)
    if kind == "shift":
        return own + np.float32(generator.uniform(0.5, 3) * generator.choice([-1, 1]) * spread)
    if kind == "activity":
        own = own + np.float32(generator.uniform(-2, 2) * spread)
    if kind in ("knock-down", "activity"):
        return own * np.float32(generator.uniform(0, 0.5))
    return generator.standard_normal(n, dtype=np.float32) + np.float32(2.0 if kind == "shifted" else 0.0)


def _measure(kind: str, values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    if kind == "none":
        return values
    if kind == "units":
        if generator.random() < 1 / 3:
            return values / (values.std(0) + np.float32(1e-30))
        return values * np.exp(generator.normal(0, 1.5, values.shape[1])).astype(np.float32)
    columns = np.flatnonzero(generator.random(values.shape[1]) < 0.5)
    spread = values[:, columns].std(0) + np.float32(1e-6)
    z = (values[:, columns] - values[:, columns].mean(0)) / spread
    if kind == "round":
        z = np.round(z * np.float32(generator.uniform(0.7, 3)))
    elif kind == "exponential":
        z = np.exp(np.clip(z * np.float32(generator.uniform(0.3, 1.2)), -8, 8))
    elif kind == "zero-inflate":
        z = np.maximum(z - np.float32(generator.uniform(-1.5, 0.5)), 0)
    else:
        z = z + np.float32(generator.uniform(0.1, 0.6)) * generator.standard_normal(z.shape, dtype=np.float32)
    values[:, columns] = z * spread
    return values
