"""What causes what in this table? A table goes in, a causal graph with calibrated probabilities comes out.

>>> import seacausal
>>> graph = seacausal.discover("table.csv")  # doctest: +SKIP
>>> graph.edges(0.5)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seacausal.config import DiscoverConfig
    from seacausal.data import Dataset, EdgeProbabilities
    from seacausal.discovery import discover
    from seacausal.errors import CheckpointError, DataError, SeaError
    from seacausal.io.table import read_table
    from seacausal.result import CausalGraph
    from seacausal.simulate.dataset import Simulation, simulate_dataset

_HOME = {
    "CausalGraph": "result",
    "CheckpointError": "errors",
    "DataError": "errors",
    "Dataset": "data",
    "DiscoverConfig": "config",
    "EdgeProbabilities": "data",
    "SeaError": "errors",
    "Simulation": "simulate.dataset",
    "discover": "discovery",
    "read_table": "io.table",
    "simulate_dataset": "simulate.dataset",
}
"""Where each public name lives; modules load when a name is first used."""

__all__ = [
    "CausalGraph",
    "CheckpointError",
    "DataError",
    "Dataset",
    "DiscoverConfig",
    "EdgeProbabilities",
    "SeaError",
    "Simulation",
    "discover",
    "read_table",
    "simulate_dataset",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("seacausal")
    if name not in _HOME:
        raise AttributeError(f"module 'seacausal' has no attribute {name!r}")
    value = getattr(import_module(f"seacausal.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
