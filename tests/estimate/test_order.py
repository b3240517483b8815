"""Order searches against regressions on every prefix, and on data whose order they must find."""

import itertools

import numpy as np
import pytest

from seacausal.estimate import order as order_module
from seacausal.estimate.order import ENTROPY, LOGARITHM, VARIANCE, control_rows, invert_triangle, order_statistics, search_order
from seacausal.estimate.statistics import gram_matrix, standardise
from seacausal.simulate.dataset import Simulation, simulate_dataset

SCORES = {"variance": VARIANCE, "additive": LOGARITHM, "entropy": ENTROPY}


def channels_of(values: np.ndarray) -> dict[str, np.ndarray]:
    z, _, spread = standardise(values)
    return order_statistics(z, spread, gram_matrix(z))


def simulated(seed: int, **fields):
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(seed))


def right_way(dataset, score: str) -> float:
    """Share of edges whose cause must rather come first."""
    precedence = channels_of(dataset.values)[f"{score} order precedence"]
    i, j = np.nonzero(dataset.adjacency)
    return float((precedence[i, j] > precedence[j, i]).mean())


# By hand


def negentropy(u: np.ndarray) -> float:
    odd, even = (u / (1 + u * u)).mean(), np.abs(u).mean() - np.sqrt(2 / np.pi)
    return order_module._ODD * odd**2 + order_module._EVEN * even**2


def score_by_hand(rows: np.ndarray, order, units: np.ndarray, score: int) -> float:
    """By least squares on the columns before each; rows (n, d, k)."""
    costs = []
    for p, v in enumerate(order):
        before = rows[:, list(order[:p])].reshape(len(rows), -1)
        left = rows[:, v, 0]
        if p:
            left = left - before @ np.linalg.lstsq(before, left, rcond=None)[0]
        variance = float((left**2).sum())
        if score == VARIANCE:
            costs.append(variance * units[v])
        else:
            costs.append(np.log(variance) - (2 * negentropy(left / np.sqrt((left**2).mean())) if score == ENTROPY else 0))
    return len(order) * np.log(sum(costs)) if score == VARIANCE else sum(costs)


def problem(seed: int, d: int, block: int):
    """Dependent features (n, d, k), centred and of length 1, and squared units (d,)."""
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((60, d, block)) * np.array([1.0, 0.5, 0.3])[:block]
    for child in range(1, d):
        rows[:, child] += np.einsum("p,npk->nk", generator.uniform(-1, 1, child), rows[:, :child])
    rows[:, :, 0] += 0.3 * generator.exponential(1, (60, d))
    rows -= rows.mean(0)
    return rows / np.sqrt((rows**2).sum(0)), generator.uniform(0.2, 3, d)


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reach", [8, 2])
def test_search_ends_where_no_single_move_helps_and_knows_every_margin(score, seed, reach):
    d, block = 5, 1 if score == ENTROPY else 3
    rows, units = problem(seed, d, block)
    order = np.random.default_rng(seed).permutation(d)
    q, triangle = np.linalg.qr(rows[:, order].reshape(60, -1))
    factor = np.empty_like(triangle)
    factor[:, (order[:, None] * block + np.arange(block)).ravel()] = triangle
    residuals = np.ascontiguousarray(q.T.astype(np.float32)) if score == ENTROPY else np.zeros((d * block, 0), np.float32)
    found = search_order(factor, residuals, order, units, score, block, reach, 50)
    assert sorted(order) == list(range(d))
    base = score_by_hand(rows, order, units, score)
    for v in range(d):
        others = [u for u in order if u != v]
        start = list(order).index(v)
        at = {
            p: score_by_hand(rows, [*others[:p], v, *others[p:]], units, score) for p in range(max(0, start - reach), min(d - 1, start + reach) + 1)
        }
        assert min(at.values()) > base - 1e-4
        for place, u in enumerate(others):
            before = [s for p, s in at.items() if p <= place] or [at[min(at)]]
            behind = [s for p, s in at.items() if p > place] or [at[max(at)]]
            if min(at) <= place < max(at):  # else out of reach
                assert found[v, u] == pytest.approx(min(behind) - min(before), abs=2e-4)
    assert (found.diagonal() == 0).all()


@pytest.mark.parametrize("block", [1, 3])
def test_strengths_are_shares_of_variance_explained_beside_the_others_before(block):
    d = 6
    rows, _ = problem(3, d, block)
    order = np.random.default_rng(4).permutation(d)
    columns = (order[:, None] * block + np.arange(block)).ravel()
    flat = rows.reshape(60, -1)[:, columns]
    lower = np.linalg.cholesky(flat.T @ flat)
    found = order_module._explain(lower, np.linalg.inv(lower), order, block)
    for p, q in itertools.product(range(d), repeat=2):
        i, j = order[q], order[p]
        if q >= p:
            assert found[i, j] == 0
            continue

        def left(without: int, p=p, j=j) -> float:
            before = rows[:, [order[r] for r in range(p) if r != without]].reshape(60, -1)
            target = rows[:, j, 0]
            return float(((target - before @ np.linalg.lstsq(before, target, rcond=None)[0]) ** 2).sum())

        assert found[i, j] == pytest.approx(left(q) / left(-1) - 1, rel=1e-6)


def test_negentropy_weights_are_those_of_a_standard_gaussian():
    """Hyvarinen (1998), equation 27 and what follows: half the inverse variance of each measure, beside what it shares with u and with u^2."""
    x = np.linspace(-12, 12, 200_001)
    w = np.exp(-x * x / 2)
    w /= w.sum()
    g, h = x / (1 + x * x), np.abs(x) - np.sqrt(2 / np.pi)
    assert pytest.approx(1 / (2 * ((w * g * g).sum() - (w * x * g).sum() ** 2)), rel=1e-5) == order_module._ODD
    assert pytest.approx(1 / (2 * ((w * h * h).sum() - (w * x * x * h).sum() ** 2 / 2)), rel=1e-5) == order_module._EVEN


# What each finds


def test_equal_noise_shows_in_the_variance_order():
    found = [right_way(simulated(s, variables=10, edges=25, observational_rows=3000, root_scale=0.5), "variance") for s in range(6)]
    assert np.mean(found) > 0.88


@pytest.mark.parametrize("mechanism", ["sigmoid", "gp-additive"])
def test_curves_show_in_the_additive_order(mechanism):
    fields = {"variables": 10, "edges": 20, "mechanisms": (mechanism,), "observational_rows": 3000, "rescaled": True, "root_law": "gaussian"}
    found = [right_way(simulated(s, **fields), "additive") for s in range(6)]
    assert np.mean(found) > 0.8


@pytest.mark.parametrize("law", ["laplace", "uniform", "exponential"])
def test_shapes_of_noise_show_in_the_entropy_order(law):
    fields = {"variables": 10, "edges": 20, "observational_rows": 3000, "rescaled": True, "root_law": law, "noise_law": law}
    found = [right_way(simulated(s, **fields), "entropy") for s in range(6)]
    assert np.mean(found) > 0.85


def test_linear_gaussian_data_of_equal_variances_show_no_order():
    fields = {"variables": 10, "edges": 20, "observational_rows": 3000, "rescaled": True, "root_law": "gaussian"}
    for score in ("additive", "entropy"):
        found = [right_way(simulated(s, **fields), score) for s in range(10)]
        assert 0.15 < np.mean(found) < 0.85


# Symmetries and degenerate data


def test_permuting_columns_permutes_every_channel():
    dataset = simulated(1, variables=8, edges=14, mechanisms=("nn",), observational_rows=700)
    order = np.random.default_rng(0).permutation(8)
    after = channels_of(dataset.values[:, order])
    for name, value in channels_of(dataset.values).items():
        np.testing.assert_allclose(after[name], value[np.ix_(order, order)], atol=1e-4, err_msg=name)


def test_units_change_the_variance_order_alone():
    dataset = simulated(2, variables=6, edges=9, mechanisms=("sigmoid",), observational_rows=700)
    before = channels_of(dataset.values.astype(float))
    after = channels_of(dataset.values * np.array([1, 20, 0.1, 5, 3, 0.01]))
    for name, value in before.items():
        if name.startswith("variance"):
            assert np.abs(after[name] - value).max() > 0.1
        else:
            np.testing.assert_allclose(after[name], value, atol=1e-4, err_msg=name)


def test_control_rows_serve_where_there_are_enough():
    z = np.arange(600.0).reshape(300, 2)
    targeted = np.zeros((300, 2), bool)
    assert control_rows(z, None) is z
    targeted[150:, 0] = True
    np.testing.assert_array_equal(control_rows(z, targeted), z[:150])
    targeted[50:, 1] = True
    assert control_rows(z, targeted) is z


@pytest.mark.parametrize("case", ["duplicate", "sum", "few rows", "ties", "two columns", "constant in control", "all constant in control"])
def test_degenerate_data_give_finite_channels(case):
    values = np.random.default_rng(5).standard_normal((80, 6))
    if case == "duplicate":
        values[:, 3] = values[:, 0]
    elif case == "sum":
        values[:, 3] = values[:, 0] + values[:, 1]
    elif case == "few rows":
        values = values[:5]
    elif case == "ties":
        values = np.round(values)
    elif case == "two columns":
        values = values[:, :2]
    z, _, spread = standardise(values)
    if case == "constant in control":
        z[:, 2] = 1.0
    elif case == "all constant in control":
        z[:] = 1.0
    found = order_statistics(z, spread, gram_matrix(z))
    assert len(found) == 12
    for name, value in found.items():
        assert np.isfinite(value).all(), name


@pytest.mark.parametrize("size", [1, 128, 129, 301, 600])
def test_triangles_are_inverted_by_halves(size):
    rows = np.random.default_rng(size).normal(size=(2 * size, size))
    lower = np.linalg.cholesky(rows.T @ rows / len(rows))
    found = invert_triangle(lower)
    np.testing.assert_allclose(found @ lower, np.eye(size), atol=1e-10)
    np.testing.assert_array_equal(found, np.tril(found))
