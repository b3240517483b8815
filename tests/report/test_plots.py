"""The picture of a graph: the same bytes every time, any names, any graph."""

import io
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import imread

from seacausal.data import EdgeProbabilities
from seacausal.errors import DataError
from seacausal.report.plots import MAX_EDGES, _Drawing, _shorten, plot_graph, plot_layers, plot_matrix, render_png

SACHS = ("Raf", "Mek", "PLCg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "p38", "JNK")
ODD = (
    "a,b",
    'say "hi"',
    "$x^2$",
    "$",
    "血压",
    "心率 (次/分)",
    "a very long name that ends in 1",
    "a very long name that ends in 2",
    "two\nlines",
    "😀",
    "",
)


def example(d: int, e: int, seed: int = 0, names: tuple[str, ...] | None = None) -> tuple[EdgeProbabilities, np.ndarray]:
    """Probabilities that mostly agree with a random acyclic graph, and that graph; `[i, j]` is i -> j."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    pairs = np.argwhere(np.triu(np.ones((d, d), bool), 1))
    truth = np.zeros((d, d), bool)
    truth[tuple(order[pairs[rng.permutation(len(pairs))[:e]]].T)] = True
    direct = np.where(truth, rng.beta(4, 2, (d, d)), rng.beta(0.4, 4, (d, d))) * 0.99
    direct /= np.maximum(1, direct + direct.T)
    np.fill_diagonal(direct, 0)
    return EdgeProbabilities(direct, names or tuple(f"X{i + 1}" for i in range(d))), truth


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts] + [text.get_text() for text in figure.texts]


def pixels(png: bytes) -> np.ndarray:
    return imread(io.BytesIO(png))


def test_same_input_same_bytes():
    probabilities, truth = example(11, 17, names=SACHS)
    png = render_png(plot_graph(probabilities, 0.5, reference=truth))
    render_png(plot_graph(*example(5, 4)[:1], 0.5))
    assert render_png(plot_graph(probabilities, 0.5, reference=truth)) == png
    assert png.startswith(b"\x89PNG")
    assert not any(word in png for word in (b"Software", b"tIME", b"tEXt"))
    assert pixels(png).std() > 0.05


@pytest.mark.parametrize(("d", "e"), [(2, 1), (11, 17), (50, 70), (120, 150)])
def test_every_variable_has_a_box_or_is_listed(d, e):
    probabilities, _ = example(d, e)
    drawing = _Drawing.of(probabilities, 0.5, None)
    assert sorted([*drawing.shown, *drawing.alone]) == list(range(d))
    assert sorted(drawing.order) == list(range(d))
    assert (drawing.probability[drawing.predicted] > 0.5).all()
    assert drawing.predicted.sum() == (probabilities.direct > 0.5).sum()
    assert (~drawing.predicted).sum() == probabilities.undecided(0.5).sum()
    figure = plot_graph(probabilities, 0.5)
    written = " ".join(texts(figure))
    assert all(name in written for name in probabilities.names)
    assert figure.get_size_inches().max() < 32


def test_rows_of_the_matrix_are_in_causal_order():
    truth = example(20, 30)[1]
    order = _Drawing.of(EdgeProbabilities(0.9 * truth, tuple(map(str, range(20)))), 0.5, None).order
    assert not np.tril(truth[np.ix_(order, order)]).any()


def test_names_are_literal_and_never_warn():
    probabilities, truth = example(len(ODD), 16, names=ODD)
    figure = plot_graph(probabilities, 0.5, reference=truth, title="$5 {of} 血压")
    render_png(figure)
    written = texts(figure)
    for name in ("a,b", 'say "hi"', "$x^2$", "$", "two lines", "(blank)", "$5 {of} 血压"):
        assert name in written
    dollars = [text for axes in figure.axes for text in axes.texts if "$" in text.get_text()]
    assert dollars
    assert not any(text.get_parse_math() for text in dollars)


def test_long_names_keep_both_ends():
    assert _shorten("a very long name that ends in 1", 14) == "a very lo…in 1"
    assert _shorten("fourteen chars", 14) == "fourteen chars"
    assert all(len(_shorten("x" * n, 14)) == min(n, 14) for n in range(1, 40))


def test_a_graph_without_edges_says_so():
    probabilities, _ = example(6, 5, names=SACHS[:6])
    figure = plot_graph(probabilities, 1.0)
    render_png(figure)
    cause, effect = np.unravel_index(probabilities.direct.argmax(), (6, 6))
    written = texts(figure)
    assert "No edge above 1" in written
    assert f"the strongest is {SACHS[cause]} → {SACHS[effect]}, {probabilities.direct.max():.2f}" in written


def test_cycles_and_two_cycles():
    direct = np.zeros((4, 4))
    direct[[0, 1, 2, 2, 3], [1, 2, 0, 3, 2]] = [0.9, 0.8, 0.6, 0.5, 0.5]
    drawing = _Drawing.of(EdgeProbabilities(direct, tuple("abcd")), 0.4, None)
    assert drawing.layout.edges[drawing.layout.feedback].tolist() == [[2, 0], [3, 2]]
    render_png(plot_graph(EdgeProbabilities(direct, tuple("abcd")), 0.4))


def test_a_reference_gives_three_kinds_of_edges():
    direct = np.zeros((4, 4))
    direct[[0, 1, 2], [1, 2, 3]] = [0.9, 0.8, 0.7]
    reference = np.zeros((4, 4), int)
    reference[[0, 2, 0, 3], [1, 1, 3, 3]] = 1
    figure = plot_graph(EdgeProbabilities(direct, tuple("abcd")), 0.5, reference=reference)
    render_png(figure)
    written = texts(figure)
    for line in ("predicted and in the reference (1)", "predicted only (2)", "reference only (2)", "in the reference"):
        assert line in written


@pytest.mark.parametrize("plot", [plot_graph, lambda p, t, reference: plot_matrix(Figure().add_subplot(), p, reference=reference)])
def test_a_reference_of_another_shape_is_refused(plot):
    with pytest.raises(DataError, match=r"must have shape \(11, 11\).*found \(10, 10\)"):
        plot(example(11, 17)[0], 0.5, reference=np.zeros((10, 10), bool))


def test_too_many_edges_the_strongest_are_drawn():
    direct = np.triu(np.random.default_rng(0).uniform(0.5, 1, (60, 60)), 1)
    probabilities = EdgeProbabilities(direct, tuple(f"X{i}" for i in range(60)))
    drawing = _Drawing.of(probabilities, 0.4, None)
    assert len(drawing.layout.edges) == MAX_EDGES < np.count_nonzero(direct)
    assert drawing.probability.min() == np.sort(direct, axis=None)[-MAX_EDGES]
    assert drawing.summary.startswith("60 variables, 1770 edges")
    assert drawing.summary.endswith(f"the {MAX_EDGES} strongest are drawn")


def test_boxes_hold_their_names_and_stay_in_the_panel():
    probabilities, _ = example(30, 45, names=tuple(f"variable {'w' * (i % 9)}{i}" for i in range(30)))
    figure = plot_graph(probabilities, 0.5)
    renderer = FigureCanvasAgg(figure).get_renderer()
    axes = figure.axes[0]
    boxes = [path.get_extents(axes.transData) for path in axes.collections[-1].get_paths()]
    labels = [text.get_window_extent(renderer) for text in axes.texts[-len(boxes) :]]
    for number, (box, label) in enumerate(zip(boxes, labels)):
        assert box.x0 <= label.x0
        assert label.x1 <= box.x1
        assert box.y0 - 1 <= label.y0
        assert label.y1 <= box.y1 + 1
        assert axes.bbox.x0 - 1 <= box.x0
        assert box.x1 <= axes.bbox.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[:number])


def test_one_panel_on_axes_of_the_user():
    probabilities, truth = example(11, 17, names=SACHS)
    figure = Figure(figsize=(4, 3))
    plot_layers(figure.add_subplot(1, 2, 1), probabilities, 0.5, reference=truth)
    image = plot_matrix(figure.add_subplot(1, 2, 2), probabilities)
    drawn = np.ma.masked_array(image.get_array())
    assert (drawn.filled(0.0) == probabilities.direct).all()
    assert np.ma.getmaskarray(drawn).diagonal().all()
    render_png(figure)


def test_cells_are_whole_pixels_with_the_cause_in_the_row():
    direct = np.zeros((12, 12))
    direct[3, 7] = 1.0  # drawn first and second: row 0, column 1
    figure = plot_graph(EdgeProbabilities(direct, tuple(f"X{i}" for i in range(12))), 0.5)
    axes = figure.axes[1]
    cell = axes.bbox.width / 12
    assert cell == pytest.approx(round(cell))
    picture = pixels(render_png(figure))
    x, y = axes.transData.transform((0.65, 0.0))
    assert picture[int(picture.shape[0] - y), int(x), :3] == pytest.approx(np.array([16, 60, 115]) / 255, abs=0.01)


def test_pyplot_is_not_imported():
    code = "import sys, seacausal.report.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_pair_in_an_open_direction_has_a_dashed_line_without_a_head():
    direct = np.zeros((3, 3))
    direct[[0, 1, 1], [1, 0, 2]] = [0.45, 0.4, 0.9]
    probabilities = EdgeProbabilities(direct, tuple("abc"))
    drawing = _Drawing.of(probabilities, 0.5, None)
    assert drawing.layout.edges.tolist() == [[0, 1], [1, 2]]
    figure = plot_graph(probabilities, 0.5)
    assert "3 variables, 1 edge with probability above 0.5, 1 more in either direction (dashed)" in texts(figure)
    lines, *_ = figure.axes[0].collections
    assert sum(offset_and_dashes[1] is not None for offset_and_dashes in lines.get_linestyles()) == 1
    heads = next(shape for shape in figure.axes[0].collections if isinstance(shape, PolyCollection))
    assert len(heads.get_paths()) == 1
    compared = _Drawing.of(probabilities, 0.5, np.zeros((3, 3), bool))
    assert compared.shown.tolist() == [1, 2]
    assert compared.summary.endswith("1 more in either direction")  # dashed lines are the reference's there
