"""Every kind of table gives the same data set, and every kind of bad table an error that says where and what to do."""

import csv
import datetime
import decimal
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.table import MIN_ROWS, read_table

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data, the benchmark data beside the repository, is absent")

LETTERS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], include_characters="\n\t,;\"' "), min_size=1)
NAMES = ("Raf", "p38 (T180)", "a,b", 'say "hi"', "Mek;x", "蛋白質 β", "two\nlines", " padded ")
TARGETS = ["", "Raf", '"a,b",Raf', "a,b", 'say "hi"', "two\nlines", "padded,Mek;x", None, "Raf, 蛋白質 β"]
MEANT = [(), (0,), (0, 2), (2,), (3,), (6,), (4, 7), (), (0, 5)]


def random_values(n=36, d=len(NAMES), seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def frame_of(values, names=NAMES, **more):
    return pl.DataFrame({**{name: values[:, i] for i, name in enumerate(names)}, **more})


def cells(n=36):
    return [TARGETS[i % len(TARGETS)] for i in range(n)]


def message(source, **options):
    with pytest.raises(DataError) as caught:
        read_table(source, **options)
    return str(caught.value)


def assert_same(one: Dataset, other: Dataset):
    assert one.names == other.names
    assert one.values.dtype == other.values.dtype == np.float64
    assert one.values.flags.c_contiguous
    assert other.values.flags.c_contiguous
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.targets[one.regime], other.targets[other.regime])
    assert one.dropped_rows == other.dropped_rows


@pytest.fixture
def table(tmp_path):
    """Writes a text file: a header, 40 rows of numbers, and what a test changes in them."""

    def write(*, header="Raf,Mek,Erk", changes=None, name="table.csv", rows=40, encoding="utf-8", end="\n"):
        width = len(next(csv.reader([header])))
        lines = [",".join(f"{row + column / 10}" for column in range(width)) for row in range(1, rows + 1)]
        for row, line in (changes or {}).items():
            lines[row - 1] = line
        path = tmp_path / name
        path.write_bytes((end.join([header, *lines]) + end).encode(encoding))
        return path

    return write


# ---------------------------------------------------------------- what is read


def write_source(kind, frame, folder):
    path = folder / f"table.{kind.split('_')[0]}"
    match kind:
        case "csv":
            frame.write_csv(path)
        case "csv_semicolon":
            frame.write_csv(path, separator=";")
        case "csv_crlf":
            frame.write_csv(path, line_terminator="\r\n", include_bom=True)
        case "csv_pandas":
            frame.to_pandas().to_csv(path)  # with its index, a first column without a name
        case "tsv" | "txt_tab":
            frame.write_csv(path, separator="\t")
        case "txt_comma":
            frame.write_csv(path)
        case "txt_semicolon":
            frame.write_csv(path, separator=";", quote_style="always")
        case "parquet":
            frame.write_parquet(path)
        case "parquet_pandas":
            frame.to_pandas().set_index(pd.Index(range(5, 5 + len(frame)), name="id")[::-1]).to_parquet(path)
        case "polars":
            return frame
        case "pandas":
            return frame.to_pandas().set_index(pd.Index(range(7, 7 + len(frame)), name="id"))
        case "pyarrow":
            return frame.to_arrow()
    return path


SOURCES = (
    "csv csv_semicolon csv_crlf csv_pandas tsv txt_tab txt_comma txt_semicolon parquet parquet_pandas polars pandas pyarrow".split()  # noqa: SIM905
)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_dataset(kind, tmp_path):
    values = random_values()
    expected = read_table(values, names=NAMES, interventions=[[NAMES[i] for i in MEANT[row % len(MEANT)]] for row in range(36)])
    assert expected.names == NAMES
    found = read_table(write_source(kind, frame_of(values, target=cells()), tmp_path), interventions="target")
    assert_same(found, expected)
    for row in range(36):
        assert tuple(np.flatnonzero(found.targets[found.regime[row]])) == MEANT[row % len(MEANT)]
    assert found.interventional


@pytest.mark.parametrize("kind", SOURCES)
def test_observational_tables(kind, tmp_path):
    found = read_table(write_source(kind, frame_of(random_values()), tmp_path))
    assert found.names == NAMES
    assert not found.interventional
    assert found.adjacency is None
    np.testing.assert_array_equal(found.values, random_values())


@pytest.mark.parametrize("kind", SOURCES)
def test_a_sequence_of_interventions_fits_every_source(kind, tmp_path):
    source = write_source(kind, frame_of(random_values()), tmp_path)
    entries = [None, "", "Raf", ["a,b", "Raf"], (), np.nan] * 6
    found = read_table(source, interventions=entries)
    assert [tuple(np.flatnonzero(row)) for row in found.targets[found.regime[:6]]] == [(), (), (0,), (0, 2), (), ()]
    assert_same(found, read_table(source, interventions=np.array(entries, dtype=object)))
    assert_same(found, read_table(source, interventions=pd.Series(entries)))


def test_regimes_are_numbered_by_first_appearance_after_the_observational_one():
    found = read_table(random_values(d=3), interventions=["X3", "X1", None, "X3"] * 9)
    np.testing.assert_array_equal(found.regime[:4], [1, 2, 0, 1])
    np.testing.assert_array_equal(found.targets, [[0, 0, 0], [0, 0, 1], [1, 0, 0]])


def test_interventions_column_may_stand_anywhere_and_be_empty(tmp_path):
    values = random_values(d=2)
    for position in range(3):
        columns = {"a": values[:, 0], "b": values[:, 1]}
        names = [*"ab"[:position], "t", *"ab"[position:]]
        frame = pl.DataFrame({**columns, "t": [None] * 36}, schema_overrides={"t": pl.String}).select(names)
        frame.write_csv(tmp_path / "table.csv")
        for source in (frame, tmp_path / "table.csv"):
            found = read_table(source, interventions="t")
            assert found.names == ("a", "b")
            assert not found.interventional
            np.testing.assert_array_equal(found.values, values)


def test_interventions_that_are_numbers_lists_or_categories():
    values = random_values(d=3)
    expected = read_table(values, names=["1", "2", "3"], interventions=["2", None, "1"] * 12)
    pandas = pd.DataFrame(values, columns=[1, 2, 3])
    assert_same(read_table(pandas.assign(t=[2, None, 1] * 12), interventions="t"), expected)
    assert_same(read_table(pandas.assign(t=pd.Categorical(["2", None, "1"] * 12)), interventions="t"), expected)
    frame = pl.DataFrame(values, schema=["1", "2", "3"])
    assert_same(read_table(frame.with_columns(t=pl.Series([["2"], [], ["1"]] * 12)), interventions="t"), expected)
    assert_same(read_table(frame.with_columns(t=pl.Series([["2"], None, ["1"]] * 12)).to_arrow(), interventions="t"), expected)


def test_a_variable_called_na_can_be_intervened_on(tmp_path):
    frame = pl.DataFrame({"NA": random_values(d=1)[:, 0], "K": random_values(d=1)[:, 0], "t": ["NA", None, "na"] * 12})
    frame.write_csv(tmp_path / "t.csv")
    for source in (frame, tmp_path / "t.csv"):
        found = read_table(source, interventions="t")
        np.testing.assert_array_equal(found.targets[found.regime[:3]], [[1, 0], [0, 0], [0, 0]])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(LETTERS, min_size=2, max_size=5, unique=True),
    delimiter=st.sampled_from(",\t"),
)
def test_names_survive_the_round_trip_through_csv(names, delimiter, tmp_path):
    names = [f"x{name}" for name in names]  # not a number, not blank
    values = random_values(30, len(names))
    path = tmp_path / ("table.csv" if delimiter == "," else "table.tsv")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow([*names, "target"])
        writer.writerows([*row, names[i % len(names)]] for i, row in enumerate(values.tolist()))
    found = read_table(path, interventions="target")
    assert found.names == tuple(names)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.targets[found.regime], np.eye(len(names), dtype=bool)[np.arange(30) % len(names)])


def test_whole_numbers_booleans_and_decimals_are_cast(tmp_path):
    n = 30
    columns = {"i": [*range(n)], "b": [i % 3 == 0 for i in range(n)], "d": [decimal.Decimal(i) / 4 for i in range(n)], "f": [i / 8 for i in range(n)]}
    expected = np.array([[float(column[i]) for column in columns.values()] for i in range(n)])
    frame = pl.DataFrame(columns)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    pandas = pd.DataFrame(columns)
    pandas.to_csv(tmp_path / "p.csv", index=False)
    nullable = pandas.convert_dtypes()
    as_text = frame.with_columns(pl.all().cast(pl.String))
    arrow = pandas.astype({"i": "int8", "f": "float32"})
    for source in (frame, frame.to_arrow(), pandas, nullable, as_text, arrow, tmp_path / "t.csv", tmp_path / "p.csv", tmp_path / "t.parquet"):
        np.testing.assert_array_equal(read_table(source).values, expected)
    for dtype in (np.int8, np.uint16, np.float16, np.float32, bool, object, str):
        array = expected.astype(dtype)
        np.testing.assert_array_equal(read_table(array).values, array.astype(np.float64))


def test_arrays_are_named_x1_and_on_and_not_copied():
    values = random_values(d=2)
    found = read_table(values)
    assert found.names == ("X1", "X2")
    assert np.shares_memory(found.values, values)
    assert read_table(np.asfortranarray(values)).values.flags.c_contiguous


def test_columns_without_str_names_and_blank_lines(table):
    assert read_table(pd.DataFrame(random_values(d=3))).names == ("0", "1", "2")
    path = table()
    text, expected = path.read_text(), read_table(path).values
    for other in (
        text + "\n\n",
        text + "\r\n",
        text.replace("\n", "\n\n"),
        "\n" + text,
        text.replace("\n", "\r"),
        text.replace("\n", "\r", 1),
        text.rstrip("\n"),
    ):
        path.write_bytes(other.encode())
        np.testing.assert_array_equal(read_table(path).values, expected)


def test_padded_and_quoted_numbers_are_read(table):
    found = read_table(table(changes={1: " 1.5 , +2,.5 ", 7: '"1","-1e3","2."', 8: "1,2 ,3"}))
    np.testing.assert_array_equal(found.values[[0, 6, 7]], [[1.5, 2, 0.5], [1, -1000, 2], [1, 2, 3]])


def test_row_numbers_that_pandas_or_r_wrote_are_left_out(table, tmp_path):
    values = random_values(d=3)
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "pandas.csv")
    frame.set_index(np.arange(1, 37)).to_csv(tmp_path / "r.csv", quoting=csv.QUOTE_NONNUMERIC)
    for source in (tmp_path / "pandas.csv", tmp_path / "r.csv", pd.read_csv(tmp_path / "pandas.csv"), pl.read_csv(tmp_path / "pandas.csv")):
        found = read_table(source)
        assert found.names == ("a", "b", "c")
        np.testing.assert_array_equal(found.values, values)
    frame.set_index(np.arange(36) * 2).to_csv(tmp_path / "other.csv")
    text = message(tmp_path / "other.csv")
    assert text.startswith("Every column of other.csv must have a name; column 1 has none.")
    assert "to_csv(..., index=False)" in text


def test_numpy_and_npz_import_no_frame_library(tmp_path):
    np.savez(tmp_path / "t.npz", X=random_values())
    code = (
        "import sys, numpy as np; from seacausal.io.table import read_table; import seacausal.io.results;"
        f"read_table(np.ones((40, 3)) * np.arange(3)); read_table({str(tmp_path / 't.npz')!r});"
        "assert not {'polars', 'pandas', 'narwhals', 'pyarrow', 'networkx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_text_that_begins_like_an_archive(table):
    assert read_table(table(header="x^,0")).names == ("x^", "0")  # the first two bytes of a zlib stream


CHANGES = [",", "\n", "\r", '"', ";", " ", "0", "x", "NA", "nan", "\n\n", "\r\n", ",,,\n", "true", "a"]


@pytest.mark.parametrize("seed", range(200))
def test_the_fast_way_through_text_equals_the_slow_one(seed, table, monkeypatch):
    random = np.random.default_rng(seed)
    path = table(header="a,b,c,t", changes={row: f"{row},-{row}.5,{row}e-3,{cell}" for row, cell in zip(range(1, 41), ["a", "", '"a,b"', "c"] * 10)})
    text = path.read_text()
    for _ in range(random.integers(4)):
        place, width = random.integers(len(text)), random.integers(2)
        text = text[:place] + str(random.choice([*CHANGES, ""])) + text[place + width :]
    path.write_bytes(text.encode())

    def read():
        try:
            return read_table(path, interventions="t", missing="drop")
        except DataError as error:
            return str(error)

    fast = read()
    monkeypatch.setattr("seacausal.io.text._read_fast", lambda *arguments: None)
    slow = read()
    if isinstance(fast, Dataset) and isinstance(slow, Dataset):
        assert_same(fast, slow)
    else:
        assert fast == slow


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
    assert "`missing` must be 'error' or 'drop'; found 'impute'." in message(values, missing="impute")


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


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".parquet", ".npz"])
def test_empty_files(suffix, tmp_path):
    path = tmp_path / f"empty{suffix}"
    path.touch()
    assert "must not be empty" in message(path)


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


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.csv.gz", "table.npy"])
def test_unknown_suffixes(name, table):
    suffix = Path(name).suffix
    text = message(table(name=name))
    assert f"must be one of .csv, .tsv, .txt, .parquet, .npz; found {suffix or 'none'!r} in {name!r}" in text


def test_suffixes_may_be_upper_case(table):
    assert read_table(table(name="TABLE.CSV")).names == ("Raf", "Mek", "Erk")


def test_paths_are_taken_literally(table):
    assert read_table(str(table(name="t[1]*.csv"))).values.shape == (40, 3)


@pytest.mark.parametrize("changes", [None, {12: "1,2,ä"}])
def test_text_that_is_not_utf8(changes, table):
    text = message(table(header="Raf,Mek,Erk" if changes else "Raf,Mék,Erk", changes=changes, encoding="latin-1"))
    line, byte = (13, "e4") if changes else (1, "e9")
    assert text.startswith(f"table.csv must be UTF-8 text; found the byte 0x{byte} in line {line}. Save it as UTF-8")
    assert "found the byte 0xff in line 1" in message(table(encoding="utf-16"))


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
    path = table(changes={17: "1,2,n/a", 20: "1,2,?"})
    rows = [line.split(",") for line in path.read_text().splitlines()]
    text = message(path)
    assert text.startswith("Column 'Erk' must hold numbers; found 'n/a' in row 17 (line 18 of table.csv). Correct or drop the cell")
    assert "in row 1 (line 2 of table.csv)" in message(table(changes={1: "x,2,3"}))
    assert "found '1_000' in row 2" in message(table(changes={2: "1_000,2,3"}))
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    for source in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame), frame.astype("category"), frame.astype(object)):
        assert message(source).startswith("Column 'Erk' must hold numbers; found 'n/a' in row 17 of the table.")
    assert message(frame.to_numpy(object)).startswith("Column 'X3' must hold numbers; found 'n/a' in row 17 of the array.")


def test_a_column_of_text_suggests_interventions(table):
    path = table(changes=dict.fromkeys(range(1, 41), "1,2,Raf"))
    assert "found 'Raf' in row 1 (line 2 of table.csv)" in message(path)
    assert "pass interventions='Erk' (`--interventions`)" in message(path)


def test_a_typo_among_booleans(table):
    path = table(changes={**dict.fromkeys(range(1, 41), "1,2,True"), 5: "1,2,Flase"})
    assert message(path).startswith("Column 'Erk' must hold true or false; found 'Flase' in row 5 (line 6 of table.csv).")


def test_decimal_commas(table):
    path = table(header="Raf;Mek", changes=dict.fromkeys(range(1, 41), "1,5;2,5"))
    assert message(path) == "Column 'Raf' must hold numbers; found '1,5' in row 1 (line 2 of table.csv). Write decimals with a point."


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


def test_bad_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    frame_of(random_values()).write_parquet(path)
    whole = path.read_bytes()
    for damaged in (b"Raf,Mek\n1,2\n" * 40, whole[:-100], whole[:8] + whole[-8:]):
        path.write_bytes(damaged)
        text = message(path)
        assert text.startswith("t.parquet must be an intact Parquet file; reading it failed: ")
        assert "Write or copy it again." in text
    pa.parquet.write_table(pa.table([[1.0], [2.0]], names=["a", "a"]), path)
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
    assert "found '7' in row 1" in message(random_values(d=2), interventions=[7] * 36)


def test_interventions_of_the_wrong_length():
    text = message(random_values(d=2), interventions=[None] * 35)
    assert text == "`interventions` must have one entry for each of the 36 rows of the array; found 35. Add or remove entries."
    assert "must be a column's name or one entry for each row; found 5" in message(random_values(d=2), interventions=5)


def test_sources_that_are_no_table():
    assert "found a lazy LazyFrame. Call collect() on it first." in message(pl.LazyFrame({"a": [1.0]}))
    for source in ([[1.0, 2.0]], {"a": [1.0]}, None, pd.Series([1.0]), pl.Series([1.0])):
        text = message(source)
        assert text.startswith("The table must be a path, a pandas, polars or pyarrow frame, or a 2-D numpy array; found ")
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


def test_npz_interventions_and_graph(tmp_path):
    values = random_values(d=3)
    regime, mask, graph = np.arange(36) % 2, np.array([[0, 0, 0], [0, 1, 1]]), np.triu(np.ones((3, 3)), 1)
    np.savez(tmp_path / "t.npz", X=values.astype(np.float32), names=["a", "b", "c"], regime=regime, mask=mask, A=graph)
    found = read_table(tmp_path / "t.npz")
    np.testing.assert_array_equal(found.values, values.astype(np.float32).astype(np.float64))
    np.testing.assert_array_equal(found.targets[found.regime], mask.astype(bool)[regime])
    np.testing.assert_array_equal(found.adjacency, graph.astype(bool))
    assert not read_table(tmp_path / "t.npz", interventions=[None] * 36).interventional


def test_npz_of_several_datasets_needs_an_index(tmp_path):
    sets = np.stack([random_values(d=3, seed=seed) for seed in range(3)])
    np.savez(tmp_path / "t.npz", X=sets)
    assert message(tmp_path / "t.npz") == "t.npz holds 3 data sets; say which one with `index`, from 0 to 2."
    assert "`index` must lie between 0 and 2, for t.npz holds 3 data sets; found 3." in message(tmp_path / "t.npz", index=3)
    assert "found -1" in message(tmp_path / "t.npz", index=-1)
    np.testing.assert_array_equal(read_table(tmp_path / "t.npz", index=2).values, sets[2])


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


@needs_shared
def test_the_sachs_table():
    found = read_table(SHARED / "sachs" / "dcdi_5846" / "uniform.npz")
    assert found.names == ("Raf", "Mek", "PLCg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "p38", "JNK")
    assert found.values.shape == (5846, 11)
    assert (~found.targets[found.regime].any(axis=1)).sum() == 1755
    assert found.adjacency is not None
    assert found.adjacency.sum() == 17
    assert found.adjacency[found.names.index("Raf"), found.names.index("Mek")]
