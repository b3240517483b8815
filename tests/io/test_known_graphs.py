"""Known graphs, and results judged by them from the command line."""

import json

import numpy as np
import pytest

from seacausal.cli import main
from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.npz import write_dataset
from seacausal.io.truth import read_truth

NAMES = ("a", "b", "c")
CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
EDGES = "source,target,p_direct,p_reverse,p_absent\na,b,0.9,0.1,0.0\na,c,0.2,0.6,0.2\nb,c,0.3,0.7,0.0\n"


def test_edges_may_be_a_list_or_of_an_archive(tmp_path):
    (tmp_path / "t.csv").write_text("cause,effect,how\nb , c,well\na,b,so so\n\n")
    np.testing.assert_array_equal(read_truth(tmp_path / "t.csv", NAMES), CHAIN)
    order = [2, 0, 1]
    dataset = Dataset.observational(np.random.default_rng(0).standard_normal((9, 3)), tuple(NAMES[i] for i in order), CHAIN[np.ix_(order, order)])
    write_dataset(tmp_path / "t.npz", dataset)
    np.testing.assert_array_equal(read_truth(tmp_path / "t.npz", NAMES), CHAIN)
    np.testing.assert_array_equal(read_truth(tmp_path / "t.npz", ("b", "c")), CHAIN[1:, 1:])
    with pytest.raises(DataError, match="'x' is not among its own"):
        read_truth(tmp_path / "t.npz", ("a", "x"))
    with pytest.raises(DataError, match="between 0 and 0"):
        read_truth(tmp_path / "t.npz", NAMES, index=1)
    write_dataset(tmp_path / "u.npz", Dataset.observational(dataset.values, NAMES))
    with pytest.raises(DataError, match="the array A"):
        read_truth(tmp_path / "u.npz", NAMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cause,effect\na,d\n", "Row 2 of t.csv must name variables of the result; found 'd'"),
        ("cause,effect\na,b\nb\n", "Row 3 of t.csv must name a cause and another variable"),
        ("cause,effect\na,a\n", "Row 2 of t.csv must name a cause and another variable"),
        ("a,b\n", "found no edge"),
        ("", "must not be empty"),
    ],
)
def test_what_a_list_must_hold(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_truth(tmp_path / "t.csv", NAMES)


def test_results_are_judged(tmp_path, capsys):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "t.csv").write_text("cause,effect\na,b\nb,c\n")
    assert main(["score", str(tmp_path), str(tmp_path / "t.csv"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert [figures[key] for key in ("variables", "true edges", "edges found", "of these true", "of these reversed")] == [3, 2, 3, 1, 1]
    assert figures["structural Hamming distance"] == 2
    assert figures["mean average precision"] == pytest.approx((1 / 1 + 2 / 4) / 2)
    assert figures["share of true edges rather this way"] == 0.5
    assert figures["log-loss, nats a pair"] == pytest.approx(-np.log([0.9, 0.2, 0.3]).mean())
    assert main(["score", str(tmp_path / "edges.csv"), str(tmp_path / "t.csv"), "--threshold", "0.8"]) == 0
    lines = {line.rsplit(maxsplit=1)[0].strip(): line.split()[-1] for line in capsys.readouterr().out.splitlines()}
    assert (lines["edges found"], lines["of these true"], lines["structural Hamming distance"]) == ("1", "1", "1")


@pytest.mark.parametrize("arguments", [["nothing", "t.csv"], [".", "nothing.csv"], [".", "t.csv", "--threshold", "1.5"]])
def test_errors_of_the_command_have_status_2(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "t.csv").write_text("cause,effect\na,b\n")
    assert main(["score", *arguments]) == 2
    assert capsys.readouterr().err.startswith("seacausal: ")
