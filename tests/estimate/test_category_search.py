"""The search over tables of few values against the definition of its score, and on data whose graph it must find."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from seacausal.estimate import category_search
from seacausal.estimate.category_search import category_statistics, fill_state, find_categories, new_state, search_categories
from seacausal.graph.metrics import is_acyclic
from seacausal.simulate.tables import draw_categories

CLOSE = 0.05
"""Main effects are fitted to counts that are off by a tenth of a row at most."""


def score(graph: np.ndarray, codes: np.ndarray, free: np.ndarray) -> float:
    """BIC from its definition: of the multinomial tables, or of main effects of two parents or more where that is better."""
    total = 0.0
    for y, parents in enumerate(graph.T):
        rows = codes[:, free[y]].T
        levels = codes.max(1) + 1
        price = 0.5 * np.log(len(rows)) * (levels[y] - 1)
        tables = 0.0
        for configuration in itertools.product(*(range(levels[x]) for x in np.flatnonzero(parents))):
            counts = np.bincount(rows[(rows[:, parents] == configuration).all(1), y], minlength=levels[y])
            tables += sum(count * np.log(count / counts.sum()) for count in counts if count) - price
        if parents.sum() > 1:
            effects = fit_effects(rows[:, parents], rows[:, y], levels[parents], levels[y]) - price * (1 + (levels[parents] - 1).sum())
            tables = max(tables, effects)
        total += tables
    return total


def fit_effects(parents: np.ndarray, child: np.ndarray, sizes: np.ndarray, levels: int) -> float:
    """Maximal log-likelihood of a multinomial logit without interactions, by a general optimiser."""
    columns = [parents[:, [k]] == np.arange(1, size) for k, size in enumerate(sizes)]
    x, y = np.column_stack([np.ones(len(child)), *columns]), np.eye(levels)[child]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        eta = np.column_stack([np.zeros(len(child)), x @ flat.reshape(-1, levels - 1)])
        norm = logsumexp(eta, axis=1, keepdims=True)
        return float((norm[:, 0] - (eta * y).sum(1)).sum()), (x.T @ (np.exp(eta - norm) - y)[:, 1:]).ravel()

    return -minimize(loss, np.zeros(x.shape[1] * (levels - 1)), jac=True, method="BFGS").fun


def dags(d: int):
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        graph = np.zeros((d, d), bool)
        for pair, one in zip(pairs, chosen):
            graph[pair] = one
        if is_acyclic(graph):
            yield graph


def table(seed: int, graph: np.ndarray, n: int, levels: int = 3) -> np.ndarray:
    """(n, d) categories of an upper triangular graph."""
    generator = np.random.default_rng(seed)
    values = np.zeros((n, len(graph)))
    for j in range(len(graph)):
        values[:, j] = draw_categories(values[:, graph[:, j]], levels, generator=generator)
    return values


def dense(seed: int, d: int) -> np.ndarray:
    return np.triu(np.random.default_rng(seed).random((d, d)) < 0.6, 1)


def searched(codes: np.ndarray, free: np.ndarray, starts: list[np.ndarray], patience: int = 15):
    state = new_state(codes, free)
    fill_state(state)
    shared, worth = state.gain.copy(), state.change.copy()
    keys = np.random.default_rng(0).integers(1, 2**62, (len(codes), len(codes)))
    search_categories(state, np.array(starts), keys, patience)
    return state, shared, worth


def held_out(seed: int, codes: np.ndarray) -> np.ndarray:
    return np.random.default_rng(seed).random(codes.shape) < 0.8


@pytest.mark.parametrize("seed", range(4))
def test_gains_and_changes_are_those_of_the_score(seed):
    codes = table(seed, dense(seed, 5), 300).astype(int).T
    free = held_out(seed, codes)
    state, shared, worth = searched(codes, free, [np.zeros((5, 5), bool)])
    graph, none = state.joined, np.zeros((5, 5), bool)
    for x, y in itertools.permutations(range(5), 2):
        single, toggled = none.copy(), graph.copy()
        single[x, y], toggled[x, y] = True, not graph[x, y]
        assert worth[x, y] == pytest.approx(score(single, codes, free) - score(none, codes, free), abs=1e-6)
        assert state.change[x, y] == pytest.approx(score(toggled, codes, free) - score(graph, codes, free), abs=CLOSE)
        price = 0.5 * np.log(free[y].sum()) * (codes[y].max()) * codes[x].max()
        assert shared[x, y] - price == pytest.approx(worth[x, y], abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_all_graphs_of_four_variables_is_found(seed):
    codes = table(seed, dense(seed, 4), 400).astype(int).T
    free = np.ones(codes.shape, bool)
    best = max(dags(4), key=lambda graph: score(graph, codes, free))
    state, _, _ = searched(codes, free, [np.zeros((4, 4), bool)])
    assert is_acyclic(state.joined)
    assert score(state.joined, codes, free) == pytest.approx(score(best, codes, free), abs=CLOSE)


def test_patience_and_starts_lead_out_of_local_optima():
    reached = np.zeros(3)
    for seed in range(20):
        graph = dense(seed, 8)
        codes = table(seed, graph, 3000, 2).astype(int).T
        free, none = np.ones(codes.shape, bool), np.zeros((8, 8), bool)
        greedy, patient, helped = (searched(codes, free, *options)[0].joined for options in (([none], 0), ([none],), ([none, graph],)))
        scores = [score(one, codes, free) for one in (greedy, patient, helped)]
        assert scores[0] <= scores[1] + CLOSE
        assert scores[1] <= scores[2] + CLOSE
        assert score(graph, codes, free) <= scores[2] + CLOSE
        reached += np.array(scores) > max(scores) - CLOSE
    assert reached[0] < reached[1] < reached[2]


def test_an_edge_whose_table_would_be_too_large_is_left_out(monkeypatch):
    monkeypatch.setattr(category_search, "TABLE", 20)
    values = table(3, np.triu(np.ones((4, 4), bool), 1), 2000)
    codes = values.astype(int).T
    state, _, _ = searched(codes, np.ones(codes.shape, bool), [np.zeros((4, 4), bool), np.triu(np.ones((4, 4), bool), 1)])
    assert (state.levels * np.where(state.joined, state.levels[:, None], 1).prod(0) <= 20).all()
    assert np.isneginf(state.change).any()


def test_only_the_best_candidates_are_tried_and_all_are_weighed(monkeypatch):
    values = table(1, dense(7, 8), 2000)
    everything = category_statistics(values, None)
    monkeypatch.setattr(category_search, "CANDIDATES", 7)
    some = category_statistics(values, None)
    shared = everything["mutual information significance"]
    likely = shared >= np.partition(shared, -7, axis=0)[-7]  # the others are weighed by tables alone
    for name, channel in everything.items():
        np.testing.assert_array_equal(some[name][likely], channel[likely], err_msg=name)
    monkeypatch.setattr(category_search, "CANDIDATES", 1)
    few = category_statistics(values, None)
    edge = few["category graph edge"] > 0
    best = few["mutual information significance"] >= np.partition(few["mutual information significance"], -1, axis=0)[-1]
    assert 0 < edge.sum() < (everything["category graph edge"] > 0).sum()
    assert not (edge & ~(best | best.T)).any()
    assert (few["category graph strength"][~np.eye(8, dtype=bool)] > 0).all()


# Channels


def test_names_of_categories_and_the_order_of_columns_do_not_matter():
    values = table(0, dense(1, 7), 1500)
    before = category_statistics(values, None)
    order = np.random.default_rng(1).permutation(7)
    renamed = np.column_stack([np.random.default_rng(j).permutation(3)[column.astype(int)] * 7.5 for j, column in enumerate(values.T)])
    after = category_statistics(renamed[:, order], None)
    assert before.keys() == after.keys()
    for name, channel in before.items():
        assert channel.shape == (7, 7)
        np.testing.assert_allclose(after[name], channel[np.ix_(order, order)], atol=1e-9, err_msg=name)


def test_a_collider_is_found_and_weighed():
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 3, (2, 4000))
    child = np.where(generator.random(4000) < 0.8, np.maximum(x, y), generator.integers(0, 3, 4000))
    other = np.where(generator.random(4000) < 0.7, child, generator.integers(0, 3, 4000))
    found = category_statistics(np.column_stack([x, child, y, other]), None)
    edge = found["category graph edge"]
    assert edge[0, 1] == edge[2, 1] == edge[1, 3] == 1
    assert edge.sum() == 3
    assert found["mutual information"][0, 2] < 0.1 < found["mutual information"][0, 3] < found["mutual information"][0, 1]
    assert found["category graph strength"][0, 1] > found["mutual information"][0, 1]  # beside the other parent
    assert found["mutual information significance"][0, 2] < 0 < found["mutual information significance"][0, 3]
    assert found["category graph significance"][0, 3] < 0 < found["category graph significance"][1, 3]
    turned = found["category graph orientation"]
    assert turned[0, 1] > 0.5
    np.testing.assert_allclose(turned, -turned.T)
    np.testing.assert_allclose(found["levels"], np.log(3))


def test_an_edge_of_open_direction_counts_half():
    values = table(2, np.array([[False, True], [False, False]]), 2000)
    assert np.array_equal(category_statistics(values, None)["category graph edge"], [[0, 0.5], [0.5, 0]])
    targets = np.array([[False, False], [True, False]])
    targeted = targets[np.repeat([0, 1], 1000)]
    assert np.array_equal(category_statistics(values, targeted, targets)["category graph edge"], [[0, 1], [0, 0]])


def test_a_child_is_not_fitted_where_it_is_a_target():
    generator = np.random.default_rng(4)
    cause = generator.integers(0, 2, 2000)
    child = np.where(np.arange(2000) < 1000, cause, generator.integers(0, 2, 2000))
    values = np.column_stack([cause, child])
    targeted = np.zeros((2000, 2), bool)
    plain = category_statistics(values, None)["category graph strength"]
    targeted[1000:, 1] = True
    apart = category_statistics(values, targeted, np.array([[False, False], [False, True]]))
    assert plain[0, 1] < 0.7 < 0.8 < apart["category graph strength"][0, 1]
    assert apart["category graph edge"][0, 1] == 1


def test_columns_of_many_values_are_cut_at_their_quartiles():
    generator = np.random.default_rng(5)
    category = generator.integers(0, 2, (2000, 2)).astype(float)
    measured = category[:, 0] * 2 + generator.standard_normal(2000)
    found = category_statistics(np.column_stack([category, measured]), None)
    assert np.array_equal(find_categories(np.column_stack([category, measured])), [True, True, False])
    np.testing.assert_allclose(found["levels"], np.broadcast_to([np.log(2), np.log(2), 0], (3, 3)))
    assert found["category graph edge"][0, 2] == found["category graph edge"][2, 0] == 0.5
    assert found["category graph edge"][1].sum() == found["category graph edge"][:, 1].sum() == 0
    assert found["mutual information"][0, 2] > 0.5


def test_tables_without_categories_have_no_such_channels():
    generator = np.random.default_rng(6)
    assert category_statistics(generator.standard_normal((500, 4)), None) == {}


def test_one_column_of_few_values_is_told_from_the_others():
    generator = np.random.default_rng(6)
    levels = category_statistics(np.column_stack([generator.standard_normal((500, 3)), generator.integers(0, 3, 500)]), None)["levels"]
    np.testing.assert_allclose(levels, np.tile([0, 0, 0, np.log(3)], (4, 1)))


@pytest.mark.parametrize(("values", "rows", "few"), [(10, 1000, True), (11, 1000, False), (4, 20, True), (5, 20, False), (2, 10, True)])
def test_a_column_of_few_values_has_five_rows_for_each(values, rows, few):
    column = np.arange(rows)[:, None] % values
    assert find_categories(column).tolist() == [few]


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_many_parents_are_found_where_tables_would_not_pay(seed):
    """Six causes of one effect, by logistic regression: 64 configurations of 800 rows."""
    generator = np.random.default_rng(seed)
    causes = generator.integers(0, 2, (800, 6))
    effect = generator.random(800) < expit(2.0 * (causes @ [1, -1, 1, -1, 1, -1]))
    edge = category_statistics(np.column_stack([causes, effect]), None)["category graph edge"]
    assert (edge[:6, 6] == 1).all()
    assert edge[:, :6].sum() <= 1


def test_channels_are_finite_where_an_edge_cannot_be_turned_round():
    """The effect has so many causes that its table with one more, as a cause of the one with ten values, would be too large."""
    generator = np.random.default_rng(3)
    causes = generator.integers(0, 4, (3000, 5))
    effect = np.digitize(causes.sum(1) + generator.standard_normal(3000), np.arange(4, 13))
    late = np.digitize(effect + generator.standard_normal(3000), np.arange(2, 9))
    found = category_statistics(np.column_stack([causes, effect, late]), None)
    assert all(np.isfinite(channel).all() for channel in found.values())
