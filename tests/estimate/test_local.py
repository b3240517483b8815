"""Local estimates against numpy, enumeration of all DAGs and loops; which rows they rest on."""

import itertools

import numpy as np
import pytest

from seacausal.estimate.fci import fci
from seacausal.estimate.gather import MIN_OBSERVATIONAL, _choose_rows, _gather, _sum_products, gather_sums, plan_rows
from seacausal.estimate.local import LocalEstimates, _estimate, estimate_subsets, pool_estimates
from seacausal.estimate.partial_correlation import condition, fisher_thresholds, independence_bits
from seacausal.estimate.statistics import standardise
from seacausal.sample.subsets import sample_subsets
from seacausal.simulate.dataset import Simulation, simulate_dataset

ALL_FIVE = np.arange(5)[None]


def simulate(seed: int, **fields):
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(seed))


def estimate(dataset, variables: np.ndarray, *, seed: int = 0, **options) -> LocalEstimates:
    plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(seed))
    return estimate_subsets(standardise(dataset.values)[0], dataset.regime, dataset.targets, variables, plan, **options)


def marks_of(table: np.ndarray) -> np.ndarray:
    """FCI on the rows of five variables, its covariance from numpy."""
    conditional, bits, marks = np.empty((32, 5, 5)), np.empty(10, np.uint32), np.empty((5, 5), np.int8)
    condition(np.cov(table.T, bias=True), conditional)
    independence_bits(conditional, fisher_thresholds(len(table)), bits)
    fci(bits, marks)
    return marks


# Rows


def test_without_interventions_the_plan_is_a_permutation():
    plan = plan_rows(np.zeros(1000, np.int32), np.zeros((1, 5), bool), generator=np.random.default_rng(0))
    assert sorted(plan.pool) == list(range(1000))
    assert (plan.pool != np.arange(1000)).any()
    assert plan.hit.tolist() == []
    assert plan.hit_start.tolist() == [0] * 6


@pytest.mark.parametrize("observational", [MIN_OBSERVATIONAL, MIN_OBSERVATIONAL - 1])
def test_the_plan_lists_the_rows_that_target_each_variable(observational):
    targets = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1]], bool)
    regime = np.random.default_rng(1).permutation(np.repeat(np.arange(3), [observational, 20, 30])).astype(np.int32)
    plan = plan_rows(regime, targets, generator=np.random.default_rng(0))
    assert plan.hit_start.tolist() == [0, 50, 50, 80]
    assert sorted(plan.hit[:50]) == np.flatnonzero(regime > 0).tolist()
    assert sorted(plan.hit[50:]) == np.flatnonzero(regime == 2).tolist()
    # With few observational rows any row may fill a subset.
    everything = np.arange(len(regime)) if observational < MIN_OBSERVATIONAL else np.flatnonzero(regime == 0)
    assert sorted(plan.pool) == everything.tolist()


def chosen_rows(plan, turn: int, regime: np.ndarray, targets: np.ndarray, subset: np.ndarray, rows: int) -> np.ndarray:
    chosen = np.full(rows, -1)
    return chosen[: _choose_rows(turn, regime, targets, subset, plan.pool, plan.hit, plan.hit_start, rows, chosen)]


def test_subsets_see_disjoint_blocks_of_rows():
    table = np.zeros(1000, np.int32), np.zeros((1, 5), bool)
    plan = plan_rows(*table, generator=np.random.default_rng(0))
    blocks = [chosen_rows(plan, turn, *table, np.arange(5), 250) for turn in range(5)]
    assert sorted(np.concatenate(blocks[:4])) == list(range(1000))
    assert np.array_equal(blocks[4], blocks[0])
    assert sorted(chosen_rows(plan, 3, *table, np.arange(5), 5000)) == list(range(1000))


def test_a_sixth_of_the_rows_targets_each_variable_of_the_subset():
    """Each variable but 5 is the target in 100 rows, 2 in only ten; 6 is not in the subset."""
    sizes = [1000, 100, 100, 10, 100, 100, 0, 100]
    targets = np.vstack([np.zeros((1, 7), bool), np.eye(7, dtype=bool)])
    regime = np.repeat(np.arange(8), sizes).astype(np.int32)
    plan = plan_rows(regime, targets, generator=np.random.default_rng(0))
    for turn in range(4):
        chosen = chosen_rows(plan, turn, regime, targets, np.array([0, 1, 2, 3, 5]), 300)
        assert len(set(chosen.tolist())) == 300
        assert np.bincount(regime[chosen], minlength=8).tolist() == [140, 50, 50, 10, 50, 0, 0, 0]
    first, second = (chosen_rows(plan, turn, regime, targets, np.arange(5), 300) for turn in (0, 1))
    assert not set(first[:50]) & set(second[:50])


def test_all_observational_rows_have_their_turn():
    """A sixth of the rows a subset: 85 of 500, from 1,000."""
    targets = np.vstack([np.zeros((1, 5), bool), np.eye(5, dtype=bool)])
    regime = np.repeat(np.arange(6), [1000] + [200] * 5).astype(np.int32)
    plan = plan_rows(regime, targets, generator=np.random.default_rng(0))
    seen = set()
    for turn in range(12):
        seen |= set(chosen_rows(plan, turn, regime, targets, np.arange(5), 500)[415:].tolist())
    assert len(seen) == 1000


def test_a_row_of_two_targets_is_taken_once():
    targets = np.array([[0, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0]], bool)
    regime = np.repeat(np.arange(3), [300, 100, 100]).astype(np.int32)
    plan = plan_rows(regime, targets, generator=np.random.default_rng(0))
    chosen = chosen_rows(plan, 1, regime, targets, np.arange(5), 120)
    assert len(set(chosen.tolist())) == 120
    assert np.bincount(regime[chosen]).tolist() == [80, 20, 20]


def test_no_row_is_counted_twice_where_control_rows_are_few():
    """Ten observational rows: the rest of a quota comes from rows that target variables outside the subset."""
    targets = np.vstack([np.zeros((1, 7), bool), np.eye(7, dtype=bool)])
    regime = np.repeat(np.arange(8), [10] + [30] * 7).astype(np.int32)
    plan = plan_rows(regime, targets, generator=np.random.default_rng(0))
    chosen = chosen_rows(plan, 2, regime, targets, np.arange(5), 120)
    assert len(set(chosen.tolist())) == len(chosen) == 120
    counts = np.bincount(regime[chosen], minlength=8)
    assert counts[1:6].tolist() == [20] * 5
    assert counts[0] + counts[6] + counts[7] == 20
    assert len(chosen_rows(plan, 0, regime, targets, np.arange(5), 500)) == 220


# Answers


@pytest.mark.parametrize("workers", [2, 3, 50])
@pytest.mark.parametrize("targets", [0, 12])
def test_the_number_of_workers_changes_no_byte(workers, targets):
    dataset = simulate(0, variables=12, edges=18, targets=targets, regime_rows=60)
    variables = sample_subsets(np.ones((12, 12)), 31).variables
    one, several = (estimate(dataset, variables, workers=count) for count in (1, workers))
    assert one.marks.tobytes() == several.marks.tobytes()
    assert one.direct.tobytes() == several.direct.tobytes()
    assert len(np.unique(one.direct)) > 200


def test_types_and_layouts_change_no_byte_and_compile_nothing():
    """As they come from a hidden cause, a constant column left out, or a caller's own arrays."""
    dataset = simulate(0, variables=6, edges=8, targets=6, regime_rows=60)
    z, plan = standardise(dataset.values)[0], plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(0))
    variables = np.array([[0, 1, 2, 3, 4], [5, 3, 1, 0, 2]])
    expected = estimate_subsets(z, dataset.regime, dataset.targets, variables, plan)
    compiled = len(_estimate.signatures) + len(_gather.signatures)
    for targets in (np.asfortranarray(dataset.targets), np.tile(dataset.targets, 2)[:, :6]):
        found = estimate_subsets(np.asfortranarray(z), dataset.regime.astype(np.int64), targets, variables.astype(np.int32), plan)
        assert found.direct.tobytes() == expected.direct.tobytes()
        assert found.marks.tobytes() == expected.marks.tobytes()
    assert len(_estimate.signatures) + len(_gather.signatures) == compiled


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_any_subsets(count):
    found = estimate(simulate(0, variables=5, edges=5), np.repeat(ALL_FIVE, count, 0), workers=2)
    assert found.marks.shape == found.direct.shape == (count, 5, 5)


@pytest.mark.parametrize("seed", range(6))
def test_observational_estimates_are_those_of_all_rows(seed, score_by_least_squares, enumerate_posterior):
    """With as many rows asked for as there are; subsets in another order of variables are answered in theirs."""
    dataset = simulate(seed, variables=5, edges=6, observational_rows=400, mechanisms=("nn",))
    order = np.random.default_rng(seed).permutation(5)
    found = estimate(dataset, np.array([range(5), order]), rows=400)
    table = dataset.values.astype(float)
    expected = enumerate_posterior(np.array([score_by_least_squares(table, v) for v in range(5)]))
    # Parent sets 20 nats below the best are left out.
    np.testing.assert_allclose(found.direct[0], expected, atol=1e-6)
    np.testing.assert_allclose(found.direct[1], expected[np.ix_(order, order)], atol=1e-6)
    assert np.array_equal(found.marks[0], marks_of(table))
    assert np.array_equal(found.marks[1], marks_of(table[:, order]))


@pytest.mark.parametrize("seed", range(4))
def test_a_subset_rests_on_its_rows_and_variables_alone(seed, score_by_least_squares, enumerate_posterior):
    dataset = simulate(seed, variables=9, edges=14, observational_rows=1000)
    plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(0))
    variables = sample_subsets(np.ones((9, 9)), 7).variables
    found = estimate(dataset, variables, rows=150)
    for t in (0, 5, 6):  # the seventh begins anew: 1,000 rows have six blocks
        block = plan.pool[150 * (t % 6) :][:150]
        rows = dataset.values[np.ix_(block, variables[t])].astype(float)
        expected = enumerate_posterior(np.array([score_by_least_squares(rows, v) for v in range(5)]))
        np.testing.assert_allclose(found.direct[t], expected, atol=1e-6)
        assert np.array_equal(found.marks[t], marks_of(rows))


def test_blocks_have_the_sums_of_their_rows():
    """The way through one matrix product for a block against the way through every row."""
    dataset = simulate(2, variables=7, edges=9, observational_rows=900)
    z, variables = standardise(dataset.values)[0], sample_subsets(np.ones((7, 7)), 11).variables
    plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(0))
    found = gather_sums(z, dataset.regime, dataset.targets, variables, plan, rows=300)
    sums, shared = np.zeros((11, 6, 21)), np.zeros(11, bool)
    _gather(z, dataset.regime, dataset.targets, variables, 0, plan.pool, plan.hit, plan.hit_start, 300, sums, shared)
    np.testing.assert_allclose(found.sums, sums, atol=1e-9)
    assert found.shared.all()
    assert shared.all()
    covariances, rows = found.covariances()
    assert rows.tolist() == [300] * 11
    np.testing.assert_allclose(covariances[4], np.cov(z[np.ix_(plan.pool[300:600], variables[4])].T, bias=True), atol=1e-12)
    np.testing.assert_allclose(found.scores(2.0)[:, :, 0], 0, atol=1e-9)
    assert (found.scores(2.0)[:, 0, 6] < found.scores(1.0)[:, 0, 6]).all()


@pytest.mark.parametrize("intervention", ["gaussian", "shift"])
@pytest.mark.parametrize("seed", range(3))
def test_interventional_estimates(seed, intervention, score_by_least_squares, enumerate_posterior):
    """A variable's score is that of the rows where it is no target; FCI sees those without any target of the subset. 5 is not in it."""
    dataset = simulate(seed, variables=6, edges=8, observational_rows=300, targets=6, regime_rows=40, intervention=intervention)
    found = estimate(dataset, ALL_FIVE, rows=6 * 100)
    targeted = dataset.targets[dataset.regime]
    table, hit = dataset.values[~targeted[:, 5], :5].astype(float), targeted[~targeted[:, 5], :5]
    expected = enumerate_posterior(np.array([score_by_least_squares(table[~hit[:, v]], v) for v in range(5)]))
    np.testing.assert_allclose(found.direct[0], expected, atol=1e-6)
    everywhere = enumerate_posterior(np.array([score_by_least_squares(table, v) for v in range(5)]))
    assert np.abs(expected - everywhere).max() > 0.01
    assert np.array_equal(found.marks[0], marks_of(table[~hit.any(1)]))


def test_sums_of_a_variable_leave_out_the_rows_where_it_is_a_target():
    """Changing a variable where it is a target changes the others' sums and not its own, nor those of the free rows."""
    dataset = simulate(0, variables=5, edges=6, observational_rows=300, targets=3, regime_rows=40)
    z, targeted = standardise(dataset.values)[0], dataset.targets[dataset.regime]
    rows = np.random.default_rng(0).permutation(len(z))
    target = int(np.flatnonzero(targeted.any(0))[1])

    def sums_of(values: np.ndarray) -> tuple[np.ndarray, bool]:
        sums = np.full((6, 21), np.nan)
        return sums, _sum_products(values, dataset.regime, dataset.targets, np.arange(5), rows, sums)

    before, shared = sums_of(z)
    assert not shared
    for v in range(6):
        free = z[~targeted[:, v]] if v < 5 else z[~targeted.any(1)]
        products = [free[:, i] @ free[:, j] for i, j in itertools.combinations_with_replacement(range(5), 2)]
        np.testing.assert_allclose(before[v], [len(free), *free.sum(0), *products], atol=1e-8)
    changed = z.copy()
    changed[targeted[:, target], target] += 7
    after, _ = sums_of(changed)
    same = [bool(np.array_equal(a, b)) for a, b in zip(before, after)]
    assert same == [v in (target, 5) for v in range(6)]


def test_rows_without_targets_are_shared_by_all_variables():
    dataset = simulate(0, variables=6, edges=6, observational_rows=100, targets=1, regime_rows=20)
    z, target = standardise(dataset.values)[0], int(np.flatnonzero(dataset.targets.any(0))[0])
    subset = np.setdiff1d(np.arange(6), [target])
    sums = np.full((6, 21), np.nan)
    assert _sum_products(z, dataset.regime, dataset.targets, subset, np.arange(len(z)), sums)
    assert (sums == sums[0]).all()
    assert sums[0, 0] == 120


def pair_of(cause: int, effect: int, targets: tuple[int, ...]):
    """Linear Gaussian, all variances 1: 2 depends on both, 3 and 4 on nothing. 300 rows a regime, N(0, 1) where a variable is a target."""
    generator = np.random.default_rng([cause, len(targets)])
    regime = np.repeat(np.arange(1 + len(targets)), [2000] + [300] * len(targets)).astype(np.int32)
    by_target = np.zeros((1 + len(targets), 5), bool)
    by_target[1 + np.arange(len(targets)), list(targets)] = True
    values = generator.standard_normal((len(regime), 5))
    for child, parents in ((effect, [cause]), (2, [0, 1])):
        own = 0.6 * values[:, parents].sum(1) + 0.5 * values[:, child]
        values[:, child] = np.where(by_target[regime, child], values[:, child], own)
    return values, regime, by_target


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize(("cause", "effect"), [(0, 1), (1, 0)])
def test_a_perfect_intervention_on_either_end_orients_an_edge(cause, effect, target):
    def direct(targets) -> np.ndarray:
        values, regime, by_target = pair_of(cause, effect, targets)
        plan = plan_rows(regime, by_target, generator=np.random.default_rng(0))
        return estimate_subsets(standardise(values)[0], regime, by_target, ALL_FIVE, plan, rows=3000).direct[0]

    assert 0.2 < direct(())[cause, effect] < 0.8
    found = direct((target,))
    assert found[cause, effect] > 0.999
    assert found[target, 2] > 0.999
    assert found[3:].max() < 0.2


def test_subsets_whose_rows_all_have_targets_are_left_open():
    """No row without a target in the subset: FCI finds nothing, the scores still have the rows of the others' regimes."""
    dataset = simulate(1, variables=5, edges=5, observational_rows=0, targets=5, regime_rows=80)
    found = estimate(dataset, ALL_FIVE)
    assert (found.marks == 0).all()
    assert found.free_rows.tolist() == [0]
    assert np.isfinite(found.direct).all()
    assert found.direct.max() > 0.9


@pytest.mark.parametrize("kind", ["constant", "duplicated", "dependent", "binary", "heavy tails", "two rows"])
def test_degenerate_columns_give_finite_answers(kind):
    table = np.random.default_rng(3).standard_normal((2 if kind == "two rows" else 200, 5))
    if kind == "constant":
        table[:, 1:3] = 4.0
    elif kind == "duplicated":
        table[:, 3] = -2 * table[:, 0]
    elif kind == "dependent":
        table[:, 4] = table[:, :4].sum(1)
    elif kind == "binary":
        table = (table > 1).astype(float)
    elif kind == "heavy tails":
        table = np.sinh(3 * table) ** 3
    plan = plan_rows(np.zeros(len(table), np.int32), np.zeros((1, 5), bool), generator=np.random.default_rng(0))
    found = estimate_subsets(standardise(table)[0], np.zeros(len(table), np.int32), np.zeros((1, 5), bool), ALL_FIVE, plan)
    assert np.isfinite(found.direct).all()
    assert (found.direct + found.direct.swapaxes(1, 2)).max() <= 1 + 1e-9
    assert set(np.unique(found.marks)) <= {0, 1, 2, 3}


# Pooling


def test_pooling_is_what_a_loop_would_do():
    generator, d, t = np.random.default_rng(4), 9, 12
    variables = np.array([generator.choice(d - 1, 5, replace=False) for _ in range(t)])  # the last variable is in no subset
    marks = generator.integers(0, 4, (t, 5, 5)).astype(np.int8)
    direct = generator.random((t, 5, 5)) / 2
    marks[:, range(5), range(5)] = 0
    direct[:, range(5), range(5)] = 0
    found = pool_estimates(LocalEstimates(marks, direct, np.full(t, 9)), variables, d)
    uncovered = 0
    for i, j in itertools.product(range(d), repeat=2):
        at = [
            (s, *np.flatnonzero(subset == i), *np.flatnonzero(subset == j)) for s, subset in enumerate(variables) if {i, j} <= set(subset) and i != j
        ]
        uncovered += i != j and not at
        assert found["covered"][i, j] == bool(at)
        assert found["visits"][i, j] == pytest.approx(np.log1p(len(at)) / 4)
        for name, mark in (("tail", 1), ("arrow", 2), ("circle", 3)):
            assert found[name][i, j] == pytest.approx(np.mean([marks[s, p, q] == mark for s, p, q in at]) if at else 0)
        assert found["posterior"][i, j] == pytest.approx(np.mean([direct[s, p, q] for s, p, q in at]) if at else 0)
        assert found["least adjacent"][i, j] == pytest.approx(min((direct[s, p, q] + direct[s, q, p] for s, p, q in at), default=0))
    assert uncovered >= 16


def test_the_order_of_subsets_is_irrelevant_to_pooling():
    generator = np.random.default_rng(5)
    variables = np.array([generator.choice(7, 5, replace=False) for _ in range(10)])
    marks, direct = generator.integers(0, 4, (10, 5, 5)).astype(np.int8), generator.random((10, 5, 5))
    order = generator.permutation(10)
    before = pool_estimates(LocalEstimates(marks, direct, np.full(10, 9)), variables, 7)
    after = pool_estimates(LocalEstimates(marks[order], direct[order], np.full(10, 9)), variables[order], 7)
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, atol=1e-12, err_msg=name)
