"""Interventions given beside a table, brought into the order of its rows.

Labels of rows count where both sides are of pandas, or an AnnData with it; the index that pandas makes by itself, 0, 1, ..., says nothing unless the
table has the same labels in another order. Names of columns count where a frame has them, see `parse_mask`.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import is_missing, shown


@dataclass(frozen=True)
class Mask:
    """What was intervened on, as numbers."""

    values: Any
    """(n, d) array of numbers, or a sparse matrix of scipy."""
    names: tuple[str, ...] | None = None
    """What its columns are called; None where the variables' order says which is which."""


def align_entries(given: Iterable[object], source: Any) -> Sequence[object] | Mask:
    """One entry for each row of the source, or the numbers that say what was intervened on in each.

    Raises
    ------
    DataError
        If both have labels of rows, as many, and these are not the same.
    """
    if len(getattr(given, "shape", ())) != 2:
        entries = list(given)
        order = _order_rows(given, source, len(entries))
        return entries if order is None else [entries[row] for row in order.tolist()]
    sparse = hasattr(given, "toarray")
    array: Any = given if sparse else _to_array(given)
    order = _order_rows(given, source, array.shape[0])
    array = array if order is None else array[order]
    return Mask(array, _name_columns(given)) if sparse or array.dtype.kind in "biuf" else list(array)


def _to_array(frame: Any) -> np.ndarray:
    """A frame or array of two axes; numbers and booleans of pandas' own kinds become float64, NaN where they are missing."""
    array = np.asarray(frame)
    if array.dtype.kind != "O":
        return array
    gone = [is_missing(cell) for cell in array.flat]
    if all(gone) or not all(lost or isinstance(cell, (numbers.Real, np.bool_)) for lost, cell in zip(gone, array.flat)):
        return array
    return np.array([np.nan if lost else float(cell) for lost, cell in zip(gone, array.flat)]).reshape(array.shape)


def _name_columns(frame: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns, None for an array, or where pandas or polars numbered them for want of names."""
    own = frame.column_names if hasattr(frame, "column_names") else getattr(frame, "columns", None)
    if own is None:
        return None
    names = tuple(map(str, own))
    numbered = any(names == tuple(f"{begin}{i}" for i in range(len(names))) for begin in ("", "column_"))
    return None if numbered else names


def _order_rows(given: Any, source: Any, rows: int) -> np.ndarray | None:
    """(n,) where in `given` each row of the source stands, None where it is in order or nothing says otherwise."""
    own, wanted = _index_of(given), _index_of(getattr(source, "obs", source))
    if own is None or wanted is None or len(wanted) != rows or own.equals(wanted):
        return None  # another number of rows is refused later
    absent = ~wanted.isin(own)
    if not absent.any() and own.is_unique and wanted.is_unique:
        return own.get_indexer(wanted)
    if type(own).__name__ == "RangeIndex" and own.equals(type(own)(rows)):
        return None
    found = f"{shown(wanted[absent][0])} of the table alone, {int(absent.sum())} such" if absent.any() else "labels that repeat in another order"
    raise DataError(
        f"The index of `interventions` must hold the labels of the table's index, in any order; found {found}. Give both the same index, or "
        "interventions.to_numpy() if rows are in the order of the table's."
    )


def _index_of(frame: Any) -> Any:
    """The labels of the rows of a frame or column of pandas, None for anything else."""
    index = getattr(frame, "index", None)
    return index if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(index, "get_indexer") else None
