"""The simulated sets of the SEA paper: 6,480 causal models to train on, 360 to validate, 360 to test, and tests on mechanisms never trained on.

Every causal model has two tables of 1,000 rows a variable: one observational; one split equally among the observational regime and a perfect
intervention on each variable. Both come from one simulation, so graph, mechanisms and the noise scales of the observational regime are shared. The
seed of a model is a hash of the name of its graph's file: any of them can be made alone, in any order, by any number of processes. Scale-free graphs
draw parents with replacement, as the paper's generator does, and have fewer edges than their name says.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.layout import name_layout, write_layout
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.noise import SQRT3

SPLITS = {"train": 90, "validation": 5, "test": 5}
"""Causal models of each combination of mechanism, graph, size and density."""
TRAINED = ("linear", "nn-additive", "nn")
"""Mechanisms of all three splits."""
UNSEEN = {
    "linear-uniform": Simulation(mechanisms=("linear",), noise_law="uniform"),
    **{name: Simulation(mechanisms=(name,)) for name in ("sigmoid", "sigmoid-mix", "polynomial", "polynomial-mix")},
}
"""What is in `test` alone: linear with uniform noise, and mechanisms to which the noise is added or, called mix, which it multiplies."""
SIZES = (10, 20, 100)
"""Variables."""
GRAPHS = {"erdos-renyi": "erdos-renyi", "scale-free": "scale-free-replaced"}
"""Families of graphs, and what simulates them."""
DENSITIES = (1, 2, 3, 4)
"""Expected edges per variable."""


@dataclass(frozen=True)
class Paper:
    """Which of the paper's sets, and where its text and its program differ."""

    limit: int | None = None
    """At most so many causal models of each combination; all where absent."""
    largest: int = 100
    """Leave out sets with more variables."""
    rows: int = 1000
    """Rows of each table, for every variable."""
    half_width: float = 1.0
    """Roots are uniform in plus or minus this: 1 is the program's default, 2 the text's."""
    intervention: str = "gaussian"
    """A target becomes N(0, 1), "gaussian", as the text has it, or U(-1, 1), "uniform", as the scripts have it."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise DataError(f"`limit` must be at least 1; found {self.limit}.")
        if self.largest < min(SIZES):
            raise DataError(f"`largest` must be at least {min(SIZES)}, the fewest variables of a set; found {self.largest}.")
        if self.rows < 2:
            raise DataError(f"`rows` must be at least 2, so that every regime has some; found {self.rows}.")
        if not 0 < self.half_width < np.inf:
            raise DataError(f"`half_width` must be positive and finite; found {self.half_width}.")
        if self.intervention not in ("gaussian", "uniform"):
            raise DataError(f"`intervention` must be gaussian or uniform; found {self.intervention!r}.")


@dataclass(frozen=True)
class Model:
    """One causal model of the collection."""

    mechanism: str
    """One of `TRAINED` or `UNSEEN`."""
    folder: str
    """Split, mechanism, graph, variables and expected edges: "train/linear_erdos-renyi_10_20"."""
    number: int
    """From 1, within its folder."""
    simulation: Simulation
    """Both tables in one: the rows of the observational table are the first `rows`."""
    rows: int
    """n of each table."""

    @property
    def files(self) -> tuple[str, ...]:
        """Its files, as `seacausal.io.layout` names them, with their folder."""
        return tuple(f"{self.folder}/{name}" for name in name_layout(self.number))

    @property
    def size(self) -> int:
        """About how many bytes they take."""
        return 2 * 4 * self.rows * self.simulation.variables + 6 * self.rows + 8 * self.simulation.variables**2

    def write(self, folder: Path) -> None:
        """Simulate and write both tables."""
        observational, interventional = simulate_model(self)
        write_layout(folder / self.folder, self.number, observational=observational, interventional=interventional)


def settle(paper: Paper) -> dict[str, Any]:
    """What the sets of a folder have in common; how many of them there are may change."""
    return {"recipe": "paper"} | {k: v for k, v in dataclasses.asdict(paper).items() if k not in ("limit", "largest")}


def list_models(paper: Paper) -> list[Model]:
    """Every causal model, split by split."""
    models = []
    for split, count in SPLITS.items():
        kinds = {name: Simulation(mechanisms=(name,)) for name in TRAINED} | (UNSEEN if split == "test" else {})
        for mechanism, base in kinds.items():
            for graph in GRAPHS:
                for d in (size for size in SIZES if size <= paper.largest):
                    for density in DENSITIES:
                        simulation = _specify(base, paper, graph, d, density * d)
                        folder = f"{split}/{mechanism}_{graph}_{d}_{density * d}"
                        numbers = range(1, min(count, paper.limit or count) + 1)
                        models += [Model(mechanism, folder, number, simulation, paper.rows * d) for number in numbers]
    return models


def _specify(base: Simulation, paper: Paper, graph: str, d: int, edges: int) -> Simulation:
    """One simulation that holds the rows of both tables."""
    rows = paper.rows * d
    share = rows // (d + 1)
    return replace(
        base,
        variables=d,
        edges=edges,
        graph=GRAPHS[graph],
        root_scale=paper.half_width / SQRT3,
        observational_rows=rows + rows - d * share,
        targets=d,
        regime_rows=share,
        intervention=paper.intervention,
    )


def simulate_model(model: Model) -> tuple[Dataset, Dataset]:
    """The observational table and the one with interventions, of float32; always the same for one name and specification."""
    digest = hashlib.sha256(f"{model.folder}/DAG{model.number}.npy".encode()).digest()
    whole = simulate_dataset(model.simulation, generator=np.random.default_rng(int.from_bytes(digest[:16], "big")))
    n = model.rows
    observational = Dataset.observational(whole.values[:n], whole.names, whole.adjacency)
    return observational, replace(whole, values=whole.values[n:], regime=whole.regime[n:])
