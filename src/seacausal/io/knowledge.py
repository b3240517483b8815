"""Background knowledge by the names of the columns, from a TOML file or a mapping.

tiers = [["age", "sex"], ["dose"], ["response"]]      # nothing acts on what stands in an earlier tier; the rest may stand anywhere
forbidden = [["dose", "weight"], ["*", "sex"]]        # no edge dose -> weight, none that ends in sex
required = [["dose", "response"]]                     # there is an edge dose -> response
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seacausal.errors import DataError
from seacausal.graph.knowledge import Knowledge
from seacausal.graph.metrics import follow_paths
from seacausal.io.files import as_path
from seacausal.io.names import suggest
from seacausal.io.toml import read_toml

KEYS = ("tiers", "forbidden", "required")
ANY = "*"
"""Stands for every variable in a forbidden edge."""


def read_knowledge(source: str | os.PathLike[str] | Mapping[str, Any], names: Sequence[str], left_out: Sequence[str] = ()) -> Knowledge:
    """Background knowledge of the variables `names`.

    Parameters
    ----------
    source
        A TOML file or a mapping with some of `KEYS`: lists of names, for edges of two, the cause first.
    left_out
        Columns that are no variables because they name the rows.

    Raises
    ------
    DataError
        If the file is missing or no TOML, a key or a name is unknown, a list is none of names, or the parts contradict one another.
    """
    if not isinstance(source, (str, os.PathLike, Mapping)):
        raise DataError(f"`knowledge` must be a TOML file or a mapping; found {type(source).__name__}. Write {{'required': [['dose', 'response']]}}.")
    label = "the knowledge" if isinstance(source, Mapping) else f"the knowledge '{source}'"
    table = dict(source) if isinstance(source, Mapping) else read_toml(as_path(source), "knowledge")
    for key in table:
        if key not in KEYS:
            raise DataError(f"Keys of {label} must be among {', '.join(KEYS)}; found {key!r}. {suggest(str(key), KEYS, kind='keys')}")
    given = {key: _check_lists(table[key], key, label) for key in KEYS if key in table}
    index = {name: i for i, name in enumerate(names)}
    d = len(names)

    def find(name: str, key: str) -> int:
        if name not in index:
            why = (
                "It names the rows and was left out; `columns` keeps all that it is given."
                if name in left_out
                else suggest(name, names, kind="variables")
            )
            raise DataError(f"Names in {key!r} of {label} must be variables; found {name!r}. {why}")
        return index[name]

    required, forbidden, tier = np.zeros((d, d), bool), np.zeros((d, d), bool), np.full(d, -1)
    for number, members in enumerate(given.get("tiers", ())):
        for name in members:
            at = find(name, "tiers")
            if tier[at] >= 0:
                raise DataError(f"A variable must stand in one tier; found {name!r} in tier {tier[at] + 1} and in tier {number + 1} of {label}.")
            tier[at] = number
    upward = (tier[:, None] > tier) & (tier >= 0)
    forbidden |= upward
    for cause, effect in given.get("forbidden", ()):
        rows, columns = [slice(None) if name == ANY and ANY not in index else find(name, "forbidden") for name in (cause, effect)]
        forbidden[rows, columns] = True
    for cause, effect in given.get("required", ()):
        i, j = find(cause, "required"), find(effect, "required")
        required[i, j] = True
        if forbidden[i, j] or i == j:
            why = "it is forbidden, or goes against the tiers" if i != j else "it joins a variable to itself"
            raise DataError(f"Required edges of {label} must be possible; found {cause!r} -> {effect!r}, but {why}. Leave one of both out.")
    ancestors = follow_paths(required)
    if ancestors.diagonal().any():
        around = [names[i] for i in np.flatnonzero(ancestors.diagonal()).tolist()]
        raise DataError(f"Required edges of {label} must not close a cycle; found one through {', '.join(around)}. Leave an edge out.")
    for i, j in np.argwhere(ancestors & upward).tolist():
        raise DataError(f"Required edges of {label} must go down the tiers; found a path from {names[i]!r} to {names[j]!r}. Leave an edge out.")
    return Knowledge(required, forbidden | ancestors.T, {key: rows for key, rows in given.items() if rows})


def _check_lists(value: Any, key: str, label: str) -> list[list[str]]:
    """Lists of names, each of two but for tiers."""
    wanted = "lists of names" if key == "tiers" else "pairs of names, [cause, effect]"
    example = 'tiers = [["age"], ["dose", "response"]]' if key == "tiers" else f'{key} = [["dose", "response"]]'
    rows = list(value) if isinstance(value, (list, tuple)) else [value]
    for row in rows:
        fits = isinstance(row, (list, tuple)) and all(isinstance(name, str) for name in row) and (key == "tiers" or len(row) == 2)
        if not fits:
            raise DataError(f"{key!r} of {label} must be a list of {wanted}; found {row!r}. Write {example}.")
    return [list(row) for row in rows]
