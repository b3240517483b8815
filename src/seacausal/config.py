"""How a graph is found: the options of `discover`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Optional, get_args

import numpy as np

from seacausal.errors import DataError

Aggregator = Literal["base", "resolve", "vote"]
AlgorithmName = Literal["fci", "fci-full", "fci-complete", "fci-kci", "pc", "ges", "ges-2", "gies", "boss", "exact", "lingam"]
StatisticName = Literal["partial-correlation", "correlation", "inverse-covariance", "spearman", "nonparanormal", "distance-correlation"]
SamplerName = Literal["mixture", "random", "statistic", "uncertainty", "program"]


@dataclass(frozen=True)
class DiscoverConfig:
    """How a graph is found. Every field is also a flag of `seacausal discover` and a key of its `--config` file."""

    seed: int = 0
    """Seed of subsets, rows and what is imputed."""
    threshold: float = 0.5
    """An edge is drawn, listed and saved where its probability exceeds this."""
    subsets: Optional[int] = None  # noqa: UP045 - tyro checks `int | None` through typeguard, whose import takes 0.05 s
    """How many subsets of five variables get local estimates; by default five for each variable, at least 100. 0 leaves them out."""
    rows: int = 500
    """Rows per subset."""
    scale: bool = True
    """Whether the variances of the columns may be used, if there are more than two. Switch off where units are arbitrary."""
    keep_outliers: bool = False
    """Whether the network "base" and the votes are also given rows that lie far off in many columns at once and fit no relation between these."""
    serial: bool = True
    """Whether for the network "base" and the votes the rows count for fewer where each resembles the one before, as in time series."""
    offsets: bool = True
    """Whether for the network "base" and the votes rows are compared within interventions where all columns differ between these, as in batches."""
    workers: int = 2
    """Threads of the local estimates and of the network; the result does not depend on it."""
    aggregator: Aggregator = "base"
    """What makes one graph of the local estimates: the network "base", or without one "vote", the mean vote of all subsets that hold a pair, or
    "resolve", the paper's Algorithm 1: 1 along an arrow, a half each way where the direction stays open."""

    weights: Optional[str] = None  # noqa: UP045
    """The network of the aggregator "base": the name of released weights, "base" by default, or a path to a file of `seacausal export`. Weights of
    the paper's network know the statistic that they read."""

    algorithm: Optional[AlgorithmName] = None  # noqa: UP045
    """The local estimator on subsets, by default that of the adapter or of the weights: "fci", or what a paper's network was trained with;
    `seacausal algorithms` says what each is. The network "base" was trained with FCI and takes any."""
    sampler: SamplerName = "mixture"
    """How subsets are chosen: half random and half by the statistic, or one of these, or where the network is unsure, or the best by an integer
    program (needs scipy; up to some 50 variables)."""
    statistic: Optional[StatisticName] = None  # noqa: UP045
    """What the sampler goes by, and with an adapter what the network is shown. By default that of the adapter, what a paper's network reads, or
    "partial-correlation"."""

    def __post_init__(self) -> None:
        for name in ("seed", "subsets", "rows", "workers"):
            value = getattr(self, name)
            if not (name == "subsets" and value is None):
                object.__setattr__(self, name, _to_integer(name, value))
        object.__setattr__(self, "threshold", check_threshold(self.threshold))
        for name in ("scale", "keep_outliers", "serial", "offsets"):
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise DataError(f"`{name}` must be True or False; found {value!r}.")
            object.__setattr__(self, name, bool(value))
        for name, known in (("aggregator", Aggregator), ("algorithm", AlgorithmName), ("sampler", SamplerName), ("statistic", StatisticName)):
            if getattr(self, name) not in (get_args(known) if name in ("aggregator", "sampler") else (*get_args(known), None)):
                raise DataError(f"`{name}` must be one of {', '.join(get_args(known))}; found {getattr(self, name)!r}.")
        if self.weights is not None and not isinstance(self.weights, str):
            raise DataError(f"`weights` must be a name or a path, as text; found {self.weights!r}. Leave it out for 'base'.")
        if self.weights is not None and self.aggregator != "base":
            raise DataError(f"`weights` must not be given with the aggregator '{self.aggregator}', which uses none. Leave one of them out.")
        if self.sampler == "uncertainty" and self.aggregator != "base":
            raise DataError(f"The sampler 'uncertainty' needs the network; found `aggregator` = '{self.aggregator}'. Choose another of the two.")
        if self.aggregator != "base" and self.subsets == 0:
            raise DataError(f"The aggregator '{self.aggregator}' needs local estimates; found `subsets` = 0. Ask for subsets, or use 'base'.")
        if self.subsets is not None and not 0 <= self.subsets <= 1_000_000:
            raise DataError(f"`subsets` must lie between 0 and 1,000,000; found {self.subsets}.")
        if not 20 <= self.rows <= 100_000:
            raise DataError(f"`rows` must lie between 20 and 100,000; found {self.rows}. The network was trained with 500.")
        if not 1 <= self.workers <= 256:
            raise DataError(f"`workers` must lie between 1 and 256; found {self.workers}.")
        if not 0 <= self.seed < 2**62:
            raise DataError(f"`seed` must be a non-negative integer below 2^62; found {self.seed}.")


def check_threshold(threshold: Any) -> float:
    """The threshold as a float.

    Raises
    ------
    DataError
        If it is no number in [0, 1).
    """
    if isinstance(threshold, (int, float, np.number)) and 0 <= threshold < 1:
        return float(threshold)
    raise DataError(f"`threshold` must be at least 0 and below 1; found {threshold!r}. Give a probability such as 0.5.")


def _to_integer(name: str, value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise DataError(f"`{name}` must be a whole number; found {value!r}.")
