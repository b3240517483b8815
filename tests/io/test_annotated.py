"""AnnData files and objects; `cells.h5ad` was written by anndata 0.12.19, the others here by h5py to the same specification."""

import sys
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from seacausal.errors import DataError
from seacausal.io.table import read_table

CELLS = Path(__file__).with_name("cells.h5ad")
GUIDES = ["non-targeting", "GATA1", "MYC", "GATA1+MYC", "KLF1"] * 8


def write(path, *, kind="csr_matrix", values=None, labels="categorical", drop=()):
    """A file as anndata writes it, of 40 cells and three genes, or of what is given."""
    values = np.random.default_rng(0).poisson(1.0, size=(40, 3)).astype(float) if values is None else values
    n, d = values.shape
    with h5py.File(path, "w") as file:
        for name, count in (("obs", n), ("var", d)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group["_index"] = [f"{name}{i}" for i in range(count)]
        if labels == "categorical":
            group = file.create_group("obs/guide")
            categories = sorted(set(GUIDES))
            group["categories"], group["codes"] = categories, [categories.index(guide) for guide in GUIDES]
        else:
            file["obs/guide"] = GUIDES
        if kind == "array":
            file["X"] = values
            file["X"].attrs["encoding-type"] = "array"
        else:
            matrix = sparse.csr_matrix(values) if kind != "csc_matrix" else sparse.csc_matrix(values)
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = kind, values.shape
            group["data"], group["indices"], group["indptr"] = matrix.data, matrix.indices, matrix.indptr
        for name in drop:
            del file[name]
    return values


def test_a_file_of_anndata_itself():
    found = read_table(CELLS, interventions="guide", control="non-targeting", other_targets="drop")
    assert found.names == ("GATA1", "MYC", "SPI1")
    assert found.foreign == (("KLF1", 8),)
    np.testing.assert_array_equal(found.values[:3], [[1, 0, 0], [3, 3, 1], [1, 2, 1]])
    targets = found.targets[found.regime]
    np.testing.assert_array_equal(targets[:5], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]])  # the fourth cell has no guide
    assert (targets == [True, True, False]).all(1).sum() == 7
    np.testing.assert_array_equal(read_table(CELLS).values.sum(0), [45, 50, 52])
    with pytest.raises(DataError, match=r"found 'KLF1' in row 5 of cells.h5ad\. .* or say control='KLF1' .*\(`--other-targets drop`\)"):
        read_table(CELLS, interventions="guide", control="non-targeting")


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "array"])
@pytest.mark.parametrize("labels", ["categorical", "text"])
def test_every_encoding(tmp_path, kind, labels):
    path = tmp_path / "t.h5ad"
    values = write(path, kind=kind, labels=labels)
    np.testing.assert_array_equal(read_table(path).values, values)
    found = read_table(path, columns=["var2", "var0"])
    assert found.names == ("var0", "var2")
    np.testing.assert_array_equal(found.values, values[:, [0, 2]])
    with pytest.raises(DataError, match=r"found 'non-targeting' in row 1 of t\.h5ad"):
        read_table(path, interventions="guide")


def test_objects_in_memory():
    values = np.random.default_rng(0).poisson(1.0, size=(40, 3)).astype(np.float32)
    obs = pd.DataFrame({"guide": pd.Categorical(GUIDES)})
    cells = SimpleNamespace(X=sparse.csr_matrix(values), obs=obs, var_names=pd.Index(["GATA1", "MYC", "SPI1"]))
    found = read_table(cells, interventions="guide", control="non-targeting", other_targets="drop", columns=["MYC", "GATA1"])
    assert found.names == ("GATA1", "MYC")
    np.testing.assert_array_equal(found.values, values[np.array(GUIDES) != "KLF1"][:, :2])
    cells.X = None
    with pytest.raises(DataError, match="must have a matrix X; found none"):
        read_table(cells)


def test_a_whole_genome_needs_a_choice(tmp_path):
    write(tmp_path / "t.h5ad", values=np.ones((40, 5001)))
    with pytest.raises(DataError, match=r"up to 5,000 variables are read unless some are named; found 5,001\. .*\(`--columns`"):
        read_table(tmp_path / "t.h5ad")
    assert read_table(tmp_path / "t.h5ad", columns=["var7", "var5000"]).values.shape == (40, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"interventions": "guides"}, r"must name a column of obs in t\.h5ad; found 'guides'. Did you mean 'guide'"),
        ({"columns": ["var9", "var1"]}, r"`columns` must name variables of t\.h5ad; found 'var9'"),
        ({"ignore": ["var9"]}, r"`ignore` must name columns of t\.h5ad; found 'var9'"),
    ],
)
def test_unknown_names(tmp_path, options, words):
    write(tmp_path / "t.h5ad")
    with pytest.raises(DataError, match=words):
        read_table(tmp_path / "t.h5ad", **options)


def test_nullable_columns_of_obs(tmp_path):
    path = tmp_path / "t.h5ad"
    write(path)
    with h5py.File(path, "a") as file:
        group = file.create_group("obs/null")
        group["values"], group["mask"] = [guide.replace("+", ",").replace("MYC", "var1") for guide in GUIDES], np.array(GUIDES) != "MYC"
    found = read_table(path, interventions="null")
    np.testing.assert_array_equal(found.targets[found.regime][:5, 1], [False, False, True, False, False])


def test_repeated_entries_add_up_and_repeated_genes_are_refused(tmp_path):
    path = tmp_path / "t.h5ad"
    values = write(path)
    with h5py.File(path, "a") as file:
        data, indices, starts = (file["X"][name][:] for name in ("data", "indices", "indptr"))
        for name, array in (("data", [5.0, *data]), ("indices", [indices[0], *indices]), ("indptr", [0, *(starts[1:] + 1)])):
            del file["X"][name]
            file["X"][name] = array
    expected = values.copy()
    expected[0, indices[0]] += 5
    np.testing.assert_array_equal(read_table(path).values, expected)
    with h5py.File(path, "a") as file:
        file["var/_index"][1] = "var0"
    with pytest.raises(DataError, match="found 'var0' 2 times"):
        read_table(path, columns=["var0", "var2"])
    with pytest.raises(DataError, match="must be distinct; found 'var0'"):
        read_table(path)


@pytest.mark.parametrize("damage", ["index", "length", "shape", "text", "genes", "old"])
def test_parts_that_do_not_fit(tmp_path, damage):
    path = tmp_path / "t.h5ad"
    write(path)
    with h5py.File(path, "a") as file:
        if damage == "index":
            file["X/indices"][0] = -1
        elif damage == "length":
            shorter = file["X/data"][:-1]
            del file["X/data"]
            file["X/data"] = shorter
        elif damage == "shape":
            file["X"].attrs["shape"] = (10**15, 3)
        elif damage == "text":
            del file["X"]
            file["X"] = [["a"] * 3] * 40
        elif damage == "genes":
            del file["var/_index"]
            file["var/_index"] = ["var0", "var1"]
        else:
            file.create_group("obs/__categories")
    with pytest.raises(DataError, match=r"must be an intact \.h5ad file of anndata 0\.8 or later; reading it failed"):
        read_table(path, interventions="guide")


def test_damaged_files(tmp_path, monkeypatch):
    path = tmp_path / "t.h5ad"
    for damage in ("X", "var", "var/_index", "X/data"):
        write(path, drop=[damage])
        with pytest.raises(DataError, match=r"must be an intact \.h5ad file of anndata 0\.8 or later; reading it failed"):
            read_table(path)
    write(path, kind="coo_matrix")
    with pytest.raises(DataError, match="found the encoding 'coo_matrix'"):
        read_table(path)
    for content in (CELLS.read_bytes()[:9000], b"a,b\n1,2\n"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"must be an intact \.h5ad file"):
            read_table(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match=r"needs h5py, which is not installed\. Install it: pip install h5py"):
        read_table(path)
