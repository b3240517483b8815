"""The SEA paper's folder of data sets, which is DCDI's (Brouillard et al., 2020).

Data set `id` is `DAG{id}.npy` (d, d), where [i, j] != 0 is i -> j; `data{id}.npy` (n, d), its observational rows; and `data_interv{id}.npy` (n, d)
with `regimes{id}.csv`, a number for each row, and `interventions{id}.csv`, a line for each row: the columns intervened on, counted from 0 and split
by commas, an empty line for none. Columns have no names: they become X1, X2, ... DCDI's `regime{id}.csv` and `intervention{id}.csv` are read too.
All but the table asked for and its two csv files may be absent. Regimes are numbered anew: those without interventions first, then by their number
in the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.graph.metrics import check_acyclic
from seacausal.io.cells import Missing, Place, keep_finite
from seacausal.io.files import as_path, existing_file, replace_files

_TABLE = re.compile(r"data(_interv)?(\d+)\.npy")


def read_layout(folder: str | os.PathLike[str], number: int, *, interventional: bool = False, missing: Missing = "error") -> Dataset:
    """Read one data set of a folder: its observational table, or the one with interventions.

    Returns
    -------
    Dataset
        Its values are float64; `adjacency` is None where there is no `DAG{id}.npy`.

    Raises
    ------
    DataError
        If a file that is needed is absent or damaged, the files do not fit together, or a value is not finite and `missing` is "error".
    """
    path = as_path(folder) / f"data{'_interv' if interventional else ''}{number}.npy"
    return keep_finite(read_layout_file(path), Place(path.name), missing=missing)


def read_layout_file(path: Path) -> Dataset:
    """Read a table and what belongs to it from the files beside it; a table of any other name stands alone. Values may be missing or infinite."""
    values = _load(path, axes=("rows", "variables"))
    n, d = values.shape
    values = np.ascontiguousarray(values, np.float64)
    match = _TABLE.fullmatch(path.name)
    if match is None:
        return Dataset.observational(values)
    number = match[2]
    adjacency = _read_graph(path.with_name(f"DAG{number}.npy"), d, path.name)
    if not match[1]:
        return Dataset.observational(values, adjacency=adjacency)
    line, hit = _read_targets(_beside(path, ("interventions", "intervention"), number), n, d, path.name)
    labels = _read_regimes(_beside(path, ("regimes", "regime"), number), n, path.name)
    rows = np.column_stack([hit[line].any(axis=1), labels, line])  # observational rows first
    distinct, regime = np.unique(rows, axis=0, return_inverse=True)
    names = tuple(f"X{i + 1}" for i in range(d))
    return Dataset(values, names, regime.reshape(-1).astype(np.int32), hit[distinct[:, 2]], adjacency)


def write_layout(
    folder: str | os.PathLike[str], number: int, *, observational: Dataset | None = None, interventional: Dataset | None = None
) -> tuple[Path, ...]:
    """Write one or both tables of one causal model and its graph, all files or none; the same data give the same bytes.

    Returns
    -------
    The paths, those of `name_layout`.

    Raises
    ------
    DataError
        If neither table is given, they differ in graph or variables, the graph has a cycle, `observational` has interventions, or a file cannot be
        written.
    """
    given = [dataset for dataset in (observational, interventional) if dataset is not None]
    if not given:
        raise DataError("A data set to write must be given; found neither `observational` nor `interventional`. Give one or both.")
    if observational is not None and observational.interventional:
        raise DataError("`observational` must have no interventions; found some. Pass it as `interventional`.")
    graph = given[0].adjacency
    if len({dataset.values.shape[1] for dataset in given}) > 1 or not all(_same(graph, dataset.adjacency) for dataset in given):
        raise DataError("Both tables must share their variables and their graph; found two causal models. Give each a number of its own.")
    if graph is not None:
        check_acyclic(graph, f"to be written as DAG{number}.npy")
    arrays = {f"DAG{number}.npy": graph.astype(np.int64)} if graph is not None else {}
    texts: dict[str, list[str]] = {}
    if observational is not None:
        arrays[f"data{number}.npy"] = observational.values
    if interventional is not None:
        arrays[f"data_interv{number}.npy"] = interventional.values
        texts[f"regimes{number}.csv"] = [str(r) for r in interventional.regime.tolist()]
        lines = [",".join(map(str, np.flatnonzero(row))) for row in interventional.targets]
        texts[f"interventions{number}.csv"] = [lines[r] for r in interventional.regime]
    writers: dict[str, Callable[[BinaryIO], object]] = {}
    writers |= {name: lambda stream, array=array: np.save(stream, array, allow_pickle=False) for name, array in arrays.items()}
    writers |= {name: lambda stream, rows=rows: stream.write("".join(f"{row}\n" for row in rows).encode()) for name, rows in texts.items()}
    path = as_path(folder)
    replace_files(path, writers)
    return tuple(path / name for name in writers)


def name_layout(number: int) -> tuple[str, ...]:
    """The names of the files of one causal model with both tables."""
    return f"DAG{number}.npy", f"data{number}.npy", f"data_interv{number}.npy", f"regimes{number}.csv", f"interventions{number}.csv"


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _load(path: Path, *, axes: tuple[str, str]) -> np.ndarray:
    """A matrix of numbers."""
    path = existing_file(path)
    try:
        array = np.load(path, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise ValueError("it is an archive, as numpy.savez writes")
    except Exception as error:  # foreign bytes: numpy raises several kinds
        raise DataError(f"{path.name} must be an intact .npy file; reading it failed: {error}. Write it again with numpy.save.") from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"{path.name} must hold numbers in shape ({', '.join(axes)}); found {array.dtype} of shape {array.shape}. Reshape or convert it."
        )
    return array


def _read_graph(path: Path, d: int, table: str) -> np.ndarray | None:
    if not path.exists():
        return None
    graph = _load(path, axes=("variables", "variables"))
    if graph.shape != (d, d):
        raise DataError(f"{path.name} must have shape ({d}, {d}) to fit {table}; found {graph.shape}. Check that both belong together.")
    return graph != 0


def _beside(path: Path, stems: tuple[str, ...], number: str) -> Path:
    """The first file there of several possible names."""
    for stem in stems:
        if (found := path.with_name(f"{stem}{number}.csv")).exists():
            return found
    raise DataError(f"{path.name} must have {stems[0]}{number}.csv beside it; found none in '{path.parent}'. Copy it there.")


def _read_lines(path: Path, n: int, table: str) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} must be a readable text file; reading it failed: {error}. Write it again.") from None
    if lines[-1] == "":  # every line ends with a newline
        del lines[-1]
    if len(lines) != n:
        raise DataError(f"{path.name} must have a line for each of the {n} rows of {table}; found {len(lines)}. Check that both belong together.")
    return lines


def _read_regimes(path: Path, n: int, table: str) -> np.ndarray:
    """(n,) int64."""
    lines = _read_lines(path, n, table)
    for row, line in enumerate(lines):
        if not re.fullmatch(r"\s*\d{1,18}\s*", line, re.ASCII):
            raise DataError(f"{path.name} must hold a whole number in every line; found {line[:80]!r} in line {row + 1}. Correct it.")
    return np.array([int(line) for line in lines], np.int64)


def _read_targets(path: Path, n: int, d: int, table: str) -> tuple[np.ndarray, np.ndarray]:
    """For each row which kind of line it has, (n,) int, and for each kind what it hits, (kinds, d) bool."""
    kinds: dict[str, int] = {}
    hit: list[np.ndarray] = []
    line_of = np.empty(n, np.int64)
    for row, line in enumerate(_read_lines(path, n, table)):
        if line not in kinds:
            cells = [cell.strip() for cell in line.split(",")] if line.strip() else []
            if not all(re.fullmatch(r"\d{1,9}", cell, re.ASCII) and int(cell) < d for cell in cells):
                raise DataError(
                    f"{path.name} must hold columns of {table}, from 0 to {d - 1} and split by commas; found {line[:80]!r} in line {row + 1}. "
                    "Correct it."
                )
            kinds[line] = len(kinds)
            hit.append(np.isin(np.arange(d), [int(cell) for cell in cells]))
        line_of[row] = kinds[line]
    return line_of, np.array(hit, bool).reshape(-1, d)
