"""Known graphs to judge results by: a list of edges, or the archive of a simulated data set."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from seacausal.errors import DataError
from seacausal.io.files import existing_file, read_records
from seacausal.io.table import read_archive


def read_truth(path: str | os.PathLike[str], names: Sequence[str], *, index: int = 0) -> np.ndarray:
    """(d, d) bool, [i, j] being i -> j of the variables `names`.

    Parameters
    ----------
    path
        CSV with a header, whose first two columns are cause and effect, one edge a row; or an .npz file of data sets with their graphs.
    index
        Which data set of an .npz file.

    Raises
    ------
    DataError
        If the file is absent, holds no graph, or names other variables.
    """
    path = existing_file(path)
    if path.suffix == ".npz":
        dataset = read_archive(path, index)
        if dataset.adjacency is None:
            raise DataError(f"{path.name} must hold the graph, as the array A; found none. Write it with the data, or give a list of edges.")
        known, adjacency = dataset.names, np.asarray(dataset.adjacency, bool)
        if missing := sorted(set(names) - set(known)):
            raise DataError(
                f"{path.name} must hold all variables of the result; {_first(missing)} is not among its own. Give the file that it came from."
            )
        at = [known.index(name) for name in names]
        return adjacency[np.ix_(at, at)]
    rows = [row for row in read_records(path) if row]
    adjacency = np.zeros((len(names), len(names)), bool)
    for number, row in enumerate(rows[1:], start=2):
        edge = [cell.strip() for cell in row[:2]]
        if len(edge) < 2 or edge[0] == edge[1]:
            raise DataError(f"Row {number} of {path.name} must name a cause and another variable as its effect; found {','.join(row)!r}. Correct it.")
        if unknown := [name for name in edge if name not in names]:
            raise DataError(f"Row {number} of {path.name} must name variables of the result; found {unknown[0]!r}. Check the spelling.")
        adjacency[names.index(edge[0]), names.index(edge[1])] = True
    if not adjacency.any():
        raise DataError(f"{path.name} must have a header and an edge in each row below, cause,effect; found no edge. Write it again.")
    return adjacency


def _first(names: Sequence[str]) -> str:
    return repr(names[0]) + f" and {len(names) - 1} more" * (len(names) > 1)
