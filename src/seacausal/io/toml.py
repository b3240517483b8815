"""Configuration and recipe files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from seacausal.errors import DataError
from seacausal.io.files import as_path


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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"The {kind} '{path}' must be TOML in UTF-8; {error}. Correct that line.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"The {kind} '{path}' must be a readable file; {error}. Check the path.") from None
