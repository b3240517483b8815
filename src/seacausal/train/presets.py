"""The networks that can be trained: how each looks at a data set, how examples become a minibatch, and what the network is.

A minibatch is a table of arrays by the names of the network's arguments, the same as those of its ONNX file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seacausal.aggregate.axial import Paper, PaperConfig
from seacausal.aggregate.encoding import GROUPS, NAMES, encode
from seacausal.aggregate.model import Base, ModelConfig
from seacausal.aggregate.tokens import Tokens, join_tokens, make_tokens
from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.estimate import graph_search
from seacausal.estimate.algorithms import find_algorithm
from seacausal.simulate.noise import log_uniform
from seacausal.views import SUBSET_SIZE, view_dataset, view_marginals

if TYPE_CHECKING:
    from seacausal.train.loop import TrainConfig

DROPPED = {
    **{"correlation": 0.12, "moments": 0.2, "variances": 0.3, "orders": 0.25, "graphs": 0.25, "categories": 0.15},
    **{"estimates": 0.25, "interventions": 0.15},
}
"""How often each group of channels of `base` is switched off, for `dropped` = 1."""
JUMPS = graph_search.JUMPS // 5
"""Jumps of the graph searches; all of them would take most of a step's time."""
SUBSETS = (10, 50)
"""Fewest and most subsets of an example of `paper`: so few that some pairs are never covered."""
PAPER_STATISTICS = ("inverse-covariance", "correlation", "distance-correlation")
"""Those that the paper trains with."""


class Preset(Protocol):
    """What a training run needs to know of a network."""

    @property
    def facts(self) -> dict[str, Any]:
        """Saved with every checkpoint, which is resumed only under the same."""
        ...

    def build(self) -> Base | Paper:
        """The network, its initial weights drawn from torch's generator."""
        ...

    def settings(self) -> dict[str, Any]:
        """Sizes of the network, which a checkpoint must have to go on from."""
        ...

    def draw_subsets(self, d: int, *, generator: np.random.Generator) -> int:
        """How many subsets an example of d variables has."""
        ...

    def view(self, dataset: Dataset, subsets: int, *, generator: np.random.Generator) -> Any:
        """What there is to see of a data set; None if a column does not vary."""
        ...

    def show(self, example: Any, *, generator: np.random.Generator) -> Any:
        """What the network sees of it this time."""
        ...

    def collate(self, examples: Sequence[Any]) -> dict[str, np.ndarray]:
        """Examples of equally many variables as the network's arguments."""
        ...


@dataclass(frozen=True)
class BasePreset:
    """Channels of all pairs; groups of them are left out at random."""

    model: ModelConfig = field(default_factory=ModelConfig)
    """Sizes of the network."""
    dropped: float = 1.0
    """How often groups are left out, over `DROPPED`."""
    options: dict[str, Any] = field(default_factory=dict)
    """Further arguments of `view_dataset`."""
    facts: dict[str, Any] = field(default_factory=dict)
    """None: a run of `seacausal train`."""

    def build(self) -> Base:
        """The network."""
        return Base(self.model)

    def settings(self) -> dict[str, Any]:
        """Sizes of the network."""
        return asdict(self.model)

    def draw_subsets(self, d: int, *, generator: np.random.Generator) -> int:
        """From four to five for each variable, small numbers more often."""
        return int(log_uniform(4, 4 + 5 * d, generator=generator))

    def view(self, dataset: Dataset, subsets: int, *, generator: np.random.Generator) -> tuple[dict[str, np.ndarray], int] | None:
        """(d, d) channels by name, and how many rows they are of."""
        views = view_dataset(dataset, subsets, seed=int(generator.integers(2**31)), jumps=JUMPS, **self.options)
        channels = {name: channel.astype(np.float32) for name, channel in views.channels.items() if name in NAMES}
        return (channels, views.rows) if views.kept.all() else None

    def show(self, example: tuple[dict[str, np.ndarray], int], *, generator: np.random.Generator) -> np.ndarray:
        """(d, d, c) float32 channels, without some groups."""
        groups = {group for group in GROUPS if generator.random() >= self.dropped * DROPPED[group]} or set(GROUPS)
        return encode(*example, groups)

    def collate(self, examples: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """`channels` (b, d, d, c)."""
        return {"channels": np.stack(examples)}

    def export(self, model: Any) -> bytes:
        """The network as an ONNX file."""
        from seacausal.aggregate.export import export_onnx

        return export_onnx(model, self.dropped)


@dataclass(frozen=True)
class PaperPreset:
    """One statistic, and the marks of one algorithm on every subset."""

    model: PaperConfig
    """Sizes of the network."""
    algorithm: str
    """A name of `estimate.algorithms.ALGORITHMS`."""
    statistic: str
    """One of `PAPER_STATISTICS`; the inverse covariance is that of the rows as they are."""
    facts: dict[str, Any] = field(default_factory=dict)
    """None: a run of `seacausal train`."""

    def build(self) -> Paper:
        """The network."""
        return Paper(self.model)

    def settings(self) -> dict[str, Any]:
        """Sizes of the network, and what it is trained to read."""
        return asdict(self.model) | {"algorithm": self.algorithm, "statistic": self.statistic}

    def draw_subsets(self, d: int, *, generator: np.random.Generator) -> int:
        """Uniformly from `SUBSETS`."""
        return int(generator.integers(SUBSETS[0], SUBSETS[1] + 1))

    def view(self, dataset: Dataset, subsets: int, *, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """(d, d) statistic, (t, k) subsets and their (t, k, k) marks."""
        seed = int(generator.integers(2**31))
        views = view_marginals(dataset, subsets, algorithm=self.algorithm, statistic=self.statistic, seed=seed)
        if not views.kept.all() or views.local is None:
            return None
        variables, estimates = views.local
        return views.channels[self.statistic], variables, estimates.marks

    def show(self, example: tuple[np.ndarray, np.ndarray, np.ndarray], *, generator: np.random.Generator) -> Tokens:
        """Tokens, with embeddings drawn anew."""
        statistic, variables, marks = example
        tables = self.model.variables, self.model.subsets
        return make_tokens(statistic, self.statistic, variables, marks, tables=tables, generator=generator)

    def collate(self, examples: Sequence[Tokens]) -> dict[str, np.ndarray]:
        """As `tokens.join_tokens` says."""
        return join_tokens(examples)

    def export(self, model: Any) -> bytes:
        """The network as an ONNX file, which knows its algorithm and statistic."""
        from seacausal.aggregate.export_axial import export_paper

        return export_paper(model, self.algorithm, self.statistic)


def choose_preset(config: TrainConfig) -> BasePreset | PaperPreset:
    """The preset that a run asks for.

    Raises
    ------
    DataError
        If there is none of that name, no such algorithm or statistic, or the data sets do not fit.
    """
    if config.preset == "base":
        return BasePreset(config.model, config.dropped)
    if config.preset != "paper":
        raise DataError(f"`preset` must be base or paper; found {config.preset!r}. Correct the recipe.")
    find_algorithm(config.algorithm)
    if config.statistic not in PAPER_STATISTICS:
        raise DataError(f"`statistic` must be one of {', '.join(PAPER_STATISTICS)}; found {config.statistic!r}. Correct the recipe.")
    for size in config.sizes:
        if size.smallest < SUBSET_SIZE or size.largest > config.paper.variables:
            raise DataError(
                f"`sizes` of the preset 'paper' must lie between {SUBSET_SIZE} and {config.paper.variables} variables; found {size.smallest} to "
                f"{size.largest}. Correct the recipe."
            )
    return PaperPreset(config.paper, config.algorithm, config.statistic)


def load_preset(header: dict[str, Any]) -> BasePreset | PaperPreset:
    """The preset of a checkpoint; those written before there were several are of `base`."""
    config = header["config"]
    if config.get("preset", "base") == "base":
        return BasePreset(ModelConfig(**config["model"]), config.get("dropped", 1.0))
    return PaperPreset(PaperConfig(**config["paper"]), config["algorithm"], config["statistic"])
