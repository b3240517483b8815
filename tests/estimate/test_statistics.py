"""Every statistic against its definition, computed from raw rows column by column, and on data that has something wrong with it."""

import itertools

import numpy as np
import pytest
from scipy import stats

from seacausal.aggregate.encoding import CHANNELS
from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate import statistics
from seacausal.estimate.graph_search import graph_statistics, interventional_graph_statistics
from seacausal.estimate.order import control_rows, order_statistics
from seacausal.estimate.pair_entropies import entropy_statistics
from seacausal.estimate.statistics import (
    CHUNK,
    CLIP,
    ROWS_CAP,
    exclude_targets,
    find_settings,
    find_unmoved,
    global_statistics,
    gram_matrix,
    interventional_statistics,
    standardise,
)

RANKS = ("rank correlation", "rank partial correlation")
"""Of all rows, whatever was a target in them."""


def table_of(seed: int, n: int = 800, d: int = 5) -> np.ndarray:
    """A nonlinear chain in raw units, skewed and without outliers."""
    generator = np.random.default_rng(seed)
    columns = [generator.exponential(1, n)]
    for _ in range(1, d):
        columns.append(np.tanh(columns[-1] - 1) + 0.4 * columns[0] + 0.5 * generator.standard_normal(n))
    return np.clip(np.column_stack(columns), -3, 3) * 10.0 ** generator.uniform(-2, 2, d) + generator.uniform(-5, 5, d)


def statistics_of(table: np.ndarray, targeted: np.ndarray | None = None) -> dict[str, np.ndarray]:
    z, _, spread = standardise(table)
    return global_statistics(z, spread, targeted)


def one_target_each(n: int, d: int, rows: int) -> np.ndarray:
    """(n, d) bool: after n - d rows observational ones, `rows` rows for each variable."""
    targeted = np.zeros((n, d), bool)
    for i in range(d):
        targeted[n - (d - i) * rows : n - (d - i - 1) * rows, i] = True
    return targeted


def pairs(d: int):
    return list(itertools.permutations(range(d), 2))


def scaled(column: np.ndarray) -> np.ndarray:
    return (column - column.mean()) / column.std()


def cubics(table: np.ndarray) -> list[np.ndarray]:
    """For each column its (n, 3) standardised level, square and cube."""
    return [np.column_stack([scaled(scaled(column) ** power) for power in (1, 2, 3)]) for column in table.T]


def ridge_left(target: np.ndarray, predictors: np.ndarray, ridge: float) -> float:
    """Minimum over b of |target - predictors b|^2 / n + ridge |b|^2, by least squares on rows that stand for the ridge."""
    n, width = predictors.shape
    design = np.vstack([predictors / np.sqrt(n), np.sqrt(ridge) * np.eye(width)])
    goal = np.concatenate([target / np.sqrt(n), np.zeros(width)])
    return float(((goal - design @ np.linalg.lstsq(design, goal, rcond=None)[0]) ** 2).sum())


def fisher(correlation: float, rows: float) -> float:
    return np.arcsinh(np.arctanh(correlation) * np.sqrt(rows - 3)) / 4


# Standardising and the Gram matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_standardise(dtype):
    table = (100 * table_of(0) / table_of(0).std(0)).astype(dtype)
    z, mean, spread = standardise(table)
    assert z.dtype == np.float64
    np.testing.assert_allclose(mean, table.mean(0, dtype=float), rtol=1e-12)
    np.testing.assert_allclose(spread, table.std(0, dtype=float), rtol=1e-12)
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(z.std(0), 1, rtol=1e-12)


def test_standardise_keeps_digits_far_from_zero():
    table = table_of(0) / table_of(0).std(0)
    z, _, spread = standardise(table + 1e8)
    np.testing.assert_allclose(z, standardise(table)[0], atol=1e-7)  # 1e8 leaves 8 of 16 digits
    np.testing.assert_allclose(spread, 1, rtol=1e-7)


def test_constant_columns_have_no_spread():
    table = np.column_stack([np.full(50, 0.1), np.full(50, 1e8) + np.linspace(0, 1e-4, 50), np.linspace(0, 1e-4, 50), np.zeros(50)])
    z, mean, spread = standardise(table)
    assert (spread > 0).tolist() == [False, False, True, False]
    assert (z[:, ~(spread > 0)] == 0).all()
    assert mean[0] == pytest.approx(0.1, rel=1e-15)


@pytest.mark.parametrize("n", [1, 30, CHUNK, CHUNK + 1, 2 * CHUNK + 77])
def test_gram_matrix_is_that_of_the_features(n):
    z = np.random.default_rng(1).standard_t(2, (n, 3))
    clipped = np.clip(z, -6, 6)
    features = np.column_stack([np.ones(n), z, clipped**2, clipped**3])
    np.testing.assert_allclose(gram_matrix(z), features.T @ features, rtol=1e-9, atol=1e-7)
    assert n < 1000 or np.abs(z).max() > CLIP


# Each statistic


@pytest.mark.parametrize("seed", range(3))
def test_correlation_and_partial_correlation(seed):
    table = table_of(seed)
    found, n, d = statistics_of(table), *table.shape
    correlation = np.corrcoef(table.T)
    precision = np.linalg.inv(correlation)
    for i, j in pairs(d):
        partial = -precision[i, j] / np.sqrt(precision[i, i] * precision[j, j])
        assert found["correlation"][i, j] == pytest.approx(correlation[i, j], abs=1e-12)
        assert found["correlation significance"][i, j] == pytest.approx(fisher(correlation[i, j], n), abs=1e-9)
        # A ridge of 1e-7 keeps singular matrices invertible.
        assert found["partial correlation"][i, j] == pytest.approx(partial, abs=1e-5)
        assert found["partial correlation significance"][i, j] == pytest.approx(fisher(partial, n - d), abs=1e-4)
        assert found["linear residual"][i, j] == pytest.approx(-np.log(precision[j, j]), abs=1e-5)


def test_linear_residual_is_the_log_share_that_a_regression_leaves():
    table = table_of(3)
    residual = statistics_of(table)["linear residual"]
    for j in range(5):
        left = ridge_left(scaled(table[:, j]), np.column_stack([scaled(c) for c in np.delete(table, j, 1).T]), 0)
        np.testing.assert_allclose(residual[:, j], np.log(left), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_cubics_of_a_pair(seed):
    """How much of j, and of its square, a cubic of i explains: with the ridge, target . prediction = 1 - the minimum of the ridge's loss."""
    table = table_of(seed)
    found, features, n = statistics_of(table), cubics(table), len(table)
    for i, j in pairs(5):
        level, square, _ = features[j].T
        cubic = 1 - ridge_left(level, features[i], 1e-4)
        gain = cubic - np.corrcoef(table[:, i], table[:, j])[0, 1] ** 2
        assert found["cubic"][i, j] == pytest.approx(cubic, abs=1e-9)
        assert found["cubic gain"][i, j] == pytest.approx(max(gain, 0), abs=1e-9)
        assert found["cubic gain significance"][i, j] == pytest.approx(np.log1p(n * max(gain, 0) / (1 - cubic)) / 8, abs=1e-7)
        explained = 1 - ridge_left(square, features[i], 1e-4)
        assert found["square"][i, j] == pytest.approx(explained, abs=1e-9)
        assert found["square significance"][i, j] == pytest.approx(np.log1p(n * explained / (1 - explained)) / 8, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_cross_moments(seed):
    table = table_of(seed)
    found, features = statistics_of(table), cubics(table)
    for i, j in pairs(5):
        of_i, of_j = ([float(np.corrcoef(features[a][:, p], features[b][:, 0])[0, 1]) for p in range(3)] for a, b in ((i, j), (j, i)))
        assert found["square moment"][i, j] == pytest.approx(of_i[1], abs=1e-9)
        assert found["cube moment"][i, j] == pytest.approx(of_i[2], abs=1e-9)
        assert found["square asymmetry"][i, j] == pytest.approx(of_i[0] * (of_i[1] - of_j[1]), abs=1e-9)
        assert found["cube asymmetry"][i, j] == pytest.approx(of_i[0] * (of_i[2] - of_j[2]), abs=1e-9)


@pytest.mark.parametrize(("seed", "n", "d"), [(0, 800, 5), (1, 300, 3), (2, 60, 8), (3, 800, 2)])
def test_additive_drop(seed, n, d):
    """With and without i's three features among all others', by least squares; the ridge counts as unexplained variance of j too."""
    table = table_of(seed, n, d)
    found, features, ridge = statistics_of(table), cubics(table), 1e-4 + 1.5 * d / n
    for i, j in pairs(d):
        others = [features[v] for v in range(d) if v != j]
        spared = [features[v] for v in range(d) if v not in (i, j)] or [np.zeros((n, 1))]
        for feature, name in ((0, "additive"), (1, "additive square")):
            target = features[j][:, feature]
            left = ridge_left(target, np.column_stack(others), ridge) + ridge
            without = ridge_left(target, np.column_stack(spared), ridge) + ridge
            assert found[name][i, j] == pytest.approx(np.log(without / left), abs=1e-9)
            assert found[f"{name} significance"][i, j] == pytest.approx(np.log1p(n * (without / left - 1)) / 8, abs=1e-7)
            if feature == 0:
                assert found["additive residual"][i, j] == pytest.approx(np.log(left), abs=1e-9)


def test_skewness_and_kurtosis():
    table = table_of(4)
    found = statistics_of(table)
    for i in range(5):
        np.testing.assert_allclose(found["skewness"][i], np.arcsinh(stats.skew(table)), rtol=1e-9)
        np.testing.assert_allclose(found["kurtosis"][i], np.arcsinh(stats.kurtosis(table)), rtol=1e-9)


def test_variances():
    table = table_of(5)
    found = statistics_of(table)
    log_variance = np.log(table.var(0))
    left = np.array([ridge_left(table[:, j], np.column_stack([np.ones(len(table)), np.delete(table, j, 1)]), 0) for j in range(5)])
    for i, j in itertools.product(range(5), repeat=2):
        assert found["log variance"][i, j] == pytest.approx(log_variance[j] - log_variance.mean(), abs=1e-9)
        assert found["log variance difference"][i, j] == pytest.approx(log_variance[j] - log_variance[i], abs=1e-9)
        assert found["conditional log variance"][i, j] == pytest.approx(np.log(left[j]) - log_variance.mean(), abs=1e-5)
        assert found["conditional log variance difference"][i, j] == pytest.approx(np.log(left[j] / left[i]), abs=1e-5)


@pytest.mark.parametrize("decimals", [0, 1, 12])
@pytest.mark.parametrize("seed", range(3))
def test_rank_correlation_is_spearmans(seed, decimals):
    table = np.round(table_of(seed) / table_of(seed).std(0), decimals)
    found = statistics_of(table)
    expected = 2 * np.sin(np.pi / 6 * stats.spearmanr(table).statistic)
    np.testing.assert_allclose(found["rank correlation"], expected, atol=1e-12)
    precision = np.linalg.inv(0.999 * expected + 0.001 * np.eye(5))
    for i, j in pairs(5):
        shrunk = -precision[i, j] / np.sqrt(precision[i, i] * precision[j, j])
        # The shrinkage is 0.001 or a little more.
        assert found["rank partial correlation"][i, j] == pytest.approx(shrunk, abs=0.02)


def test_ranks_see_no_monotone_change():
    table = table_of(6)
    bent = np.exp(table / table.std(0))
    for name in RANKS:
        np.testing.assert_allclose(statistics_of(bent)[name], statistics_of(table)[name], atol=1e-12)


def test_few_rows_shrink_partial_correlations():
    """A chain of 40 columns in 45 rows: nearer to the truth, 0.7 / (1 + 0.7^2) between neighbours, than the plain inverse, and not all zero."""
    table = np.random.default_rng(7).standard_normal((45, 40))
    for i in range(1, 40):
        table[:, i] = 0.7 * table[:, i - 1] + np.sqrt(1 - 0.49) * table[:, i]
    off, neighbours = ~np.eye(40, dtype=bool), np.eye(40, k=1, dtype=bool)
    truth = 0.7 / 1.49 * (neighbours | neighbours.T)
    precision = np.linalg.inv(np.corrcoef(table.T))
    plain = -precision / np.sqrt(np.outer(np.diag(precision), np.diag(precision)))
    found = statistics_of(table)["partial correlation"]
    assert np.abs(found - truth)[off].mean() < 0.3 * np.abs(plain - truth)[off].mean()
    assert found[neighbours].mean() > 5 * np.abs(found[off & (truth == 0)]).mean()


def test_significances_stop_growing_at_the_cap():
    """Rows are repeated, so that sizes stay the same."""
    table = table_of(8, 1000, 3)
    small, cap, beyond = (statistics_of(np.tile(table, (times, 1))) for times in (1, ROWS_CAP // 1000, 2 * ROWS_CAP // 1000))
    # The additive ridge has a share of 1.5 d / n, so that sizes change a little with n.
    for name in (name for name in small if name.endswith("significance")):
        off = ~np.eye(3, dtype=bool)
        assert (np.abs(cap[name]) > np.abs(small[name]) + 0.01)[off].all()
        np.testing.assert_allclose(beyond[name], cap[name], atol=1e-3 if name.startswith("additive") else 1e-9)


# Symmetries


def intervened_table(seed: int, d: int = 5, rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
    table = table_of(seed, 400 + d * rows, d)
    targeted = one_target_each(len(table), d, rows)
    table[targeted] = table[targeted] * 0.3 + 2
    return table, targeted


def everything_of(table: np.ndarray, targeted: np.ndarray | None) -> dict[str, np.ndarray]:
    z, _, spread = standardise(table)
    control = control_rows(z, targeted)
    found = global_statistics(z, spread, targeted)
    found |= entropy_statistics(control, found["cubic"])
    found |= order_statistics(control, spread, gram_matrix(control)) | graph_statistics(gram_matrix(control))[0]
    if targeted is None:
        return found
    searched = interventional_graph_statistics(*exclude_targets(gram_matrix(z), z, targeted), np.unique(targeted, axis=0))
    return found | interventional_statistics(z, targeted) | searched


@pytest.mark.parametrize("interventions", [False, True])
def test_shift_and_positive_scale_change_variances_alone(interventions):
    table, targeted = intervened_table(0)
    moved = table * np.array([3.0, 1e-5, 700.0, 0.1, 1e6]) + np.array([0, 1e-3, -1e4, 2, 1e6])
    before, after = (everything_of(values, targeted if interventions else None) for values in (table, moved))
    assert set(CHANNELS["variances"]) < set(before)
    for name, value in before.items():
        if name in CHANNELS["variances"]:
            assert np.abs(after[name] - value).max() > 0.1
        else:
            np.testing.assert_allclose(after[name], value, atol=1e-4 if name.startswith("entropy") else 1e-7, err_msg=name)  # float32


@pytest.mark.parametrize("interventions", [False, True])
def test_permuting_columns_permutes_every_statistic(interventions):
    table, targeted = intervened_table(1)
    order = np.array([3, 0, 4, 2, 1])
    before, after = (
        everything_of(table, targeted if interventions else None),
        everything_of(table[:, order], targeted[:, order] if interventions else None),
    )
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_allclose(
            after[name], value[np.ix_(order, order)], atol=1e-4 if name.startswith("entropy") else 1e-9, err_msg=name
        )  # float32


def test_the_order_of_rows_is_irrelevant():
    table, targeted = intervened_table(2)
    order = np.random.default_rng(0).permutation(len(table))
    after = everything_of(table[order], targeted[order])
    for name, value in everything_of(table, targeted).items():
        np.testing.assert_allclose(after[name], value, atol=1e-4 if name.startswith("entropy") else 1e-9, err_msg=name)  # float32


# Interventions


def test_statistics_of_j_leave_out_the_rows_where_j_is_a_target():
    table, targeted = intervened_table(3)
    z, _, spread = standardise(table)
    found, everywhere = global_statistics(z, spread, targeted), global_statistics(z, spread, None)
    changed = set(found) - set(RANKS) - set(CHANNELS["variances"])
    for j in range(5):
        expected = global_statistics(z[~targeted[:, j]], spread, None)
        for name in changed:
            np.testing.assert_allclose(found[name][:, j], expected[name][:, j], atol=1e-9, err_msg=name)
    for name in changed:
        assert np.abs(found[name] - everywhere[name]).max() > 1e-3
    for name in RANKS:
        np.testing.assert_array_equal(found[name], everywhere[name])


def test_variables_without_targets_keep_all_rows():
    table, targeted = intervened_table(4)
    targeted[:, [0, 3]] = False
    z, _, spread = standardise(table)
    found, everywhere = global_statistics(z, spread, targeted), global_statistics(z, spread, None)
    for name in set(found) - {"conditional log variance difference"}:
        np.testing.assert_allclose(found[name][:, [0, 3]], everywhere[name][:, [0, 3]], atol=1e-12, err_msg=name)
    assert np.abs(found["cubic"] - everywhere["cubic"])[:, [1, 2, 4]].max() > 1e-3


def test_beyond_the_limit_no_rows_are_left_out(monkeypatch):
    table, targeted = intervened_table(5)
    z, _, spread = standardise(table)
    monkeypatch.setattr(statistics, "EXACT_EXCLUSION", 4)
    found, everywhere = global_statistics(z, spread, targeted), global_statistics(z, spread, None)
    for name, value in found.items():
        np.testing.assert_array_equal(value, everywhere[name], err_msg=name)


@pytest.mark.parametrize("control", [0, 29, 30, 400])
def test_interventional_statistics(control):
    """The reference is the observational rows; where they are fewer than 30, all rows that do not target i."""
    blocks = ((control, ()), (100, (0,)), (60, (1,)), (50, (3, 4)), (3, (4,)), (2, (5,)))  # 2 is never a target
    targeted = np.concatenate([np.tile(np.isin(np.arange(6), hit), (rows, 1)) for rows, hit in blocks])
    table = table_of(6, len(targeted), 6)
    table[targeted] = table[targeted] * 0.3 + 2
    found = interventional_statistics(standardise(table)[0], targeted)
    for i, j in itertools.product(range(6), repeat=2):
        assert found["target"][i, j] == (i != 2)
        if i == 2:
            assert all(found[name][i, j] == 0 for name in found)
            continue
        hit, reference = table[targeted[:, i], j], table[~targeted.any(1) if control >= 30 else ~targeted[:, i], j]
        shift = (hit.mean() - reference.mean()) / reference.std()
        error = np.sqrt(1 / len(hit) + 1 / len(reference))
        ratio = np.log(hit.var() / reference.var()) if i != 5 else 0  # two rows have no variance to speak of
        ratio_error = np.sqrt(2 / (len(hit) - 1) + 2 / len(reference))
        assert found["shift"][i, j] == pytest.approx(np.arcsinh(shift), abs=1e-9)
        assert found["shift significance"][i, j] == pytest.approx(np.arcsinh(shift / error) / 4, abs=1e-9)
        assert found["log variance ratio"][i, j] == pytest.approx(np.arcsinh(ratio), abs=1e-9)
        assert found["log variance ratio significance"][i, j] == pytest.approx(np.arcsinh(ratio / ratio_error) / 4, abs=1e-9)
        assert found["target rows"][i, j] == pytest.approx(np.log1p(len(hit)) / 8)


@pytest.mark.parametrize("interventions", [False, True])
def test_gram_matrices_may_be_handed_in(interventions):
    table, targeted = intervened_table(8)
    z, _, spread = standardise(table)
    expected = global_statistics(z, spread, targeted if interventions else None)
    known = exclude_targets(gram_matrix(z), z, targeted if interventions else None)
    found = global_statistics(z, spread, targeted if interventions else None, grams=known)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    if not interventions:
        half = global_statistics(z, spread, None, grams=exclude_targets(gram_matrix(z[::2]), z[::2], None))  # it is looked at indeed
        np.testing.assert_array_equal(half["cubic"], global_statistics(z[::2], spread, None)["cubic"])


# Data that has something wrong with it


def degenerate_tables() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(9)
    plain = generator.standard_normal((300, 6))
    binary = (plain > 0).astype(float)
    balanced = binary.copy()
    balanced[:, 0] = np.arange(300) % 2
    nearly = plain.copy()
    nearly[:, :3] = 0
    nearly[7, 0] = nearly[8, 1] = nearly[8, 2] = 1
    tiny = 1e6 + plain * 1e-3
    duplicated = np.column_stack([plain, plain[:, 0], -2 * plain[:, 1] + 3])
    summed = np.column_stack([plain, plain.sum(1), plain[:, 0] - plain[:, 1]])
    one_row_different = np.tile(plain[:1], (300, 1))
    one_row_different[0] += 1
    return {
        "binary": binary,
        "balanced": balanced,
        "nearly constant": nearly,
        "nearly constant far from zero": tiny,
        "duplicated": duplicated,
        "dependent": summed,
        "all the same column": np.tile(plain[:, :1], (1, 5)),
        "one row differs": one_row_different,
        "heavy tails": generator.standard_cauchy((300, 6)) ** 3,
        "counts": generator.poisson(0.05, (300, 6)).astype(float),
        "huge": plain * 1e150,
        "small": plain * 1e-150,
        "more columns than rows": generator.standard_normal((30, 40)),
        "two columns": plain[:30, :2],
        "constant": np.column_stack([plain[:, :3], np.ones(300)]),
    }


def layouts(n: int, d: int) -> dict[str, np.ndarray | None]:
    """Which variables are targets in which rows, in several awkward ways."""
    one_row_each = one_target_each(n, d, 1) if n > d else np.eye(d, dtype=bool)[np.arange(n) % d]
    always = np.zeros((n, d), bool)
    always[:, 0] = True
    almost = always.copy()
    almost[0, 0] = False
    everything = np.ones((n, d), bool)
    return {"none": None, "one row each": one_row_each, "always": always, "all rows but one": almost, "everything": everything}


@pytest.mark.parametrize("layout", layouts(300, 6))
@pytest.mark.parametrize("kind", degenerate_tables())
def test_nothing_is_nan_or_infinite(kind, layout):
    table = degenerate_tables()[kind]
    targeted = layouts(*table.shape)[layout]
    for name, value in everything_of(table, targeted).items():
        assert value.shape == (table.shape[1],) * 2
        assert np.isfinite(value).all(), name


@pytest.mark.parametrize("seed", range(10))
def test_near_copies_that_vary_little_but_for_an_intervention_have_numbers(seed):
    """In the rows that count for the target, rounding of what was left out exceeds all that tells the copies apart."""
    generator = np.random.default_rng(seed)
    cause = generator.standard_normal(4000) * 6e-5
    cause[2000:] = generator.standard_normal(2000) + 3
    copy = 2 * cause + generator.standard_normal(4000) * 1e-10
    targeted = np.zeros((4000, 3), bool)
    targeted[2000:, 0] = True
    found = statistics_of(np.column_stack([cause, copy, copy - cause]), targeted)
    for name, value in found.items():
        assert np.isfinite(value).all(), name
    assert found["partial correlation"][1, 2] == pytest.approx(0.5, abs=0.01)  # each of three copies is told as well by either of the others


def test_copies_are_strongly_related_and_nothing_more():
    table = degenerate_tables()["duplicated"]
    found = statistics_of(table)
    assert found["correlation"][0, 6] == pytest.approx(1)
    assert found["correlation"][1, 7] == pytest.approx(-1)
    assert found["partial correlation"][0, 6] > 0.99
    assert np.abs(found["partial correlation"][2:6, 2:6]).max() < 0.3


def test_every_channel_is_a_statistic_and_the_other_way_round():
    table, targeted = intervened_table(7)
    local = {*CHANNELS["estimates"], *CHANNELS["categories"]}
    assert everything_of(table, targeted).keys() == {name for names in CHANNELS.values() for name in names} - local
    assert everything_of(table, None).keys() == {
        name for group in ("correlation", "moments", "variances", "orders", "graphs") for name in CHANNELS[group]
    }


def test_targets_that_stay_as_they_were_are_named():
    """Rows of five regimes: a shift, a new spread, nothing, nothing in few rows, and a shift of another variable than the named one."""
    generator = np.random.default_rng(12)
    values = generator.standard_normal((2000, 6))
    regime = np.concatenate([np.zeros(1000, int), np.repeat(np.arange(1, 6), [240, 240, 240, 20, 260])])
    values[regime == 1, 0] += 1
    values[regime == 2, 1] *= 2
    values[regime == 5, 5] += 3
    targets = np.vstack([np.zeros(6, bool), np.eye(6, dtype=bool)[:5]])
    z = standardise(values)[0]
    assert np.flatnonzero(find_unmoved(interventional_statistics(z, targets[regime]))).tolist() == [2, 4]
    graph = discover(Dataset(values * 1e3, tuple("abcdef"), regime, targets))
    assert graph.dataset["unmoved targets"] == ["c", "e"]
    assert discover(values).dataset["unmoved targets"] == []


def test_settings_have_one_value_wherever_they_are_no_target():
    values = np.zeros((60, 4))
    targeted = np.zeros((60, 4), bool)
    for j in range(3):
        targeted[40 + 5 * j : 45 + 5 * j, j] = True
    values[targeted] = np.arange(15)
    values[:, 1] += 2.5  # one value, which is not 0
    values[41, 2] = 1e-9  # moved where something else was acted on
    values[:, 3] = 7.0  # never a target
    assert find_settings(values, targeted).tolist() == [True, True, False, False]
    assert find_settings(values[34:], targeted[34:]).tolist() == [True, True, False, False]
    targeted[:51, 0] = True  # nine rows are left
    assert find_settings(values, targeted).tolist() == [False, True, False, False]


def draw_instrument(seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A setting that is 0 in the control and trebles the spread of b, which acts on c; a and d stand alone."""
    rng = np.random.default_rng(seed)
    guide = np.repeat(["", "dial"], [2000, 500])
    dial = np.where(guide == "dial", 2.0, 0.0)
    a, b, noise, d = rng.normal(size=(4, 2500))
    b = b * (1 + dial)
    return {"dial": dial, "a": a, "b": b, "c": 0.8 * b + noise, "d": d}, guide


def test_what_a_setting_does_to_a_spread_is_seen():
    table, guide = draw_instrument()
    graph = discover(table | {"guide": guide}, interventions="guide")
    assert graph.probabilities[0, 2] > 0.8
    assert (graph.probabilities[:, 0] == 0).all()
    assert graph.probabilities[0, [1, 3, 4]].max() < 0.2
    assert graph.dataset["settings"] == ["dial"]
    assert "One value wherever they are not intervened on, so that nothing acts on them: dial." in graph.notes()
    table["dial"] = np.where(guide == "dial", 2.0, 1e-3 * np.arange(2500))
    assert discover(table | {"guide": guide}, interventions="guide").dataset["settings"] == []


def test_targets_in_every_row_are_named():
    table, _ = draw_instrument()
    graph = discover(table | {"guide": np.full(2500, "a")}, interventions="guide")
    assert graph.dataset["always targets"] == ["a"]
    assert any("Intervened on in every row" in note and note.endswith(": a.") for note in graph.notes())
    assert graph.dataset["settings"] == []
    assert not graph.probabilities[:, 1].any()
    plain = discover(table)
    assert plain.dataset["always targets"] == []
    known = discover(table, knowledge={"forbidden": [["*", "a"]]})
    np.testing.assert_array_equal(graph.probabilities, known.probabilities)  # no row without an intervention to compare with


def test_what_is_known_of_a_setting_is_heeded():
    """Somebody knows better: the dial follows a."""
    table, guide = draw_instrument()
    graph = discover(table | {"guide": guide}, interventions="guide", knowledge={"required": [["a", "dial"]], "forbidden": [["dial", "b"]]})
    assert graph.probabilities[1, 0] == 1
    assert graph.probabilities[[2, 3, 4], 0].tolist() == [0, 0, 0]
    assert graph.probabilities[0, 2] == 0
