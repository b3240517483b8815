"""What a variable may be called, and what a misspelt name may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from seacausal.errors import DataError

# What XML 1.0 can hold, less the carriage return, which neither XML nor csv gives back unchanged.
_WRITABLE = re.compile("[\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def check_names(names: Sequence[str], label: str, *, unnamed_first: bool = False) -> None:
    """Refuse names that are empty, repeated, or that no result file could hold.

    Parameters
    ----------
    names
        The names of the columns, in order.
    label
        What they belong to, for the message: a file's name or "the table".
    unnamed_first
        Let the first column have no name: it may be the row numbers that pandas or R wrote.

    Raises
    ------
    DataError
        If a name is empty, occurs twice, or holds a control character.
    """
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip() and not (unnamed_first and position == 1):
            raise DataError(
                f"Every column of {label} must have a name; column {position} has none. Name it or drop it; "
                "if it is the index that pandas writes, write the file again with to_csv(..., index=False)."
            )
        if name in seen:
            raise DataError(
                f"Column names of {label} must be distinct; found {name!r} in columns {seen[name]} and {position}. Rename or drop one of them."
            )
        if not _WRITABLE.fullmatch(name):
            raise DataError(f"Column names of {label} must be free of control characters; found {name!r} in column {position}. Rename it.")
        seen[name] = position


def suggest(wanted: str, known: Iterable[str], *, kind: str) -> str:
    """A sentence with the known names closest to `wanted`, whatever their case; with the first ten where none is close."""
    known = list(known)
    folded = {name.casefold().strip(): name for name in reversed(known)}
    close = [folded[match] for match in difflib.get_close_matches(wanted.casefold().strip(), folded)]
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    return f"The {kind} are {', '.join(map(repr, known[:10]))}{', ...' if len(known) > 10 else ''}."
