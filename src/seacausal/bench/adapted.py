"""What an adapter gives on linear data with uniform noise: released weights, the same told of another algorithm and statistic, and adapted.

All channels leave little to gain there, for the released network knows the entropy of residuals. So a third column withholds all but correlations and
local estimates, which is about what the paper's network is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from seacausal.aggregate.adapter import read_adapter
from seacausal.aggregate.encoding import GROUPS
from seacausal.aggregate.network import Network, PaperNetwork
from seacausal.bench.accuracy import Scores, judge, standardise_columns
from seacausal.bench.suites import uniform_cases
from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.io.tensors import read_tensors
from seacausal.views import usual_subsets, view_dataset

ALL = frozenset(GROUPS)
FEW = frozenset({"correlation", "estimates"})


def measure_adapter(
    path: Path, network: Network | PaperNetwork, *, graphs: int = 20, progress: Callable[[str], None] | None = None
) -> dict[tuple[str, str], Scores]:
    """Scores of the three networks as methods; cells by size and "raw", "standardised" or, for `base`, "few channels".

    Raises
    ------
    CheckpointError
        If the file is no adapter of the network.
    """
    adapter = read_adapter(path)
    unchanged = replace(adapter, tensors=read_tensors(network.tensors)[0])
    told = f"{adapter.algorithm} + {adapter.statistic}"
    networks: dict[str, Network | PaperNetwork] = {
        "as released": network,
        f"{told}, not adapted": replace(network, adapter=unchanged),
        f"{told}, adapted": replace(network, adapter=adapter),
    }
    cells: dict[tuple[str, str], Scores] = {}
    for case in uniform_cases(graphs):
        if progress:
            progress(f"{case.group}")
        assert case.dataset.adjacency is not None
        scaled = standardise_columns(case.dataset)
        kinds = [("raw", case.dataset, ALL), ("standardised", scaled, ALL)]
        for kind, dataset, groups in kinds if isinstance(network, PaperNetwork) else [*kinds, ("few channels", scaled, FEW)]:
            scores = cells.setdefault((case.group, kind), Scores())
            for method, one in networks.items():
                for metric, value in judge(case.dataset.adjacency, _predict(dataset, one, groups)).items():
                    scores.add(method, metric, value)
    return cells


def _predict(dataset: Dataset, network: Network | PaperNetwork, groups: frozenset[str]) -> np.ndarray:
    """(d, d) probabilities of i -> j, as `discover` finds them with these groups of channels."""
    if isinstance(network, PaperNetwork):
        return discover(dataset, network=network).probabilities
    adapter = network.adapter
    told = {} if adapter is None else {"algorithm": adapter.algorithm, "statistic": adapter.statistic, "shown": True}
    views = view_dataset(dataset, usual_subsets(len(dataset.names)), **told)
    return network.predict_table(views.channels, views.rows, set(groups))
