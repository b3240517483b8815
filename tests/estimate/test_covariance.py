"""Covariance and Gram matrix in blocks against the whole table, far from zero, and within little memory."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from seacausal.estimate.covariance import BLOCK, covariance, gram_of_table, standard_moments
from seacausal.estimate.partial_correlation import condition, fisher_thresholds, independence_bits
from seacausal.estimate.statistics import CHUNK, gram_matrix, standardise


def random_table(n: int, d: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, d)) @ generator.standard_normal((d, d)) + generator.uniform(-5, 5, d)


@pytest.mark.parametrize("n", [2, 30, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 77])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_covariance_is_numpys(n, dtype):
    table = (100 * random_table(n, 4)).astype(dtype)
    np.testing.assert_allclose(covariance(table), np.cov(table.T.astype(float), bias=True), rtol=1e-10, atol=1e-10)


def test_layouts():
    table = random_table(5000, 6)
    for other in (np.asfortranarray(table), np.repeat(table, 2, 1)[:, ::2]):
        np.testing.assert_allclose(covariance(other), covariance(table), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 7, CHUNK, 2 * CHUNK + 77])
def test_gram_matrix_of_a_table_is_that_of_its_standardised_rows(n):
    table = random_table(n, 5) * [1, 1e-3, 1e4, 1, 1] + [0, 5, 1e8, 0, 0]
    table[:, 3] = 0.1
    z, mean, spread = standardise(table)
    found, found_mean, found_spread = gram_of_table(table)
    np.testing.assert_allclose(found, gram_matrix(z), rtol=1e-9, atol=1e-9 * n)
    np.testing.assert_allclose(found_mean, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found_spread, spread, rtol=1e-9)
    np.testing.assert_allclose(standard_moments(table)[2], z.T @ z / n, atol=1e-9)


def test_columns_of_extreme_size():
    table = random_table(400, 4)
    expected = standard_moments(table)[2]
    extreme = table * [1e200, 1e-200, 1, -1e150]
    mean, spread, found = standard_moments(extreme)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-10)
    np.testing.assert_allclose(mean, standardise(extreme)[1], rtol=1e-12)
    np.testing.assert_allclose(spread, standardise(extreme)[2], rtol=1e-12)
    assert np.isfinite(gram_of_table(extreme)[0]).all()


def test_columns_without_spread():
    table = np.column_stack([np.full(50, 0.1), np.full(50, 1e8) + np.linspace(0, 1e-4, 50), np.linspace(0, 1e-4, 50), np.zeros(50)])
    assert (covariance(table) != 0).tolist() == np.diag([False, False, True, False]).tolist()
    assert (standard_moments(table)[1] > 0).tolist() == (standardise(table)[2] > 0).tolist()


@pytest.mark.parametrize(
    "compute", [covariance, lambda table: gram_matrix(standardise(table)[0])[1:6, 1:6], lambda table: gram_of_table(table)[0][1:6, 1:6]]
)
def test_an_offset_costs_no_decision_beyond_the_rounding_of_the_input(compute):
    """float32 rows around 1e5 keep three digits; the tests' answers are those of exact arithmetic on these digits."""
    changed = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        weights = np.triu(generator.random((5, 5)) < 0.5, 1) * generator.uniform(-1, 1, (5, 5))
        plain = generator.standard_normal((500, 5)) @ np.linalg.inv(np.eye(5) - weights)
        table = (plain + 1e5).astype(np.float32)
        exact = table.astype(np.longdouble) - 100_000
        exact -= exact.mean(0)
        answers = []
        for matrix in (compute(table), (exact.T @ exact).astype(float), np.cov(plain.T)):
            conditional, bits = np.empty((32, 5, 5)), np.empty(10, np.uint32)
            condition(np.ascontiguousarray(matrix), conditional)
            independence_bits(conditional, fisher_thresholds(500), bits)
            answers.append(bits.tolist())
        assert answers[0] == answers[1], seed
        changed += answers[1] != answers[2]
    assert changed < 10  # by the input's own rounding


@pytest.mark.parametrize(("compute", "blocks"), [(covariance, 4), (gram_of_table, 60)])
def test_no_copy_of_the_table_is_made(compute, blocks):
    table = np.ones((200_000, 20), np.float32)
    table[::2] = 3
    tracemalloc.start()
    compute(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < blocks * BLOCK * 20 * 8 + 200_000
    assert peak < table.nbytes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["covariance", "gram_of_table"])
def test_a_million_rows_of_a_hundred_columns_fit_in_a_gigabyte(name):
    """The table alone takes 400 MB; a float64 copy of it would take 800 more."""
    program = (
        "import numpy as np\n"
        f"from seacausal.estimate.covariance import {name}\n"
        "table = np.empty((1_000_000, 100), np.float32)\n"
        "for start in range(0, 1_000_000, 10_000):\n"
        "    table[start : start + 10_000] = np.random.default_rng(start).standard_normal((10_000, 100), np.float32)\n"
        f"{name}(table)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    peak = int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
    assert peak < 1_000_000  # kB
