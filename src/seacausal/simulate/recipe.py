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

The fields of one set may stand at the top instead, without [[sets]]; it is then called as the file is. The recipe of a training run, which has a
[domain], stands for sets like those that the run draws. The seed of a set is a hash of `seed` and the
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
from seacausal.simulate.domain import SIZES, Domain, Size, draw_specification
from seacausal.simulate.expression import Expression, simulate_expression

KINDS: dict[str, type] = {"structural": Simulation, "expression": Expression}
"""What `kind` may be: tables of structural equations, the default, or expression levels of single cells."""


@dataclass(frozen=True)
class TrainingSets:
    """What a training run draws its data sets from."""

    domain: Domain
    """Of every data set's specification."""
    sizes: tuple[Size, ...]
    """Of the numbers of variables."""

    def draw(self, generator: np.random.Generator) -> Simulation | Expression:
        """A specification; sizes come as often as in training, in steps times data sets a step."""
        share = np.array([size.share * size.batch for size in self.sizes])
        size = self.sizes[generator.choice(len(share), p=share / share.sum())]
        return draw_specification(self.domain, int(generator.integers(size.smallest, size.largest + 1)), generator=generator)


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
    domain: TrainingSets | None = None
    """Where the specification was drawn from, in the recipe of a training run."""

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
        return simulate(self.specification, generator=_generator(f"{self.seed}/{self.files[0]}"))

    def write(self, folder: Path) -> None:
        """Simulate and write it."""
        write_dataset(folder / self.files[0], self.simulate())


def simulate(specification: Simulation | Expression, *, generator: np.random.Generator) -> Dataset:
    """A data set of either kind."""
    if isinstance(specification, Expression):
        return simulate_expression(specification, generator=generator)
    return simulate_dataset(specification, generator=generator)


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big"))


def read_recipe(path: str | os.PathLike[str], *, count: int = 100) -> list[RecipeMember]:
    """The data sets of a recipe.

    Parameters
    ----------
    count
        How many, where the recipe is that of a training run.

    Raises
    ------
    DataError
        If the file is missing or no TOML; if it has an unknown key, a value of another kind, or a name twice; or if a set is impossible.
    """
    path = as_path(path)
    table = read_toml(path, "recipe")
    seed = _take(table, "seed", 0, path.name, least=0)
    if "domain" in table:
        return _read_training(table, seed, path, count)
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


def _read_training(table: dict[str, Any], seed: int, path: Path, count: int) -> list[RecipeMember]:
    sets = build_record(TrainingSets, {"domain": table["domain"], "sizes": table.get("sizes", [])}, path.name)
    sets = sets if sets.sizes else dataclasses.replace(sets, sizes=SIZES)
    name = path.stem
    return [RecipeMember(name, k, seed, sets.draw(_generator(f"{seed}/{name}_{k}: specification")), sets) for k in range(1, count + 1)]


def settle(members: Sequence[RecipeMember]) -> dict[str, Any]:
    """What the sets of a recipe are made with, as a table; how many there are of each name is left out."""
    if members[0].domain is not None:
        return {"recipe": "training", "seed": members[0].seed} | dataclasses.asdict(members[0].domain)
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
