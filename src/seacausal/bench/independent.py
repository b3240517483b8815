"""What does a network say of columns that have nothing to do with one another? Each pair that it joins is wrong, and so is what it expects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.aggregate.network import Network, PaperNetwork
from seacausal.data import Dataset
from seacausal.discovery import discover

SIZES = ((5, 100), (5, 1000), (5, 10_000), (20, 100), (20, 1000), (20, 10_000), (100, 1000))
"""Variables and rows."""
LAWS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "Gaussian": lambda generator, n, d: generator.normal(size=(n, d)),
    "uniform": lambda generator, n, d: generator.random((n, d)),
    "log-normal": lambda generator, n, d: np.exp(generator.normal(size=(n, d))),
    "half binary": lambda generator, n, d: np.where(np.arange(d) < d // 2, generator.normal(size=(n, d)) > 0.5, generator.normal(size=(n, d))),
}
"""Columns, (n, d), by name."""


def measure_independent(
    network: Network | PaperNetwork, *, tables: int = 10, progress: Callable[[str], None] | None = None
) -> dict[tuple[str, str], tuple[float, float]]:
    """Means over tables, by (size, law): pairs joined with a probability above one half, and the sum of all edge probabilities."""
    found = {}
    for d, n in SIZES:
        for name, law in LAWS.items():
            if progress:
                progress(f"N={d}, {n} rows, {name}")
            sums = []
            for table in range(tables):
                values = law(np.random.default_rng([2028, d, n, table]), n, d)
                direct = discover(Dataset.observational(values), network=network).probabilities
                joined = (direct + direct.T)[np.triu_indices(d, 1)]
                sums.append((np.sum(joined > 0.5), joined.sum()))
            found[f"N={d}, {n:,} rows", name] = tuple(np.mean(sums, axis=0).tolist())
    return found
