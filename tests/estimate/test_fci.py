"""FCI against causal-learn 0.1.3.7, and against graphs whose independences are known."""

import importlib.metadata
import itertools

import numpy as np
import pytest
from references import ROWS, ancestors, random_dag, random_table, reference_fci

from seacausal.errors import DataError
from seacausal.estimate.fci import estimate_fci, fci, fci_each
from seacausal.estimate.partial_correlation import PAIRS, SET_SIZE, condition, fisher_thresholds, independence_bits
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

EVERY_SET = np.array([[s for s in range(32) if not s & (1 << i | 1 << j)] for i, j in PAIRS])
"""(10, 8), the sets that each pair can be tested given."""


def table_of(bits: np.ndarray) -> np.ndarray:
    """(5, 5, 32) bool, the answers as causal-learn's stand-in wants them."""
    accepted = np.zeros((5, 5, 32), bool)
    for pair, (i, j) in enumerate(PAIRS):
        accepted[i, j] = accepted[j, i] = int(bits[pair]) >> np.arange(32) & 1
    return accepted


def bits_of(table: np.ndarray) -> np.ndarray:
    conditional, bits = np.empty((32, 5, 5)), np.empty(10, np.uint32)
    condition(np.cov(table.T), conditional)
    independence_bits(conditional, fisher_thresholds(len(table)), bits)
    return bits


def marks_from(bits: np.ndarray) -> np.ndarray:
    marks = np.empty((5, 5), np.int8)
    fci(bits, marks)
    return marks


def random_bits(generator: np.random.Generator) -> np.ndarray:
    """Answers that fit no graph, drawn so that every step of FCI has work: pairs that are never, at once, late or now and then independent."""
    accept = np.array([[0, 0, 0, 0], [0.9, 0.3, 0.3, 0.3], [0, 0, 0.5, 0.5], [0.1, 0.1, 0.1, 0.1]])
    kinds = generator.choice(4, 10, p=[0.3, 0.25, 0.4, 0.05])
    bits = np.zeros(10, np.uint32)
    for pair, kind in enumerate(kinds):
        for given in EVERY_SET[pair]:
            if generator.random() < accept[kind, SET_SIZE[given]]:
                bits[pair] |= np.uint32(1 << given)
    return bits


def separated(adjacency: np.ndarray, i: int, j: int, given: list[int]) -> bool:
    """d-separation, by the moral graph of the ancestors (Lauritzen et al. 1990)."""
    kept = ancestors(adjacency)[:, [i, j, *given]].any(1)
    directed = adjacency & kept[:, None] & kept
    moral = directed | directed.T | (directed @ directed.T)
    moral[given] = moral[:, given] = False
    return not ancestors(moral)[i, j]


def oracle(adjacency: np.ndarray) -> np.ndarray:
    """(10,) uint32, the independences among the first five variables."""
    bits = np.zeros(10, np.uint32)
    for pair, (i, j) in enumerate(PAIRS):
        for given in EVERY_SET[pair].tolist():
            if separated(adjacency, i, j, [v for v in range(5) if given >> v & 1]):
                bits[pair] |= np.uint32(1 << given)
    return bits


def assert_marks_fit(marks: np.ndarray, adjacency: np.ndarray) -> None:
    """An arrow at j says that j causes its neighbour not, a tail that it does, directly or not."""
    causes = ancestors(adjacency)
    for i, j in itertools.permutations(range(5), 2):
        assert (marks[i, j] == NO_EDGE) == (marks[j, i] == NO_EDGE)
        assert marks[i, j] != ARROW or not causes[j, i]
        assert marks[i, j] != TAIL or causes[j, i]


def test_the_reference_is_the_release_of_the_papers_authors():
    assert importlib.metadata.version("causal-learn") == "0.1.3.7"


def test_equals_causal_learn_on_data():
    """On five variables causal-learn cannot raise its KeyError (see `orient_double_triangles`), so none of the 300 is left out."""
    for seed in range(300):
        table = random_table(seed)
        marks = marks_from(bits_of(table))
        assert (marks == reference_fci(table=table, sets=set)).all(), seed


def test_equals_causal_learn_on_answers_that_fit_no_graph():
    generator = np.random.default_rng(0)
    for _ in range(500):
        bits = random_bits(generator)
        assert (marks_from(bits) == reference_fci(accepted=table_of(bits), sets=set)).all(), bits.tolist()


@pytest.mark.parametrize(
    ("bits", "mark"),
    [
        # Filed under both orders, a set that possible-d-sep finds would make a tail at 3 of the edge between 1 and 3.
        pytest.param([1 << 28, 0, 1 << 6 | 1 << 22, 0, 1 << 24, 1 << 21, 0, 1 << 18, 0, 0], (1, 3, CIRCLE), id="filed in one order"),
        # If R4 looked again whether a mark at b is still a circle, there would be a tail at 0 of the edge between 4 and 0.
        pytest.param([0, 1 << 0 | 1 << 18, 0, 0, 1 << 24, 0, 0, 0, 0, 1 << 3], (4, 0, ARROW), id="R4 twice at one variable"),
    ],
)
def test_equals_causal_learn_in_its_peculiarities(bits, mark):
    bits = np.array(bits, np.uint32)
    marks = marks_from(bits)
    i, j, expected = mark
    assert marks[i, j] == expected
    np.testing.assert_array_equal(marks, reference_fci(accepted=table_of(bits), sets=set))


def test_every_dag_of_five_variables_is_recovered():
    """All 1,024 DAGs that agree with one order, their variables shuffled."""
    generator = np.random.default_rng(1)
    for edges in itertools.product([False, True], repeat=10):
        upper = np.zeros((5, 5), bool)
        upper[tuple(np.transpose(PAIRS))] = edges
        order = generator.permutation(5)
        adjacency = upper[np.ix_(order, order)]
        marks = marks_from(oracle(adjacency))
        assert ((marks != NO_EDGE) == (adjacency | adjacency.T)).all()
        assert_marks_fit(marks, adjacency)


def test_every_unshielded_collider_is_found():
    generator = np.random.default_rng(2)
    for _ in range(200):
        adjacency = random_dag(generator, 5, 1.2)
        marks = marks_from(oracle(adjacency))
        for a, b, c in itertools.permutations(range(5), 3):
            if adjacency[a, b] and adjacency[c, b] and not adjacency[a, c] and not adjacency[c, a]:
                assert marks[a, b] == marks[c, b] == ARROW


def test_unmeasured_causes_are_not_mistaken_for_edges():
    """Five of seven variables: marks agree with who causes whom in the whole graph, and pairs that nothing separates are adjacent."""
    generator = np.random.default_rng(3)
    for _ in range(300):
        adjacency = random_dag(generator, 7, 1.5)
        bits = oracle(adjacency)
        marks = marks_from(bits)
        assert_marks_fit(marks, adjacency)
        assert all(marks[i, j] != NO_EDGE for pair, (i, j) in enumerate(PAIRS) if bits[pair] == 0)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], {}),
        ([(0, 1)], {(0, 1): CIRCLE, (1, 0): CIRCLE}),
        ([(0, 2), (1, 2)], {(0, 2): ARROW, (2, 0): CIRCLE, (1, 2): ARROW, (2, 1): CIRCLE}),
        ([(0, 2), (1, 2), (2, 3)], {(0, 2): ARROW, (2, 0): CIRCLE, (1, 2): ARROW, (2, 1): CIRCLE, (2, 3): ARROW, (3, 2): TAIL}),
    ],
)
def test_textbook_graphs(edges, expected):
    adjacency = np.zeros((5, 5), bool)
    for i, j in edges:
        adjacency[i, j] = True
    marks = marks_from(oracle(adjacency))
    assert {(i, j): marks[i, j] for i, j in np.argwhere(marks).tolist()} == expected


def test_a_loop_over_subsets_is_its_subsets_one_by_one():
    """With numbers of rows of their own, and equal to the function for one table."""
    tables = [random_table(seed)[: 500 - 3 * seed] for seed in range(50)]
    covariances = np.stack([np.cov(table.T) for table in tables])
    rows = np.array([len(table) for table in tables])
    marks = np.empty((50, 5, 5), np.int8)
    fci_each(covariances, rows, np.array([fisher_thresholds(n) for n in range(501)]), marks)
    for table, found in zip(tables, marks):
        np.testing.assert_array_equal(found, marks_from(bits_of(table)))
        np.testing.assert_array_equal(found, estimate_fci(table))
    fci_each(covariances[:0], rows[:0], np.ones((501, 4)), marks[:0])


def test_unknown_rules_are_an_error():
    with pytest.raises(DataError, match="'paper', 'full' or 'complete'; found 'all'"):
        estimate_fci(random_table(0), rules="all")


@pytest.mark.parametrize("values", [np.zeros(5), np.ones(5), [1, 1, 0, 1, 0]])
def test_degenerate_tables_have_a_graph(values):
    """Constant and duplicated columns: constant ones have no edge, duplicates one."""
    table = np.random.default_rng(5).standard_normal((ROWS, 1)) * np.asarray(values, float)
    marks = marks_from(bits_of(table))
    used = np.asarray(values, bool)
    assert (marks[~used] == NO_EDGE).all()
    assert (marks[:, ~used] == NO_EDGE).all()
