"""Maximal ancestral graphs by brute force: m-separation of many graphs at once, and the PAG that a set of equivalent ones shares.

A graph is a (k, k) array of marks; functions take (g, k, k), and answers are (k, k, 2**k) tables as in `seacausal.estimate.independence`.
"""

import itertools

import numpy as np

from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

EDGES = ((NO_EDGE, NO_EDGE), (TAIL, ARROW), (ARROW, TAIL), (ARROW, ARROW), (TAIL, TAIL))


def graphs_on(skeleton: np.ndarray, *, free: bool = False) -> np.ndarray:
    """(g, k, k), every way to put -->, <-- , <-> or --- on the edges of a skeleton; with `free`, to leave any of them out, too."""
    pairs = [(i, j) for i, j in itertools.combinations(range(len(skeleton)), 2) if skeleton[i, j]]
    ways = np.array(list(itertools.product(EDGES[0 if free else 1 :], repeat=len(pairs))), np.int8)
    ways = ways.reshape(len(ways), len(pairs), 2)
    graphs = np.zeros((len(ways), *skeleton.shape), np.int8)
    for p, (i, j) in enumerate(pairs):
        graphs[:, j, i], graphs[:, i, j] = ways[:, p, 0], ways[:, p, 1]
    return graphs


def ancestors_in(graphs: np.ndarray) -> np.ndarray:
    """(g, k, k) bool: i = j, or a directed path leads from i to j."""
    reach = ((graphs == ARROW) & (graphs.swapaxes(1, 2) == TAIL)) | np.eye(graphs.shape[1], dtype=bool)
    for _ in range(graphs.shape[1].bit_length()):
        reach = reach @ reach
    return reach


def are_ancestral(graphs: np.ndarray) -> np.ndarray:
    """(g,) bool: an arrow at j says that j is no ancestor of its neighbour, and nothing with --- has an arrow (Richardson and Spirtes, 2002)."""
    arrows = graphs == ARROW
    undirected = ((graphs == TAIL) & (graphs.swapaxes(1, 2) == TAIL)).any(1)
    return ~(arrows & ancestors_in(graphs).swapaxes(1, 2)).any((1, 2)) & ~(arrows.any(1) & undirected).any(1)


def separated_given(graphs: np.ndarray, given: int) -> np.ndarray:
    """(g, k, k) bool, m-separation by one set: of walks whose colliders are ancestors of it and whose other inner variables are outside it."""
    k = graphs.shape[1]
    joined, into = graphs != NO_EDGE, graphs == ARROW
    out = into.swapaxes(1, 2)  # out[i, j]: the edge between i and j has an arrow at i
    inside = np.array([given >> v & 1 == 1 for v in range(k)])
    opened = ancestors_in(graphs)[:, :, inside].any(2)
    separated = np.zeros(graphs.shape, bool)
    for start in np.flatnonzero(~inside):
        arrow, tail = into[:, start], joined[:, start] & ~into[:, start]  # how the end of a walk was reached
        for _ in range(2 * k):
            # (g, k, k): the walk may go from i to j
            onward = joined & ((arrow & opened)[:, :, None] & out | (arrow & ~inside)[:, :, None] & ~out | (tail & ~inside)[:, :, None])
            arrow, tail = arrow | (onward & into).any(1), tail | (onward & ~into).any(1)
        separated[:, start, ~inside] = ~(arrow | tail)[:, ~inside]
        separated[:, start, start] = False
    return separated


def separated_in(graphs: np.ndarray) -> np.ndarray:
    """(g, k, k, 2**k) bool, m-separation by every set."""
    return np.stack([separated_given(graphs, given) for given in range(1 << graphs.shape[1])], 3)


def are_maximal(graphs: np.ndarray, separated: np.ndarray) -> np.ndarray:
    """(g,) bool: what is not adjacent can be separated."""
    return ((graphs != NO_EDGE) | separated.any(3) | np.eye(graphs.shape[1], dtype=bool)).all((1, 2))


def shared_marks(graphs: np.ndarray) -> np.ndarray:
    """The marks that all graphs share; a circle where they differ."""
    return np.where((graphs == graphs[0]).all(0), graphs[0], CIRCLE)


def dag_of(adjacency: np.ndarray) -> np.ndarray:
    """The marks of a DAG, `adjacency[i, j]` is i -> j."""
    return np.select([adjacency, adjacency.T], [ARROW, TAIL], NO_EDGE).astype(np.int8)


def observed(separated: np.ndarray, measured: list[int], selected: list[int]) -> np.ndarray:
    """The answers among the measured variables, in their order, from those of a whole graph, given the selected ones."""
    k = len(measured)
    whole = [sum(1 << measured[v] for v in range(k) if given >> v & 1) | sum(1 << s for s in selected) for given in range(1 << k)]
    return separated[np.ix_(measured, measured, whole)]


def pag_of(separated: np.ndarray) -> np.ndarray:
    """The PAG of answers that come from a graph: what all maximal ancestral graphs with these answers share."""
    skeleton = ~separated.any(2)
    np.fill_diagonal(skeleton, False)
    graphs = graphs_on(skeleton)
    graphs = graphs[are_ancestral(graphs)]
    for given in range(separated.shape[2]):
        graphs = graphs[(separated_given(graphs, given) == separated[:, :, given]).all((1, 2))]
    return shared_marks(graphs)
