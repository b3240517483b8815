"""Parents taken and dropped against regressions; whole-graph searches against the best of all graphs, and on data whose graph they must find."""

import itertools
import math

import numpy as np
import pytest
from numba import njit

from seacausal.data import Dataset
from seacausal.estimate import graph_search, statistics
from seacausal.estimate.graph_search import graph_statistics, interventional_graph_statistics, search_graph
from seacausal.estimate.parents import MOST, copy_parents, drop_parent, fit_parents, lose_parents, new_task, no_parents, try_parent
from seacausal.estimate.statistics import exclude_targets, gram_matrix, standardise
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.metrics import is_acyclic, score_mark_distance
from seacausal.simulate.dataset import Simulation, simulate_dataset


def simulated(seed: int, **fields):
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(seed))


def correlated(values: np.ndarray) -> np.ndarray:
    return np.corrcoef(values.T)


def start(matrix: np.ndarray, block: int = 1, penalty: float = 0.01, order=None):
    d = len(matrix) // block
    graph = no_parents(np.arange(d) if order is None else np.asarray(order), block)
    graph.variance[:] = matrix.diagonal()[::block]
    return new_task(matrix[None], np.zeros(d, np.int64), np.ones(d), block, penalty), graph


def left(matrix: np.ndarray, block: int, y: int, parents) -> float:
    """Variance of y given its parents' features."""
    columns = [c * block + a for c in parents for a in range(block)]
    across = matrix[y * block, columns]
    return float(matrix[y * block, y * block] - across @ np.linalg.pinv(matrix[np.ix_(columns, columns)]) @ across)


def features(seed: int, d: int, block: int) -> np.ndarray:
    """(d k, d k) correlations of the first powers of dependent variables."""
    z = np.random.default_rng(seed).standard_normal((500, d)) @ np.random.default_rng(seed + 1).standard_normal((d, d))
    z /= z.std(0)
    return np.corrcoef(np.stack([z**power for power in range(1, block + 1)], -1).reshape(500, -1).T)


# Parents. Only compiled functions may call these.


@njit
def call_try_parent(task, graph, y, c):
    return try_parent(task, graph, y, c)


@njit
def call_drop_parent(task, graph, y, slot):
    drop_parent(task, graph, y, slot)


@njit
def call_lose_parents(task, graph, y):
    lose_parents(task, graph, y)


@njit
def call_fit_parents(task, graph, y, slot, c):
    fit_parents(task, graph, y, slot, c)


@njit
def call_copy_parents(source, target, y):
    copy_parents(source, target, y)


@pytest.mark.parametrize("block", [1, 3])
def test_variances_of_parents_taken_and_dropped_are_those_of_regressions(block):
    matrix = features(0, 7, block)
    task, graph = start(matrix, block)
    generator = np.random.default_rng(3)
    for _ in range(60):
        count = int(graph.counts[6])
        free = [c for c in range(6) if not graph.joined[c, 6]]
        if free and (count == 0 or generator.random() < 0.6):
            c = int(generator.choice(free))
            wanted = left(matrix, block, 6, [*graph.parents[6, :count], c])
            assert call_try_parent(task, graph, 6, c) == pytest.approx(wanted, abs=1e-9)
            graph.variance[6] = call_try_parent(task, graph, 6, c)
            graph.parents[6, count], graph.joined[c, 6] = c, True
            graph.counts[6] += 1
        else:
            call_drop_parent(task, graph, 6, int(generator.integers(count)))
        parents = graph.parents[6, : graph.counts[6]].tolist()
        assert graph.variance[6] == pytest.approx(left(matrix, block, 6, parents), abs=1e-9)
        assert sorted(parents) == np.flatnonzero(graph.joined[:, 6]).tolist()
        call_lose_parents(task, graph, 6)
        for slot, parent in enumerate(parents):
            without = left(matrix, block, 6, [c for c in parents if c != parent])
            assert task.losses[slot] == pytest.approx(without - graph.variance[6], abs=1e-8)


@pytest.mark.parametrize("block", [1, 3])
def test_fitted_parents_gain_and_no_single_change_gains_more(block):
    matrix = features(5, 8, block)
    task, graph = start(matrix, block, penalty=0.15)
    call_fit_parents(task, graph, 7, MOST, 8)
    parents = graph.parents[7, : graph.counts[7]].tolist()

    def cost(chosen) -> float:
        return math.log(left(matrix, block, 7, chosen)) + task.penalty * len(chosen)

    best = cost(parents)
    assert len(parents) > 0
    assert best < min(cost([]), cost(range(7)))
    assert all(cost([*parents, c]) >= best - 1e-6 for c in range(7) if c not in parents)
    assert all(cost([p for p in parents if p != c]) >= best - 1e-6 for c in parents)


def test_with_a_parent_lost_those_go_that_paid_beside_it_alone():
    """x -> y <- e: e explains nothing of x, but beside y it does."""
    x, e = np.random.default_rng(0).standard_normal((2, 20_000))
    task, graph = start(correlated(np.column_stack([e, x + e, x])))
    call_fit_parents(task, graph, 2, MOST, 3)
    assert sorted(graph.parents[2, : graph.counts[2]].tolist()) == [0, 1]
    graph.order[1:], graph.place[1:] = [2, 1], [2, 1]  # y behind x
    call_fit_parents(task, graph, 2, graph.parents[2].tolist().index(1), 3)
    assert graph.counts[2] == 0


def test_only_variables_before_a_child_become_its_parents():
    matrix = features(6, 6, 1)
    task, graph = start(matrix, order=[4, 2, 0, 1, 3, 5])
    call_fit_parents(task, graph, 0, MOST, 6)
    assert set(graph.parents[0, : graph.counts[0]].tolist()) <= {4, 2}
    assert graph.counts[0]


def test_a_feature_that_adds_nothing_explains_nothing():
    z = np.random.default_rng(0).standard_normal((200, 2))
    matrix = correlated(np.column_stack([z[:, 0], z[:, 0], z.sum(1)]))
    task, graph = start(matrix)
    call_fit_parents(task, graph, 2, MOST, 3)
    assert graph.counts[2] == 1
    assert call_try_parent(task, graph, 2, 1) == pytest.approx(graph.variance[2], abs=1e-9)


def test_copied_parents_are_independent_of_where_they_came_from():
    matrix = features(7, 6, 1)
    task, graph = start(matrix)
    call_fit_parents(task, graph, 5, MOST, 6)
    before = graph.parents[5, : graph.counts[5]].tolist(), float(graph.variance[5])
    _, other = start(matrix)
    call_copy_parents(graph, other, 5)
    call_drop_parent(task, graph, 5, 0)
    assert (other.parents[5, : other.counts[5]].tolist(), float(other.variance[5])) == before
    assert np.flatnonzero(other.joined[:, 5]).tolist() == sorted(before[0])


# Graphs


def best_score(matrix: np.ndarray, penalty: float) -> float:
    """Over all orders and all parents before each variable."""
    d = len(matrix)
    scores = {
        (y, chosen): math.log(left(matrix, 1, y, list(chosen))) + penalty * len(chosen)
        for y in range(d)
        for size in range(d)
        for chosen in itertools.combinations([c for c in range(d) if c != y], size)
    }

    def least(y: int, before: frozenset[int]) -> float:
        return min(scores[y, chosen] for size in range(len(before) + 1) for chosen in itertools.combinations(sorted(before), size))

    known = {(y, before): least(y, before) for y in range(d) for before in map(frozenset, powerset([c for c in range(d) if c != y]))}
    return min(sum(known[y, frozenset(order[:p])] for p, y in enumerate(order)) for order in itertools.permutations(range(d)))


def powerset(values):
    return itertools.chain.from_iterable(itertools.combinations(values, size) for size in range(len(values) + 1))


@pytest.mark.parametrize("seed", range(8))
def test_no_graph_of_five_variables_scores_better(seed):
    dataset = simulated(seed, variables=5, edges=6, observational_rows=400)
    matrix = correlated(dataset.values)
    _, found = search_graph(matrix[None], np.arange(5), 400, jumps=20)
    penalty = (math.log(400) + 2 * math.log(5)) / 400
    score = sum(math.log(left(matrix, 1, y, np.flatnonzero(found.graph[:, y]).tolist())) + penalty * found.graph[:, y].sum() for y in range(5))
    assert is_acyclic(found.graph)
    assert score == pytest.approx(best_score(matrix, penalty), abs=1e-5)


def distance(found: np.ndarray, adjacency: np.ndarray) -> int:
    return score_mark_distance(essential_graph(adjacency), essential_graph(found))


@pytest.mark.parametrize(("d", "edges", "most"), [(20, 20, 0), (20, 80, 2), (40, 160, 0)])
def test_equivalence_class_of_linear_gaussian_data(d, edges, most):
    dataset = simulated(1, variables=d, edges=edges, observational_rows=1000 * d, root_law="gaussian")
    matrix = correlated(dataset.values)
    order = np.argsort(np.linalg.inv(matrix).diagonal())
    _, found = search_graph(matrix[None], order, len(dataset.values), jumps=20, turns=True)
    assert distance(found.graph, dataset.adjacency) <= most


@pytest.mark.parametrize(("edges", "rows", "seed"), [(80, 20_000, 7), (80, 20_000, 10), (80, 1000, 7), (80, 1000, 20), (40, 500, 10), (40, 500, 14)])
def test_the_true_graph_scores_no_better(edges, rows, seed):
    """Where no edges are turned and no variables jump it does."""
    dataset = simulated(seed, variables=20, edges=edges, observational_rows=rows, root_law="gaussian")
    matrix = correlated(dataset.values)
    order = np.argsort(np.linalg.inv(matrix).diagonal())
    penalty = (math.log(rows) + 2 * math.log(20)) / rows

    def score(graph: np.ndarray) -> float:
        return sum(math.log(left(matrix, 1, y, np.flatnonzero(graph[:, y]).tolist())) + penalty * graph[:, y].sum() for y in range(20))

    plain = search_graph(matrix[None], order, rows)[1].graph
    found = search_graph(matrix[None], order, rows, jumps=graph_search.JUMPS, turns=True)[1].graph
    assert score(found) <= score(dataset.adjacency) + 1e-6 < score(plain)


def test_without_annealing_a_dense_graph_is_not_found(monkeypatch):
    dataset = simulated(4, variables=60, edges=240, observational_rows=60_000, root_law="gaussian")
    matrix = correlated(dataset.values)
    order = np.argsort(np.linalg.inv(matrix).diagonal())
    annealed = search_graph(matrix[None], order, 60_000, jumps=0)[1].graph
    monkeypatch.setattr(graph_search, "STAGES", ())
    at_once = search_graph(matrix[None], order, 60_000, jumps=0)[1].graph
    assert distance(annealed, dataset.adjacency) <= 10 < distance(at_once, dataset.adjacency)


def test_where_one_order_leads_astray_another_does_not():
    dataset = simulated(103, variables=100, edges=400, observational_rows=20_000, root_law="gaussian")
    matrix = correlated(dataset.values)
    order = np.argsort(np.linalg.inv(matrix).diagonal())
    once, again = (search_graph(matrix[None], order, 20_000, jumps=jumps, turns=True)[1].graph for jumps in (0, 1))
    assert distance(again, dataset.adjacency) <= 2
    assert distance(once, dataset.adjacency) > 100


def test_a_table_with_few_rows_has_one_stage():
    matrix = features(8, 6, 1)
    sparse, found = search_graph(matrix[None], np.arange(6), 80, jumps=5)
    assert sparse is found
    assert found.rows == 80


def test_stages_end_when_the_work_is_done(monkeypatch):
    matrix = features(9, 12, 3)
    assert search_graph(matrix[None], np.arange(12), 50_000, jumps=0)[1].rows == 50_000
    monkeypatch.setattr(graph_search, "STAGES_WORK", 1)
    sparse, found = search_graph(matrix[None], np.arange(12), 50_000, jumps=0)
    assert sparse is found
    assert found.rows == graph_search.SPARSE


def test_order_of_start_does_not_matter_for_an_easy_graph():
    dataset = simulated(3, variables=8, edges=8, observational_rows=5000)
    matrix = correlated(dataset.values)
    orders = [np.random.default_rng(seed).permutation(8) for seed in range(6)]
    classes = [essential_graph(search_graph(matrix[None], order, 5000, jumps=20)[1].graph) for order in orders]
    assert all((one == classes[0]).all() for one in classes)


# Channels


def channels_of(values: np.ndarray) -> dict[str, np.ndarray]:
    return graph_statistics(gram_matrix(standardise(values)[0]))[0]


def collider(n: int = 3000) -> np.ndarray:
    """0 -> 2 <- 1 and 2 -> 3."""
    noise = np.random.default_rng(0).standard_normal((n, 4))
    c = noise[:, 0] + noise[:, 1] + noise[:, 2]
    return np.column_stack([noise[:, 0], noise[:, 1], c, c + noise[:, 3]])


def test_edges_of_the_class_are_one_or_one_half():
    edge = channels_of(collider())["linear graph edge"]
    assert edge.tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    pair = channels_of(collider()[:, [0, 2]])["linear graph edge"]
    assert pair.tolist() == [[0, 0.5], [0.5, 0]]


def test_precedence_is_what_the_wrong_order_costs():
    values = collider()
    channels = channels_of(values)
    precedence = np.sinh(channels["linear graph precedence"]) / 4
    matrix = correlated(values)

    penalty = (math.log(3000) + 2 * math.log(4)) / 3000
    cost = penalty + math.log(1 - matrix[0, 1] ** 2)  # with 2 before 0 an edge between 0 and 1 is needed, and explains what chance there is
    assert precedence[0, 2] == pytest.approx(precedence[1, 2]) == pytest.approx(cost, abs=1e-5)
    assert precedence[0, 1] == pytest.approx(0, abs=1e-9) == pytest.approx(precedence[1, 0], abs=1e-9)


def test_strength_is_the_loss_without_the_edge():
    values = collider()
    matrix = correlated(values)
    strength = np.sinh(channels_of(values)["linear graph strength"])
    assert strength[0, 2] == pytest.approx(math.log(left(matrix, 1, 2, [1]) / left(matrix, 1, 2, [0, 1])), abs=1e-4)
    assert strength[2, 3] == pytest.approx(-math.log(left(matrix, 1, 3, [2])), abs=1e-4)
    assert strength[0, 3] + strength[3, 0] < 0.01


def test_curves_are_found_by_cubics_alone():
    generator = np.random.default_rng(4)
    x = generator.standard_normal((3000, 3))
    values = np.column_stack([x[:, 0], x[:, 0] ** 2 + 0.3 * x[:, 1], x[:, 2]])
    channels = channels_of(values)
    assert channels["additive graph edge"].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert not channels["linear graph edge"].any()
    assert channels["additive graph significance"][0, 1] > 10 * abs(channels["linear graph significance"][0, 1])


def test_channels_are_finite_where_columns_repeat_or_rows_are_few():
    generator = np.random.default_rng(0)
    column = generator.standard_normal(50)
    cases = [np.column_stack([column, column, -column, generator.standard_normal(50)]), generator.standard_normal((12, 30)), np.eye(6)]
    for values in cases:
        channels = channels_of(values)
        assert len(channels) == 16
        assert all(np.isfinite(channel).all() and not channel.diagonal().any() for channel in channels.values())


def test_columns_in_another_order_give_the_same_channels():
    values = simulated(5, variables=9, edges=12, observational_rows=2000).values
    shuffled = np.random.default_rng(1).permutation(9)
    here, there = channels_of(values), channels_of(values[:, shuffled])
    for name in ("linear graph edge", "sparse additive graph edge"):
        assert np.array_equal(here[name][np.ix_(shuffled, shuffled)], there[name])


# Interventions


def targeted_channels(dataset) -> dict[str, np.ndarray]:
    z = standardise(dataset.values)[0]
    return interventional_graph_statistics(*exclude_targets(gram_matrix(z), z, dataset.targets[dataset.regime]), dataset.targets)


@pytest.mark.parametrize("mechanism", ["linear", "nn-additive"])
def test_every_variable_intervened_on_directs_every_edge(mechanism):
    dataset = simulated(3, variables=10, edges=12, mechanisms=(mechanism,), observational_rows=800, targets=10, regime_rows=800)
    channels = targeted_channels(dataset)
    family = "linear" if mechanism == "linear" else "additive"
    found = channels[f"targeted {family} graph edge"] > 0
    assert (found != dataset.adjacency).sum() <= (0 if mechanism == "linear" else 3)
    i, j = np.nonzero(dataset.adjacency)
    precedence = channels["targeted linear graph precedence"]
    assert (precedence[i, j] > precedence[j, i]).mean() > 0.9


def test_a_regime_directs_the_edges_of_its_target_and_leaves_the_rest_open():
    """1 <- 0 -> 2 with 0 set in a regime of its own, and 3 -> 4 alone."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((4000, 5))
    x[2000:, 0] = 1 + 2 * generator.standard_normal(2000)
    x[:, 1] += x[:, 0]
    x[:, 2] += x[:, 0]
    x[:, 4] += x[:, 3]
    targets = np.zeros((2, 5), bool)
    targets[1, 0] = True
    dataset = Dataset(x, tuple("abcde"), np.repeat([0, 1], 2000), targets)
    edge = targeted_channels(dataset)["targeted linear graph edge"]
    expected = np.zeros((5, 5))
    expected[0, [1, 2]] = 1
    expected[3, 4] = expected[4, 3] = 0.5
    assert edge.tolist() == expected.tolist()


def test_a_child_is_fitted_on_the_rows_in_which_it_is_no_target():
    """1 <- 0 in the free rows; where 1 is set, it has nothing to do with 0."""
    generator = np.random.default_rng(0)
    z = generator.standard_normal((2000, 2))
    z[:1000, 1] = 0.6 * z[:1000, 0] + 0.8 * z[:1000, 1]
    targeted = np.zeros((2000, 2), bool)
    targeted[1000:, 1] = True
    grams, which = exclude_targets(gram_matrix(z), z, targeted)
    assert which.tolist() == [0, 1]
    np.testing.assert_allclose(grams[1], gram_matrix(z[:1000]), atol=1e-8)
    channels = interventional_graph_statistics(grams, which, np.array([[False, False], [False, True]]))
    slope = np.corrcoef(z[:1000].T)[0, 1]
    assert channels["targeted linear graph edge"].tolist() == [[0, 1], [0, 0]]
    assert np.sinh(channels["targeted linear graph strength"][0, 1]) == pytest.approx(-math.log(1 - slope**2), abs=1e-4)


def test_beyond_the_limit_rows_are_left_out_nowhere(monkeypatch):
    monkeypatch.setattr(statistics, "EXCLUSION", 3)
    z = np.random.default_rng(0).standard_normal((100, 4))
    targeted = np.zeros((100, 4), bool)
    targeted[:20, 1] = True
    grams, which = exclude_targets(gram_matrix(z), z, targeted)
    assert len(grams) == 1
    assert not which.any()
    assert len(interventional_graph_statistics(grams, which, targeted[:1])) == 8
