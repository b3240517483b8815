"""`seacausal simulate` and `seacausal sortability`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.graph.sortability import score_r2_sortability, score_varsortability
from seacausal.io.npz import read_datasets, write_dataset
from seacausal.simulate.collection import Member, write_collection
from seacausal.simulate.dataset import CHOICES, Simulation
from seacausal.simulate.expression import Expression
from seacausal.simulate.paper import Paper, list_models, simulate_model
from seacausal.simulate.paper import settle as settle_paper
from seacausal.simulate.recipe import read_recipe, settle, simulate
from seacausal.simulate.technical import Technical


@dataclass(frozen=True)
class Simulate:
    """Simulate one data set with its true graph.

    With --expression: expression levels of single cells; and --technical: as they are measured. With --recipe: many data sets, or the SEA paper's.
    Each has options of its own, which --help lists beside it.
    """

    file: tyro.conf.Positional[Path]
    """Where to write it: .npz with X, names, A (A[i, j] = 1 means i -> j), regime and mask."""
    settings: Simulation = field(default_factory=Simulation)
    """What to simulate."""
    seed: int = 0
    """Seed of graph, mechanisms and rows."""
    show: Path | None = None
    """Where to draw the graph beside some variables against their parents: a .png file."""


@dataclass(frozen=True)
class SimulateLevels(Simulate):
    """Simulate (--expression) the steady-state expression of single cells, by SERGIO's kinetics, with its true graph.

    --technical adds what a measurement makes of it.
    """

    settings: tyro.conf.AvoidSubcommands[Expression] = field(default_factory=Expression)  # type: ignore[assignment]
    """What to simulate."""


@dataclass(frozen=True)
class SimulateCells(SimulateLevels):
    """Simulate (--expression --technical) single cells as they are measured: expression by SERGIO's kinetics, with technical noise."""

    settings: tyro.conf.AvoidSubcommands[Expression] = field(default_factory=lambda: Expression(technical=Technical()))  # type: ignore[assignment]
    """What to simulate."""


def _tell_choices(*options: str) -> str:
    """A line for each option: the names that it takes."""
    return "\n" + "".join(f"\n    --{option.replace('_', '-')}: {', '.join(CHOICES[option])}." for option in options)


Simulate.__doc__ = f"{(Simulate.__doc__ or '').rstrip()}{_tell_choices(*CHOICES)}"
for _kind in (SimulateLevels, SimulateCells):
    _kind.__doc__ = f"{(_kind.__doc__ or '').rstrip()}{_tell_choices('graph')}"


@dataclass(frozen=True)
class SimulateRecipe:
    """Simulate all data sets of a recipe that are not in the folder yet, each into an .npz file of its own. The recipe called `paper` is built in."""

    recipe: Path
    """TOML file: a data set's options, `name` and `count`, under [[sets]] for several; kind = "expression" for single cells. Or a training run's."""
    out: Path
    """The folder."""
    count: int = 100
    """Data sets, where the recipe is that of a training run."""
    workers: int = 1
    """Processes; the files are the same for any number."""


@dataclass(frozen=True)
class SimulatePaper:
    """Simulate the SEA paper's sets that are not in the folder yet, in its file layout: 11 GB up to 20 variables, 220 GB in all."""

    recipe: Literal["paper"]
    """The built-in recipe."""
    out: Path
    """The folder."""
    settings: Paper = field(default_factory=Paper)
    """Which of its sets."""
    workers: int = 1
    """Processes; the files are the same for any number."""


@dataclass(frozen=True)
class Sortability:
    """Say how far sorting the columns by variance or by R2 gives the causal order away: 1 is wholly, 0.5 not at all."""

    source: tyro.conf.Positional[str]
    """An .npz file of data sets with their graphs, a recipe (.toml), or `paper`: observational sets of its test split."""
    sets: int = 2
    """Sets of each name of a recipe, and of each mechanism, graph, size and density of `paper`, which has 5."""
    largest: int = 20
    """Leave out sets of `paper` with more variables."""
    rows: int = 1000
    """Rows of sets of `paper`, for every variable."""
    half_width: float = 1.0
    """Roots of `paper` are uniform in plus or minus this."""


def run_simulate(arguments: list[str], parse: Callable[..., Any], draw: Callable[[Dataset, Path], None]) -> None:
    """Parse, simulate, write; `draw` writes the picture of a data set."""
    recipe = next((after for before, after in zip(arguments, [*arguments[1:], ""]) if before == "--recipe"), None)
    recipe = next((one.removeprefix("--recipe=") for one in arguments if one.startswith("--recipe=")), recipe)
    if recipe == "paper":
        options: SimulatePaper = parse(SimulatePaper, "simulate", arguments)
        _write_members(options.out, list_models(options.settings), settle_paper(options.settings), options.workers)
    elif recipe is not None:
        chosen: SimulateRecipe = parse(SimulateRecipe, "simulate", arguments)
        members = read_recipe(chosen.recipe, count=chosen.count)
        _write_members(chosen.out, members, settle(members), chosen.workers)
    else:
        flags = {"--expression", "--technical"} & set(arguments)
        if flags == {"--technical"}:
            raise DataError("--technical must stand beside --expression; found it alone. Add --expression, or choose a --measurement.")
        kind = (Simulate, SimulateLevels, SimulateCells)[len(flags)]
        _write_one(parse(kind, "simulate", [one for one in arguments if one not in flags]), draw)


def _write_one(options: Simulate, draw: Callable[[Dataset, Path], None]) -> None:
    if options.file.suffix != ".npz":
        raise DataError(f"The file must end in .npz; found '{options.file}'. Rename it.")
    if options.show is not None and options.show.suffix != ".png":
        raise DataError(f"The picture (--show) must end in .png; found '{options.show}'. Rename it.")
    dataset = simulate(options.settings, generator=np.random.default_rng(options.seed))
    write_dataset(options.file, dataset)
    if options.show is not None:
        draw(dataset, options.show)
    assert dataset.adjacency is not None
    sys.stdout.write(f"{options.file}: {len(dataset.values):,} rows, {len(dataset.names)} variables, {int(dataset.adjacency.sum())} edges\n")


def _write_members(folder: Path, members: Sequence[Member], settings: Mapping[str, Any], workers: int) -> None:
    written, there = write_collection(folder, members, settings, workers=workers, progress=_tell)
    what = "causal models" if settings["recipe"] == "paper" else "data sets"
    sys.stdout.write(f"{folder}: {written:,} {what} written, {there:,} were there\n")


def _tell(done: int, count: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{done:,} of {count:,}" + ("\n" if done == count else ""))


def run_sortability(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, measure, print a table in Markdown."""
    options: Sortability = parse(Sortability, "sortability", arguments)
    if options.sets < 1:
        raise DataError(f"--sets must be at least 1; found {options.sets}.")
    if options.source == "paper":
        sets = _paper_sets(options)
    elif options.source.endswith(".toml"):
        sets = ((member.name, member.simulate()) for member in read_recipe(options.source, count=options.sets) if member.number <= options.sets)
    else:
        sets = _file_sets(Path(options.source))
    rows = measure_sortability(sets)
    lines = ["| | sets | varsortability | standardised | R2-sortability | standardised |", "|---|---|---|---|---|---|"]
    lines += [f"| {name} | {count} | " + " | ".join(f"{value:.3f}" for value in means) + " |" for name, (count, means) in rows.items()]
    sys.stdout.write("\n".join(lines) + "\n")


def measure_sortability(sets: Iterable[tuple[str, Dataset]]) -> dict[str, tuple[int, np.ndarray]]:
    """For each name how many sets with an edge it has, and their mean varsortability and R2-sortability, each raw and standardised.

    Raises
    ------
    DataError
        If no set of a name has an edge.
    """
    found: dict[str, list[list[float]]] = {}
    for name, dataset in sets:
        assert dataset.adjacency is not None
        raw = np.asarray(dataset.values, np.float64)
        spread = raw.std(axis=0)
        standardised = (raw - raw.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        scores = [score(values, dataset.adjacency) for score in (score_varsortability, score_r2_sortability) for values in (raw, standardised)]
        found.setdefault(name, []).extend([] if np.isnan(scores).any() else [scores])
    empty = [name for name, scores in found.items() if not scores]
    if empty:
        raise DataError(f"Sortability needs a graph with an edge; found none in {', '.join(empty)}. Give data sets with a true graph.")
    return {name: (len(scores), np.mean(scores, axis=0)) for name, scores in found.items()}


def _file_sets(path: Path) -> Iterable[tuple[str, Dataset]]:
    datasets = read_datasets(path)
    if any(dataset.adjacency is None for dataset in datasets):
        raise DataError(f"{path.name} must hold the true graph, an array called 'A'; found none. Add it.")
    return [(path.name, dataset) for dataset in datasets]


def _paper_sets(options: Sortability) -> Iterable[tuple[str, Dataset]]:
    paper = Paper(limit=options.sets, largest=options.largest, rows=options.rows, half_width=options.half_width)
    for model in list_models(paper):
        if model.folder.startswith("test/"):
            yield model.mechanism, simulate_model(model)[0]
