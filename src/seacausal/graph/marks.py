"""The marks at the ends of an edge, and the edges they spell.

`marks[i, j]` is the mark at j's end of the edge between i and j, so that `marks[i, j] == ARROW` reads i *-> j. An edge has both of its marks or
none: `marks[i, j] == NO_EDGE` exactly when `marks[j, i] == NO_EDGE`. Written (`marks[j, i]`, `marks[i, j]`), the edges between i and j are

    i --> j    tail, arrow      i causes j
    i <-> j    arrow, arrow     neither causes the other: a common cause that was not measured
    i o-> j    circle, arrow    j does not cause i; i may cause j, or both may share a cause
    i o-o j    circle, circle   adjacent, nothing more is known
    i --- j    tail, tail       either direction fits (CPDAG), or selection (PAG)
    i o-- j    circle, tail     j causes i, or selection (PAG)

A DAG has only the first edge, a CPDAG the first and the fifth, a PAG may have all of them.
"""

from __future__ import annotations

import numpy as np

NO_EDGE = 0
TAIL = 1
ARROW = 2
CIRCLE = 3


def undirected_edges(marks: np.ndarray) -> np.ndarray:
    """(d, d) bool, symmetric: where i --- j."""
    return (marks == TAIL) & (marks.T == TAIL)
