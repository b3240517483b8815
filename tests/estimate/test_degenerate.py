"""Columns that were computed from others, found and told by name."""

import numpy as np
import pytest

from seacausal.data import Degenerate
from seacausal.discovery import discover
from seacausal.estimate.degenerate import FEWEST, LEFT, find_computed, find_degenerate, find_exclusive

NAMES = tuple("abcdefgh")


def found_in(values: np.ndarray) -> Degenerate:
    names = NAMES[: values.shape[1]]
    return find_computed(values, names, find_degenerate(np.corrcoef(values.T), len(values), names, ()))


def body(rows: int, digits: int | None, seed: int = 0) -> np.ndarray:
    """Age, height, weight, and the body mass index that is weight over squared height, rounded to so many digits."""
    generator = np.random.default_rng(seed)
    age, height = generator.uniform(20, 80, rows), generator.normal(1.7, 0.1, rows)
    weight = 70 + 60 * (height - 1.7) + 0.1 * age + generator.normal(0, 8, rows)
    index = weight / height**2
    return np.column_stack([age, height, weight, index if digits is None else index.round(digits)])


@pytest.mark.parametrize("rows", [50, 5000])
@pytest.mark.parametrize("digits", [None, 1])
def test_products_and_ratios_are_told_with_their_factors(rows, digits):
    found = found_in(body(rows, digits))
    assert found.products == (("d", ("b", "c")),)
    assert found.dependent == found.monotone == found.duplicate == ()
    if digits:
        assert found_in(body(rows, 0)).products == ()  # too coarse to be told from a cause with little noise


def test_sums_and_shares_are_told_with_their_terms_however_many_columns_there_are():
    generator = np.random.default_rng(1)
    values = generator.gamma(2.0, size=(400, 60))
    values[:, 40] = values[:, 3] - 2 * values[:, 17]
    values[:, 50] = (values[:, 20] + values[:, 21]).round(2)
    shares = 100 * generator.dirichlet((2, 3, 4), 400)
    names = [f"x{j}" for j in range(63)]
    table = np.column_stack([values, shares])
    found = find_degenerate(np.corrcoef(table.T), 400, names, ())
    assert found.dependent == (("x40", ("x3", "x17")), ("x50", ("x20", "x21")), ("x62", ("x60", "x61")))
    assert find_computed(table, names, found) == found  # no products of these, and sums are not told twice
    few = find_degenerate(np.corrcoef(table[:100].T), 100, names, ()).dependent  # where chance leaves little, too, rounding is not seen through
    assert few == (("x40", ("x3", "x17")), ("x62", ("x60", "x61")))
    assert find_degenerate(np.corrcoef(table[:60].T), 60, names, ()).dependent == ()


def test_the_share_of_variance_left_decides():
    x, y, noise = np.random.default_rng(2).standard_normal((3, 4000))
    for left, near in (0.5 * LEFT, True), (2 * LEFT, False):
        z = x + y + np.sqrt(2 * left) * noise
        assert bool(found_in(np.column_stack([x, y, z])).dependent) is near


def test_functions_that_only_rise_or_fall_are_told_and_others_are_not():
    generator = np.random.default_rng(3)
    x = generator.standard_normal(5000)
    rises = [np.exp(x), -(x**3), 2 * x - 1, x**2, x + 1e-3 * generator.standard_normal(5000)]
    found = found_in(np.column_stack([x, *rises]))
    assert found.monotone == (("b", "a"), ("c", "a"))
    assert found.duplicate == (("d", "a"),)
    late = np.exp(x)
    late[4321] = 0.5  # not among the rows that are looked at first
    assert found_in(np.column_stack([x, late])).monotone == ()
    ages = generator.integers(20, 80, 3000).astype(float)  # ties stay ties
    assert found_in(np.column_stack([ages, ages**2])).monotone == (("b", "a"),)
    assert found_in(np.column_stack([ages, np.floor(ages / 2) ** 2])).monotone == ()
    few = generator.integers(0, FEWEST, 3000).astype(float)
    assert found_in(np.column_stack([few, few**2])).monotone == ()


def test_notes_name_what_was_computed():
    notes = " ".join(discover(np.column_stack([body(300, None), np.log(body(300, None)[:, 0])])).notes())
    assert "Products or ratios of other columns, or nearly: X4 (of X2, X3)." in notes
    assert "Columns that rise or fall together in every row: X5 and X1." in notes


def test_imputed_values_hide_nothing_of_what_was_computed():
    generator = np.random.default_rng(4)
    values = body(400, 1)
    values = np.column_stack([values, values[:, 0] + values[:, 2]])
    values[generator.random(values.shape) < 0.1] = np.nan
    found = discover(values, missing="impute").degenerate
    assert found.products == (("X4", ("X2", "X3")),)
    assert found.dependent == (("X5", ("X1", "X3")),)


@pytest.mark.parametrize("kinds", [3, 5])
def test_indicators_of_one_category_are_told(kinds):
    generator = np.random.default_rng(kinds)
    kind, coin = generator.integers(kinds, size=500), generator.integers(0, 2, (500, 2))
    indicators = (kind[:, None] == np.arange(1, kinds)).astype(float)  # the first is left out, as for regressions
    values = np.column_stack([coin[:, 0], indicators, coin[:, 1], generator.standard_normal(500)])
    names = ("coin", *(f"kind {k}" for k in range(1, kinds)), "other coin", "x")
    expected = (names[1:kinds],)
    assert find_exclusive(values, names) == expected
    assert find_exclusive(5 - 3 * values[:, ::-1], names[::-1]) == ()  # marked by their smaller value
    graph = discover(dict(zip(names, values.T, strict=True)))
    assert graph.degenerate.exclusive == expected
    assert any(note.startswith(f"Never marked in the same row, as kinds of one category: {', '.join(expected[0])}.") for note in graph.notes())


def test_rare_marks_and_independent_coins_are_no_category():
    generator = np.random.default_rng(0)
    rare = np.zeros((500, 2))
    rare[:20, 0], rare[20:40, 1] = 1, 1  # chance has 0.8 rows with both
    assert find_exclusive(rare, ("a", "b")) == ()
    assert find_exclusive(generator.integers(0, 2, (500, 6)).astype(float), tuple("abcdef")) == ()
