"""Configuration and recipe files."""

from __future__ import annotations

import tomllib
import types
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from seacausal.errors import DataError
from seacausal.io.files import as_path
from seacausal.io.names import suggest

T = TypeVar("T")


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The table of a TOML file; `kind` says in errors what the file is.

    Raises
    ------
    DataError
        If the file is missing or is no TOML.
    """
    path = as_path(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"The {kind} '{path}' must be TOML in UTF-8; {error}. Correct that line.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"The {kind} '{path}' must be a readable file; {error}. Check the path.") from None


def build_record(kind: type[T], table: dict[str, Any], label: str) -> T:
    """A dataclass from a table that holds some of its fields; fields that are dataclasses are tables within it.

    Parameters
    ----------
    label
        Where the table stands, for errors.

    Raises
    ------
    DataError
        If a key is no field, or a value not of the field's type; what the dataclass itself refuses passes through.
    """
    known = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    values = {}
    for key, value in table.items():
        if key not in known:
            raise DataError(f"Keys of '{label}' must be options; found {key!r}. {suggest(key, known, kind='options')}")
        values[key] = _convert(value, hints[key], label, key)
    return kind(**values)


def _convert(value: Any, hint: Any, label: str, key: str) -> Any:
    """A value of TOML as the type that `hint` says."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(one for one in get_args(hint) if one is not type(None))  # TOML has no None
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, dict):
        return build_record(hint, value, f"{label}: {key}")
    inner = get_args(hint)
    if get_origin(hint) is tuple and isinstance(value, list) and (inner[-1] is ... or len(value) == len(inner)):
        return tuple(_convert(one, inner[0], label, key) for one in value)
    if (hint is float and type(value) in (int, float)) or (isinstance(hint, type) and type(value) is hint):
        return value
    raise DataError(f"{key!r} of '{label}' must be {_describe(hint)}; found {value!r}. Correct the value.")


def _describe(hint: Any) -> str:
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    if get_origin(hint) is not tuple:
        return words.get(hint, "a table")
    inner = get_args(hint)
    return f"a list, each {words.get(inner[0], 'a table')}" + ("" if inner[-1] is ... else f", of {len(inner)}")
