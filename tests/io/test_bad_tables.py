"""Every kind of bad table is an error that says what must hold, what was found and where, and what to do."""

import datetime
import gzip
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seacausal.discovery import discover
from seacausal.errors import DataError
from seacausal.io.table import MIN_ROWS, read_table


def random_values(n=36, d=8, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def message(source, **options):
    with pytest.raises(DataError) as caught:
        read_table(source, **options)
    return str(caught.value)


# ---------------------------------------------------------------- missing values


def test_missing_and_infinite_values_are_refused_with_their_place(table):
    path = table(changes={17: "1,2,NA", 18: "inf,,null", 30: "nan,NaN,3"})
    text = message(path)
    assert text.startswith("Column 'Erk' must hold finite numbers; found a missing value in row 17 (line 18 of table.csv)")
    assert "the first of 6 missing or infinite cells (3 rows, 3 columns)" in text
    assert "missing='drop' (`--missing drop`)" in text
    found = read_table(path, missing="drop")
    assert found.dropped_rows == 3
    assert len(found.values) == len(found.regime) == 37
    assert np.isfinite(found.values).all()


def test_a_single_infinite_value(table):
    assert "found an infinite value in row 3 (line 4 of table.csv), the only such cell." in message(table(changes={3: "1,-Infinity,3"}))
    values = random_values(d=2)
    values[4, 1] = np.inf
    assert message(values).startswith("Column 'X2' must hold finite numbers; found an infinite value in row 5 of the array, the only such cell.")


def test_lines_are_right_after_a_cell_of_two_lines_and_a_blank_line(table):
    path = table(header='"R\naf",Mek,t', changes={2: '1,2,"R\naf"', 5: "1,2,\n", 9: '1,x,"R\naf"'})
    assert "Column 'Mek' must hold numbers; found 'x' in row 9 (line 13 of table.csv)." in message(path, interventions="t")


def test_missing_values_of_every_kind_of_frame():
    values = np.arange(80.0).reshape(40, 2)
    values[3, 1] = np.nan
    pandas = pd.DataFrame(values, columns=["a", "b"])
    frames = [
        pandas,
        pandas.convert_dtypes(),
        pandas.astype(object).where(pandas.notna(), None),
        pandas.convert_dtypes().astype(object),
        pl.DataFrame(pandas),
        pl.DataFrame(pandas, nan_to_null=True),
        pa.Table.from_pandas(pandas),
        pa.Table.from_pandas(pandas, preserve_index=True),
    ]
    for frame in frames[:-1]:
        assert message(frame).startswith("Column 'b' must hold finite numbers; found a missing value in row 4 of the table, the only such cell.")
        assert read_table(frame, missing="drop").dropped_rows == 1
    masked = np.ma.masked_invalid(values)
    assert "Column 'X2' must hold finite numbers; found a missing value in row 4 of the array" in message(masked)


def test_dropping_rows_keeps_interventions_in_step():
    values = random_values(d=2)
    values[1, 0] = np.nan
    found = read_table(values, interventions=["X1", "X2", *[None] * 34], missing="drop")
    np.testing.assert_array_equal(found.targets, [[False, False], [True, False]])
    np.testing.assert_array_equal(found.regime, [1, *[0] * 34])
    text = message(values, interventions=["X1", "X3", *[None] * 34], missing="drop")
    assert "found 'X3' in row 2" in text


def test_too_few_rows_are_left():
    values = random_values(d=3)
    values[:9, 2] = np.nan
    values[5:7, 0] = np.inf
    text = message(values, missing="drop")
    assert text.startswith("There must be at least 30 rows; found 27 in the array after 9 with missing or infinite values were dropped")
    assert "9 of them for column 'X3'" in text
    assert "Impute values (`--missing impute`), or drop columns." in text
    assert "`missing` must be one of error, drop, impute; found 'fill'." in message(values, missing="fill")


# ---------------------------------------------------------------- bad files


def test_missing_files_and_folders(table, tmp_path):
    path = table()
    text = message(path.with_name("tabel.csv"))
    assert "The data file must exist; found nothing at" in text
    assert "Did you mean 'table.csv'?" in text
    assert "Check the path." in message(tmp_path / "no" / "table.csv")
    assert "must be a file; found a folder at" in message(tmp_path)
    assert "must be readable" in message(path / "inside.csv")
    assert "must be readable" in message("table\0.csv")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".parquet", ".npz", ".npy"])
def test_empty_files(suffix, tmp_path):
    path = tmp_path / f"empty{suffix}"
    path.touch()
    assert "must not be empty" in message(path)


def test_blank_lines_alone(tmp_path):
    path = tmp_path / "blank.csv"
    path.write_text("\n\n  \n\n")
    assert "found blank lines alone" in message(path)


def test_header_only_and_few_rows(table):
    assert message(table(rows=0)) == "There must be at least 30 rows; found 0 in table.csv. Add rows."
    assert message(table(rows=MIN_ROWS - 1)) == "There must be at least 30 rows; found 29 in table.csv. Add rows."
    assert len(read_table(table(rows=MIN_ROWS)).values) == MIN_ROWS
    assert "found 29 in the array" in message(random_values(29))


def test_one_variable(table):
    assert message(table(header="Raf")).startswith("There must be at least 2 variables; found 1 in table.csv ('Raf'). Add columns;")
    assert "found 1 in table.csv ('Raf')" in message(table(header="Raf,t"), interventions="t")
    assert "found 1 in table.csv ('a|b')" in message(table(header="a|b", changes=dict.fromkeys(range(1, 41), "1|2")))
    assert "found 1 in the array" in message(random_values(d=1))
    assert "found 0 in the table" in message(pl.DataFrame())


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.csv.gz", "table.mat"])
def test_unknown_suffixes(name, table):
    suffix = Path(name).suffix
    text = message(table(name=name))
    assert f"must be one of .csv, .tsv, .txt, .parquet, .h5ad, .npz, .npy; found {suffix or 'none'!r} in {name!r}" in text


def test_suffixes_may_be_upper_case(table):
    assert read_table(table(name="TABLE.CSV")).names == ("Raf", "Mek", "Erk")


def test_paths_are_taken_literally(table):
    assert read_table(str(table(name="t[1]*.csv"))).values.shape == (40, 3)


@pytest.mark.parametrize("changes", [None, {12: "1,2,ä"}])
def test_text_that_is_not_utf8(changes, table):
    text = message(table(header="Raf,Mek,Erk" if changes else "Raf,Mék,Erk", changes=changes, encoding="latin-1"))
    line, byte = (13, "e4") if changes else (1, "e9")
    assert text.startswith(f"table.csv must be UTF-8 text; found the byte 0x{byte} in line {line}. Save it as UTF-8")


@pytest.mark.parametrize(("line", "count"), [("1,2", 2), ("1,2,3,4", 4), ("1,2,3,", 4), ("1", 1)])
@pytest.mark.parametrize("row", [1, 17, 40])
def test_ragged_rows(row, line, count, table):
    text = message(table(changes={row: line}))
    assert text.startswith(
        f"Every row of table.csv must have 3 cells, as many as the header; found {count} in row {row} (line {row + 1} of table.csv)."
    )
    assert "Add or remove cells" in text
    text = message(table(header="Raf,Mek,t", changes={row: line, 2 if row != 2 else 3: "1,2,"}), interventions="t")
    assert f"found {count} in row {row}" in text


def test_short_rows_that_hide_among_blank_lines(table):
    path = table(changes={3: ",,", 5: "1,2", 6: "1,2"})
    path.write_text(path.read_text() + "\n")
    assert "found 2 in row 5 (line 6 of table.csv)" in message(path)


def test_quotes_that_do_not_close(table):
    text = message(table(changes={17: '1,"2,3'}))
    assert text.startswith("table.csv must be well-formed text with quotes in pairs; line")
    assert "Close the quoted cell" in text


def test_a_typo_among_numbers_is_named_with_its_place(table):
    path = table(changes={17: "1,2,n.v.", 20: "1,2,?"})
    rows = [line.split(",") for line in path.read_text().splitlines()]
    text = message(path)
    assert text.startswith("Column 'Erk' must hold numbers; found 'n.v.' in row 17 (line 18 of table.csv). Correct or drop the cell")
    assert "in row 1 (line 2 of table.csv)" in message(table(changes={1: "x,2,3"}))
    assert "found '1_000' in row 2" in message(table(changes={2: "1_000,2,3"}))
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    for source in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame), frame.astype("category"), frame.astype(object)):
        assert message(source).startswith("Column 'Erk' must hold numbers; found 'n.v.' in row 17 of the table.")
    assert message(frame.to_numpy(object)).startswith("Column 'X3' must hold numbers; found 'n.v.' in row 17 of the array.")


def test_a_column_of_text_suggests_interventions(table):
    path = table(changes=dict.fromkeys(range(1, 41), "1,2,Raf"))
    assert "found 'Raf' in row 1 (line 2 of table.csv)" in message(path)
    assert "pass interventions='Erk' (`--interventions`)" in message(path)


def test_a_typo_among_booleans(table):
    path = table(changes={**dict.fromkeys(range(1, 41), "1,2,True"), 5: "1,2,Flase"})
    assert message(path).startswith("Column 'Erk' must hold true or false; found 'Flase' in row 5 (line 6 of table.csv).")


def test_all_columns_of_text_are_named_at_once():
    texts = [f"{i}. row" for i in range(40)]
    frame = pl.DataFrame({"c": range(40), "note": texts})
    first = message(frame)
    assert "So it is with" not in first
    other = message(frame.with_columns(b=pl.col("note"), **{"a name": pl.col("note")}))
    assert other == f"{first} So it is with 'b', 'a name' (--ignore note b 'a name' leaves out all of them)."
    names = [f"t{i}" for i in range(12)]
    many = message(frame.with_columns(pl.col("note").alias(name) for name in names))
    listed = ", ".join(map(repr, names[:10]))
    assert many == f"{first} So it is with {listed} and 2 more (--ignore note {' '.join(names)} leaves out all of them)."
    dashed = message(frame.with_columns(pl.col("note").alias("-b")))
    assert dashed == f"{first} So it is with '-b'."
    typo = ["1.5"] * 39 + ["unknown"]
    guide = ["c"] * 20 + ["tN"] * 19 + ["x"]
    assert message(frame.with_columns(age=pl.Series(typo), guide=pl.Series(guide))) == first


def test_decimal_commas(table):
    path = table(header="Raf;Mek", changes=dict.fromkeys(range(1, 41), "1,5;2,5"))
    assert message(path) == "Column 'Raf' must hold numbers; found '1,5' in row 1 (line 2 of table.csv). Write decimals with a point."


@pytest.mark.parametrize(
    "cell", ['"1,037.72"', '"-12,000,000"', "1.000.000", "51.9%", "7 %", "$5", "12 €", "1 000", "1\u00a0000", "\u22121", "1_000"]
)
def test_numbers_as_people_write_them(table, cell):
    for rows in ([7], range(1, 41)):  # one of them, or all
        assert message(table(changes=dict.fromkeys(rows, f"1,2,{cell}"))).endswith(
            "Write numbers with digits and a decimal point alone, without signs for thousands, percent or a currency."
        )


def test_long_cells_are_shortened(table):
    assert "xxx ... in row 3" in message(table(changes={3: f"{'x' * 500},2,3"}))


def test_names_that_will_not_do(table):
    assert message(table(header="Raf,Mek,Raf")).startswith(
        "Column names of table.csv must be distinct; found 'Raf' in columns 1 and 3. Rename or drop one of them."
    )
    assert message(table(header="Raf,,Erk")).startswith("Every column of table.csv must have a name; column 2 has none.")
    assert "column 4 has none" in message(table(header="Raf,Mek,Erk, "))
    text = message(table(header="Raf,M\x07ek,Erk"))
    assert text == "Column names of table.csv must be free of control characters; found 'M\\x07ek' in column 2. Rename it."
    pandas = pd.DataFrame(random_values(d=3), columns=["a", "b", "a"])
    assert "Column names of the table must be distinct; found 'a' in columns 1 and 3" in message(pandas)
    assert "found 'a' in columns 1 and 2" in message(pa.table([[1.0], [2.0]], names=["a", "a"]))
    assert "found '1' in columns 1 and 2" in message(pd.DataFrame(random_values(d=2), columns=[1, "1"]))
    assert "column 2 has none" in message(pl.DataFrame({"a": range(40), "": range(40), "c": range(40)}))
    assert "Column names of the array must be distinct" in message(random_values(d=2), names=["a", "a"])
    assert "one name for each of the 2 columns; found 3" in message(random_values(d=2), names="abc")


@pytest.mark.parametrize("header", ["1.5,-2e3,7", "1,2,3", "0,1,2", "nan,1,2"])
def test_no_header(header, table):
    text = message(table(header=header))
    assert text.startswith("The first line of table.csv must hold the column names; found the numbers")
    assert "Add a line with the names on top" in text


def test_files_of_other_kinds_called_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert message(path) == "t.csv must be UTF-8 text; found a compressed file, or one of Excel. Unpack it, or save it as csv."
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    assert message(path) == "t.csv must be UTF-8 text; found UTF-16. Save it as UTF-8."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    assert "found a pipe or device at" in message(tmp_path / "t.csv")


def test_what_pandas_wrote_beside_a_parquet_may_be_anything(tmp_path):
    table = pa.Table.from_pandas(pd.DataFrame(random_values(d=3), columns=["a", "b", "c"]))
    for said in (b"no json", b"[1]", b'{"index_columns": 5}', b'{"index_columns": "abc"}', b'{"index_columns": [{"kind": "range"}]}'):
        pq.write_table(table.replace_schema_metadata({b"pandas": said}), tmp_path / "t.parquet")
        assert read_table(tmp_path / "t.parquet").names == ("a", "b", "c")


def test_bad_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame(random_values()).write_parquet(path)
    whole = path.read_bytes()
    for damaged in (b"Raf,Mek\n1,2\n" * 40, whole[:-100], whole[:8] + whole[-8:]):
        path.write_bytes(damaged)
        text = message(path)
        assert text.startswith("t.parquet must be an intact Parquet file; reading it failed: ")
        assert "Write or copy it again." in text
    pq.write_table(pa.table([[1.0], [2.0]], names=["a", "a"]), path)
    assert message(path).startswith("Column names of t.parquet must be distinct;")


def test_typos_and_gaps_in_parquet_have_a_row_but_no_line(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [*["1"] * 33, "x"], "b": range(34)}).write_parquet(path)
    assert message(path).startswith("Column 'a' must hold numbers; found 'x' in row 34 of t.parquet.")
    pl.DataFrame({"a": range(34), "b": [*range(33), None]}).write_parquet(path)
    assert "Column 'b' must hold finite numbers; found a missing value in row 34 of t.parquet" in message(path)


def test_an_index_that_pandas_filtered_is_no_variable_of_its_parquet(tmp_path):
    frame = pd.DataFrame(random_values(90, 3), columns=["a", "b", "t"])[lambda table: table["a"] > -0.5]
    frame.to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in pl.read_parquet_schema(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").names == ("a", "b", "t")
    frame.assign(t="a").set_index("t").to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", interventions="t").targets.tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (datetime.datetime(2020, 1, 2), "datetime.datetime(2020, 1, 2, 0, 0)"),
        (datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
        (datetime.timedelta(1), "datetime.timedelta(days=1)"),
        ([1.0, 2.0], "[1.0, 2.0]"),
        ({"x": 1.0}, "{'x': 1.0}"),
        (b"1", "b'1'"),
    ],
)
def test_dates_and_nested_columns(cell, shown, tmp_path):
    frame = pl.DataFrame({"a": range(40), "b": range(40), "when": [cell] * 40})
    frame.write_parquet(tmp_path / "t.parquet")
    assert f"Column 'when' must hold numbers; found {shown} in row 1 of t.parquet." in message(tmp_path / "t.parquet")
    for source in (frame, frame.to_arrow()):
        text = message(source)
        assert f"Column 'when' must hold numbers; found {shown} in row 1 of the table." in text
        assert ("such as days" in text) == isinstance(cell, (datetime.date, datetime.timedelta))
    assert "Column 'when' must hold numbers; found" in message(frame.to_pandas())


# ---------------------------------------------------------------- bad options and interventions


def test_an_unknown_interventions_column(table):
    path = table(header="Raf,Mek,Target")
    assert message(path, interventions="target") == (
        "`interventions` must name a column of table.csv; found 'target', which is none. Did you mean 'Target'?"
    )
    assert "The columns are 'Raf', 'Mek', 'Target'." in message(path, interventions="zzzz")


def test_unknown_intervention_names(table):
    path = table(header="Raf,Mek,t", changes={**dict.fromkeys(range(1, 41), "1,2,"), 17: '1,2,"Raf,MEKK"'})
    text = message(path, interventions="t")
    assert text == (
        "Interventions must name variables of the table; found 'MEKK' in row 17 (line 18 of table.csv). Did you mean 'Mek'? "
        "Leave the entry empty where nothing was intervened on."
    )
    assert "found 'control' in row 2 of the array. The variables are 'X1', 'X2'." in message(random_values(d=2), interventions=[None, "control"] * 18)
    assert message(random_values(d=2), interventions=["X1_g2"] * 36).endswith(
        "found 'X1_g2' in row 1 of the array. If it is a guide for 'X1', give that name alone. Leave the entry empty where nothing was intervened on."
    )
    assert "Did you mean 'X1'" in message(random_values(d=2), interventions=["X1b"] * 36)
    assert "found '7' in row 1" in message(random_values(d=2), interventions=[7] * 36)
    assert "found 'xxxx" in message(random_values(d=2), interventions=["x" * 200_000] * 36)
    mask = np.zeros((36, 3))
    assert "one column for each; found 3 columns. The variables of the array are 'X1', 'X2'." in message(random_values(d=2), interventions=mask)
    mask[4, 1] = 2
    assert "found 2.0 in row 5 of the array, column 'X2'" in message(random_values(d=3), interventions=mask)
    assert "names of interventions; found them with an array of numbers" in message(random_values(d=3), interventions=mask, control="wt")
    assert "one entry for each of the 36 rows" in message(random_values(d=3), interventions=mask[1:])
    text = message(random_values(d=2), interventions=[None, "sham"] * 18)
    assert text.endswith(
        "or say control='sham' (`--control`) if it means that; other_targets='drop' (`--other-targets drop`) leaves out rows with "
        "interventions on what is no column."
    )
    assert "found 29 in the array after 7 with interventions on what is" in message(
        random_values(d=2), interventions=["sham"] * 7 + ["X1"] + [None] * 28, other_targets="drop"
    )


def test_choices_that_make_no_sense(table):
    path = table()
    assert "`columns` must name columns of table.csv; found 'raf'. Did you mean 'Raf'?" in message(path, columns=["raf", "Mek"])
    assert "`ignore` must name columns of table.csv; found 't'." in message(path, ignore=["t"])
    assert "`ignore` must be a list of names; found 'Raf'. Write ['Raf']." in message(path, ignore="Raf")
    assert "`columns` must be a list of names; found 3." in message(path, columns=3)
    assert "`columns` and `ignore` must not be given together" in message(path, columns=["Raf"], ignore=["Mek"])
    assert "`columns` picks columns of text, Parquet, h5ad and frames only" in message(random_values(d=3), columns=["X1", "X2"])
    assert "There must be at least 2 variables; found 1 in table.csv ('Raf')" in message(path, ignore=["Mek", "Erk"])
    assert "`control` and `other_targets` say how to read `interventions`; found them without" in message(path, control="wt")
    assert "found them without" in message(path, other_targets="drop")
    wild = ["wild type", "X1"] * 18
    text = message(random_values(d=2), interventions=wild, control=["wild-type"], other_targets="drop")
    assert "`control` must stand among the interventions of the array; found 'wild-type', which does not. Did you mean 'wild type'?" in text
    text = message(random_values(d=2), interventions=["x_1"] * 6 + [None] * 30, other_targets="drop")
    assert "Some interventions must be on columns of the array; found none, but 'x_1' (6 rows)." in text
    assert "`control` must not be a variable; found 'X1', which is a column of the array" in message(
        random_values(d=2), interventions=["X1"] * 36, control="X1"
    )
    assert "`other_targets` must be 'error' or 'drop'; found 'keep'" in message(path, other_targets="keep")


@pytest.mark.parametrize(
    "label",
    ["non-targeting", "Non_Targeting_0012", "control", "neg ctrl", "NT", "NTC-3", "DMSO", "ctrl+X9", "wild type", "none", "safe-harbor", "WT"],
)
def test_controls_are_not_dropped_unawares(label):
    entries = [label, "X1", "X9", "X2"] * 15
    text = message(random_values(n=60, d=2), interventions=entries, other_targets="drop")
    assert f"found {label!r} (15 rows) in the array, which look like it. Say control={label!r} (`--control`)" in text
    assert text.startswith("`control` must say which labels stand for no intervention where other_targets='drop' would leave their rows out")
    entries[0] = "known"
    assert len(read_table(random_values(n=60, d=2), interventions=entries, control="known", other_targets="drop").values) == 31


def test_other_labels_are_dropped_and_a_note_says_that_no_controls_are_left():
    labels = ["WT1", "NT5E", "CTRLA", "NEGR1", "mocker", "sham"]
    for more, said in ((["X1"] * 60, True), ([None] * 60, False)):
        graph = discover(random_values(n=186, d=2), interventions=["X1", "X2", *more, *labels] + ["X1"] * 118, other_targets="drop")
        assert graph.dataset["foreign targets"] == dict.fromkeys(labels, 1)
        assert ("None without interventions are left (--control says which" in " ".join(graph.notes())) == said


def test_interventions_of_the_wrong_length():
    text = message(random_values(d=2), interventions=[None] * 35)
    assert text == "`interventions` must have one entry for each of the 36 rows of the array; found 35. Add or remove entries."
    assert "must be a column's name or one entry for each row; found 5" in message(random_values(d=2), interventions=5)


def test_no_columns_at_all():
    frame = pd.DataFrame({"a": [1.0] * 40, "b": [2.0] * 40})
    assert "`columns` must name the columns that are variables; found none." in message(frame, columns=[])


def test_columns_of_a_dict():
    assert "Columns must have one cell for each row; found 2 in 'a' and 1 in 'b'. Add" in message({"a": [1.0, 2.0], "b": [1.0]})
    assert "Column 'b' must be a sequence of cells; found int. Give" in message({"a": [1.0], "b": 3})
    assert "Column 'a' must be a sequence of cells; found str. Give" in message({"a": "text", "b": [1.0]})
    assert "found ndarray. Give" in message({"a": np.zeros((2, 2)), "b": [1.0]})
    assert "found 1 in the table ('a')" in message({"a": [1.0]})


def test_sources_that_are_no_table():
    assert "found a lazy LazyFrame. Call collect() on it first." in message(pl.LazyFrame({"a": [1.0]}))
    for source in ([[1.0, 2.0]], None, pd.Series([1.0]), pl.Series([1.0])):
        text = message(source)
        assert text.startswith("The table must be a path, a pandas, polars or pyarrow frame, a dict of columns, an AnnData or a 2-D array; found ")
        assert type(source).__name__ in text
    assert "must have two axes, rows and variables; found shape (36,)" in message(random_values()[:, 0])
    assert "must hold numbers; found complex128" in message(random_values() * 1j)
    assert "must hold numbers; found datetime64[D]" in message(np.zeros((40, 2), "datetime64[D]"))


def test_options_that_do_not_apply(table, tmp_path):
    np.savez(tmp_path / "t.npz", X=random_values())
    assert "found index=0 with another kind of source" in message(table(), index=0)
    assert "`names` is for arrays" in message(table(), names=["a", "b", "c"])
    assert "found 'Raf' with an array" in message(random_values(), interventions="Raf")
    assert "found 'X1' with t.npz, whose 'regime' and 'mask' say it" in message(tmp_path / "t.npz", interventions="X1")


# ---------------------------------------------------------------- npz


def test_npz_members_that_are_no_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", b"hello")
    assert "must be an intact .npz archive of plain arrays; reading it failed: 'X' is no array. Write it again" in message(tmp_path / "t.npz")


def test_npz_gaps_and_size(tmp_path):
    values = random_values(d=2)
    values[6, 1] = np.nan
    np.savez(tmp_path / "t.npz", X=values)
    assert "Column 'X2' must hold finite numbers; found a missing value in row 7 of t.npz" in message(tmp_path / "t.npz")
    assert read_table(tmp_path / "t.npz", missing="drop").dropped_rows == 1
    np.savez(tmp_path / "t.npz", X=values[10:])
    assert "at least 30 rows; found 26 in t.npz" in message(tmp_path / "t.npz")


def test_pickle_is_never_loaded(tmp_path):
    (tmp_path / "t.npz").write_bytes(pickle.dumps({"X": 1}))
    assert "pickle is never loaded" in message(tmp_path / "t.npz")
