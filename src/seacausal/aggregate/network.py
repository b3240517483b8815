"""The released network on onnxruntime: channels in, edge probabilities out. No torch."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.aggregate.adapter import Adapter
from seacausal.aggregate.encoding import WIDTH, encode
from seacausal.aggregate.neighbourhoods import predict_logits
from seacausal.errors import CheckpointError
from seacausal.io.tensors import read_tensors


@dataclass(frozen=True)
class Network:
    """A network for inference, loaded when first used."""

    path: Path
    """ONNX file."""
    threads: int = 0
    """Threads of one forward pass; 0 leaves the choice to onnxruntime."""
    adapter: Adapter | None = None
    """Changes the weights, which must then lie beside the ONNX file as `.safetensors`."""

    @cached_property
    def content(self) -> bytes:
        """The file's bytes."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise CheckpointError(
                f"The weights '{self.path}' must be readable; {error.strerror}. Reinstall seacausal or give another file."
            ) from error

    @property
    def sha256(self) -> str:
        """Hash of the weights, as saved with every result."""
        return hashlib.sha256(self.content).hexdigest()

    def load(self) -> None:
        """Read and check the files now, rather than when the network is first used."""
        _ = self._session

    @cached_property
    def _initializers(self) -> dict[str, Any]:
        """The weights that the adapter changes, as onnxruntime takes them: by the names and in the layout of `export`."""
        if self.adapter is None:
            return {}
        import onnxruntime

        merged = self.adapter.merge(read_tensors(self.path.with_suffix(".safetensors"))[0])
        for name in merged:
            if name.encode() not in self.content:  # onnxruntime would say nothing, and change nothing
                raise CheckpointError(f"The network '{self.path}' must call its weights by name; found no '{name}'. Run `seacausal export` again.")
        return {name: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value.T)) for name, value in merged.items()}

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        for name, value in self._initializers.items():
            options.add_initializer(name, value)
        try:
            session = onnxruntime.InferenceSession(self.content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises classes of its own for every kind of damage
            raise CheckpointError(f"The weights '{self.path}' must be an ONNX network; {error}. Reinstall seacausal or give another file.") from error
        channels = session.get_inputs()[0].shape[-1]
        if channels != WIDTH:
            raise CheckpointError(f"The weights '{self.path}' must take {WIDTH} channels; found {channels}. Use the weights of this version.")
        return session

    def logits(self, channels: np.ndarray) -> np.ndarray:
        """(d, d, c) float32 -> (d, d, 3) logits of no edge, i -> j, j -> i."""
        return self._session.run(None, {"channels": channels})[0]

    def predict(self, channels: np.ndarray) -> np.ndarray:
        """(d, d, c) float32 -> (d, d) float64, entry [i, j] the probability of i -> j; the diagonal is 0."""
        return to_direct(self.logits(channels))

    def predict_table(self, channels: dict[str, np.ndarray], rows: int, groups: set[str]) -> np.ndarray:
        """The same from the channels by name, for any number of variables; parameters as in `encode`."""
        return to_direct(predict_logits(channels, lambda part: self.logits(encode(part, rows, groups))))


def to_direct(logits: np.ndarray) -> np.ndarray:
    """(d, d, 3) logits of no edge, i -> j, j -> i -> (d, d) float64 probabilities of i -> j; the diagonal is 0."""
    logits = logits.astype(np.float64)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    direct = weights[..., 1] / weights.sum(-1)
    np.fill_diagonal(direct, 0)
    return direct


def released(name: str = "base", *, threads: int = 0, adapter: Adapter | None = None) -> Network:
    """The weights inside the package."""
    return Network(Path(str(files("seacausal") / "weights" / f"{name}.onnx")), threads, adapter)
