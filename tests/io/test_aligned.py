"""Interventions given beside a table, which may have labels and names of their own."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from seacausal.errors import DataError
from seacausal.io.table import read_table

ROWS, NAMES = 36, ["a", "b", "c"]
MASK = np.tile([[0, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 0]], (ROWS // 4, 1))


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_normal((ROWS, 3))


def hit(source, interventions, **options):
    dataset = read_table(source, interventions=interventions, **options)
    return dataset.targets[dataset.regime]


def message(source, interventions):
    with pytest.raises(DataError) as caught:
        read_table(source, interventions=interventions)
    return str(caught.value)


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.DataFrame])
def test_columns_of_a_mask_are_found_by_their_names(kind, values):
    mask = kind(pd.DataFrame(MASK, columns=NAMES)[["c", "a", "b"]])
    for source in (pd.DataFrame(values, columns=NAMES), pl.DataFrame(values, schema=NAMES)):
        np.testing.assert_array_equal(hit(source, mask), MASK)
    np.testing.assert_array_equal(hit(values, mask, names=NAMES), MASK)


def test_other_names_are_refused(values):
    source, mask = pd.DataFrame(values, columns=NAMES), pd.DataFrame(MASK, columns=NAMES)
    assert "one column for each variable of the table, called as it is; found none for 'b'; unknown 'x'. Add" in message(
        source, mask.rename(columns={"b": "x"})
    )
    assert "found none for 'c'." in message(source, mask[["a", "b"]])
    assert "found unknown 'd'." in message(source, mask.assign(d=0))
    assert "found repeated 'a'." in message(source, mask[["a", "a", "b", "c"]])
    assert "found none for 'X1', 'X2', 'X3'; unknown 'a', 'b', 'c'." in message(values, mask)


def test_missing_cells_of_a_mask_are_refused_with_their_place(values):
    mask = pd.DataFrame(MASK, columns=NAMES).astype("Int64")
    mask.loc[4, "c"] = pd.NA
    assert "and 0 elsewhere; found nan in row 5 of the table, column 'c'." in message(pd.DataFrame(values, columns=NAMES), mask)


def test_numbers_of_columns_are_no_names(values):
    for mask in (pd.DataFrame(MASK), pl.DataFrame(MASK)):
        np.testing.assert_array_equal(hit(pd.DataFrame(values, columns=NAMES), mask), MASK)
    turned = pd.DataFrame(MASK)[[2, 0, 1]]
    np.testing.assert_array_equal(hit(pd.DataFrame(values), turned), MASK)


@pytest.mark.parametrize("labels", [[f"s{i}" for i in range(ROWS)], range(ROWS)])
def test_rows_are_found_by_their_labels(labels, values):
    source, mask = (pd.DataFrame(cells, labels, columns=NAMES) for cells in (values, MASK))
    entries = pd.Series([",".join(np.array(NAMES)[row == 1]) for row in MASK], labels)
    shuffled = np.random.default_rng(1).permutation(ROWS)
    for given in (mask, mask.astype("boolean"), entries):
        np.testing.assert_array_equal(hit(source, given.iloc[shuffled]), MASK)
        np.testing.assert_array_equal(hit(source.iloc[shuffled], given), MASK[shuffled])


def test_other_labels_are_refused(values):
    source, mask = pd.DataFrame(values, columns=NAMES), pd.DataFrame(MASK, columns=NAMES)
    named = mask.set_index(pd.Index([f"s{i}" for i in range(ROWS)]))
    assert "found 0 of the table alone, 36 such. Give both the same index" in message(source, named)
    assert "found 0 of the table alone, 1 such" in message(source, mask["a"].map({0: None, 1: "a"}).set_axis(range(1, ROWS + 1)))
    twice = np.repeat(range(ROWS // 2), 2)
    assert "found labels that repeat in another order" in message(source.set_index(twice), mask.set_index(twice[::-1]))
    np.testing.assert_array_equal(hit(source.set_index(twice), mask.set_index(twice)), MASK)
    np.testing.assert_array_equal(hit(source.set_index(named.index), mask), MASK)  # nobody gave the mask an index
    assert "one entry for each of the 36 rows of the table; found 35." in message(source, mask[1:])


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_a_sparse_mask_is_read_and_sparse_data_are_refused(kind, values):
    np.testing.assert_array_equal(hit(values, kind(MASK)), MASK)
    assert "one column for each; found 2 columns" in message(values, kind(MASK[:, :2]))
    assert "one entry for each of the 36 rows of the array; found 35." in message(values, kind(MASK[1:]))
    assert f"found {kind.__name__}. Convert it: give its toarray()." in message(kind(values), MASK)
