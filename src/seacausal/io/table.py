"""Any table to a `Dataset`: what a user has comes in, what every later stage relies on goes out, or an error that says what to do.

Choices that may surprise. Columns that number, name or date the rows (`identifiers`) are left out unless they are asked for or less than two would
stay. So is the index of a pandas frame, also within Parquet. Text that spells numbers, as in a frame of strings, is read as numbers. What is missing
is empty, NaN, NA, N/A, #N/A, null (in any case) or ?. A column of nothing but text of a few kinds holds categories, which are numbered, and so are
those of a frame's columns that have an order; anything else that is no number is an error.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.aligned import Mask, align_entries
from seacausal.io.annotated import columns_of_annotated, is_annotated, read_h5ad
from seacausal.io.categories import count_texts, number_ordered, to_categories
from seacausal.io.cells import Columns, Missing, Place, is_missing, keep_finite, to_numbers
from seacausal.io.files import existing_file
from seacausal.io.identifiers import count_kinds, names_rows
from seacausal.io.interventions import find_controls, parse_interventions, parse_mask
from seacausal.io.layout import read_layout_file
from seacausal.io.names import check_names, suggest
from seacausal.io.npz import count_datasets, load_arrays, pick_dataset
from seacausal.io.text import TEXT_SUFFIXES, read_text

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

MIN_ROWS = 30
MIN_VARIABLES = 2
MOST_NAMED = 10
"""Columns that an error lists by name in a sentence."""
OtherTargets = Literal["error", "drop"]


def read_table(
    source: str | os.PathLike[str] | IntoDataFrame | np.ndarray,
    *,
    interventions: str | Iterable[object] | None = None,
    control: str | Sequence[str] = (),
    other_targets: OtherTargets = "error",
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    missing: Missing = "error",
    index: int | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> Dataset:
    """Read a table of numbers, or of categories as text, one row a sample and one column a variable.

    Parameters
    ----------
    source
        A file (.csv, .tsv, .txt with tabs, semicolons or commas; .parquet; .h5ad, see `seacausal.io.annotated`; .npz, see `seacausal.io.npz`; .npy,
        see `seacausal.io.layout`), a pandas, polars or pyarrow frame, a mapping from names to columns, an AnnData, or a 2-D array.
    interventions
        A column whose cells name the variables that were intervened on in the row: empty for none, several split by commas or plus signs, and a
        name that itself has a comma quoted as in csv; `A_B`, `A|B` and the like are split, too, where all pieces are variables or controls. The
        column, in an AnnData one of obs, is then no variable. Or one entry for each row: None, '', a name, or several names; or an (n, d) array
        of numbers, 1 where a variable was intervened on, also sparse; of a frame the columns are those of the same name. What has an index is
        aligned with that of the table, if it has one. These replace what an .npz file says.
    control
        A label, or several, that stands there for no intervention, beside nothing at all.
    other_targets
        "error" refuses interventions on what is no column, "drop" leaves out their rows and names them in `foreign`; labels that look like controls
        are refused there where `control` names none.
    columns
        The columns that are variables, all by default.
    ignore
        Columns that are none.
    missing
        "error" refuses missing and infinite values, "drop" leaves out their rows, "impute" fills them in (`seacausal.io.impute`); both are counted.
    index
        Which data set of an .npz file that holds several, counted from 0.
    names
        Names of the columns of an array; X1, X2, ... where absent.
    seed
        Of what is imputed.

    Returns
    -------
    Dataset
        Its values are float64, C-contiguous and finite; the memory of a float64 array given as `source` is not copied.

    Raises
    ------
    DataError
        If anything about the table is not as above, or it has fewer than `MIN_ROWS` rows or `MIN_VARIABLES` variables. The message names column
        and row (counted from 1, the header not counted) and says what to do.
    """
    if missing not in get_args(Missing):
        raise DataError(f"`missing` must be one of {', '.join(get_args(Missing))}; found {missing!r}.")
    column = interventions if isinstance(interventions, str) else None
    if interventions is not None and not isinstance(interventions, Iterable):
        raise DataError(f"`interventions` must be a column's name or one entry for each row; found {interventions!r}.")
    entries = align_entries(interventions, source) if interventions is not None and column is None else None
    path = existing_file(source) if isinstance(source, (str, os.PathLike)) else None
    archive = path if path is not None and path.suffix.lower() in (".npz", ".npy") else None
    array = source if isinstance(source, np.ndarray) else None
    _check_options(archive, array, column, index, names)
    chosen, ignored = _check_choice(columns, ignore, archive is None and array is None)
    if other_targets not in get_args(OtherTargets):
        raise DataError(f"`other_targets` must be 'error' or 'drop'; found {other_targets!r}.")
    control = list_names("control", [control] if isinstance(control, str) else control)
    if interventions is None and (control or other_targets == "drop"):
        raise DataError("`control` and `other_targets` say how to read `interventions`; found them without. Name the column, or leave them out.")
    if archive is not None:
        place = Place(archive.name)
        dataset = read_archive(archive, index) if archive.suffix.lower() == ".npz" else read_layout_file(archive)
    elif array is not None:
        place = Place("the array")
        dataset = _read_array(array, names, place)
    else:
        table = _read_columns(path, column, chosen) if path is not None else _columns_of(source, column, chosen)
        place = table.place
        cells, table, counters = _split_interventions(table, column)
        entries = cells if entries is None else entries
        held = dict(zip(table.names, table.cells))
        table, others = _choose(table, chosen, ignored, column)
        shared = tuple((name, kinds) for name in others if 2 * (kinds := count_kinds(held[name])) <= len(held[name]))
        dataset = dataclasses.replace(_to_dataset(table), counters=counters + others, shared=shared)
    if entries is not None:
        dataset, place = _with_interventions(dataset, entries, place, control, other_targets)
    return _finish(dataset, place, missing, seed)


def _finish(dataset: Dataset, place: Place, missing: Missing, seed: int) -> Dataset:
    """The data set, once its size and values will do."""
    _check_variables(dataset.names, place)
    if len(dataset.values) < MIN_ROWS:
        foreign = sum(rows for _, rows in dataset.foreign)
        left = f" after {foreign} with interventions on what is no column were left out" if foreign else ""
        raise DataError(f"There must be at least {MIN_ROWS} rows; found {len(dataset.values)} in {place.label}{left}. Add rows.")
    finite = keep_finite(dataset, place, missing=missing, seed=seed)
    if len(finite.values) < MIN_ROWS:
        lost = (~np.isfinite(dataset.values)).sum(axis=0)
        raise DataError(
            f"There must be at least {MIN_ROWS} rows; found {len(finite.values)} in {place.label} after {finite.dropped_rows} with missing or "
            f"infinite values were dropped, {lost.max()} of them for column {dataset.names[int(lost.argmax())]!r}. "
            "Impute values (`--missing impute`), or drop columns."
        )
    return finite


def _check_options(archive: Path | None, array: np.ndarray | None, column: str | None, index: int | None, names: Sequence[str] | None) -> None:
    """Refuse options that do not apply to the kind of source."""
    if index is not None and (archive is None or archive.suffix.lower() != ".npz"):
        raise DataError(f"`index` picks a data set of an .npz file; found index={index!r} with another kind of source. Leave it out.")
    if names is not None and array is None:
        raise DataError("`names` is for arrays, whose columns have no names; found it with a source that names its own. Leave it out.")
    if column is not None and (archive is not None or array is not None):
        says = "whose 'regime' and 'mask' say it" if archive is not None and archive.suffix.lower() == ".npz" else "beside which csv files say it"
        kind = "an array, all of whose columns are numbers" if archive is None else f"{archive.name}, {says}"
        raise DataError(
            f"`interventions` can name a column of text, Parquet and frames only; found {column!r} with {kind}. Leave it out, or give one entry for "
            "each row."
        )


def list_names(option: str, given: Iterable[object] | None) -> list[str]:
    """The names that an option holds, none where it is None."""
    if given is None:
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise DataError(f"`{option}` must be a list of names; found {given!r}. Write [{given!r}].")
    return [str(name) for name in given]


def _check_choice(columns: Iterable[object] | None, ignore: Iterable[object] | None, named: bool) -> tuple[list[str] | None, list[str]]:
    """The columns that are chosen, None for all, and those that are not; refuses a choice from a source whose columns are not chosen by name."""
    chosen, ignored = list_names("columns", columns), list_names("ignore", ignore)
    for option, given in (("columns", chosen), ("ignore", ignored)):
        if given and not named:
            raise DataError(f"`{option}` picks columns of text, Parquet, h5ad and frames only; found it with an array. Take its columns before.")
    if chosen and ignored:
        raise DataError("`columns` and `ignore` must not be given together; found both. Leave one out.")
    if columns is not None and not chosen:
        raise DataError("`columns` must name the columns that are variables; found none. Name them, or leave it out for all.")
    return chosen or None, ignored


def _choose(table: Columns, chosen: list[str] | None, ignored: list[str], interventions: str | None) -> tuple[Columns, tuple[str, ...]]:
    """The columns that are variables, and the names of those that name the rows; that of the interventions, which is none, may be named as well."""
    for option, given in (("columns", chosen or []), ("ignore", ignored)):
        for name in given:
            if name not in table.names and name != interventions:
                raise DataError(f"`{option}` must name columns of {table.place.label}; found {name!r}. {suggest(name, table.names, kind='columns')}")
    kept = [i for i, name in enumerate(table.names) if (chosen is None or name in chosen) and name not in ignored]
    counters = [i for i in kept if chosen is None and names_rows(table.names[i], table.cells[i], table.place, table.names)]
    counters = counters if len(kept) - len(counters) >= MIN_VARIABLES else []
    kept = [i for i in kept if i not in counters]
    left = dataclasses.replace(table, names=tuple(table.names[i] for i in kept), cells=[table.cells[i] for i in kept])
    return left, tuple(table.names[i] for i in counters)


def read_archive(path: Path, index: int | None) -> Dataset:
    """One data set of an .npz file."""
    arrays = load_arrays(path)
    count = count_datasets(arrays)
    if index is None and arrays["X"].ndim == 3 and count != 1:
        raise DataError(f"{path.name} holds {count} data sets; say which one with `index`, from 0 to {count - 1}.")
    index = 0 if index is None else index
    if not 0 <= index < count:
        raise DataError(f"`index` must lie between 0 and {count - 1}, for {path.name} holds {count} data sets; found {index}.")
    return pick_dataset(arrays, index, path.name)


def _read_columns(path: Path, interventions: str | None, chosen: list[str] | None) -> Columns:
    """The columns of a text, Parquet or h5ad file; of the last only those that are chosen."""
    suffix = path.suffix.lower()
    if suffix in TEXT_SUFFIXES:
        return read_text(path, interventions=interventions)
    if suffix == ".parquet":
        return _read_parquet(path, interventions)
    if suffix == ".h5ad":
        return read_h5ad(path, interventions, chosen)
    raise DataError(
        f"The file's suffix must be one of {', '.join(TEXT_SUFFIXES)}, .parquet, .h5ad, .npz, .npy; found {suffix or 'none'!r} in {path.name!r}. "
        "Convert the file, or rename it if it is one of these."
    )


def _read_parquet(path: Path, interventions: str | None) -> Columns:
    """The columns of a Parquet file, less those that pandas marked as the index."""
    import polars as pl

    try:
        with path.open("rb") as stream:
            marked = _index_columns(pl.read_parquet_metadata(stream).get("pandas", "{}"))
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except pl.exceptions.DuplicateError as error:
        raise DataError(f"Column names of {path.name} must be distinct; polars says: {error}. Rename or drop one of them.") from None
    except (Exception, pl.exceptions.PanicException) as error:  # foreign bytes: polars, its Rust core and json raise many kinds
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path.name} must be an intact Parquet file; reading it failed: {reason}. Write or copy it again.") from None
    frame = frame.drop([name for name in marked if name != interventions], strict=False)
    return _columns_of_frame(frame, Place(path.name))


def _index_columns(text: str) -> list[str]:
    """Which columns pandas says are the index, in what it wrote beside the data; none where another program wrote it otherwise."""
    try:
        marked = json.loads(text)["index_columns"]
    except (ValueError, TypeError, KeyError):
        return []
    return [name for name in marked if isinstance(name, str)] if isinstance(marked, list) else []


def _columns_of(source: Any, interventions: str | None, chosen: list[str] | None) -> Columns:
    """The columns of an AnnData or a frame in memory, of any library that narwhals knows."""
    if is_annotated(source):
        return columns_of_annotated(source, interventions, chosen)
    if hasattr(source, "collect"):
        raise DataError(f"The table must be in memory; found a lazy {type(source).__name__}. Call collect() on it first.")
    if isinstance(source, Mapping):
        return _columns_of_mapping(source, Place())
    from narwhals.dependencies import is_into_dataframe

    if not is_into_dataframe(source):
        raise DataError(
            "The table must be a path, a pandas, polars or pyarrow frame, a dict of columns, an AnnData or a 2-D array; found "
            f"{type(source).__name__}. Convert it{': give its toarray()' if hasattr(source, 'toarray') else ''}."
        )
    return _columns_of_frame(source, Place())


def _columns_of_mapping(source: Mapping[Any, Any], place: Place) -> Columns:
    """The columns of a mapping from names to sequences of cells."""
    names = tuple(map(str, source))
    check_names(names, place.label, unnamed_first=True)
    cells: list[np.ndarray | list[object]] = []
    for name, column in zip(names, source.values()):
        if isinstance(column, (str, bytes)) or not isinstance(column, Iterable) or np.ndim(column) > 1:  # type: ignore[arg-type]
            raise DataError(f"Column {name!r} must be a sequence of cells; found {type(column).__name__}. Give one cell for each row.")
        held = column.tolist() if isinstance(column, np.ndarray) else list(column)
        cells.append(held)
        if len(held) != len(cells[0]):
            raise DataError(
                f"Columns must have one cell for each row; found {len(cells[0])} in {names[0]!r} and {len(held)} in {name!r}. Add or remove cells."
            )
    return Columns(names, cells, place)


def _columns_of_frame(source: Any, place: Place) -> Columns:
    """The columns of a frame in memory; numbers become float64, and what may spell numbers stays as it is."""
    import narwhals as nw

    own = source.column_names if hasattr(source, "column_names") else getattr(source, "columns", ())
    names = tuple(map(str, own))
    check_names(names, place.label, unnamed_first=True)  # before narwhals sees them, which names no columns when some are repeated
    columns = list(nw.from_native(source, eager_only=True).iter_columns())
    orders = {name: tuple(column.dtype.categories) for name, column in zip(names, columns) if isinstance(column.dtype, nw.Enum)}
    return Columns(names, [_cells_of(column) for column in columns], place, orders)


def _cells_of(column: nw.Series) -> np.ndarray | list[object]:
    """(n,) float64 of a column of numbers or booleans, a list of any other column."""
    import narwhals as nw

    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return np.asarray(column.cast(nw.Float64).to_numpy(), np.float64)
    return column.to_list()


def _read_array(array: np.ndarray, names: Sequence[str] | None, place: Place) -> Dataset:
    """The observational data set of an array; its values may be missing or infinite."""
    if array.ndim != 2:
        raise DataError(f"The array must have two axes, rows and variables; found shape {array.shape}. Reshape it.")
    if array.dtype.kind not in "biufOU":
        raise DataError(f"The array must hold numbers; found {array.dtype}. Convert it.")
    d = array.shape[1]
    own = tuple(f"X{i + 1}" for i in range(d)) if names is None else tuple(map(str, names))
    if len(own) != d:
        raise DataError(f"`names` must hold one name for each of the {d} columns; found {len(own)}. Add or remove names.")
    check_names(own, place.label)
    if array.dtype.kind in "OU":
        return _to_dataset(Columns(own, [column.tolist() for column in array.T], place))
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return Dataset.observational(np.ascontiguousarray(array, np.float64), own)


def _split_interventions(columns: Columns, name: str | None) -> tuple[list[object] | None, Columns, tuple[str, ...]]:
    """The cells of the interventions column, the other columns, and the name, or want of one, of a written index that is none of these."""
    names, cells, place = columns.names, list(columns.cells), columns.place
    entries = None
    if name is not None:
        if name not in names:
            raise DataError(
                f"`interventions` must name a column of {place.label}; found {name!r}, which is none. {suggest(name, names, kind='columns')}"
            )
        position = names.index(name)
        entries = list(cells.pop(position))
        names = names[:position] + names[position + 1 :]
    counters: tuple[str, ...] = ()
    if names and not names[0].strip() and names_rows("", cells[0], place):
        counters, names, cells = names[:1], names[1:], cells[1:]
    check_names(names, place.label)
    return entries, dataclasses.replace(columns, names=names, cells=cells), counters


def _to_dataset(columns: Columns) -> Dataset:
    """The observational data set of some columns; its values may be missing or infinite."""
    _check_variables(columns.names, columns.place)
    values, categories = np.empty((len(columns.cells[0]), len(columns.names))), []
    refused: dict[str, DataError] = {}
    for i, (name, cells) in enumerate(zip(columns.names, columns.cells)):
        try:
            values[:, i], levels = _read_column(cells, name, columns)
        except DataError as error:
            refused[name] = error
        else:
            categories += [(name, levels)] if levels else []
    if refused:
        raise _join_errors(refused, columns)
    return dataclasses.replace(Dataset.observational(values, columns.names), categories=tuple(categories))


def _join_errors(refused: dict[str, DataError], columns: Columns) -> DataError:
    """The error of the first column, and which others may be left out with it, lest they be found one after the other."""
    cells = dict(zip(columns.names, columns.cells))
    first, *others = (name for k, name in enumerate(refused) if not k or count_texts(cells[name], columns.names))
    if not others or not count_texts(cells[first], columns.names):
        return refused[first]
    named = ", ".join(map(repr, others[:MOST_NAMED])) + (f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else "")
    plain = not any(name.startswith("-") for name in (first, *others))
    return DataError(
        f"{refused[first]} So it is with {named}{f' (--ignore {shlex.join([first, *others])} leaves out all of them)' if plain else ''}."
    )


def _read_column(cells: np.ndarray | Sequence[object], name: str, columns: Columns) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n,) float64, and the categories that these stand for, if they stand for any."""
    if name in columns.orders:
        return number_ordered(cells, name, columns.names, columns.place, columns.orders[name])
    try:
        return to_numbers(cells, name, columns.place), ()
    except DataError:
        found = to_categories(cells, name, columns.names, columns.place)
        if found is None:
            raise
        return found


def _check_variables(names: Sequence[str], place: Place) -> None:
    """Refuse a table with too few variables."""
    if len(names) < MIN_VARIABLES:
        raise DataError(
            f"There must be at least {MIN_VARIABLES} variables; found {len(names)} in {place.label}{f' ({names[0]!r})' if names else ''}. "
            "Add columns; in a text file, split them with commas, semicolons or tabs."
        )


def _with_interventions(
    dataset: Dataset, entries: Sequence[object] | Mask, place: Place, control: Sequence[str], others: OtherTargets
) -> tuple[Dataset, Place]:
    """The data set with the regimes that the entries say, and where its rows stand; without interventions on what is no column, if so asked."""
    n = len(dataset.values)
    given = entries.values.shape[0] if isinstance(entries, Mask) else len(entries)
    if given != n:
        raise DataError(f"`interventions` must have one entry for each of the {n} rows of {place.label}; found {given}. Add or remove entries.")
    if isinstance(entries, Mask):
        if control or others == "drop":
            raise DataError(
                "`control` and `other_targets` say how to read names of interventions; found them with an array of numbers. Leave them out."
            )
        regime, targets = parse_mask(entries, dataset.names, place)
        return dataclasses.replace(dataset, regime=regime, targets=targets), place
    regime, targets, guides = parse_interventions(entries, dataset.names, place, control=control, others=others == "error")
    empty = sum(map(is_missing, entries)) if control else 0
    dataset = dataclasses.replace(dataset, unlabelled=empty, guides=tuple(guides.items()))
    if (regime >= 0).all():
        return dataclasses.replace(dataset, regime=regime, targets=targets), place
    kept = np.flatnonzero(regime >= 0)
    foreign = Counter(str(entries[row]) for row in np.flatnonzero(regime < 0).tolist())
    same = {name.casefold(): name for name in dataset.names}
    if alike := next((label for label in foreign if label.strip().casefold() in same), None):
        raise DataError(
            f"Interventions and columns of {place.label} must be written alike; found {alike!r} ({foreign[alike]} rows) beside the column "
            f"{same[alike.strip().casefold()]!r}. Rename one of both."
        )
    if not targets.any():
        raise DataError(
            f"Some interventions must be on columns of {place.label}; found none, but {_some(foreign)}. Check how columns and interventions are "
            "called, or say which labels are controls."
        )
    if not control and (likely := find_controls(foreign)):
        named = Counter({label: foreign[label] for label in likely})
        raise DataError(
            f"`control` must say which labels stand for no intervention where other_targets='drop' would leave their rows out; found {_some(named)} "
            f"in {place.label}, which look like it. Say control={likely[0]!r} (`--control`), or take these rows out of the table before."
        )
    left = dataclasses.replace(dataset, values=dataset.values[kept], regime=regime[kept], targets=targets, foreign=tuple(foreign.most_common()))
    return left, dataclasses.replace(place, kept=kept)


def _some(labels: Counter[str]) -> str:
    return ", ".join(f"{label!r} ({rows} rows)" for label, rows in labels.most_common(5)) + (", ..." if len(labels) > 5 else "")
