"""Recipes of simulated sets: TOML files, each set to be written to an `.npz` of its own.

    seed = 0                      # of the whole collection
    [[sets]]
    name = "dense"                # dense_1.npz to dense_20.npz
    count = 20
    edges = 30                    # any field of `Simulation`
    [[sets]]
    name = "cells"
    kind = "expression"           # any field of `Expression`
    technical = { dropout = 70 }

The fields of one set may stand at the top instead, without [[sets]]; it is then called as the file is. The seed of a set is a hash of `seed` and the
name of its file: a recipe may grow, and what was written before stays as it was.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.files import as_path
from seacausal.io.npz import write_dataset
from seacausal.io.toml import build_record, read_toml
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.expression import Expression, simulate_expression

KINDS: dict[str, type] = {"structural": Simulation, "expression": Expression}
"""What `kind` may be: tables of structural equations, the default, or expression levels of single cells."""


@dataclass(frozen=True)
class RecipeMember:
    """One data set of a recipe."""

    name: str
    """Of its sets."""
    number: int
    """From 1, among them."""
    seed: int
    """Of the recipe."""
    specification: Simulation | Expression
    """What to simulate."""

    @property
    def files(self) -> tuple[str, ...]:
        """The name of its file."""
        return (f"{self.name}_{self.number}.npz",)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        spec = self.specification
        of_regimes = spec.targets * (spec.regime_rows if isinstance(spec, Simulation) else spec.regime_cells)
        rows = of_regimes + (spec.observational_rows if isinstance(spec, Simulation) else spec.cells)
        return 4 * rows * (spec.variables + 1) + spec.variables * (spec.variables + spec.targets + 1) + 1500

    def simulate(self) -> Dataset:
        """The data set; always the same for one name, seed and specification."""
        digest = hashlib.sha256(f"{self.seed}/{self.files[0]}".encode()).digest()
        return simulate(self.specification, generator=np.random.default_rng(int.from_bytes(digest[:16], "big")))

    def write(self, folder: Path) -> None:
        """Simulate and write it."""
        write_dataset(folder / self.files[0], self.simulate())


def simulate(specification: Simulation | Expression, *, generator: np.random.Generator) -> Dataset:
    """A data set of either kind."""
    if isinstance(specification, Expression):
        return simulate_expression(specification, generator=generator)
    return simulate_dataset(specification, generator=generator)


def read_recipe(path: str | os.PathLike[str]) -> list[RecipeMember]:
    """The data sets of a recipe.

    Raises
    ------
    DataError
        If the file is missing or no TOML; if it has an unknown key, a value of another kind, or a name twice; or if a set is impossible.
    """
    path = as_path(path)
    table = read_toml(path, "recipe")
    seed = _take(table, "seed", 0, path.name, least=0)
    sets = table.pop("sets", None)
    if sets is None:
        sets = [{"name": path.stem} | table]
    elif table:
        raise DataError(f"Keys of '{path.name}' beside [[sets]] must be seed; found {next(iter(table))!r}. Put it into each of the sets.")
    if not isinstance(sets, list) or not sets or not all(isinstance(one, dict) for one in sets):
        raise DataError(f"'sets' of '{path.name}' must be tables, at least one; found {sets!r}. Begin each with a line [[sets]].")
    members: dict[str, list[RecipeMember]] = {}
    for at, one in enumerate(sets, start=1):
        found = _read_sets(one, seed, f"{path.name}: set {at}")
        if found[0].name in members:
            raise DataError(f"Names of the sets in '{path.name}' must be distinct; found {found[0].name!r} twice. Rename one of them.")
        members[found[0].name] = found
    return [member for found in members.values() for member in found]


def settle(members: Sequence[RecipeMember]) -> dict[str, Any]:
    """What the sets of a recipe are made with, as a table; how many there are of each name is left out."""
    kinds = {kind: name for name, kind in KINDS.items()}
    first = {member.name: member.specification for member in members}
    sets = {name: {"kind": kinds[type(spec)]} | dataclasses.asdict(spec) for name, spec in first.items()}
    return {"recipe": "sets", "seed": members[0].seed, "sets": sets}


def _read_sets(table: dict[str, Any], seed: int, label: str) -> list[RecipeMember]:
    table = dict(table)
    name = table.pop("name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]{1,100}", name) or name.startswith("."):
        raise DataError(f"'name' of '{label}' must be letters, digits, '.', '-' or '_', as part of a file's name; found {name!r}. Name the sets.")
    count = _take(table, "count", 1, label, least=1)
    kind = table.pop("kind", "structural")
    if not isinstance(kind, str) or kind not in KINDS:
        raise DataError(f"'kind' of '{label}' must be one of {', '.join(KINDS)}; found {kind!r}.")
    try:
        specification = build_record(KINDS[kind], table, label)
    except DataError as error:
        raise DataError(str(error) if label in str(error) else f"'{label}' must be possible. {error}") from None
    return [RecipeMember(name, number, seed, specification) for number in range(1, count + 1)]


def _take(table: dict[str, Any], key: str, default: int, label: str, *, least: int) -> int:
    """A whole number, taken out of the table."""
    value = table.pop(key, default)
    if type(value) is not int or value < least:
        raise DataError(f"{key!r} of '{label}' must be a whole number of at least {least}; found {value!r}. Correct the value.")
    return value
