"""DirectLiNGAM against the `lingam` package, and against the method's formulas written with numpy and scikit-learn."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LassoLarsIC, LinearRegression

from seacausal.estimate.lingam import adaptive_lasso, causal_order, estimate_lingam, lingam_each
from seacausal.estimate.statistics import standardise
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL

SIZES = [2, 3, 5, 8, 10]
NOISES = ("uniform", "laplace", "standard_normal", "standard_t")


def random_table(seed: int, k: int) -> np.ndarray:
    """(40 to 500, k) rows in raw units, sparse or dense, with noise that is Gaussian or not; linear but for each third."""
    generator = np.random.default_rng([k, seed])
    n = (500, 100, 40)[seed % 5 % 3]
    weights = np.triu(generator.random((k, k)) < (0.3, 0.6, 0.9)[seed // 3 % 3], 1) * generator.uniform(0.2, 1.5, (k, k))
    weights *= generator.choice([-1, 1], (k, k))
    kind = NOISES[seed % 4]
    noise = generator.standard_t(4, (n, k)) if kind == "standard_t" else getattr(generator, kind)(size=(n, k))
    table = np.zeros((n, k))
    for v in range(k):
        inputs = table @ weights[:, v]
        table[:, v] = (inputs if seed % 3 else np.tanh(inputs) + 0.3 * np.minimum(inputs**2, 9)) + noise[:, v]
    return (table * 10.0 ** generator.uniform(-2, 2, k) + generator.uniform(-5, 5, k))[:, generator.permutation(k)]


def entropy(u: np.ndarray) -> float:
    return -79.047 * (np.log(np.cosh(u)).mean() - 0.37457) ** 2 - 7.4129 * (u * np.exp(-(u**2) / 2)).mean() ** 2


def order_by_formula(table: np.ndarray) -> list[int]:
    """The order as Shimizu et al. (2011) and Hyvarinen and Smith (2013) define it, one pair at a time."""
    rows, left, order = table.copy(), list(range(table.shape[1])), []
    while left:
        against = []
        for i in left:
            total = 0.0
            for j in left:
                if i != j:
                    x, y = (rows[:, [i, j]] - rows[:, [i, j]].mean(0)).T / rows[:, [i, j]].std(0)[:, None]
                    x_left, y_left = x - (x @ y / len(x)) * y, y - (x @ y / len(x)) * x
                    ratio = entropy(y) + entropy(x_left / x_left.std()) - entropy(x) - entropy(y_left / y_left.std())
                    total += min(0.0, ratio) ** 2
            against.append(total)
        first = left.pop(int(np.argmin(against)))
        order.append(first)
        for v in left:
            rows[:, v] -= np.cov(rows[:, v], rows[:, first], bias=True)[0, 1] / rows[:, first].var() * rows[:, first]
    return order


def edges_by_scikit_learn(table: np.ndarray, order: list[int]) -> np.ndarray:
    """(k, k) bool, `[i, j]` is i -> j: the adaptive lasso by LassoLarsIC for each variable."""
    z = (table - table.mean(0)) / table.std(0)
    edges = np.zeros((len(order),) * 2, bool)
    for place, target in enumerate(order[1:], 1):
        before = order[:place]
        weights = np.abs(LinearRegression().fit(z[:, before], z[:, target]).coef_)
        edges[before, target] = LassoLarsIC(criterion="bic").fit(z[:, before] * weights, z[:, target]).coef_ != 0
    return edges


def arrows(marks: np.ndarray) -> np.ndarray:
    """(k, k) bool, `[i, j]` is i -> j; checks that the marks are those of a DAG."""
    directed = marks == ARROW
    np.testing.assert_array_equal(marks, np.where(directed, ARROW, np.where(directed.T, TAIL, NO_EDGE)))
    assert not np.linalg.matrix_power(directed.astype(int), len(marks)).any()
    return directed


@pytest.mark.parametrize("k", SIZES)
def test_equals_the_formulas(k):
    for seed in range(60 if k < 8 else 12):
        table = random_table(seed, k)
        order = order_by_formula(table)
        assert causal_order(table).tolist() == order, seed
        np.testing.assert_array_equal(arrows(estimate_lingam(table)), edges_by_scikit_learn(table, order), err_msg=str(seed))


@pytest.mark.parametrize("k", SIZES)
def test_equals_the_lingam_package(k):
    """Where it is installed: it asks for an older scipy than other tests do, yet runs without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lingam = pytest.importorskip("lingam")
    for seed in range(60 if k < 8 else 12):
        table = random_table(seed, k)
        reference = lingam.DirectLiNGAM().fit(table)
        assert causal_order(table).tolist() == list(reference.causal_order_), seed
        np.testing.assert_array_equal(arrows(estimate_lingam(table)), reference.adjacency_matrix_.T != 0, err_msg=str(seed))


def test_a_coefficient_may_return_to_zero_on_the_way():
    """Weights from least squares hardly let it; with weights of 1 some paths have more corners than candidates."""
    generator = np.random.default_rng(0)
    dropping = chosen = 0
    for _ in range(300):
        table = generator.standard_normal((60, 6)) @ generator.standard_normal((6, 6))
        table[:, 5] += 6 * generator.standard_normal(60)
        z = (table - table.mean(0)) / table.std(0)
        noise = ((z[:, 5] - LinearRegression().fit(z[:, :5], z[:, 5]).predict(z[:, :5])) ** 2).sum() / (60 - 6)
        reference = LassoLarsIC(criterion="bic").fit(z[:, :5], z[:, 5])
        kept = adaptive_lasso(z.T @ z / 60, np.arange(5), 5, np.ones(5), noise, 60)
        # What returns to 0 is 0 up to rounding in scikit-learn, and counts as such in its BIC.
        assert [kept >> p & 1 for p in range(5)] == (np.abs(reference.coef_) > 1e-12).tolist()
        dropping += len(reference.alphas_) > 6
        chosen += kept != 31
    assert dropping > 20
    assert chosen > 20


@pytest.mark.parametrize("noise", ["uniform", "laplace"])
def test_recovers_a_linear_graph_with_noise_that_is_not_gaussian(noise):
    right = total = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        truth = np.triu(generator.random((5, 5)) < 0.5, 1)
        table = np.zeros((5000, 5))
        for v in range(5):
            table[:, v] = table @ truth[:, v].astype(float) + getattr(generator, noise)(size=5000)
        order = generator.permutation(5)
        right += (arrows(estimate_lingam(table[:, order])) == truth[np.ix_(order, order)]).sum()
        total += 25
    assert right > 0.97 * total


def test_permuting_columns_permutes_the_graph():
    generator = np.random.default_rng(1)
    for seed in range(50):
        table, order = random_table(seed, 5), generator.permutation(5)
        np.testing.assert_array_equal(estimate_lingam(table[:, order]), estimate_lingam(table)[np.ix_(order, order)])


def test_shift_and_scale_are_irrelevant():
    for seed in range(20):
        table = random_table(seed, 5)
        np.testing.assert_array_equal(estimate_lingam(table * [3, 1e-6, 700, -0.1, 1e160] + [0, 1, -1e3, 2, 0]), estimate_lingam(table))


def test_a_batch_is_its_subsets_one_by_one():
    tables = [random_table(5 * seed, 5) for seed in range(20)]
    batch = lingam_each(np.stack([standardise(table)[0] for table in tables]))
    assert batch.dtype == np.int8
    np.testing.assert_array_equal(batch, [estimate_lingam(table) for table in tables])
    assert lingam_each(np.zeros((0, 500, 5))).shape == (0, 5, 5)


def degenerate_tables() -> dict[str, np.ndarray]:
    plain = np.random.default_rng(2).standard_normal((60, 6))
    return {
        "constant": np.column_stack([plain[:, :3], np.full(60, 0.1)]),
        "duplicated": np.column_stack([plain[:, :3], plain[:, 0], -2 * plain[:, 1] + 3]),
        "dependent": np.column_stack([plain, plain.sum(1)]),
        "all the same": np.tile(plain[:, :1], (1, 5)),
        "fewer rows than columns": plain[:4],
        "two rows": plain[:2],
        "one row": plain[:1],
        "binary": (plain > 0).astype(float),
        "zeros": np.zeros((10, 3)),
        "one column": plain[:, :1],
        "huge": plain * 1e200,
        "tiny": plain * 1e-200,
    }


@pytest.mark.parametrize("kind", degenerate_tables())
def test_degenerate_tables_have_a_graph(kind):
    table = degenerate_tables()[kind]
    directed = arrows(estimate_lingam(table))
    assert sorted(causal_order(table)) == list(range(table.shape[1]))
    if kind in ("constant", "one row", "zeros"):
        assert not directed[-1].any()
        assert not directed[:, -1].any()
    if kind == "duplicated":
        assert [np.flatnonzero(directed[:, v]).tolist() for v in (3, 4)] == [[0], [1]]
    if kind == "all the same":
        assert [(i, j) for i, j in itertools.product(range(5), repeat=2) if directed[i, j]] == [(0, v) for v in range(1, 5)]


def test_a_column_may_be_constant_in_the_rows_of_a_subset_alone():
    rows = standardise(random_table(0, 5))[0]
    rows[:100, 2] = 0.1
    marks = lingam_each(rows[None, :100])[0]
    assert not marks[2].any()
    assert not marks[:, 2].any()
