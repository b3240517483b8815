"""`seacausal collection` and `seacausal sortability`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.graph.sortability import score_r2_sortability, score_varsortability
from seacausal.io.npz import read_datasets
from seacausal.simulate.collection import write_collection
from seacausal.simulate.paper import Paper, list_models, simulate_model


@dataclass(frozen=True)
class Collection:
    """Write the simulated sets of the SEA paper to a folder, in its file layout: 11 GB up to 20 variables, 220 GB in all. Sets there are left."""

    recipe: tyro.conf.Positional[Literal["paper"]]
    """Which collection."""
    settings: Paper = field(default_factory=Paper)
    """Which of its sets."""
    out: Path = Path("seacausal-paper")
    """The folder."""
    workers: int = 1
    """Processes; the files are the same for any number."""


@dataclass(frozen=True)
class Sortability:
    """Say how far sorting the columns by variance or by R2 gives the causal order away: 1 is wholly, 0.5 not at all."""

    source: tyro.conf.Positional[str]
    """An .npz file of data sets with their graphs, or `paper`: observational sets of its test split."""
    sets: int = 2
    """Sets of each mechanism, graph, size and density of `paper`, at most 5."""
    largest: int = 20
    """Leave out sets of `paper` with more variables."""
    rows: int = 1000
    """Rows of sets of `paper`, for every variable."""
    half_width: float = 1.0
    """Roots of `paper` are uniform in plus or minus this."""


def run_collection(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, simulate, write."""
    options: Collection = parse(Collection, "collection", arguments)
    written, there = write_collection(options.out, options.settings, workers=options.workers, progress=_tell)
    sys.stdout.write(f"{options.out}: {written:,} causal models written, {there:,} were there\n")


def _tell(done: int, count: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{done:,} of {count:,}" + ("\n" if done == count else ""))


def run_sortability(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, measure, print a table in Markdown."""
    options: Sortability = parse(Sortability, "sortability", arguments)
    rows = measure_sortability(_paper_sets(options) if options.source == "paper" else _file_sets(Path(options.source)))
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
    if options.sets < 1:
        raise DataError(f"--sets must be at least 1; found {options.sets}.")
    paper = Paper(limit=options.sets, largest=options.largest, rows=options.rows, half_width=options.half_width)
    for model in list_models(paper):
        if model.folder.startswith("test/"):
            yield model.mechanism, simulate_model(model)[0]
