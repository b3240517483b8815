"""Annotated matrices of single cells to columns: AnnData in memory, and the `.h5ad` files that it writes.

Files are read by h5py alone, after the specification of anndata 0.8 and later (https://anndata.readthedocs.io, "on-disk format"), because anndata
itself asks for older versions of what is installed here. The matrix is `X`, the variables are those of `var`, and of `obs` only the column of the
interventions is read. Only the variables that are asked for become dense.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import Columns, Place
from seacausal.io.names import check_names, suggest

MOST = 5_000
"""More variables than this are refused where nobody says which: a whole genome is hardly ever meant, and would fill the memory."""


def is_annotated(source: Any) -> bool:
    """Whether an object is an AnnData, or looks like one."""
    return all(hasattr(source, name) for name in ("X", "obs", "var_names"))


def columns_of_annotated(source: Any, interventions: str | None, wanted: Sequence[str] | None) -> Columns:
    """The variables of an AnnData, or those that are wanted, and the column of `obs` that is named."""
    names = [str(name) for name in source.var_names]
    place = Place("the AnnData")
    chosen = _choose(names, wanted, interventions, place)
    labels = None if interventions is None else _label_column(source.obs, interventions, list(source.obs.columns), place)
    if source.X is None:
        raise DataError("The AnnData must have a matrix X; found none. Copy a layer into it: adata.X = adata.layers[...].")
    try:
        return _to_columns(source.X[:, chosen], [names[i] for i in chosen], interventions, labels, place, (len(source.obs), len(chosen)))
    except (TypeError, ValueError, IndexError, KeyError) as error:
        found = f"{type(source.X).__name__}: {error}"
        raise DataError(f"The matrix X of the AnnData must hold numbers, a row a cell and a column a variable; found {found}. Convert it.") from None


def read_h5ad(path: Path, interventions: str | None, wanted: Sequence[str] | None) -> Columns:
    """The same of a file.

    Raises
    ------
    DataError
        If h5py is not installed, the file is damaged or of another kind, a name is unknown, or nobody says which of very many variables.
    """
    try:
        import h5py
    except ImportError:
        raise DataError(f"Reading {path.name} needs h5py, which is not installed. Install it: pip install h5py.") from None
    place = Place(path.name)
    with _damage(path), h5py.File(path, "r") as held:
        file: Any = held
        var, obs = file["var"], file["obs"]
        if "__categories" in obs or not (hasattr(obs, "keys") and hasattr(var, "keys")):
            raise ValueError("it was written by an older version")
        names = _texts(var[_text(var.attrs["_index"])])
        chosen = _choose(names, wanted, interventions, place)
        labels = None
        if interventions is not None:
            columns = [key for key in obs if key != _text(obs.attrs["_index"])]
            labels = _labels(_label_column(obs, interventions, columns, place))
        matrix = file["X"]
        kind = _text(matrix.attrs.get("encoding-type", "array"))
        shape = matrix.shape if kind == "array" else tuple(int(size) for size in matrix.attrs["shape"])
        if shape != (len(obs[_text(obs.attrs["_index"])]), len(names)):
            raise ValueError(f"X has shape {shape}, which does not fit obs and var")
        values = matrix[:, chosen] if kind == "array" else _dense(matrix, kind, shape, np.array(chosen, int))
        return _to_columns(values, [names[i] for i in chosen], interventions, labels, place, (shape[0], len(chosen)))


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """What h5py and numpy raise of foreign bytes, in words."""
    try:
        yield
    except DataError:
        raise
    except (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError, MemoryError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path.name} must be an intact .h5ad file of anndata 0.8 or later; reading it failed: {reason}. Write it again.") from None


def _choose(names: Sequence[str], wanted: Sequence[str] | None, interventions: str | None, place: Place) -> list[int]:
    """Positions of the wanted variables, in the order of the table."""
    if wanted is None:
        check_names(names, place.label)
        if len(names) > MOST:
            raise DataError(
                f"Of {place.label} up to {MOST:,} variables are read unless some are named; found {len(names):,}. Name those of interest with "
                "`columns` (`--columns`, or a list in a `--config` file)."
            )
        return list(range(len(names)))
    index, counts = {name: i for i, name in enumerate(names)}, Counter(names)
    for name in wanted:
        if counts[name] > 1:
            raise DataError(f"`columns` must name single variables of {place.label}; found {name!r} {counts[name]} times. Rename them.")
        if not counts[name] and name != interventions:
            raise DataError(f"`columns` must name variables of {place.label}; found {name!r}. {suggest(name, names, kind='variables')}")
    return sorted({index[name] for name in wanted if name in index})


def _label_column(obs: Any, name: str, held: Sequence[str], place: Place) -> Any:
    if name not in held:
        raise DataError(f"`interventions` must name a column of obs in {place.label}; found {name!r}. {suggest(name, held, kind='columns')}")
    return obs[name]


def _to_columns(values: Any, names: list[str], interventions: str | None, labels: Any, place: Place, shape: tuple[int, int]) -> Columns:
    """The columns of a matrix, dense or sparse, and before them that of the interventions."""
    dense = values.toarray() if hasattr(values, "toarray") else values
    dense = np.ma.filled(dense.astype(np.float64), np.nan) if isinstance(dense, np.ma.MaskedArray) else np.asarray(dense)
    if dense.dtype.kind not in "biuf" or dense.shape != shape:
        raise ValueError(f"X must hold real numbers of shape {shape}, not {dense.dtype} of shape {dense.shape}")
    dense = dense.astype(np.float64, copy=False)
    cells: list[Any] = list(np.ascontiguousarray(dense.T))
    if interventions is None:
        return Columns(tuple(names), cells, place)
    return Columns((interventions, *names), [list(labels), *cells], place)


def _dense(matrix: Any, kind: str, shape: tuple[int, ...], chosen: np.ndarray) -> np.ndarray:
    """(n, k) the chosen columns of a compressed sparse matrix."""
    if kind not in ("csr_matrix", "csc_matrix"):
        raise DataError(f"The matrix X must be dense or compressed; found the encoding {kind!r}. Convert it with anndata.")
    n, d = shape
    data, indices, starts = matrix["data"][:], matrix["indices"][:], matrix["indptr"][:]
    lines = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows, columns = (lines, indices) if kind == "csr_matrix" else (indices, lines)
    length = n if kind == "csr_matrix" else d
    if len(starts) != length + 1 or starts[0] != 0 or starts[-1] != len(data) or len(indices) != len(data) or (np.diff(starts) < 0).any():
        raise ValueError("the parts of X do not fit together")
    if len(data) and not (min(rows.min(), columns.min()) >= 0 and rows.max() < n and columns.max() < d):
        raise ValueError("X has entries outside of its shape")
    position = np.full(d, -1)
    position[chosen] = np.arange(len(chosen))
    kept = position[columns] >= 0
    out = np.zeros((n, len(chosen)))
    np.add.at(out, (rows[kept], position[columns[kept]]), data[kept])
    return out


def _labels(column: Any) -> list[object]:
    """The cells of a column of obs: categories by their codes, -1 for none, values with a mask, or what stands there."""
    parts = set(column) if hasattr(column, "keys") else set()
    if {"values", "mask"} <= parts:
        return [None if gone else label for label, gone in zip(_labels(column["values"]), column["mask"][:].tolist())]
    if "codes" in parts:
        categories = _texts(column["categories"])
        return [categories[code] if code >= 0 else None for code in column["codes"][:].tolist()]
    return list(_texts(column)) if column.dtype.kind in "OS" else column[:].tolist()


def _texts(array: Any) -> list[str]:
    return [_text(item) for item in array[:].tolist()]


def _text(item: Any) -> str:
    return item.decode("utf-8") if isinstance(item, bytes) else str(item)
