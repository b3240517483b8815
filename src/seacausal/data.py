"""The nouns that pass between stages.

Axis letters, used in every docstring and shape: n rows, d variables, r regimes, k variables per subset, t subsets, e distinct pairs, b data sets
in a batch, c channels, h heads. `adjacency[i, j]` is i -> j, always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seacausal.errors import DataError


@dataclass(frozen=True)
class Dataset:
    """A numeric table, with the variables that were intervened on in each row."""

    values: np.ndarray
    """(n, d) float, finite; NaN for a missing value until `discover` refuses it, drops its row or imputes it."""
    names: tuple[str, ...]
    """d distinct names."""
    regime: np.ndarray
    """(n,) int, which row of `targets` holds for each row of `values`."""
    targets: np.ndarray
    """(r, d) bool, `targets[regime[row], variable]` is True where the variable was intervened on. A row of all False is observational."""
    adjacency: np.ndarray | None = None
    """(d, d) bool, the true graph where it is known; `adjacency[i, j]` is i -> j. It has cycles only where feedback was simulated."""
    dropped_rows: int = 0
    """Rows left out while reading, because a value was missing."""
    foreign: tuple[tuple[str, int], ...] = ()
    """Interventions on what is no variable, whose rows were left out while reading, and how many rows each had."""
    unlabelled: int = 0
    """Rows that name no intervention, not even one of the labels for none, where such labels were given."""
    guides: tuple[tuple[str, str], ...] = ()
    """Labels of interventions that were taken for guides of a variable, and which."""
    imputed_cells: int = 0
    """Missing values that were imputed while reading."""
    imputed: np.ndarray | None = None
    """(n,) bool, the rows that they were in; None where there were none."""
    known_pairs: float = 1.0
    """What rows with imputed values are worth: how large a share of the rows has both values of the pair of columns that miss most, had chance
    chosen which."""
    counters: tuple[str, ...] = ()
    """Names of the columns left out while reading, because they only number, name or date the rows; that of a first column may be empty."""
    shared: tuple[tuple[str, int], ...] = ()
    """Names of those of them of which two rows or more share a value, on average, and how many values they hold."""
    categories: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names of the columns that were text or had ordered categories, and what 0, 1, ... stand for there."""

    def __post_init__(self) -> None:
        n, d = self.values.shape
        if len(self.names) != d or len(set(self.names)) != d:
            raise DataError(f"`names` must be {d} distinct strings, one for each column of `values`; found {self.names!r}.")
        if self.regime.shape != (n,) or self.targets.ndim != 2 or self.targets.shape[1] != d:
            raise DataError(
                f"`regime` must have shape ({n},) and `targets` (r, {d}); found {self.regime.shape} and {self.targets.shape}. "
                "Give one regime for each row and one column of targets for each variable."
            )
        if n and not (self.regime.min() >= 0 and self.regime.max() < len(self.targets)):
            raise DataError(f"`regime` must lie between 0 and {len(self.targets) - 1}; found {self.regime.min()} to {self.regime.max()}.")
        if self.adjacency is not None and self.adjacency.shape != (d, d):
            raise DataError(f"`adjacency` must have shape ({d}, {d}); found {self.adjacency.shape}.")

    @classmethod
    def observational(cls, values: np.ndarray, names: tuple[str, ...] | None = None, adjacency: np.ndarray | None = None) -> Dataset:
        """A data set without interventions; columns are named X1, X2, ... where no names are given."""
        n, d = values.shape
        names = tuple(f"X{i + 1}" for i in range(d)) if names is None else names
        return cls(values, names, np.zeros(n, np.int32), np.zeros((1, d), bool), adjacency)

    @property
    def interventional(self) -> bool:
        """Whether any row was intervened on."""
        return bool(self.targets[np.unique(self.regime)].any())


@dataclass(frozen=True)
class Subset:
    """The variables of every local estimate."""

    variables: np.ndarray
    """(t, k) int, distinct within a row."""
    visits: np.ndarray
    """(d, d) int, in how many subsets each pair stands together."""


@dataclass(frozen=True)
class EdgeProbabilities:
    """What the aggregator says of every pair."""

    direct: np.ndarray
    """(d, d) float, `direct[i, j]` is P(i -> j); the diagonal is 0 and `direct[i, j] + direct[j, i] <= 1`."""
    names: tuple[str, ...]
    """d distinct names."""

    @property
    def absent(self) -> np.ndarray:
        """(d, d) float, symmetric: P(no edge between i and j)."""
        absent = 1.0 - self.direct - self.direct.T
        np.fill_diagonal(absent, 1.0)
        return np.clip(absent, 0.0, 1.0)

    def undecided(self, threshold: float) -> np.ndarray:
        """(d, d) bool, pairs whose two directions are above the threshold together but not alone; once each, in the more probable direction."""
        direct, reverse = self.direct, self.direct.T
        either = (direct + reverse > threshold) & (np.maximum(direct, reverse) <= threshold)
        return either & ((direct > reverse) | ((direct == reverse) & np.triu(np.ones(direct.shape, bool), 1)))


@dataclass(frozen=True)
class Degenerate:
    """Columns that carry no information of their own."""

    constant: tuple[str, ...] = ()
    """Columns with a single value, or that vary by less than 1e-10 of their size: they get no edges."""
    duplicate: tuple[tuple[str, str], ...] = ()
    """(column, the earlier column that it repeats up to shift and scale)."""
    alike: tuple[tuple[str, str], ...] = ()
    """(column, the earlier column that it nearly repeats: a correlation beyond .999, either way)."""
    dependent: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(column, the earlier ones of which it is a linear combination but for a five-thousandth of its variance); duplicates excluded."""
    products: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(column, the earlier ones of whose powers it is the product, ratios among them), to the same precision; powers of a single one excluded."""
    monotone: tuple[tuple[str, str], ...] = ()
    """(column, the earlier one that it is a function of which only rises or only falls), linear ones excluded."""
    classes: tuple[tuple[str, str], ...] = ()
    """(column of few values, the first column of many whose ranges they stand for)."""
    exclusive: tuple[tuple[str, ...], ...] = ()
    """Columns of two values, of which no row holds more than one larger one, though chance would have some do: one category in several columns."""
