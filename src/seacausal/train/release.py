"""From a training checkpoint to the files that the package ships."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import nn

from seacausal.aggregate.axial import Paper
from seacausal.aggregate.model import Base
from seacausal.aggregate.network import Network, PaperNetwork, to_direct
from seacausal.aggregate.tokens import join_tokens, make_tokens
from seacausal.errors import CheckpointError
from seacausal.train.checkpoint import FORMAT, WEIGHTS, read_checkpoint
from seacausal.train.presets import BasePreset, PaperPreset, load_preset

TOLERANCE = 1e-5


def load_weights(path: Path) -> tuple[Base | Paper, BasePreset | PaperPreset, dict]:
    """The network with a checkpoint's averaged weights, or with released ones, its preset, and the file's header.

    Raises
    ------
    CheckpointError
        If the file is neither, or a low-rank adaptation, which is no network by itself.
    """
    tensors, header = read_checkpoint(path, formats=(FORMAT, WEIGHTS))
    if header.get("task", {}).get("rank"):
        raise CheckpointError(f"'{path}' must hold a whole network; found an adapter. Use adapter.safetensors beside it with `discover --adapter`.")
    preset = load_preset(header)
    model = preset.build()
    model.load_state_dict({name.removeprefix("average."): value for name, value in tensors.items() if name.startswith("average.")} or tensors)
    return model.eval(), preset, header


def export_weights(checkpoint: Path, folder: Path, name: str) -> list[Path]:
    """Write `name.safetensors`, the weights, and `name.onnx`, their network, after checking that these predict what torch does.

    Parameters
    ----------
    checkpoint
        A training checkpoint, or released weights, to be written anew.

    Raises
    ------
    CheckpointError
        If the checkpoint is unreadable, or the two differ by more than 1e-5 on random inputs.
    """
    model, preset, header = load_weights(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    facts = {key: header[key] for key in ("step", "examples", "seconds", "config")}
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        written = write_network(Path(aside) / f"{name}.onnx", model, preset.export(model), facts)
        difference = compare_paper(model, PaperNetwork(written[1])) if isinstance(model, Paper) else compare(model, Network(written[1]))
        if difference > TOLERANCE:
            raise CheckpointError(f"ONNX and torch must agree to {TOLERANCE}; found a difference of {difference:.2g}. Do not release these weights.")
        return [path.replace(folder / path.name) for path in written]


def write_network(path: Path, model: nn.Module, graph: bytes, facts: dict[str, Any] | None = None) -> tuple[Path, Path]:
    """The weights, with the facts of their training, beside the ONNX file `path`; returns both files."""
    tensors = path.with_suffix(".safetensors")
    tensors.write_bytes(save(model.state_dict(), metadata={"format": WEIGHTS, "header": json.dumps(facts or {})}))
    path.write_bytes(graph)
    return tensors, path


def compare(model: Base, network: Network, sizes: tuple[int, ...] = (2, 7, 31)) -> float:
    """Largest difference of probabilities between torch and onnxruntime on random channels."""
    generator = np.random.default_rng(0)
    largest = 0.0
    for d in sizes:
        channels = generator.standard_normal((d, d, model.config.channels)).astype(np.float32)
        with torch.no_grad():
            expected = model(torch.from_numpy(channels)[None]).softmax(-1)[0, ..., 1].numpy().astype(np.float64)
        np.fill_diagonal(expected, 0)
        largest = max(largest, float(np.abs(expected - network.predict(channels)).max()))
    return largest


def compare_paper(model: Paper, network: PaperNetwork, sizes: tuple[tuple[int, int], ...] = ((5, 20), (9, 12), (30, 40))) -> float:
    """The same on random tokens; sizes are variables and subsets."""
    generator = np.random.default_rng(0)
    largest = 0.0
    for d, t in sizes:
        d, t = min(d, network.tables[0]), min(t, network.tables[1])
        variables = np.array([generator.choice(d, 5, replace=False) for _ in range(t)])
        marks = generator.integers(0, 4, (t, 5, 5)).astype(np.int8)
        tokens = make_tokens(generator.standard_normal((d, d)), network.statistic, variables, marks, tables=network.tables, generator=generator)
        inputs = {name: torch.from_numpy(array) for name, array in join_tokens([tokens]).items()}
        with torch.no_grad():
            expected = to_direct(model(**inputs)[0].numpy())
        largest = max(largest, float(np.abs(expected - to_direct(network.logits(tokens))).max()))
    return largest
