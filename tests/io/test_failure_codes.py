"""Numbers that stand for failed measurements, and those that only look like it."""

import numpy as np
import pytest

from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.io.failure_codes import find_failure_codes

ROWS = 400


def held(column, code, share=0.1):
    """What is found where a share of a column's cells hold a code."""
    column = np.array(column, float)
    column[: round(share * ROWS)] = code
    return find_failure_codes(Dataset.observational(np.c_[np.zeros(ROWS), column], ("other", "x")))


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.mark.parametrize("code", [-99, -999, -9999, 999, 9999, 99999, -888])
def test_codes_are_found(code, generator):
    for column in (generator.standard_normal(ROWS), generator.uniform(0, 10, ROWS), generator.gamma(2, 2, ROWS), generator.integers(0, 12, ROWS)):
        assert held(column, code) == {"x": {code: 0.1}}


def test_two_codes_of_one_column(generator):
    column = generator.standard_normal(ROWS)
    column[-40:] = 9999
    assert held(column, -888, 0.05) == {"x": {9999: 0.1, -888: 0.05}}


def test_other_numbers_are_none(generator):
    normal, uniform, counts = generator.standard_normal(ROWS), generator.uniform(0, 1000, ROWS), generator.poisson(3, ROWS)
    expression = generator.lognormal(3, 1, ROWS) * (generator.random(ROWS) < 0.4)
    for column, code, share in (
        (normal, -1000, 0.1),  # no such number
        (normal, -999, 0.04),  # too few
        (normal, 9, 0.1),
        (uniform, 999, 0.1),  # not far
        (uniform, 9999, 0),
        (np.abs(normal), -1, 0.1),
        (counts, 0, 0.5),
        (expression, 0, 0),
        (np.minimum(generator.lognormal(3, 1, ROWS), 99), 99, 0.1),  # a scale that ends there
        (generator.integers(1, 6, ROWS), 99, 0.1),  # classes
        (expression * (generator.random(ROWS) < 0.3), 9999, 0.1),  # mostly zeros
    ):
        assert held(column, code, share) == {}


def test_what_interventions_set_is_none(generator):
    values, regime = generator.standard_normal((ROWS, 2)), np.repeat([0, 1], ROWS // 2)
    values[regime == 1, 0] = 99
    for targets, found in (([1, 0], {}), ([0, 1], {"a": {99: 0.5}})):
        assert find_failure_codes(Dataset(values, ("a", "b"), regime, np.array([[0, 0], targets], bool))) == found


def test_a_note_names_them(generator):
    values = generator.standard_normal((ROWS, 3))
    values[generator.random(ROWS) < 0.12, 1] = -999
    share = (values[:, 1] == -999).mean()
    graph = discover(values)
    assert graph.dataset["failure codes"] == {"X2": {-999: share}}
    assert f"X2 (-999 in {share:.0%} of the rows). Leave such cells empty, so that they count as missing." in " ".join(graph.notes())
    assert "Leave such cells" not in " ".join(discover(values[:, [0, 2]]).notes())
