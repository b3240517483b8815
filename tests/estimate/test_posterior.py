"""The posteriors by layers and by classes against the enumeration of all DAGs."""

import math

import numpy as np
import pytest
from scored import adjacencies_of, degenerate_tables, every_dag, random_experiment, random_regimes, random_table

from seacausal.errors import DataError
from seacausal.estimate.posterior import (
    class_posterior_each,
    class_weights,
    dag_posterior_each,
    estimate_class_posterior,
    estimate_posterior,
)
from seacausal.estimate.scores import score_table
from seacausal.graph.classes import enumerate_dags, markov_classes
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.marks import ARROW, TAIL


def by_layers(scores: np.ndarray) -> np.ndarray:
    direct = np.full((1, len(scores), len(scores)), np.nan)
    dag_posterior_each(scores[None], direct)
    return direct[0]


def weights_of(scores: np.ndarray, dags: np.ndarray) -> np.ndarray:
    total = scores[np.arange(len(scores)), dags].sum(1)
    weight = np.exp(total - total.max())
    return weight / weight.sum()


@pytest.mark.parametrize("spread", [0.0, 0.3, 3, 30, 5000])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_posterior_is_that_of_all_dags(k, spread):
    dags = every_dag(k)
    for seed in range(10):
        scores = spread * np.random.default_rng(seed).standard_normal((k, 1 << k))
        expected = np.einsum("g,gij->ij", weights_of(scores, dags), adjacencies_of(dags))
        np.testing.assert_allclose(by_layers(scores), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("spread", [0.3, 3, 30, 5000])
def test_posterior_of_five_variables(spread, enumerate_posterior):
    for seed in range(5):
        scores = spread * np.random.default_rng(seed).standard_normal((5, 32))
        np.testing.assert_allclose(by_layers(scores), enumerate_posterior(scores), rtol=0, atol=1e-12)


def test_posterior_of_six_variables():
    dags = enumerate_dags(6)
    scores = score_table(random_table(0, 6, 60))
    weight = weights_of(scores, dags)
    found = by_layers(scores)
    assert ((found > 0.05) & (found < 0.95)).sum() > 5
    for i, j in ((0, 1), (1, 0), (4, 2), (5, 3)):
        assert found[i, j] == pytest.approx(weight[dags[:, j] >> i & 1 == 1].sum(), abs=1e-11)


@pytest.mark.parametrize("k", [8, 10])
def test_flat_scores_of_many_variables(k):
    """The mean number of edges, by the generating function of DAGs by edges (Robinson, 1973) and its derivative, in whole numbers."""
    count, edges = [1], [0]  # of DAGs, and of their edges in all
    for n in range(1, k + 1):
        parts = [(s, (-1) ** (s + 1) * math.comb(n, s) * 2 ** (s * (n - s))) for s in range(1, n + 1)]
        count.append(sum(part * count[n - s] for s, part in parts))
        edges.append(sum(part * (2 * edges[n - s] + count[n - s] * s * (n - s)) for s, part in parts) // 2)
    direct = by_layers(np.zeros((k, 1 << k)))
    np.testing.assert_allclose(direct[~np.eye(k, dtype=bool)], edges[k] / count[k] / (k * (k - 1)), rtol=1e-9)
    assert (np.diag(direct) == 0).all()


def test_a_variable_that_stands_apart_changes_nothing():
    scores = score_table(random_table(2, 6, 80))
    apart = np.full((7, 128), -1e4)
    apart[:6, :64], apart[6, 0] = scores, 0
    np.testing.assert_allclose(by_layers(apart)[:6, :6], by_layers(scores), atol=1e-12)
    assert by_layers(apart)[6].max() == by_layers(apart)[:, 6].max() == 0


def test_permuting_variables_permutes_the_posterior():
    for k in (5, 7):
        table, order = random_table(k, k, 60), np.random.default_rng(k).permutation(k)
        np.testing.assert_allclose(by_layers(score_table(table[:, order])), by_layers(score_table(table))[np.ix_(order, order)], atol=1e-9)


def test_offsets_and_masks_that_hold_the_variable_change_nothing():
    scores = score_table(random_table(5, 5, 50))
    expected = by_layers(scores)
    moved = scores + np.array([1e4, -1e4, 3, 0, 7])[:, None]
    moved[np.arange(32) >> np.arange(5)[:, None] & 1 == 1] = np.nan
    np.testing.assert_allclose(by_layers(moved), expected, atol=1e-9)


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_a_posterior(kind):
    scores = score_table(degenerate_tables()[kind])
    direct = by_layers(scores)
    arrow, line = estimate_class_posterior(degenerate_tables()[kind])
    for each in (direct + direct.T, arrow + arrow.T + line):
        assert np.isfinite(each).all()
        assert each.max() <= 1 + 1e-9
    if kind == "duplicated":
        assert (direct + direct.T)[0, 3] > 0.99


@pytest.mark.parametrize("k", [2, 3, 4])
def test_class_posterior_is_the_mean_over_classes(k):
    dags = every_dag(k)
    graphs = np.array([essential_graph(adjacency) for adjacency in adjacencies_of(dags)])
    scores = score_table(random_table(k, k, 30))
    weight = weights_of(scores, dags)
    _, name, size = np.unique(graphs.reshape(len(graphs), -1), axis=0, return_inverse=True, return_counts=True)
    for by_class in (True, False):
        each = weight / size[name.ravel()] if by_class else weight
        each = each / each.sum()
        arrow, line = estimate_class_posterior(random_table(k, k, 30), by_class=by_class)
        np.testing.assert_allclose(arrow, np.einsum("g,gij->ij", each, graphs == ARROW), atol=1e-9)
        np.testing.assert_allclose(line, np.einsum("g,gij->ij", each, (graphs == TAIL) & (graphs.transpose(0, 2, 1) == TAIL)), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_interventional_class_posterior_is_the_mean_over_classes(k):
    """All DAGs, each with its own score, in groups by their interventional essential graphs, for families of targets of every kind."""
    dags = every_dag(k)
    counts = set()
    for seed in range(10 if k == 4 else 30):
        regimes = random_regimes(seed, k)
        table, targeted = random_experiment(seed, k, regimes, (6, 20))
        graphs = np.array([essential_graph(adjacency, regimes) for adjacency in adjacencies_of(dags)])
        weight = weights_of(score_table(table, targeted), dags)
        _, name, size = np.unique(graphs.reshape(len(graphs), -1), axis=0, return_inverse=True, return_counts=True)
        counts.add(len(size))
        for by_class in (True, False):
            each = weight / size[name.ravel()] if by_class else weight
            each = each / each.sum()
            arrow, line = estimate_class_posterior(table, targeted, by_class=by_class)
            np.testing.assert_allclose(arrow, np.einsum("g,gij->ij", each, graphs == ARROW), atol=1e-9)
            np.testing.assert_allclose(line, np.einsum("g,gij->ij", each, (graphs == TAIL) & (graphs.transpose(0, 2, 1) == TAIL)), atol=1e-9)
    assert len(counts) >= 2 + (k > 2)  # observational classes, DAGs, and some between where there is room


def test_regimes_without_targets_or_with_all_of_them_are_observational():
    table = random_table(3, 4, 60)
    expected = estimate_class_posterior(table)
    np.testing.assert_array_equal(estimate_class_posterior(table, np.zeros((60, 4), bool)), expected)
    everywhere = np.arange(120)[:, None] < np.full(4, 60)
    again = estimate_class_posterior(np.vstack([table + 9, table]), everywhere)
    np.testing.assert_allclose(again, expected, atol=1e-9)


def test_where_every_variable_is_told_apart_classes_are_dags():
    regimes = np.vstack([np.zeros(5, bool), np.eye(5, dtype=bool)])
    table, targeted = random_experiment(4, 5, regimes, (10, 20))
    arrow, line = estimate_class_posterior(table, targeted)
    np.testing.assert_allclose(arrow, estimate_posterior(table, targeted), atol=1e-9)
    assert not line.any()


def test_by_dags_the_classes_of_five_variables_agree_with_the_layers():
    for seed in range(20):
        scores = score_table(random_table(seed, 5, 60))
        arrow, line = estimate_class_posterior(random_table(seed, 5, 60), by_class=False)
        direct = by_layers(scores)
        np.testing.assert_allclose(arrow + arrow.T + line, direct + direct.T, atol=1e-9)
        assert (direct >= arrow - 1e-9).all()


def test_the_loop_over_classes_does_each_subset_alone():
    tables = [random_table(seed, 4, 60) for seed in range(5)]
    classes = markov_classes(4)
    arrow, line = np.full((5, 4, 4), np.nan), np.full((5, 4, 4), np.nan)
    scores = np.array([score_table(table) for table in tables])
    class_posterior_each(scores, classes.parents, classes.arrows, classes.lines, class_weights(classes), arrow, line)
    for at, table in enumerate(tables):
        np.testing.assert_array_equal((arrow[at], line[at]), estimate_class_posterior(table))


def test_an_intervention_tells_the_direction():
    generator = np.random.default_rng(0)
    cause = generator.standard_normal(400)
    table, targeted = np.column_stack([cause, cause + generator.standard_normal(400)]), np.zeros((400, 2), bool)
    assert estimate_posterior(table)[0, 1] == pytest.approx(0.5)
    targeted[:200, 1] = True
    table[:200, 1] = generator.standard_normal(200)
    assert estimate_posterior(table, targeted)[0, 1] > 0.99


def test_too_many_variables_for_classes():
    with pytest.raises(DataError, match="up to 6 variables; found 7"):
        estimate_class_posterior(random_table(0, 7))
