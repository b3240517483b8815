"""Low-rank adaptation (Hu et al., 2022): weights stay as they are and learn a sum of products of thin matrices beside them.

Works on any module: `Part` names a matrix of an `nn.Linear` (out, in), or a range of its rows and columns where one matrix does several jobs. Every
part has a product of rank r of its own. Those of one matrix lie side by side in two tensors, up (out, r * parts) and down (r * parts, in), which
are 0 outside their parts: so a file of adapters need not know of parts, and W + up @ down is all there is to merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from seacausal.aggregate.adapter import DOWN, UP
from seacausal.aggregate.axial import Paper
from seacausal.aggregate.model import Base


@dataclass(frozen=True)
class Part:
    """What gets a product of its own."""

    layer: str
    """Name of an `nn.Linear` in the network."""
    rows: slice = field(default_factory=lambda: slice(None))
    """Of its outputs."""
    columns: slice = field(default_factory=lambda: slice(None))
    """Of its inputs."""


def base_parts(model: Base) -> list[Part]:
    """Queries, keys and feed-forward weights of the `base` network, as the paper adapts them.

    A block's `inward` matrix holds queries, keys and values of rows and of columns, triangle and feed-forward below each other: five of its eleven
    ranges of rows are adapted, the two queries, the two keys and the feed-forward part. The second half of the feed-forward part is the last
    columns of `outward`. The network is told of the statistic and the estimates by `read`, two layers of feed-forward weights, which are adapted
    whole; values, triangle, head, biases and norms stay.
    """
    config = model.config
    ends = list(accumulate(config.split))
    row_query, row_key, _, column_query, column_key, *_, hidden = (slice(end - size, end) for end, size in zip(ends, config.split))
    parts = [Part("read.0"), Part("read.2")]
    for b in range(config.blocks):
        parts += [Part(f"blocks.{b}.inward", rows) for rows in (row_query, row_key, column_query, column_key, hidden)]
        parts.append(Part(f"blocks.{b}.outward", columns=slice(-config.hidden, None)))
    return parts


def paper_parts(model: Paper) -> list[Part]:
    """The same of the `paper` network: queries and keys of all attention, all feed-forward layers, and the one that reads the statistic."""
    w = model.config.width
    parts = [Part("read")]
    for b in range(model.config.blocks):
        for attention in ("inside", "along", "rows", "columns"):
            parts += [Part(f"blocks.{b}.{attention}.inward", rows) for rows in (slice(0, w), slice(w, 2 * w))]
        for layer in ("marginal", "globally"):
            parts += [Part(f"blocks.{b}.{layer}.inward"), Part(f"blocks.{b}.{layer}.outward")]
    return parts


def list_parts(model: Base | Paper) -> list[Part]:
    """What is adapted of a network."""
    return paper_parts(model) if isinstance(model, Paper) else base_parts(model)


class LowRank(nn.Module):
    """A parametrization of one matrix: (out, in) -> (out, in), the same until it is trained, because up begins at 0."""

    of_rows: Tensor
    of_columns: Tensor

    def __init__(self, weight: Tensor, parts: Sequence[Part], rank: int) -> None:
        super().__init__()
        of_rows, of_columns = torch.zeros(len(weight), rank * len(parts)), torch.zeros(rank * len(parts), weight.shape[1])
        for p, part in enumerate(parts):
            own = slice(p * rank, (p + 1) * rank)
            of_rows[part.rows, own] = 1
            of_columns[own, part.columns] = 1
        self.register_buffer("of_rows", of_rows, persistent=False)
        self.register_buffer("of_columns", of_columns, persistent=False)
        self.up = nn.Parameter(torch.zeros_like(of_rows))
        self.down = nn.Parameter(of_columns * torch.randn_like(of_columns) * weight.shape[1] ** -0.5)

    def forward(self, weight: Tensor) -> Tensor:
        """The weight and what was learned beside it."""
        return weight + (self.up * self.of_rows) @ (self.down * self.of_columns)


def adapt(model: nn.Module, parts: Sequence[Part], rank: int) -> None:
    """Freeze a network and put products of `rank` beside the parts of its weights, all that is left to train; random numbers are torch's."""
    model.requires_grad_(False)
    for name in dict.fromkeys(part.layer for part in parts):
        layer = model.get_submodule(name)
        assert isinstance(layer, nn.Linear)
        parametrize.register_parametrization(layer, "weight", LowRank(layer.weight, [part for part in parts if part.layer == name], rank))


def name_factors(trained: dict[str, Tensor]) -> dict[str, Tensor]:
    """Trained tensors by torch's names as an adapter's file calls them; those that are no factors keep theirs."""
    return {
        name.replace(".parametrizations.weight.0.up", f".weight{UP}").replace(".parametrizations.weight.0.down", f".weight{DOWN}"): value
        for name, value in trained.items()
    }
