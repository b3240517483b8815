"""Algorithm 1 with a d-separation oracle, against the CPDAG; and on estimates that contradict each other."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.aggregate.resolve import resolve
from seacausal.graph.equivalence import essential_graph, to_probabilities
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL


def ancestors_of(adjacency: np.ndarray, nodes: set[int]) -> set[int]:
    found = set(nodes)
    while True:
        more = {int(i) for j in found for i in np.flatnonzero(adjacency[:, j])} | found
        if more == found:
            return found
        found = more


def d_separated(adjacency: np.ndarray, i: int, j: int, given: frozenset[int]) -> bool:
    """By the moral graph of the ancestors (Lauritzen et al., 1990): no path from i to j round the given ones."""
    kept = sorted(ancestors_of(adjacency, {i, j} | given))
    inside = np.zeros(len(adjacency), bool)
    inside[kept] = True
    part = adjacency & inside[:, None] & inside
    moral = part | part.T | (part.astype(int) @ part.T.astype(int) > 0)
    reached, new = {i}, {i}
    while new:
        new = {int(b) for a in new for b in np.flatnonzero(moral[a])} - reached - given
        reached |= new
    return j not in reached


class Oracle:
    """Exact estimates on the margins of a DAG, which is all that the theorem asks of an estimate: adjacencies and unshielded colliders."""

    def __init__(self, adjacency: np.ndarray) -> None:
        self.adjacency, self.known = adjacency, {}

    def independent(self, i: int, j: int, given: frozenset[int]) -> bool:
        key = (min(i, j), max(i, j), given)
        if key not in self.known:
            self.known[key] = d_separated(self.adjacency, i, j, given)
        return self.known[key]

    def separating(self, subset: tuple[int, ...], i: int, j: int) -> list[frozenset[int]]:
        others = [v for v in subset if v not in (i, j)]
        sets = [frozenset(chosen) for size in range(len(others) + 1) for chosen in itertools.combinations(others, size)]
        return [given for given in sets if self.independent(i, j, given)]

    def marks(self, subset: tuple[int, ...]) -> np.ndarray:
        """(k, k): circles, and arrows at unshielded colliders."""
        k = len(subset)
        apart = {(a, b): self.separating(subset, subset[a], subset[b]) for a, b in itertools.combinations(range(k), 2)}
        marks = np.zeros((k, k), np.int8)
        for (a, b), sets in apart.items():
            marks[a, b] = marks[b, a] = NO_EDGE if sets else CIRCLE
        for (a, c), sets in apart.items():
            for b in range(k):
                if sets and marks[a, b] and marks[c, b] and not any(subset[b] in given for given in sets):
                    marks[a, b] = marks[c, b] = ARROW
        return marks


def all_estimates(oracle: Oracle, d: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    subsets = list(itertools.combinations(range(d), size))
    return np.array(subsets), np.array([oracle.marks(subset) for subset in subsets])


def random_dag(seed: int, d: int, density: float) -> np.ndarray:
    generator = np.random.default_rng(seed)
    order = generator.permutation(d)
    return np.triu(generator.random((d, d)) < density, 1)[np.ix_(order, order)]


def needed_size(adjacency: np.ndarray) -> int:
    return min(len(adjacency), int((adjacency | adjacency.T).sum(0).max()) + 2)


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32), d=st.integers(2, 7), density=st.floats(0.1, 0.8))
def test_an_oracle_gives_the_cpdag(seed, d, density):
    adjacency = random_dag(seed, d, density)
    variables, marks = all_estimates(Oracle(adjacency), d, needed_size(adjacency))
    np.testing.assert_array_equal(resolve(variables, d, marks), essential_graph(adjacency))


def test_smaller_subsets_do_not_suffice():
    """Two causes of two effects: one cause is not enough to separate the effects, so that the size in the theorem is needed."""
    adjacency = np.zeros((4, 4), bool)
    adjacency[:2, 2:] = True
    oracle = Oracle(adjacency)
    assert needed_size(adjacency) == 4
    np.testing.assert_array_equal(resolve(np.array([[0, 1, 2, 3]]), 4, oracle.marks((0, 1, 2, 3))[None]), essential_graph(adjacency))
    assert resolve(*all_estimates_in_order(oracle, 4, 3))[2, 3] == TAIL


def all_estimates_in_order(oracle: Oracle, d: int, size: int) -> tuple[np.ndarray, int, np.ndarray]:
    variables, marks = all_estimates(oracle, d, size)
    return variables, d, marks


def test_the_papers_example():
    """The Y structure, X -> Z <- Y and Z -> W, from all triples: two show the collider, none shows that Z -> W."""
    adjacency = np.zeros((4, 4), bool)
    adjacency[0, 2] = adjacency[1, 2] = adjacency[2, 3] = True
    expected = np.array([[0, 0, 2, 0], [0, 0, 2, 0], [1, 1, 0, 2], [0, 0, 1, 0]])
    np.testing.assert_array_equal(resolve(*all_estimates_in_order(Oracle(adjacency), 4, 3)), expected)


def test_marks_of_other_formats_are_the_same_to_it():
    """A CPDAG or a DAG as estimate: only adjacencies and unshielded colliders are read."""
    for seed in range(30):
        adjacency = random_dag(seed, 6, 0.4)
        whole = np.arange(6)[None]
        cpdag = essential_graph(adjacency)
        dag = np.where(adjacency, ARROW, np.where(adjacency.T, TAIL, NO_EDGE)).astype(np.int8)
        np.testing.assert_array_equal(resolve(whole, 6, cpdag[None]), cpdag)
        np.testing.assert_array_equal(resolve(whole, 6, dag[None]), cpdag)


@st.composite
def contradictory(draw):
    """Estimates from no graph: any marks, so long as an edge has both or none."""
    seed, d, k, t = draw(st.tuples(st.integers(0, 2**32), st.integers(2, 9), st.integers(2, 5), st.integers(0, 40)))
    k = min(k, d)
    generator = np.random.default_rng(seed)
    variables = np.array([generator.permutation(d)[:k] for _ in range(t)]).reshape(t, k)
    edges = np.triu(generator.random((t, k, k)) < draw(st.floats(0, 1)), 1)
    marks = np.where(edges | edges.swapaxes(1, 2), generator.integers(1, 4, (t, k, k)), 0).astype(np.int8)
    return variables, d, marks


@settings(max_examples=200, deadline=None)
@given(contradictory(), st.randoms(use_true_random=False))
def test_contradictions_are_resolved(estimates, random):
    variables, d, marks = estimates
    found = resolve(variables, d, marks)
    allowed = {(NO_EDGE, NO_EDGE), (TAIL, TAIL), (TAIL, ARROW), (ARROW, TAIL)}
    assert {(int(found[j, i]), int(found[i, j])) for i, j in itertools.combinations(range(d), 2)} <= allowed
    assert not found.diagonal().any()
    joined = np.zeros((d, d), bool)
    for subset, estimate in zip(variables, marks):
        joined[np.ix_(subset, subset)] |= True
    for subset, estimate in zip(variables, marks):
        joined[np.ix_(subset, subset)] &= estimate != NO_EDGE
    np.testing.assert_array_equal(found != NO_EDGE, joined)
    order = list(range(len(variables)))
    random.shuffle(order)
    np.testing.assert_array_equal(resolve(variables[order], d, marks[order]), found)
    direct = to_probabilities(found)
    np.testing.assert_array_equal(direct + direct.T, found != NO_EDGE)
    np.testing.assert_array_equal(direct == 1, found == ARROW)


def collider(center: int) -> np.ndarray:
    """Three variables, all but one joined to it with arrows there."""
    marks = np.zeros((3, 3), np.int8)
    for end in range(3):
        if end != center:
            marks[end, center], marks[center, end] = ARROW, CIRCLE
    return marks


def test_the_direction_with_more_claims_wins():
    """1 -> 0 is claimed with 2, and 0 -> 1 with 3, each by one estimate: level. One more decides."""
    variables = [[1, 0, 2], [0, 1, 3]]
    found = resolve(np.array(variables), 4, np.array([collider(1), collider(1)]))
    assert (found[0, 1], found[1, 0]) == (TAIL, TAIL)
    assert (found[2, 0], found[3, 1]) == (ARROW, ARROW)
    found = resolve(np.array([*variables, [3, 1, 0]]), 4, np.array([collider(1)] * 3))
    assert (found[0, 1], found[1, 0]) == (ARROW, TAIL)


def test_an_arm_that_another_estimate_cuts_claims_nothing():
    variables = np.array([[0, 1, 2], [1, 2, 3]])
    found = resolve(variables, 4, np.array([collider(1), np.zeros((3, 3))], np.int8))
    assert (found[0, 1], found[1, 0]) == (TAIL, TAIL)
    assert found[1, 2] == NO_EDGE


def test_pairs_never_seen_together_have_no_edge_and_prove_nothing():
    """0 -> 1 <- 2 and 1 --- 3, but nobody saw 0 or 2 with 3: that 1 -> 3 would need them to be apart."""
    line = np.array([[0, CIRCLE], [CIRCLE, 0]], np.int8)
    marks = np.zeros((2, 3, 3), np.int8)
    marks[0], marks[1, :2, :2] = collider(1), line
    unseen = resolve(np.array([[0, 1, 2], [1, 3, 4]]), 5, marks)
    assert unseen[0, 3] == unseen[2, 3] == NO_EDGE
    assert (unseen[1, 3], unseen[3, 1]) == (TAIL, TAIL)
    seen = resolve(np.array([[0, 1, 2], [1, 3, 0]]), 5, marks)
    assert (seen[1, 3], seen[3, 1]) == (TAIL, TAIL)  # the second estimate cuts 0 --- 1, too
    marks[1, 0, 2] = marks[1, 2, 0] = CIRCLE
    seen = resolve(np.array([[0, 1, 2], [1, 3, 0]]), 5, marks)
    assert (seen[1, 3], seen[3, 1]) == (ARROW, TAIL)


def test_no_estimates_are_an_empty_graph():
    assert not resolve(np.zeros((0, 5), int), 6, np.zeros((0, 5, 5), np.int8)).any()


def test_columns_may_be_permuted():
    for seed in range(20):
        adjacency = random_dag(seed, 7, 0.3)
        variables, marks = all_estimates(Oracle(adjacency), 7, min(7, needed_size(adjacency)))
        order = np.random.default_rng(seed).permutation(7)
        permuted = resolve(order[variables], 7, marks)
        np.testing.assert_array_equal(permuted[np.ix_(order, order)], resolve(variables, 7, marks))


@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
def test_many_variables_take_no_second(density):
    generator = np.random.default_rng(0)
    variables = np.array([generator.permutation(200)[:5] for _ in range(10_000)])
    edges = np.triu(generator.random((200, 200)) < density, 1)
    edges |= edges.T
    drawn = generator.integers(1, 4, (200, 200))
    marks = np.where(edges, drawn, 0)[variables[:, :, None], variables[:, None, :]].astype(np.int8)
    resolve(variables[:2], 200, marks[:2])
    started = time.perf_counter()
    resolve(variables, 200, marks)
    assert time.perf_counter() - started < 1  # measured: 0.002 to 0.08
