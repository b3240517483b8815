"""Archives of data sets: round trips, and arrays that do not fit together."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.npz import read_datasets, write_dataset, write_datasets

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data, the benchmark data beside the repository, is absent")


def dataset(seed=0, *, n=50, d=4, regimes=3, truth=True, dtype=np.float64):
    rng = np.random.default_rng(seed)
    targets = np.zeros((regimes, d), bool)
    targets[np.arange(1, regimes), np.arange(1, regimes) % d] = True
    return Dataset(
        values=rng.standard_normal((n, d)).astype(dtype),
        names=("a,b", 'say "hi"', " β ", "two\nlines", "e")[:d],
        regime=rng.integers(0, regimes, n).astype(np.int32),
        targets=targets,
        adjacency=np.triu(rng.random((d, d)) < 0.5, 1) if truth else None,
    )


def assert_same(one, other):
    assert one.names == other.names
    assert one.values.dtype == np.float64
    assert one.values.flags.c_contiguous
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.regime, other.regime)
    np.testing.assert_array_equal(one.targets[one.regime], other.targets[other.regime])
    assert (one.adjacency is None) == (other.adjacency is None)
    if other.adjacency is not None:
        np.testing.assert_array_equal(one.adjacency, other.adjacency)


def refused(path):
    with pytest.raises(DataError) as caught:
        read_datasets(path)
    return str(caught.value)


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_dataset_comes_back(truth, dtype, tmp_path):
    written = dataset(truth=truth, dtype=dtype)
    write_dataset(tmp_path / "new" / "t.npz", written)
    (found,) = read_datasets(tmp_path / "new" / "t.npz")
    assert_same(found, written)
    np.testing.assert_array_equal(found.targets, written.targets)
    with np.load(tmp_path / "new" / "t.npz") as archive:
        assert archive["X"].dtype == dtype
        assert archive["X"].ndim == 2


def test_several_datasets_come_back_with_unlike_regimes(tmp_path):
    written = [dataset(seed, regimes=seed + 1) for seed in range(3)]
    write_datasets(tmp_path / "t.npz", written)
    found = read_datasets(tmp_path / "t.npz")
    assert len(found) == 3
    for one, other in zip(found, written):
        assert_same(one, other)


def test_same_data_same_bytes_and_nothing_beside(tmp_path):
    write_dataset(tmp_path / "a.npz", dataset())
    write_dataset(tmp_path / "b.npz", dataset())
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


@pytest.mark.parametrize("other", [dataset(n=51), dataset(d=3), dataset(truth=False)])
def test_unlike_datasets_do_not_share_an_archive(other, tmp_path):
    with pytest.raises(DataError, match="must share their shape, their names and whether the graph is known; found 2 kinds among 2"):
        write_datasets(tmp_path / "t.npz", [dataset(), other])
    with pytest.raises(DataError, match="found 0 kinds among 0"):
        write_datasets(tmp_path / "t.npz", [])
    assert not list(tmp_path.iterdir())


def test_all_but_x_may_be_absent(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(6, dtype=np.int8).reshape(3, 2), time=np.arange(3))
    (found,) = read_datasets(tmp_path / "t.npz")
    assert found.names == ("X1", "X2")
    assert found.adjacency is None
    assert not found.interventional
    assert found.values.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_graph_and_regimes_may_be_shared_or_each_its_own(tmp_path):
    X, A, mask = np.zeros((2, 4, 3)), np.triu(np.ones((3, 3)), 1), np.eye(3, dtype=bool)
    np.savez(tmp_path / "t.npz", X=X, A=A, regime=np.array([0, 1, 2, 0]), mask=mask)
    first, second = read_datasets(tmp_path / "t.npz")
    assert_same(first, second)
    np.savez(tmp_path / "t.npz", X=X, A=np.stack([A, A.T]), regime=np.array([[0, 1, 2, 0], [2, 2, 2, 2]]), mask=mask)
    first, second = read_datasets(tmp_path / "t.npz")
    np.testing.assert_array_equal(second.adjacency, A.T.astype(bool))
    assert second.regime.tolist() == [2, 2, 2, 2]


def test_missing_values(tmp_path):
    X = np.arange(8.0).reshape(4, 2)
    X[2, 1] = np.nan
    np.savez(tmp_path / "t.npz", X=X)
    assert "Column 'X2' must hold finite numbers; found a missing value in row 3 of t.npz" in refused(tmp_path / "t.npz")
    (found,) = read_datasets(tmp_path / "t.npz", missing="drop")
    assert found.dropped_rows == 1
    assert found.values.tolist() == [[0, 1], [2, 3], [6, 7]]


X = np.zeros((5, 2))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"Y": X}, "t.npz must hold an array called 'X' (rows, variables); found Y."),
        ({"X": X[0]}, "'X' of t.npz must hold numbers in shape (rows, variables) or (sets, rows, variables); found float64 of shape (2,)."),
        ({"X": X.astype(str)}, "'X' of t.npz must hold numbers"),
        ({"X": X, "names": ["a"]}, "'names' of t.npz must have shape (2,) to fit 'X' (5, 2), and hold text; found <U1 of shape (1,)."),
        ({"X": X, "names": [1, 2]}, "'names' of t.npz must have shape (2,) to fit 'X' (5, 2), and hold text; found int64"),
        ({"X": X, "names": ["a", "a"]}, "Column names of t.npz must be distinct; found 'a' in columns 1 and 2."),
        ({"X": X, "A": np.zeros((3, 3))}, "'A' of t.npz must have shape (2, 2) to fit"),
        ({"X": X, "A": np.zeros((2, 2), str)}, "'A' of t.npz must have shape (2, 2)"),
        ({"X": X[None], "A": np.zeros((2, 2, 2))}, "'A' of t.npz must have shape (2, 2) or (1, 2, 2) to fit"),
        ({"X": X, "regime": np.zeros(5, int)}, "'regime' and 'mask' of t.npz must come together; found only one of them."),
        ({"X": X, "regime": np.zeros(4, int), "mask": np.zeros((1, 2))}, "'regime' of t.npz must have shape (5,)"),
        ({"X": X, "regime": np.zeros(5, int), "mask": np.zeros((1, 3), bool)}, "'mask' of t.npz must have shape (1, 2)"),
        (
            {"X": X, "regime": np.full(5, 1), "mask": np.zeros((1, 2), bool)},
            "'regime' of t.npz must point at rows of 'mask', from 0 to 0; found 1 to 1.",
        ),
        ({"X": X, "regime": np.full(5, 2**32), "mask": np.zeros((1, 2), bool)}, "from 0 to 0; found 4294967296 to 4294967296."),
    ],
)
def test_arrays_that_do_not_fit(arrays, said, tmp_path):
    np.savez(tmp_path / "t.npz", **arrays)
    assert said in refused(tmp_path / "t.npz")


def test_damaged_archives(tmp_path):
    path = tmp_path / "t.npz"
    write_dataset(path, dataset())
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[300] ^= 0xFF
    for damaged in (whole[: len(whole) // 2], b"Raf,Mek\n1,2\n" * 40, bytes(flipped)):
        path.write_bytes(damaged)
        assert refused(path).startswith("t.npz must be an intact .npz archive of plain arrays; reading it failed: ")
    with path.open("wb") as stream:
        np.save(stream, np.zeros((3, 3)))
    assert refused(path).startswith("t.npz must be an intact .npz archive of plain arrays; reading it failed: ")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "no arrays here")
    assert "must hold an array called 'X'" in refused(path)


def test_pickled_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[1, None]], dtype=object))
    text = refused(tmp_path / "t.npz")
    assert "Object arrays cannot be loaded" in text
    assert "pickle is never loaded" in text


def test_unwritable_archives(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="The output folder must be writable"):
        write_dataset(tmp_path / "file" / "t.npz", dataset())


@needs_shared
def test_every_shared_archive_is_read():
    paths = [path for path in sorted(SHARED.glob("*/**/*.npz")) if path.name != "graphs.npz"]
    assert len(paths) > 40
    for path in paths:
        for found in read_datasets(path):
            assert np.isfinite(found.values).all()
            assert found.values.shape[1] == len(found.names)
    assert len(read_datasets(SHARED / "causallearn_linear" / "linear_gaussian_10x20.npz")) == 10
    assert "found names, dcdi_17" in refused(SHARED / "sachs" / "graphs.npz")
