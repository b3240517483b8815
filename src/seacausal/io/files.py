"""Files that are there, and files that appear whole or not at all."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from seacausal.errors import DataError
from seacausal.io.names import suggest


def as_path(path: str | os.PathLike[str]) -> Path:
    """A path with `~` spelt out.

    Raises
    ------
    DataError
        If it is no path, or `~` names no known user.
    """
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        raise DataError(f"A path must be text or a path object, and '~' a known home; found {path!r} ({error}). Write the path out.") from None


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The path of a file that exists, can be read and is not empty.

    Raises
    ------
    DataError
        If there is no such file, it is a folder, it is empty, or it cannot be read.
    """
    path, empty = as_path(path), False
    try:
        pipe = path.exists() and not (path.is_file() or path.is_dir())
        if not pipe:
            with path.open("rb") as stream:
                empty = not stream.read(1)
    except FileNotFoundError:
        raise DataError(f"The data file must exist; found nothing at {str(path)!r}. Check the path.{_nearby(path)}") from None
    except IsADirectoryError:
        raise DataError(f"The data must be a file; found a folder at {str(path)!r}. Name one file in it.") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise DataError(f"The data file must be readable; {str(path)!r} is not: {error}. Check its permissions.") from None
    if pipe:  # it could be read once only
        raise DataError(f"The data must be a file; found a pipe or device at {str(path)!r}. Write it to a file first.")
    if empty:
        raise DataError(f"The data file must not be empty; {str(path)!r} has 0 bytes. Write it again.")
    return path


def read_records(path: Path) -> list[list[str]]:
    """The rows of a CSV file in UTF-8, its header among them.

    Raises
    ------
    DataError
        If the file is not well-formed.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return list(csv.reader(stream, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} must be well-formed UTF-8 csv; {error}. Write it again.") from None


def _nearby(path: Path) -> str:
    """A sentence with the files of the same folder that a path may have meant."""
    with suppress(OSError):
        beside = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
        return f" {suggest(path.name, beside, kind='files there')}" if beside else ""
    return ""


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and its parents; the ones that were not there before, outermost first."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        remove_folders(missing[::-1])
        raise
    return missing[::-1]


def remove_folders(made: list[Path]) -> None:
    """Remove what `make_folders` made, innermost first, as far as it is empty."""
    for part in reversed(made):
        with suppress(OSError):
            part.rmdir()


def replace_files(folder: Path, writers: Mapping[str, Callable[[BinaryIO], object]]) -> None:
    """Write several files of one folder: all of them are complete before the first takes its name, so none is ever half-written.

    Parameters
    ----------
    folder
        Made where it is missing, and removed again if nothing could be written.
    writers
        For each file name, a function that writes its content to the open stream it is given.

    Raises
    ------
    DataError
        If the folder or a file cannot be written; the old files are then untouched. An exception in a writer passes through.
    """
    try:
        made = make_folders(folder)
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        for name in writers:
            if (folder / name).is_dir():
                raise IsADirectoryError(f"a folder stands where {name!r} is to be written")
        with tempfile.TemporaryDirectory(dir=folder, prefix=".seacausal-", ignore_cleanup_errors=True) as temporary:
            for name, write in writers.items():
                with Path(temporary, name).open("wb") as stream:
                    write(stream)
            for name in writers:
                os.replace(Path(temporary, name), folder / name)
    except OSError as error:
        remove_folders(made)
        raise unwritable(folder, error) from None
    except BaseException:
        remove_folders(made)
        raise


def unwritable(folder: Path, error: Exception) -> DataError:
    """The error for a folder that cannot be written, and why."""
    reason = getattr(error, "strerror", None) or error
    return DataError(f"The output folder must be writable; {str(folder)!r} is not: {reason}. Choose another folder or change its permissions.")
