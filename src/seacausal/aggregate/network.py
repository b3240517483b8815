"""Released networks on onnxruntime: what was sampled and estimated in, edge probabilities out. No torch.

A file's metadata say which of the two networks it holds: `paper`, with the algorithm and the statistic that it reads; or where they say nothing,
`base`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.aggregate.adapter import Adapter
from seacausal.aggregate.agreement import choose_search, heed_search
from seacausal.aggregate.encoding import WIDTH, encode, find_present
from seacausal.aggregate.neighbourhoods import LARGEST, predict_logits
from seacausal.aggregate.tokens import Tokens, align_tokens, make_tokens
from seacausal.errors import CheckpointError, DataError
from seacausal.io.tensors import read_tensors

FOLDER = Path(str(files("seacausal") / "weights"))

ASIDE: tuple[set[str], ...] = (
    {"variances", "estimates"},
    {"orders", "graphs"},
    {"variances", "correlation"},
    {"estimates", "orders"},
    {"graphs", "correlation"},
)
"""Groups of channels that a pass of the network does without. Each tells what others tell as well; moments and interventions stand alone."""
FEW = {"moments"}
"""Groups that mislead where all columns hold categories: how often a value occurs and which number it bears make up most of their moments."""


@dataclass(frozen=True)
class Weights:
    """A network as `export` writes it, loaded when first used."""

    path: Path
    """ONNX file, beside which the weights lie as `.safetensors`."""
    threads: int = 0
    """Threads of one forward pass; 0 leaves the choice to onnxruntime."""
    adapter: Adapter | None = None
    """Changes the weights."""

    @property
    def tensors(self) -> Path:
        """The file of the weights."""
        return self.path.with_suffix(".safetensors")

    @property
    def sha256(self) -> str:
        """Hash of the file of the weights, as saved with every result."""
        return hashlib.sha256(_read(self.tensors)).hexdigest()

    def load(self) -> None:
        """Read and check the files now, rather than when the network is first used."""
        _ = self._session

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        graph, (weights, _) = _read(self.path), read_tensors(self.tensors)
        if self.adapter:
            weights |= self.adapter.merge(weights)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value, np.float32)) for value in weights.values()]
        options.add_external_initializers(list(weights), values)
        try:
            session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises classes of its own for every kind of damage
            raise CheckpointError(
                f"'{self.path}' must be an ONNX network of the weights in '{self.tensors.name}'; {error}. Reinstall seacausal or give another file."
            ) from error
        return session

    @cached_property
    def facts(self) -> dict[str, str]:
        """What the file says of itself."""
        return dict(self._session.get_modelmeta().custom_metadata_map)


@dataclass(frozen=True)
class Network(Weights):
    """The network `base`."""

    @cached_property
    def several(self) -> bool:
        """Whether groups of channels were often missing when it was trained, so that it may be asked without them."""
        return float(self.facts.get("dropped", 0)) >= 1

    @cached_property
    def _checked(self) -> Any:
        channels = self._session.get_inputs()[0].shape[-1]
        if channels != WIDTH:
            raise CheckpointError(f"The weights '{self.path}' must take {WIDTH} channels; found {channels}. Use the weights of this version.")
        return self._session

    def logits(self, channels: np.ndarray) -> np.ndarray:
        """(d, d, c) float32 -> (d, d, 3) logits of no edge, i -> j, j -> i."""
        return self._checked.run(None, {"channels": channels})[0]

    def predict(self, channels: np.ndarray) -> np.ndarray:
        """(d, d, c) float32 -> (d, d) float64, entry [i, j] the probability of i -> j; the diagonal is 0."""
        return to_direct(self.logits(channels))

    def predict_table(self, channels: dict[str, np.ndarray], rows: int, groups: set[str]) -> np.ndarray:
        """The same from the channels by name, for any number of variables; parameters as in `encode`.

        Where `several`, and the network sees the whole table at once, the geometric mean of what it says in several passes. It errs less, and is
        less sure, where data are unlike all that it was trained on and groups of channels contradict each other. Then `heed_search`.
        """

        def forward(part: dict[str, np.ndarray]) -> np.ndarray:
            return np.mean([self.logits(encode(part, rows, seen)) for seen in passes], axis=0)

        whole = len(next(iter(channels.values()))) <= LARGEST
        passes = choose_passes(channels, groups) if self.several and whole else [groups]
        direct, present = to_direct(predict_logits(channels, forward)), find_present(channels, groups)
        found = choose_search(channels, rows, present)
        return heed_search(direct, found[0], holds=found[1]) if found else direct


def choose_passes(channels: dict[str, np.ndarray], groups: set[str]) -> list[set[str]]:
    """Which groups the network sees in each pass: first all that are asked for and present, then without those of `ASIDE` in turn."""
    present = find_present(channels, groups)
    few = FEW if "levels" in channels and (channels["levels"] > 0).all() else set()
    passes = [present] + [present - aside - few for aside in ASIDE if present & aside]
    return [seen for k, seen in enumerate(passes) if (seen or not k) and seen not in passes[:k]]


@dataclass(frozen=True)
class PaperNetwork(Weights):
    """The network `paper`."""

    @property
    def algorithm(self) -> str:
        """Whose marks it was trained with, or adapted to."""
        return self.adapter.algorithm if self.adapter else self.facts["algorithm"]

    @property
    def statistic(self) -> str:
        """Which statistic it reads."""
        return self.adapter.statistic if self.adapter else self.facts["statistic"]

    @property
    def tables(self) -> tuple[int, int]:
        """How many variables and subsets have embeddings."""
        return int(self.facts["variables"]), int(self.facts["subsets"])

    def logits(self, tokens: Tokens) -> np.ndarray:
        """(d, d, 3) logits of no edge, i -> j, j -> i."""
        return self._session.run(None, align_tokens(tokens))[0]

    def predict(self, statistic: np.ndarray, variables: np.ndarray, marks: np.ndarray, *, seed: int = 0) -> np.ndarray:
        """(d, d) float64, entry [i, j] the probability of i -> j; the diagonal is 0.

        Parameters
        ----------
        statistic, variables, marks
            (d, d), (t, k) and (t, k, k), as in `make_tokens`; where t is 0, all is open: a third for each way.
        seed
            Of the permutations by which variables and subsets get their embeddings.

        Raises
        ------
        DataError
            If there are more variables or subsets than embeddings.
        """
        d = len(statistic)
        if len(variables) == 0:
            return (1 - np.eye(d)) / 3
        generator = np.random.default_rng([seed, 1])
        return to_direct(self.logits(make_tokens(statistic, self.statistic, variables, marks, tables=self.tables, generator=generator)))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"The weights '{path}' must be readable; {error.strerror}. Reinstall seacausal or give another file.") from error


def to_direct(logits: np.ndarray) -> np.ndarray:
    """(d, d, 3) logits of no edge, i -> j, j -> i -> (d, d) float64 probabilities of i -> j; the diagonal is 0."""
    logits = logits.astype(np.float64)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    direct = weights[..., 1] / weights.sum(-1)
    np.fill_diagonal(direct, 0)
    return direct


def released(name: str = "base", *, threads: int = 0, adapter: Adapter | None = None) -> Network:
    """The weights inside the package, of the network `base`."""
    return Network(FOLDER / f"{name}.onnx", threads, adapter)


def load_weights(name: str, *, threads: int = 0, adapter: Adapter | None = None) -> Network | PaperNetwork:
    """The network of released weights by name, or of a file.

    Raises
    ------
    DataError
        If there are none of that name, and it is no path to an .onnx file.
    CheckpointError
        If the file holds no network, or the adapter belongs to another.
    """
    if name.endswith(".onnx"):
        path = Path(name)
    else:
        known = sorted(path.stem for path in FOLDER.glob("*.onnx"))
        if name not in known:
            raise DataError(f"`weights` must be one of {', '.join(known)}, or a path that ends in .onnx; found {name!r}. Check the spelling.")
        path = FOLDER / f"{name}.onnx"
    if name == "base" and adapter is None:  # whose metadata need not be read, for loading takes its time
        return Network(path, threads)
    loaded = Weights(path, threads, adapter)
    network = (PaperNetwork if loaded.facts.get("preset") == "paper" else Network)(path, threads, adapter)
    vars(network).update(vars(loaded))  # what was read need not be read again
    return network
