"""Whole-graph searches: the graph with the best BIC, and how much worse every graph is in which i comes after j.

In: the Gram matrix of all variables. Out: for every ordered pair whether the best graph holds i -> j, what it costs to leave i -> j out, and what it
costs to have i behind j. Two families are searched:

- "linear graph": linear regressions with Gaussian noise, whose score cannot tell the graphs of an equivalence class apart;
- "additive graph": regressions on z, z^2 and z^3 of each parent.

As in BOSS and FLOP an order stands for the graph of the best parents before each variable, and single variables move to their best places
(Andrews et al., 2023; Wienoebst, Henckel and Weichwald, 2025, Embracing discrete search). A step of a move exchanges two neighbours, which can
change the parents of these two alone: the one loses a parent and looks for others, the other gains a candidate. Then edges are turned that a third
variable lies within, which takes its ancestors along (the tucks of Lam, Andrews and Ramsey, 2022), variables jump to random places, and edges of the
equivalence class are dropped that some other graph of it can do without (deletions of Chickering, 2002, Optimal structure identification with greedy
search); the search goes on from there. The penalty is that of the extended BIC (Foygel and Drton, 2010, gamma = 1/2).

The surprising choice: the penalty is annealed, as if there were but few rows at first. From a wrong order a large table lets every variable explain
every other, and the search never gets out: 100 variables with 400 edges and 100,000 rows end 1,300 edges off, or 0 with annealing, in less time.
One such table in twenty still ends hundreds of edges off, and from another order does not. This shows long before the end, so that the search begins
with several orders and goes on from the best.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from seacausal.estimate.compiled import is_compiled
from seacausal.estimate.deletions import drop_line
from seacausal.estimate.order import PASSES, Channels, margins
from seacausal.estimate.parents import GAIN, INLINE, INNER, MOST, copy_parents, fit_parents, lose_parents, new_task, no_parents, try_parent
from seacausal.estimate.statistics import ROWS_CAP, correlate_features, join_powers
from seacausal.graph.equivalence import essential_graph, to_probabilities

STAGES = (100, 300, 1_000, 3_000, 10_000, 30_000)
"""Rows that the penalty is made for, before those that there are."""
SPARSE = 1_000
"""The stage whose graph is a view of its own: the truth is no sum of cubics, and more rows explain that by further parents."""
CHOOSE, ALIKE = 3_000, 3
"""The stage up to which a search with jumps goes from several orders, at most four, until the two best scores differ by less than so many edges."""
JUMPS, MOVES = 50, 2
"""Jumps in the search for a linear graph, a fifth of them with interventions; and variables that jump at once."""
STAGES_WORK, STAGE_WORK, JUMP_WORK = 2e9, 1e9, 4e8
"""Multiplications (1e9 take half a second) after which there are no further orders to begin with and no further stages (a tenth of it where no edges
are turned), no further moves in a stage, and no further turns and jumps."""
FEW = ("significance", "strength significance", "edge")


class Found(NamedTuple):
    """Result of a search."""

    graph: np.ndarray
    """(d, d) bool."""
    precedence: np.ndarray
    """(d, d), [i, j] the best score with i moved behind j minus the best with i moved before j, others left in order; in -2 log-likelihoods a row."""
    strength: np.ndarray
    """(d, d), the logarithm of how much more variance j keeps without i, or would lose by i if i stands before j and is no parent."""
    rows: int
    """What the penalty is made for."""
    order: np.ndarray
    """(d,) variables; parents stand before children."""


def graph_statistics(gram: np.ndarray, *, jumps: int = JUMPS) -> tuple[Channels, list[np.ndarray]]:
    """Search both families.

    Parameters
    ----------
    gram
        (1 + 3d, 1 + 3d), `statistics.gram_matrix` of standardised rows.
    jumps
        How often variables jump in the search for a linear graph.

    Returns
    -------
    (d, d) arrays, compressed, five for each family: "precedence", its "significance" (the same of all rows), "strength", its significance (see
    `Found`), and "edge" (1 for i -> j, 1/2 where the class of the linear graph has i --- j); and three of each, called "sparse", for `SPARSE` rows.
    And the (d, d) bool linear graphs, that of `SPARSE` rows first.
    """
    linear, cubic = _correlate([gram])
    rows, order = int(gram[0, 0]), _first(linear[0])
    out, graphs = {}, []
    for family, matrices in ("linear", linear), ("additive", cubic):
        sparse, found = search_graph(matrices, order, rows, jumps=jumps if family == "linear" else 0, turns=family == "linear")
        few, full = (_measure(one, essential_graph(one.graph) if family == "linear" else None) for one in (sparse, found))
        out |= {f"{family} graph {measure}": full[measure] for measure in full}
        out |= {f"sparse {family} graph {measure}": few[measure] for measure in FEW}
        graphs += [sparse.graph, found.graph]
    return out, graphs[:2]


def interventional_graph_statistics(grams: list[np.ndarray], which: np.ndarray, targets: np.ndarray, *, jumps: int = JUMPS) -> Channels:
    """Search both families, every child on the rows in which it is no target: there its mechanism is the same in all regimes.

    Parameters
    ----------
    grams, which
        `statistics.exclude_targets`.
    targets
        (r, d) bool, see `essential_graph`.
    jumps
        As in `graph_statistics`; a fifth of them are made.

    Returns
    -------
    (d, d) arrays as of `graph_statistics`: five for the linear family and three for the sparse additive one, called "targeted".
    """
    linear, cubic = _correlate(grams)
    rows = int(grams[0][0, 0])
    weight = np.array([grams[one][0, 0] / rows for one in which])
    _, found = search_graph(linear, _first(linear[0]), rows, which, weight, jumps=jumps // 5)
    full = _measure(found, essential_graph(found.graph, targets))
    sparse, _ = search_graph(cubic, found.order, min(rows, SPARSE), which, weight)
    few = _measure(sparse, None)
    out = {f"targeted linear graph {measure}": full[measure] for measure in full}
    return out | {f"targeted additive graph {measure}": few[measure] for measure in FEW}


def graph_search_compiled() -> bool:
    """Whether the kernels are compiled already."""
    return is_compiled(search)


def search_graph(
    matrices: np.ndarray,
    order: np.ndarray,
    rows: int,
    which: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    *,
    jumps: int = 0,
    turns: bool = False,
) -> tuple[Found, Found]:
    """Search by stages, where there are jumps with several orders to begin with; and turn edges, jump and drop edges in the last stage.

    Parameters
    ----------
    matrices
        (g, d k, d k) correlations of the features, the k columns of a variable side by side, itself first.
    order
        (d,) variables, where the search begins.
    rows
        n.
    which, weight
        (d,) which of the matrices a child is fitted to, and how large a share of the rows that is; the first, and all, where they are None.
    jumps
        How often variables jump.
    turns
        Whether edges are turned before and dropped behind, and there is ten times the time for the stages.

    Returns
    -------
    What is found with the penalty of up to `SPARSE` rows, and with that of all, or as many as there was time for.
    """
    d = len(order)
    block = matrices.shape[-1] // d
    penalty = math.log(rows) + 2 * math.log(d)
    which, weight = np.zeros(d, np.int64) if which is None else which, np.ones(d) if weight is None else weight
    generator = np.random.default_rng(0)
    drawn = generator.integers(0, d, (jumps, MOVES, 2))
    drawn[..., 0] = order[drawn[..., 0]]  # drawn by place, so that nothing depends on the order of the columns

    def descend(order: np.ndarray, stage: int, drawn: np.ndarray) -> tuple[Found, float, int]:
        task = new_task(matrices, which, weight, block, block * penalty / stage)
        graphs = no_parents(order, block), no_parents(order, block), no_parents(order, block)
        precedence, strength = search(task, *graphs, PASSES, turns and stage == rows, drawn, JUMP_WORK, STAGE_WORK)
        cost = float(weight @ np.log(graphs[0].variance) + task.penalty * graphs[0].counts.sum())
        return Found(graphs[0].joined, precedence, strength, stage, graphs[0].order), cost, int(task.work[0])

    def anneal(order: np.ndarray, stages: list[int], work: float = 0.0) -> tuple[list[Found], float, float]:
        found, cost = [], math.inf
        for stage in stages:
            if stage > SPARSE and work > most:
                break
            one, cost, spent = descend(order, stage, drawn if stage == rows else drawn[:0])
            work += spent
            order = one.order
            found.append(one)
        return found, cost, work

    most, stages = STAGES_WORK if turns else STAGES_WORK / 10, [stage for stage in STAGES if stage < rows]
    early = [stage for stage in stages if stage <= CHOOSE]
    runs = [anneal(order, early)]
    others = order[::-1], generator.permutation(order), generator.permutation(order)
    for start in others if jumps and len(early) > 1 else ():
        alike = len(runs) > 1 and runs[1][1] - runs[0][1] < ALIKE * block * penalty / early[-1]
        if alike or sum(run[2] for run in runs) > most:
            break
        runs.append(anneal(start, early[1:]))
        runs.sort(key=lambda run: (-run[0][-1].rows, round(run[1] / GAIN)))  # of those that differ by rounding errors alone the first
    found, _, work = runs[0]
    later, cost, _ = anneal(found[-1].order if found else order, [*stages[len(early) :], rows], work)
    found += later
    while turns and found[-1].rows == rows:
        parted = drop_line(matrices[0, ::block, ::block], found[-1].graph, found[-1].order, penalty / rows)
        if parted is None:
            break
        one, lower, _ = descend(parted, rows, drawn[:0])
        if lower > cost - GAIN:
            break
        found[-1], cost = one, lower
    return next(one for one in reversed(found) if one.rows <= SPARSE or one is found[0]), found[-1]


def _correlate(grams: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(g, d, d) and (g, 3d, 3d) correlations of the variables, and of their powers side by side."""
    cubic = np.stack([join_powers(correlate_features(gram)[2]) for gram in grams])
    cubic += 1e-6 * np.eye(cubic.shape[-1])
    return np.ascontiguousarray(cubic[:, ::3, ::3]), cubic


def _first(correlation: np.ndarray) -> np.ndarray:
    """(d,) where the search begins: what all others explain best comes last."""
    return np.argsort(np.linalg.inv(correlation + 1e-3 * np.eye(len(correlation))).diagonal(), kind="stable")


def _measure(found: Found, marks: np.ndarray | None) -> Channels:
    """The channels; `marks` are those of the graph's class, where the score cannot tell its graphs apart."""
    count = min(found.rows, ROWS_CAP)
    return {
        "precedence": np.arcsinh(4 * found.precedence),
        "significance": np.arcsinh(count * found.precedence / 2) / 4,
        "strength": np.arcsinh(found.strength),
        "strength significance": np.log1p(count * found.strength) / 8,
        "edge": found.graph.astype(float) if marks is None else to_probabilities(marks),
    }


@njit(cache=True, nogil=True)
def search(task, graph, kept, best, passes, turns, jumps, jump_work, work):  # pragma: no cover - compiled
    """Search from the order of `graph`, and from where turned edges and each of the `jumps` lead from the best graph so far.

    Parameters
    ----------
    task
        See `parents.Task`.
    graph, kept, best
        Without edges; `graph` becomes the result.
    passes
        Rounds in which every variable is tried at every place.
    turns
        Whether edges are turned that a third variable lies within.
    jumps
        (r, m, 2) variables and their new places, m moves at once.
    jump_work, work
        Multiplications after which there are no further turns and jumps, and no further moves.

    Returns
    -------
    (d, d) precedence and (d, d) strength, see `Found`.
    """
    d = len(graph.order)
    at, touched, active = np.empty(d), np.zeros(d, np.bool_), np.ones(d, np.bool_)
    precedence = np.zeros((d, d))
    for y in range(d):
        graph.variance[y] = task.matrices[task.which[y], y * task.block, y * task.block]
        fit_parents(task, graph, y, np.int64(MOST), d)
    _descend(task, graph, passes, work, kept, touched, active, precedence)
    _keep_better(-1.0, graph, best, active)
    if turns:
        for p in range(d):
            y = best.order[p]
            slot = 0
            while slot < graph.counts[y] and task.work[0] <= jump_work:
                x = graph.parents[y, slot]
                slot += 1
                if (graph.joined[x] & graph.joined[:, y]).any():
                    change = _tuck(task, graph, x, y, kept, touched, active, at)
                    change += _descend(task, graph, passes, work, kept, touched, active, precedence)
                    if _keep_better(change, graph, best, active):
                        slot = 0
    for jump in range(len(jumps)):
        if task.work[0] > jump_work:
            break
        change = 0.0
        for move in range(jumps.shape[1]):
            variable = jumps[jump, move, 0]
            change += _walk(task, graph, variable, jumps[jump, move, 1], kept, touched, at)
            _activate(graph, variable, touched, active)
        change += _descend(task, graph, passes, work, kept, touched, active, precedence)
        _keep_better(change, graph, best, active)
    for y in range(d):
        active[y] = True
    _descend(task, graph, 1, work, kept, touched, active, precedence)
    return precedence, _weigh_edges(task, graph)


@INNER
def _keep_better(change, graph, best, active):  # pragma: no cover - compiled
    """Make the better of both what both are, and all variables idle; returns whether that is `graph`."""
    better = change < -GAIN
    source, target = (graph, best) if better else (best, graph)
    for y in range(len(active)):
        target.order[y], target.place[y] = source.order[y], source.place[y]
        copy_parents(source, target, y)
        active[y] = False
    return better


@INNER
def _tuck(task, graph, x, y, kept, touched, active, at):  # pragma: no cover - compiled
    """Move y before its parent x, and with it those ancestors of y that stand between them."""
    first, last = graph.place[x], graph.place[y]
    moved = np.zeros(len(graph.order), np.bool_)
    moved[y] = True
    for p in range(last - 1, first, -1):
        for q in range(p + 1, last + 1):
            if moved[graph.order[q]] and graph.joined[graph.order[p], graph.order[q]]:
                moved[graph.order[p]] = True
    change = 0.0
    for p in range(first + 1, last + 1):
        variable = graph.order[p]
        if moved[variable]:
            change += _walk(task, graph, variable, first, kept, touched, at)
            _activate(graph, variable, touched, active)
            first += 1
    return change


@INNER
def _descend(task, graph, passes, work, kept, touched, active, precedence):  # pragma: no cover - compiled
    """Move the active variables to their best places, which makes others active, until none is; returns the change of the score."""
    d = len(graph.order)
    at, before, behind, turns = np.empty(d), np.empty(d), np.empty(d), np.empty(d, np.int64)
    total = 0.0
    for _ in range(passes):
        idle = True
        for p in range(d):
            turns[p] = graph.order[p]
        for variable in turns:
            if not active[variable] or task.work[0] > work:
                continue
            idle = active[variable] = False
            start = graph.place[variable]
            at[start] = 0.0
            for side in range(2):
                _walk(task, graph, variable, d - 1 if side else 0, kept, touched, at)
                _return(graph, variable, start, kept, touched)
            margins(at, 0, d - 1, graph.order, start, variable, before, behind, precedence)
            best = start
            for p in range(d):
                if at[p] < at[best] and at[p] <= -GAIN:
                    best = p
            if best != start:
                total += _walk(task, graph, variable, best, kept, touched, at)
                _activate(graph, variable, touched, active)
        if idle:
            break
    return total


@INLINE
def _activate(graph, variable, touched, active):  # pragma: no cover - compiled
    """`variable` has moved: it, its neighbours, and those whose parents changed may have better places now."""
    for y in range(len(touched)):
        if touched[y] or y == variable or graph.joined[y, variable] or graph.joined[variable, y]:
            active[y] = True
            touched[y] = False


@INNER
def _walk(task, graph, variable, place, kept, touched, at):  # pragma: no cover - compiled
    """Move `variable` to `place`; `at` (d,) takes the change of the score at every place that it comes to, and the last is returned.

    The parents that change are kept from before.
    """
    d = len(graph.order)
    change = 0.0
    p = graph.place[variable]
    step = 1 if place > p else -1
    while p != place:
        first = min(p, p + step)
        a, b = graph.order[first], graph.order[first + 1]
        graph.order[first], graph.order[first + 1] = b, a
        graph.place[a], graph.place[b] = first + 1, first
        for y in (b, a):
            slot, c = np.int64(MOST), d
            if y == b:
                if not graph.joined[a, b]:
                    continue
                slot = np.int64(0)
                while graph.parents[b, slot] != a:
                    slot += 1
            else:
                if graph.counts[a] == MOST or try_parent(task, graph, a, b) >= graph.variance[a] * task.worth[a]:
                    continue
                c = b
            if not touched[y]:
                touched[y] = True
                copy_parents(graph, kept, y)
            change -= task.weight[y] * math.log(graph.variance[y]) + task.penalty * graph.counts[y]
            fit_parents(task, graph, y, slot, c)
            change += task.weight[y] * math.log(graph.variance[y]) + task.penalty * graph.counts[y]
        p += step
        at[p] = change
    return change


@INLINE
def _return(graph, variable, place, kept, touched):  # pragma: no cover - compiled
    """Put `variable` back, and the parents that were kept."""
    at = graph.place[variable]
    step = 1 if place > at else -1
    while at != place:
        graph.order[at] = graph.order[at + step]
        graph.place[graph.order[at]] = at
        at += step
    graph.order[place] = variable
    graph.place[variable] = place
    for y in range(len(touched)):
        if touched[y]:
            touched[y] = False
            copy_parents(kept, graph, y)


@INLINE
def _weigh_edges(task, graph):  # pragma: no cover - compiled
    """(d, d) strength, see `Found`."""
    d = len(graph.order)
    out = np.zeros((d, d))
    for y in range(d):
        lose_parents(task, graph, y)
        for slot in range(graph.counts[y]):
            out[graph.parents[y, slot], y] = math.log1p(task.losses[slot] / graph.variance[y])
        for p in range(graph.place[y]):
            c = graph.order[p]
            if not graph.joined[c, y] and graph.counts[y] < len(graph.parents[y]):
                out[c, y] = math.log(graph.variance[y] / try_parent(task, graph, y, c))
    return out
