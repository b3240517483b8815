"""The picture of a simulated data set: its true graph beside some of its variables against one of their parents.

In: a `Dataset` whose graph is known. Out: a matplotlib `Figure`. This module imports matplotlib: import it only where something is drawn.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from seacausal.data import Dataset, EdgeProbabilities
from seacausal.errors import DataError
from seacausal.estimate.statistics import spaced_rows
from seacausal.report.plots import DPI, EXTRA, FAINT, FONT, FOUND, INK, MUTED, SMALL, plot_layers

POINTS_SHOWN = 1000
"""Rows drawn of each kind."""
KINDS = (("no target", MUTED), ("cause is a target", FOUND), ("effect is a target", EXTRA))


def plot_dataset(dataset: Dataset, *, pairs: int = 9) -> Figure:
    """The graph in layers, and to its right `pairs` of its edges, at most: the effect over the cause, a point a row.

    Edges are spread over the effects, so that as many variables as possible are seen. Rows in which the cause or the effect was intervened on have
    colours of their own, and of every kind no more than `POINTS_SHOWN` rows are drawn, evenly spread. Cells that are missing are left out.

    Raises
    ------
    DataError
        If the graph is not known.
    """
    if dataset.adjacency is None:
        raise DataError("The graph of the data set must be known to be drawn; found none. Draw what `discover` finds instead.")
    edges = spread_edges(dataset.adjacency, pairs)
    columns = int(np.ceil(np.sqrt(len(edges))))
    rows = -(-len(edges) // columns) if columns else 0
    figure = Figure(figsize=(6.0 + 2.1 * columns, max(5.0, 2.1 * rows + 0.9)), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0.2 / width, 0.2 / height, 5.4 / width, 1 - 0.8 / height))
    plot_layers(axes, EdgeProbabilities(dataset.adjacency.astype(float), dataset.names), 0.0)
    n, d = dataset.values.shape
    title = f"{n:,} rows, {d} variables, {int(dataset.adjacency.sum())} edges"
    figure.text(0.2 / width, 1 - 0.35 / height, title, size=12, weight="bold", color=INK, va="center")
    targeted = dataset.targets[dataset.regime]
    for number, (cause, effect) in enumerate(edges):
        left, top = 6.0 + 2.1 * (number % columns) + 0.35, 0.75 + 2.1 * (number // columns)
        panel = figure.add_axes((left / width, 1 - (top + 1.6) / height, 1.6 / width, 1.6 / height))
        _draw_pair(panel, dataset, cause, effect, targeted)
    if edges and targeted.any():
        for at, (label, color) in enumerate(KINDS):
            figure.text((6.35 + 1.5 * at) / width, 1 - 0.35 / height, f"● {label}", size=SMALL, color=color, va="center")
    return figure


def spread_edges(adjacency: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Up to `count` edges (cause, effect): one for each effect first, then a second one, and so on; `adjacency[i, j]` is i -> j."""
    edges = np.argwhere(adjacency.T)[:, ::-1]  # by effect
    turn = np.concatenate([np.arange(k) for k in adjacency.sum(0)]).astype(int) if len(edges) else np.zeros(0, int)
    chosen = np.sort(np.lexsort((np.arange(len(edges)), turn))[:count])
    return [(int(cause), int(effect)) for cause, effect in edges[chosen]]


def _draw_pair(axes: Axes, dataset: Dataset, cause: int, effect: int, targeted: np.ndarray) -> None:
    kind = np.where(targeted[:, effect], 2, np.where(targeted[:, cause], 1, 0))
    for number, (_, color) in enumerate(KINDS):
        rows = np.flatnonzero(kind == number)
        rows = spaced_rows(rows, POINTS_SHOWN)
        axes.plot(
            dataset.values[rows, cause],
            dataset.values[rows, effect],
            ".",
            color=color,
            markersize=2.6 if number else 2.2,
            alpha=0.9 if number else 0.4,
            markeredgewidth=0,
        )
    axes.set_title(f"{dataset.names[cause]} → {dataset.names[effect]}", size=FONT, color=INK, pad=3, parse_math=False)
    axes.tick_params(labelsize=SMALL - 2, colors=MUTED, length=2, pad=1)
    axes.locator_params(nbins=4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
