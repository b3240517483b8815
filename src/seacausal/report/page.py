"""One HTML page of a causal graph that needs nothing else: the graph in layers with a threshold to move, and a table of all likely edges.

In: `EdgeProbabilities`, a threshold and lines of text. Out: the bytes of the page, which depend on nothing but those. The graph is placed once, at
the threshold given, by the layout of the picture; the page's own script draws the edges. No matplotlib, so that it can be made while that draws.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from seacausal.data import EdgeProbabilities
from seacausal.report.layout import keep_strongest, layout_layers

LEAST = 0.05
"""Pairs that are joined with a smaller probability are left out."""
MOST = 20_000
"""So are all but so many pairs, the likeliest."""
PITCH, LINE = 84.0, 40.0
"""Distance between layers, and between lines of variables without an edge."""
FRAME = (400.0, 240.0)
"""A smaller graph is not enlarged beyond this."""
LETTER, LONGEST = 7.6, 24
"""Width of a letter, and letters of a name that fit into its box."""


def render_page(probabilities: EdgeProbabilities, threshold: float, *, notes: Sequence[str] = ()) -> bytes:
    """The page, in UTF-8.

    Parameters
    ----------
    probabilities
        Of every ordered pair.
    threshold
        Where the page begins.
    notes
        Lines that stand above the graph.
    """
    direct = probabilities.direct
    both = direct + direct.T
    first, second = np.nonzero(np.triu(both >= LEAST, 1))
    kept = np.argsort(-both[first, second], kind="stable")[:MOST]
    pairs = []
    for i, j in zip(first[kept].tolist(), second[kept].tolist()):
        i, j = (i, j) if direct[i, j] >= direct[j, i] else (j, i)
        pairs.append([i, j, round(float(direct[i, j]), 4), round(float(direct[j, i]), 4)])
    content = _place(probabilities, threshold) | {"names": probabilities.names, "pairs": pairs, "threshold": threshold, "notes": list(notes)}
    # No name can end the script that holds it.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    page = (files("seacausal.report") / "page.html").read_text(encoding="utf-8")
    return page.replace("/*DATA*/", data).encode()


def _place(probabilities: EdgeProbabilities, threshold: float) -> dict[str, Any]:
    """Where variables and bends go, in pixels."""
    direct = probabilities.direct
    edges = (direct > threshold) | probabilities.undecided(threshold)
    weight = np.maximum(direct, direct.T)
    keep_strongest(edges, weight)
    linked = edges.any(0) | edges.any(1)
    shown, alone = np.flatnonzero(linked), np.flatnonzero(~linked)
    widths = np.array([LETTER * min(len(name), LONGEST) + 18 for name in probabilities.names])
    layout = layout_layers(edges[np.ix_(shown, shown)], weight[np.ix_(shown, shown)], widths[shown])
    places = np.zeros((len(widths), 2))
    places[shown] = layout.positions * (1, PITCH)
    breadth = max(np.ptp(places[shown, 0]) if len(shown) else 0.0, 700.0)
    left, line = (places[shown, 0].min() if len(shown) else 0.0), (places[shown, 1].max() + PITCH if len(shown) else 0.0)
    at = left
    for v in alone.tolist():
        if at > left and at + widths[v] > left + breadth:
            at, line = left, line + LINE
        places[v] = at + widths[v] / 2, line
        at += widths[v] + 12
    low = np.array([(places[:, 0] - widths / 2).min(), places[:, 1].min()]) - 30
    high = np.array([(places[:, 0] + widths / 2).max(), places[:, 1].max()]) + 30
    size = np.maximum(high - low, FRAME)
    corner = (low + high - size) / 2
    bends = {
        f"{shown[i]},{shown[j]}": (points * (1, PITCH)).round(1).tolist()
        for (i, j), points in zip(layout.edges.tolist(), layout.bends)
        if len(points)
    }
    x, y = places.round(1).T.tolist()
    return {"x": x, "y": y, "widths": widths.round(1).tolist(), "bends": bends, "box": [*corner.round(1).tolist(), *size.round(1).tolist()]}
