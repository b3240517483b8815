"""Writes a collection of simulated sets to a folder, in parallel processes; what is there already is left, so an interrupted run goes on.

Each causal model is written whole or not at all, and its bytes depend on its name alone: on no order and no number of processes.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from seacausal.errors import DataError
from seacausal.io.files import as_path, replace_files, unwritable
from seacausal.io.layout import name_layout, write_layout
from seacausal.simulate.paper import Model, Paper, list_models, simulate_model

SETTINGS = "collection.json"
"""The file that says what a folder's sets were made with."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def write_collection(
    folder: str | os.PathLike[str], paper: Paper, *, workers: int = 1, progress: Callable[[int, int], None] | None = None
) -> tuple[int, int]:
    """Write the sets of `paper` that are not there yet.

    Parameters
    ----------
    folder
        Gets a folder for every combination, each in the layout of `seacausal.io.layout`, and `collection.json` with the settings.
    progress
        Told after each causal model how many are written, of how many.

    Returns
    -------
    How many causal models were written, and how many were there.

    Raises
    ------
    DataError
        If the folder holds sets made with other settings or has too little space, and nothing is written; or if a file cannot be written, and the
        sets written before it stay.
    """
    if workers < 1:
        raise DataError(f"`workers` must be at least 1; found {workers}.")
    folder = as_path(folder)
    _check_settings(folder, paper)
    models = list_models(paper)
    missing = [model for model in models if not _present(folder, model)]
    _check_space(folder, missing)
    if missing:
        text = json.dumps(_settings(paper), indent=2) + "\n"
        replace_files(folder, {SETTINGS: lambda stream: stream.write(text.encode())})
        _run(partial(_write_model, folder), missing, workers, progress)
    return len(missing), len(models) - len(missing)


def count_bytes(models: Sequence[Model]) -> int:
    """About how much space the sets take."""
    return sum(2 * 4 * model.rows * model.simulation.variables + 6 * model.rows + 8 * model.simulation.variables**2 for model in models)


def _write_model(folder: Path, model: Model) -> None:
    observational, interventional = simulate_model(model)
    write_layout(folder / model.folder, model.number, observational=observational, interventional=interventional)


def _present(folder: Path, model: Model) -> bool:
    return all((folder / model.folder / name).is_file() for name in name_layout(model.number))


def _settings(paper: Paper) -> dict[str, Any]:
    """What the sets of a folder have in common; how many of them there are may change."""
    return {"recipe": "paper"} | {k: v for k, v in dataclasses.asdict(paper).items() if k not in ("limit", "largest")}


def _check_settings(folder: Path, paper: Paper) -> None:
    path = folder / SETTINGS
    if not path.exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise DataError(f"The folder must be empty or hold {SETTINGS}; '{folder}' holds other files. Choose another folder.")
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} must be readable JSON; reading it failed: {error}. Choose another folder.") from None
    if found != _settings(paper):
        raise DataError(f"The sets of a folder must share their settings; '{folder}' was made with {found}. Choose another folder or these settings.")


def _check_space(folder: Path, models: Sequence[Model]) -> None:
    there = next(part for part in (folder.absolute(), *folder.absolute().parents) if part.exists())
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        raise unwritable(folder, error) from None
    needed = count_bytes(models)
    if needed > free:
        raise DataError(
            f"There must be {needed / 1e9:.1f} GB free for {len(models):,} causal models; found {free / 1e9:.1f} GB below '{there}'. "
            "Ask for fewer (--limit), smaller ones (--largest), or choose another disk."
        )


def _run(write: Callable[[Model], None], models: Sequence[Model], workers: int, progress: Callable[[int, int], None] | None) -> None:
    """`write` every model in processes of one thread each, so that sums are added up in one order whatever their number."""
    with _one_thread():
        executor = ProcessPoolExecutor(min(workers, len(models)), mp_context=multiprocessing.get_context("spawn"))
        try:
            futures = [executor.submit(write, model) for model in models]
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                if progress:
                    progress(done, len(models))
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
