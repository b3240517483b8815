"""`seacausal bench`: prints tables in Markdown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from seacausal.aggregate.network import Network, PaperNetwork, load_weights
from seacausal.bench.accuracy import Scores, measure
from seacausal.bench.adapted import measure_adapter
from seacausal.bench.baselines import BASELINES, WITHOUT_NETWORK
from seacausal.bench.everyday import everyday_cases
from seacausal.bench.peers import PeerRuns
from seacausal.bench.published import PUBLISHED
from seacausal.bench.suites import MECHANISMS, PEER_CELLS, PEER_MECHANISMS, external_cases, measured_cases, recipe_cases, simulated_cases
from seacausal.config import DiscoverConfig
from seacausal.errors import DataError

Cells = dict[tuple[str, str], Scores]
Suite = Literal[
    "simulated",
    "interventional",
    "large",
    "measured",
    "everyday",
    "independent",
    "external",
    "recipe",
    "peers",
    "identifiability",
    "uniform",
    "speed",
    "estimators",
]


@dataclass(frozen=True)
class Bench:
    """Measure accuracy or speed and print the table in Markdown."""

    suite: tyro.conf.Positional[Suite]
    """What to measure. "peers": beside other people's methods, on standardised data with Gaussian roots. "identifiability": on linear Gaussian data,
    beside what the equivalence class can say. "measured": the same sets as instruments of all kinds show them. "everyday": small tables of yes and
    no, classes, counts or kinds beside Gaussian columns. "independent": columns that have nothing to do with one another. "recipe": on the sets of a
    recipe, or sets like those of a training run. "uniform": an adapter on linear data with uniform noise."""
    standardised: bool = False
    """Bring every column to mean 0 and variance 1 first."""
    roots: Literal["uniform", "gaussian", "any"] = "uniform"
    """Law of the roots of simulated sets; with any each root has its own, some of few values."""
    graphs: int | None = None
    """Graphs a cell; 20 by default, 5 at N=100, 2 for `large`, 10 for `measured`, `everyday` and `independent`; for `peers` 5, and 2 at N=100;
    for `external` sets of a file, all by default; for the `recipe` of a training run how many sets in all, 100 by default."""
    smallest: int = 0
    """Leave out cells with fewer variables."""
    largest: int = 100
    """Leave out cells with more variables."""
    data: Path = Path("../shared/data")
    """Folder of third-party sets, for `external`."""
    recipe: Path = Path("recipes/base.toml")
    """The recipe, for `recipe`."""
    adapter: Path | None = None
    """The adapter to judge, for `uniform`."""
    peers: bool = False
    """Run other people's methods, too, for `external`."""
    limit: float = 120.0
    """Seconds that one of these may take for a data set."""
    weights: str = "base"
    """The network to judge: a name of released weights, or an .onnx file."""
    repeats: int = 3
    """Runs of each command, for `speed`."""


def run_bench(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, measure, print."""
    options: Bench = parse(Bench, "bench", arguments)
    if options.suite == "speed":
        _print_speed(options.repeats)
    elif options.suite == "estimators":
        _print_rates()
    elif options.suite == "uniform":
        if options.adapter is None:
            raise DataError("The suite 'uniform' judges an adapter; found none. Pass --adapter with the file of a `seacausal finetune`.")
        _print_adapter(measure_adapter(options.adapter, _load(options.weights), graphs=options.graphs or 20, progress=_tell))
    elif options.suite == "independent":
        from seacausal.bench.independent import measure_independent

        _print_independent(measure_independent(_load(options.weights), tables=options.graphs or 10, progress=_tell))
    elif options.suite == "identifiability":
        from seacausal.bench.identifiability import measure_identifiability

        network = _load(options.weights)
        if isinstance(network, PaperNetwork):
            raise DataError(f"The suite 'identifiability' switches groups of channels off, which '{options.weights}' has none of. Use 'base'.")
        _print_identifiability(measure_identifiability(network, graphs=options.graphs or 20, progress=_tell))
    else:
        _run_accuracy(options)


def _run_accuracy(options: Bench) -> None:
    network, suite = _load(options.weights), options.suite
    peers = PeerRuns(options.limit) if suite == "peers" or (suite == "external" and options.peers) else None
    drawn = {"graphs": options.graphs, "smallest": options.smallest, "largest": options.largest}
    shared = {"network": network, "peers": peers, "progress": _tell}
    if suite in ("external", "recipe"):
        cases = external_cases(options.data, graphs=options.graphs) if suite == "external" else recipe_cases(options.recipe, graphs=options.graphs)
        _print_sets(measure(cases, standardised=options.standardised, **shared), peers)
    elif suite == "measured":
        _print_grid(measure(measured_cases(graphs=options.graphs), standardised=options.standardised, **shared))
    elif suite == "everyday":
        cells = measure(everyday_cases(graphs=options.graphs), standardised=options.standardised, **shared)
        _print_grid(cells)
        _print("")
        _print_grid(cells, "log-loss")
    elif suite == "peers":
        cases = simulated_cases(roots="gaussian", cells=PEER_CELLS, mechanisms=PEER_MECHANISMS, **drawn)
        _print_peers(measure(cases, standardised=True, **shared))
    else:
        interventional = suite == "interventional"
        cases = simulated_cases(roots=options.roots, interventional=interventional, large=suite == "large", **drawn)
        cells = measure(cases, standardised=options.standardised, **shared)
        as_published = not options.standardised and options.roots == "uniform"
        _print_cells(cells, ("SEA (GIES)" if interventional else "SEA (FCI)") if as_published else None)
    if peers:
        _print("", *peers.notes)


def _load(weights: str) -> Network | PaperNetwork:
    """Now, not after minutes of simulation."""
    network = load_weights(weights, threads=DiscoverConfig().workers)
    network.load()
    return network


def _tell(case: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{case}")


def _print(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def _print_cells(cells: Cells, published: str | None) -> None:
    """`published` is the method of the paper whose figures stand in brackets, where there are any for the cell."""
    groups = list(dict.fromkeys(group for group, _ in cells))
    for title, method, metric in (
        ("mAP", "seacausal", "mAP"),
        ("skeleton mAP", "seacausal", "skeleton mAP"),
        ("orientation accuracy", "seacausal", "OA"),
        ("SHD at 0.5", "seacausal", "SHD"),
        ("SHD of CPDAGs", "seacausal", "CPDAG-SHD"),
        ("expected calibration error", "seacausal", "ECE"),
        ("share of acyclic graphs at 0.5", "seacausal", "acyclic"),
        ("mAP of VarSort", "VarSort", "mAP"),
        ("mAP of R2-sort", "R2-sort", "mAP"),
        ("mAP of the local estimates' vote", "vote", "mAP"),
        ("mAP of Algorithm 1", "resolve", "mAP"),
    ):
        beside = PUBLISHED.get((published or "", metric), {}) if method == "seacausal" else {}
        beside = {group: beside[group] for group in groups if group in beside}
        title = f"{title} ({published} as published)" if beside else title
        _print("", f"| {title} | " + " | ".join(MECHANISMS) + " |", "|---" * (len(MECHANISMS) + 1) + "|")
        for group in groups:
            values = [_format(cells[group, m].mean(method, metric), metric) for m in MECHANISMS]
            brackets = [f" ({beside[group][m]:g})" if m in beside.get(group, ()) else "" for m in MECHANISMS]
            _print(f"| {group} | " + " | ".join(map("".join, zip(values, brackets))) + " |")


def _print_grid(cells: Cells, metric: str = "mAP") -> None:
    groups, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    _print(f"| {metric} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|")
    for group in groups:
        _print(f"| {group} | " + " | ".join(_format(cells[group, column].mean("seacausal", metric), metric) for column in columns) + " |")


def _print_peers(cells: Cells) -> None:
    columns = [(metric, mechanism) for metric in ("CPDAG-SHD", "mAP") for mechanism in PEER_MECHANISMS]
    for group in dict.fromkeys(group for group, _ in cells):
        _print("", f"| {group} | " + " | ".join(map(" ".join, columns)) + " | seconds |", "|---" * (len(columns) + 2) + "|")
        for method in _methods(cells[group, m] for m in PEER_MECHANISMS):
            row = [_format(cells[group, mechanism].mean(method, metric), metric) for metric, mechanism in columns]
            seconds = [cells[group, m].mean(method, "seconds") for m in PEER_MECHANISMS]
            seconds = [value for value in seconds if not np.isnan(value)]
            _print(f"| {method} | " + " | ".join([*row, f"{np.mean(seconds):.2f}" if seconds else ""]) + " |")


def _print_sets(cells: Cells, peers: PeerRuns | None) -> None:
    methods = _methods(cells.values())[1:] if peers else list(BASELINES)
    best = ["best peer"] if peers else []
    titles = ["set", "mAP", "AUC", "SHD", "ECE", *best, *methods, "sets"]
    _print("| " + " | ".join(titles) + " |", "|---" * len(titles) + "|")
    for (group, _), scores in cells.items():
        ours = [_format(scores.mean("seacausal", metric), metric) for metric in ("mAP", "AUC", "SHD", "ECE")]
        others = {method: scores.mean(method) for method in methods}
        if peers:
            name = max((method for method in methods if method not in WITHOUT_NETWORK), key=lambda method: np.nan_to_num(others[method], nan=-1.0))
            ours.append(f"{_format(others[name], 'mAP')} {name}")
        count = str(len(scores.values["seacausal", "mAP"]))
        _print(f"| {group} | " + " | ".join([*ours, *(_format(value, "mAP") for value in others.values()), count]) + " |")


def _print_independent(found: dict[tuple[str, str], tuple[float, float]]) -> None:
    sizes, laws = (list(dict.fromkeys(key[axis] for key in found)) for axis in (0, 1))
    _print("| joined pairs (expected edges) | " + " | ".join(laws) + " |", "|---" * (len(laws) + 1) + "|")
    for size in sizes:
        _print(f"| {size} | " + " | ".join("{:.1f} ({:.1f})".format(*found[size, law]) for law in laws) + " |")


def _print_identifiability(scores: Scores) -> None:
    metrics = ("mAP", "AUC", "SHD", "OA")
    _print("| | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 1) + "|")
    for method in _methods([scores]):
        found = [scores.values[method, metric] for metric in metrics]
        _print(f"| {method} | " + " | ".join(f"{np.mean(values):.2f} ± {np.std(values):.2f}" for values in found) + " |")
    sizes = scores.values["mean metric over the class", "members"]
    _print("", f"Members of the class: {min(sizes):.0f} to {max(sizes):.0f}, {np.mean(sizes):.1f} on average.")


def _methods(cells: Iterable[Scores]) -> list[str]:
    """Who was measured, in the order of the first."""
    return list(dict.fromkeys(method for scores in cells for method, _ in scores.values))


def _format(value: float, metric: str) -> str:
    return "" if np.isnan(value) else format(value, ".1f" if metric.endswith("SHD") else ".3f")


def _print_adapter(cells: Cells) -> None:
    for metric in ("mAP", "SHD"):
        _print("", f"| {metric} | " + " | ".join(f"{group} {kind}" for group, kind in cells) + " |", "|---" * (1 + len(cells)) + "|")
        for method in _methods(cells.values()):
            _print(f"| {method} | " + " | ".join(_format(scores.mean(method, metric), metric) for scores in cells.values()) + " |")


def _print_rates() -> None:
    from seacausal.bench.estimators import measure_algorithms, measure_rest

    _print("| sample and estimate, one core | subsets a second | reference / ours |", "|---|---|---|")
    for variables in (20, 100):
        for rate in measure_algorithms(variables):
            _print(f"| {rate.what} | {1 / rate.ours:,.0f} | {'' if rate.reference is None else f'{rate.reference / rate.ours:,.0f}'} |")
    _print("", "| | seconds | reference / ours |", "|---|---|---|")
    for rate in measure_rest():
        _print(f"| {rate.what} | {rate.ours:.4f} | {'' if rate.reference is None else f'{rate.reference / rate.ours:,.1f}'} |")


def _print_speed(repeats: int) -> None:
    from seacausal.bench.speed import measure_cold, measure_speed

    _print("| command | seconds | peak MB |", "|---|---|---|")
    for what, seconds, memory in measure_speed(repeats=repeats):
        _print(f"| {what} | {seconds:.2f} | {memory:.0f} |")
    _print(f"| first run ever, kernels compiled | {measure_cold():.1f} | |")
