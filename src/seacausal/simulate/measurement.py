"""What the instrument makes of the true values: units, rounding, floors, noise, counts, holes.

Each measurement takes (n, d) float32 values and a generator, and returns (n, d) float32; it may change what it is given. Unless it says otherwise it
changes the shape of a random half of the columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.simulate.noise import log_uniform

CATEGORIES = 20
"""A column of more values is no category."""


def measure_units(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Arbitrary units for every column, exp N(0, 1.5^2); in a third of the data sets, standard deviations."""
    if generator.random() < 1 / 3:
        return values / (values.std(0) + np.float32(1e-30))
    return values * np.exp(generator.normal(0, 1.5, values.shape[1])).astype(np.float32)


def measure_dropout(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Every column becomes log(1 + exp(z)) of its z-scores and is lost, to 0, with a chance that falls with the level (Pierson and Yau, 2015).

    The chance is 1 / (1 + exp(a (z - b))), one a in (1, 4) and b in (-1.5, 0.5) for the data set.
    """
    z = _standardise(values)
    steep, middle = generator.uniform(1, 4), generator.uniform(-1.5, 0.5)
    lost = generator.random(z.shape) * (1 + np.exp(np.clip(steep * (z - middle), -30, 30))) < 1
    return np.where(lost, np.float32(0), np.logaddexp(np.float32(0), z))


def measure_counts(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Every column becomes counts, divided by the size of the row's library, and then log(1 + count), as single-cell data are prepared.

    See `_count`, with m ~ N(1, 1) and s in (0.3, 1). The size is known, as it is where many more molecules are counted than those of these columns.
    """
    counts, size = _count(values, 1, 1, generator)
    return np.log1p(counts / size).astype(np.float32)


def measure_molecules(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Every column becomes counts, and stays so: `_count` with m ~ N(a, 1), one a in (0, 6) for the data set, and s in (0.3, 2)."""
    return _count(values, generator.uniform(0, 6), 2, generator)[0].astype(np.float32)


def _count(values: np.ndarray, middle: float, most: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Counts and (n, 1) sizes of libraries.

    count ~ Poisson(size exp(m + s z)) of the z-scores, m ~ N(middle, 1) for each column, s in (0.3, most) for the data set, and sizes as of
    `_draw_sizes`.
    """
    z = _standardise(values)
    size = _draw_sizes(len(z), generator)
    level = generator.normal(middle, 1, z.shape[1]) + generator.uniform(0.3, most) * z
    return generator.poisson(size * np.exp(np.clip(level, -8, 12))), size


def measure_shared(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Something that nobody measured moves all columns of a row: the batch it was in, the time of day, the amount of a sample.

    In half of the data sets each of two to eight batches of rows moves every column by its own N(0, 1); in the others every row has a factor N(0, 1)
    and every column a loading, N(0, 1) or all 1. All this times 0.1 to 0.8 standard deviations, one number for the data set.
    """
    n, d = values.shape
    if generator.random() < 0.5:
        moves = generator.standard_normal((int(generator.integers(2, 9)), d))
        moved = moves[generator.integers(len(moves), size=n)]
    else:
        loading = generator.standard_normal(d) if generator.random() < 0.5 else np.ones(d)
        moved = generator.standard_normal((n, 1)) * loading
    strength = log_uniform(0.1, 0.8, generator=generator)
    return values + (strength * moved * values.std(0)).astype(np.float32)


def measure_sizes(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Amounts, of which a row holds more or less of all: distances from a column's least value, times the row's size, see `_draw_sizes`."""
    return ((values - values.min(0)) * _draw_sizes(len(values), generator)).astype(np.float32)


def _draw_sizes(rows: int, generator: np.random.Generator) -> np.ndarray:
    """(rows, 1) sizes, log-normal about 1 with a log-spread of 0.1 to 0.6, one for the data set."""
    return np.exp(generator.uniform(0.1, 0.6) * generator.standard_normal((rows, 1)))


def measure_codes(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Categories numbered in an order that means nothing: a random half of the columns of at most `CATEGORIES` values become codes 0, 1, ..."""
    for column in np.flatnonzero(generator.random(values.shape[1]) < 0.5):
        levels, level = np.unique(values[:, column], return_inverse=True)
        if len(levels) <= CATEGORIES:
            values[:, column] = generator.permutation(len(levels))[level]
    return values


def measure_missing(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Cells are missing at random (Rubin, 1976), as NaN: one column is complete, and its value says how likely the others of its row are to miss.

    One to five rows in ten are expected to have a hole or several, however many columns there are.
    """
    n, d = values.shape
    driver = int(generator.integers(d))
    z = _standardise(values[:, [driver]])
    chance = generator.uniform(0.1, 0.5) / max(d - 1, 1) / (1 + np.exp(-np.clip(generator.uniform(-2, 2) * z, -30, 30))) * 2
    missing = generator.random((n, d)) < chance
    missing[:, driver] = False
    values[missing] = np.nan
    return values


def _round(z: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Whole numbers, a few to a standard deviation."""
    return np.round(z * np.float32(generator.uniform(0.7, 3)))


def _cut(z: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Two to five classes with bounds at random quantiles, as of questionnaires and clinical limits; what stands behind them acted on the others."""
    classes = np.empty_like(z)
    for j, column in enumerate(z.T):
        classes[:, j] = cut_column(column, int(generator.integers(2, 6)), generator=generator)
    return _standardise(classes)


def _exponential(z: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A skewed scale."""
    return np.exp(np.clip(z * np.float32(generator.uniform(0.3, 1.2)), -8, 8))


def _zero_inflate(z: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A floor below which all is 0."""
    return np.maximum(z - np.float32(generator.uniform(-1.5, 0.5)), 0)


def _noise(z: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Noise of 0.1 to 0.6 standard deviations."""
    return z + np.float32(generator.uniform(0.1, 0.6)) * generator.standard_normal(z.shape, dtype=np.float32)


def _outliers(z: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """One to five cells in a hundred lie 5 to 20 standard deviations off; in half of the data sets rows, all of whose cells do."""
    share = generator.uniform(0.01, 0.05)
    off = generator.uniform(5, 20, z.shape) * generator.choice([-1.0, 1.0], z.shape)
    drawn = generator.random(z.shape if generator.random() < 0.5 else (len(z), 1))
    return z + np.where(drawn < share, off, 0).astype(np.float32)


def cut_column(column: np.ndarray, levels: int, *, rare: bool = False, generator: np.random.Generator) -> np.ndarray:
    """(n,) codes 0, 1, ..., at most `levels` of them, in the order of the values and split at random quantiles.

    The shares of the codes have Dirichlet's law of concentration 3, or where they may be `rare` 0.7 to 5, log-uniform.
    """
    concentration = log_uniform(0.7, 5, generator=generator) if rare else 3.0
    shares = np.cumsum(generator.dirichlet(np.full(levels, concentration)))[:-1]
    return np.searchsorted(np.quantile(column, shares), column)


def _reshape_half(shape: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """A measurement that gives the z-scores of a random half of the columns another shape; their spread stays."""

    def measure(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        columns = np.flatnonzero(generator.random(values.shape[1]) < 0.5)
        spread = values[:, columns].std(0) + np.float32(1e-6)
        z = (values[:, columns] - values[:, columns].mean(0)) / spread
        values[:, columns] = shape(z, generator) * spread
        return values

    return measure


def _standardise(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(0)) / (values.std(0) + np.float32(1e-6))


MEASUREMENTS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "none": lambda values, generator: values,
    "units": measure_units,
    "round": _reshape_half(_round),
    "classes": _reshape_half(_cut),
    "exponential": _reshape_half(_exponential),
    "zero-inflate": _reshape_half(_zero_inflate),
    "noise": _reshape_half(_noise),
    "outliers": _reshape_half(_outliers),
    "dropout": measure_dropout,
    "counts": measure_counts,
    "molecules": measure_molecules,
    "shared": measure_shared,
    "sizes": measure_sizes,
    "codes": measure_codes,
    "missing": measure_missing,
}
