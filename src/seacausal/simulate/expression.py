"""Steady-state expression of single cells from the kinetics of gene regulation (Dibaeinia and Sinha, Cell Systems 2020, called SERGIO).

Gene i of a cell follows the chemical Langevin equation dx = (P - d x) dt + q (sqrt(P) dW + sqrt(d x) dV), where its production P is constant for
master regulators (genes without parents; one rate per cell type), and else a sum of Hill functions of its parents, K u / (1 + u) for an activator and
K / (1 + u) for a repressor, u = (x / h)^n, h being the parent's mean over cell types. An intervention multiplies P of its target.

Choices that may surprise. Every cell runs on its own from the noise-free steady state, so cells are independent. Between two times the linear part is
solved exactly and the production taken as the mean of both ends: mean and variance of a master regulator are exact for any step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.simulate.dataset import topological_order
from seacausal.simulate.graphs import GRAPHS
from seacausal.simulate.technical import Technical, measure_cells

BLOCK = 256
"""Cells that run together; their levels stay in the processor's cache."""


@dataclass(frozen=True)
class Expression:
    """What to simulate. Hill coefficient, decay and noise are those of the SEA paper's tests; interaction strengths are SERGIO's."""

    variables: int = 10
    """d, the number of genes."""
    edges: float = 10
    """Expected number of edges."""
    graph: str = "scale-free"
    """Law of the graph."""
    cells: int = 1000
    """Cells without interventions."""
    cell_types: int = 5
    """Types that every regime's cells are shared by, as equally as they can be."""
    hill: float = 2.0
    """n, the Hill coefficient of every edge."""
    decay: float = 0.8
    """d of the equation, the share of its molecules that a gene loses in a unit of time."""
    noise: float = 1.0
    """q of the equation."""
    rates: tuple[float, float] = (0.5, 4.0)
    """Range of the production of master regulators, drawn for each cell type."""
    strengths: tuple[float, float] = (1.0, 5.0)
    """Range of K."""
    repressors: float = 0.5
    """Probability that an edge represses."""
    targets: int = 0
    """How many genes are intervened on, each alone in a regime of its own."""
    regime_cells: int = 0
    """Cells of each of these regimes."""
    remaining: float = 0.0
    """What a target's production is multiplied by: 0 is a knock-out, up to 1 a knock-down, above 1 an activation."""
    technical: Technical | None = None
    """Technical noise, or None for the levels themselves."""
    logarithm: bool = True
    """Whether log(1 + value) is returned."""
    step: float = 0.1
    """Time step."""
    relaxations: float = 5.0
    """How long a cell runs, in units of 1 / decay; one unit more for each level of the graph."""

    def __post_init__(self) -> None:
        pairs = self.variables * (self.variables - 1) / 2
        if self.graph not in GRAPHS:
            raise DataError(f"`graph` must be one of {', '.join(GRAPHS)}; found {self.graph!r}.")
        if self.variables < 2 or not 0 <= self.edges <= pairs:
            raise DataError(f"`variables` must be at least 2 and `edges` between 0 and {pairs:.0f}; found {self.variables} and {self.edges}.")
        if self.cell_types < 1:
            raise DataError(f"`cell_types` must be at least 1; found {self.cell_types}.")
        if not 0 < self.hill <= 20:
            raise DataError(f"`hill` must lie above 0 and be at most 20; found {self.hill}.")
        for name in ("decay", "step", "relaxations"):
            if not 0 < getattr(self, name) < np.inf:
                raise DataError(f"`{name}` must be positive and finite; found {getattr(self, name)}.")
        for name in ("noise", "remaining"):
            if not 0 <= getattr(self, name) < np.inf:
                raise DataError(f"`{name}` must be finite and not negative; found {getattr(self, name)}.")
        for name in ("rates", "strengths"):
            low, high = getattr(self, name)
            if not 0 < low <= high < np.inf:
                raise DataError(f"`{name}` must be a range of positive numbers, the lower first; found {getattr(self, name)}.")
        if not 0 <= self.repressors <= 1:
            raise DataError(f"`repressors` must be a probability; found {self.repressors}.")
        if not 0 <= self.targets <= self.variables:
            raise DataError(f"`targets` must lie between 0 and {self.variables} variables; found {self.targets}.")
        if self.cells + self.targets * self.regime_cells < 1 or min(self.cells, self.regime_cells) < 0:
            raise DataError(f"Cell counts must not be negative and must add up to at least 1; found {self.cells} and {self.regime_cells}.")


@dataclass(frozen=True)
class Regulation:
    """The edges into gene g, genes in topological order, are `first[g]` to `first[g + 1]` of the edge arrays."""

    first: np.ndarray
    """(d + 1,) int."""
    parent: np.ndarray
    """(e,) int, numbered in topological order."""
    strength: np.ndarray
    """(e,) float, K; negative for a repressor."""
    half: np.ndarray
    """(e,) float, h, the level of the parent at which the edge has half its effect."""


def simulate_expression(spec: Expression, *, generator: np.random.Generator) -> Dataset:
    """Draw a graph, its kinetics and the cells, those without interventions first.

    Returns
    -------
    A `Dataset` of float32 values with its `adjacency`, columns G1, G2, ... in random causal order.
    """
    from seacausal.simulate.kinetics import run_cells  # numba takes 0.15 s to load

    d = spec.variables
    adjacency = GRAPHS[spec.graph](d, spec.edges, generator=generator)
    order = np.array(topological_order(adjacency))
    targeted = np.sort(generator.choice(d, spec.targets, replace=False))
    targets = np.zeros((1 + len(targeted), d), bool)
    targets[1 + np.arange(len(targeted)), targeted] = True
    counts = [spec.cells] + [spec.regime_cells] * len(targeted)
    regime = np.repeat(np.arange(len(targets)), counts).astype(np.int32)
    kind = np.concatenate([np.arange(count) % spec.cell_types for count in counts])
    basal, regulation = _draw_kinetics(spec, adjacency[np.ix_(order, order)], generator)
    kept = np.where(targets[:, order], spec.remaining, 1.0)
    start = np.stack([_settle(spec, basal, regulation, factor) for factor in kept])
    steps = int(np.ceil((spec.relaxations + _depth(regulation)) / spec.decay / spec.step))
    levels = np.empty((len(regime), d), np.float32)
    for at in range(0, len(regime), BLOCK):
        r, c = regime[at : at + BLOCK], kind[at : at + BLOCK]
        x = np.ascontiguousarray(start[r, c].T)
        arrays = (
            regulation.first,
            regulation.parent,
            regulation.strength,
            regulation.half,
            np.ascontiguousarray(basal[c].T),
            np.ascontiguousarray(kept[r].T),
        )
        run_cells(x, *arrays, spec.hill, spec.decay, spec.noise, spec.step, steps, generator)
        levels[at : at + BLOCK, order] = x.T
    values = levels if spec.technical is None else measure_cells(levels, spec.technical, generator=generator)
    values = (np.log1p(values) if spec.logarithm else values).astype(np.float32)
    return Dataset(values, tuple(f"G{i + 1}" for i in range(d)), regime, targets, adjacency)


def _draw_kinetics(spec: Expression, adjacency: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, Regulation]:
    """Production without parents, (cell types, d), and the edges of a graph in topological order; h follows from the noise-free steady state."""
    child, parent = np.nonzero(adjacency.T)
    first = np.searchsorted(child, np.arange(len(adjacency) + 1))
    strength = generator.uniform(*spec.strengths, len(parent)) * np.where(generator.random(len(parent)) < spec.repressors, -1.0, 1.0)
    masters = ~adjacency.any(0)
    basal = np.where(masters, generator.uniform(*spec.rates, (spec.cell_types, len(adjacency))), 0.0)
    regulation = Regulation(first, parent, strength, np.full(len(parent), np.nan))
    _settle(spec, basal, regulation, np.ones(len(adjacency)), fix_half=True)
    return basal, regulation


def _settle(spec: Expression, basal: np.ndarray, regulation: Regulation, kept: np.ndarray, *, fix_half: bool = False) -> np.ndarray:
    """(cell types, d) noise-free steady state, x = P / decay; with `fix_half` every h becomes its parent's mean over cell types."""
    level = np.empty_like(basal)
    for gene in range(basal.shape[1]):
        into = slice(regulation.first[gene], regulation.first[gene + 1])
        at = level[:, regulation.parent[into]]
        if fix_half:
            regulation.half[into] = at.mean(0)
        u = (at / regulation.half[into]) ** spec.hill
        strength = regulation.strength[into]
        production = basal[:, gene] + (np.abs(strength) * np.where(strength > 0, u, 1.0) / (1 + u)).sum(1)
        level[:, gene] = kept[gene] * production / spec.decay
    return level


def _depth(regulation: Regulation) -> int:
    """Edges of the longest directed path."""
    level = np.zeros(len(regulation.first) - 1, int)
    for gene in range(len(level)):
        parents = regulation.parent[regulation.first[gene] : regulation.first[gene + 1]]
        level[gene] = level[parents].max() + 1 if len(parents) else 0
    return int(level.max())
