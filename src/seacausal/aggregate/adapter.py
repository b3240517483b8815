"""Adapters: small files that change a network's weights for another estimator and statistic; written by `train.finetune`, merged with numpy.

A file holds, for a weight W (out, in), either two factors "W/up" (out, r) and "W/down" (r, in), whose product is added to it (low-rank adaptation,
Hu et al., 2022), or "W" itself, which takes its place. Its header names the weights it belongs to, by the hash of their values rather than of a
file, so that the same weights are known again in whatever file they lie.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seacausal.errors import CheckpointError
from seacausal.io.tensors import read_tensors

FORMAT = "seacausal-adapter-1"
UP, DOWN = "/up", "/down"


@dataclass(frozen=True)
class Adapter:
    """What a file of that kind says."""

    path: Path
    """Where it was read from."""
    tensors: dict[str, np.ndarray]
    """Factors and whole weights by name."""
    weights: str
    """`hash_weights` of the weights it belongs to."""
    algorithm: str
    """The local estimator it was trained with, a name of `estimate.algorithms.ALGORITHMS`."""
    statistic: str
    """The statistic that stands in place of the partial correlation, a name of `estimate.dependence.STATISTICS`."""
    sha256: str
    """Hash of the file, as saved with every result."""

    def merge(self, weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The weights that it changes, as they become.

        Raises
        ------
        CheckpointError
            If it belongs to other weights, or its tensors do not fit them.
        """
        found = hash_weights(weights)
        if found != self.weights:
            raise CheckpointError(
                f"The adapter '{self.path}' must belong to the weights in use; it was trained from {self.weights[:12]}..., found {found[:12]}.... "
                "Give it with the weights it was trained from, or run `seacausal finetune` again from these."
            )
        merged = {}
        try:
            for name, value in self.tensors.items():
                if name.endswith(UP):
                    weight = name.removesuffix(UP)
                    merged[weight] = weights[weight] + value @ self.tensors[weight + DOWN]
                elif not name.endswith(DOWN):
                    merged[name] = value
            if any(value.shape != weights[name].shape for name, value in merged.items()) or not merged:
                raise ValueError
        except (KeyError, ValueError):
            raise CheckpointError(f"The tensors of the adapter '{self.path}' must fit the weights; found others. The file is damaged.") from None
        return merged


def hash_weights(weights: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of names, shapes and values, whatever the order."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        value = np.ascontiguousarray(weights[name], "<f4")
        digest.update(f"{name} {value.shape}\n".encode() + value.tobytes())
    return digest.hexdigest()


def read_adapter(path: Path) -> Adapter:
    """An adapter from its file.

    Raises
    ------
    CheckpointError
        If the file cannot be read, is damaged, or is no adapter.
    """
    tensors, metadata = read_tensors(path)
    if metadata.get("format") != FORMAT:
        raise CheckpointError(
            f"'{path}' must be an adapter of format {FORMAT}; found {metadata.get('format')!r}. Give an adapter.safetensors of `seacausal finetune`."
        )
    try:
        header = json.loads(metadata["header"])
        weights, algorithm, statistic = facts = [header[key] for key in ("weights", "algorithm", "statistic")]
        if not all(isinstance(fact, str) for fact in facts):
            raise TypeError
    except (KeyError, ValueError, TypeError):
        raise CheckpointError(f"The header of the adapter '{path}' must name weights, algorithm and statistic. The file is damaged.") from None
    return Adapter(path, tensors, weights, algorithm, statistic, hashlib.sha256(path.read_bytes()).hexdigest())
