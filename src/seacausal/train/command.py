"""`seacausal train` and `seacausal export`: from a recipe to a checkpoint, from a checkpoint to released weights."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from seacausal.errors import CheckpointError
from seacausal.io.toml import build_record, read_toml

if TYPE_CHECKING:
    from seacausal.train.loop import TrainConfig


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
class Export:
    """Turn a checkpoint's averaged weights into NAME.safetensors and NAME.onnx."""

    checkpoint: tyro.conf.Positional[Path]
    """A last.safetensors of `seacausal train`."""
    out: Path = Path("weights")
    """Folder."""
    name: str = "base"
    """Name of the weights."""


def run_train(arguments: list[str], parse: Callable[..., Any]) -> None:
    """Parse, train."""
    options: Train = parse(Train, "train", arguments)
    train_module = _import_torch_side("seacausal.train.loop")
    config = read_recipe(options.recipe) if options.recipe else train_module.TrainConfig()
    given = {name: getattr(options, name) for name in ("steps", "workers", "seed") if getattr(options, name) is not None}
    path = train_module.train(replace(config, **given), options.folder, resume=options.resume, device=options.device)
    if os.environ.get("RANK", "0") == "0":
        sys.stdout.write(f"{path}\n")


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
