"""Archives of data sets with their truth: `.npz` without pickle.

`X` (n, d), or (b, n, d) for b data sets of one shape; `names` (d,); `A` (d, d) or (b, d, d), where `A[i, j] != 0` is i -> j; `regime` (n,) or
(b, n); `mask` (r, d) or (b, r, d), True where a variable was intervened on in that regime. All but `X` may be absent: the columns are then
called X1, X2, ..., the graph is unknown, the rows are observational. Other arrays are ignored. Numbers are stored as they are and read as
float64.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.cells import Missing, Place, keep_finite
from seacausal.io.files import as_path, existing_file, replace_files
from seacausal.io.names import check_names

_KEYS = ("X", "names", "A", "regime", "mask")


def read_datasets(path: str | os.PathLike[str], *, missing: Missing = "error") -> list[Dataset]:
    """Read every data set of an archive, whatever its number of rows.

    Parameters
    ----------
    path
        An `.npz` file in the format of this module.
    missing
        "drop" leaves out rows with a missing or infinite value, "impute" fills these in, "error" refuses them.

    Raises
    ------
    DataError
        If the file is absent or damaged, needs pickle, its arrays do not fit together, or a value is not finite.
    """
    path = existing_file(path)
    arrays = load_arrays(path)
    return [keep_finite(pick_dataset(arrays, i, path.name), Place(path.name), missing=missing) for i in range(count_datasets(arrays))]


def write_dataset(path: str | os.PathLike[str], dataset: Dataset) -> None:
    """Write one data set; the file appears whole or not at all, and the same data give the same bytes.

    The count of rows dropped while reading is not kept.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    _write(path, {name: array[0] if name != "names" else array for name, array in _stack([dataset]).items()})


def write_datasets(path: str | os.PathLike[str], datasets: Sequence[Dataset]) -> None:
    """Write several data sets of one shape into one archive, as `write_dataset` does.

    Where they differ in their number of regimes, `mask` is filled up with regimes that no row refers to.

    Raises
    ------
    DataError
        If there are none, they differ in shape, in names or in whether the truth is known, or the file cannot be written.
    """
    kinds = {(dataset.values.shape, dataset.names, dataset.adjacency is None) for dataset in datasets}
    if len(kinds) != 1:
        raise DataError(
            f"Data sets of one archive must share their shape, their names and whether the graph is known; found {len(kinds)} kinds among "
            f"{len(datasets)}. Write one archive for each kind."
        )
    _write(path, _stack(datasets))


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an archive, checked against each other.

    Raises
    ------
    DataError
        If the file is not an archive of arrays, needs pickle, or its arrays do not fit together.
    """
    try:
        with path.open("rb") as stream:  # np.load leaves a file open that it cannot read
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it is a single array, as numpy.save writes")
            arrays = {key: archive[key] for key in _KEYS if key in archive.files}
            found = archive.files
            strange = [key for key, array in arrays.items() if not isinstance(array, np.ndarray)]
            if strange:
                raise ValueError(f"{strange[0]!r} is no array")
    except Exception as error:  # foreign bytes: zipfile, zlib and numpy raise a dozen kinds
        raise DataError(
            f"{path.name} must be an intact .npz archive of plain arrays; reading it failed: {error}. Write it again with numpy.savez, "
            "without arrays of objects (pickle is never loaded)."
        ) from None
    if "X" not in arrays:
        raise DataError(f"{path.name} must hold an array called 'X' (rows, variables); found {', '.join(found) or 'none'}. Rename the table to X.")
    _check(arrays, path.name)
    return arrays


def count_datasets(arrays: dict[str, np.ndarray]) -> int:
    """How many data sets the arrays of `load_arrays` hold."""
    return len(arrays["X"]) if arrays["X"].ndim == 3 else 1


def pick_dataset(arrays: dict[str, np.ndarray], index: int, label: str) -> Dataset:
    """Data set `index` of the arrays of `load_arrays`, its values not yet checked for being finite.

    Raises
    ------
    DataError
        If the regimes do not point into `mask`; see `Dataset`.
    """
    flat = {"X": 2, "A": 2, "regime": 1, "mask": 2}
    own = {key: array[index] if array.ndim > flat.get(key, 1) else array for key, array in arrays.items()}
    n, d = own["X"].shape
    names = _texts(own["names"]) if "names" in own else tuple(f"X{i + 1}" for i in range(d))
    check_names(names, label)
    if "regime" in own and len(own["regime"]) and not (own["regime"].min() >= 0 and own["regime"].max() < len(own["mask"])):
        raise DataError(
            f"'regime' of {label} must point at rows of 'mask', from 0 to {len(own['mask']) - 1}; "
            f"found {own['regime'].min()} to {own['regime'].max()}. Number the regimes anew."
        )
    return Dataset(
        values=np.ascontiguousarray(own["X"], np.float64),
        names=names,
        regime=own["regime"].astype(np.int32) if "regime" in own else np.zeros(n, np.int32),
        targets=own["mask"].astype(bool) if "regime" in own else np.zeros((1, d), bool),
        adjacency=own["A"].astype(bool) if "A" in own else None,
    )


def _check(arrays: dict[str, np.ndarray], label: str) -> None:
    """Refuse arrays whose kinds or shapes do not fit together."""
    X = arrays["X"]
    if X.ndim not in (2, 3) or X.dtype.kind not in "biuf":
        raise DataError(
            f"'X' of {label} must hold numbers in shape (rows, variables) or (sets, rows, variables); found {X.dtype} of shape {X.shape}. "
            "Reshape or convert it."
        )
    if ("regime" in arrays) != ("mask" in arrays):
        raise DataError(f"'regime' and 'mask' of {label} must come together; found only one of them. Add the other or leave both out.")
    *sets, n, d = X.shape
    r = arrays["mask"].shape[-2] if "mask" in arrays and arrays["mask"].ndim > 1 else 0
    for key, shape, kinds in (("names", (d,), "US"), ("A", (d, d), "biuf"), ("regime", (n,), "iu"), ("mask", (r, d), "biu")):
        if key not in arrays:
            continue
        array = arrays[key]
        allowed = {shape, (*sets, *shape)} if key != "names" else {shape}
        if array.shape not in allowed or array.dtype.kind not in kinds:
            shapes = " or ".join(map(str, sorted(allowed, key=len)))
            raise DataError(
                f"{key!r} of {label} must have shape {shapes} to fit 'X' {X.shape}, and hold {'text' if key == 'names' else 'numbers'}; "
                f"found {array.dtype} of shape {array.shape}. Correct the archive."
            )


def _texts(names: np.ndarray) -> tuple[str, ...]:
    """Names as str, from an array of text or of UTF-8 bytes."""
    return tuple(name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names.tolist())


def _stack(datasets: Sequence[Dataset]) -> dict[str, np.ndarray]:
    """The arrays of an archive with one more axis in front, `names` excepted."""
    arrays = {"X": np.stack([dataset.values for dataset in datasets]), "names": np.array(datasets[0].names, np.str_)}
    graphs = [dataset.adjacency for dataset in datasets if dataset.adjacency is not None]
    if graphs:
        arrays["A"] = np.stack(graphs).astype(np.int8)
    regimes = max(len(dataset.targets) for dataset in datasets)
    arrays["regime"] = np.stack([dataset.regime for dataset in datasets]).astype(np.int32)
    arrays["mask"] = np.stack([np.pad(dataset.targets, ((0, regimes - len(dataset.targets)), (0, 0))) for dataset in datasets])
    return arrays


def _write(path: str | os.PathLike[str], arrays: dict[str, Any]) -> None:
    """Write an archive whole or not at all."""
    path = as_path(path)
    replace_files(path.parent, {path.name: lambda stream: np.savez(stream, **arrays)})
