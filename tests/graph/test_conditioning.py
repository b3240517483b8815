"""Probabilities given what is known, against Bayes' rule for each pair by itself."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.graph.decoding import decode_dag
from seacausal.graph.knowledge import Knowledge
from seacausal.graph.metrics import follow_paths, is_acyclic


@st.composite
def cases(draw):
    """Probabilities, some of them certain, and knowledge: required edges that follow an order, and what else is forbidden."""
    d = draw(st.integers(2, 8))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    three = generator.dirichlet([0.5, 0.5, 0.5], size=(d, d))
    three[generator.random((d, d)) < 0.2] = [1, 0, 0]
    direct = np.triu(three[..., 0], 1) + np.triu(three[..., 1], 1).T
    order = generator.permutation(d)
    required = np.triu(generator.random((d, d)) < draw(st.sampled_from([0.0, 0.1, 0.5])), 1)[np.ix_(order, order)]
    forbidden = (generator.random((d, d)) < draw(st.sampled_from([0.0, 0.3]))) & ~required | follow_paths(required).T
    return direct, Knowledge(required, forbidden, {})


@settings(max_examples=200, deadline=None)
@given(case=cases())
def test_each_pair_by_bayes_rule(case):
    direct, known = case
    found = known.condition(direct)
    for i in range(len(direct)):
        for j in range(len(direct)):
            there, back, none = direct[i, j], direct[j, i], max(1 - direct[i, j] - direct[j, i], 0)
            if known.required[i, j]:
                assert found[i, j] == 1
            elif known.forbidden[i, j] or i == j:
                assert found[i, j] == 0
            else:
                left = there + none + (0 if known.forbidden[j, i] else back)
                assert abs(found[i, j] - (there / left if left else 0)) < 1e-6
    assert (found + found.T <= 1 + 1e-12).all()


@settings(max_examples=200, deadline=None)
@given(case=cases())
def test_decoded_graphs_hold_what_is_required_and_nothing_forbidden(case):
    direct, known = case
    found = decode_dag(known.condition(direct))
    assert is_acyclic(found)
    assert found[known.required].all()
    assert not found[known.forbidden].any()


def test_nothing_known_changes_nothing():
    direct = np.array([[0.0, 0.3, 1.0], [0.5, 0.0, 0.2], [0.0, 0.1, 0.0]])
    none = np.zeros((3, 3), bool)
    np.testing.assert_array_equal(Knowledge(none, none, {}).condition(direct), direct)


def test_ancestors_of_chains_and_cycles():
    chain = np.eye(4, k=1, dtype=bool)
    np.testing.assert_array_equal(follow_paths(chain), np.triu(np.ones((4, 4), bool), 1))
    chain[2, 0] = True
    np.testing.assert_array_equal(follow_paths(chain).diagonal(), [True, True, True, False])
