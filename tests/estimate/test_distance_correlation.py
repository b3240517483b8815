"""Distance correlation against the `dcor` package and against the definition."""

import dcor
import numpy as np
import pytest

from seacausal.estimate.distance_correlation import distance_correlation


def by_definition(table: np.ndarray) -> np.ndarray:
    """(d, d), from the centred n x n matrices of distances of the standardised columns."""
    centred = []
    for column in table.T:
        spread = column.std()
        scaled = (column - column.mean()) / spread if spread > 1e-10 * np.abs(column).max() else np.zeros(len(column))
        distance = np.abs(scaled[:, None] - scaled)
        centred.append(distance - distance.mean(0) - distance.mean(1)[:, None] + distance.mean())
    covariance = np.array([[(a * b).mean() for a in centred] for b in centred])
    spread = np.sqrt(covariance.diagonal())
    return np.sqrt(np.divide(covariance, np.outer(spread, spread), out=np.zeros_like(covariance), where=np.outer(spread, spread) > 0))


def random_table(seed: int) -> np.ndarray:
    """(n, 4), heavy or light tails, with ties, repeated rows or none, related in one way or another."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 200))
    table = generator.standard_t(2 + seed % 3, (n, 4))
    table[:, 1] += table[:, 0] ** 2
    table[:, 2] = (np.abs(table[:, 0]) < 1) * table[:, 2]
    if seed % 4 == 0:
        table = np.round(table)
    if seed % 4 == 1:
        table[:, 3] = table[:, 0] > 0
    if seed % 4 == 2:
        table = table[generator.integers(0, n, n)]
    return table


@pytest.mark.parametrize("seed", range(200))
def test_equals_dcor(seed):
    """Squares are compared, too tightly for either's rounding of a dependence of 0 alone: its square root is 1e-8."""
    table = random_table(seed)
    found = distance_correlation(table)
    for i in range(4):
        for j in range(4):
            expected = dcor.distance_correlation(table[:, i], table[:, j], method="naive")
            assert found[i, j] == pytest.approx(expected, abs=1e-10 if expected > 1e-5 else 1e-7)
            assert found[i, j] ** 2 == pytest.approx(expected**2, abs=1e-10)


@pytest.mark.parametrize("n", [500, 2000])
def test_equals_dcors_fast_method(n):
    generator = np.random.default_rng(n)
    table = generator.standard_normal((n, 8))
    table[:, 4:] += np.sin(3 * table[:, :4])
    found = distance_correlation(table)
    for i in range(8):
        for j in range(i):
            assert found[i, j] == pytest.approx(dcor.distance_correlation(table[:, i], table[:, j], method="avl"), abs=1e-10)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_definition(seed):
    table = random_table(seed)
    np.testing.assert_allclose(distance_correlation(table) ** 2, by_definition(table) ** 2, atol=1e-12)


def test_independence_in_the_sample_is_exactly_zero():
    """Every combination of the values of three columns once."""
    table = np.stack(np.meshgrid([0.0, 1.0, 5.0], [0.1, 0.2], np.arange(4.0)), -1).reshape(-1, 3)
    np.testing.assert_array_equal(distance_correlation(table), np.eye(3))


def test_constant_columns_have_none():
    table = np.column_stack([np.arange(20.0), np.full(20, 0.1), np.zeros(20), -3 * np.arange(20.0)])
    found = distance_correlation(table)
    np.testing.assert_allclose(found[np.ix_([0, 3], [0, 3])], 1, atol=1e-12)
    assert (found[[1, 2]] == 0).all()
    assert (found[:, [1, 2]] == 0).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n):
    """Two points are always wholly dependent."""
    found = distance_correlation(np.random.default_rng(n).standard_normal((n, 3)))
    assert np.isfinite(found).all()
    if n < 3:
        np.testing.assert_allclose(found, np.full((3, 3), n - 1), atol=1e-12)


def test_shift_scale_and_order_are_irrelevant():
    generator = np.random.default_rng(0)
    table = random_table(3)
    found = distance_correlation(table)
    np.testing.assert_allclose(distance_correlation(table * [3.0, -1e-6, 1e160, 7] + [0, 1, 0, -1e4]), found, atol=1e-7)
    np.testing.assert_allclose(distance_correlation(generator.permutation(table)), found, atol=1e-12)
    columns = generator.permutation(4)
    np.testing.assert_allclose(distance_correlation(table[:, columns]), found[np.ix_(columns, columns)], atol=1e-12)


def test_other_types_and_layouts():
    table = np.round(10 * random_table(5)).astype(np.int32)
    expected = distance_correlation(table.astype(float))
    for other in (table, table.astype(np.float32), np.asfortranarray(table)):
        np.testing.assert_allclose(distance_correlation(other), expected, atol=1e-12)
