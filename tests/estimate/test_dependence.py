"""Each statistic of the table against scikit-learn, scipy or its definition, and on data that has something wrong with it."""

import numpy as np
import pytest
from scipy import stats
from sklearn import covariance as sklearn_covariance

from seacausal.estimate.dependence import (
    SHRINK_FROM,
    STATISTICS,
    correlation,
    inverse_covariance,
    ledoit_wolf,
    nonparanormal_correlation,
    partial_correlation,
    spearman,
)

IN_RAW_UNITS = ("inverse-covariance",)


def random_table(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Skewed rows in raw units."""
    generator = np.random.default_rng([n, d, seed])
    table = generator.exponential(1, (n, d)) @ (np.eye(d) + 0.3 * generator.standard_normal((d, d)) / np.sqrt(d))
    return table * 10.0 ** generator.uniform(-1, 1, d) + generator.uniform(-5, 5, d)


def by_regression(table: np.ndarray, i: int, j: int) -> float:
    """Correlation of what all other columns leave of two."""
    design = np.column_stack([np.ones(len(table)), np.delete(table, [i, j], 1)])
    left = table[:, [i, j]] - design @ np.linalg.lstsq(design, table[:, [i, j]], rcond=None)[0]
    return np.corrcoef(left.T)[0, 1]


@pytest.mark.parametrize("shape", [(30, 2), (200, 7), (3000, 12)])
def test_correlations(shape):
    for seed in range(20):
        table = random_table(*shape, seed)
        np.testing.assert_allclose(correlation(table), np.corrcoef(table.T), atol=1e-12)
        found = partial_correlation(table)
        assert (found.diagonal() == 1).all()
        for i, j in ((0, 1), (shape[1] - 1, 0)):
            assert found[i, j] == pytest.approx(by_regression(table, i, j), abs=1e-9)


@pytest.mark.parametrize("shape", [(300, 5), (5000, 40), (200, 99)])
def test_inverse_covariance_of_few_columns(shape):
    table = random_table(*shape)
    expected = np.linalg.pinv(np.cov(table.T, bias=True))
    np.testing.assert_allclose(inverse_covariance(table), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (50, 5), (40, 120), (500, 130), (3000, 100)])
def test_ledoit_wolf_is_scikit_learns(shape):
    for seed in range(10):
        table = random_table(*shape, seed)
        if shape[0] > 1:
            expected = sklearn_covariance.ledoit_wolf(table)[0]
            np.testing.assert_allclose(ledoit_wolf(table), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
        else:
            assert not ledoit_wolf(table).any()


@pytest.mark.parametrize("shape", [(40, 120), (500, SHRINK_FROM)])
def test_inverse_covariance_of_many_columns_is_shrunk(shape):
    table = random_table(*shape)
    expected = np.linalg.inv(sklearn_covariance.ledoit_wolf(table)[0])
    np.testing.assert_allclose(inverse_covariance(table), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    scaled = (table - table.mean(0)) / table.std(0)
    precision = np.linalg.inv(sklearn_covariance.ledoit_wolf(scaled)[0])
    spread = np.sqrt(precision.diagonal())
    found = partial_correlation(table)
    np.testing.assert_allclose(found, np.where(np.eye(shape[1]), 1, -precision / np.outer(spread, spread)), atol=1e-8)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(inverse_covariance(table[:, :-30]), np.linalg.inv(sklearn_covariance.ledoit_wolf(table[:, :-30])[0]), rtol=1e-3)


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_ranks(decimals):
    for seed in range(20):
        table = random_table(100, 4, seed)
        table = np.round(table / table.std(0), decimals)
        expected = stats.spearmanr(table).statistic
        np.testing.assert_allclose(spearman(table), expected, atol=1e-12)
        np.testing.assert_allclose(nonparanormal_correlation(table), 2 * np.sin(np.pi / 6 * expected), atol=1e-12)


def test_the_nonparanormal_correlation_is_that_before_a_monotone_change():
    generator = np.random.default_rng(0)
    plain = generator.standard_normal((20_000, 2))
    plain[:, 1] = 0.6 * plain[:, 0] + 0.8 * plain[:, 1]
    bent = np.column_stack([np.exp(2 * plain[:, 0]), plain[:, 1] ** 3])
    assert nonparanormal_correlation(bent)[0, 1] == pytest.approx(0.6, abs=0.02)
    assert correlation(bent)[0, 1] < 0.4


def degenerate_tables() -> dict[str, np.ndarray]:
    plain = np.random.default_rng(1).standard_normal((60, 5))
    wide = np.random.default_rng(2).standard_normal((60, SHRINK_FROM + 5))
    constant = wide.copy()
    constant[:, 7] = 0.1
    return {
        "constant": np.column_stack([plain, np.full(60, 0.1)]),
        "constant among many": constant,
        "duplicated": np.column_stack([plain, plain[:, 0], -2 * plain[:, 1] + 3]),
        "dependent": np.column_stack([plain, plain.sum(1)]),
        "all the same": np.tile(plain[:, :1], (1, 5)),
        "fewer rows than columns": plain[:3],
        "fewer rows than many columns": wide[:3],
        "one row": plain[:1],
        "one row of many": wide[:1],
        "zeros": np.zeros((10, 3)),
        "zeros of many": np.zeros((10, SHRINK_FROM)),
        "one column": plain[:, :1],
        "integers": np.round(10 * plain).astype(np.int16),
        "binary": plain > 0.5,
        "huge": plain * 1e100,
        "tiny": plain * 1e-100,
    }


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.name)
@pytest.mark.parametrize("kind", degenerate_tables())
def test_every_statistic_of_every_table_is_finite_and_symmetric(kind, statistic):
    table = np.asarray(degenerate_tables()[kind]) + 0
    found = statistic.function(table)
    assert found.shape == (table.shape[1],) * 2
    assert np.isfinite(found).all()
    assert statistic.symmetric
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9 * max(np.abs(found).max(), 1e-300))
    still = np.ptp(table, axis=0) == 0
    if not (statistic.name in IN_RAW_UNITS and table.shape[1] >= SHRINK_FROM):
        assert (found[still] == 0).all()
    if statistic.name not in IN_RAW_UNITS:
        np.testing.assert_allclose(found.diagonal(), ~still, atol=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.name)
@pytest.mark.parametrize("shape", [(200, 6), (150, SHRINK_FROM)])
def test_permuting_columns_permutes_every_statistic(statistic, shape):
    table = random_table(*shape)
    order = np.random.default_rng(0).permutation(shape[1])
    expected = statistic.function(table)[np.ix_(order, order)]
    np.testing.assert_allclose(statistic.function(table[:, order]), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.name)
def test_shift_and_scale_change_raw_units_alone(statistic):
    table = random_table(200, 6)
    scale = np.array([3.0, 1e-5, 700.0, 0.1, 1e6, 1])
    expected = statistic.function(table)
    if statistic.name in IN_RAW_UNITS:
        expected = expected / np.outer(scale, scale)
    np.testing.assert_allclose(statistic.function(table * scale + [0, 1e-3, -1e4, 2, 1e6, 0]), expected, rtol=1e-6, atol=1e-7)


def test_names_are_distinct():
    assert len({statistic.name for statistic in STATISTICS}) == len(STATISTICS)
