"""Rows that follow one another in time: how many independent ones they are worth, and that the graph is found with so many."""

import json

import numpy as np
import pytest

from seacausal.cli import main
from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.serial import FEWEST, independent_share, split_doses
from seacausal.estimate.statistics import interventional_statistics, standardise


def autoregressive(coefficients: np.ndarray, rows: int, generator: np.random.Generator) -> np.ndarray:
    """(rows, d) independent columns of variance 1, each the coefficient times the row before and fresh noise; stationary."""
    x = generator.standard_normal((rows, len(coefficients)))
    for t in range(1, rows):
        x[t] = coefficients * x[t - 1] + np.sqrt(1 - coefficients**2) * x[t]
    return x


def share(values: np.ndarray, regime: np.ndarray | None = None) -> float:
    return independent_share(standardise(values)[0], np.zeros(len(values), int) if regime is None else regime)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.9, 0.9), (0.5, 0.98), (0.98, 0.98)])
def test_share_is_that_of_the_variance_of_correlations(low, high):
    """Correlations of independent columns vary as those of so many rows."""
    generator = np.random.default_rng(int(100 * (low + high)))
    coefficients = np.linspace(low, high, 6)
    shares, squares = [], []
    for _ in range(60):
        x = autoregressive(coefficients, 2000, generator)
        shares.append(share(x))
        squares.append(np.corrcoef(x.T)[np.triu_indices(6, 1)] ** 2)
    assert np.mean(shares) == pytest.approx(np.mean(1 / np.mean(squares, axis=0)) / 2000, rel=0.2)
    assert share(generator.permutation(x)) == 1
    assert share(x * 1e-3 + 1e6) == pytest.approx(shares[-1])


def test_rows_that_were_merely_sorted_count():
    generator = np.random.default_rng(1)
    x = generator.standard_normal((1000, 5))
    x[:, 1:] += x[:, :1]
    assert share(x[np.argsort(x[:, 0])]) == 1
    groups = np.repeat(generator.standard_normal((4, 5)) * 5, 250, axis=0)
    assert share(groups + x) == 1
    assert share(np.concatenate([x[:, :2].round(1), x[:, 2:] > 0], axis=1)[np.lexsort((x > 0).T)]) == 1


@pytest.mark.parametrize("rows", [60, 300, 3000])
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_all_columns_may_follow_the_one_that_the_rows_are_sorted_by(rows, noise):
    generator = np.random.default_rng(rows)
    x = np.sort(generator.standard_normal(rows))[::-1]
    assert share(np.column_stack([x, np.sin(x), x**2, -x]) + noise * generator.standard_normal((rows, 4)) * [0, 1, 1, 1]) == 1


def test_rows_sorted_by_several_columns_and_designs():
    generator = np.random.default_rng(9)
    levels = generator.integers(0, 15, (300, 2)).astype(float)
    table = np.column_stack([levels, levels.sum(1) + 2 * generator.standard_normal(300)])
    assert share(table[np.lexsort(table[:, [1, 0]].T)]) == 1
    design = np.indices((12, 12, 12)).reshape(3, -1).T.astype(float)
    response = design @ [1, 2, 3] + 3 * generator.standard_normal(len(design))
    assert share(np.column_stack([design, response])) == 1
    assert share(np.repeat(design, generator.poisson(3, len(design)), axis=0)) == 1


def test_a_clock_is_no_sorted_column():
    generator = np.random.default_rng(10)
    x = autoregressive(np.full(4, 0.9), 1000, generator)
    clock, year = np.arange(1000) * 60.0 + generator.uniform(-10, 10, 1000), 1900 + np.arange(1000) // 4
    assert share(np.column_stack([clock, year, x])) < 0.2


def test_categories_do_not_count_and_rows_of_one_regime_are_compared():
    generator = np.random.default_rng(2)
    x = autoregressive(np.full(4, 0.9), 1200, generator)
    assert share((x > 0).astype(float)) == 1
    assert share(np.column_stack([x, *[np.arange(1200) // 400] * 9])) == pytest.approx(share(x))
    assert share(x, np.arange(1200) // 2) == 1  # no three rows in a regime
    assert 0.07 < share(x, np.arange(1200) // 6) < 0.2  # 0.105 of as many rows
    assert share(np.concatenate([x, generator.permutation(x)]), np.repeat([0, 1], 1200)) > share(x)


@pytest.mark.parametrize("rows", [2, 30, 31, 60, 5000])
def test_few_rows_and_random_walks(rows):
    walk = np.random.default_rng(rows).standard_normal((rows, 3)).cumsum(0)
    found = share(walk)
    assert found == 1 if rows <= FEWEST + 1 else found * rows >= FEWEST - 1e-9
    assert rows < 60 or found * rows < 2 * FEWEST


def test_significance_is_that_of_so_many_rows():
    generator = np.random.default_rng(3)
    z = standardise(generator.standard_normal((400, 3)) + [0, 1, 2] * (np.arange(400) < 100)[:, None])[0]
    targeted = np.zeros((400, 3), bool)
    targeted[:100, 1] = True
    twice = interventional_statistics(np.repeat(z, 2, axis=0), np.repeat(targeted, 2, axis=0), 0.5)
    for name, value in interventional_statistics(z, targeted).items():
        np.testing.assert_allclose(twice[name], value, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("interventions", [False, True])
def test_unrelated_series_are_not_joined(interventions):
    generator = np.random.default_rng(4)
    x = autoregressive(np.full(8, 0.98), 1600, generator)
    regime, targets = np.zeros(1600, int), np.zeros((1, 8), bool)
    if interventions:
        regime, targets = np.repeat([0, 1, 2], [800, 400, 400]), np.eye(3, 8, k=-1, dtype=bool)
        x[regime[:, None] == np.array([1, 2, *[9] * 6])] += 2
    dataset = Dataset(x, tuple("abcdefgh"), regime, targets)
    found, whole = discover(dataset), discover(dataset, serial=False)
    assert found.dataset["independent rows"] == round(share(x, regime) * 1600) < 150
    assert whole.dataset["independent rows"] == whole.dataset["rows"] == 1600
    joined = [(graph.probabilities + graph.probabilities.T > 0.5).sum() // 2 for graph in (found, whole)]
    assert joined[0] <= 5 < 20 <= joined[1]  # of 28 pairs


def test_a_short_control_beside_long_regimes():
    x = autoregressive(np.full(4, 0.995), 8000, np.random.default_rng(8))
    regime = np.repeat([0, 1, 2], [100, 3950, 3950])
    found = discover(Dataset(x, tuple("abcd"), regime, np.eye(3, 4, k=-1, dtype=bool)))
    assert found.dataset["independent rows"] < 60
    assert np.isfinite(found.probabilities).all()


def test_series_that_cause_one_another_are_still_joined():
    x = autoregressive(np.full(6, 0.9), 2000, np.random.default_rng(6))
    for j in range(1, 6):
        x[:, j] += x[:, j - 1]
    found = discover(x)
    joined = np.argwhere(np.triu(found.probabilities + found.probabilities.T) > 0.5).tolist()
    assert joined == [[j, j + 1] for j in range(5)]


def test_users_are_told(tmp_path, capsys):
    x = autoregressive(np.full(3, 0.9), 1000, np.random.default_rng(7))
    np.savetxt(tmp_path / "t.csv", x, delimiter=",", header="a,b,c", comments="")
    command = ["discover", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    worth = json.loads((tmp_path / "out" / "result.json").read_text())["data"]["independent rows"]
    assert 70 < worth < 150
    assert f"1,000 rows count as {worth} independent ones" in capsys.readouterr().out
    assert main([*command, "--no-serial"]) == 0
    assert "independent" not in capsys.readouterr().out


def test_doses_of_one_target_in_a_row_are_no_series():
    """Eight rows each of four doses of two drugs, again and again, which move all columns."""
    generator = np.random.default_rng(4)
    dose = np.repeat(np.tile([2.0, 0.0, 3.0, 1.0], 12), 8)
    regime = np.repeat(np.tile([1, 2], 6), 32).astype(np.int32)
    targets = np.array([[False] * 5, [True, False, False, False, False], [False, True, False, False, False]])
    values = 2 * dose[:, None] + generator.standard_normal((len(dose), 5))
    values[targets[regime]] = dose
    z = standardise(values)[0]
    blocks = split_doses(z, regime, targets)
    assert blocks[-1] == 47
    assert (np.bincount(blocks) == 8).all()
    assert independent_share(z, regime) < 0.8
    assert independent_share(z, blocks) == 1
    graph = discover(Dataset(values, tuple("abcde"), regime, targets))
    assert not graph.dataset["serial"]
    many = generator.standard_normal((len(dose), 5))  # no doses but values of their own
    assert split_doses(many, regime, targets)[-1] == 11
