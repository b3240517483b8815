"""What the `paper` network reads: one statistic of every pair, and a token for every ordered pair of every subset (SEA, section 3.3).

In: the marks of t local estimates and a (d, d) statistic, of one data set or of several with equal d. Out: the arrays that `axial.Paper` and its
ONNX file are given by name. The alignment of estimates to pairs is sparse: a token stands for a pair that a subset holds, and there is nothing where
it does not, so data sets of different t are simply laid end to end.

Two orders matter. Tokens come subset by subset; `order` sorts them into segments, the tokens of one ordered pair, and the segments by length, so that
those of one length lie side by side as a plain array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seacausal.errors import DataError

MARKS = 4
"""No edge, tail, arrow, circle, see `graph.marks`."""
PADDING = MARKS * MARKS
"""The type of a pair in a subset that does not hold it, in alignments that have such entries; tokens never have it."""
EDGE_TYPES = PADDING + 1
"""Size of the vocabulary: both marks of a pair, of a PAG, a CPDAG or a DAG alike, and the padding."""
UNBOUNDED = ("inverse-covariance",)
"""Statistics that enter as their arcsinh."""


@dataclass(frozen=True)
class Tokens:
    """One data set as the network reads it."""

    statistic: np.ndarray
    """(d, d) float32."""
    types: np.ndarray
    """(t, k (k - 1)) int64 edge types."""
    cells: np.ndarray
    """(t, k (k - 1)) int64, the ordered pair i, j as i d + j."""
    nodes: np.ndarray
    """(d,) int64, each variable's row of the table of node embeddings."""
    times: np.ndarray
    """(t,) int64, each subset's row of the table of subset embeddings."""


def make_tokens(
    statistic: np.ndarray, name: str, variables: np.ndarray, marks: np.ndarray, *, tables: tuple[int, int], generator: np.random.Generator
) -> Tokens:
    """The tokens of one data set, with embeddings drawn anew.

    Parameters
    ----------
    statistic
        (d, d) of every pair.
    name
        Which it is; those of `UNBOUNDED` enter as their arcsinh, all others as they are.
    variables
        (t, k) int, the variables of each subset.
    marks
        (t, k, k) int8, `marks[s, i, j]` is the mark at j's end in subset s.
    tables
        How many variables and subsets have embeddings; data sets index random permutations of these.

    Raises
    ------
    DataError
        If there are more variables or subsets than embeddings.

    Examples
    --------
    >>> marks = np.array([[[0, 2], [1, 0]]], np.int8)  # 2 -> 0
    >>> drawn = dict(tables=(3, 1), generator=np.random.default_rng(0))
    >>> tokens = make_tokens(np.eye(3), "correlation", np.array([[2, 0]]), marks, **drawn)
    >>> tokens.cells.tolist(), tokens.types.tolist()  # tail at 2 and arrow at 0; and the same edge seen from 0
    ([[6, 2]], [[6, 9]])
    """
    d, k = len(statistic), variables.shape[1]
    for found, limit, what in ((d, tables[0], "variables"), (len(variables), tables[1], "subsets")):
        if found > limit:
            raise DataError(
                f"These weights hold embeddings of {limit} {what} at most; found {found}. Use the weights 'base', which have no such limit."
            )
    first, second = np.nonzero(~np.eye(k, dtype=bool))
    marks, variables = marks.astype(np.int64), variables.astype(np.int64)
    return Tokens(
        (np.arcsinh(statistic) if name in UNBOUNDED else statistic).astype(np.float32),
        MARKS * marks[:, second, first] + marks[:, first, second],
        variables[:, first] * d + variables[:, second],
        generator.permutation(tables[0])[:d],
        generator.permutation(tables[1])[: len(variables)],
    )


def join_tokens(sets: Sequence[Tokens]) -> dict[str, np.ndarray]:
    """Lay b data sets of equal d end to end.

    Returns
    -------
    By name: `statistic` (b, d, d) and `nodes` (b, d); over all s subsets `times` (s,) and `types` (s, k (k - 1)); `order` (s k (k - 1),), the
    tokens sorted by segment; `segments` (e,), the cell (data set, i, j) of each segment, numbered over (b, d, d); and its length in `lengths` (e,),
    increasing.
    """
    size = sets[0].statistic.size
    cells = np.concatenate([tokens.cells.ravel() + at * size for at, tokens in enumerate(sets)])
    count = np.bincount(cells, minlength=len(sets) * size)
    by_length = np.argsort(count, kind="stable")
    segments = by_length[np.searchsorted(count[by_length], 1) :]
    rank = np.empty_like(count)
    rank[by_length] = np.arange(len(count))
    return {
        "statistic": np.stack([tokens.statistic for tokens in sets]),
        "nodes": np.stack([tokens.nodes for tokens in sets]),
        "times": np.concatenate([tokens.times for tokens in sets]),
        "types": np.concatenate([tokens.types for tokens in sets]),
        "order": np.argsort(rank[cells], kind="stable"),
        "segments": segments,
        "lengths": count[segments],
    }


def align_tokens(tokens: Tokens) -> dict[str, np.ndarray]:
    """One data set as the ONNX file reads it: segments padded to the longest.

    Returns
    -------
    By name, the fields of `Tokens` and, for e segments of at most m tokens: `members` (e, m) int64, the tokens of each, and `present` (e, m) int32,
    0 for padding; `place` (t k (k - 1),) int64, where in `members` each token stands; and `owner` (d d,) int64, the segment of each pair, e where it
    has none.
    """
    d, cells = len(tokens.statistic), tokens.cells.ravel()
    segments, rank, lengths = np.unique(cells, return_inverse=True, return_counts=True)
    order = np.argsort(rank, kind="stable")
    first = np.cumsum(lengths) - lengths
    width = int(lengths.max())
    place = np.empty(len(cells), np.int64)
    place[order] = rank[order] * width + np.arange(len(cells)) - np.repeat(first, lengths)
    members = np.zeros(len(segments) * width, np.int64)
    members[place] = np.arange(len(cells))
    owner = np.full(d * d, len(segments))
    owner[segments] = np.arange(len(segments))
    return {
        **{name: getattr(tokens, name) for name in ("statistic", "nodes", "times", "types", "cells")},
        "members": members.reshape(-1, width),
        "present": (np.arange(width) < lengths[:, None]).astype(np.int32),
        "place": place,
        "owner": owner,
    }
