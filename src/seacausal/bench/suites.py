"""The data sets that accuracy is measured on: simulated cells and the third-party sets of a data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.estimate.statistics import standardise
from seacausal.io.cells import Missing, Place, keep_finite
from seacausal.io.npz import read_datasets
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.measurement import MEASUREMENTS
from seacausal.simulate.recipe import read_recipe

MECHANISMS = ("linear", "nn-additive", "nn", "sigmoid", "polynomial")
CELLS = ((10, 10, 20), (20, 20, 20), (10, 40, 20), (20, 80, 20), (100, 400, 5))
"""Variables, expected edges, graphs."""
MEASURED = tuple(kind for kind in MEASUREMENTS if kind not in ("codes", "missing"))
"""What can be done to continuous columns that still leaves none of their cells empty."""
MISSING: tuple[tuple[float, Missing], ...] = ((0.05, "drop"), (0.05, "impute"), (0.2, "impute"))
"""Shares of empty cells, and what is done about them; a fifth leaves hardly a row of twenty columns whole."""
LARGE_CELLS = ((300, 600, 2),)
LARGE_ROWS = 3000
PEER_CELLS = ((20, 20, 5), (20, 80, 5), (100, 100, 2), (100, 400, 2))
PEER_MECHANISMS = ("linear", "nn-additive", "nn")
"""What other people's methods are run on, too."""

EXTERNAL = {
    "Sachs (dcdi)": "sachs/dcdi_5846/uniform.npz",
    "Causal Chamber": "causal_chamber/uniform_20.npz",
    "DREAM4 1 knock-out": "dream4/net1_steady_ko_kd.npz",
    "DREAM4 2 knock-out": "dream4/net2_steady_ko_kd.npz",
    "DREAM4 1 multifactorial": "dream4/net1_multifactorial.npz",
    "DREAM4 2 multifactorial": "dream4/net2_multifactorial.npz",
    "ecoli70": "bnlearn_gaussian/ecoli70_obs1000_int20.npz",
    "magic-niab": "bnlearn_gaussian/magic-niab_obs1000_int20.npz",
    "causal-learn linear": "causallearn_linear/linear_gaussian_10x20.npz",
    "GraN-DAG GP 10": "grandag/data_p10_e10_n1000_GP.npz",
    "GraN-DAG GP 20": "grandag/data_p20_e20_n1000_GP.npz",
    "GraN-DAG GP scale-free": "grandag/data_sf_p10_e10_n1000_GP.npz",
    "GraN-DAG PNL": "grandag/data_p10_e10_n1000_PNL_MULT.npz",
    "inspre": "inspre/uniform.npz",
    "SERGIO knock-down": "sergio_knockdown/uniform.npz",
    "LiNGAM": "lingam/6vars_uniform.npz",
    "asia": "bnlearn_discrete/asia.npz",
    "child": "bnlearn_discrete/child.npz",
    "alarm": "bnlearn_discrete/alarm.npz",
}
"""Third-party sets, as files of the data folder; the files of `dcdi_generator` come on top."""


@dataclass(frozen=True)
class Case:
    """One data set to be judged on."""

    group: str
    """Row of the table."""
    column: str
    """Column of the table."""
    dataset: Dataset
    """With its true graph."""


def simulated_cases(
    *,
    roots: str = "uniform",
    interventional: bool = False,
    graphs: int | None = None,
    smallest: int = 0,
    largest: int = 100,
    large: bool = False,
    cells: Sequence[tuple[int, int, int]] = CELLS,
    mechanisms: Sequence[str] = MECHANISMS,
) -> Iterator[Case]:
    """Unseen simulated sets: Erdos-Renyi, 1,000 rows per variable.

    Parameters
    ----------
    roots
        "uniform" in (-1, 1), "gaussian", or "any" for another law at each root, of the same variance.
    graphs
        Graphs a cell; 20 by default, 5 at N=100.
    interventional
        The paper's setting: rows shared equally by the observational regime and one perfect intervention, N(0, 1), on every variable.
    large
        Scale-free graphs of hundreds of variables and 3,000 rows instead.
    cells, mechanisms
        Other cells and mechanisms; a data set does not depend on what else is asked for.
    """
    for d, edges, count in LARGE_CELLS if large else cells:
        if not smallest <= d <= largest and not large:
            continue
        graph_law, total = ("scale-free", LARGE_ROWS) if large else ("erdos-renyi", 1000 * d)
        for mechanism in mechanisms:
            for graph in range(graphs or count):
                simulation = Simulation(d, edges, graph_law, mechanisms=(mechanism,), observational_rows=total, root_law=roots)
                if interventional:
                    rows = total // (d + 1)
                    simulation = replace(simulation, observational_rows=rows, targets=d, regime_rows=rows)
                generator = np.random.default_rng([2026, d, edges, graph, MECHANISMS.index(mechanism)])
                yield Case(f"N={d}, E={edges}", mechanism, simulate_dataset(simulation, generator=generator))


def measured_cases(*, graphs: int | None = None) -> Iterator[Case]:
    """The same sets, 20 variables, 30 edges and 2,000 rows each, as instruments show them, and with empty cells; 10 graphs by default."""

    def cases(name: str, kind: str, change: Callable[[Dataset], Dataset] = lambda dataset: dataset) -> Iterator[Case]:
        for m, mechanism in enumerate(PEER_MECHANISMS):
            for graph in range(graphs or 10):
                simulation = Simulation(20, 30, mechanisms=(mechanism,), observational_rows=2000, measurement=kind)
                yield Case(name, mechanism, change(simulate_dataset(simulation, generator=np.random.default_rng([2027, graph, m]))))

    for kind in MEASURED:
        yield from cases(kind, kind)
    for share, missing in MISSING:
        yield from cases(f"missing {share:.0%}, {missing}", "none", partial(_lose_cells, share=share, missing=missing))


def _lose_cells(dataset: Dataset, share: float, missing: Missing) -> Dataset:
    """The set without a share of its cells, and what is made of it: the higher the first column, which is complete, the more its row misses."""
    generator = np.random.default_rng(len(dataset.values))
    chance = 2 * share / (1 + np.exp(-2 * standardise(dataset.values[:, :1])[0]))
    lost = generator.random(dataset.values.shape) < chance
    lost[:, 0] = False
    return keep_finite(replace(dataset, values=np.where(lost, np.nan, dataset.values)), Place("the set"), missing=missing)


def uniform_cases(graphs: int = 20) -> Iterator[Case]:
    """Linear mechanisms with uniform noise and roots, which the paper fine-tunes to: 1,000 rows per variable."""
    for d, edges in ((10, 10), (20, 20)):
        for graph in range(graphs):
            simulation = Simulation(d, edges, observational_rows=1000 * d, noise_law="uniform")
            generator = np.random.default_rng([2026, d, edges, graph, len(MECHANISMS)])
            yield Case(f"N={d}, E={edges}", "linear", simulate_dataset(simulation, generator=generator))


def recipe_cases(path: Path, *, graphs: int | None = None) -> Iterator[Case]:
    """The sets of a recipe; of a training run's, `graphs` sets like those it draws, 100 by default, none of which it has drawn.

    Raises
    ------
    DataError
        As `read_recipe`.
    """
    for member in sorted(read_recipe(path, count=graphs or 100), key=lambda member: member.specification.variables):
        dataset = member.simulate()
        if not np.isfinite(dataset.values).all():  # training draws others again
            continue
        dataset = _drop_constant(dataset)
        d = len(dataset.names)
        if d > 1:
            sizes = member.domain.sizes if member.domain else ()
            group = next((f"N={size.smallest} to {size.largest}" for size in sizes if size.smallest <= d <= size.largest), member.name)
            yield Case(f"{group}, {'interventional' if dataset.interventional else 'observational'}", "", dataset)


def external_cases(folder: Path, *, graphs: int | None = None) -> Iterator[Case]:
    """The third-party sets below a folder, under their own interventions where they have them; of each file the first `graphs` sets, or all.

    Raises
    ------
    DataError
        If the folder is not there.
    """
    if not folder.is_dir():
        raise DataError(f"The data folder must exist; found nothing at '{folder}'. Pass --data with the folder of third-party sets.")
    named = {name: folder / file for name, file in EXTERNAL.items()}
    for path in sorted((folder / "dcdi_generator").glob("*.npz")):
        named[f"dcdi {path.stem.removesuffix('_N21')}"] = path
    for name, path in named.items():
        if path.exists():
            for dataset in read_datasets(path)[:graphs]:
                yield Case(name, "", _drop_constant(dataset))


def _drop_constant(dataset: Dataset) -> Dataset:
    kept = np.ptp(dataset.values, axis=0) > 0
    if kept.all():
        return dataset
    assert dataset.adjacency is not None
    names = tuple(name for name, keep in zip(dataset.names, kept) if keep)
    return replace(
        dataset, values=dataset.values[:, kept], names=names, targets=dataset.targets[:, kept], adjacency=dataset.adjacency[np.ix_(kept, kept)]
    )
