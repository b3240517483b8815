"""Configuration and recipe files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from seacausal.errors import DataError


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The table of a TOML file; `kind` says in errors what the file is.

    Raises
    ------
    DataError
        If the file is missing or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"The {kind} '{path}' must be a readable file; {error.strerror}. Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"The {kind} '{path}' must be TOML in UTF-8; {error}. Correct that line.") from None
