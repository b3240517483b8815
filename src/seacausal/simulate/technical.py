"""What a single-cell experiment makes of expression levels: outlier genes, library sizes, dropout and counts (Dibaeinia and Sinha, 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seacausal.errors import DataError


@dataclass(frozen=True)
class Technical:
    """How much of each technical noise there is; the four are applied in the order of the fields."""

    outliers: float = 0.01
    """Share of genes that are multiplied by a log-normal factor."""
    outlier_law: tuple[float, float] = (0.8, 1.0)
    """Mean and standard deviation of the logarithm of that factor."""
    library_law: tuple[float, float] | None = (4.6, 0.4)
    """Mean and standard deviation of the logarithm of a cell's total; None leaves the totals as they are."""
    dropout: float | None = 82.0
    """Percentile of log(1 + level), over all genes and cells, at which half of the values are lost; None loses none."""
    dropout_shape: float = 6.5
    """Steepness of the logistic curve of being kept over log(1 + level)."""
    counts: bool = True
    """Whether molecules are counted, so that a level becomes a Poisson number of that mean."""

    def __post_init__(self) -> None:
        if not 0 <= self.outliers <= 1:
            raise DataError(f"`outliers` must be a share between 0 and 1; found {self.outliers}.")
        if self.dropout is not None and not 0 <= self.dropout <= 100:
            raise DataError(f"`dropout` must be a percentile between 0 and 100, or None; found {self.dropout}.")
        if not 0 < self.dropout_shape < np.inf:
            raise DataError(f"`dropout_shape` must be positive and finite; found {self.dropout_shape}.")
        for name, law in (("outlier_law", self.outlier_law), ("library_law", self.library_law)):
            if law is not None and not (len(law) == 2 and np.isfinite(law).all() and law[1] >= 0):
                raise DataError(f"`{name}` must be a mean and a standard deviation that is not negative; found {law}.")


def measure_cells(levels: np.ndarray, technical: Technical, *, generator: np.random.Generator) -> np.ndarray:
    """Measured (n, d) float64 from true (n, d) expression levels, which are left untouched."""
    measured = _scale_outliers(np.asarray(levels, np.float64), technical, generator)
    if technical.library_law is not None:
        measured = _scale_libraries(measured, technical.library_law, generator)
    if technical.dropout is not None:
        measured = _drop_out(measured, technical.dropout, technical.dropout_shape, generator)
    return generator.poisson(np.minimum(measured, 1e15)).astype(np.float64) if technical.counts else measured


def _scale_outliers(levels: np.ndarray, technical: Technical, generator: np.random.Generator) -> np.ndarray:
    """Each gene is an outlier by chance, and then as much higher in every cell."""
    d = levels.shape[1]
    hit = generator.random(d) < technical.outliers
    return levels * np.where(hit, generator.lognormal(*technical.outlier_law, d), 1.0)


def _scale_libraries(levels: np.ndarray, law: tuple[float, float], generator: np.random.Generator) -> np.ndarray:
    """Each cell's levels are brought to a total drawn for it; an empty cell stays empty."""
    totals = levels.sum(1, keepdims=True)
    return levels * (generator.lognormal(*law, (len(levels), 1)) / np.where(totals > 0, totals, 1.0))


def _drop_out(levels: np.ndarray, percentile: float, shape: float, generator: np.random.Generator) -> np.ndarray:
    """A value is kept with probability 1 / (1 + exp(-shape (log(1 + level) - middle)))."""
    logs = np.log1p(levels)
    kept = 0.5 * (1 + np.tanh(0.5 * shape * (logs - np.percentile(logs, percentile))))  # the logistic curve, free of overflow
    return np.where(generator.random(levels.shape) < kept, levels, 0.0)
