"""The adjacency search against a plain one over combinations."""

import itertools

import numpy as np
import pytest
from references import random_answers

from seacausal.estimate.skeleton import NO_SET, search_skeleton
from seacausal.graph.marks import CIRCLE


def plain_search(accepted: np.ndarray) -> tuple[np.ndarray, dict[tuple[int, int], set[int]]]:
    k = len(accepted)
    joined, separating = ~np.eye(k, dtype=bool), {}
    for size in range(k - 1):
        frozen = joined.copy()
        for i, j in itertools.permutations(range(k), 2):
            if frozen[i, j]:
                for given in itertools.combinations([v for v in np.flatnonzero(frozen[i]).tolist() if v != j], size):
                    if accepted[i, j, sum(1 << v for v in given)]:
                        joined[i, j] = joined[j, i] = False
                        separating.setdefault((min(i, j), max(i, j)), set()).update(given)
    return joined, separating


@pytest.mark.parametrize("k", range(2, 9))
def test_equals_a_plain_search(k):
    generator = np.random.default_rng(k)
    for _ in range(30):
        accepted = random_answers(generator, k)
        marks, found = np.full((k, k), -1, np.int8), np.full((k, k), -7)
        search_skeleton(accepted, marks, found)
        joined, separating = plain_search(accepted)
        np.testing.assert_array_equal(marks, joined * CIRCLE)
        for i, j in itertools.combinations(range(k), 2):
            expected = NO_SET if joined[i, j] else sum(1 << v for v in separating[i, j])
            assert found[i, j] == found[j, i] == expected
