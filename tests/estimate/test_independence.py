"""The table of answers for k variables against the kernel for five and against numpy's inverse; columns that carry nothing of their own."""

import itertools

import numpy as np
import pytest
from references import random_table
from scipy import stats

from seacausal.errors import DataError
from seacausal.estimate.independence import SIZE, answer_tests, covariance_of
from seacausal.estimate.partial_correlation import PAIRS, condition, condition_all, fisher_thresholds, independence_bits


def given_all(covariance):
    k = len(covariance)
    conditional = np.empty((1 << k, k, k))
    condition_all(covariance, conditional)
    return conditional


def answers_of(covariance: np.ndarray, rows: int) -> np.ndarray:
    k = len(covariance)
    accepted = np.ones((k, k, 1 << k), bool)
    answer_tests(np.ascontiguousarray(covariance, float), fisher_thresholds(rows, sizes=k - 1), accepted)
    return accepted


def degenerate_tables(k: int) -> dict[str, np.ndarray]:
    plain = np.random.default_rng(0).standard_normal((60, k))
    dependent = plain.copy()
    dependent[:, -1] = dependent[:, :-1].sum(1)
    constant = plain.copy()
    constant[:, 0] = 0.1
    return {
        "constant": constant,
        "all constant": np.full((60, k), 0.1),
        "copies": np.tile(plain[:, :1], k) * np.arange(1, k + 1) / 7,
        "dependent": dependent,
        "ties": (plain > 0).astype(float),
        "one row": plain[:1],
        "two rows": plain[:2],
        "fewer rows than columns": plain[: max(1, k - 1)],
        "huge": plain * 1e200,
        "tiny": plain * 1e-200,
        "both": plain * 10.0 ** np.linspace(-300, 300, k),
        "far from zero": plain * 1e-3 + 1e6,
    }


@pytest.mark.parametrize("seed", range(30))
def test_equals_the_kernel_for_five(seed):
    covariance = np.cov(random_table(seed).T)
    if seed % 3 == 0:
        covariance[seed % 5] = covariance[:, seed % 5] = 0
    conditional, bits = np.empty((32, 5, 5)), np.empty(10, np.uint32)
    condition(covariance, conditional)
    independence_bits(conditional, fisher_thresholds(40), bits)
    np.testing.assert_array_equal(given_all(covariance), conditional)
    accepted = answers_of(covariance, 40)
    for pair, (i, j) in enumerate(PAIRS):
        assert sum(1 << s for s in range(32) if accepted[i, j, s]) == bits[pair]


@pytest.mark.parametrize("k", [2, 3, 4, 6, 8])
def test_decisions_are_those_of_fishers_z(k):
    table = random_table(7, k)[:60]
    correlation = np.corrcoef(table.T)
    accepted = answers_of(covariance_of(table), len(table))
    np.testing.assert_array_equal(accepted, accepted.swapaxes(0, 1))
    for i, j in itertools.combinations(range(k), 2):
        for given in range(1 << k):
            if given >> i & 1 or given >> j & 1:
                assert not accepted[i, j, given]
                continue
            inside = [i, j, *[v for v in range(k) if given >> v & 1]]
            precision = np.linalg.inv(correlation[np.ix_(inside, inside)])
            z = np.arctanh(-precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]))
            assert accepted[i, j, given] == (2 * stats.norm.sf(np.sqrt(len(table) - len(inside) - 1) * abs(z)) > 0.05)


def test_sizes():
    assert SIZE.tolist() == [bin(s).count("1") for s in range(1024)]
    assert fisher_thresholds(9, sizes=9).tolist()[6:] == [1, 1, 1]
    assert fisher_thresholds(500, sizes=9)[:4].tolist() == fisher_thresholds(500).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_covariance_has_the_correlations_of_the_table(seed):
    table = random_table(seed, 6) * 10.0 ** np.arange(-3, 3) + 5
    covariance = covariance_of(table)
    scale = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(covariance / np.outer(scale, scale), np.corrcoef(table.T), atol=1e-9)


@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize("kind", degenerate_tables(3))
def test_degenerate_tables_give_definite_answers(kind, k):
    table = degenerate_tables(k)[kind]
    covariance = covariance_of(table)
    assert np.isfinite(covariance).all()
    assert np.isfinite(given_all(covariance)).all()
    accepted = answers_of(covariance, len(table))
    if kind in ("one row", "two rows", "all constant"):
        i, j = np.triu_indices(k, 1)
        free = np.array([[not s >> a & 1 and not s >> b & 1 for s in range(1 << k)] for a, b in zip(i, j)])
        np.testing.assert_array_equal(accepted[i, j], free)
    if kind == "constant":
        assert (covariance[0] == 0).all()
        assert accepted[0, 1:, 0].all()
    if kind in ("huge", "tiny", "both"):
        np.testing.assert_array_equal(accepted, answers_of(np.corrcoef(degenerate_tables(k)["far from zero"].T), 60))
    if kind == "copies" and k > 2:
        assert not accepted[0, 1:, 0].any()
        assert accepted[0, 1, 1 << 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((5, 1)), r"from 2 to 10 columns; found shape \(5, 1\)"),
        (np.zeros((5, 11)), r"found shape \(5, 11\)"),
        (np.zeros(5), r"found shape \(5,\)"),
        (np.zeros((0, 3)), r"must have rows"),
        (np.array([[1, 2], [3, np.nan]]), "finite; found nan in row 1 of column 1"),
        (np.array([[1, 2], [-np.inf, 3]]), "finite; found -inf in row 1 of column 0"),
    ],
)
def test_what_is_not_a_small_table_is_an_error(values, message):
    with pytest.raises(DataError, match=message):
        covariance_of(values)
