"""Data sets that are drawn once, never trained on, and scored again and again with the averaged weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from seacausal.graph.metrics import score_average_precision

STREAM = 2**40
"""Validation minibatches are those of the steps from here on, which no run reaches."""


class Validation:
    """The share of one worker of the fixed sets."""

    def __init__(self, draw: Callable[[int, int, int], tuple[dict[str, Tensor], Tensor]], minibatches: int, rank: int, workers: int) -> None:
        """`draw` is called with step, worker and number of workers."""
        self._minibatches = [draw(STREAM + number, 0, 1) for number in range(rank, minibatches, workers)]

    def score(self, model: nn.Module, weights: dict[str, Tensor]) -> Tensor:
        """(4,) float64: sum of the losses (nats a pair) and number of minibatches, sum of the average precisions and number of data sets."""
        total, device = np.zeros(4), next(iter(weights.values())).device
        training = model.training
        model.eval()
        for inputs, classes in self._minibatches:
            with torch.no_grad():
                logits = functional_call(model, weights, (), {name: value.to(device) for name, value in inputs.items()}).cpu()
            total[:2] += float(pair_loss(logits, classes)), 1
            each = zip((classes == 1).numpy(), logits.softmax(-1)[..., 1].numpy())
            scores = [score_average_precision(truth, guess) for truth, guess in each if truth.any()]
            total[2:] += sum(scores), len(scores)
        model.train(training)
        return torch.from_numpy(total)


def pair_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """Mean cross entropy (nats) over unordered pairs; (b, d, d, 3) and (b, d, d)."""
    i, j = torch.triu_indices(logits.shape[1], logits.shape[1], 1)
    return torch.nn.functional.cross_entropy(logits[:, i, j].reshape(-1, 3), classes[:, i, j].reshape(-1))
