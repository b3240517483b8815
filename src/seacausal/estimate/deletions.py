"""Edges that a graph's equivalence class can do without, though the graph itself cannot.

In: a graph and its order. Out: an order of another graph of the class, from which a search by single variables drops the edge.

Where a --- b have a neighbour c in common, the order may have c before both, which makes them depend, and no single variable can move from there to
a -> c <- b without a --- b. In a graph of the class in which a and b stand before all that undirected edges lead to from them, b's other parents are
those by arrows, and the edge pays or does not; and so in one in which a single common neighbour stands before both. These are deletions of GES, with
all common neighbours or all but one (Chickering, 2002, Optimal structure identification with greedy search).
"""

from __future__ import annotations

import math

import numpy as np

from seacausal.estimate.parents import GAIN
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.marks import ARROW, undirected_edges


def drop_line(correlation: np.ndarray, graph: np.ndarray, order: np.ndarray, penalty: float) -> np.ndarray | None:
    """An order of another graph of the class, in which the edge that pays least need not be; None if all edges pay.

    Parameters
    ----------
    correlation
        (d, d).
    graph, order
        (d, d) bool, and (d,) variables, parents before children.
    penalty
        Of an edge, in -2 log-likelihoods a row.

    Returns
    -------
    (d,) variables, the two ends of the edge that pays least before all that undirected edges lead to from them, but for one neighbour at most.
    """
    marks, correlation = essential_graph(graph)[np.ix_(order, order)], correlation[np.ix_(order, order)]
    arrows, lines = marks == ARROW, undirected_edges(marks)
    least, first = penalty - GAIN, None
    for a, b in np.argwhere(np.triu(lines & (lines.astype(int) @ lines > 0))):
        above = np.flatnonzero(arrows[:, b])
        for before in ([], *([c] for c in np.flatnonzero(lines[a] & lines[b]))):
            chosen = [a, b, *before, *above]
            precision = np.linalg.inv(correlation[np.ix_(chosen, chosen)])
            gain = -math.log1p(-(precision[0, 1] ** 2) / (precision[0, 0] * precision[1, 1]))
            if gain < least:
                least, first = gain, [b, a, *before]
    if first is None:
        return None
    wish, free, parted = np.zeros(len(order), int), np.ones(len(order), bool), []
    wish[first] = range(1, len(first) + 1)
    for _ in order:  # Maximum cardinality search makes no new v-structure (Tarjan and Yannakakis, 1984).
        ready = free & ~(arrows & free[:, None]).any(0)
        parted.append(int(np.where(ready, 3 * lines[~free].sum(0) + wish, -1).argmax()))
        free[parted[-1]] = False
    return order[parted]
