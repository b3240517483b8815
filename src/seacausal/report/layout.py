"""Places the variables of a directed graph in layers: causes above, effects below.

In: an adjacency matrix, where `adjacency[i, j]` is i -> j. Out: a `Layout` with a position for every variable and the bends of every edge. The
steps are Sugiyama's: feedback edges are turned round, variables are put in layers, an edge that skips layers gets a virtual point in each of them,
the points of a layer are ordered so that few edges cross, and x-coordinates are the least-squares straightest ones that keep points apart.
Surprising choices: a layer has a capacity, so that a hub with sixty effects becomes a block and not a line; the parts of a graph that are not
connected are placed on their own and then pushed together. numpy only, no randomness: importing igraph or networkx takes longer than the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

GAP = 12.0
"""Least space between two variables of a layer, in the unit of the widths."""
BEND_WIDTH = 7.0
"""Room that an edge takes where it passes through a layer."""
PITCH = 48.0
"""Distance between layers that is assumed when the shape of the picture is chosen."""
ASPECT = 1.25
"""Width of the picture over its height, aimed at."""

STEEP = 0.7
"""Most sideways movement, per unit downwards, of an edge that passes a layer: it stays clear of the boxes left and right."""
SAMPLES = 24
"""Points drawn for a stretch of an edge between two layers."""


MAX_EDGES = 800
"""A drawing shows no more edges than this, the strongest."""


@dataclass(frozen=True)
class Layout:
    """Where the variables and edges of a graph go."""

    positions: np.ndarray
    """(d, 2) float, the centre of every variable: x, and the layer, counted from 0 at the top."""
    edges: np.ndarray
    """(e, 2) int, cause and effect of every edge, in row-major order of the adjacency matrix."""
    bends: tuple[np.ndarray, ...]
    """For every edge a (p, 2) float array: x and layer of the points it passes, from cause to effect, one in each layer between them."""
    feedback: np.ndarray
    """(e,) bool, True for the edges that run upwards, because they close a cycle."""


def keep_strongest(edges: np.ndarray, weight: np.ndarray) -> None:
    """Leave the `MAX_EDGES` edges of largest weight of (d, d) bool, in place."""
    edges.flat[np.argsort(np.where(edges, -weight, np.inf), axis=None, kind="stable")[MAX_EDGES:]] = False


def layout_layers(adjacency: np.ndarray, weights: np.ndarray | None = None, widths: np.ndarray | None = None) -> Layout:
    """Places a graph in layers (Sugiyama, Tagawa & Toda 1981).

    Parameters
    ----------
    adjacency
        (d, d) bool, `adjacency[i, j]` is i -> j; the diagonal is ignored. Cycles are allowed.
    weights
        (d, d) float, how much an edge counts: the weakest edge of a cycle runs upwards. All equal by default.
    widths
        (d,) float, width of every variable's box. 50 by default.

    Examples
    --------
    >>> import numpy as np
    >>> layout_layers(np.array([[False, True, True], [False, False, True], [False, False, False]])).positions[:, 1]
    array([0., 1., 2.])
    """
    d = len(adjacency)
    adjacency = adjacency.astype(bool) & ~np.eye(d, dtype=bool)
    widths = np.full(d, 50.0) if widths is None else np.asarray(widths, float)
    edges = np.argwhere(adjacency)
    feedback = feedback_edges(edges, None if weights is None else weights[edges[:, 0], edges[:, 1]], d)
    down = np.where(feedback[:, None], edges[:, ::-1], edges)
    positions = np.zeros((d, 2))
    bends: list[np.ndarray] = [np.zeros((0, 2))] * len(edges)
    parts = []
    for members in _components(adjacency | adjacency.T):
        part_of = np.full(d, -1)
        part_of[members] = np.arange(len(members))
        inside = np.flatnonzero(part_of[edges[:, 0]] >= 0)
        parts.append((members, inside, _place(part_of[down[inside]], widths[members])))
    for (members, inside, part), shift in zip(parts, _pack([part for _, _, part in parts])):
        points = np.column_stack([part.x, part.layer]) + shift
        positions[members] = points[: len(members)]
        for edge, chain in zip(inside.tolist(), part.chains):
            inner = points[chain[1:-1]]
            bends[edge] = inner[::-1] if feedback[edge] else inner
    return Layout(positions, edges, tuple(bends), feedback)


def feedback_edges(edges: np.ndarray, weights: np.ndarray | None, d: int) -> np.ndarray:
    """(e,) bool, the edges that close a cycle when edges are added to a graph of d variables from the strongest to the weakest.

    What remains is a maximal acyclic subgraph; ties go to the earlier edge.
    """
    feedback = np.zeros(len(edges), bool)
    reach = np.eye(d, dtype=bool)
    for edge in np.argsort(np.zeros(len(edges)) if weights is None else -weights, kind="stable"):
        cause, effect = edges[edge]
        feedback[edge] = reach[effect, cause]
        if not feedback[edge] and not reach[cause, effect]:
            reach[reach[:, cause]] |= reach[effect]
    return feedback


def _components(linked: np.ndarray) -> list[np.ndarray]:
    """Connected parts of a symmetric (d, d) bool matrix, largest first."""
    label = np.arange(len(linked))
    for start in range(len(linked)):
        if label[start] == start:
            seen = np.zeros(len(linked), bool)
            front = seen.copy()
            front[start] = True
            while front.any():
                seen |= front
                front = linked[front].any(0) & ~seen
            label[seen] = start
    parts = [np.flatnonzero(label == start) for start in np.unique(label)]
    return sorted(parts, key=len, reverse=True)


def _pack(parts: list[_Part]) -> list[tuple[float, float]]:
    """(x, layer) shifts that push the parts of a graph together to about `ASPECT`; each widens the picture as little as it can."""
    if not parts:
        return []
    area = sum(float((part.right - part.left + 2 * GAP).sum()) * PITCH for part in parts)
    rows = max(max(len(part.left) for part in parts), round((area / ASPECT) ** 0.5 / PITCH))
    reached = np.full(rows, -np.inf)
    shifts = []
    for part in parts:
        height = len(part.left)
        tops = np.arange(rows - height + 1)
        starts = np.array([max(0.0, float((reached[top : top + height] + 2 * GAP - part.left).max())) for top in tops])
        growth = np.maximum(starts + part.right.max() - max(reached.max(), 0.0), 0.0)
        top = int(np.argmin(growth + 0.7 * PITCH * tops + 0.2 * starts))
        shifts.append((float(starts[top]), float(top)))
        reached[top : top + height] = starts[top] + part.right
    return shifts


class _Part(NamedTuple):
    """A connected part of the graph, placed. Points 0 .. d - 1 are its variables, the rest are where long edges pass a layer."""

    x: np.ndarray
    layer: np.ndarray
    chains: list[list[int]]
    """The points of every edge, from top to bottom."""
    left: np.ndarray
    right: np.ndarray
    """How far each layer reaches."""


def _place(edges: np.ndarray, widths: np.ndarray) -> _Part:
    """Lays out the connected acyclic graph with these (e, 2) edges and (d,) widths."""
    d = len(widths)
    layers = _assign_layers(edges, widths + GAP).tolist()
    chains = []
    for top, bottom in edges.tolist():
        first = len(layers)
        layers.extend(range(layers[top] + 1, layers[bottom]))
        chains.append([top, *range(first, len(layers)), bottom])
    layer = np.array(layers)
    upper, lower = np.array([pair for chain in chains for pair in pairwise(chain)], int).reshape(-1, 2).T
    room = np.concatenate([widths + GAP, np.full(len(layer) - d, np.clip(14 * (20 / max(len(edges), 1)) ** 0.5, BEND_WIDTH, 14))])
    order = _order_layers(layer, upper, lower, d)
    x = _straighten(order, layer, upper, lower, room, d)
    left = np.array([(x - room / 2)[points].min() for points in order])
    right = np.array([(x + room / 2)[points].max() for points in order])
    return _Part(x - left.min(), layer, chains, left - left.min(), right - left.min())


def _assign_layers(edges: np.ndarray, room: np.ndarray) -> np.ndarray:
    """(d,) int, the layer of every variable: longest remaining path first, while the layer's capacity lasts (Coffman & Graham 1972)."""
    d = len(room)
    children = [edges[edges[:, 0] == v, 1] for v in range(d)]
    parents = [edges[edges[:, 1] == v, 0] for v in range(d)]
    height, longer = np.full(d, -1), np.zeros(d, int)
    while (longer > height).any():
        height = longer.copy()
        np.maximum.at(longer, edges[:, 0], height[edges[:, 1]] + 1)
    capacity = max(1.15 * (room.sum() * PITCH * ASPECT) ** 0.5, 2.5 * room.max())
    layer = np.full(d, -1)
    depth = 0
    while (layer < 0).any():
        ready = [v for v in np.flatnonzero(layer < 0) if ((layer[parents[v]] >= 0) & (layer[parents[v]] < depth)).all()]
        used = 0.0
        for v in sorted(ready, key=lambda v: -height[v]):
            if used == 0 or used + room[v] <= capacity:
                layer[v] = depth
                used += room[v]
        depth += 1
    return _shorten(layer, parents, children, room, capacity)


def _shorten(layer: np.ndarray, parents: list[np.ndarray], children: list[np.ndarray], room: np.ndarray, capacity: float) -> np.ndarray:
    """Moves variables between their lowest parent and highest child to where edges are shortest, else to the emptiest layer."""
    load = np.bincount(layer, weights=room)
    for _ in range(8):
        before = layer.copy()
        for v in np.argsort(-layer, kind="stable"):
            low = int(layer[parents[v]].max()) + 1 if len(parents[v]) else 0
            high = int(layer[children[v]].min()) - 1 if len(children[v]) else len(load) - 1
            load[layer[v]] -= room[v]
            balance = len(children[v]) - len(parents[v])
            free = [level for level in range(low, high + 1) if level == layer[v] or load[level] + room[v] <= capacity]
            layer[v] = min(free, key=lambda level: (-np.sign(balance) * level, load[level], level))
            load[layer[v]] += room[v]
        if (layer == before).all():
            break
    return np.unique(layer, return_inverse=True)[1].reshape(-1)


def _order_layers(layer: np.ndarray, upper: np.ndarray, lower: np.ndarray, d: int) -> list[np.ndarray]:
    """The points of every layer from left to right: barycentre sweeps, keeping the order with the fewest crossings."""
    depth = int(layer.max()) + 1
    first = np.searchsorted(np.sort(layer), layer)
    segments = [(np.flatnonzero(layer[lower] == level), np.flatnonzero(layer[upper] == level)) for level in range(depth)]
    best, fewest = [], np.inf
    for start in (1, 0, 3, 2):  # upwards first: the effects of a hub then stand on both sides of the edges that go on to deeper layers
        order, place, stale = [], np.zeros(len(layer)), 0
        for level in range(depth):
            points = np.flatnonzero(layer == level)
            left, right = np.array_split(points[points < d], 2)
            order.append(np.concatenate([left, points[points >= d], right]))
            place[order[level]] = np.arange(len(points))
        for sweep in range(start, start + (24 if len(layer) < 2000 else 6)):
            mine, other = (upper, lower) if sweep % 2 else (lower, upper)
            for level in range(depth - 2, -1, -1) if sweep % 2 else range(1, depth):
                chosen = segments[level][sweep % 2]
                count = np.bincount(mine[chosen], minlength=len(layer))
                total = np.bincount(mine[chosen], weights=place[other[chosen]], minlength=len(layer))
                linked = np.flatnonzero(count[order[level]])  # the others keep their places
                points = order[level][linked]
                tie = place[points] * (-1 if sweep % 4 >= 2 else 1)
                order[level][linked] = points[np.lexsort((tie, total[points] / count[points]))]
                place[order[level]] = np.arange(len(order[level]))
            crossings = _count_crossings(first + place, upper, lower)
            stale += 1
            if crossings < fewest:
                best, fewest, stale = [points.copy() for points in order], crossings, 0
            if fewest == 0 or stale > 6:
                break
    return best


def _count_crossings(place: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> int:
    """Pairs of segments that cross. `place` numbers the points layer by layer, from left to right, so all layers are counted at once.

    Sorted by their upper ends, segments cross where their lower ends are in reverse order; such pairs are counted bit by bit.
    """
    values = place[lower][np.lexsort((place[lower], place[upper]))].astype(int)
    crossings = 0
    for bit in range(int(values.max(initial=0)).bit_length() - 1, -1, -1):
        group = values >> (bit + 1)
        by_group = np.argsort(group, kind="stable")
        values, group = values[by_group], group[by_group]
        ones = (values >> bit) & 1
        before = np.concatenate([[0], np.cumsum(ones)])
        earlier = before[:-1] - before[np.searchsorted(group, group)]
        crossings += int(earlier[ones == 0].sum())
    return crossings


def _straighten(order: list[np.ndarray], layer: np.ndarray, upper: np.ndarray, lower: np.ndarray, room: np.ndarray, d: int) -> np.ndarray:
    """x-coordinates that make edges short and long edges straight: least squares, layer by layer, with the points kept apart."""
    x = np.zeros(len(layer))
    apart = []
    for points in order:
        offsets = np.concatenate([[0.0], np.cumsum((room[points[1:]] + room[points[:-1]]) / 2)])
        apart.append(offsets)
        x[points] = offsets - offsets[-1] / 2
    weight = np.tile(np.array([1.0, 2.0, 4.0])[(upper >= d).astype(int) + (lower >= d)], 2)
    mine, other = np.concatenate([upper, lower]), np.concatenate([lower, upper])
    touching = [np.flatnonzero(layer[mine] == level) for level in range(len(order))]
    for sweep in range(24 if len(x) < 1000 else 10):
        before = x.copy()
        for level, points in list(enumerate(order))[:: -1 if sweep % 2 else 1]:
            segments = touching[level]
            if sweep < 4:
                segments = segments[(layer[other[segments]] < level) == (sweep % 2 == 0)]
            pull = np.bincount(mine[segments], weight[segments], len(x))[points]
            total = np.bincount(mine[segments], weight[segments] * x[other[segments]], len(x))[points]
            wanted = np.where(pull > 0, total / np.maximum(pull, 1e-9), x[points])
            x[points] = _isotonic(wanted - apart[level], np.maximum(pull, 1e-3)) + apart[level]
        if sweep > 4 and np.abs(x - before).max() < 0.5:
            break
    return x


def _isotonic(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The increasing sequence nearest to `values` by weighted least squares (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist()):
        count = 1
        while blocks and blocks[-1][0] >= value:
            mean, heavy, size = blocks.pop()
            value = (mean * heavy + value * weight) / (heavy + weight)
            weight += heavy
            count += size
        blocks.append((value, weight, count))
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])


def edge_curves(
    layout: Layout, centres: np.ndarray, scale: tuple[float, float], widths: np.ndarray, height: float, head: float
) -> tuple[list[np.ndarray], np.ndarray]:
    """Smooth paths from the border of the cause's box to the border of the effect's, through no other box; y grows downwards.

    A path is a function of y: steep and straight where it passes a layer, a cubic between layers.

    Parameters
    ----------
    layout
        Whose edges are drawn.
    centres
        (d, 2) float, the middle of every box.
    scale
        Of x and y, from the layout to `centres`.
    widths, height
        (d,) float and float, the size of the boxes.
    head
        Length of an arrowhead; a path ends where the head begins.

    Returns
    -------
    curves
        For every edge a (p, 2) float array, from cause to effect.
    tips
        (e, 2, 2) float: where every arrow points, and its unit direction.
    """
    origin = centres[0] - layout.positions[0] * scale
    down = np.where(layout.feedback[:, None], layout.edges[:, ::-1], layout.edges)
    chains = []
    for (top, bottom), chain, upwards in zip(down, layout.bends, layout.feedback):
        chains.append(np.vstack([centres[top], (chain[::-1] if upwards else chain) * scale + origin, centres[bottom]]))
    slopes = _bend_slopes(chains, 0.5 * scale[1])
    leave = _ports(down[:, 0], np.array([chain[1, 0] for chain in chains]), widths, height / 2)
    enter = _ports(down[:, 1], np.array([chain[-2, 0] for chain in chains]), widths, height / 2)
    curves, tips = [], np.zeros((len(down), 2, 2))
    for edge, (chain, slope, upwards) in enumerate(zip(chains, slopes, layout.feedback)):
        chain[0] += leave[edge], height / 2
        chain[-1] += enter[edge], -height / 2
        curve, tips[edge] = _curve(chain, slope, height, head, bool(upwards))
        curves.append(curve[::-1] if upwards else curve)
    return curves, tips


def _ports(ends: np.ndarray, towards: np.ndarray, widths: np.ndarray, step: float) -> np.ndarray:
    """(e,) float, where on a box each edge ends, from its middle: side by side, in the order of where the edges go."""
    by_box = np.lexsort((towards, ends))
    box, first, inverse, count = np.unique(ends[by_box], return_index=True, return_inverse=True, return_counts=True)
    rank = np.arange(len(ends)) - first[inverse] - (count[inverse] - 1) / 2
    ports = np.zeros(len(ends))
    ports[by_box] = rank * np.minimum(step, 0.75 * widths[box] / np.maximum(count - 1, 1))[inverse]
    return ports


def _bend_slopes(chains: list[np.ndarray], reach: float) -> list[np.ndarray]:
    """How steeply each edge passes its bends (sideways per unit downwards).

    Edges that pass a layer side by side get similar slopes, so that they do not touch where they part: the difference over `reach` is no more than
    the distance between them.
    """
    inner = np.vstack([chain[1:-1] for chain in chains])
    before, after = (inner - np.vstack([chain[:-2] for chain in chains])), (np.vstack([chain[2:] for chain in chains]) - inner)
    above, below = before[:, 0] / before[:, 1], after[:, 0] / after[:, 1]
    same = above * below > 0
    mean = 2 * above * below / np.where(same, above + below, 1.0)  # harmonic: no overshoot (Fritsch & Butland 1984)
    slope = np.clip(np.where(same, mean, 0.0), -STEEP, STEEP)
    for y in np.unique(inner[:, 1]):
        row = np.flatnonzero(inner[:, 1] == y)
        apart = np.abs(inner[row, None, 0] - inner[None, row, 0]) / reach
        slope[row] = ((slope[row] + apart).min(1) + (slope[row] - apart).max(1)) / 2
    return np.split(slope, np.cumsum([len(chain) - 2 for chain in chains])[:-1])


def _curve(points: np.ndarray, inner: np.ndarray, height: float, head: float, upwards: bool) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """The path through these (p, 2) points, from top to bottom, and the tip and direction of the arrowhead at one of its ends."""
    leave, enter = np.clip(0.7 * np.diff(points[[0, 1, -2, -1], 0])[[0, 2]] / np.diff(points[[0, 1, -2, -1], 1])[[0, 2]], -1.5, 1.5)
    slope = np.array([leave, *inner, enter])
    band = np.column_stack([inner, np.ones(len(inner))]) * height / 2
    starts = np.vstack([points[:1], points[1:-1] + band])
    ends = np.vstack([points[1:-1] - band, points[-1:]])
    end = 0 if upwards else -1
    direction = np.array([slope[end], 1.0]) / np.hypot(slope[end], 1.0) * (-1 if upwards else 1)
    tip = points[end].copy()
    (starts if upwards else ends)[end] = tip - head * direction
    t = (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, SAMPLES)))[:, None, None]
    pull = 0.5 * (ends[:, 1] - starts[:, 1])[:, None]
    first, second = (np.column_stack([ends_slope, np.ones(len(starts))]) * pull for ends_slope in (slope[:-1], slope[1:]))
    path = (1 - t) ** 3 * starts + 3 * t * (1 - t) ** 2 * (starts + first) + 3 * t**2 * (1 - t) * (ends - second) + t**3 * ends
    return path.transpose(1, 0, 2).reshape(-1, 2), (tip, direction)


def rounded_boxes(centres: np.ndarray, widths: np.ndarray, height: float) -> np.ndarray:
    """(n, 28, 2) float, the outlines of the boxes."""
    quarter = np.arange(28) // 7
    angle = (np.arange(28) % 7 / 6 + quarter) * np.pi / 2
    corner = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])[quarter]
    radius = 0.32 * height
    inner = np.column_stack([widths / 2, np.full(len(widths), height / 2)]) - radius
    return centres[:, None] + corner * inner[:, None] + radius * np.column_stack([np.cos(angle), np.sin(angle)])
