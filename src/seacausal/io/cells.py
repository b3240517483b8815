"""From cells to finite numbers, and where a cell stands when it is not one.

In: the columns of a table, each an array of floats or a list of anything. Out: a `Dataset` whose values are finite. Missing cells are NaN in
between. Rows are counted from 1 and the header is not counted; a place in a text file also says the line.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError

Missing = Literal["error", "drop", "impute"]

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
"""Text cells, in lower case and without spaces around, that hold no value."""
_BOOLEAN = {"true": 1.0, "false": 0.0}
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_WRITTEN = re.compile(r"[+\-\u2212$€£¥\s]*+\d[\d.,_'’\s]*+(e[+-]?\d+)?[%$€£¥]?\s*", re.IGNORECASE)
"""A number as people write it: with commas or spaces between thousands, a currency, a percent sign, a minus that is none."""


@dataclass(frozen=True)
class Place:
    """Says where a row stands, for messages."""

    label: str = "the table"
    """The table: a file's name, or what to call a frame or an array."""
    line: Callable[[int], int] | None = None
    """For text files, the line on which a row begins; rows are counted from 0 here, lines from 1."""
    kept: np.ndarray | None = None
    """The numbers of the rows that are left, from 0; None for all."""

    def row(self, row: int) -> str:
        """The row, counted from 0, in words that count from 1."""
        row = row if self.kept is None else int(self.kept[row])
        if self.line is not None:
            return f"row {row + 1} (line {self.line(row)} of {self.label})"
        return f"row {row + 1} of {self.label}"


@dataclass(frozen=True)
class Columns:
    """A table as it was found: names may repeat and cells may be anything."""

    names: tuple[str, ...]
    cells: Sequence[np.ndarray | Sequence[object]]
    """One entry for each name: (n,) float with NaN for missing, or n objects."""
    place: Place
    orders: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """The categories of columns that have an order, whatever these are."""


def is_missing(cell: object) -> bool:
    """Whether a cell holds no value: None, NaN, pandas' NA and NaT, or one of the texts `MISSING`."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, numbers.Real) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")


def to_numbers(cells: np.ndarray | Sequence[object], name: str, place: Place) -> np.ndarray:
    """(n,) float64, NaN where a cell holds no value; numbers, booleans, decimals, and text that spells one of them.

    A column whose first value is true or false must hold only those.

    Raises
    ------
    DataError
        If a cell is not a number; names the column, the row and the cell.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        return cells.astype(np.float64, copy=False)
    try:  # the fast twin of the loop below, for text that is all numbers
        if "_" not in "".join(cells):  # type: ignore[arg-type]
            return np.fromiter(map(float, cells), np.float64, len(cells))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    first = next((cell for cell in cells if not is_missing(cell)), None)
    boolean = isinstance(first, str) and first.strip().lower() in _BOOLEAN
    values = np.empty(len(cells))
    for row, cell in enumerate(cells):
        number = _to_boolean(cell) if boolean else _to_number(cell)
        if number is None:
            kind = "true or false" if boolean else "numbers"
            raise DataError(f"Column {name!r} must hold {kind}; found {shown(cell)} in {place.row(row)}. {_advice(cell, name)}")
        values[row] = number
    return values


def keep_finite(dataset: Dataset, place: Place, *, missing: Missing, seed: int = 0) -> Dataset:
    """Refuse missing and infinite values, leave out the rows that hold one, or impute them.

    Parameters
    ----------
    dataset
        Its values may be NaN or infinite.
    place
        Where its rows stand, before any is left out.
    missing
        "error", "drop" or "impute". Rows dropped are counted in `dropped_rows`, and regimes that lost all their rows go with them; cells imputed are
        counted in `imputed_cells`, and only rows without any value are dropped.
    seed
        Of what is imputed.

    Raises
    ------
    DataError
        If a value is not finite and `missing` is "error"; names the first in reading order and counts them all. If less than half of a column is
        there to impute the rest from.
    """
    bad = ~np.isfinite(dataset.values)
    if not bad.any():
        return dataset
    lost = bad.sum(axis=1)
    rows = lost > 0
    if missing == "drop":
        return _drop_rows(dataset, rows)
    if missing == "impute":
        return _impute(_drop_rows(dataset, lost == len(dataset.names)), place, seed)
    row = int(rows.argmax())
    column = int(bad[row].argmax())
    found = "a missing value" if np.isnan(dataset.values[row, column]) else "an infinite value"
    total, columns = int(bad.sum()), int(bad.any(axis=0).sum())
    count = "the only such cell" if total == 1 else f"the first of {total} missing or infinite cells ({rows.sum()} rows, {columns} columns)"
    raise DataError(
        f"Column {dataset.names[column]!r} must hold finite numbers; found {found} in {place.row(row)}, {count}. "
        "Correct the cells, impute them with missing='impute' (`--missing impute`), or leave their rows out with missing='drop' (`--missing drop`)."
    )


def _drop_rows(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """The data set without some rows, and without the regimes that have no others."""
    used, regime = np.unique(dataset.regime[~rows], return_inverse=True)
    return dataclasses.replace(
        dataset,
        values=dataset.values[~rows],
        regime=regime.astype(dataset.regime.dtype),
        targets=dataset.targets[used],
        dropped_rows=dataset.dropped_rows + int(rows.sum()),
    )


def _impute(dataset: Dataset, place: Place, seed: int) -> Dataset:
    from seacausal.io.impute import impute_missing

    known = np.isfinite(dataset.values)
    shares = known.mean(0)
    least = int(shares.argmin())
    if shares[least] < 0.5:
        raise DataError(
            f"Every column must hold finite numbers in half of the rows for the others to be imputed; found {known[:, least].sum()} in column "
            f"{dataset.names[least]!r} of the {len(known)} rows of {place.label}. Leave the column out (`--ignore`)."
        )
    values = impute_missing(dataset.values, dataset.regime, dataset.targets, seed=seed)
    counted = {"imputed_cells": int((~known).sum()), "imputed": ~known.all(1), "known_pairs": float(np.sort(shares)[:2].prod())}
    return dataclasses.replace(dataset, values=values, **counted)


def _to_number(cell: object) -> float | None:
    """The number in a cell, NaN for none, None where the cell holds something else."""
    try:
        if isinstance(cell, str):
            return float(cell) if "_" not in cell else None  # Python would read 1_000, which no other program writes
        if isinstance(cell, (numbers.Real, decimal.Decimal, np.bool_)):
            return float(cell)
    except ValueError:
        pass
    except OverflowError:
        return np.inf
    return np.nan if is_missing(cell) else None


def is_number(text: str) -> bool:
    """Whether text spells a number, in whatever way people write one, or true or false."""
    return _to_number(text) is not None or _WRITTEN.fullmatch(text) is not None or text.lower() in _BOOLEAN


def _to_boolean(cell: object) -> float | None:
    """1 or 0, NaN for no value, None where the cell holds something else."""
    if is_missing(cell):
        return np.nan
    return _BOOLEAN.get(cell.strip().lower()) if isinstance(cell, str) else None


def shown(cell: object) -> str:
    """A cell for a message, shortened."""
    text = repr(cell)
    return text if len(text) <= 80 else f"{text[:76]} ..."


def _advice(cell: object, name: str) -> str:
    """What to do about a cell that is not a number."""
    if isinstance(cell, str):
        if _DECIMAL_COMMA.fullmatch(cell):
            return "Write decimals with a point."
        if _WRITTEN.fullmatch(cell):
            return "Write numbers with digits and a decimal point alone, without signs for thousands, percent or a currency."
    if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
        return f"Leave the column out with ignore=[{name!r}] (`--ignore`), or turn its times into numbers, such as days since the first."
    return f"Correct or drop the cell, or {leave_out(name)}"


def leave_out(name: str) -> str:
    """What else to do about a column that is no variable."""
    return (
        f"leave the column out with ignore=[{name!r}] (`--ignore`); if it says what was intervened on, pass interventions={name!r} "
        "(`--interventions`)."
    )
