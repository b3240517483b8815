"""Every DAG and every Markov equivalence class, observational or interventional, of up to six variables, by enumeration at first use.

DAGs of k variables: 2, 3, 25, 543, 29,281, 3,781,503; observational classes: 2, 11, 185, 8,782, 1,067,825 from k = 2 on; with regimes that tell all
variables apart every DAG is a class of its own. Bit masks as in `essential`.
References: Robinson (1977), Counting unlabeled acyclic digraphs; Gillispie and Perlman (2002), The size distribution for Markov equivalence classes;
Hauser and Buehlmann (2012), Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numba import njit

from seacausal.graph.essential import complete

MOST_VARIABLES = 6
DAGS = (1, 1, 3, 25, 543, 29_281, 3_781_503)
"""How many DAGs there are of 0, 1, ... variables."""


@dataclass(frozen=True)
class MarkovClasses:
    """All c classes of k variables."""

    parents: np.ndarray
    """(c, k) int64, one DAG of each."""
    arrows: np.ndarray
    """(c, k) int64, parents that all its DAGs share."""
    lines: np.ndarray
    """(c, k) int64, neighbours by an edge that has either direction."""
    sizes: np.ndarray
    """(c,) int64, how many DAGs it has."""


def markov_classes(k: int, cut: np.ndarray | None = None) -> MarkovClasses:
    """The classes of k variables, from 1 to 6; seconds for six. Lists are kept: all that have been asked for below six variables, else the last.

    Parameters
    ----------
    k
        Number of variables.
    cut
        (k,) int64 `essential.cut_masks` of the regimes: two DAGs are of one class if they have the same interventional essential graph. None for the
        classes of observational data.
    """
    key = (0,) * k if cut is None else tuple(int(mask) for mask in cut)
    return (_keep_all if k < MOST_VARIABLES else _keep_last)(key)


@functools.cache
def _keep_all(cut: tuple[int, ...]) -> MarkovClasses:
    return _list_classes(np.array(cut, np.int64))


@functools.lru_cache(maxsize=1)  # up to half a gigabyte
def _keep_last(cut: tuple[int, ...]) -> MarkovClasses:
    return _list_classes(np.array(cut, np.int64))


def _list_classes(cut: np.ndarray) -> MarkovClasses:
    dags = enumerate_dags(len(cut))
    codes = np.empty(len(dags), np.int64)
    _class_codes(dags, cut, codes)
    _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
    parents = dags[first]
    arrows, lines = np.empty_like(parents), np.empty_like(parents)
    _complete_each(parents, cut, arrows, lines)
    return MarkovClasses(parents, arrows, lines, sizes)


def enumerate_dags(k: int) -> np.ndarray:
    """(DAGS[k], k) int64 parent masks of all DAGs of k variables, from 1 to 6."""
    if not 1 <= k <= MOST_VARIABLES:
        raise ValueError(f"k must be 1 to {MOST_VARIABLES}; found {k}: there are too many DAGs.")
    dags = np.zeros((1, 1), np.int64)
    for variables in range(2, k + 1):
        more = np.empty((DAGS[variables], variables), np.int64)
        _add_variable(dags, more)
        dags = more
    return dags


@njit(cache=True, nogil=True)
def _add_variable(dags: np.ndarray, more: np.ndarray) -> None:  # pragma: no cover - compiled
    """Give each DAG one more variable, with any children and any parents that do not descend from it."""
    new = dags.shape[1]
    at = 0
    for parents in dags:
        for children in range(1 << new):
            below = children
            for _ in range(new):
                for v in range(new):
                    if parents[v] & below:
                        below |= 1 << v
            for mask in range(1 << new):
                if mask & below:
                    continue
                for v in range(new):
                    more[at, v] = parents[v] | (children >> v & 1) << new
                more[at, new] = mask
                at += 1


@njit(cache=True, nogil=True)
def _class_codes(dags: np.ndarray, cut: np.ndarray, codes: np.ndarray) -> None:  # pragma: no cover - compiled
    """One number for each class: k bits a variable say who it has an edge from, or a line with."""
    k = dags.shape[1]
    arrows, lines = np.empty(k, np.int64), np.empty(k, np.int64)
    for g in range(len(dags)):
        complete(dags[g], cut, arrows, lines)
        code = 0
        for v in range(k):
            code = code << k | arrows[v] | lines[v]
        codes[g] = code


@njit(cache=True, nogil=True)
def _complete_each(dags: np.ndarray, cut: np.ndarray, arrows: np.ndarray, lines: np.ndarray) -> None:  # pragma: no cover - compiled
    for g in range(len(dags)):
        complete(dags[g], cut, arrows[g], lines[g])
