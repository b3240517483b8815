"""Every kind of table gives the same data set; bad ones are in test_bad_tables.py."""

import csv
import decimal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seacausal import discover
from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.table import read_table

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
        case "dict":
            return frame.to_dict(as_series=False)
        case "pandas":
            return frame.to_pandas().set_index(pd.Index(range(7, 7 + len(frame)), name="id"))
        case "pyarrow":
            return frame.to_arrow()
    return path


SOURCES = (
    "csv csv_semicolon csv_crlf csv_pandas tsv txt_tab txt_comma txt_semicolon parquet parquet_pandas polars pandas pyarrow dict".split()  # noqa: SIM905
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
    entries = [None, "", "Raf", ["a,b", "Raf"], ["", None], np.float32("nan")] * 6
    found = read_table(source, interventions=entries)
    assert [tuple(np.flatnonzero(row)) for row in found.targets[found.regime[:6]]] == [(), (), (0,), (0, 2), (), ()]
    assert_same(found, read_table(source, interventions=np.array(entries, dtype=object)))
    assert_same(found, read_table(source, interventions=pd.Series(entries)))


def test_regimes_are_numbered_by_first_appearance_after_the_observational_one():
    found = read_table(random_values(d=3), interventions=["X3", "X1", None, "X3"] * 9)
    np.testing.assert_array_equal(found.regime[:4], [1, 2, 0, 1])
    np.testing.assert_array_equal(found.targets, [[0, 0, 0], [0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize("kind", [np.asarray, lambda mask: mask.astype(bool), lambda mask: pd.DataFrame(mask.astype(float)), pl.DataFrame])
def test_an_array_of_numbers_says_what_was_intervened_on(kind):
    values, names = random_values(d=3), ["0", "1", "2"]
    mask = np.tile([[0, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 0]], (9, 1))
    expected = read_table(values, names=names, interventions=[np.flatnonzero(row).tolist() for row in mask])
    assert_same(read_table(values, names=names, interventions=kind(mask)), expected)
    assert_same(read_table(pd.DataFrame(values, columns=names), interventions=kind(mask)), expected)


def test_an_array_of_numbers_without_controls_numbers_regimes_by_appearance():
    mask = np.tile([[1, 0], [0, 1], [1, 1]], (12, 1))
    found = read_table(random_values(d=2), interventions=mask)
    assert found.targets.tolist() == [[True, False], [False, True], [True, True]]
    assert found.regime.tolist() == [0, 1, 2] * 12


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
        assert found.counters in (("",), ("Unnamed: 0",))
        np.testing.assert_array_equal(found.values, values)
    for rows in (np.arange(36) * 2, [f"car {i}" for i in range(36)], np.random.default_rng(0).permutation(36)):
        frame.set_index(pd.Index(rows)).to_csv(tmp_path / "other.csv")
        assert read_table(tmp_path / "other.csv").names == read_table(pd.read_csv(tmp_path / "other.csv")).names == ("a", "b", "c")
    frame.set_index(np.arange(36) // 2).to_csv(tmp_path / "other.csv")
    text = message(tmp_path / "other.csv")
    assert text.startswith("Every column of other.csv must have a name; column 1 has none.")
    assert "to_csv(..., index=False)" in text


def test_numbers_of_rows_are_left_out_unless_asked_for_or_called_otherwise(tmp_path):
    frame = pd.DataFrame(random_values(d=2), columns=["a", "b"])
    for name in ("id", "PassengerId", "row_names", "No.", "Sample", "patient", "seq"):
        counted = frame.assign(**{name: range(1, 37)})
        counted.to_csv(tmp_path / "t.csv", index=False)
        for source in (counted, tmp_path / "t.csv"):
            assert (read_table(source).names, read_table(source).counters) == (("a", "b"), (name,))
            asked = read_table(source, columns=["a", name])
            assert (asked.names, asked.counters) == (("a", name), ())
    others = {"day": range(1, 37), "x": range(36), "paid": range(36), "acid": range(36), "id": [1] * 18 + [2] * 18, "y_id": np.arange(36) / 2}
    for name, cells in others.items():
        kept = read_table(frame.assign(**{name: cells}))
        assert (len(kept.names), kept.counters) == (3, ()), name


def test_identifiers_are_left_out(tmp_path):
    frame = pd.DataFrame(random_values(d=2), columns=["a", "b"])
    texts, missing = [f"c{i}" for i in range(36)], [None, *range(1, 36)]
    held = {"id": range(36, 0, -1), "Patient ID": range(7, 187, 5), "cellID": texts, "subjectid": np.arange(36) // 2, "user_id": missing}
    for name, cells in held.items():
        named = frame.assign(**{name: cells})
        named.to_csv(tmp_path / "t.csv", index=False)
        for source in (named, tmp_path / "t.csv"):
            assert (read_table(source).names, read_table(source).counters) == (("a", "b"), (name,))
    assert read_table(frame[["a"]].assign(id=range(36))).names == ("a", "id")
    assert read_table(frame.assign(store_id=np.arange(36) // 4)).names == ("a", "b", "store_id")


def test_dates_as_numbers_are_left_out_where_they_rise_along_the_table(tmp_path):
    frame = pd.DataFrame(random_values(d=2), columns=["a", "b"])
    days = pd.date_range("1999-12-20 23:10", periods=36, freq="25h")
    seconds = days.astype("datetime64[s]").astype(np.int64).to_numpy() + 10**9
    stamps = {form: [int(day.strftime(form)) for day in days] for form in ("%Y%m%d", "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S")}
    stamps |= {f"since 1970, by {unit}": seconds * unit for unit in (1, 10**3, 10**6, 10**9)}
    stamps |= {"months": [year * 100 + month for year in (2020, 2021, 2022) for month in range(1, 13)], "newest first": stamps["%Y%m%d"][::-1]}
    stamps |= {"with a gap": [*stamps["%Y%m%d"][:-1], None], "some twice": np.repeat(seconds, 2)[:36]}
    for kind, cells in stamps.items():
        dated = frame.assign(when=cells)
        dated.to_csv(tmp_path / "t.csv", index=False)
        for source in (dated, tmp_path / "t.csv"):
            assert (read_table(source).names, read_table(source).counters) == (("a", "b"), ("when",)), kind
        assert read_table(dated, columns=["a", "when"], missing="drop").names == ("a", "when")
    mixed = np.random.default_rng(0).permutation
    others = {"not in order": mixed(seconds), "no month": np.arange(202013, 202049), "amounts": np.arange(36) * 500_000 + 19_000_000}
    others |= {"few days": np.repeat(stamps["%Y%m%d"][:9], 4), "years": np.arange(1950, 1986), "fractions": seconds + 0.5, "large": seconds * 50}
    for kind, cells in others.items():
        assert read_table(frame.assign(when=cells)).counters == (), kind


def test_texts_that_hardly_repeat_name_the_rows_whatever_their_column_is_called(tmp_path):
    frame = pd.DataFrame(random_values(d=2), columns=["a", "b"])
    codes = [f"AAC-{i}" for i in range(36)]
    for cells in (codes, [None, *codes[1:]], ["AAC-5", *codes[1:]], [f"P{i // 2}" for i in range(36)]):
        named = frame.assign(barcode=cells)
        named.to_csv(tmp_path / "t.csv", index=False)
        for source in (named, tmp_path / "t.csv"):
            left = (("a", "b"), ("barcode",))
            if len(set(cells)) > 18:
                assert (read_table(source).names, read_table(source).counters) == left
            else:
                assert message(source).startswith("Column 'barcode'")
    others = {
        "a number": ["7", *codes[1:]],
        "days": [f"2020-01-{day:02}" for day in range(1, 37)],
        "measured": [f"pH {7 + i / 100}" for i in range(36)],
    }
    others |= {"what was acted on": ["a", *codes[1:]], "guides": [f"{'ab'[i % 2]}_sg{i}" for i in range(36)]}
    for name, cells in others.items():
        frame.assign(label=cells).to_csv(tmp_path / "t.csv", index=False)
        assert message(tmp_path / "t.csv").startswith("Column 'label' must hold"), name


def test_numpy_and_npz_import_no_frame_library(tmp_path):
    np.savez(tmp_path / "t.npz", X=random_values())
    code = (
        "import sys, numpy as np; from seacausal.io.table import read_table; import seacausal.io.results;"
        f"read_table(np.ones((40, 3)) * np.arange(3)); read_table({str(tmp_path / 't.npz')!r});"
        "assert not {'polars', 'pandas', 'narwhals', 'pyarrow', 'networkx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_identifiers_are_ignored_and_columns_chosen(table):
    rows = {row: f"s{row},2020-01-{row % 28 + 1:02},{row},{row * row % 7},wt" for row in range(1, 41)}
    path = table(header="id,day,a,b,guide", changes=rows)
    for found in (
        read_table(path, ignore=["id", "day", "guide"]),
        read_table(path, columns=["b", "a"]),
        read_table(pd.read_csv(path), columns=("a", "b")),
    ):
        assert found.names == ("a", "b")
        np.testing.assert_array_equal(found.values[2], [3, 2])
    told = read_table(path, interventions="guide", control="wt", columns=["a", "b"])
    assert told.names == ("a", "b")
    assert not told.interventional


def test_controls_plus_signs_and_targets_that_are_no_columns():
    entries = ["wt", "X1+X2", " wt ", "X2+wt", "X3", None, "X1", "X2+X3", "X1,X2"] * 5
    values = np.random.default_rng(0).normal(size=(45, 2))
    found = read_table(values, interventions=entries, control="wt", other_targets="drop")
    assert dict(found.foreign) == {"X3": 5, "X2+X3": 5}
    np.testing.assert_array_equal(found.targets[found.regime][:7], [[0, 0], [1, 1], [0, 0], [0, 1], [0, 0], [1, 0], [1, 1]])
    np.testing.assert_array_equal(found.values, values[[entry not in ("X3", "X2+X3") for entry in entries]])
    plus = read_table(random_values(d=2), names=["CD8+", "CD4+"], interventions=["CD8+", "CD4+,CD8+", None] * 12)
    np.testing.assert_array_equal(plus.targets[plus.regime][:3], [[1, 0], [1, 1], [0, 0]])


def test_guides_for_two_genes_are_split_where_all_pieces_are_known():
    names, labels = ["NKX2_1", "TP53", "A|B"], ["ctrl_TP53", "NKX2_1_TP53", "NKX2_1", "TP53_NKX2_1_A|B", "TP53 | A|B", "ctrl", "TP53;NKX2_1", "A|B"]
    found = read_table(random_values(n=40, d=3), names=names, interventions=labels * 5, control="ctrl")
    expected = [[0, 1, 0], [1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(found.targets[found.regime][:8], expected)
    for label in ("TP53_KRAS", "TP53_", "_TP53", "TP53__A|B", "_".join(["TP53"] * 60) + "_"):
        with pytest.raises(DataError, match="must name variables of the table; found"):
            read_table(random_values(n=40, d=3), names=[*names[:2], "TP53_TP53"], interventions=[label, *["NKX2_1", None] * 20][:40])
    dropped = read_table(random_values(n=40, d=3), names=names, interventions=["TP53_KRAS", "TP53", None, None] * 10, other_targets="drop")
    assert dict(dropped.foreign) == {"TP53_KRAS": 10}


def test_guides_stand_for_their_targets_and_are_named():
    labels = ["GATA1_1", "sgGATA1", "sh-KLF1.12", "nt_3", "KLF1-2+GATA1_1", None, "HLA_1", "nt"]
    found = read_table(random_values(n=40, d=3), names=["GATA1", "KLF1", "HLA_1"], interventions=labels * 5, control="nt")
    expected = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_array_equal(found.targets[found.regime][:8], expected)
    assert dict(found.guides) == {"GATA1_1": "GATA1", "sgGATA1": "GATA1", "sh-KLF1.12": "KLF1", "KLF1-2": "KLF1"}
    assert found.unlabelled == 5
    listed = read_table(random_values(n=40, d=2), names=["a", "b"], interventions=[["a_1", "b"], [], ["b"], []] * 10)
    assert (listed.guides, listed.unlabelled) == ((("a_1", "a"),), 0)
    for label in ("GATA2_1", "GATA1_1234", "GATA1_g1", "GATA1x", "sg"):
        with pytest.raises(DataError, match="must name variables of the table; found"):
            read_table(random_values(n=40, d=2), names=["GATA1", "KLF1"], interventions=[label, "KLF1"] * 20)
    with pytest.raises(DataError, match=r"found '?1\.5'? in row 2"):
        read_table(random_values(n=40, d=2), names=["1", "2"], interventions=[1, 1.5] * 20)


def test_rows_that_share_an_id_are_named():
    values = np.random.default_rng(3).normal(size=(120, 3))
    frame = pd.DataFrame(values, columns=list("abc")).assign(sample_id=np.arange(120) // 4, patient_id=np.arange(120) % 100)
    graph = discover(frame)
    assert graph.dataset["counters"] == ["sample_id", "patient_id"]
    assert graph.dataset["shared"] == {"sample_id": 30}
    assert any(note.startswith("Rows that share a value of sample_id (30 values) are not independent") for note in graph.notes())
    assert read_table(frame.drop(columns="sample_id")).shared == ()


def test_labels_that_differ_from_columns_in_case_alone_are_not_dropped():
    for labels in (["gata1", "KLF1"], ["gata1", None]):
        with pytest.raises(DataError, match=r"must be written alike; found 'gata1' \(20 rows\) beside the column 'GATA1'\. Rename one of both\."):
            read_table(random_values(n=40, d=2), names=["GATA1", "KLF1"], interventions=labels * 20, other_targets="drop")


def test_several_controls_and_rows_that_are_named_as_they_were(table):
    found = read_table(random_values(d=2), interventions=["NT1", "X1", "NT2", "X1+NT2"] * 9, control=["NT1", "NT2"])
    np.testing.assert_array_equal(found.targets[found.regime][:4], [[0, 0], [1, 0], [0, 0], [1, 0]])
    path = table(header="a,b,t", changes={**{row: f"{row},{row % 7},b" for row in range(1, 41)}, 2: "2,2,other", 9: "9,,b"})
    text = message(path, interventions="t", other_targets="drop")
    assert "found a missing value in row 9 (line 10 of table.csv)" in text


def test_categories_in_an_order_are_numbered_in_it():
    kinds = ["low", "medium", "high"] * 12
    for frame in (
        pd.DataFrame({"a": np.arange(36.0) ** 2, "dose": pd.Categorical(kinds, categories=["low", "medium", "high", "none"], ordered=True)}),
        pl.DataFrame({"a": np.arange(36.0) ** 2, "dose": pl.Series(kinds, dtype=pl.Enum(["low", "medium", "high"]))}),
    ):
        found = read_table(frame)
        assert found.categories == (("dose", ("low", "medium", "high")),)
        np.testing.assert_array_equal(found.values[:3, 1], [0, 1, 2])
    plain = read_table(pd.DataFrame({"a": np.arange(36.0) ** 2, "dose": kinds}))
    assert plain.categories == (("dose", ("high", "low", "medium")),)


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


@needs_shared
def test_the_sachs_table():
    found = read_table(SHARED / "sachs" / "dcdi_5846" / "uniform.npz")
    assert found.names == ("Raf", "Mek", "PLCg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "p38", "JNK")
    assert found.values.shape == (5846, 11)
    assert (~found.targets[found.regime].any(axis=1)).sum() == 1755
    assert found.adjacency is not None
    assert found.adjacency.sum() == 17
    assert found.adjacency[found.names.index("Raf"), found.names.index("Mek")]
