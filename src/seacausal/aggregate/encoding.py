"""Statistics and pooled estimates become the channels of a (d, d) matrix of pair tokens.

Channels come in groups that may be absent, each with a flag, so that one network serves raw and standardised, observational and interventional
data, with or without local estimates. Every channel [i, j] stands beside its transpose, so that a token sees both directions of its pair.
"""

from __future__ import annotations

import numpy as np


def _order_channels(score: str) -> tuple[str, ...]:
    return tuple(f"{score} order {measure}" for measure in ("precedence", "significance", "strength", "strength significance"))


def _graph_channels(family: str) -> tuple[str, ...]:
    return (f"{family} graph precedence", f"{family} graph strength", *_few_channels(family))


def _few_channels(family: str) -> tuple[str, ...]:
    return tuple(f"{family} graph {measure}" for measure in ("significance", "strength significance", "edge"))


CHANNELS: dict[str, tuple[str, ...]] = {
    "correlation": (
        "correlation",
        "correlation significance",
        "partial correlation",
        "partial correlation significance",
        "rank correlation",
        "rank partial correlation",
        "linear residual",
    ),
    "moments": (
        "cubic",
        "cubic gain",
        "cubic gain significance",
        "square",
        "square significance",
        "square moment",
        "cube moment",
        "square asymmetry",
        "cube asymmetry",
        "additive",
        "additive significance",
        "additive square",
        "additive square significance",
        "additive residual",
        "skewness",
        "kurtosis",
        *("negentropy", "linear entropy", "linear entropy significance", "curve entropy", "curve entropy significance"),
    ),
    "variances": (
        "log variance",
        "log variance difference",
        "conditional log variance",
        "conditional log variance difference",
        *_order_channels("variance"),
    ),
    "orders": (*_order_channels("additive"), *_order_channels("entropy")),
    "graphs": (
        *(*_graph_channels("linear"), *_few_channels("sparse linear")),
        *(*_graph_channels("additive"), *_few_channels("sparse additive")),
    ),
    "categories": (
        *("mutual information", "mutual information significance", "levels"),
        *(f"category graph {measure}" for measure in ("strength", "significance", "orientation", "edge")),
        *(f"class {measure}" for measure in ("shape", "shape in classes", "spread", "skewness", "skewness trend")),
    ),
    "estimates": ("tail", "arrow", "circle", "posterior", "least adjacent", "covered", "visits"),
    "interventions": (
        *("shift", "shift significance", "log variance ratio", "log variance ratio significance", "target", "target rows"),
        *(*_graph_channels("targeted linear"), *_few_channels("targeted additive")),
    ),
}
"""Group: its channels."""
LOG_VARIANCES = CHANNELS["variances"][:4]
"""These have no bound."""
GROUPS = tuple(CHANNELS)
NAMES = tuple(name for names in CHANNELS.values() for name in names)
WIDTH = 2 * len(NAMES) + len(GROUPS) + 3
"""c: the channels, their transposes, a flag for each group, the diagonal, rows and variables."""
LIMIT = 5.0


def find_present(views: dict[str, np.ndarray], groups: frozenset[str] | set[str]) -> set[str]:
    """Those of the groups all of whose channels are there."""
    return {group for group in groups if all(name in views for name in CHANNELS[group])}


def encode(views: dict[str, np.ndarray], rows: int, groups: frozenset[str] | set[str] = frozenset(GROUPS)) -> np.ndarray:
    """Stack the channels of the groups asked for and present.

    Parameters
    ----------
    views
        (d, d) arrays by channel name.
    rows
        n, enters as its logarithm, capped at 20,000.

    Returns
    -------
    (d, d, c) float32; entry [i, j] is about i -> j.
    """
    d = len(next(iter(views.values())))
    present = find_present(views, groups)
    out = np.zeros((d, d, WIDTH), np.float32)
    at = 0
    for g, (group, names) in enumerate(CHANNELS.items()):
        if group in present:
            for c, name in enumerate(names):
                channel = np.arcsinh(views[name]) / 2 if name in LOG_VARIANCES else views[name]
                out[..., at + c] = np.clip(channel, -LIMIT, LIMIT)
            out[..., 2 * len(NAMES) + g] = 1
        at += len(names)
    out[..., len(NAMES) : 2 * len(NAMES)] = out[..., : len(NAMES)].swapaxes(0, 1)
    diagonal = np.arange(d)
    out[diagonal, diagonal, -3] = 1
    out[..., -2] = (np.log(min(rows, 20_000)) - 7) / 2
    out[..., -1] = np.log(min(d, 128)) - 3
    return out
