"""Whole-graph search for tables of few values: which categories depend on which, whatever numbers stand for them.

In: values. Out: for every ordered pair how much they have in common, and how much more or less i tells of j beside j's parents in the graph with the
best BIC, of tables or of main effects alone (`category_tables`). How categories are numbered matters only for where the search begins. Columns of
more values, where there are both kinds, are cut at their quartiles.

Single edges are added, removed or turned round, the best change first; where none is left the search goes on with the least bad change to a graph
it has not seen, a few times (tabu search; Scutari, Graafland and Gutierrez, 2019, found it the best of its kind on such networks). It begins at the
graph without edges and at graphs that others found, and the best result counts: edges that are set the wrong way round early on stay.

The surprising choice: every variable keeps the number of its parents' configuration in every row. A candidate parent is tried by one pass over the
rows, which costs the same however many parents there are, and a parent's removal costs no pass at all, only sums over the table that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from seacausal.estimate.category_tables import fit_table
from seacausal.estimate.class_shapes import MEASURES, compare_classes, measure_shapes
from seacausal.estimate.compiled import is_compiled
from seacausal.estimate.order import Channels
from seacausal.estimate.parents import INNER
from seacausal.estimate.statistics import spaced_rows
from seacausal.graph.equivalence import essential_graph, to_probabilities

VALUES = 10
"""Most values of a column of categories."""
EACH = 5
"""Rows for each of its values that such a column must have, on average."""
CUTS = (0.25, 0.5, 0.75)
"""Quantiles that other columns are cut at."""
ROWS, LEAST_ROWS, CELLS = 10_000, 1_000, 1e9
"""Rows that are looked at, at most; fewer, but at least so many, where rows times pairs would be more than `CELLS`."""
TABLE = 4096
"""Entries of the largest table: the values of a child times the configurations of its parents."""
CANDIDATES = 30
"""Variables that are tried as parents of another: those that explain it best alone."""
WIDE = 128
"""Beyond so many variables nothing but tables is fitted, for main effects take their time."""
PATIENCE, STEPS = 15, 5_000
"""Changes for the worse that are followed before the search gives up, and most changes."""
TIE = 1e-6
"""Scores that differ by less are equal: the first counts, whatever the order in which sums were made."""


class State(NamedTuple):
    """A graph under search over d variables and n rows."""

    codes: np.ndarray
    """(d, n) uint8 values from 0."""
    levels: np.ndarray
    """(d,) how many values each variable has."""
    price: np.ndarray
    """(d,) of each configuration of its parents, or effect of these, in log-likelihoods."""
    logs: np.ndarray
    """(n + 1,) k log k."""
    joined: np.ndarray
    """(d, d) bool, [i, j] for i -> j."""
    place: np.ndarray
    """(d, n) int32 number of the configuration in each row, -1 where a child is not fitted."""
    worth: np.ndarray
    """(d,) log-likelihood of each given its parents less the price of what was fitted."""
    gain: np.ndarray
    """(d, d) what i tells of j beside the other parents of j, in log-likelihoods."""
    change: np.ndarray
    """(d, d) of the score when i -> j is added, or removed where it is there; -inf where that is not tried or its table would be too large."""
    tried: np.ndarray
    """(d, d) bool, whether i may become a parent of j."""
    likely: np.ndarray
    """(d, d) bool, whether main effects are tried where it does."""
    table: np.ndarray
    """(`TABLE`,) scratch."""
    less: np.ndarray
    """The same."""
    fitted: np.ndarray
    """The same."""


def find_categories(values: np.ndarray) -> np.ndarray:
    """(d,) bool, which columns of (n, d) values hold few different ones."""
    n, d = values.shape
    few = np.zeros(d, bool)
    for j in range(d):
        start = values[: 20 * VALUES, j]
        if len(np.unique(start)) <= VALUES:
            few[j] = EACH * len(np.unique(values[:, j])) <= min(n, EACH * VALUES)
    return few


def category_statistics(
    values: np.ndarray, targeted: np.ndarray | None, targets: np.ndarray | None = None, *, starts: Sequence[np.ndarray] = ()
) -> Channels:
    """Count pairs and search the graph, every child in the rows in which it is no target.

    Parameters
    ----------
    values
        (n, d) columns that vary.
    targeted
        (n, d) bool, where a variable was intervened on; None where none was.
    targets
        (r, d) bool, see `essential_graph`.
    starts
        (d, d) bool acyclic graphs that the search also begins at.

    Returns
    -------
    (d, d) arrays, compressed; empty where no column holds few values. "mutual information" is as a correlation, sqrt(1 - exp(-2 I)), and
    its "significance" what the score gains by i as the only parent of j; "levels" [i, j] the logarithm of how many values j has, 0 for a column of
    many. Of the graph: "strength" as of pairs, given the other parents of j; "significance" what the score loses without i -> j, or would gain by it;
    "orientation" what it loses where i -> j is turned round (of pairs that are joined, antisymmetric), "edge" 1 for i -> j and 1/2 where the graph's
    class has i --- j. "class shape" and its like: four times what `measure_shapes` says.
    """
    d = values.shape[1]
    most = int(min(ROWS, max(LEAST_ROWS, CELLS / d**2)))
    rows = spaced_rows(values, most)
    few = find_categories(rows)
    if not few.any():
        return {}
    codes = np.stack([_number(column, few=bool(one)) for column, one in zip(rows.T, few)])
    free = np.ones(codes.shape, bool) if targeted is None else ~spaced_rows(targeted, most).T
    counts = np.stack([np.bincount(column, minlength=codes.max() + 1) for column in codes]) / codes.shape[1]
    by = np.argsort(-(counts * np.log(np.maximum(counts, 1e-9))).sum(1), kind="stable")  # so that nothing depends on the order of the columns
    state = new_state(codes[by], free[by])
    fill_state(state)
    shared, significance = state.gain.copy(), state.change.copy()
    if d > CANDIDATES:
        state.tried[:] = state.likely[:] = significance >= np.partition(significance, -CANDIDATES, axis=0)[-CANDIDATES]
    keys = np.random.default_rng(0).integers(1, 2**62, (d, d))
    begun = np.zeros((1 + len(starts), d, d), bool)
    for start, graph in zip(starts, begun[1:]):
        graph[:] = start[np.ix_(by, by)]
    search_categories(state, begun, keys, PATIENCE)
    state.tried[:] = True
    fill_state(state)
    back = np.argsort(by)
    shared, significance, joined, gain, change = (x[np.ix_(back, back)] for x in (shared, significance, state.joined, state.gain, state.change))
    worth = np.where(joined, -change, np.maximum(change, -1e9))
    turned = np.where(joined & np.isfinite(change.T), worth - change.T, 0)  # a table too large says nothing of the other way round
    share = 1 / np.maximum(free.sum(1), 1)
    return {
        "mutual information": _as_correlation(shared * share),
        "mutual information significance": np.arcsinh(significance) / 4,
        "levels": np.broadcast_to(np.where(few, np.log(codes.max(1) + 1), 0), (d, d)),
        "category graph strength": _as_correlation(gain * share),
        "category graph significance": np.arcsinh(worth) / 4,
        "category graph orientation": np.arcsinh(turned - turned.T) / 4,
        "category graph edge": to_probabilities(essential_graph(joined, targets)),
        **{f"class {measure}": 4 * values for measure, values in zip(MEASURES, measure_shapes(rows, codes, few, free))},  # as large as others
    }


def categories_ready(values: np.ndarray) -> bool:
    """Whether the kernels are compiled already, or not needed for these values."""
    searched, compared = is_compiled(search_categories), is_compiled(compare_classes)
    if searched and compared:
        return True
    few = find_categories(spaced_rows(values, LEAST_ROWS))
    return not few.any() or (searched and bool(few.all()))


def new_state(codes: np.ndarray, free: np.ndarray) -> State:
    """The graph without edges, before anything is counted; everything may be tried.

    Parameters
    ----------
    codes, free
        (d, n) values from 0, all of which occur, and (d, n) bool in which rows a child is fitted.
    """
    d, n = codes.shape
    levels = codes.max(1).astype(np.int64) + 1
    price = 0.5 * np.log(np.maximum(free.sum(1), 2)) * (levels - 1)
    k = np.arange(n + 1)
    graph = np.zeros((d, d), np.bool_), np.where(free, 0, -1).astype(np.int32)
    scores = np.zeros(d), np.zeros((d, d)), np.zeros((d, d)), *np.ones((2, d, d), np.bool_), *np.zeros((2, TABLE), np.int64), np.zeros(TABLE)
    return State(np.ascontiguousarray(codes, np.uint8), levels, price, k * np.log(np.maximum(k, 1)), *graph, *scores)


def _as_correlation(information: np.ndarray) -> np.ndarray:
    return np.sqrt(-np.expm1(-2 * np.maximum(information, 0)))


def _number(column: np.ndarray, *, few: bool) -> np.ndarray:
    """(n,) codes 0, 1, ...; all occur."""
    column = column if few else np.searchsorted(np.quantile(column, CUTS), column)
    return np.unique(column, return_inverse=True)[1]


@njit(cache=True, nogil=True)
def fill_state(state: State) -> None:
    """Count for every variable, the parents being those that are joined."""
    for y in range(len(state.joined)):
        _set_parents(state, y)


@njit(cache=True, nogil=True)
def search_categories(state: State, starts: np.ndarray, keys: np.ndarray, patience: int) -> None:
    """Search from each of the starts; `state`, which must be filled, becomes the best graph.

    Parameters
    ----------
    starts
        (s, d, d) bool acyclic graphs; an edge that is not tried, or whose table would be too large, is left out.
    keys
        (d, d) int64 random numbers, by whose exclusive or a graph is known again.
    patience
        Changes for the worse that are followed.
    """
    d = len(state.joined)
    best, best_score = np.zeros((d, d), np.bool_), -np.inf
    stack, known, seen = np.empty(d, np.int64), np.empty(d, np.bool_), np.empty(STEPS, np.int64)
    for start in range(len(starts)):
        _set_graph(state, starts[start])
        graph = np.int64(0)
        for x in range(d):
            for y in range(d):
                if state.joined[x, y]:
                    graph ^= keys[x, y]
        waited, reached, seen[0], steps = 0, -np.inf, graph, 1
        while waited <= patience and steps < len(seen):
            score = _score(state)
            waited += 1
            if score > reached + TIE:
                reached, waited = score, 0
            if score > best_score + TIE:
                best_score = score
                _copy(state.joined, best)
            x, y, turn = _best_change(state, keys, graph, seen[:steps], stack, known)
            if x < 0:
                break
            graph ^= keys[x, y]
            state.joined[x, y] = not state.joined[x, y]
            _set_parents(state, y)
            if turn:
                graph ^= keys[y, x]
                state.joined[y, x] = True
                _set_parents(state, x)
            seen[steps] = graph
            steps += 1
    _set_graph(state, best)


@INNER
def _score(state):  # pragma: no cover - compiled
    total = 0.0
    for y in range(len(state.joined)):
        total += state.worth[y]
    return total


@INNER
def _copy(source, target):  # pragma: no cover - compiled
    for i in range(len(source)):
        for j in range(len(source)):
            target[i, j] = source[i, j]


@INNER
def _set_graph(state, graph):  # pragma: no cover - compiled
    """As `graph`, but for edges that are not tried or whose tables would be too large."""
    d = len(graph)
    for y in range(d):
        changed, size = False, state.levels[y]
        for x in range(d):
            fits = graph[x, y] and state.tried[x, y] and size * state.levels[x] <= len(state.table)
            if fits:
                size *= state.levels[x]
            changed = changed or fits != state.joined[x, y]
            state.joined[x, y] = fits
        if changed:
            _set_parents(state, y)


@INNER
def _best_change(state, keys, graph, seen, stack, known):  # pragma: no cover - compiled
    """i, j and whether i -> j is turned round, not added or removed: the best change to a new acyclic graph; i is -1 if there is none."""
    joined, change = state.joined, state.change
    d = len(joined)
    value, x, y, turn = -np.inf, -1, -1, False
    for i in range(d):
        for j in range(d):
            if i == j or joined[j, i]:
                continue
            if change[i, j] > value + TIE and (joined[i, j] or not _reaches(joined, j, i, -1, stack, known)) and _is_new(graph ^ keys[i, j], seen):
                value, x, y, turn = change[i, j], i, j, False
            both = change[i, j] + change[j, i]
            if joined[i, j] and both > value + TIE and not _reaches(joined, i, j, j, stack, known) and _is_new(graph ^ keys[i, j] ^ keys[j, i], seen):
                value, x, y, turn = both, i, j, True
    return x, y, turn


@INNER
def _is_new(graph, seen):  # pragma: no cover - compiled
    new = True
    for known in seen:
        new = new and known != graph
    return new


@INNER
def _reaches(joined, start, end, child, stack, known):  # pragma: no cover - compiled
    """Whether a directed path leads from `start` to `end` that does not begin with the edge to `child`."""
    for at in range(len(joined)):
        known[at] = False
    stack[0], size = start, 1
    while size:
        size -= 1
        at = stack[size]
        for to in range(len(joined)):
            if joined[at, to] and not known[to] and not (at == start and to == child):
                if to == end:
                    return True
                known[to] = True
                stack[size] = to
                size += 1
    return False


@INNER
def _set_parents(state, y):  # pragma: no cover - compiled
    """Everything about y anew, its parents being those in `joined`."""
    d, n = state.codes.shape
    ky, own, place, table, less, logs = state.levels[y], state.codes[y], state.place[y], state.table, state.less, state.logs
    for row in range(n):
        place[row] = min(place[row], 0)
    sizes, parents, configurations = np.empty(d, np.int64), 0, 1
    for x in range(d):
        if state.joined[x, y]:
            sizes[parents] = state.levels[x]
            parents += 1
            configurations *= state.levels[x]
            _extend(place, state.codes[x], state.levels[x])
    size = configurations * ky
    _clear(table, size)
    for row in range(n):
        if place[row] >= 0:
            table[place[row] * ky + own[row]] += 1
    price, fitted = state.price[y], state.fitted
    main = d <= WIDE
    whole, worth = fit_table(table, sizes[:parents], ky, price, logs, fitted, main)
    state.worth[y] = worth
    stride, at, others = configurations, 0, sizes[1:parents].copy()  # all parents but the one at `at`
    for x in range(d):
        if state.joined[x, y]:
            kx = state.levels[x]
            stride //= kx
            _clear(less, size)
            for c in range(configurations):
                to = c // (stride * kx) * stride + c % stride
                for v in range(ky):
                    less[to * ky + v] += table[c * ky + v]
            without, rest = fit_table(less, others, ky, price, logs, fitted, main)
            state.gain[x, y] = max(whole - without, 0.0)
            state.change[x, y] = rest - worth
            if at < len(others):
                others[at] = kx
            at += 1
    for x in range(d):
        kx = state.levels[x]
        if x == y or state.joined[x, y]:
            continue
        if not state.tried[x, y] or size * kx > len(table):
            state.gain[x, y], state.change[x, y] = 0.0, -np.inf
            continue
        _clear(table, size * kx)
        _count(table, place, state.codes[x], kx, own, ky)
        sizes[parents] = kx
        beside, more = fit_table(table, sizes[: parents + 1], ky, price, logs, fitted, main and state.likely[x, y])
        state.gain[x, y] = max(beside - whole, 0.0)
        state.change[x, y] = more - worth


@INNER
def _clear(table, size):  # pragma: no cover - compiled
    for entry in range(size):
        table[entry] = 0


@INNER
def _extend(place, codes, levels):  # pragma: no cover - compiled
    """One more parent."""
    for row in range(len(place)):
        if place[row] >= 0:
            place[row] = place[row] * levels + codes[row]


@INNER
def _count(table, place, codes, levels, own, ky):  # pragma: no cover - compiled
    for row in range(len(place)):
        if place[row] >= 0:
            table[(place[row] * levels + codes[row]) * ky + own[row]] += 1
