"""Rows that are copies of others count once; tables in which rows repeat by nature stay as they are."""

import numpy as np
import pytest

from seacausal.discovery import discover
from seacausal.estimate.repeated import distinct_rows


def copies_of(values, regime=None):
    found = distinct_rows(np.ascontiguousarray(values, float), np.zeros(len(values), np.int32) if regime is None else regime)
    return None if found is None else len(found)


@pytest.mark.parametrize("n", [200, 300, 1500])
@pytest.mark.parametrize("kind", ["normal", "rounded", "one column", "two columns"])
def test_rows_drawn_with_replacement_are_copies(kind, n):
    generator = np.random.default_rng(0)
    values = generator.standard_normal((200, 4))
    if kind == "rounded":
        values = values.round(2)
    elif kind == "one column":
        values[:, 1:] = values[:, 1:] > 0
    elif kind == "two columns":
        values = values[:, :2]
    drawn = generator.integers(0, 200, n)
    assert copies_of(values[drawn]) == len(np.unique(drawn))
    assert copies_of(values) is None
    assert copies_of(np.r_[values, values[:50]]) is None  # a few


NATURAL = {
    "categories": lambda g, n: g.integers(0, 3, (n, 12)) * (g.random((1, 12)) < 0.5),
    "rare events": lambda g, n: g.random((n, 100)) < 0.005,
    "ages and classes": lambda g, n: np.c_[g.integers(18, 90, n), g.integers(0, 2, (n, 3))],
    "counts": lambda g, n: g.poisson(0.05 * np.exp(g.standard_normal((n, 20)))),
    "rounded": lambda g, n: (g.standard_normal((n, 1)) + 0.02 * g.standard_normal((n, 3))).round(1),
    "a grid and what it decides": lambda g, n: (lambda x: np.c_[x, g.random(n) < 1 / (1 + np.exp(-80 * x))])(g.standard_normal(n).round(2)),
    "zeros together": lambda g, n: g.standard_normal((n, 4)) * (g.random((n, 1)) < 0.4),
    "zeros apart": lambda g, n: g.exponential(size=(n, 3)) * (g.random((n, 3)) < 0.2),
}


@pytest.mark.parametrize("kind", NATURAL)
def test_rows_that_repeat_by_nature_are_none(kind):
    n = 20_000
    values = NATURAL[kind](np.random.default_rng(0), n).astype(float)
    assert len(np.unique(values, axis=0)) < 2 / 3 * n
    assert copies_of(values) is None


def test_rows_of_other_regimes_are_no_copies():
    values = np.random.default_rng(0).standard_normal((100, 3))
    assert copies_of(np.r_[values, values], np.repeat([0, 1], 100)) is None
    assert copies_of(np.r_[values, values]) == 100
    assert copies_of(np.repeat(values, 4, 0), np.repeat(np.arange(100) % 2, 4)) == 100


def test_copies_of_independent_rows_join_nothing_and_are_named():
    generator = np.random.default_rng(0)
    values = generator.standard_normal((200, 8))
    for order in (generator.integers(0, 200, 1500), np.repeat(np.arange(200), 5)):
        graph = discover(values[order])
        both = graph.probabilities + graph.probabilities.T
        assert (both > 0.5).sum() == 0
        facts, copies = graph.dataset, len(order) - len(np.unique(order))
        assert (facts["independent rows"], facts["repeated rows"], facts["serial"]) == (200, copies, False)
        assert f"{copies:,} of {len(order):,} rows repeat others in every column" in " ".join(graph.notes())
    assert discover(values).dataset["repeated rows"] == 0
