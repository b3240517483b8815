"""The `paper` network: two tracks of axial attention over sparse tokens (torch; SEA, section 3.3).

In: a statistic of every pair and the edge types of local estimates, as `tokens.join_tokens` lays them out. Out: three logits for every pair.
The global track is a (d, d) array of pairs, the marginal track has a token for every ordered pair of every subset. A layer of the marginal track
attends inside each subset, then along the subsets that hold the same ordered pair; one of the global track along rows, then along columns. Between
the two, messages: the mean over a pair's subsets goes to the global track, and what becomes of it there is added to each of the pair's tokens.

Surprising choice: all tokens are one flat array of sequences laid end to end, in runs of equal length, so that nothing is padded and nothing is
masked; the answer is that of a padded (subsets, pairs) alignment whose padding is masked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from seacausal.aggregate.model import Head
from seacausal.aggregate.tokens import EDGE_TYPES

SHORT = 3
"""Up to this length, sequences are too short for matrix products to pay."""
Runs = list[tuple[int, int]]
"""How a flat array falls into sequences: (how many, how long), one after the other."""


@dataclass(frozen=True)
class PaperConfig:
    """Sizes of the network."""

    width: int = 64
    """Size of a token."""
    blocks: int = 4
    """Depth."""
    heads: int = 8
    """Attention heads."""
    hidden: int = 64
    """Width of the feed-forward layers."""
    dropout: float = 0.1
    """Share of the updates' entries that are left out in training."""
    variables: int = 1000
    """Node embeddings, and most variables of a data set."""
    subsets: int = 500
    """Subset embeddings, and most subsets of a data set."""
    tied: bool = False
    """Whether all sequences of a data set share one attention map per head: logits of the same two positions are summed, as in the authors' program,
    and divided by the root of their number."""


class Paper(nn.Module):
    """The paper's aggregator."""

    def __init__(self, config: PaperConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or PaperConfig()
        w = config.width
        self.read = nn.Linear(1, w)
        self.of_node = nn.Embedding(config.variables, w)
        self.of_time = nn.Embedding(config.subsets, w)
        self.of_type = nn.Embedding(EDGE_TYPES, w)
        for embedding in (self.of_node, self.of_time):  # they tell variables and subsets apart, and say nothing else
            nn.init.normal_(embedding.weight, std=0.1)
        self.cause = nn.Linear(w, w)
        self.effect = nn.Linear(w, w, bias=False)
        self.pair = nn.Linear(w, w)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.blocks))
        self.head = Head(w)

    def forward(self, statistic: Tensor, nodes: Tensor, times: Tensor, types: Tensor, order: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """(b, d, d, 3) logits of no edge, i -> j, j -> i; arguments as in `tokens.join_tokens`."""
        b, d, _ = statistic.shape
        layout = Layout(b, d, types, order, segments, lengths, tied=self.config.tied)
        nodes = self.of_node(nodes)
        x = self.read(statistic[..., None]) + nodes[:, :, None] + nodes[:, None]
        pairs = self.pair((self.cause(nodes)[:, :, None] + self.effect(nodes)[:, None]).relu())
        tokens = self.of_type(types) + self.of_time(times)[:, None]
        tokens = tokens.reshape(-1, self.config.width) + layout.to_subsets(layout.spread(layout.take(pairs.flatten(0, 2))))
        for block in self.blocks:
            x, tokens = block(x, tokens, layout)
        return self.head(x)

    def settings(self) -> dict[str, Any]:
        """The configuration, as saved beside the weights."""
        return asdict(self.config)


class Block(nn.Module):
    """A layer of the marginal track, its message, a layer of the global track, and its message back."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        w = config.width
        self.inside, self.along = Attention(config), Attention(config)
        self.marginal = FeedForward(config)
        self.uncovered = nn.Parameter(torch.zeros(w))
        self.merge = nn.Linear(2 * w, w)
        self.rows, self.columns = Attention(config), Attention(config)
        self.globally = FeedForward(config)
        with torch.no_grad():  # what a pair was goes on as it is
            self.merge.weight[:, :w] = torch.eye(w)

    def forward(self, x: Tensor, tokens: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
        """(b, d, d, w) pairs and (n, w) tokens, both updated."""
        tokens = self.inside(tokens, layout.subset_runs, layout.subset_ties)
        tokens = self.along(layout.to_segments(tokens), layout.segment_runs, layout.segment_ties)
        tokens = self.marginal(tokens)
        message = layout.give(layout.average(tokens), self.uncovered).view(x.shape)
        x = self.merge(torch.cat([x, message], -1))
        x = self.rows(x.flatten(0, 2), layout.pair_runs, layout.pair_ties).view(x.shape).transpose(1, 2)
        x = self.columns(x.flatten(0, 2), layout.pair_runs, layout.pair_ties).view(x.shape).transpose(1, 2)
        x = self.globally(x)
        tokens = tokens + layout.spread(layout.take(x.flatten(0, 2)))
        return x, layout.to_subsets(tokens)


class Attention(nn.Module):
    """Self-attention within each sequence of a flat array: x + dropout(attention(norm(x)))."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        w = config.width
        self.heads = config.heads
        self.norm = nn.LayerNorm(w)
        self.inward = nn.Linear(w, 3 * w)
        self.outward = nn.Linear(w, w)
        self.dropout = nn.Dropout(config.dropout)
        nn.init.zeros_(self.outward.weight)
        nn.init.zeros_(self.outward.bias)

    def forward(self, x: Tensor, runs: Runs, ties: Ties | None = None) -> Tensor:
        """(n, w) -> (n, w)."""
        qkv = self.inward(self.norm(x)).split([count * length for count, length in runs])
        split = [part.view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4) for part, (count, length) in zip(qkv, runs)]
        scale = split[0].shape[-1] ** -0.5
        if ties is None:
            mixed = [v if v.shape[2] == 1 else _weigh(_score(q * scale, k), v) for q, k, v in split]
        else:
            scores = ties.sum([_score(q * scale, k) for q, k, _ in split])
            mixed = [_weigh(score, part[2]) for score, part in zip(scores, split)]
        mixed = torch.cat([part.transpose(1, 2).reshape(-1, x.shape[1]) for part in mixed])
        return x + self.dropout(self.outward(mixed))


class FeedForward(nn.Module):
    """x + dropout(f(norm(x)))."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.width)
        self.inward = nn.Linear(config.width, config.hidden)
        self.outward = nn.Linear(config.hidden, config.width)
        self.dropout = nn.Dropout(config.dropout)
        nn.init.zeros_(self.outward.weight)
        nn.init.zeros_(self.outward.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., w) -> (..., w)."""
        return x + self.dropout(self.outward(self.inward(self.norm(x)).relu()))


def _score(q: Tensor, k: Tensor) -> Tensor:
    """(s, h, m, c) twice -> (s, h, m, m) logits."""
    return (q[..., :, None, :] * k[..., None, :, :]).sum(-1) if q.shape[2] <= SHORT else q @ k.transpose(2, 3)


def _weigh(score: Tensor, v: Tensor) -> Tensor:
    """(s, h, m, m) logits and (s, h, m, c) values -> (s, h, m, c)."""
    weight = score.softmax(-1)
    return (weight[..., None] * v[..., None, :, :]).sum(-2) if v.shape[2] <= SHORT else weight @ v


class Layout:
    """Where the tokens of a minibatch stand: subset by subset, and segment by segment; n tokens, e segments."""

    def __init__(self, b: int, d: int, types: Tensor, order: Tensor, segments: Tensor, lengths: Tensor, *, tied: bool) -> None:
        self.subset_runs: Runs = [(types.shape[0], types.shape[1])]
        length, count = torch.unique_consecutive(lengths, return_counts=True)
        self.segment_runs: Runs = list(zip(count.tolist(), length.tolist()))
        self.pair_runs: Runs = [(b * d, d)]
        self._order, self._back = order, _invert(order, len(order))
        self._cells, self._owner = segments, _invert(segments, b * d * d)
        self.subset_ties = self.segment_ties = self.pair_ties = None
        if tied:
            cells = segments.repeat_interleave(lengths)
            subsets = order // types.shape[1]
            self.subset_ties = Ties(cells[self._back], self.subset_runs)
            self.segment_ties = Ties(subsets, self.segment_runs)
            place = torch.arange(b * d * d, device=order.device)
            self.pair_ties = Ties(place // (d * d) * d + place % d, self.pair_runs)

    def to_segments(self, tokens: Tensor) -> Tensor:
        """(n, w) tokens by subset -> by segment."""
        return _Move.apply(tokens, self._order, self._back)

    def to_subsets(self, tokens: Tensor) -> Tensor:
        """(n, w) tokens by segment -> by subset."""
        return _Move.apply(tokens, self._back, self._order)

    def take(self, pairs: Tensor) -> Tensor:
        """(b d d, w) of every pair -> (e, w) of those that have a segment."""
        return _Move.apply(pairs, self._cells, self._owner)

    def give(self, parts: Tensor, otherwise: Tensor) -> Tensor:
        """(e, w) -> (b d d, w), with the constant (w,) for pairs that no subset holds."""
        return torch.where((self._owner < 0)[:, None], otherwise, _Move.apply(parts, self._owner, self._cells))

    def average(self, tokens: Tensor) -> Tensor:
        """(n, w) by segment -> (e, w) means."""
        parts = tokens.split([count * length for count, length in self.segment_runs])
        return torch.cat([part.view(*run, -1).mean(1) for part, run in zip(parts, self.segment_runs)])

    def spread(self, parts: Tensor) -> Tensor:
        """(e, w) -> (n, w), each to all tokens of its segment."""
        runs = zip(parts.split([count for count, _ in self.segment_runs]), self.segment_runs)
        return torch.cat([part[:, None].expand(-1, length, -1).flatten(0, 1) for part, (_, length) in runs])


class Ties:
    """Which logits of all sequences are about the same two positions."""

    def __init__(self, place: Tensor, runs: Runs) -> None:
        """`place` (n,): the position of every token, the same in all sequences that it is shared by."""
        parts = place.split([count * length for count, length in runs])
        shaped = [part.view(run) for part, run in zip(parts, runs)]
        keys = torch.cat([(part[:, :, None] * (place.max() + 1) + part[:, None]).flatten() for part in shaped])
        _, self._group, self._count = keys.unique(return_inverse=True, return_counts=True)

    def sum(self, scores: list[Tensor]) -> list[Tensor]:
        """(s, h, m, m) logits of every run, each the sum over its group, divided by the root of the group's size."""
        flat = torch.cat([score.permute(0, 2, 3, 1).flatten(0, 2) for score in scores])
        sums = flat.new_zeros(len(self._count), flat.shape[1]).index_add(0, self._group, flat)
        tied = (sums * self._count[:, None].to(flat) ** -0.5)[self._group].split([score[:, 0].numel() for score in scores])
        return [part.view(len(score), *score.shape[2:], -1).permute(0, 3, 1, 2) for part, score in zip(tied, scores)]


def _invert(places: Tensor, size: int) -> Tensor:
    """(size,), where each number stands in `places`, or -1."""
    out = torch.full((size,), -1, device=places.device)
    out[places] = torch.arange(len(places), device=places.device)
    return out


class _Move(torch.autograd.Function):
    """Rows of x moved to new places, at most once each: `there` says from where every row comes (-1: nowhere, it is 0) and `back` the reverse.

    A gather whose gradient is another gather; torch's own gradient adds row by row, which is slow.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, there: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(there, back)
        return _gather(x, there)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        _, back = ctx.saved_tensors
        return _gather(gradients[0], back), None, None


def _gather(x: Tensor, places: Tensor) -> Tensor:
    return x.index_select(0, places.clamp(min=0)).masked_fill((places < 0)[:, None], 0.0)
