"""Fine-tuning: a trained network is adapted to another local estimator and another statistic, by the loop that trained it.

The estimator's marks take the place of those it was trained with. The statistic takes the place of the one that `paper` reads, or for `base` that of
the channel "partial correlation" (`views.view_dataset`), where all other channels stay. What is learned, products of low rank or all weights, ends as
`adapter.safetensors`, which `discover` merges without torch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import save

from seacausal.aggregate.adapter import FORMAT, hash_weights
from seacausal.aggregate.axial import Paper
from seacausal.aggregate.model import Base
from seacausal.aggregate.network import released
from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.estimate.algorithms import find_algorithm
from seacausal.estimate.dependence import find_statistic
from seacausal.train.checkpoint import read_checkpoint
from seacausal.train.loop import TrainConfig, train
from seacausal.train.low_rank import adapt, list_parts, name_factors
from seacausal.train.presets import BasePreset, PaperPreset, Preset, choose_preset
from seacausal.train.release import load_weights

DEFAULTS = TrainConfig(steps=2000, ema=0.99, save_every=200)
"""A run without a recipe."""
NAME = "adapter.safetensors"


@dataclass(frozen=True)
class Adaptation:
    """What a network is adapted to, and how."""

    algorithm: str
    """A name of `estimate.algorithms.ALGORITHMS`."""
    statistic: str | None = None
    """A name of `estimate.dependence.STATISTICS`; what the network was trained with where absent."""
    rank: int = 2
    """r of the products beside queries, keys and feed-forward weights; 0 trains all weights."""

    def __post_init__(self) -> None:
        find_algorithm(self.algorithm)
        if self.statistic is not None:
            find_statistic(self.statistic)
        if not 0 <= self.rank <= 64:
            raise DataError(f"`rank` must lie between 1 and 64, or be 0 to train all weights; found {self.rank}. The paper takes 2.")


def finetune(
    adaptation: Adaptation, folder: Path, *, start: Path | None = None, config: TrainConfig = DEFAULTS, resume: bool = False, device: str = "cpu"
) -> Path:
    """Train in `folder` as `loop.train` does; returns `adapter.safetensors` of the averaged weights.

    Parameters
    ----------
    start
        A training checkpoint, whose averaged weights are taken, or a `.safetensors` of released weights; those of the package by default.
    config
        Sizes of the network are those of `start`, whatever stands there.

    Raises
    ------
    DataError, CheckpointError, TrainingError
        As `loop.train`; and if `start` is no such file.
    """
    start = start or released().tensors
    model, trained, _ = load_weights(start)
    usual = trained.statistic if isinstance(trained, PaperPreset) else "partial-correlation"
    statistic = adaptation.statistic or usual
    if isinstance(trained, PaperPreset):
        config = replace(config, preset="paper", paper=trained.model, algorithm=adaptation.algorithm, statistic=statistic)
    else:
        config = replace(config, preset="base", model=trained.model)
    inner = choose_preset(config)
    if isinstance(inner, BasePreset):
        inner = replace(inner, options={"algorithm": adaptation.algorithm, "statistic": statistic, "shown": True})
    facts = {
        "weights": hash_weights({name: value.numpy() for name, value in model.state_dict().items()}),
        "algorithm": adaptation.algorithm,
        "statistic": statistic,
        "rank": adaptation.rank,
    }
    checkpoint = train(config, folder, preset=Adapted(inner, start, facts), resume=resume, device=device)
    if os.environ.get("RANK", "0") == "0":  # under torchrun the first process writes
        write_adapter(checkpoint)
    return checkpoint.with_name(NAME)


@dataclass(frozen=True)
class Adapted:
    """A preset whose network begins as trained weights."""

    inner: Preset
    """What the network is, and what it looks at."""
    start: Path
    """The weights."""
    facts: dict[str, Any]
    """Which weights these are, and what they are adapted to."""

    def build(self) -> Base | Paper:
        """The network; what `low_rank.adapt` adds, or all of it, is to be trained."""
        model, _, _ = load_weights(self.start)
        if self.facts["rank"]:
            adapt(model, list_parts(model), self.facts["rank"])
        return model.train()

    def settings(self) -> dict[str, Any]:
        """As of the inner preset, and so all that follows."""
        return self.inner.settings()

    def draw_subsets(self, d: int, *, generator: np.random.Generator) -> int:
        """How many subsets an example has."""
        return self.inner.draw_subsets(d, generator=generator)

    def view(self, dataset: Dataset, subsets: int, *, generator: np.random.Generator) -> Any:
        """What there is to see of a data set."""
        return self.inner.view(dataset, subsets, generator=generator)

    def show(self, example: Any, *, generator: np.random.Generator) -> Any:
        """What the network sees of it this time."""
        return self.inner.show(example, generator=generator)

    def collate(self, examples: Sequence[Any]) -> dict[str, np.ndarray]:
        """The network's arguments."""
        return self.inner.collate(examples)


def write_adapter(checkpoint: Path) -> Path:
    """`adapter.safetensors` beside a checkpoint of `finetune`, all or nothing."""
    tensors, header = read_checkpoint(checkpoint)
    averaged = {name.removeprefix("average."): value for name, value in tensors.items() if name.startswith("average.")}
    facts = header["task"] | {key: header[key] for key in ("step", "examples", "seconds", "config")}
    path = checkpoint.with_name(NAME)
    temporary = path.with_name(f"{NAME}.part")
    temporary.write_bytes(save(name_factors(averaged), metadata={"format": FORMAT, "header": json.dumps(facts)}))
    os.replace(temporary, path)
    return path
