"""Delimited text to columns.

The header is read with the csv module, because polars renames repeated names, and the cells with polars as numbers. Where polars balks, or fills
a short row or a blank line with nulls, the whole file is read again with the csv module: slower, but it can say what is wrong on which line.
Blank lines are skipped and not counted as rows.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Generator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from seacausal.errors import DataError
from seacausal.io.cells import MISSING, Columns, Place
from seacausal.io.names import check_names

_DELIMITERS = {".csv": ",;\t", ".tsv": "\t;,", ".txt": "\t;,"}
"""The delimiters that may be found under a suffix, its own first."""
TEXT_SUFFIXES = tuple(_DELIMITERS)

_FOREIGN = {
    **dict.fromkeys(
        (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"), "a compressed file, or one of Excel. Unpack it, or save it as csv"
    ),
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16. Save it as UTF-8"),
}
"""How files begin that are often taken for text, and what they are."""

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_NULLS = ("NA", "na", "NaN", "nan", "NAN", "null", "NULL", "Null")


def read_text(path: Path, *, interventions: str | None) -> Columns:
    """Read comma, tab or semicolon separated text whose first line holds the column names.

    Parameters
    ----------
    path
        A file that exists and is not empty.
    interventions
        The column to keep as text.

    Raises
    ------
    DataError
        If the text is not UTF-8 or not well formed, rows differ in length, or the names are missing or repeated. Cells are not judged here.
    """
    try:
        return _read(path, interventions)
    except UnicodeDecodeError:
        raise _not_utf8(path) from None


def _read(path: Path, interventions: str | None) -> Columns:
    """`read_text`, before an error of encoding is put into words."""
    delimiter = _sniff(path)
    with closing(_records(path, delimiter)) as records:
        header_end, names = next(records, (0, []))
        first = next(records, (0, []))[1]
    _check_header(names, path)
    place = Place(path.name, partial(_line_of_row, path, delimiter))
    cells = None
    if len(first) == len(names):
        cells = _read_fast(path, delimiter, names, [name == interventions or not _is_numeric(cell) for name, cell in zip(names, first)], header_end)
    if cells is None:
        cells = _read_slow(path, delimiter, names, place)
    return Columns(tuple(names), cells, place)


def _read_fast(path: Path, delimiter: str, names: list[str], text: list[bool], skip: int) -> list[np.ndarray | list[str | None]] | None:
    """The columns, or None where polars cannot be trusted with the file.

    polars gives short rows and blank lines as nulls without a word, overlooks carriage returns, and takes text that begins like an archive for one.
    The number of delimiters in the file gives the former away, for cells that are numbers hold none.
    """
    import polars as pl

    try:
        frame = pl.read_csv(
            path,
            separator=delimiter,
            has_header=False,
            skip_lines=skip,
            schema={str(i): pl.String if as_text else pl.Float64 for i, as_text in enumerate(text)},
            null_values=[token for token in _NULLS if token not in names],
            glob=False,
        )
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    frame = frame.head(len(frame) - _count_blank_lines_at_end(path))
    columns = frame.get_columns()
    within = sum(int(column.str.count_matches(delimiter, literal=True).sum() or 0) for column in columns if column.dtype == pl.String)
    if not _holds(path, delimiter, skip, len(frame) * (len(names) - 1) + within):
        return None
    return [column.to_list() if as_text else column.to_numpy() for column, as_text in zip(columns, text)]


def _read_slow(path: Path, delimiter: str, names: list[str], place: Place) -> list[tuple[str, ...]]:
    """The columns as text, read with the csv module; every row is checked for its length."""
    rows = []
    with closing(_records(path, delimiter)) as records:
        next(records)
        for row, (_, cells) in enumerate(records):
            if len(cells) != len(names):
                raise DataError(
                    f"Every row of {path.name} must have {len(names)} cells, as many as the header; found {len(cells)} in {place.row(row)}. "
                    f"Add or remove cells, or quote those that hold {delimiter!r}."
                )
            rows.append(cells)
    return list(zip(*rows)) if rows else [()] * len(names)


def _records(path: Path, delimiter: str) -> Generator[tuple[int, list[str]], None, None]:
    """The line on which each record ends, and its cells; blank lines are left out."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield reader.line_num, cells
        except csv.Error as error:
            raise DataError(
                f"{path.name} must be well-formed text with quotes in pairs; line {reader.line_num} is not: {error}. "
                "Close the quoted cell there, and double the quotes inside it."
            ) from None


def _line_of_row(path: Path, delimiter: str, row: int) -> int:
    """The line, counted from 1, on which a row, counted from 0, begins."""
    with closing(_records(path, delimiter)) as records:
        for position, (line, cells) in enumerate(records, start=-1):
            if position == row:
                return line - sum(cell.count("\n") for cell in cells)
    raise AssertionError(f"{path} has no row {row}")


def _sniff(path: Path) -> str:
    """The delimiter that splits the header, and the first row alike, into the most cells; the one of the suffix if several do."""

    def score(delimiter: str) -> tuple[bool, int]:
        try:
            with closing(_records(path, delimiter)) as records:
                header, first = (len(next(records, (0, []))[1]) for _ in range(2))
        except DataError:  # quotes that close at another delimiter
            return False, 0
        return header == first > 1, header

    return max(_DELIMITERS[path.suffix.lower()], key=score)


def _check_header(names: list[str], path: Path) -> None:
    """Refuse a first line that holds numbers, or names that will not do."""
    if not names:
        raise DataError(f"{path.name} must hold column names and rows of numbers; found blank lines alone. Check the file.")
    numeric = [_NUMBER.fullmatch(name) is not None or name.strip().lower() in ("nan", "inf", "-inf") for name in names]
    if all(numeric):
        raise DataError(
            f"The first line of {path.name} must hold the column names; found the numbers {', '.join(names[:3])}"
            f"{', ...' if len(names) > 3 else ''}. Add a line with the names on top, and a letter to names that are numbers."
        )
    check_names(names, path.name, unnamed_first=True)


def _not_utf8(path: Path) -> DataError:
    """The error for bytes that are not UTF-8, with the first of them."""
    raw = path.read_bytes()
    kind = next((kind for mark, kind in _FOREIGN.items() if raw.startswith(mark)), None)
    if kind is not None:
        return DataError(f"{path.name} must be UTF-8 text; found {kind}.")
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{raw[error.start]:02x} in line {raw.count(10, 0, error.start) + 1}"
    else:  # the file changed meanwhile
        found = "it was not"
    return DataError(f"{path.name} must be UTF-8 text; {found}. Save it as UTF-8 (in Excel: 'CSV UTF-8'), or as Parquet.")


def _count_blank_lines_at_end(path: Path) -> int:
    """How many lines without any character stand at the end of a file."""
    with path.open("rb") as stream:
        tail = b""
        while not tail.strip(b"\r\n") and len(tail) < path.stat().st_size:
            stream.seek(-min(len(tail) + 4096, path.stat().st_size), os.SEEK_END)
            tail = stream.read()
    return max(0, tail[len(tail.rstrip(b"\r\n")) :].count(b"\n") - 1)


def _holds(path: Path, delimiter: str, skip: int, count: int) -> bool:
    """Whether a delimiter occurs `count` times below the first `skip` lines, in quotes or not, and no carriage return stands alone."""
    mark = delimiter.encode()
    with path.open("rb") as stream:
        found, lone = -sum(stream.readline().count(mark) for _ in range(skip)), 0
        stream.seek(0)
        while block := stream.read(1 << 22):
            block += stream.read(1) if block.endswith(b"\r") else b""
            found += block.count(mark)
            lone += block.count(b"\r") - block.count(b"\r\n")
    return found == count and not lone


def _is_numeric(cell: str) -> bool:
    """Whether polars reads a cell as a number or as missing."""
    return cell == cell.rstrip() and (_NUMBER.fullmatch(cell) is not None or cell.lower() in MISSING)
