"""The `base` network: pair tokens in, three logits for every pair out (torch).

A token of every ordered pair (i, j) is read from the channels; blocks mix tokens along rows, along columns and through third
variables (i, k), (k, j); the head is antisymmetric: swapping i and j swaps its outputs exactly. There are no embeddings of variables
or subsets, so neither their number nor their order matters.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from seacausal.aggregate.encoding import WIDTH


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the network."""

    channels: int = WIDTH
    """c, input channels of a pair."""
    width: int = 64
    """Size of a token."""
    heads: int = 4
    """Attention heads."""
    blocks: int = 4
    """Depth."""
    triangle: int = 16
    """Channels of the mixing through third variables."""
    hidden: int = 128
    """Width of the feed-forward part of a block, and of the reading layer."""

    @property
    def split(self) -> list[int]:
        """Sizes of the parts of a block's inward projection: queries, keys and values of rows and of columns, triangle, feed-forward."""
        return [self.width] * 6 + [self.triangle] * 4 + [self.hidden]


class Block(nn.Module):
    """Row attention, column attention, triangle mixing and feed-forward in parallel, from one projection in and one out."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        w, t, f = config.width, config.triangle, config.hidden
        self.heads = config.heads
        self.split = config.split
        self.norm = nn.LayerNorm(w)
        self.inward = nn.Linear(w, sum(self.split))
        self.outward = nn.Linear(2 * w + 2 * t + f, w)
        nn.init.zeros_(self.outward.weight)
        nn.init.zeros_(self.outward.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(b, d, d, w) -> (b, d, d, w)."""
        row_q, row_k, row_v, col_q, col_k, col_v, left, right, gate, gate2, hidden = self.inward(self.norm(x)).split(self.split, -1)
        rows = self._attend(row_q, row_k, row_v)
        columns = self._attend(col_q.transpose(1, 2), col_k.transpose(1, 2), col_v.transpose(1, 2)).transpose(1, 2)
        scale = x.shape[1] ** -0.5
        left, right = left.permute(0, 3, 1, 2), right.permute(0, 3, 1, 2)  # (b, t, d, d)
        through = (left @ right).permute(0, 2, 3, 1) * scale * gate.sigmoid()
        common = (left.transpose(2, 3) @ right).permute(0, 2, 3, 1) * scale * gate2.sigmoid()
        return x + self.outward(torch.cat([rows, columns, through, common, hidden.relu()], -1))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention along the second variable: (b, d, d, w) three times -> (b, d, d, w)."""
        b, d, _, w = q.shape

        def split(x: Tensor) -> Tensor:
            return x.reshape(b * d, d, self.heads, w // self.heads).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(split(q), split(k), split(v))
        return mixed.transpose(1, 2).reshape(b, d, d, w)


class Head(nn.Module):
    """Logits of (no edge, i -> j, j -> i) for every (i, j)."""

    def __init__(self, w: int) -> None:
        """`w` is the size of a token."""
        super().__init__()
        self.norm = nn.LayerNorm(w)
        self.forth = nn.Linear(w, w)
        self.back = nn.Linear(w, w, bias=False)
        self.out = nn.Linear(w, 2)

    def forward(self, x: Tensor) -> Tensor:
        """(b, d, d, w) -> (b, d, d, 3)."""
        x = self.norm(x)
        pair = self.out((self.forth(x) + self.back(x).transpose(1, 2)).relu())
        none, direct = pair[..., 0], pair[..., 1]
        return torch.stack([none + none.transpose(1, 2), direct, direct.transpose(1, 2)], -1)


class Base(nn.Module):
    """The default aggregator."""

    def __init__(self, config: ModelConfig | None = None) -> None:
        super().__init__()
        self.config = config or ModelConfig()
        self.read = nn.Sequential(nn.Linear(self.config.channels, self.config.hidden), nn.ReLU(), nn.Linear(self.config.hidden, self.config.width))
        self.blocks = nn.ModuleList(Block(self.config) for _ in range(self.config.blocks))
        self.head = Head(self.config.width)

    def forward(self, channels: Tensor) -> Tensor:
        """(b, d, d, c) -> (b, d, d, 3) logits of no edge, i -> j, j -> i."""
        x = self.read(channels)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

    def settings(self) -> dict[str, int]:
        """The configuration, as saved beside the weights."""
        return asdict(self.config)
