"""Fine-tuning: a trained network is adapted to another local estimator and another statistic, by the loop that trained it.

The estimator's marks take the place of FCI's, the statistic that of the channel "partial correlation" (`views.view_dataset`), and all other
channels stay. What is learned, products of low rank or all weights, ends as `adapter.safetensors`, which `discover` merges without torch.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save
from torch import nn

from seacausal.aggregate.adapter import FORMAT, hash_weights
from seacausal.aggregate.network import released
from seacausal.errors import DataError
from seacausal.estimate.algorithms import find_algorithm
from seacausal.estimate.dependence import find_statistic
from seacausal.train.checkpoint import read_checkpoint
from seacausal.train.loop import Task, TrainConfig, train
from seacausal.train.low_rank import adapt, base_parts, name_factors
from seacausal.train.minibatch import draw_minibatch
from seacausal.train.release import load_weights
from seacausal.views import view_dataset

DEFAULTS = TrainConfig(steps=2000, ema=0.99, save_every=200)
"""A run without a recipe."""
NAME = "adapter.safetensors"


@dataclass(frozen=True)
class Adaptation:
    """What a network is adapted to, and how."""

    algorithm: str
    """A name of `estimate.algorithms.ALGORITHMS`."""
    statistic: str = "partial-correlation"
    """A name of `estimate.dependence.STATISTICS`."""
    rank: int = 2
    """r of the products beside queries, keys and feed-forward weights; 0 trains all weights."""

    def __post_init__(self) -> None:
        find_algorithm(self.algorithm)
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
    start = start or released().path.with_suffix(".safetensors")
    model, _ = load_weights(start)
    facts = {
        "weights": hash_weights({name: value.numpy() for name, value in model.state_dict().items()}),
        "algorithm": adaptation.algorithm,
        "statistic": adaptation.statistic,
        "rank": adaptation.rank,
    }
    view = partial(view_dataset, algorithm=adaptation.algorithm, statistic=adaptation.statistic, shown=True)
    task = Task(partial(_build, start, adaptation.rank), partial(draw_minibatch, view=view), facts)
    checkpoint = train(replace(config, model=model.config), folder, task=task, resume=resume, device=device)
    if os.environ.get("RANK", "0") == "0":  # under torchrun the first process writes
        write_adapter(checkpoint)
    return checkpoint.with_name(NAME)


def _build(start: Path, rank: int, config: TrainConfig) -> nn.Module:
    torch.manual_seed(config.seed)
    model, _ = load_weights(start)
    if rank:
        adapt(model, base_parts(model), rank)
    return model.train()


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
