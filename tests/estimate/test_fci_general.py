"""FCI for any number of variables against the kernel for five and against causal-learn 0.1.3.7."""

import importlib.metadata

import numpy as np
import pytest
from references import FirstComeSet, random_answers, random_table, reference_fci
from test_independence import degenerate_tables

from seacausal.estimate.fci import estimate_fci, fci
from seacausal.estimate.fci_general import BY_NAME, fci_general, fci_general_each
from seacausal.estimate.partial_correlation import PAIRS, fisher_thresholds
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


class LastComeSet(FirstComeSet):
    """A set that hands out its members in the opposite order."""

    def __iter__(self):
        return reversed(list(super().__iter__()))


def marks_from(accepted: np.ndarray) -> np.ndarray:
    marks = np.empty(accepted.shape[:2], np.int8)
    fci_general(accepted, marks)
    return marks


def test_the_reference_is_the_release_of_the_papers_authors():
    assert importlib.metadata.version("causal-learn") == "0.1.3.7"


def test_equals_the_kernel_for_five():
    generator = np.random.default_rng(0)
    for _ in range(1000):
        accepted = random_answers(generator, 5)
        bits = np.array([sum(1 << s for s in range(32) if accepted[i, j, s]) for i, j in PAIRS], np.uint32)
        marks = np.empty((5, 5), np.int8)
        fci(bits, marks)
        np.testing.assert_array_equal(marks_from(accepted), marks)


@pytest.mark.parametrize(("k", "count"), [(2, 10), (3, 20), (4, 40), (5, 40), (6, 30), (7, 20), (8, 10), (10, 3)])
def test_equals_causal_learn_on_data(k, count):
    for seed in range(count):
        table = random_table(seed, k)
        np.testing.assert_array_equal(estimate_fci(table), reference_fci(table=table), err_msg=str(seed))


@pytest.mark.parametrize(("k", "count"), [(3, 50), (4, 100), (5, 50), (6, 200), (7, 150), (8, 60), (10, 10)])
def test_equals_causal_learn_on_answers_that_fit_no_graph(k, count):
    generator = np.random.default_rng(k)
    for _ in range(count):
        accepted = random_answers(generator, k)
        np.testing.assert_array_equal(marks_from(accepted), reference_fci(accepted=accepted))


def test_causal_learn_depends_on_the_order_of_its_sets():
    """The one difference: with sets that hand out their members in another order, as Python's do, a few of its answers change."""
    generator = np.random.default_rng(6)
    cases = [random_answers(generator, 6) for _ in range(600)]
    different = [n for n, accepted in enumerate(cases) if (reference_fci(accepted=accepted, sets=LastComeSet) != marks_from(accepted)).any()]
    assert 0 < len(different) < 12


@pytest.mark.parametrize(("share", "same"), [(1e-3, True), (1e-7, False)])
def test_causal_learn_conditions_on_what_is_determined(share, same):
    """The other difference: 1 is 0 up to a share of noise that 2 depends on. Below `PIVOT` of its variance that noise is called rounding here."""
    x, noise, own = np.random.default_rng(0).standard_normal((3, 500))
    table = np.column_stack([x, x + share * noise, x + noise + own])
    assert reference_fci(table=table)[1, 2] != NO_EDGE
    assert (estimate_fci(table)[1, 2] != NO_EDGE) == same


def test_candidates_are_in_the_order_of_their_names():
    assert BY_NAME.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 9, 0]


@pytest.mark.parametrize("rules", ["paper", "full", "complete"])
@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize("kind", degenerate_tables(3))
def test_degenerate_tables_have_a_graph(kind, k, rules):
    marks = estimate_fci(degenerate_tables(k)[kind], rules=rules)
    assert marks.dtype == np.int8
    assert np.isin(marks, (NO_EDGE, TAIL, ARROW, CIRCLE)).all()
    np.testing.assert_array_equal(marks == NO_EDGE, (marks == NO_EDGE).T)
    if kind in ("all constant", "one row", "two rows"):
        assert (marks == NO_EDGE).all()
    if kind == "constant":
        assert (marks[0] == NO_EDGE).all()


def test_a_loop_over_subsets_is_its_subsets_one_by_one():
    tables = [random_table(seed, 6)[: 500 - 3 * seed] for seed in range(40)]
    covariances, rows = np.stack([np.cov(table.T) for table in tables]), np.array([len(table) for table in tables])
    marks = np.empty((40, 6, 6), np.int8)
    fci_general_each(covariances, rows, np.array([fisher_thresholds(n, sizes=5) for n in range(501)]), marks)
    np.testing.assert_array_equal(marks, [estimate_fci(table) for table in tables])
