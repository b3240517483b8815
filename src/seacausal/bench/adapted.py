"""What an adapter gives on linear data with uniform noise: released weights, the same told of another algorithm and statistic, and adapted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from seacausal.aggregate.adapter import read_adapter
from seacausal.aggregate.network import Network, released
from seacausal.bench.accuracy import Scores, judge, standardise_dataset
from seacausal.bench.suites import uniform_cases
from seacausal.discovery import discover
from seacausal.io.tensors import read_tensors


def measure_adapter(path: Path, *, graphs: int = 20, progress: Callable[[str], None] | None = None) -> dict[tuple[str, str], Scores]:
    """Scores of the three networks as methods; cells by size and "raw" or "standardised".

    Raises
    ------
    CheckpointError
        If the file is no adapter of the released weights.
    """
    network, adapter = released(), read_adapter(path)
    unchanged = replace(adapter, tensors=read_tensors(network.path.with_suffix(".safetensors"))[0])
    told = f"{adapter.algorithm} + {adapter.statistic}"
    networks: dict[str, Network] = {
        "as released": network,
        f"{told}, not adapted": replace(network, adapter=unchanged),
        f"{told}, adapted": replace(network, adapter=adapter),
    }
    cells: dict[tuple[str, str], Scores] = {}
    for case in uniform_cases(graphs):
        if progress:
            progress(f"{case.group}")
        assert case.dataset.adjacency is not None
        for units, dataset in (("raw", case.dataset), ("standardised", standardise_dataset(case.dataset))):
            scores = cells.setdefault((case.group, units), Scores())
            for method, one in networks.items():
                for metric, value in judge(case.dataset.adjacency, discover(dataset, network=one).probabilities).items():
                    scores.add(method, metric, value)
    return cells
