"""Training state in one safetensors file: weights, moving average, optimiser moments and the step; never a pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from seacausal.errors import CheckpointError

FORMAT = "seacausal-training-1"
WEIGHTS = "seacausal-weights-1"
"""Released weights: tensors by the names of the network, and a header with fewer keys."""


def write_checkpoint(path: Path, tensors: dict[str, Tensor], header: dict[str, object]) -> None:
    """Write all or nothing: a temporary file is moved into place."""
    temporary = path.with_name(path.name + ".part")
    save_file(
        {k: v.detach().cpu().contiguous().clone() for k, v in tensors.items()}, temporary, metadata={"format": FORMAT, "header": json.dumps(header)}
    )
    os.replace(temporary, path)


def read_checkpoint(path: Path, *, formats: tuple[str, ...] = (FORMAT,)) -> tuple[dict[str, Tensor], dict]:
    """Tensors and header of a file in one of the formats.

    Raises
    ------
    CheckpointError
        If the file is damaged or of another kind.
    """
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") not in formats:
                raise CheckpointError(
                    f"'{path}' must be a checkpoint of format {' or '.join(formats)}; found {metadata.get('format')!r}. "
                    "Give a file that `seacausal train` wrote."
                )
            return {key: file.get_tensor(key) for key in file.keys()}, json.loads(metadata["header"])  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"'{path}' must be a readable safetensors file; {error}. Give a file that `seacausal train` wrote.") from error


def flatten_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Moments by parameter number."""
    out = {}
    for number, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            out[f"optimizer.{number}.{key}"] = value
    return out


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put the moments of `flatten_optimizer` back."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
