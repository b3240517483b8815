"""`seacausal train`, `finetune` and `export`: from a recipe to a checkpoint, to an adapter, to released weights."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from seacausal.errors import CheckpointError, DataError
from seacausal.io.toml import build_record, read_toml

if TYPE_CHECKING:
    from seacausal.train.loop import TrainConfig

ENDLESS = 10**9
"""Steps of a run that only time ends."""


@dataclass(frozen=True)
class Train:
    """Train a network on data simulated on the fly; last.safetensors, log.csv and curves.png grow in the folder.

    torchrun -m seacausal train ... trains with torchrun's processes in place of its own.
    """

    folder: tyro.conf.Positional[Path]
    """Where the run lives."""
    recipe: Path | None = None
    """TOML file of a released run; the defaults without."""
    resume: bool = False
    """Go on from last.safetensors."""
    steps: int | None = None
    """Optimiser steps, over the recipe."""
    workers: int | None = None
    """Processes, over the recipe."""
    seed: int | None = None
    """Seed, over the recipe."""
    device: str = "cpu"
    """Where the network runs, as torch names it: cpu, cuda, cuda:1. Data sets are simulated by the processor."""


@dataclass(frozen=True)
class Finetune:
    """Adapt a trained network to another local estimator and statistic: adapter.safetensors, for `discover --adapter`.

    The folder is that of a training run, which `--resume` goes on with. Weights stay but for products of low rank beside queries, keys and
    feed-forward weights.
    """

    folder: tyro.conf.Positional[Path]
    """Where the run lives."""
    algorithm: Annotated[str, tyro.conf.arg(aliases=("--estimator",))] = "fci"
    """The local estimator on subsets; `seacausal algorithms` lists them."""
    statistic: str | None = None
    """What the network is shown in place of what it was trained with (by "base" as the partial correlation); see `seacausal algorithms`."""
    start: Annotated[Path | None, tyro.conf.arg(aliases=("--from",))] = None
    """A training checkpoint or a .safetensors of released weights to begin with; those of the package without."""
    recipe: Path | None = None
    """TOML file that says what the data sets are drawn from, and how to train; the defaults without, and 2,000 steps."""
    steps: int | None = None
    """Optimiser steps, over the recipe."""
    minutes: float | None = None
    """Wall time that ends the run, over the recipe; without --steps nothing else does."""
    rank: int = 2
    """Rank of the products."""
    full: bool = False
    """Train all weights instead."""
    resume: bool = False
    """Go on from last.safetensors."""
    workers: int | None = None
    """Processes, over the recipe."""
    seed: int | None = None
    """Seed, over the recipe."""
    device: str = "cpu"
    """Where the network runs, as torch names it."""


@dataclass(frozen=True)
class Export:
    """Turn a checkpoint's averaged weights into NAME.safetensors and NAME.onnx."""

    checkpoint: tyro.conf.Positional[Path]
    """A last.safetensors of `seacausal train`, or the .safetensors of released weights."""
    out: Path = Path("weights")
    """Folder."""
    name: str = "base"
    """Name of the weights."""


def run_train(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, train."""
    options: Train = parse(Train, "train", arguments)
    train_module = _import_torch_side("seacausal.train.loop")
    config = read_recipe(options.recipe) if options.recipe else train_module.TrainConfig()
    path = train_module.train(_settle(config, options), options.folder, resume=options.resume, device=options.device)
    _finish(path)


def _finish(path: Path) -> None:
    """Print where the result is, once, also under torchrun, whose processes end here."""
    if os.environ.get("RANK", "0") == "0":
        sys.stdout.write(f"{path}\n")
    loop = _import_torch_side("seacausal.train.loop")
    if loop.under_torchrun():
        loop.leave()


def _settle(config: TrainConfig, options: Train | Finetune) -> TrainConfig:
    """The options that were given over those of the recipe."""
    given = {name: getattr(options, name, None) for name in ("steps", "minutes", "workers", "seed")}
    return replace(config, **{name: value for name, value in given.items() if value is not None})


def run_finetune(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, fine-tune."""
    options: Finetune = parse(Finetune, "finetune", arguments)
    module = _import_torch_side("seacausal.train.finetune")
    if options.rank < 1:
        raise DataError(f"--rank must be at least 1; found {options.rank}. The paper takes 2; --full trains all weights.")
    config = _settle(read_recipe(options.recipe) if options.recipe else module.DEFAULTS, options)
    if options.minutes and options.steps is None:
        config = replace(config, steps=ENDLESS)
    adaptation = module.Adaptation(options.algorithm, options.statistic, 0 if options.full else options.rank)
    path = module.finetune(adaptation, options.folder, start=options.start, config=config, resume=options.resume, device=options.device)
    _finish(path)


def run_export(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, export."""
    options: Export = parse(Export, "export", arguments)
    export_module = _import_torch_side("seacausal.train.release")
    for path in export_module.export_weights(options.checkpoint, options.out, options.name):
        sys.stdout.write(f"{path}\n")


def _import_torch_side(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "onnx"):
            raise
        raise CheckpointError(f'Training needs {error.name}, which is not installed. Run: pip install "seacausal[train]".') from None


def read_recipe(path: Path) -> TrainConfig:
    """A `TrainConfig` from a TOML file.

    Raises
    ------
    DataError
        If the file is missing, is no TOML, or has an unknown key or a value of another kind.
    """
    from seacausal.train.loop import TrainConfig

    return build_record(TrainConfig, read_toml(path, "recipe"), str(path))
