"""The KCI test and FCI with it against causal-learn 0.1.3.7, both kernels, and on data that has something wrong with it."""

import itertools

import numpy as np
import pytest
from causallearn.search.ConstraintBased import FCI
from causallearn.utils.cit import CIT

from seacausal.errors import DataError
from seacausal.estimate.fci_general import fci_general
from seacausal.estimate.kci import answers_of, estimate_fci_kci, fci_kci_each, kci_p_values
from seacausal.estimate.partial_correlation import PAIRS
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


def random_table(seed: int, n: int, k: int = 5) -> np.ndarray:
    """(n, k) rows in raw units of a sparse or dense system, half of them nonlinear."""
    generator = np.random.default_rng([7, seed])
    weights = (
        np.triu(generator.random((k, k)) < (0.3, 0.6, 0.9)[seed % 3], 1) * generator.uniform(0.2, 1.5, (k, k)) * generator.choice([-1, 1], (k, k))
    )
    table = np.zeros((n, k))
    for v in range(k):
        inputs = table @ weights[:, v]
        table[:, v] = (inputs if seed % 2 else np.tanh(inputs) + 0.3 * np.minimum(inputs**2, 9)) + generator.standard_normal(n)
    return (table * 10.0 ** generator.uniform(-2, 2, k) + generator.uniform(-5, 5, k))[:, generator.permutation(k)]


def questions_of(k: int) -> list[tuple[int, int]]:
    pairs = itertools.combinations(range(k), 2)
    return [(pair, given) for pair, (i, j) in enumerate(pairs) for given in range(1 << k) if not given & (1 << i | 1 << j)]


QUESTIONS = questions_of(5)


def kernels(kernel: str) -> dict[str, str]:
    return {f"kernel{part}": kernel.capitalize() for part in "XYZ"}


def reference_p_values(table: np.ndarray, kernel: str, questions) -> np.ndarray:
    test, k = CIT(table, "kci", **kernels(kernel)), table.shape[1]
    pairs = list(itertools.combinations(range(k), 2))
    return np.array([test(*pairs[pair], tuple(v for v in range(k) if given >> v & 1)) for pair, given in questions])


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


@pytest.mark.parametrize("k", [2, 3, 4, 6, 8])
def test_p_values_of_other_numbers_of_variables_are_causal_learns(k):
    generator = np.random.default_rng(k)
    for seed in range(4):
        table, questions = random_table(seed, 80, k), questions_of(k)
        questions = [questions[q] for q in generator.permutation(len(questions))[:25]]
        found = kci_p_values(table)
        np.testing.assert_allclose([found[q] for q in questions], reference_p_values(table, "polynomial", questions), atol=1e-5, err_msg=str(seed))


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_graphs_of_other_numbers_of_variables_are_causal_learns(k):
    marks = set()
    for seed in range(8 if k < 6 else 3):
        table = random_table(seed, 80, k)
        found = estimate_fci_kci(table)
        assert found.dtype == np.int8
        np.testing.assert_array_equal(found, reference_marks(table, "polynomial"), err_msg=str(seed))
        marks.update(found.ravel().tolist())
    assert {NO_EDGE, CIRCLE} <= marks


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_five_variables_the_general_way(kernel):
    for seed in range(30 if kernel == "polynomial" else 4):
        table, marks = random_table(seed, 90), np.full((5, 5), -1, np.int8)
        fci_general(answers_of(kci_p_values(table, kernel=kernel), 5, 0.05), marks)
        np.testing.assert_array_equal(marks, estimate_fci_kci(table, kernel=kernel), err_msg=str(seed))


@pytest.mark.parametrize(("kernel", "k"), [("polynomial", 6), ("polynomial", 10), ("gaussian", 6)])
def test_other_columns_do_not_change_a_p_value(kernel, k):
    """The answers about five of k columns are those of the table of these five."""
    table, kept = random_table(5, 90, k), np.arange(k)[-5:]
    found, expected = kci_p_values(table, kernel=kernel), kci_p_values(table[:, kept], kernel=kernel)
    pairs = list(itertools.combinations(range(k), 2))
    for pair, given in QUESTIONS:
        i, j = kept[list(PAIRS[pair])]
        assert found[pairs.index((i, j)), given << int(kept[0])] == pytest.approx(expected[pair, given], abs=1e-9)
    assert (found == 0).sum() >= sum(2**k - 2 ** (k - 2) for _ in pairs)


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


@pytest.mark.parametrize(
    ("table", "message"),
    [(np.zeros((9, 1)), "9, 1"), (np.zeros((9, 11)), "9, 11"), (np.zeros((0, 3)), "0, 3"), (np.full((9, 3), np.nan), "nan in row 0")],
)
def test_what_is_no_small_table(table, message):
    for function in (estimate_fci_kci, kci_p_values):
        with pytest.raises(DataError, match=message):
            function(table)


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


@pytest.mark.parametrize("k", [2, 3, 7, 10])
@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_of_other_widths_have_answers(kind, k):
    table = degenerate_tables()[kind]
    table = np.hstack([table, np.roll(table, 1, axis=0)])[:, :k] if k > 5 else table[:, 5 - k :]
    for kernel in ("polynomial", "gaussian") if k < 4 else ("polynomial",):
        p_values, marks = kci_p_values(table, kernel=kernel), estimate_fci_kci(table, kernel=kernel)
        assert p_values.shape == (k * (k - 1) // 2, 1 << k)
        assert ((p_values >= 0) & (p_values <= 1)).all()
        assert marks.shape == (k, k)
        np.testing.assert_array_equal(marks == NO_EDGE, (marks == NO_EDGE).T)
        if kind in ("one row", "zeros"):
            assert not marks.any()
        if kind == "all the same":  # of three copies one determines the others; two have no third
            np.testing.assert_array_equal(np.argwhere(marks), [[k - 2, k - 1], [k - 1, k - 2]] if k in (2, 7) else np.empty((0, 2)))
