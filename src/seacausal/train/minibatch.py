"""Minibatches simulated on the fly; each is a pure function of (seed, step, rank), so training resumes exactly and needs no data on disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seacausal.aggregate.encoding import GROUPS, encode
from seacausal.simulate.dataset import simulate_dataset
from seacausal.train.domain import Domain, draw_simulation
from seacausal.views import view_dataset


@dataclass(frozen=True)
class Size:
    """Data sets of similar width."""

    smallest: int
    """Fewest variables."""
    largest: int
    """Most variables."""
    batch: int
    """Data sets per minibatch, over all workers together."""
    share: float
    """Share of the steps."""


SIZES = (Size(2, 14, 16, 0.57), Size(15, 30, 8, 0.27), Size(31, 60, 4, 0.1), Size(61, 110, 2, 0.06))
DROPPED = {"correlation": 0.03, "moments": 0.2, "variances": 0.4, "orders": 0.15, "estimates": 0.15, "interventions": 0.15}
"""How often each group of channels is switched off."""


def draw_minibatch(
    seed: int, step: int, rank: int, workers: int, *, sizes: tuple[Size, ...] = SIZES, domain: Domain | None = None
) -> tuple[Tensor, Tensor]:
    """The share of one worker; where `workers` divides the batch, the shares of all are together what one worker would draw.

    Returns
    -------
    (b, d, d, c) float32 channels and (b, d, d) int64 classes: 0 no edge, 1 i -> j, 2 j -> i.
    """
    shared = np.random.default_rng([seed, step])  # the same on every worker
    share = np.array([size.share for size in sizes])
    size = sizes[shared.choice(len(sizes), p=share / share.sum())]
    d = int(shared.integers(size.smallest, size.largest + 1))
    count = max(1, size.batch // workers)
    channels, classes = zip(*[_draw_example(np.random.default_rng([seed, step, rank * count + k]), d, domain or Domain()) for k in range(count)])
    return torch.from_numpy(np.stack(channels)), torch.from_numpy(np.stack(classes))


def _draw_example(generator: np.random.Generator, d: int, domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Channels and classes of one data set; one with a constant or infinite column is drawn again."""
    for _ in range(20):
        dataset = simulate_dataset(draw_simulation(domain, d, generator=generator), generator=generator)
        subsets = int(np.exp(generator.uniform(np.log(4), np.log(4 + 5 * d))))
        if not np.isfinite(dataset.values).all():
            continue
        views = view_dataset(dataset, subsets, seed=int(generator.integers(2**31)))
        if views.kept.all():
            break
    else:
        raise FloatingPointError("Twenty simulated data sets in a row had a constant or infinite column; narrow the domain.")
    groups = {group for group in GROUPS if generator.random() >= DROPPED[group]} or set(GROUPS)
    assert dataset.adjacency is not None
    classes = dataset.adjacency.astype(np.int64) + 2 * dataset.adjacency.T
    return encode(views.channels, views.rows, groups), classes
