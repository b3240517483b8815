"""Regimes and interventions: who is hit, in how many rows, and what that leaves of the mechanism."""

import math

import numpy as np
import pytest

import seacausal.simulate.dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset, topological_order
from seacausal.simulate.graphs import GRAPHS
from seacausal.simulate.interventions import INTERVENTIONS, PERFECT, draw_drift, draw_off_targets, draw_sizes, draw_targets
from seacausal.simulate.mechanisms import MECHANISMS, draw_mechanism

DIAMOND = {1: [0], 2: [0], 3: [1, 2]}
"""Parents of the variables that have any."""
ROWS = 8000


@pytest.fixture
def intervened(monkeypatch):
    """The diamond 0 -> {1, 2} -> 3 with an intervention on each variable, and a noise that does not differ between regimes."""
    adjacency = np.zeros((4, 4), bool)
    for child, parents in DIAMOND.items():
        adjacency[parents, child] = True
    monkeypatch.setitem(GRAPHS, "fixed", lambda *_, **__: adjacency)

    def draw(seed: int = 5, **fields):
        fixed = {"variables": 4, "edges": 4, "graph": "fixed", "weights": (0.8, 1.0), "targets": 4, "noise_per_regime": False}
        rows = {"observational_rows": ROWS, "regime_rows": ROWS}
        return simulate_dataset(Simulation(**(fixed | rows | fields)), generator=np.random.default_rng(seed))

    return draw


def regress(values: np.ndarray, target: int, parents: list[int]) -> tuple[np.ndarray, float]:
    """Slopes, and the standard deviation of the residual."""
    design = np.column_stack([np.ones(len(values)), values[:, parents]]).astype(float)
    coefficients = np.linalg.lstsq(design, values[:, target].astype(float), rcond=None)[0]
    return coefficients[1:], float((values[:, target] - design @ coefficients).std())


def rows_of(dataset, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Values where the variable is a target, and observational ones."""
    return dataset.values[dataset.targets[dataset.regime, target]], dataset.values[dataset.regime == 0]


@pytest.mark.parametrize("intervention", PERFECT)
def test_perfect_interventions_leave_no_trace_of_the_parents(intervened, intervention):
    dataset = intervened(intervention=intervention)
    for target, parents in DIAMOND.items():
        values, _ = rows_of(dataset, target)
        slopes, _ = regress(values, target, parents)
        assert (np.abs(slopes) * values[:, parents].std(0) < 5 / math.sqrt(ROWS)).all()


@pytest.mark.parametrize("intervention", sorted(set(INTERVENTIONS) - set(PERFECT)))
def test_other_interventions_leave_the_parents_an_effect(intervened, intervention):
    """A knock-down may come close to nothing: its factor is above 0.02 for this seed."""
    dataset = intervened(intervention=intervention)
    for target, parents in DIAMOND.items():
        values, _ = rows_of(dataset, target)
        slopes, left = regress(values, target, parents)
        assert (np.abs(slopes) * values[:, parents].std(0) > 5 * left / math.sqrt(ROWS)).all()


# What children see under "activity" is not among the data, and the Poisson draw of a count moves on with the rates of the rows before it.
CASES = [(name, intervention) for name in MECHANISMS for intervention in INTERVENTIONS if (name, intervention) != ("count", "activity")]


@pytest.mark.parametrize(("name", "intervention"), CASES)
def test_untouched_mechanisms_stay(intervened, monkeypatch, intervention, name):
    """Without noise, a child is the mechanism that was drawn for it wherever it is no target, and is not where it is one."""
    drawn = []

    def record(*arguments, **options):
        drawn.append(draw_mechanism(*arguments, **options))
        return drawn[-1]

    monkeypatch.setattr(seacausal.simulate.dataset, "draw_mechanism", record)
    multiplied = name == "scaled" or name.endswith("-mix")  # nothing is left of it without noise
    fields = {"noise_coefficient": 1e-3 if multiplied else 0.0, "observational_rows": 300, "regime_rows": 300}
    dataset = intervened(intervention=intervention, mechanisms=(name,), **fields)
    each = 2 if intervention == "imperfect" else 1
    children = [v for v in topological_order(dataset.adjacency) if v in DIAMOND]
    assert len(drawn) == 3 * each
    for child, mechanism in zip(children, drawn[::each]):
        parents = dataset.values[:, DIAMOND[child]]
        if multiplied:
            wanted = mechanism(parents, np.ones(len(parents), np.float32))
            same = np.abs(dataset.values[:, child]) <= 6 * math.sqrt(2) * 1e-3 * np.abs(wanted) + 1e-7
        else:
            wanted = mechanism(parents, np.zeros(len(parents), np.float32))
            same = np.isclose(dataset.values[:, child], wanted, rtol=1e-5, atol=1e-5)
        hit = dataset.targets[dataset.regime, child]
        seen = ~dataset.targets[dataset.regime][:, DIAMOND[child]].any(1) | (intervention != "activity")
        assert same[~hit & seen].all()
        if not multiplied and intervention != "activity":
            assert not same[hit].all()


def test_clamped_variables_have_one_value(intervened):
    dataset = intervened(intervention="clamp")
    for target in DIAMOND:
        values, _ = rows_of(dataset, target)
        assert len(np.unique(values[:, target])) == 1
        assert 0.5 <= abs(values[0, target]) <= 5


def test_imperfect_interventions_change_the_weights_alone(intervened):
    dataset = intervened(intervention="imperfect")
    changed = []
    for target, parents in DIAMOND.items():
        values, control = rows_of(dataset, target)
        (slopes, left), (before, left_before) = regress(values, target, parents), regress(control, target, parents)
        assert ((np.abs(slopes) > 0.75) & (np.abs(slopes) < 1.05)).all()  # drawn from the same range
        assert left == pytest.approx(left_before, rel=0.05)
        changed += (np.abs(slopes - before) > 0.03).tolist()
    assert sum(changed) >= 3
    values, control = rows_of(dataset, 0)
    half = np.abs(values[:, 0] - values[:, 0].mean()).max()
    assert half == pytest.approx(values[:, 0].std() * math.sqrt(3), rel=0.02)  # still uniform
    assert 0.5 / math.sqrt(3) - 0.05 < abs(values[:, 0].mean()) < 2 / math.sqrt(3) + 0.05
    assert control[:, 0].std() / math.e < values[:, 0].std() < control[:, 0].std() * math.e


def test_scaling_keeps_the_mean(intervened):
    factors = []
    for seed in range(3):
        dataset = intervened(seed, intervention="scale", mechanisms=("polynomial",))  # means are not 0
        for target in range(4):
            values, control = rows_of(dataset, target)
            assert values[:, target].mean() == pytest.approx(control[:, target].mean(), abs=0.08)
            factors.append(values[:, target].std() / control[:, target].std())
    size = np.exp(np.abs(np.log(factors)))
    assert ((size > 1.4) & (size < 4.2)).all()
    assert {True, False} == {factor > 1 for factor in factors}


def test_knocked_out_targets_are_zero(intervened):
    dataset = intervened(intervention="knock-out")
    for target in range(4):
        values, control = rows_of(dataset, target)
        assert not values[:, target].any()
        assert control[:, target].all()


# Who is hit


@pytest.mark.parametrize(("targets", "per_regime"), [(7, 1), (7, 2), (6, 3), (10, 4), (10, 10), (3, 9), (0, 2)])
def test_every_target_has_one_regime(targets, per_regime):
    matrix = draw_targets(10, targets, per_regime, generator=np.random.default_rng(0))
    assert matrix.shape == (1 + math.ceil(targets / per_regime), 10)
    sizes = matrix.sum(1).tolist()
    assert sizes[0] == 0
    assert sizes[1:] == [per_regime] * (targets // per_regime) + [targets % per_regime] * (targets % per_regime > 0)
    assert matrix.sum(0).max() <= 1


@pytest.mark.parametrize("targets", [2, 3, 5, 8])
def test_some_variables_are_chosen_before_others(targets):
    first = np.arange(8) % 3 == 1
    generator = np.random.default_rng(1)
    chosen = [draw_targets(8, targets, 1, first=first, generator=generator).any(0) for _ in range(40)]
    assert {int(one[first].sum()) for one in chosen} == {min(targets, 3)}
    assert {int(one.sum()) for one in chosen} == {targets}
    assert len({one.tobytes() for one in chosen}) == (1 if targets in (3, 8) else {2: 3, 5: 10}[targets])


def test_roots_are_targets_first(intervened):
    hit = [intervened(seed, targets=1, roots_first=True).targets[1].tolist() for seed in range(10)]
    assert hit == 10 * [[True, False, False, False]]


@pytest.mark.parametrize("options", [{}, {"levels": 3}])
def test_settings_have_one_value_where_nothing_acts_on_them(options):
    """Roots that are targets; in half of their regimes they have at most four values, in the others they vary. What is no root varies everywhere."""
    kinds = set()
    for seed in range(20):
        simulation = Simulation(variables=6, edges=6, targets=4, regime_rows=100, roots_first=True, settings=1.0, intervention="gaussian", **options)
        dataset = simulate_dataset(simulation, generator=np.random.default_rng(seed))
        roots = ~dataset.adjacency.any(0)
        for variable in range(6):
            hit = dataset.targets[dataset.regime, variable]
            elsewhere = len(np.unique(dataset.values[~hit, variable]))
            assert (elsewhere == 1) == (roots[variable] and hit.any())
            if roots[variable] and hit.any():
                kinds.add(min(len(np.unique(dataset.values[hit, variable])), 5))
    assert kinds <= {1, 2, 3} if options else kinds >= {1, 4, 5}


def test_any_two_targets_may_be_hit_at_once():
    generator = np.random.default_rng(1)
    together = np.zeros((6, 6), int)
    for _ in range(600):
        matrix = draw_targets(6, 6, 2, generator=generator)[1:].astype(int)
        together += matrix.T @ matrix
    share = together[np.triu_indices(6, 1)] / 600
    assert np.abs(share - 1 / 5).max() < 4.5 * math.sqrt(0.2 * 0.8 / 600)


def test_several_targets_are_hit_at_once(intervened):
    dataset = intervened(intervention="knock-out", targets_per_regime=2)
    assert dataset.targets.sum(1).tolist() == [0, 2, 2]
    for regime in (1, 2):
        values = dataset.values[dataset.regime == regime]
        assert not values[:, dataset.targets[regime]].any()
        assert values[:, ~dataset.targets[regime]].all()


def test_sizes_are_log_uniform():
    sizes = np.array(draw_sizes(20_000, 1000, 8, generator=np.random.default_rng(2)))
    assert sizes.min() in range(125, 128)
    assert sizes.max() in range(7950, 8001)
    log = np.log(sizes / 1000) / math.log(8)
    assert abs(log.mean()) < 4.5 / math.sqrt(3 * len(log))
    assert log.var() == pytest.approx(1 / 3, rel=0.03)
    assert min(draw_sizes(50, 2, 100, generator=np.random.default_rng(3))) == 1
    assert draw_sizes(3, 0, 5, generator=np.random.default_rng(3)) == [0, 0, 0]


def test_unequal_regimes_of_a_data_set(intervened):
    dataset = intervened(regime_rows=20, regime_spread=10)
    sizes = np.bincount(dataset.regime)
    assert sizes[0] == ROWS
    assert ((sizes[1:] >= 2) & (sizes[1:] <= 200)).all()
    assert len(set(sizes[1:].tolist())) > 1


def test_off_targets_are_others_than_the_targets():
    generator = np.random.default_rng(4)
    targets = draw_targets(8, 8, 1, generator=generator)
    hit = sum(draw_off_targets(targets, 0.3, generator=generator).astype(int) for _ in range(2000)) / 2000
    assert not hit[0].any()
    assert not hit[targets].any()
    inside = hit[1:][~targets[1:]]
    assert np.abs(inside - 0.3 / 7).max() < 4.5 * math.sqrt(0.3 / 7 / 2000)
    everyone = np.ones((2, 3), bool)
    everyone[0] = False
    assert not draw_off_targets(everyone, 1.0, generator=generator).any()


def test_off_targets_are_others_before_any_others():
    generator = np.random.default_rng(5)
    targets = draw_targets(8, 8, 1, generator=generator)
    first = np.zeros_like(targets)
    first[1, [0, 3]] = first[2, 1] = first[4, [5, 6]] = True  # a target itself, which cannot be chosen; none for regime 3
    named = np.where(targets)[1][:4]
    drawn = [np.flatnonzero(row) for _ in range(200) for row in [draw_off_targets(targets, 1.0, first=first, generator=generator)[4]]]
    assert named.tolist() == [0, 1, 2, 3]
    assert {int(row[0]) for row in drawn} == {5, 6}
    once = draw_off_targets(targets, 1.0, first=first, generator=generator)
    assert once.sum(1).tolist() == [0, *[1] * 8]
    assert once[1, 3]
    assert not once[2, 1]


def test_compensation_shifts_parents_of_the_targets(intervened):
    """The root's regime has no parent to shift, and shifts any other; that of 3 shifts 1 or 2."""
    seen = set()
    for seed in range(6):
        dataset = intervened(seed, off_target=1.0, compensation=True)
        control = dataset.values[dataset.regime == 0].astype(float)
        for regime, target in enumerate(range(4), 1):
            values = dataset.values[dataset.regime == regime].astype(float)
            for child in set(range(4)) - {target}:
                parents = DIAMOND.get(child, [])
                slopes = regress(control, child, parents)[0]
                own = (values[:, child].mean() - control[:, child].mean()) - (values[:, parents].mean(0) - control[:, parents].mean(0)) @ slopes
                if abs(own) > 0.2:
                    seen.add((target, child))
    assert {(target, child) for target, child in seen if target} == {(1, 0), (2, 0), (3, 1), (3, 2)}
    assert len({child for target, child in seen if target == 0}) > 1


def test_off_targets_are_shifted_and_not_named(intervened):
    dataset = intervened(off_target=1.0, intervention="gaussian")
    assert dataset.targets.sum(1).tolist() == [0, 1, 1, 1, 1]
    control = dataset.values[dataset.regime == 0].astype(float)
    moved = []
    for regime in range(1, 5):
        values = dataset.values[dataset.regime == regime].astype(float)
        for child in range(4):
            if dataset.targets[regime, child]:
                continue
            parents = DIAMOND.get(child, [])
            slopes = regress(control, child, parents)[0]
            intercept = control[:, child].mean() - control[:, parents].mean(0) @ slopes
            own = values[:, child].mean() - values[:, parents].mean(0) @ slopes - intercept
            moved.append((regime, abs(own) > 0.2))
    assert [sum(hit for regime, hit in moved if regime == one) for one in range(1, 5)] == [1, 1, 1, 1]


def test_drift_moves_every_variable_in_every_regime_by_its_own_amount(intervened):
    """The level of a mechanism differs between regimes, and its slopes do not."""

    def levels(dataset) -> np.ndarray:
        out = np.full((5, 4), np.nan)
        for child in range(4):
            parents = DIAMOND.get(child, [])
            slopes = regress(dataset.values[dataset.regime == 0].astype(float), child, parents)[0]
            for regime in range(5):
                values = dataset.values[dataset.regime == regime].astype(float)
                if not dataset.targets[regime, child]:
                    out[regime, child] = values[:, child].mean() - values[:, parents].mean(0) @ slopes
        return out - out[0]

    still, drifting = levels(intervened()), levels(intervened(drift=0.5))
    assert np.nanmax(np.abs(still)) < 0.15
    assert np.nanstd(drifting[1:]) > 0.2
    assert (np.abs(drifting[1:])[~np.isnan(drifting[1:])] > 0.02).mean() > 0.8
    spreads = np.nanstd(levels(intervened(drift=0.5, drift_share=0.5))[1:], axis=0)
    assert 0 < (spreads > 0.15).sum() < 4


def test_drift_has_the_size_asked_for():
    moved = np.array([draw_drift(400, 0.3, generator=np.random.default_rng(seed)) for seed in range(50)])
    assert np.median(np.abs(moved)) == pytest.approx(0.3 * 0.6745, rel=0.15)  # the median of a normal's size times that of a log-normal


def test_the_seed_decides_every_byte_of_every_option():
    fields = {"targets": 6, "regime_rows": 20, "targets_per_regime": 2, "regime_spread": 5.0, "off_target": 0.5, "drift": 0.2}
    for intervention in INTERVENTIONS:
        first, again, other = (
            simulate_dataset(Simulation(intervention=intervention, **fields), generator=np.random.default_rng(seed)) for seed in (7, 7, 8)
        )
        for field in ("values", "regime", "targets", "adjacency"):
            assert getattr(first, field).tobytes() == getattr(again, field).tobytes()
        assert first.values.tobytes() != other.values.tobytes()
