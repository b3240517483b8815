"""Minibatches simulated on the fly; each is a pure function of (seed, step, rank), so training resumes exactly and needs no data on disk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from seacausal.aggregate.encoding import GROUPS, encode
from seacausal.simulate.domain import SIZES, Domain, Size, draw_specification
from seacausal.simulate.recipe import simulate
from seacausal.views import Views, view_dataset

DROPPED = {"correlation": 0.03, "moments": 0.2, "variances": 0.4, "orders": 0.15, "estimates": 0.15, "interventions": 0.15}
"""How often each group of channels is switched off."""


def draw_minibatch(
    seed: int,
    step: int,
    rank: int,
    workers: int,
    *,
    sizes: tuple[Size, ...] = SIZES,
    domain: Domain | None = None,
    view: Callable[..., Views] = view_dataset,
) -> tuple[Tensor, Tensor]:
    """The share of one worker; where `workers` divides the batch, the shares of all are together what one worker would draw.

    Parameters
    ----------
    view
        `view_dataset`, or that with another algorithm or statistic.

    Returns
    -------
    (b, d, d, c) float32 channels and (b, d, d) int64 classes: 0 no edge, 1 i -> j, 2 j -> i.
    """
    shared = np.random.default_rng([seed, step])  # the same on every worker
    share = np.array([size.share for size in sizes])
    size = sizes[shared.choice(len(sizes), p=share / share.sum())]
    d = int(shared.integers(size.smallest, size.largest + 1))
    count = max(1, size.batch // workers)
    generators = [np.random.default_rng([seed, step, rank * count + k]) for k in range(count)]
    channels, classes = zip(*[_draw_example(generator, d, domain or Domain(), view) for generator in generators])
    return torch.from_numpy(np.stack(channels)), torch.from_numpy(np.stack(classes))


def _draw_example(generator: np.random.Generator, d: int, domain: Domain, view: Callable[..., Views]) -> tuple[np.ndarray, np.ndarray]:
    """Channels and classes of one data set; one with a constant or infinite column, or a pair of mutual causes, is drawn again."""
    for _ in range(20):
        dataset = simulate(draw_specification(domain, d, generator=generator), generator=generator)
        subsets = int(np.exp(generator.uniform(np.log(4), np.log(4 + 5 * d))))
        assert dataset.adjacency is not None
        if not np.isfinite(dataset.values).all() or (dataset.adjacency & dataset.adjacency.T).any():
            continue
        views = view(dataset, subsets, seed=int(generator.integers(2**31)))
        if views.kept.all():
            break
    else:
        raise FloatingPointError("Twenty simulated data sets in a row had a constant or infinite column; narrow the domain.")
    groups = {group for group in GROUPS if generator.random() >= DROPPED[group]} or set(GROUPS)
    classes = dataset.adjacency.astype(np.int64) + 2 * dataset.adjacency.T
    return encode(views.channels, views.rows, groups), classes
