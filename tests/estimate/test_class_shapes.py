"""How columns are spread within classes: against a plain computation, and on classes that make a column or are made of it."""

import numpy as np
import pytest
from scipy.stats import differential_entropy

from seacausal.estimate.class_shapes import MEASURES, NORMAL, measure_shapes

ROWS = 3000


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def shapes(values: np.ndarray, classes: np.ndarray, free: np.ndarray | None = None) -> dict[str, float]:
    """The measures of `values` in `classes`."""
    rows = np.column_stack([classes, values]).astype(float)
    codes = np.stack([classes, np.searchsorted(np.quantile(values, (0.25, 0.5, 0.75)), values)])
    counts = np.ones(codes.shape, bool)
    if free is not None:
        counts[1] = free
    found = measure_shapes((rows - rows.mean(0)) / rows.std(0), codes, np.array([True, False]), counts)
    assert not found[:, [0, 1, 1], [0, 0, 1]].any()  # nothing but classes of other columns
    return dict(zip(MEASURES, found[:, 0, 1].tolist()))


def test_measures_are_those_of_their_definition(generator: np.random.Generator) -> None:
    classes = generator.choice(4, ROWS, p=(0.1, 0.2, 0.3, 0.4))
    values = generator.gamma(2.0 + classes) * (1 + classes)
    found = shapes(values, classes)
    x = (values - values.mean()) / values.std()
    parts = [x[classes == k] for k in range(4)]
    share = np.array([len(part) for part in parts]) / ROWS
    pieces = [(part - part.mean()) / part.std() for part in parts]
    means, spreads = np.array([part.mean() for part in parts]), np.log([part.std() for part in parts])
    skews = np.array([(piece**3).mean() for piece in pieces])
    within = sum(w * (NORMAL - differential_entropy(piece).item()) for w, piece in zip(share, pieces))

    def deviation(of_classes: np.ndarray) -> float:
        return float(np.sqrt(np.cov(of_classes, aweights=share, ddof=0)))

    assert found["spread"] == pytest.approx(deviation(spreads), rel=1e-9)
    assert found["skewness"] == pytest.approx(deviation(skews), rel=1e-9)
    assert found["skewness trend"] == pytest.approx(np.cov(means, skews, aweights=share, ddof=0)[0, 1] / deviation(means), rel=1e-9)
    assert found["shape"] == pytest.approx(NORMAL - differential_entropy(x).item(), abs=0.03)  # scipy's estimate has another bias
    assert found["shape in classes"] == pytest.approx(within, abs=0.03)


def test_classes_that_make_a_column_leave_pieces_of_one_shape(generator: np.random.Generator) -> None:
    classes = generator.integers(0, 5, ROWS)
    found = shapes(classes + 0.3 * generator.normal(size=ROWS), classes)
    assert found["shape"] > 0.1 > 10 * found["shape in classes"]
    assert found["spread"] < 0.1
    assert abs(found["skewness trend"]) < 0.2


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_classes_cut_from_a_column_have_tails_outside(generator: np.random.Generator, noise: float) -> None:
    values = generator.normal(size=ROWS)
    seen = values + noise * generator.normal(size=ROWS)
    found = shapes(values, np.searchsorted(np.quantile(seen, (0.2, 0.4, 0.6, 0.8)), seen))
    assert found["shape"] < 0.01
    assert found["skewness trend"] > 0.25
    assert found["spread"] > 0.1


def test_neither_units_nor_sign_matter(generator: np.random.Generator) -> None:
    classes = generator.integers(0, 3, ROWS)
    values = classes + generator.exponential(size=ROWS)
    expected = shapes(values, classes)
    for change in (lambda x: 100 - x, lambda x: 1e-6 * x):
        assert shapes(change(values), classes) == pytest.approx(expected, abs=1e-6)


def test_rows_of_targets_and_small_classes_are_left_out(generator: np.random.Generator) -> None:
    classes = generator.integers(0, 3, ROWS)
    values = classes + generator.normal(size=ROWS)
    expected = shapes(values[:2000], classes[:2000])
    hit = np.arange(ROWS) >= 2000
    changed = np.where(hit, 1e3, values)
    assert shapes(changed, classes, ~hit) == pytest.approx(expected, rel=1e-9)
    few = classes.copy()
    few[:7] = 3
    rest = shapes(values[7:], classes[7:])
    assert shapes(values, few)["spread"] == pytest.approx(rest["spread"], rel=0.05)


def test_columns_that_hardly_vary_among_the_free_rows_have_none() -> None:
    classes = np.arange(ROWS) % 3
    free = np.arange(ROWS) < 100
    assert set(shapes(np.where(free, 0.0, np.arange(ROWS)), classes, free).values()) == {0.0}
