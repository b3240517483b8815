import itertools

import numpy as np
import pytest

from seacausal.aggregate.vote import vote
from seacausal.errors import DataError
from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

READ = {  # marks at i and at j: votes for i -> j and for j -> i
    (NO_EDGE, NO_EDGE): (0, 0),
    (TAIL, ARROW): (1, 0),
    (CIRCLE, ARROW): (1, 0),
    (ARROW, ARROW): (0, 0),
    (CIRCLE, CIRCLE): (0.5, 0.5),
    (TAIL, TAIL): (0.5, 0.5),
    (CIRCLE, TAIL): (0, 1),
}


def random_estimates(seed: int, d: int, t: int, k: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    variables = np.array([generator.permutation(d)[:k] for _ in range(t)])
    edges = np.triu(generator.random((t, k, k)) < 0.6, 1)
    marks = np.where(edges | edges.swapaxes(1, 2), generator.integers(1, 4, (t, k, k)), 0).astype(np.int8)
    classes = generator.dirichlet((1, 1, 1), (t, k, k))
    direct = np.triu(classes[..., 0], 1) + np.triu(classes[..., 1], 1).swapaxes(1, 2)
    return variables, marks, direct


@pytest.mark.parametrize(("ends", "expected"), READ.items())
def test_every_edge_has_its_reading(ends, expected):
    marks = np.array([[[0, ends[1]], [ends[0], 0]]], np.int8)
    found = vote(np.array([[2, 0]]), 3, marks=marks)
    assert (found[2, 0], found[0, 2]) == expected
    assert found.sum() == sum(expected)


def test_the_mean_over_subsets_and_ballots():
    variables, marks, direct = random_estimates(0, 7, 30)
    read = READ | {(j, i): votes[::-1] for (i, j), votes in READ.items()}
    ballots: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for subset, estimate, posterior in zip(variables, marks, direct):
        for a, b in itertools.permutations(range(5), 2):
            ballots.setdefault((subset[a], subset[b]), []).append((read[estimate[b, a], estimate[a, b]][0], posterior[a, b]))
    for which, options in (([0], {"marks": marks}), ([1], {"direct": direct}), ([0, 1], {"marks": marks, "direct": direct})):
        expected = np.zeros((7, 7))
        for pair, each in ballots.items():
            expected[pair] = np.mean(np.array(each)[:, which])
        np.testing.assert_allclose(vote(variables, 7, **options), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_votes_are_probabilities(seed):
    variables, marks, direct = random_estimates(seed, 12, 9)
    found = vote(variables, 12, marks=marks, direct=direct)
    covered = np.zeros((12, 12), bool)
    for subset in variables:
        covered[np.ix_(subset, subset)] = True
    assert not found[~covered].any()
    assert not found.diagonal().any()
    assert (found >= 0).all()
    assert (found + found.T <= 1 + 1e-12).all()
    order = np.random.default_rng(seed).permutation(12)
    permuted = vote(order[variables], 12, marks=marks, direct=direct)
    np.testing.assert_allclose(permuted[np.ix_(order, order)], found, atol=1e-12)


def test_no_estimates_are_no_edges():
    assert not vote(np.zeros((0, 5), int), 6, marks=np.zeros((0, 5, 5), np.int8), direct=np.zeros((0, 5, 5))).any()
    with pytest.raises(DataError, match="found neither"):
        vote(np.zeros((0, 5), int), 6)
