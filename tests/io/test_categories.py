"""Columns of text that hold categories."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seacausal.cli import main
from seacausal.discovery import discover
from seacausal.errors import DataError
from seacausal.io.table import read_table

ROWS = 60


@pytest.fixture
def frame():
    """A number that a category moves, and an empty cell in row 7."""
    generator = np.random.default_rng(0)
    smoker = generator.permutation(np.repeat(["no", " yes", "former"], ROWS // 3)).tolist()
    smoker[6] = None
    dose = generator.standard_normal(ROWS) + np.array([cell == "no" for cell in smoker])
    return pd.DataFrame({"smoker": smoker, "dose": dose, "answer": dose + generator.standard_normal(ROWS)})


def codes(frame):
    return [["former", "no", "yes"].index(cell.strip()) for cell in frame["smoker"] if isinstance(cell, str)]


def test_categories_are_numbered_in_alphabetical_order_whatever_holds_them(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    sources = (
        frame,
        frame.astype({"smoker": "category"}),
        pl.DataFrame(frame),
        pa.Table.from_pandas(frame),
        tmp_path / "t.csv",
        tmp_path / "t.parquet",
    )
    for source in sources:
        dataset = read_table(source, missing="drop")
        assert dataset.categories == (("smoker", ("former", "no", "yes")),)
        assert dataset.dropped_rows == 1
        np.testing.assert_array_equal(dataset.values[:, 0], codes(frame))
    assert read_table(frame.to_numpy(object), missing="drop").categories == (("X1", ("former", "no", "yes")),)
    with pytest.raises(DataError, match="'smoker' must hold finite numbers; found a missing value in row 7"):
        read_table(frame)


def test_numbers_within_categories_sort_as_numbers(frame):
    for cells, order in ((["10 mg", "5 mg", "20 mg"], ("5 mg", "10 mg", "20 mg")), (["grade 10", "n/a", "grade 9"], ("grade 9", "grade 10"))):
        changed = frame.assign(smoker=cells * (ROWS // 3))
        assert read_table(changed, missing="drop").categories == (("smoker", order),)


def test_a_category_that_occurs_once_is_a_typo(frame, tmp_path):
    frame.loc[11, "smoker"] = "fromer"
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"each of its categories in two rows or more; found 'fromer' in row 12 \(line 13 of t.csv\) alone"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "cells",
    [
        [f"{k}. sample" for k in range(ROWS)],  # too many
        ["control", "dose"] * (ROWS // 2),  # names of variables
        ["control", "dose, answer"] * (ROWS // 2),
        ["low", "2"] * (ROWS // 2),  # numbers among them
        ["low", "2,5"] * (ROWS // 2),
        ["yes", "true"] * (ROWS // 2),
        ["low", b"high"] * (ROWS // 2),
    ],
)
def test_other_text_is_refused(frame, cells):
    with pytest.raises(DataError, match="Column 'smoker' must hold numbers; found"):
        read_table(frame.assign(smoker=pd.Series(cells, dtype=object)))


def test_text_of_many_kinds_is_refused_as_such(frame):
    said = "Column 'smoker', which is text, must hold at most 10 kinds of cells to stand for categories; found 11 in the table. Merge some"
    with pytest.raises(DataError, match=said):
        read_table(frame.assign(smoker=[f"kind {k % 11}" for k in range(ROWS)]))


def test_names_with_commas_are_names_of_variables(frame):
    for cells in (["control", "dose, low"], ["control", '"dose, low",answer']):
        with pytest.raises(DataError, match="Column 'smoker' must hold numbers; found"):
            read_table(frame.rename(columns={"dose": "dose, low"}).assign(smoker=cells * (ROWS // 2)))


def test_ten_categories_are_the_most(frame):
    (found,) = read_table(frame.assign(smoker=[f"kind {k % 10}" for k in range(ROWS)])).categories
    assert found == ("smoker", tuple(f"kind {k}" for k in range(10)))


def test_users_are_told(frame, tmp_path, capsys):
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = ["discover", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out"), "--missing", "drop"]
    assert main(command) == 0
    assert "Text, numbered from 0 in this order: smoker (former, no, yes)." in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["data"]["categories"] == {"smoker": ["former", "no", "yes"]}


def test_a_note_tells_categories_that_differ_in_case_alone(frame):
    graph = discover(frame.assign(smoker=["yes", "Yes", "no"] * (ROWS // 3) + ["no"] * (ROWS % 3)))
    assert "smoker (Yes, no, yes); some differ in case alone." in " ".join(graph.notes())


@pytest.mark.parametrize(
    ("labels", "levels"),
    [
        (pd.interval_range(0, 3), ("(0, 1]", "(1, 2]", "(2, 3]")),
        ([30, 4, 0.5], ("30.0", "4.0", "0.5")),
        (["30", "4", "mg"], ("30", "4", "mg")),
        (["20", "3", "100"], ("20", "3", "100")),
        ([False, True, 2], ("False", "True", "2")),
    ],
)
def test_ordered_categories_are_numbered_in_their_order_whatever_they_are(frame, labels, levels):
    codes = np.random.default_rng(1).permutation(np.repeat([0, 1, 2, -1], ROWS // 4))
    ordered = pd.Categorical.from_codes(codes, [*labels, "none"] if isinstance(labels[0], str) else labels, ordered=True)
    found = read_table(frame[["dose", "answer"]].assign(size=ordered), missing="drop")
    assert found.categories == (("size", levels),)
    np.testing.assert_array_equal(found.values[:, 2], codes[codes >= 0])


def test_cut_columns_are_read(frame):
    for cut, count in ((pd.cut(frame["dose"], 5), 5), (pd.qcut(frame["dose"], 20), 20)):
        found = read_table(frame[["dose", "answer"]].assign(cut=cut))
        np.testing.assert_array_equal(found.values[:, 2], cut.cat.codes)
        assert len(found.categories[0][1]) == count
    enum = pl.DataFrame(frame[["dose", "answer"]]).with_columns(size=pl.Series(["8", "16", "4"] * (ROWS // 3), dtype=pl.Enum(["16", "8", "4"])))
    assert read_table(enum).categories == (("size", ("16", "8", "4")),)


def test_categories_that_name_columns_are_refused_with_the_reason(frame):
    said = "found 'dose' in row 2 of the table, which names a column, so that the texts are not taken for categories. If it is a category, rename it"
    cells = ["control", "dose"] * (ROWS // 2)
    for column in (cells, pd.Categorical(cells, ordered=True)):
        with pytest.raises(DataError, match=said):
            read_table(frame.assign(smoker=column))
    with pytest.raises(DataError, match="must hold numbers; found 'dose' in row 1 of the table\\. Correct or drop"):
        read_table(frame.assign(smoker=["dose", "2.5"] * (ROWS // 2)))  # a misspelt number among them
