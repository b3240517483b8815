"""`seacausal bench`: prints tables in Markdown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from seacausal.bench.accuracy import Scores, measure
from seacausal.bench.adapted import measure_adapter
from seacausal.bench.baselines import BASELINES
from seacausal.bench.suites import MECHANISMS, external_cases, simulated_cases
from seacausal.errors import DataError


@dataclass(frozen=True)
class Bench:
    """Measure accuracy or speed and print the table in Markdown."""

    suite: tyro.conf.Positional[Literal["simulated", "interventional", "large", "external", "speed", "estimators", "uniform"]]
    """What to measure."""
    standardised: bool = False
    """Bring every column to mean 0 and variance 1 first."""
    roots: Literal["uniform", "gaussian"] = "uniform"
    """Law of the roots of simulated sets."""
    graphs: int | None = None
    """Graphs a cell; 20 by default, 5 at N=100, 2 for `large`."""
    largest: int = 100
    """Leave out cells with more variables."""
    data: Path = Path("../shared/data")
    """Folder of third-party sets, for `external`."""
    adapter: Path | None = None
    """The adapter to judge, for `uniform`."""
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
        _print_adapter(measure_adapter(options.adapter, graphs=options.graphs or 20, progress=_tell))
    elif options.suite == "external":
        _print_external(measure(external_cases(options.data), standardised=options.standardised, progress=_tell))
    else:
        suite = {"interventional": options.suite == "interventional", "large": options.suite == "large"}
        cases = simulated_cases(roots=options.roots, graphs=options.graphs, largest=options.largest, **suite)
        _print_cells(measure(cases, standardised=options.standardised, progress=_tell))


def _tell(case: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{case}")


def _print(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def _print_cells(cells: dict[tuple[str, str], Scores]) -> None:
    groups = list(dict.fromkeys(group for group, _ in cells))
    for title, method, metric in (
        ("mAP", "seacausal", "mAP"),
        ("SHD at 0.5", "seacausal", "SHD"),
        ("expected calibration error", "seacausal", "ECE"),
        ("share of acyclic graphs at 0.5", "seacausal", "acyclic"),
        ("mAP of VarSort", "VarSort", "mAP"),
        ("mAP of R2-sort", "R2-sort", "mAP"),
        ("mAP of the local estimates' vote", "vote", "mAP"),
        ("mAP of Algorithm 1", "resolve", "mAP"),
    ):
        _print("", f"| {title} | " + " | ".join(MECHANISMS) + " |", "|---" * (len(MECHANISMS) + 1) + "|")
        form = ".1f" if metric == "SHD" else ".3f"
        for group in groups:
            _print(f"| {group} | " + " | ".join(format(cells[group, m].mean(method, metric), form) for m in MECHANISMS) + " |")


def _print_external(cells: dict[tuple[str, str], Scores]) -> None:
    methods = tuple(BASELINES)
    _print("| set | mAP | AUC | SHD | ECE | " + " | ".join(methods) + " |", "|---" * (5 + len(methods)) + "|")
    for (group, _), scores in cells.items():
        ours = [format(scores.mean("seacausal", m), ".1f" if m == "SHD" else ".3f") for m in ("mAP", "AUC", "SHD", "ECE")]
        others = [format(scores.mean(m), ".3f").replace("nan", "") for m in methods]
        _print(f"| {group} | " + " | ".join(ours + others) + " |")


def _print_adapter(cells: dict[tuple[str, str], Scores]) -> None:
    for metric, form in (("mAP", ".3f"), ("SHD", ".1f")):
        _print("", f"| {metric} | " + " | ".join(f"{group} {kind}" for group, kind in cells) + " |", "|---" * (1 + len(cells)) + "|")
        for method in dict.fromkeys(method for scores in cells.values() for method, _ in scores.values):
            _print(f"| {method} | " + " | ".join(format(scores.mean(method, metric), form) for scores in cells.values()) + " |")


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
