"""Result files: what is in them, what reads them, and that none is ever half-written."""

import csv
import io
import json
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.data import EdgeProbabilities
from seacausal.errors import DataError
from seacausal.io import files
from seacausal.io.results import format_edges_csv, format_graphml, format_json, prepare_folder, read_edges, write_results

LETTERS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], include_characters="\n\t,\"'<&>"), min_size=1)
NAMES = ("Raf", "p38 (T180)", "a,b", 'say "hi"', "<M&M's>", "蛋白質 β", "two\nlines", " padded ")


def probabilities(names=NAMES, seed=0):
    d = len(names)
    parts = np.random.default_rng(seed).dirichlet([1, 1, 1], size=(d, d))
    direct = np.triu(parts[..., 0], 1) + np.triu(parts[..., 1], 1).T
    return EdgeProbabilities(direct, names)


def test_edges_csv_lists_every_pair_in_column_order():
    direct = np.array([[0, 0.25, 0], [0.5, 0, 1 / 3], [1e-9, 2 / 3, 0]])
    text = format_edges_csv(EdgeProbabilities(direct, ("a", "b,c", 'd"'))).decode()
    assert text == ('source,target,p_direct,p_reverse,p_absent\na,"b,c",0.25,0.5,0.25\na,"d""",0.0,0.0,1.0\n"b,c","d""",0.33333333,0.66666667,0.0\n')


def test_edges_csv_is_read_by_pandas_and_polars():
    import pandas as pd
    import polars as pl

    content = format_edges_csv(probabilities())
    expected = probabilities()
    for frame in (pd.read_csv(io.BytesIO(content)), pl.read_csv(content)):
        assert list(frame.columns) == ["source", "target", "p_direct", "p_reverse", "p_absent"]
        assert len(frame) == 28
        assert list(frame["target"])[:7] == list(NAMES[1:])
        np.testing.assert_allclose(frame["p_direct"].to_numpy()[:7], expected.direct[0, 1:], atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.lists(LETTERS, min_size=2, max_size=5, unique=True))
def test_edges_and_graphml_keep_every_name(names):
    import tempfile

    written = probabilities(tuple(names))
    with tempfile.TemporaryDirectory() as folder:
        write_results(folder, {"edges.csv": format_edges_csv(written)})
        found = read_edges(Path(folder, "edges.csv"))
    assert found.names == written.names
    np.testing.assert_allclose(found.direct, written.direct, atol=1e-8)
    graph = nx.parse_graphml(format_graphml(written, 0.2).decode())
    assert [data["name"] for _, data in graph.nodes(data=True)] == names


def test_edges_of_float32_probabilities_are_tidy():
    written = EdgeProbabilities(probabilities().direct.astype(np.float32), NAMES)
    row = next(csv.DictReader(io.StringIO(format_edges_csv(written).decode(), newline="")))
    assert sum(float(row[key]) for key in ("p_direct", "p_reverse", "p_absent")) == pytest.approx(1, abs=2e-8)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("p_direct", "p"), "must hold source, target, p_direct, p_reverse, p_absent of every pair"),
        (lambda text: text[: text.rindex("\nc") + 1], "of every pair in the order of the columns"),
        (lambda text: text.replace("b,c", "c,b"), "of every pair in the order of the columns"),
        (lambda text: text.replace(",1.0\n", "\n"), "of every pair in the order of the columns"),
        (lambda text: text.replace("0.25", "x"), "Column 'p_direct' must hold numbers; found 'x' in row 1 of edges.csv"),
        (lambda text: text.replace("0.25", "0.75"), "must be at least 0 and sum to at most 1"),
        (lambda text: text.replace("0.25", "nan"), "must be at least 0 and sum to at most 1"),
        (lambda text: text.splitlines()[0], "of every pair"),
        (lambda text: "\n", "of every pair"),
        (lambda text: text + '"c,d', "must be well-formed UTF-8 csv"),
    ],
)
def test_edges_that_are_not_ours_are_refused(change, said, tmp_path):
    direct = np.array([[0, 0.25, 0, 0], [0.5, 0, 0.1, 0.2], [0, 0, 0, 0], [0, 0, 0, 0]])
    path = tmp_path / "edges.csv"
    path.write_text(change(format_edges_csv(EdgeProbabilities(direct, ("a", "b", "c", "d"))).decode()))
    with pytest.raises(DataError) as caught:
        read_edges(path)
    assert said in str(caught.value)


def test_graphml_is_read_by_networkx(tmp_path):
    written = probabilities()
    path = tmp_path / "graph.graphml"
    path.write_bytes(format_graphml(written, 0.4))
    graph = nx.read_graphml(path)
    assert isinstance(graph, nx.DiGraph)
    assert [graph.nodes[f"n{i}"]["name"] for i in range(len(NAMES))] == list(NAMES)
    edges = {(int(i[1:]), int(j[1:])): data["probability"] for i, j, data in graph.edges(data=True)}
    assert set(edges) == {(i, j) for i, j in np.argwhere(written.direct > 0.4).tolist()}
    assert all(value == pytest.approx(written.direct[pair], abs=1e-8) for pair, value in edges.items())
    assert nx.parse_graphml(format_graphml(written, 1.0).decode()).number_of_edges() == 0


def test_json_keeps_order_and_letters_and_refuses_nan():
    assert format_json({"b": "β", "a": [1, 0.5, None]}).decode() == '{\n  "b": "β",\n  "a": [\n    1,\n    0.5,\n    null\n  ]\n}\n'
    assert json.loads(format_json({"path": 'a"b'})) == {"path": 'a"b'}
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_json({"a": float("nan")})


def test_prepare_folder_leaves_no_trace(tmp_path):
    assert prepare_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "kept").touch()
    prepare_folder(str(tmp_path / "old"))
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["kept"]


def test_folders_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"The output must be a folder; found a file at .*file'. Choose another name"):
        prepare_folder(tmp_path / "file")
    for folder in (tmp_path / "file" / "inside", "bad\0name"):
        with pytest.raises(DataError, match=r"The output folder must be writable; .* is not: .* Choose another folder"):
            prepare_folder(folder)
    with pytest.raises(DataError, match="The output folder must be writable"):
        write_results(tmp_path / "file" / "inside", {"a": b""})

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(DataError, match=r"is not: Permission denied\. Choose another folder or change its permissions"):
        prepare_folder(tmp_path / "new" / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root, or Windows, may write where permissions forbid it")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(DataError, match="is not: Permission denied"):
            prepare_folder(folder)
    tmp_path.chmod(0o700)


def test_results_are_written_and_replaced(tmp_path):
    write_results(tmp_path / "a" / "b", {"x": b"1", "y": b"2"})
    write_results(str(tmp_path / "a" / "b"), {"x": b"3"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()} == {"x": b"3", "y": b"2"}


def test_results_are_readable_by_whom_the_mask_allows(tmp_path):
    (tmp_path / "plain").touch()
    write_results(tmp_path, {"x": b"1"})
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_nothing_is_half_written(tmp_path):
    write_results(tmp_path, {"x": b"old"})

    def fail(stream):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left on device"):
        files.replace_files(tmp_path, {"x": lambda stream: stream.write(b"new"), "y": fail})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x": b"old"}
    with pytest.raises(DataError, match="No space left on device"):
        files.replace_files(tmp_path / "new" / "folder", {"y": fail})
    with pytest.raises(ZeroDivisionError):
        files.replace_files(tmp_path / "new" / "folder", {"y": lambda stream: 1 / 0})
    (tmp_path / "y").mkdir()
    with pytest.raises(DataError, match="a folder stands where 'y' is to be written"):
        write_results(tmp_path, {"x": b"new", "y": b""})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]
    assert (tmp_path / "x").read_bytes() == b"old"
