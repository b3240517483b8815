"""Annotated matrices of single cells to columns: AnnData in memory, and the `.h5ad` files that it writes.

Files are read by h5py alone, after the specification of anndata 0.8 and later (https://anndata.readthedocs.io, "on-disk format"), because anndata
itself asks for older versions of what is installed here. The matrix is `X`, the variables are those of `var`, and of `obs` only the column of the
interventions is read. Only the variables that are asked for become dense.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import Columns, Place
from seacausal.io.names import suggest

MOST = 5_000
"""More variables than this are refused where nobody says which: a whole genome is hardly ever meant, and would fill the memory."""


def is_annotated(source: Any) -> bool:
    """Whether an object is an AnnData, or looks like one."""
    return all(hasattr(source, name) for name in ("X", "obs", "var_names"))


def columns_of_annotated(source: Any, interventions: str | None, wanted: Sequence[str] | None) -> Columns:
    """The variables of an AnnData, or those that are wanted, and the column of `obs` that is named."""
    names = [str(name) for name in source.var_names]
    place = Place("the AnnData")
    chosen = _choose(names, wanted, place)
    labels = None if interventions is None else _label_column(source.obs, interventions, list(source.obs.columns), place)
    if source.X is None:
        raise DataError("The AnnData must have a matrix X; found none. Copy a layer into it: adata.X = adata.layers[...].")
    return _to_columns(source.X[:, chosen], [names[i] for i in chosen], interventions, labels, place)


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
        names = _texts(var[_text(var.attrs["_index"])])
        chosen = _choose(names, wanted, place)
        labels = None
        if interventions is not None:
            columns = [key for key in obs if key != _text(obs.attrs["_index"])]
            labels = _labels(_label_column(obs, interventions, columns, place))
        matrix = file["X"]
        kind = _text(matrix.attrs.get("encoding-type", "array"))
        values = matrix[:, chosen] if kind == "array" else _dense(matrix, kind, np.array(chosen))
    return _to_columns(values, [names[i] for i in chosen], interventions, labels, place)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """What h5py and numpy raise of foreign bytes, in words."""
    try:
        yield
    except DataError:
        raise
    except (OSError, KeyError, ValueError, TypeError, IndexError, AttributeError, UnicodeDecodeError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path.name} must be an intact .h5ad file of anndata 0.8 or later; reading it failed: {reason}. Write it again.") from None


def _choose(names: Sequence[str], wanted: Sequence[str] | None, place: Place) -> list[int]:
    """Positions of the wanted variables, in the order of the table."""
    if wanted is None:
        if len(names) > MOST:
            raise DataError(
                f"Of {place.label} up to {MOST:,} variables are read unless some are named; found {len(names):,}. Name those of interest with "
                "`columns` (`--columns`, or a list in a `--config` file)."
            )
        return list(range(len(names)))
    index = {name: i for i, name in enumerate(names)}
    for name in wanted:
        if name not in index:
            raise DataError(f"`columns` must name variables of {place.label}; found {name!r}. {suggest(name, names, kind='variables')}")
    return sorted({index[name] for name in wanted})


def _label_column(obs: Any, name: str, held: Sequence[str], place: Place) -> Any:
    if name not in held:
        raise DataError(f"`interventions` must name a column of obs in {place.label}; found {name!r}. {suggest(name, held, kind='columns')}")
    return obs[name]


def _to_columns(values: Any, names: list[str], interventions: str | None, labels: Any, place: Place) -> Columns:
    """The columns of a matrix, dense or sparse, and before them that of the interventions."""
    dense = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)
    cells: list[Any] = list(np.ascontiguousarray(dense.T))
    if interventions is None:
        return Columns(tuple(names), cells, place)
    return Columns((interventions, *names), [list(labels), *cells], place)


def _dense(matrix: Any, kind: str, chosen: np.ndarray) -> np.ndarray:
    """(n, k) the chosen columns of a compressed sparse matrix."""
    if kind not in ("csr_matrix", "csc_matrix"):
        raise DataError(f"The matrix X must be dense or compressed; found the encoding {kind!r}. Convert it with anndata.")
    n, d = (int(size) for size in matrix.attrs["shape"])
    data, indices, starts = matrix["data"][:], matrix["indices"][:], matrix["indptr"][:]
    lines = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows, columns = (lines, indices) if kind == "csr_matrix" else (indices, lines)
    position = np.full(d, -1)
    position[chosen] = np.arange(len(chosen))
    kept = position[columns] >= 0
    out = np.zeros((n, len(chosen)))
    out[rows[kept], position[columns[kept]]] = data[kept]
    return out


def _labels(column: Any) -> list[object]:
    """The cells of a column of obs: categories by their codes, -1 for none, or what stands there."""
    if "codes" in column:
        categories = _texts(column["categories"])
        return [categories[code] if code >= 0 else None for code in column["codes"][:].tolist()]
    return list(_texts(column)) if column.dtype.kind in "OS" else column[:].tolist()


def _texts(array: Any) -> list[str]:
    return [_text(item) for item in array[:].tolist()]


def _text(item: Any) -> str:
    return item.decode("utf-8") if isinstance(item, bytes) else str(item)
