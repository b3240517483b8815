"""The folder layout of the SEA paper and of DCDI: round trips, reading by file name, and files that do not fit."""

from pathlib import Path

import numpy as np
import pytest

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.layout import name_layout, read_layout, write_layout
from seacausal.io.table import read_table

SACHS = Path(__file__).parents[3] / "shared" / "data" / "sachs" / "dcdi_5846"
N, D = 60, 4


def model(seed=0, *, truth=True, dtype=np.float32):
    """Both tables of one causal model; the second has a regime without and three with targets, one of them with two."""
    rng = np.random.default_rng(seed)
    names = tuple(f"X{i + 1}" for i in range(D))
    graph = np.triu(rng.random((D, D)) < 0.6, 1) if truth else None
    targets = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]], bool)
    regime = np.repeat(np.arange(4), N // 4).astype(np.int32)
    values = rng.standard_normal((2, N, D)).astype(dtype)
    return Dataset.observational(values[0], names, graph), Dataset(values[1], names, regime, targets, graph)


@pytest.fixture
def folder(tmp_path):
    observational, interventional = model()
    write_layout(tmp_path / "sets", 7, observational=observational, interventional=interventional)
    return tmp_path / "sets"


def assert_same(found, written):
    assert found.names == written.names
    assert found.values.dtype == np.float64
    np.testing.assert_array_equal(found.values, written.values)
    np.testing.assert_array_equal(found.regime, written.regime)
    np.testing.assert_array_equal(found.targets, written.targets)
    assert (found.adjacency is None) == (written.adjacency is None)
    if written.adjacency is not None:
        np.testing.assert_array_equal(found.adjacency, written.adjacency)


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_tables_come_back(truth, dtype, tmp_path):
    observational, interventional = model(truth=truth, dtype=dtype)
    paths = write_layout(tmp_path / "new", 3, observational=observational, interventional=interventional)
    assert sorted(path.name for path in paths) == sorted(path.name for path in (tmp_path / "new").iterdir())
    assert {path.name for path in paths} == set(name_layout(3)) - (set() if truth else {"DAG3.npy"})
    assert_same(read_layout(tmp_path / "new", 3), observational)
    assert_same(read_layout(tmp_path / "new", 3, interventional=True), interventional)
    assert np.load(tmp_path / "new" / "data3.npy").dtype == dtype


def test_the_files_are_as_the_paper_has_them(folder):
    assert (folder / "regimes7.csv").read_bytes() == b"".join(b"%d\n" % r for r in np.repeat(np.arange(4), 15))
    assert (folder / "interventions7.csv").read_bytes() == b"\n" * 15 + b"1\n" * 15 + b"0,3\n" * 15 + b"3\n" * 15
    graph = np.load(folder / "DAG7.npy")
    np.testing.assert_array_equal(graph, model()[0].adjacency)


def test_the_same_data_give_the_same_bytes(folder, tmp_path):
    observational, interventional = model()
    write_layout(tmp_path / "again", 7, observational=observational, interventional=interventional)
    for name in name_layout(7):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_tables_are_read_by_their_file(folder, tmp_path):
    observational, interventional = model()
    assert_same(read_table(folder / "data7.npy"), observational)
    assert_same(read_table(folder / "data_interv7.npy"), interventional)
    np.save(tmp_path / "mine.npy", observational.values)
    found = read_table(tmp_path / "mine.npy")
    np.testing.assert_array_equal(found.values, observational.values)
    assert found.adjacency is None
    own = read_table(folder / "data7.npy", interventions=["X2"] * 20 + [""] * 40)
    assert own.targets[own.regime][:, 1].sum() == 20


def test_regimes_of_any_order_and_number(folder):
    (folder / "regimes7.csv").write_text("9\n" * 15 + "40\n" * 15 + "2\n" * 15 + "5\n" * 8 + "6\n" * 7)
    found = read_layout(folder, 7, interventional=True)
    written = model()[1]
    np.testing.assert_array_equal(found.targets[found.regime], written.targets[written.regime])
    assert found.regime.tolist() == [0] * 15 + [4] * 15 + [1] * 15 + [2] * 8 + [3] * 7


def test_missing_values(tmp_path):
    observational, _ = model()
    observational.values[3, 1] = np.nan
    write_layout(tmp_path, 1, observational=observational)
    with pytest.raises(DataError, match=r"found a missing value in row 4 of data1.npy"):
        read_layout(tmp_path, 1)
    assert read_layout(tmp_path, 1, missing="drop").dropped_rows == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("data_interv7.npy", None, "The data file must exist; found nothing"),
        ("regimes7.csv", None, "data_interv7.npy must have regimes7.csv beside it; found none"),
        ("interventions7.csv", None, "data_interv7.npy must have interventions7.csv beside it; found none"),
        ("regimes7.csv", "0\n" * 59, "regimes7.csv must have a line for each of the 60 rows of data_interv7.npy; found 59"),
        ("regimes7.csv", "0\n" * 59 + "-1\n", "regimes7.csv must hold a whole number in every line; found '-1' in line 60"),
        ("regimes7.csv", "0\n" * 59 + "\n", "regimes7.csv must hold a whole number in every line; found '' in line 60"),
        ("interventions7.csv", "\n" * 61, "interventions7.csv must have a line for each of the 60 rows of data_interv7.npy; found 61"),
        ("interventions7.csv", "\n0,4" + "\n" * 59, "must hold columns of data_interv7.npy, from 0 to 3 and split by commas; found '0,4' in line 2"),
        ("interventions7.csv", "X1" + "\n" * 60, "found 'X1' in line 1"),
        ("interventions7.csv", b"\xff" + b"\n" * 60, "interventions7.csv must be a readable text file"),
        ("DAG7.npy", np.eye(5), "DAG7.npy must have shape (4, 4) to fit data_interv7.npy; found (5, 5)"),
        ("data_interv7.npy", np.zeros(4), "data_interv7.npy must hold numbers in shape (rows, variables); found float64 of shape (4,)"),
        ("data_interv7.npy", np.array([["a"]]), "data_interv7.npy must hold numbers"),
        ("data_interv7.npy", np.array([[None]]), "data_interv7.npy must be an intact .npy file; reading it failed: Object arrays cannot be loaded"),
        ("DAG7.npy", b"not numpy", "DAG7.npy must be an intact .npy file"),
    ],
)
def test_files_that_do_not_fit(folder, name, content, said):
    path = folder / name
    if content is None:
        path.unlink()
    elif isinstance(content, np.ndarray):
        np.save(path, content, allow_pickle=True)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read_layout(folder, 7, interventional=True)
    assert said in str(caught.value)


def test_an_archive_under_the_wrong_suffix_and_options_that_do_not_apply(folder):
    with (folder / "data7.npy").open("wb") as stream:
        np.savez(stream, X=np.zeros((40, 3)))
    with pytest.raises(DataError, match=r"it is an archive, as numpy.savez writes"):
        read_layout(folder, 7)
    with pytest.raises(DataError, match=r"`index` picks a data set of an .npz file"):
        read_table(folder / "data_interv7.npy", index=0)
    with pytest.raises(DataError, match=r"found 'X1' with data_interv7.npy, beside which csv files say it"):
        read_table(folder / "data_interv7.npy", interventions="X1")


def test_what_is_no_model_is_not_written(tmp_path):
    observational, interventional = model()
    with pytest.raises(DataError, match="found neither"):
        write_layout(tmp_path, 1)
    with pytest.raises(DataError, match="must have no interventions; found some"):
        write_layout(tmp_path, 1, observational=interventional)
    with pytest.raises(DataError, match="found two causal models"):
        write_layout(tmp_path, 1, observational=model(3)[0], interventional=interventional)
    with pytest.raises(DataError, match="found two causal models"):
        write_layout(tmp_path, 1, observational=model(truth=False)[0], interventional=interventional)
    assert not list(tmp_path.iterdir())
    (tmp_path / "data1.npy").mkdir()
    with pytest.raises(DataError, match="The output folder must be writable"):
        write_layout(tmp_path, 1, observational=observational, interventional=interventional)
    assert [path.name for path in tmp_path.iterdir()] == ["data1.npy"]


@pytest.mark.skipif(not SACHS.is_dir(), reason="../shared/data, the benchmark data beside the repository, is absent")
def test_files_of_dcdi_are_read():
    found = read_layout(SACHS, 1, interventional=True)
    assert found.values.shape == (5846, 11)
    assert found.adjacency.sum() == 17
    assert (found.regime == 0).any()
    assert not found.targets[0].any()
    assert found.targets[1:].any(1).all()
    lines = (SACHS / "intervention1.csv").read_text().splitlines()
    row = next(i for i, line in enumerate(lines) if line)
    assert np.flatnonzero(found.targets[found.regime[row]]).tolist() == [int(cell) for cell in lines[row].split(",")]
