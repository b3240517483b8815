"""Writes a collection of simulated sets to a folder, in parallel processes; what is there already is left, so an interrupted run goes on.

Each member is written whole or not at all, and its bytes depend on its name and specification alone: on no order and no number of processes.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from seacausal.errors import DataError
from seacausal.io.files import as_path, replace_files, unwritable

SETTINGS = "collection.json"
"""The file that says what a folder's sets were made with."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Member(Protocol):
    """What is written or left as one; it travels to another process."""

    @property
    def files(self) -> Sequence[str]:
        """Paths within the folder."""
        ...

    @property
    def size(self) -> int:
        """About how many bytes they take."""
        ...

    def write(self, folder: Path) -> None:
        """Simulate, and write all files or none."""
        ...


def write_collection(
    folder: str | os.PathLike[str],
    members: Sequence[Member],
    settings: Mapping[str, Any],
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, int]:
    """Write those of `members` that are not there yet.

    Parameters
    ----------
    settings
        What all members of the folder have in common, now and later: numbers, text, lists and tables. They are kept in `collection.json`.
    progress
        Told after each member how many are written, of how many.

    Returns
    -------
    How many members were written, and how many were there.

    Raises
    ------
    DataError
        If the folder holds sets made with other settings or has too little space, and nothing is written; or if a file cannot be written, and the
        sets written before it stay.
    """
    if workers < 1:
        raise DataError(f"`workers` must be at least 1; found {workers}.")
    folder = as_path(folder)
    text = json.dumps(settings, indent=2) + "\n"
    _check_settings(folder, json.loads(text))
    missing = [member for member in members if not all((folder / name).is_file() for name in member.files)]
    _check_space(folder, missing)
    if missing:
        replace_files(folder, {SETTINGS: lambda stream: stream.write(text.encode())})
        _run(partial(_write, folder), missing, workers, progress)
    return len(missing), len(members) - len(missing)


def _write(folder: Path, member: Member) -> None:
    member.write(folder)


def _check_settings(folder: Path, settings: Any) -> None:
    path = folder / SETTINGS
    if not path.exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise DataError(f"The folder must be empty or hold {SETTINGS}; '{folder}' holds other files. Choose another folder.")
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} must be readable JSON; reading it failed: {error}. Choose another folder.") from None
    if found != settings:
        raise DataError(f"The sets of a folder must share their settings; '{folder}' was made with {found}. Choose another folder or these settings.")


def _check_space(folder: Path, members: Sequence[Member]) -> None:
    there = next(part for part in (folder.absolute(), *folder.absolute().parents) if part.exists())
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        raise unwritable(folder, error) from None
    needed = sum(member.size for member in members)
    if needed > free:
        raise DataError(
            f"There must be {needed / 1e9:.1f} GB free for what is to be written; found {free / 1e9:.1f} GB below '{there}'. "
            "Ask for fewer or smaller sets, or choose another disk."
        )


def _run(write: Callable[[Member], None], members: Sequence[Member], workers: int, progress: Callable[[int, int], None] | None) -> None:
    """`write` every member in processes of one thread each, so that sums are added up in one order whatever their number."""
    with _one_thread():
        executor = ProcessPoolExecutor(min(workers, len(members)), mp_context=multiprocessing.get_context("spawn"))
        try:
            futures = [executor.submit(write, member) for member in members]
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                if progress:
                    progress(done, len(members))
        finally:
            executor.shutdown(cancel_futures=True)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes started within use one thread each for linear algebra."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
