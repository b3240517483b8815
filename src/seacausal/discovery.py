"""From a table to a causal graph: the paper's sentence, sample - estimate - aggregate."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seacausal.aggregate.adapter import read_adapter
from seacausal.aggregate.encoding import GROUPS
from seacausal.aggregate.network import Network, PaperNetwork, load_weights
from seacausal.config import DiscoverConfig
from seacausal.data import Dataset, EdgeProbabilities
from seacausal.errors import CheckpointError, DataError
from seacausal.graph.knowledge import Knowledge
from seacausal.io.cells import Place, keep_finite
from seacausal.io.failure_codes import find_failure_codes
from seacausal.io.files import as_path
from seacausal.io.knowledge import read_knowledge
from seacausal.io.table import list_names, read_table
from seacausal.result import CausalGraph

if TYPE_CHECKING:
    from seacausal.io.cells import Missing
    from seacausal.io.table import OtherTargets
    from seacausal.views import Views

Progress = Callable[[str], None]
"""Called with the name of each stage as it begins."""


def discover(
    data: Any,
    *,
    interventions: str | Sequence[Any] | np.ndarray | None = None,
    control: str | Sequence[str] = (),
    other_targets: OtherTargets = "error",
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    missing: Missing = "error",
    index: int | None = None,
    names: Sequence[str] | None = None,
    knowledge: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    config: DiscoverConfig | None = None,
    network: Network | PaperNetwork | None = None,
    adapter: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> CausalGraph:
    """Find the causal graph behind a table.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, `.h5ad`, `.npz`, `.npy`), a pandas, polars or pyarrow frame, an AnnData, an (n, d) array, or a `Dataset`.
    interventions
        The column that names the variables intervened on in each row (empty for none, several split by commas or plus signs), or a sequence of n
        such entries, or an (n, d) array that is 1 where a variable was intervened on and 0 elsewhere. Of a frame the columns are those of the same
        name, and the index of a frame or series is aligned with that of `data`, if it has one.
    control
        A label, or several, that stands there for no intervention, beside nothing at all.
    other_targets
        "error" refuses interventions on what is no column, "drop" leaves their rows out.
    columns, ignore
        The columns that are variables, all by default; or those that are none.
    missing
        "error" refuses missing and infinite values, "drop" leaves their rows out, "impute" fills them in from the other columns (`io.impute`).
    index
        Which data set of an `.npz` file that holds several.
    names
        Column names, for an array.
    knowledge
        What is known beforehand, a TOML file or a mapping: `{"tiers": [["age"], ["dose", "response"]], "forbidden": [["*", "age"]], "required":
        [["dose", "response"]]}`, see `io.knowledge`. The probabilities are those given that; no edge that they leave goes against it.
    config, **options
        A `DiscoverConfig`, or its fields: `seed=1, threshold=0.7`.
    network
        Weights that are loaded already, in place of the option `weights`.
    adapter
        A file of `seacausal finetune` that changes the weights. Its algorithm and statistic are used unless others are given.
    progress
        Called with the name of each stage as it begins.

    Returns
    -------
    `CausalGraph`

    Raises
    ------
    DataError
        If the data or an option is not what the method needs; the message says which column and row, and what to do.
    CheckpointError
        If weights or adapter are damaged, of another kind, or do not belong together.
    """
    unknown = set(options) - set(DiscoverConfig.__dataclass_fields__)
    if unknown:
        known = ", ".join(DiscoverConfig.__dataclass_fields__)
        raise DataError(f"Options must be among {known}; found {', '.join(sorted(unknown))}. Check the spelling.")
    if config is not None and not isinstance(config, DiscoverConfig):
        raise DataError(f"`config` must be a DiscoverConfig; found {type(config).__name__}. Give options by name: seed=1, threshold=0.7.")
    settings = replace(config or DiscoverConfig(), **options)
    for name, value in (("network", network), ("adapter", adapter)):
        if value is not None and settings.aggregator != "base":
            raise DataError(f"`{name}` must not be given with the aggregator '{settings.aggregator}', which uses none. Leave one of them out.")
    change = read_adapter(as_path(adapter)) if adapter is not None else network.adapter if network else None
    if settings.aggregator == "base":
        if network is None:
            network = load_weights(settings.weights or "base", threads=settings.workers, adapter=change)
        elif change is not None:
            network = replace(network, adapter=change)
        if change is not None:
            network.load()  # rather than after the estimates
    begin = progress or (lambda stage: None)
    begin("read")
    started = time.perf_counter()
    told = {"interventions": interventions, "index": index, "names": names, "columns": None if columns is None else list_names("columns", columns)}
    reading = {option: value for option, value in told.items() if value is not None}
    chosen = {"control": [control] if isinstance(control, str) else control, "ignore": ignore}
    reading |= {option: given for option, value in chosen.items() if (given := list_names(option, value))}
    reading |= {"other_targets": other_targets} if other_targets != "error" else {}
    if isinstance(data, Dataset):
        if reading:
            raise DataError(f"A Dataset says what its rows and columns are; found `{next(iter(reading))}` with one. Leave it out.")
        dataset = keep_finite(data, Place("the data set"), missing=missing, seed=settings.seed)
    else:
        dataset = read_table(data, **reading, missing=missing, seed=settings.seed)
    known = None if knowledge is None else read_knowledge(knowledge, dataset.names, dataset.counters)
    seconds = {"read": time.perf_counter() - started}
    settings = _settle(settings, network, len(dataset.names))
    direct, views, spent, subsets = _infer(dataset, settings, network, begin)
    if known is not None:
        direct = known.condition(direct)
    used = dataset.targets[np.unique(dataset.regime)]
    facts = {
        "rows": len(dataset.values),
        "independent rows": views.rows,
        "repeated rows": views.copies,
        "serial": views.serial,
        "dropped rows": dataset.dropped_rows,
        "imputed cells": dataset.imputed_cells,
        "foreign targets": dict(dataset.foreign),
        "unlabelled rows": dataset.unlabelled,
        "guides": dict(dataset.guides),
        "failure codes": find_failure_codes(dataset),
        "outlying rows": list(views.outlying),
        "counters": list(dataset.counters),
        "shared": dict(dataset.shared),
        "categories": dict(dataset.categories),
        "cut targets": list(views.cut),
        "normal scores": list(views.scored),
        "variables": len(dataset.names),
        "subsets": subsets,
        "intervened rows": int(dataset.targets[dataset.regime].any(1).sum()),
        "intervened variables": [dataset.names[i] for i in np.flatnonzero(used.any(0))],
        "always targets": [dataset.names[i] for i in np.flatnonzero(used.all(0))],
        "settings": [dataset.names[i] for i in np.flatnonzero(views.settings & ~used.all(0))],
        "offset regimes": views.offset,
        "unmoved targets": list(views.unmoved),
        "knowledge": known.given if known else {},
        "reading": _recall(data, reading, missing),
    }
    hashes = network and network.sha256, change and change.sha256
    return CausalGraph(EdgeProbabilities(direct, dataset.names), settings, facts, views.degenerate, hashes[0], seconds | spent, hashes[1])


def _recall(data: Any, reading: dict[str, Any], missing: str) -> dict[str, Any]:
    """How the table was read, for the summary; one intervention for each row, and names of an array, are too much for that."""
    told = {option: value for option, value in reading.items() if isinstance(value, (str, int)) or option in ("control", "columns", "ignore")}
    file = {"file": os.path.basename(data)} if isinstance(data, (str, os.PathLike)) else {}
    return {**file, **told, "missing": missing}


def _settle(config: DiscoverConfig, network: Network | PaperNetwork | None, d: int) -> DiscoverConfig:
    """The configuration with what it leaves to adapter or network: algorithm and statistic.

    Raises
    ------
    DataError
        If there are more variables than a paper's network has embeddings.
    """
    if isinstance(network, PaperNetwork) and d > network.tables[0]:
        raise DataError(
            f"The weights '{network.path.stem}' hold embeddings of {network.tables[0]} variables at most; found {d}. Use the weights 'base', which "
            "have no such limit."
        )
    change = network and network.adapter
    known = network if isinstance(network, PaperNetwork) else change
    algorithm, statistic = (known.algorithm, known.statistic) if known else ("fci", "partial-correlation")
    try:
        return replace(config, algorithm=config.algorithm or algorithm, statistic=config.statistic or statistic)
    except DataError as error:
        raise CheckpointError(f"The adapter '{change and change.path}' must be of this version of seacausal. {error}") from None


def _infer(
    dataset: Dataset, config: DiscoverConfig, network: Network | PaperNetwork | None, begin: Progress
) -> tuple[np.ndarray, Views, dict[str, float], dict[str, int]]:
    """Sample, estimate, aggregate: (d, d) probabilities of i -> j, what they rest on, seconds by stage, and counts of subsets."""
    if isinstance(network, PaperNetwork):
        views, aggregate = _look_for_paper(dataset, config, network, begin)
    else:
        views, aggregate = _look(dataset, config, network, begin)
    counts = _count_subsets(views, config, paper=isinstance(network, PaperNetwork))
    begin("aggregate")
    started = time.perf_counter()
    d = len(dataset.names)
    direct = np.zeros((d, d))
    if views.channels or network is None:
        direct[np.ix_(views.kept, views.kept)] = aggregate(views)
    if views.settings.any():
        direct = Knowledge(np.zeros((d, d), bool), np.broadcast_to(views.settings, (d, d)), {}).condition(direct)
    return direct, views, views.seconds | {"aggregate": time.perf_counter() - started}, counts


def _look(dataset: Dataset, config: DiscoverConfig, network: Network | None, begin: Progress) -> tuple[Views, Callable[[Views], np.ndarray]]:
    """Views for the network `base` or for none, and what makes probabilities of them."""
    from seacausal.views import usual_subsets, view_dataset

    def predict(channels: dict[str, np.ndarray], rows: int) -> np.ndarray:
        assert network is not None
        scale = config.scale and len(channels["correlation"]) > 2  # the units of two columns alone say nothing of their direction
        groups = set(GROUPS) if scale else set(GROUPS) - {"variances"}
        return network.predict_table(channels, rows, groups)

    views = view_dataset(
        dataset,
        usual_subsets(len(dataset.names)) if config.subsets is None else config.subsets,
        seed=config.seed,
        rows=config.rows,
        workers=config.workers,
        algorithm=config.algorithm or "fci",
        sampler=config.sampler,
        statistic=config.statistic or "partial-correlation",
        shown=network is not None and network.adapter is not None,
        keep_outliers=config.keep_outliers,
        serial=config.serial,
        offsets=config.offsets,
        predict=predict,
        progress=begin,
    )
    return views, lambda views: _aggregate_without_network(views, config) if network is None else predict(views.channels, views.rows)


def _look_for_paper(dataset: Dataset, config: DiscoverConfig, network: PaperNetwork, begin: Progress) -> tuple[Views, Callable[[Views], np.ndarray]]:
    """The same for the paper's network.

    Raises
    ------
    DataError
        If fewer than five columns vary, or there are to be no subsets.
    """
    from seacausal.views import SUBSET_SIZE, view_marginals

    def predict(statistic: np.ndarray, variables: np.ndarray, marks: np.ndarray) -> np.ndarray:
        return network.predict(statistic, variables, marks, seed=config.seed)

    def aggregate(views: Views) -> np.ndarray:
        assert views.local is not None
        return predict(views.channels[network.statistic], views.local[0], views.local[1].marks)

    views = view_marginals(
        dataset,
        min(100 if len(dataset.names) <= 100 else 500, network.tables[1]) if config.subsets is None else config.subsets,
        algorithm=config.algorithm or network.algorithm,
        statistic=network.statistic,
        guide=config.statistic,
        scale=config.scale,
        seed=config.seed,
        rows=config.rows,
        workers=config.workers,
        sampler=config.sampler,
        predict=predict,
        progress=begin,
    )
    if views.local is None:
        raise DataError(
            f"The weights '{network.path.stem}' need subsets of {SUBSET_SIZE} columns that vary; found {int(views.kept.sum())} such columns and "
            f"`subsets` = {config.subsets}. Use the weights 'base'."
        )
    return views, aggregate


def _count_subsets(views: Views, config: DiscoverConfig, *, paper: bool) -> dict[str, int]:
    """How many subsets were drawn, and how many left nothing to an algorithm that does not use interventions.

    Raises
    ------
    DataError
        If the answer would rest on such an algorithm alone, and most subsets left it nothing.
    """
    if views.local is None:
        return {"drawn": 0, "without free rows": 0}
    from seacausal.estimate.gather import FEWEST_FREE

    free = views.local[1].free_rows
    short = int((free < FEWEST_FREE).sum())
    algorithm = config.algorithm or "fci"
    alone = config.aggregator == "resolve" or paper
    if 2 * short > len(free) and (alone or algorithm != "fci") and not _uses_interventions(algorithm):
        raise DataError(
            f"The algorithm '{algorithm}' needs {FEWEST_FREE} rows without an intervention on a subset's variables; found fewer in {short} of "
            f"{len(free)} subsets. Choose 'gies' or 'exact', which use interventions."
        )
    return {"drawn": len(free), "without free rows": short}


def _uses_interventions(algorithm: str) -> bool:
    from seacausal.estimate.algorithms import find_algorithm

    return find_algorithm(algorithm).interventions


def _aggregate_without_network(views: Views, config: DiscoverConfig) -> np.ndarray:
    """Probabilities of i -> j over the columns that vary; the exact posterior has a vote beside FCI alone."""
    from seacausal.aggregate.resolve import resolve
    from seacausal.aggregate.vote import vote
    from seacausal.graph.equivalence import to_probabilities

    d = int(views.kept.sum())
    if views.local is None:
        raise DataError(f"The aggregator '{config.aggregator}' needs subsets of five columns that vary; found {d}. Use 'base'.")
    variables, estimates = views.local
    if config.aggregator == "vote":
        return vote(variables, d, marks=estimates.marks, direct=estimates.direct if config.algorithm == "fci" else None)
    return to_probabilities(resolve(variables, d, estimates.marks))
