"""The KCI test and FCI with it against causal-learn 0.1.3.7, both kernels, and on data that has something wrong with it."""

import numpy as np
import pytest
from causallearn.search.ConstraintBased import FCI
from causallearn.utils.cit import CIT

from seacausal.estimate.kci import estimate_fci_kci, fci_kci_each, kci_p_values
from seacausal.estimate.partial_correlation import PAIRS
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

QUESTIONS = [(pair, given) for pair, (i, j) in enumerate(PAIRS) for given in range(32) if not given & (1 << i | 1 << j)]


def random_table(seed: int, n: int) -> np.ndarray:
    """(n, 5) rows in raw units of a sparse or dense system, half of them nonlinear."""
    generator = np.random.default_rng([7, seed])
    weights = (
        np.triu(generator.random((5, 5)) < (0.3, 0.6, 0.9)[seed % 3], 1) * generator.uniform(0.2, 1.5, (5, 5)) * generator.choice([-1, 1], (5, 5))
    )
    table = np.zeros((n, 5))
    for v in range(5):
        inputs = table @ weights[:, v]
        table[:, v] = (inputs if seed % 2 else np.tanh(inputs) + 0.3 * np.minimum(inputs**2, 9)) + generator.standard_normal(n)
    return (table * 10.0 ** generator.uniform(-2, 2, 5) + generator.uniform(-5, 5, 5))[:, generator.permutation(5)]


def kernels(kernel: str) -> dict[str, str]:
    return {f"kernel{part}": kernel.capitalize() for part in "XYZ"}


def reference_p_values(table: np.ndarray, kernel: str, questions) -> np.ndarray:
    test = CIT(table, "kci", **kernels(kernel))
    return np.array([test(*PAIRS[pair], tuple(v for v in range(5) if given >> v & 1)) for pair, given in questions])


def reference_marks(table: np.ndarray, kernel: str) -> np.ndarray:
    graph = FCI.fci(table, "kci", 0.05, show_progress=False, **kernels(kernel))[0].graph
    return np.select([graph == -1, graph == 1, graph == 2], [TAIL, ARROW, CIRCLE], NO_EDGE).T.astype(np.int8)


@pytest.mark.parametrize("n", [60, 150])
def test_p_values_of_the_polynomial_kernel_are_causal_learns(n):
    """It leaves out eigenvalues below 1e-5 of the largest and keeps features of the given variables alone: 1e-6 of a p-value."""
    for seed in range(6):
        table = random_table(seed, n)
        found = kci_p_values(table)
        expected = reference_p_values(table, "polynomial", QUESTIONS)
        np.testing.assert_allclose([found[question] for question in QUESTIONS], expected, atol=1e-5, err_msg=str(seed))


@pytest.mark.slow
def test_graphs_of_the_polynomial_kernel_are_causal_learns():
    for seed in range(40):
        table = random_table(seed, 100)
        np.testing.assert_array_equal(estimate_fci_kci(table), reference_marks(table, "polynomial"), err_msg=str(seed))


@pytest.mark.slow
def test_p_values_of_the_gaussian_kernel_are_near_causal_learns():
    generator = np.random.default_rng(0)
    found, expected = [], []
    for seed in range(6):
        table = random_table(seed, 250)
        questions = [QUESTIONS[q] for q in generator.choice(80, 20, replace=False)]
        p_values = kci_p_values(table, kernel="gaussian")
        found += [p_values[question] for question in questions]
        expected += reference_p_values(table, "gaussian", questions).tolist()
    found, expected = np.array(found), np.array(expected)
    assert np.corrcoef(found, expected)[0, 1] > 0.995
    assert np.abs(found - expected).mean() < 0.01
    assert ((found > 0.05) == (expected > 0.05)).mean() > 0.98
    assert 0.2 < (expected > 0.05).mean() < 0.8


def test_the_gaussian_kernel_without_conditions_is_exact():
    for seed in range(5):
        table = random_table(seed, 250)
        questions = [(pair, 0) for pair in range(10)]
        found = kci_p_values(table, kernel="gaussian")[:, 0]
        np.testing.assert_allclose(found, reference_p_values(table, "gaussian", questions), atol=2e-3)


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_sees_what_a_correlation_does_not(kernel):
    """A square, and an interaction: dependence without correlation; and none where there is none."""
    generator = np.random.default_rng(3)
    table = generator.standard_normal((300, 5))
    table[:, 1] = table[:, 0] ** 2 + 0.5 * table[:, 1]
    table[:, 4] = table[:, 2] * table[:, 3] + 0.3 * table[:, 4]
    p_values = kci_p_values(table, kernel=kernel)
    assert p_values[PAIRS.index((0, 1)), 0] < 1e-4
    assert p_values[PAIRS.index((2, 4)), 1 << 3] < 1e-4
    assert p_values[PAIRS.index((0, 2)), 0] > 0.01


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_p_values_are_even_where_there_is_no_dependence(kernel):
    """A chain: 0 and 2 given 1, 2 and 4 given 3, at the level that was asked for."""
    rejected = []
    for seed in range(150 if kernel == "polynomial" else 20):
        table = np.random.default_rng(seed).standard_normal((150, 5))
        for v in range(1, 5):
            table[:, v] += np.tanh(table[:, v - 1])
        p_values = kci_p_values(table, kernel=kernel)
        rejected += [p_values[PAIRS.index((0, 2)), 1 << 1] < 0.2, p_values[PAIRS.index((2, 4)), 1 << 3] < 0.2]
    assert 0.05 < np.mean(rejected) < 0.35


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_the_level_decides(kernel):
    table = random_table(1, 120)
    edges = [(estimate_fci_kci(table, kernel=kernel, alpha=alpha) != NO_EDGE).sum() for alpha in (-1.0, 0.05, 1.0)]
    assert edges[0] == 0
    assert 0 < edges[1] < 20
    assert edges[2] == 20


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_shift_scale_and_the_order_of_rows_are_irrelevant(kernel):
    table = random_table(2, 120)
    expected = kci_p_values(table, kernel=kernel)
    moved = table * [3.0, 1e-6, 700, 1e160, 0.1] + [0, 1e-3, -1e4, 0, 2]
    np.testing.assert_allclose(kci_p_values(moved, kernel=kernel), expected, atol=1e-6)
    # The rows that describe a Gaussian kernel are chosen one after the other, so that rounding may choose another.
    shuffled = np.random.default_rng(0).permutation(table)
    np.testing.assert_allclose(kci_p_values(shuffled, kernel=kernel), expected, atol=1e-9 if kernel == "polynomial" else 0.02)


def test_permuting_columns_changes_p_values_of_conditional_tests_alone():
    """The lower of two variables is looked at beside the given ones, the higher alone, as in causal-learn."""
    table, order = random_table(4, 120), np.array([4, 3, 2, 1, 0])
    before, after = kci_p_values(table), kci_p_values(table[:, order])
    changed = 0.0
    for pair, given in QUESTIONS:
        i, j = PAIRS[pair]
        mirrored = after[PAIRS.index((4 - j, 4 - i)), sum(1 << 4 - v for v in range(5) if given >> v & 1)]
        if not given:
            assert mirrored == pytest.approx(before[pair, given], abs=1e-9)
        changed = max(changed, abs(mirrored - before[pair, given]))
    assert 0.001 < changed < 0.7


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_batch_is_its_subsets_one_by_one(gaussian):
    tables = np.stack([random_table(seed, 90) / random_table(seed, 90).std(0) for seed in range(8 if gaussian else 40)])
    batch = fci_kci_each(tables, gaussian, 0.05)
    assert batch.dtype == np.int8
    np.testing.assert_array_equal(batch, [estimate_fci_kci(table, kernel="gaussian" if gaussian else "polynomial") for table in tables])
    assert fci_kci_each(tables[:0], gaussian, 0.05).shape == (0, 5, 5)


def degenerate_tables() -> dict[str, np.ndarray]:
    plain = np.random.default_rng(2).standard_normal((120, 5))
    binary = (plain > 0).astype(float)
    return {
        "constant": np.column_stack([plain[:, :3], np.full(120, 0.1), np.zeros(120)]),
        "duplicated": np.column_stack([plain[:, :3], plain[:, 0], -2 * plain[:, 1] + 3]),
        "dependent": np.column_stack([plain[:, :4], plain[:, :4].sum(1)]),
        "square": np.column_stack([plain[:, :4], plain[:, 0] ** 2]),
        "all the same": np.tile(plain[:, :1], (1, 5)),
        "fewer rows than features": plain[:4],
        "two rows": plain[:2],
        "one row": plain[:1],
        "binary": binary,
        "balanced": np.column_stack([np.arange(120) % 2, binary[:, 1:]]),
        "zeros": np.zeros((10, 5)),
        "heavy tails": np.random.default_rng(3).standard_cauchy((120, 5)) ** 3,
        "huge": plain * 1e200,
        "tiny": plain * 1e-200,
    }


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_answers(kind, kernel):
    table = degenerate_tables()[kind]
    p_values, marks = kci_p_values(table, kernel=kernel), estimate_fci_kci(table, kernel=kernel)
    assert ((p_values >= 0) & (p_values <= 1)).all()
    np.testing.assert_array_equal(marks == NO_EDGE, (marks == NO_EDGE).T)
    if kind == "constant":
        assert not marks[3:].any()
        assert not marks[:, 3:].any()
    if kind in ("one row", "zeros"):
        assert not marks.any()
    if kind == "duplicated":
        assert p_values[PAIRS.index((0, 3)), 0] < 1e-6
        assert p_values[PAIRS.index((0, 1)), 1 << 3] == 1  # determined by its copy
        assert p_values[PAIRS.index((1, 4)), 1 << 2] < 1e-3
