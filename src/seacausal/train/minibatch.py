"""Minibatches simulated on the fly; each is a pure function of (seed, step, rank), so training resumes exactly and needs no data on disk."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from seacausal.simulate.domain import SIZES, Domain, Size, draw_specification
from seacausal.simulate.recipe import simulate
from seacausal.train.presets import BasePreset, Preset


def draw_minibatch(
    seed: int, step: int, rank: int, workers: int, *, sizes: tuple[Size, ...] = SIZES, domain: Domain | None = None, preset: Preset | None = None
) -> tuple[dict[str, Tensor], Tensor]:
    """The share of one worker; where `workers` divides the batch, the shares of all are together what one worker would draw.

    Returns
    -------
    The network's arguments by name, and (b, d, d) int64 classes: 0 no edge, 1 i -> j, 2 j -> i.
    """
    preset, domain = preset or BasePreset(), domain or Domain()
    shared = np.random.default_rng([seed, step])  # the same on every worker
    share = np.array([size.share for size in sizes])
    size = sizes[shared.choice(len(sizes), p=share / share.sum())]
    d = int(shared.integers(size.smallest, size.largest + 1))
    count = max(1, size.batch // workers)
    examples, classes = zip(*[_draw_example(preset, d, domain, np.random.default_rng([seed, step, rank * count + k])) for k in range(count)])
    return {name: torch.from_numpy(array) for name, array in preset.collate(examples).items()}, torch.from_numpy(np.stack(classes))


def _draw_example(preset: Preset, d: int, domain: Domain, generator: np.random.Generator) -> tuple[Any, np.ndarray]:
    """What the preset sees of one data set, and its classes; one with a constant or infinite column, or a pair of mutual causes, is drawn again."""
    for _ in range(20):
        dataset = simulate(draw_specification(domain, d, generator=generator), generator=generator)
        subsets = preset.draw_subsets(d, generator=generator)
        assert dataset.adjacency is not None
        if not np.isfinite(dataset.values).all() or (dataset.adjacency & dataset.adjacency.T).any():
            continue
        example = preset.view(dataset, subsets, generator=generator)
        if example is not None:
            return example, dataset.adjacency.astype(np.int64) + 2 * dataset.adjacency.T
    raise FloatingPointError("Twenty simulated data sets in a row had a constant or infinite column; narrow the domain.")
