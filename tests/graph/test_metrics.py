"""Metrics against scikit-learn and against cases counted by hand."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from seacausal.graph.equivalence import essential_graph
from seacausal.graph.marks import ARROW, TAIL
from seacausal.graph.metrics import (
    is_acyclic,
    ordered_pairs,
    score_auc,
    score_average_precision,
    score_calibration,
    score_log_loss,
    score_mark_distance,
    score_orientation,
    score_shd,
)

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
"""0 -> 1 -> 2."""


def certain(*edges: tuple[int, int], d: int = 3) -> np.ndarray:
    direct = np.zeros((d, d))
    for i, j in edges:
        direct[i, j] = 1.0
    return direct


@st.composite
def truths_and_scores(draw):
    """Scores with few, some or no ties; the diagonal holds what must not count."""
    d = draw(st.integers(2, 9))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    truth = generator.random((d, d)) < draw(st.floats(0, 1))
    scores = generator.random((d, d))
    levels = draw(st.sampled_from([1, 2, 5, 20, None]))
    scores = scores if levels is None else np.floor(scores * levels) / levels
    np.fill_diagonal(scores, 2)
    return truth, scores


def test_ordered_pairs_leave_the_diagonal_out():
    assert ordered_pairs(np.arange(9).reshape(3, 3)).tolist() == [1, 2, 3, 5, 6, 7]


@settings(max_examples=300, deadline=None)
@given(drawn=truths_and_scores())
def test_average_precision_is_scikit_learns(drawn):
    truth, scores = drawn
    flat = ~np.eye(len(truth), dtype=bool)
    assume(truth[flat].any())
    assert score_average_precision(truth, scores) == pytest.approx(average_precision_score(truth[flat], scores[flat]), abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(drawn=truths_and_scores())
def test_auc_is_scikit_learns(drawn):
    truth, scores = drawn
    flat = ~np.eye(len(truth), dtype=bool)
    assume(truth[flat].any() and not truth[flat].all())
    assert score_auc(truth, scores) == pytest.approx(roc_auc_score(truth[flat], scores[flat]), abs=1e-12)


def test_ranking_by_hand():
    """Six pairs: the edges are first and third, the last three tie."""
    scores = np.array([[0, 0.9, 0.8], [0.1, 0, 0.7], [0.1, 0.1, 0]])
    assert score_average_precision(CHAIN, scores) == pytest.approx((1 + 2 / 3) / 2)
    assert score_auc(CHAIN, scores) == pytest.approx(7 / 8)
    assert score_average_precision(CHAIN, CHAIN.astype(float)) == score_auc(CHAIN, CHAIN.astype(float)) == 1
    assert score_average_precision(CHAIN, np.ones((3, 3))) == pytest.approx(2 / 6)
    assert score_auc(CHAIN, np.ones((3, 3))) == 0.5


def test_without_edges_or_non_edges_there_is_no_score():
    nothing, full, scores = np.zeros((3, 3), bool), np.ones((3, 3), bool), np.random.default_rng(0).random((3, 3))
    assert np.isnan(score_average_precision(nothing, scores))
    assert np.isnan(score_auc(nothing, scores))
    assert np.isnan(score_auc(full, scores))
    assert np.isnan(score_orientation(nothing, scores))


@pytest.mark.parametrize(
    ("edges", "distance"),
    [
        ([(0, 1), (1, 2)], 0),
        ([(0, 1)], 1),  # missing
        ([(0, 1), (1, 2), (0, 2)], 1),  # added
        ([(1, 0), (1, 2)], 1),  # reversed
        ([(1, 0), (2, 1)], 2),
        ([(0, 1), (1, 0), (1, 2)], 1),  # both directions of an edge
        ([(0, 1), (1, 2), (0, 2), (2, 0)], 1),  # both directions where there is none
        ([], 2),
        ([(1, 0), (0, 2)], 3),  # reversed, added, missing
    ],
)
def test_structural_hamming_distance(edges, distance):
    assert score_shd(CHAIN, certain(*edges)) == distance
    assert score_shd(CHAIN.astype(int), certain(*edges)) == distance


def test_structural_hamming_distance_follows_the_threshold():
    direct = 0.5 * certain((0, 1)) + 0.8 * certain((1, 2)) + 0.3 * certain((0, 2))
    np.fill_diagonal(direct, 1)
    assert score_shd(CHAIN, direct) == 1  # 0.5 does not exceed 0.5
    assert score_shd(CHAIN, direct, 0.4) == 0
    assert score_shd(CHAIN, direct, 0.2) == 1
    assert score_shd(CHAIN, direct, 0.9) == 2


def edge_names(marks: np.ndarray) -> dict[frozenset[int], str]:
    """The edges spelled out, one for each pair that has one."""
    found = {}
    for i in range(len(marks)):
        for j in range(i):
            if (marks[i, j], marks[j, i]) != (0, 0):
                found[frozenset((i, j))] = {(ARROW, TAIL): f"{i} to {j}", (TAIL, ARROW): f"{j} to {i}", (TAIL, TAIL): "line"}[
                    marks[i, j], marks[j, i]
                ]
    return found


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), d=st.integers(2, 7), density=st.floats(0, 1))
def test_distance_between_cpdags_counts_the_edges_spelled_otherwise(seed, d, density):
    generator = np.random.default_rng(seed)
    first, second = (essential_graph(np.triu(generator.random((d, d)) < density, 1)[np.ix_(p, p)]) for p in (generator.permutation(d), np.arange(d)))
    one, other = edge_names(first), edge_names(second)
    expected = sum(one.get(pair) != other.get(pair) for pair in one.keys() | other.keys())
    assert score_mark_distance(first, second) == score_mark_distance(second, first) == expected
    assert score_mark_distance(first, first) == 0


def test_distance_between_cpdags_by_hand():
    """0 -> 1 -> 2 is of the class 0 --- 1 --- 2, the collider 0 -> 1 <- 2 alone in its own."""
    chain, collider = essential_graph(CHAIN), essential_graph(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], bool))
    assert score_mark_distance(chain, essential_graph(CHAIN.T)) == 0
    assert score_mark_distance(chain, collider) == 2
    assert score_mark_distance(chain, essential_graph(np.zeros((3, 3), bool))) == 2
    assert score_mark_distance(collider, essential_graph(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool))) == 3


@pytest.mark.parametrize(
    ("forward", "backward", "share"),
    [((0.9, 0.9), (0, 0), 1), ((0.3, 0.1), (0.2, 0.2), 0.5), ((0.1, 0.1), (0.2, 0.2), 0), ((0.4, 0.4), (0.4, 0.3), 0.5)],
)
def test_orientation(forward, backward, share):
    """Probabilities of 0 -> 1 and 1 -> 2, then of the reverse; a tie is not an orientation, and pairs without an edge do not count."""
    direct = np.zeros((3, 3))
    direct[[0, 1], [1, 2]] = forward
    direct[[1, 2], [0, 1]] = backward
    direct[2, 0] = 1.0
    assert score_orientation(CHAIN, direct) == share


def test_calibration_by_hand():
    """Bin 0 has two pairs at 0; bin 2 three pairs that add up to 0.79, one of them an edge; bin 9 an edge at 0.95."""
    direct = np.array([[0.5, 0.25, 0.0], [0.25, 0.5, 0.95], [0.0, 0.29, 0.5]])
    assert score_calibration(CHAIN, direct) == pytest.approx((abs(1 - 0.79) + abs(1 - 0.95)) / 6)
    assert score_calibration(CHAIN, direct, bins=1) == pytest.approx(abs(2 - 1.74) / 6)


def test_calibration_extremes():
    """1 belongs to the last bin."""
    assert score_calibration(CHAIN, CHAIN.astype(float)) == 0
    assert score_calibration(CHAIN, 1.0 - CHAIN) == 1
    assert score_calibration(CHAIN, np.full((3, 3), 1 / 3)) == pytest.approx(0, abs=1e-15)
    # An edge at 0.95 and a non-edge at 1 in one bin: what one has too little the other has too much.
    direct = np.array([[0, 0, 1.0], [0, 0, 0.95], [0, 0, 0]])
    assert score_calibration(CHAIN, direct) == pytest.approx((1 + abs(1 - 1.95)) / 6)


def test_calibrated_probabilities_have_hardly_any_error():
    generator = np.random.default_rng(1)
    direct = generator.random((400, 400))
    truth = generator.random((400, 400)) < direct
    assert score_calibration(truth, direct) < 0.01
    assert score_calibration(truth, direct**2) > 0.1


def test_acyclic_graphs():
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert is_acyclic(chain)
    assert is_acyclic(np.zeros((4, 4)))
    assert not is_acyclic(chain + chain.T)
    ring = np.roll(np.eye(5), 1, axis=1)
    assert not is_acyclic(ring)
    assert is_acyclic(np.triu(np.ones((6, 6)), 1)[::-1, ::-1].T)


def test_log_loss_by_hand():
    direct = np.array([[0, 0.7, 0.1], [0.2, 0, 0.25], [0.3, 0.25, 0]])
    assert score_log_loss(CHAIN, direct) == pytest.approx(-np.log([0.7, 0.25, 0.6]).mean())
    assert score_log_loss(CHAIN | CHAIN.T, direct) == pytest.approx(-(np.log([0.7, 0.2, 0.25, 0.25]).sum() / 2 + np.log(0.6)) / 3)
    assert score_log_loss(CHAIN, certain((0, 1), (1, 2))) == 0
    assert score_log_loss(CHAIN, certain((1, 0), (1, 2))) == pytest.approx(-np.log(1e-6) / 3)
