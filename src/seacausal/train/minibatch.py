"""Minibatches simulated on the fly; each is a pure function of (seed, step, rank), so training resumes exactly and needs no data on disk.

To simulate a data set and to look at it costs five times what the network does with it, so a run may use each more than once: every so many steps
a minibatch is new, the others are earlier ones shown again, with other groups of channels left out. A network that knows little gains from that, one
that knows much learns them by heart. Those kept in memory save time alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from seacausal.simulate.domain import SIZES, Domain, Size, draw_specification
from seacausal.simulate.recipe import simulate
from seacausal.train.presets import BasePreset, Preset

REACH = 1000
"""A minibatch that is shown again is one of so many last ones."""

Memory = dict[int, list[tuple[Any, np.ndarray]]]


def draw_minibatch(
    seed: int,
    step: int,
    rank: int,
    workers: int,
    *,
    sizes: tuple[Size, ...] = SIZES,
    domain: Domain | None = None,
    preset: Preset | None = None,
    uses: int = 1,
    memory: Memory | None = None,
) -> tuple[dict[str, Tensor], Tensor]:
    """The share of one worker; where `workers` divides the batch, the shares of all are together what one worker would draw.

    Parameters
    ----------
    uses
        How often a data set is shown on average.
    memory
        Keeps those that may be shown again, of this worker and this seed alone; what it lacks is simulated anew.

    Returns
    -------
    The network's arguments by name, and (b, d, d) int64 classes: 0 no edge, 1 i -> j, 2 j -> i.
    """
    preset, domain = preset or BasePreset(), domain or Domain()
    memory = {} if memory is None or uses == 1 else memory
    origin = _choose_origin(seed, step, uses)
    shared = np.random.default_rng([seed, origin])  # the same on every worker
    share = np.array([size.share for size in sizes])
    size = sizes[shared.choice(len(sizes), p=share / share.sum())]
    d = int(shared.integers(size.smallest, size.largest + 1))
    count = max(1, size.batch // workers)
    numbers = range(rank * count, (rank + 1) * count)
    if origin not in memory:
        memory[origin] = [_draw_example(preset, d, domain, np.random.default_rng([seed, origin, number])) for number in numbers]
    examples, classes = zip(*memory[origin])
    for old in [one for one in memory if one <= step - uses * REACH]:
        del memory[old]
    shown = [preset.show(one, generator=np.random.default_rng([seed, step, number, 1])) for one, number in zip(examples, numbers)]
    return {name: torch.from_numpy(array) for name, array in preset.collate(shown).items()}, torch.from_numpy(np.stack(classes))


def _choose_origin(seed: int, step: int, uses: int) -> int:
    """The step whose minibatch is shown: this one, or one of the `REACH` last that were new."""
    if step % uses == 0:
        return step
    newest = step // uses
    return uses * int(np.random.default_rng([seed, step]).integers(max(0, newest - REACH + 1), newest + 1))


def _draw_example(preset: Preset, d: int, domain: Domain, generator: np.random.Generator) -> tuple[Any, np.ndarray]:
    """What there is to see of one data set, and its classes; one with a constant or infinite column, or a pair of mutual causes, is drawn again."""
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
