"""Connected parts of a known network, such as a regulatory network from a database, as graphs to simulate from.

In: an edge list (text, two columns, cause and effect) or an archive with an adjacency matrix. Out: (d, d) bool adjacency of d variables. Known
networks have cycles; edges are then left out at random until none is left.
"""

from __future__ import annotations

import os
import re

import numpy as np

from seacausal.errors import DataError
from seacausal.io.files import existing_file


def read_network(path: str | os.PathLike[str]) -> np.ndarray:
    """The (m, m) bool adjacency of a network; `adjacency[i, j]` is i -> j. Loops are left out.

    Parameters
    ----------
    path
        A text file with a cause and an effect in each line, split by tabs, commas, semicolons or spaces, further columns being ignored, as are
        empty lines and those that begin with `#`; there is no header. Or an `.npz` archive with a matrix `A`, where `A[i, j] != 0` is i -> j.

    Raises
    ------
    DataError
        If there is no such file, it is no such list or archive, or it has no edge.
    """
    path = existing_file(path)
    adjacency = _read_matrix(path) if path.suffix == ".npz" else _read_list(path)
    np.fill_diagonal(adjacency, False)
    if not adjacency.any():
        raise DataError(f"{path.name} must have at least one edge between two variables; found none. Check the file.")
    return adjacency


def sample_subgraph(network: np.ndarray, variables: int, *, generator: np.random.Generator) -> np.ndarray:
    """A connected part of a network: one variable at random, then again and again a random neighbour of those already in it.

    Edges of cycles are left out as follows: in random order, an edge is kept unless it closes a cycle with those kept before.

    Parameters
    ----------
    network
        (m, m) bool, `network[i, j]` is i -> j; cycles are allowed.
    variables
        d, at most the size of the largest connected part.

    Returns
    -------
    (d, d) bool adjacency, acyclic.

    Raises
    ------
    DataError
        If no connected part has `variables` variables.
    """
    linked = network | network.T
    np.fill_diagonal(linked, False)
    part = _parts(linked)
    size = np.bincount(part)[part]
    starts = np.flatnonzero(size >= variables)
    if not len(starts):
        raise DataError(f"A connected part of the network must have at least {variables} variables; the largest has {size.max()}. Ask for fewer.")
    chosen = [int(generator.choice(starts))]
    near = linked[chosen[0]].copy()
    while len(chosen) < variables:
        chosen.append(int(generator.choice(np.flatnonzero(near))))
        near |= linked[chosen[-1]]
        near[chosen] = False
    chosen = generator.permutation(chosen)
    return _break_cycles(network[np.ix_(chosen, chosen)], generator)


def _break_cycles(adjacency: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A maximal acyclic sub-graph: edges are added in random order where they close no cycle."""
    edges = np.argwhere(adjacency & ~np.eye(len(adjacency), dtype=bool))
    reach = np.eye(len(adjacency), dtype=bool)  # reach[i, j]: a path leads from i to j
    kept = np.zeros_like(adjacency, dtype=bool)
    for cause, effect in generator.permutation(edges).tolist():
        if reach[effect, cause]:
            continue
        kept[cause, effect] = True
        if not reach[cause, effect]:
            reach[reach[:, cause]] |= reach[effect]
    return kept


def _parts(linked: np.ndarray) -> np.ndarray:
    """(m,) int, the same number for variables that a path joins."""
    part = np.full(len(linked), -1)
    for start in range(len(linked)):
        if part[start] < 0:
            front = np.zeros(len(linked), bool)
            front[start] = True
            while front.any():
                part[front] = start
                front = linked[front].any(0) & (part < 0)
    return part


def _read_matrix(path: os.PathLike[str]) -> np.ndarray:
    try:
        with np.load(path, allow_pickle=False) as archive:
            adjacency = archive["A"] != 0
    except Exception as error:  # foreign bytes: zipfile, zlib and numpy raise a dozen kinds
        raise DataError(f"{os.fspath(path)!r} must be an .npz archive with a matrix 'A'; reading it failed: {error}. Write it anew.") from None
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise DataError(f"'A' of {os.fspath(path)!r} must be a square matrix; found shape {adjacency.shape}. Give one network.")
    return adjacency


def _read_list(path: os.PathLike[str]) -> np.ndarray:
    number: dict[str, int] = {}
    edges = []
    try:
        with open(path, encoding="utf-8-sig") as stream:
            lines = stream.read().splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{os.fspath(path)!r} must be text in UTF-8; reading it failed: {error}. Save it as UTF-8.") from None
    for at, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip().strip('"') for cell in re.split(r"[\t,;]" if re.search(r"[\t,;]", line) else r"\s+", line.strip())]
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise DataError(f"Every line of {os.fspath(path)!r} must hold a cause and an effect; found {line[:80]!r} in line {at}. Correct the line.")
        edges.append([number.setdefault(cell, len(number)) for cell in cells[:2]])
    adjacency = np.zeros((len(number), len(number)), bool)
    if edges:
        adjacency[tuple(np.transpose(edges))] = True
    return adjacency
