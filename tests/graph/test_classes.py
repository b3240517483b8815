"""Counts that are known, and classes that differ."""

import numpy as np
import pytest

from seacausal.graph.classes import DAGS, enumerate_dags, markov_classes
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.essential import cut_masks, write_marks

CLASSES = {1: 1, 2: 2, 3: 11, 4: 185, 5: 8782, 6: 1_067_825}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_counts(k):
    """Those of Robinson (1977) and of Gillispie and Perlman (2002)."""
    dags, classes = enumerate_dags(k), markov_classes(k)
    place = 64 ** np.arange(k)
    assert len(np.unique(dags @ place)) == len(dags) == DAGS[k] == classes.sizes.sum()
    assert classes.parents.shape == classes.arrows.shape == classes.lines.shape == (CLASSES[k], k)
    assert len(np.unique((classes.arrows | classes.lines) @ place)) == CLASSES[k]


def test_a_class_is_the_essential_graph_of_its_dag():
    classes, marks = markov_classes(5), np.empty((5, 5), np.int8)
    for c in range(0, 8782, 7):
        write_marks(classes.arrows[c], classes.lines[c], marks)
        np.testing.assert_array_equal(marks, essential_graph(classes.parents[c] >> np.arange(5)[:, None] & 1))


@pytest.mark.parametrize("targets", [[[1, 0, 0, 0, 0]], [[1, 1, 0, 0, 0], [0, 1, 1, 0, 0]], [[0, 0, 1, 0, 0], [1, 1, 1, 1, 1]]], ids=str)
def test_interventional_classes_split_the_observational_ones(targets):
    targets, marks = np.array(targets, bool), np.empty((5, 5), np.int8)
    classes = markov_classes(5, cut_masks(targets))
    assert 8782 < len(classes.sizes) < DAGS[5] == classes.sizes.sum()
    assert len(np.unique(classes.arrows @ 64 ** np.arange(5) + (classes.lines @ 64 ** np.arange(5) << 30))) == len(classes.sizes)
    for c in range(0, len(classes.sizes), 41):
        write_marks(classes.arrows[c], classes.lines[c], marks)
        np.testing.assert_array_equal(marks, essential_graph(classes.parents[c] >> np.arange(5)[:, None] & 1, targets))


def test_regimes_that_tell_all_variables_apart_leave_single_dags():
    assert len(markov_classes(5, cut_masks(np.eye(5, dtype=bool))).sizes) == DAGS[5]
    assert markov_classes(5, np.zeros(5, int)) is markov_classes(5)


def test_the_complete_graph_has_all_orders_and_the_empty_one_is_alone():
    classes = markov_classes(5)
    assert classes.sizes[(classes.lines.sum(1) == 31 * 5 - 31)].tolist() == [120]
    assert classes.sizes[(classes.parents == 0).all(1)].tolist() == [1]


@pytest.mark.parametrize("k", [0, 7])
def test_no_more_than_six(k):
    with pytest.raises(ValueError, match="1 to 6"):
        enumerate_dags(k)
