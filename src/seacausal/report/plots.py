"""The picture of a causal graph: the graph in layers, causes above effects, beside the matrix of edge probabilities.

In: `EdgeProbabilities`, a threshold, and perhaps a reference graph to compare with. Out: a matplotlib `Figure`, or its PNG bytes, which depend on
nothing but the input. An edge is predicted where its probability is above the threshold; a pair that is joined, either way round, without that gets
a dashed line without a head, unless there is a reference.
Surprising choices: pyplot is never imported (start-up time, global state); the graph is drawn in points (1/72 inch), so that boxes and text fit at
once; lines and boxes are collections, because patches are slow. This module imports matplotlib: import it only where something is drawn.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.image import AxesImage

from seacausal.data import EdgeProbabilities
from seacausal.errors import DataError
from seacausal.report.layout import MAX_EDGES, PITCH, Layout, edge_curves, keep_strongest, layout_layers, rounded_boxes

DPI = 150
POINTS = 72 / DPI  # in a pixel
FONT = 9.0
"""Points; of the names in the graph, before it is fitted to its panel. Boxes, lines and arrowheads are proportional to it."""
BOX_HEIGHT, SMALL, LINE = 1.9 * FONT, 8.0, 12.5
INK, MUTED, FAINT, BOX, DIAGONAL = "#1b2433", "#697386", "#bcc5d3", "#f5f7fa", "#dfe2e7"
FOUND, EXTRA, MISSED = "#1d5192", "#d55e00", "#7d8594"
"""Edges that are predicted and in the reference, predicted only, in the reference only: told apart with any kind of colour vision."""
PROBABILITY = LinearSegmentedColormap.from_list(
    "probability", ["#f3f6fa", "#cfdef2", "#acc6ea", "#88aee2", "#6396da", "#487ec6", "#2b67b2", "#1d5192", "#103c73"]
).with_extremes(bad=DIAGONAL)
"""One hue; lightness falls evenly (OKLCH, from .97 to .36)."""
FALLBACK_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Malgun Gothic")
"""Tried, where installed, for names with characters that DejaVu Sans lacks."""


def plot_graph(probabilities: EdgeProbabilities, threshold: float, *, reference: np.ndarray | None = None, title: str | None = None) -> Figure:
    """The graph in layers beside the matrix of probabilities.

    Parameters
    ----------
    probabilities
        Of every ordered pair.
    threshold
        An edge is predicted where its probability is above this.
    reference
        (d, d) bool, a graph to compare with; `reference[i, j]` is i -> j. Edges are then drawn in three styles, and the cells of the matrix that
        are edges of the reference are outlined.
    title
        Above the picture.

    Raises
    ------
    DataError
        If `reference` has another shape than the probabilities.
    """
    drawing = _Drawing.of(probabilities, threshold, reference)
    d = len(drawing.names)
    cell = max(2, round(min(36 + 40 / d, min(330 + 3.6 * d, 720) / d) / POINTS)) * POINTS
    labels = _matrix_labels(drawing.names, cell)[1]
    side, margin, gutter, head, foot, key = d * cell, 22.0, 30.0, 54.0, 16.0, 34.0
    block = LINE + labels + side + key
    first, last, layers = drawing.extent
    height = float(np.clip(layers * PITCH + 60.0, block, max(1.3 * block, 320.0) if block < 700 else block + 60.0))
    width = float(np.clip(1.08 * (last - first), 250.0 if reference is None else 396.0, min(1.7 * height, 1250.0)))
    figure = Figure(dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    page = np.ceil(np.array([margin + width + gutter + LINE + labels + side + margin, head + height + foot]) / POINTS) * POINTS
    figure.set_size_inches(*page / 72)

    def panel(x: float, y: float, w: float, h: float) -> Axes:
        """Axes at x, y (from the top left) in points, on whole pixels so that the cells of the matrix are sharp."""
        x, bottom = np.round(np.array([x, page[1] - y - h]) / POINTS) * POINTS
        return figure.add_axes((x / page[0], bottom / page[1], w / page[0], h / page[1]))

    _draw_layers(panel(margin, head, width, height), drawing, threshold)
    left, top = page[0] - margin - side, head + LINE + labels
    plot_matrix(panel(left, top, side, side), probabilities, order=drawing.order, reference=reference)
    _draw_key(panel(left, top + side, max(side, 110.0), key), threshold, reference is not None)
    _write(figure, margin / page[0], 1 - 27 / page[1], title or "Discovered causal graph", 14, weight="bold")
    _write(figure, margin / page[0], 1 - 43 / page[1], drawing.summary, FONT, color=MUTED)
    return figure


def plot_layers(axes: Axes, probabilities: EdgeProbabilities, threshold: float, *, reference: np.ndarray | None = None) -> None:
    """Draws the graph alone, fitted to the present size of `axes`; the arguments are those of `plot_graph`."""
    _draw_layers(axes, _Drawing.of(probabilities, threshold, reference), threshold)


def plot_matrix(
    axes: Axes, probabilities: EdgeProbabilities, *, order: Sequence[int] | np.ndarray | None = None, reference: np.ndarray | None = None
) -> AxesImage:
    """Draws the matrix of probabilities: the cell in row i and column j is P(i -> j). Names stand outside the axes, as tick labels do.

    Parameters
    ----------
    axes
        Where to draw; the cells become squares.
    probabilities
        Of every ordered pair.
    order
        The d variables from top to bottom and from left to right; by default as they come.
    reference
        (d, d) bool, the cells to outline; `reference[i, j]` is i -> j.
    """
    reference = _check_reference(reference, probabilities)
    d = len(probabilities.names)
    order = np.arange(d) if order is None else np.asarray(order)
    direct = np.ma.masked_array(probabilities.direct[np.ix_(order, order)], mask=np.eye(d, dtype=bool))
    cell = min(_in_points(axes)) / d
    image = axes.imshow(direct, cmap=PROBABILITY, vmin=0.0, vmax=1.0, interpolation="nearest")
    axes.set(xlim=(-0.5, d - 0.5), ylim=(d - 0.5, -0.5))
    if cell > 6:
        lines = [line for at in np.arange(d + 1) - 0.5 for line in ([(at, -0.5), (at, d - 0.5)], [(-0.5, at), (d - 0.5, at)])]
        _lines(axes, lines, colors="white", linewidths=min(1.0, cell / 16))
    if reference is not None:
        _outline(axes, np.argwhere(reference[np.ix_(order, order)])[:, ::-1], cell, cell)
    if cell > 22:
        for i, j in np.argwhere(direct.filled(0.0) >= 0.095).tolist():
            color = "white" if direct[i, j] > 0.45 else INK
            _write(axes, j, i, f"{direct[i, j]:.2f}".lstrip("0"), min(SMALL, cell / 3.4), color=color, ha="center", va="center_baseline")
    _label_matrix(axes, [probabilities.names[v] for v in order], direct.filled(0.0), cell)
    return image


def render_png(figure: Figure) -> bytes:
    """The figure as PNG. The same figure gives the same bytes; characters that no font has are drawn as boxes."""
    buffer = io.BytesIO()
    with _missing_glyphs_allowed():
        FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None}, pil_kwargs={"compress_type": 3})
    return buffer.getvalue()


@dataclass(frozen=True)
class _Drawing:
    """What the graph panel shows."""

    names: tuple[str, ...]
    shown: np.ndarray
    """The variables with an edge, in the order of `layout`; `alone` are the others."""
    alone: np.ndarray
    layout: Layout
    probability: np.ndarray
    """(e,) float, in the order of `layout.edges`, as are the next two."""
    predicted: np.ndarray
    known: np.ndarray | None
    """Whether the edge is in the reference; None without a reference."""
    widths: np.ndarray
    """Of the boxes, in points at size `FONT`."""
    summary: str
    strongest: str

    @classmethod
    def of(cls, probabilities: EdgeProbabilities, threshold: float, reference: np.ndarray | None) -> _Drawing:
        """Chooses the edges to draw and lays them out."""
        names, d = probabilities.names, len(probabilities.names)
        reference = _check_reference(reference, probabilities)
        direct = np.where(np.eye(d, dtype=bool), -np.inf, probabilities.direct)
        above = direct > threshold
        weight, undecided = direct + above, probabilities.undecided(threshold)
        edges = (above | (undecided if reference is None else reference)) & (weight > -np.inf)
        hidden = int(edges.sum()) > MAX_EDGES
        keep_strongest(edges, weight)
        linked = edges.any(0) | edges.any(1)
        shown, alone = np.flatnonzero(linked), np.flatnonzero(~linked)
        widths = np.maximum(np.array([_text_width(_shorten(names[v], 14)) for v in shown]) + 1.4 * FONT, 3 * FONT)
        layout = layout_layers(edges[np.ix_(shown, shown)], weight[np.ix_(shown, shown)], widths)
        pairs = tuple(shown[layout.edges].T)
        count = int(above.sum())
        summary = f"{d} variables, {count or 'no'} edge{'' if count == 1 else 's'} with probability above {threshold:g}"
        summary += f", {undecided.sum()} more in either direction" * bool(undecided.any())
        summary += " (dashed)" * bool(undecided.any() and reference is None)
        summary += f"; the {MAX_EDGES} strongest are drawn" * hidden
        cause, effect = divmod(int(direct.argmax()), d)
        strongest = f"{_shorten(names[cause], 14)} → {_shorten(names[effect], 14)}, {direct.max():.2f}"
        known = None if reference is None else reference[pairs]
        return cls(names, shown, alone, layout, direct[pairs], above[pairs], known, widths, summary, strongest)

    @property
    def order(self) -> np.ndarray:
        """All variables from the top layer to the bottom one; those without an edge come last."""
        x, layer = self.layout.positions.T
        return np.concatenate([self.shown[np.lexsort((x, layer))], self.alone])

    @cached_property
    def extent(self) -> tuple[float, float, int]:
        """Left and right in points at size `FONT`, and number of layers."""
        if not len(self.shown):
            return 0.0, 0.0, 1
        x, layer = self.layout.positions.T
        bends = np.vstack([np.zeros((0, 2)), *self.layout.bends])[:, 0]
        ends = np.concatenate([x - self.widths / 2, x + self.widths / 2, bends - 2, bends + 2])
        return float(ends.min()), float(ends.max()), int(layer.max()) + 1


def _draw_layers(axes: Axes, drawing: _Drawing, threshold: float) -> None:
    """Fits the drawing to the axes: the graph, above it the legend, below it the variables without an edge."""
    width, height = _in_points(axes)
    top = _draw_legend(axes, drawing, width)
    bottom = height - _list_alone(axes, drawing, threshold, width, height)
    if not len(drawing.shown):
        _write(axes, width / 2, height / 2 - 8, f"No edge above {threshold:g}", 12, ha="center")
        _write(axes, width / 2, height / 2 + 9, f"the strongest is {drawing.strongest}", FONT, color=MUTED, ha="center")
        return
    left, right, layers = drawing.extent
    breadth = right - left + 2
    scale = max(0.05, min(1.15, width / breadth, (bottom - top) / ((layers - 1) * 0.62 * PITCH + BOX_HEIGHT)))
    stretch = scale * min(1.5, width / (breadth * scale))
    pitch = min((bottom - top - BOX_HEIGHT * scale) / max(layers - 1, 1), 2.2 * PITCH * scale)
    widths, box = drawing.widths * scale, BOX_HEIGHT * scale
    corner = np.array([width / 2 - stretch * (left + right) / 2, (top + bottom - pitch * (layers - 1)) / 2])
    centres = drawing.layout.positions * (stretch, pitch) + corner
    curves, tips = edge_curves(drawing.layout, centres, (stretch, pitch), widths, box, 5.0 * scale)
    _draw_edges(axes, drawing, curves, tips, scale, threshold)
    _shapes(axes, rounded_boxes(centres, widths, box), facecolors=BOX, edgecolors=FAINT, linewidths=0.9 * scale, zorder=3)
    for (x, y), v in zip(centres.tolist(), drawing.shown.tolist()):
        _write(axes, x, y, _shorten(drawing.names[v], 14), FONT * scale, ha="center", va="center_baseline", zorder=4)


def _draw_edges(axes: Axes, drawing: _Drawing, curves: list[np.ndarray], tips: np.ndarray, scale: float, threshold: float) -> None:
    """Lines with a white rim, the strongest on top, and their arrowheads."""
    strength = np.where(drawing.predicted, np.clip((drawing.probability - threshold) / max(1 - threshold, 1e-9), 0, 1), 0.0)
    thin = scale * float(np.clip((40 / len(curves)) ** 0.35, 0.55, 1.0))
    line_width = np.where(drawing.predicted, 0.8 + 1.4 * strength, 1.0) * thin
    if drawing.known is None:
        colors = PROBABILITY(np.maximum(drawing.probability, 0.35))
    else:
        colors = np.array([to_rgba(MISSED), to_rgba(EXTRA), to_rgba(FOUND)])[np.where(drawing.predicted, 1 + drawing.known, 0)]
        colors[:, 3] = np.where(drawing.predicted, 0.65 + 0.35 * strength, 1.0)
    by_strength = np.argsort(strength, kind="stable")
    lines, widths, strokes, styles = [], [], [], []
    for e in by_strength.tolist():
        lines += [curves[e][7:-7], curves[e]]
        widths += [line_width[e] + 2.2 * thin, line_width[e]]
        strokes += [(1.0, 1.0, 1.0, 1.0), tuple(colors[e])]
        styles += ["solid", "solid" if drawing.predicted[e] else (0, (3.2, 2.0))]
    _lines(axes, lines, linewidths=widths, colors=strokes, linestyles=styles, capstyle="butt", zorder=1)
    headed = by_strength[drawing.predicted[by_strength] | (drawing.known is not None)]
    tip, direction = tips[:, 0], tips[:, 1]
    side = direction[:, ::-1] * (1, -1) * (1.7 * scale + 0.62 * line_width)[:, None]
    back = tip - direction * 6.6 * scale
    heads = np.stack([tip, back + side, back + direction * 1.3 * scale, back - side], axis=1)
    _shapes(axes, heads[headed], facecolors=colors[headed], edgecolors="none", zorder=2)


def _draw_legend(axes: Axes, drawing: _Drawing, width: float) -> float:
    """Explains the three kinds of edges, where there is a reference; returns the height it takes."""
    if drawing.known is None:
        return 6.0
    kinds = (
        ("predicted and in the reference", FOUND, drawing.predicted & drawing.known, "solid"),
        ("predicted only", EXTRA, drawing.predicted & ~drawing.known, "solid"),
        ("reference only", MISSED, ~drawing.predicted, (0, (3.2, 2.0))),
    )
    x, y = 0.0, 5.0
    for label, color, edges, style in kinds:
        text = f"{label} ({edges.sum()})"
        room = 24 + _text_width(text) * SMALL / FONT
        if x + room > width:
            x, y = 0.0, y + LINE
        _lines(axes, [[(x, y), (x + 19, y)]], colors=color, linewidths=1.8, linestyles=[style])
        _write(axes, x + 24, y, text, SMALL, va="center_baseline")
        x += room + 16
    return y + 18


def _list_alone(axes: Axes, drawing: _Drawing, threshold: float, width: float, height: float) -> float:
    """Names the variables without an edge at the bottom, in at most four lines; returns the height they take."""
    if not len(drawing.alone) or not len(drawing.shown):
        return 6.0
    names = ",  ".join(_shorten(drawing.names[v], 14).replace(" ", "\u00a0") for v in drawing.alone)
    lines = textwrap.wrap(names, max(20, int(width / (0.62 * SMALL))), max_lines=4, placeholder=" …", break_on_hyphens=False, drop_whitespace=False)
    first = height - LINE * len(lines)
    for number, line in enumerate(lines):
        _write(axes, 0, first + LINE * (number + 0.5), line.strip(), SMALL, color=MUTED, va="center")
    heading = f"No edge above {threshold:g}" if drawing.known is None else "Without an edge"
    _write(axes, 0, first - LINE / 2, heading, SMALL, weight="bold", va="center")
    return LINE * (len(lines) + 1) + 14


def _draw_key(axes: Axes, threshold: float, compared: bool) -> None:
    """The scale of the colours with the threshold marked, and the mark of the reference."""
    width = _in_points(axes)[0]
    length = min(width, 150.0)
    axes.imshow(np.linspace(0, 1, 256)[None], cmap=PROBABILITY, extent=(0, length, 18, 11), aspect="auto", interpolation="bilinear")
    _in_points(axes)
    for end, side in ((0, "left"), (1, "right")):
        if abs(threshold - end) * length > 20:
            _write(axes, end * length, 28, f"{end}", SMALL - 1, color=MUTED, ha=side)
    if 0 < threshold < 1:
        _lines(axes, [[(threshold * length, 9), (threshold * length, 20)]], colors=INK, linewidths=1.0)
        _write(axes, threshold * length, 28, f"{threshold:g}", SMALL - 1, ha="center")
    if width > length + 60:
        _write(axes, length + 9, 14.5, "probability", SMALL, color=MUTED, va="center_baseline")
    if compared:
        x, y = (length + 81.0, 14.5) if width > length + 160 else (4.5, 39.0)
        _outline(axes, np.array([[x, y]]), 9.0, 1.0)
        _write(axes, x + 9, y, "in the reference", SMALL, color=MUTED, va="center_baseline")


def _matrix_labels(names: Sequence[str], cell: float) -> tuple[float, float]:
    """Points: the size of the names beside a matrix with cells of this size, and the room that the longest takes."""
    size = float(np.clip(0.82 * cell, 4.0, FONT))
    return size, float(np.ceil(max(_text_width(_shorten(name, 20)) for name in names) * size / FONT)) + 8.0


def _outline(axes: Axes, centres: np.ndarray, size: float, unit: float) -> None:
    """Marks squares of this size, in points, by a dark line, with a white one inside it that shows on dark cells; `unit` is that of the axes."""
    width = float(np.clip(size / 22, 0.5, 1.3))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / unit
    for half, color in ((size / 2 - 1.5 * width, "white"), (size / 2 - 0.6 * width, INK)):
        _shapes(axes, centres[:, None] + corners * half, facecolors="none", edgecolors=color, linewidths=width)


def _label_matrix(axes: Axes, names: list[str], direct: np.ndarray, cell: float) -> None:
    """Names of the rows and columns; where there is no room for all, of those with the strongest edges."""
    size, room = _matrix_labels(names, cell)
    d, beside = len(names), -0.5 - 4 / cell
    apart = int(np.ceil(1.1 * size / cell))  # rows from one name to the next
    for row, strength in ((True, direct.max(1)), (False, direct.max(0))):
        free = np.ones(d, bool)
        for v in np.argsort(-strength, kind="stable").tolist():
            if not free[v]:
                continue
            free[max(0, v - apart + 1) : v + apart] = False
            if row:
                _write(axes, beside, v, _shorten(names[v], 20), size, ha="right", va="center_baseline")
            else:
                _write(axes, v, beside, _shorten(names[v], 20), size, ha="center", va="bottom", rotation=90)
    middle, outside = (d - 1) / 2, -0.5 - (room + 1) / cell
    _write(axes, middle, outside, "effect", FONT, color=MUTED, ha="center", va="bottom")
    _write(axes, outside, middle, "cause", FONT, color=MUTED, ha="right", va="center", rotation=90)


def _in_points(axes: Axes) -> tuple[float, float]:
    """Makes the axes bare, with (0, 0) at the top left and a unit of one point; returns their size."""
    axes.set_axis_off()
    width, height = np.array(axes.bbox.size) * 72 / axes.figure.dpi
    axes.set(xlim=(0, width), ylim=(height, 0))
    return float(width), float(height)


def _lines(axes: Axes, lines: Any, **style: Any) -> None:
    axes.add_collection(LineCollection(lines, clip_on=False, **style), autolim=False)


def _shapes(axes: Axes, outlines: Any, **style: Any) -> None:
    axes.add_collection(PolyCollection(outlines, clip_on=False, **style), autolim=False)


def _write(on: Axes | Figure, x: float, y: float, text: str, size: float, color: str = INK, weight: str = "normal", **placing: Any) -> None:
    """Literal text: `$` has no meaning."""
    on.text(x, y, text, color=color, family=_family(text), size=size, weight=weight, parse_math=False, usetex=False, **placing)


def _shorten(name: str, limit: int) -> str:
    """At most `limit` characters, an ellipsis for the middle (names often differ at the end), on one line."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "(blank)"
    return name if len(name) <= limit else f"{name[: limit - limit // 3 - 1].rstrip()}…{name[-(limit // 3) :].lstrip()}"


@lru_cache(maxsize=4096)
def _text_width(text: str) -> float:
    """Points, at size `FONT`."""
    with _missing_glyphs_allowed():
        return RendererAgg(1, 1, 720).get_text_width_height_descent(text, FontProperties(family=_family(text), size=FONT), False)[0] / 10


@lru_cache(maxsize=4096)
def _family(text: str) -> list[str]:
    """DejaVu Sans, which matplotlib brings along, and more fonts only where it lacks a character."""
    if text.isascii() or all(ord(c) in get_font(findfont("DejaVu Sans")).get_charmap() for c in text):
        return ["DejaVu Sans"]
    return ["DejaVu Sans", *(name for name in FALLBACK_FONTS if any(font.name == name for font in fontManager.ttflist))]


@contextmanager
def _missing_glyphs_allowed() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from", category=UserWarning)
        yield


def _check_reference(reference: np.ndarray | None, probabilities: EdgeProbabilities) -> np.ndarray | None:
    """The reference without its diagonal."""
    d = len(probabilities.names)
    if reference is not None and np.shape(reference) != (d, d):
        raise DataError(f"`reference` must have shape ({d}, {d}), one row and column for each variable; found {np.shape(reference)}.")
    return None if reference is None else np.asarray(reference, bool) & ~np.eye(d, dtype=bool)
