"""Exact posteriors over all graphs of a few variables, from local scores (k, 2**k) as in `scores`.

`dag_posterior`, any k up to 10: of every edge, prior uniform over DAGs. A DAG falls into layers in one way only: first the sources, then whoever has
a parent in the layer before and none outside the layers so far. Summing layer by layer visits 4**k triples (layers so far, last layer, next layer);
a pass back gives the derivatives, which are the posterior.
`class_posterior_each`, k up to 6: of every kind of edge of a CPDAG, or with interventions of an interventional essential graph, prior uniform over
(interventional) Markov classes or over DAGs, by enumeration.

Surprising choice: all sums are relative to the best order of each set, so that data of any size neither overflow nor vanish. The sums are of positive
terms but for one difference per layer, whose rounding is absolute, some 1e-15 of the whole.
Reference for the layers: Robinson (1973), Counting labeled acyclic digraphs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from seacausal.errors import DataError
from seacausal.estimate.scores import regime_cuts, score_table
from seacausal.graph.classes import MOST_VARIABLES, MarkovClasses, markov_classes

NEGLIGIBLE = 50.0
"""Nats below the best class under which a class is left out."""


@njit(cache=True, nogil=True)
def dag_posterior_each(scores: np.ndarray, direct: np.ndarray) -> None:  # pragma: no cover - compiled
    """Posterior probability of every edge i --> j, `direct[t, i, j]`, on t subsets: (t, k, 2**k) scores to (t, k, k)."""
    for t in range(len(scores)):
        dag_posterior(scores[t], direct[t])


@njit(cache=True, nogil=True)
def dag_posterior(scores: np.ndarray, direct: np.ndarray) -> None:  # pragma: no cover - compiled
    """Fill `direct` (k, k): the posterior of i --> j at [i, j], all DAGs being equally likely beforehand."""
    k, sets = scores.shape
    inside, total = np.zeros((k, sets)), np.zeros(sets)
    sum_parents(scores, inside)
    for mask in range(1, sets):
        total[mask] = -np.inf
        for v in range(k):
            if mask >> v & 1:
                total[mask] = max(total[mask], total[mask & ~(1 << v)] + inside[v, mask & ~(1 << v)])
    ternary = np.zeros(sets, np.int64)  # a set and a part of it have one place: ternary[set] + ternary[part]
    for mask in range(1, sets):
        ternary[mask] = 3 * ternary[mask >> 1] + (mask & 1)
    places = 2 * ternary[sets - 1] + 1
    touches = np.empty((places, k))
    step = np.empty(places)
    _prepare(inside, total, ternary, touches, step)
    forward, backward = np.zeros(places), np.zeros(places)
    whole = _sum_layers(ternary, touches, step, forward, backward)
    weight = np.zeros((k, sets))
    _weigh_sets(inside, ternary, touches, step, forward, backward, whole, weight)
    direct[:] = 0.0
    for v in range(k):
        for mask in range(sets):
            if weight[v, mask] != 0.0:
                for u in range(k):
                    if mask >> u & 1:
                        direct[u, v] -= weight[v, mask] * math.expm1(inside[v, mask & ~(1 << u)] - inside[v, mask])
    for v in range(k):
        for u in range(k):
            direct[u, v] = min(max(direct[u, v], 0.0), 1.0)


@njit(cache=True, nogil=True, inline="always")
def sum_parents(scores: np.ndarray, inside: np.ndarray) -> None:  # pragma: no cover - compiled
    """For each variable and set, the log of the summed weight of all parents inside the set: (k, 2**k) both; nothing for sets that hold v."""
    k, sets = scores.shape
    best = np.empty(sets)
    for v in range(k):
        for mask in range(sets):
            if mask >> v & 1:
                continue
            best[mask] = scores[v, mask]
            rest = mask
            while rest:
                best[mask] = max(best[mask], best[mask & ~(rest & -rest)])
                rest &= rest - 1
            weight = 0.0
            parents = mask
            while True:
                weight += math.exp(scores[v, parents] - best[mask])
                if parents == 0:
                    break
                parents = (parents - 1) & mask
            inside[v, mask] = best[mask] + math.log(weight)


@njit(cache=True, nogil=True, inline="always")
def _prepare(inside, total, ternary, touches, step):  # pragma: no cover - compiled
    """What each pair of a set and its part is asked for.

    `touches[set + part, v]` is the share of the weight of v's parents inside the set that meet the part; `step[set + part]` the weight of taking the
    part last, each of it with any parents in the rest, relative to the best order of the set.
    """
    k, sets = inside.shape
    for mask in range(sets):
        part = mask
        while part:
            place = ternary[mask] + ternary[part]
            before = mask & ~part
            log_step = total[before] - total[mask]
            for v in range(k):
                if part >> v & 1:
                    log_step += inside[v, before]
                elif not mask >> v & 1:
                    touches[place, v] = -math.expm1(inside[v, before] - inside[v, mask])
            step[place] = math.exp(log_step)
            part = (part - 1) & mask


@njit(cache=True, nogil=True, inline="always")
def _sum_layers(ternary, touches, step, forward, backward):  # pragma: no cover - compiled
    """Weight of all ways to reach each pair (layers so far, last layer), and of all ways on from there; returns that of all DAGs."""
    sets = len(ternary)
    product = np.ones(sets)
    for mask in range(1, sets):
        forward[2 * ternary[mask]] = step[2 * ternary[mask]]  # all of them sources
    for mask in range(1, sets):
        left = sets - 1 & ~mask
        part = mask
        while part:
            place = ternary[mask] + ternary[part]
            if forward[place] > 0.0:
                following = left & -left
                while following:
                    _multiply(product, following, touches[place])
                    union = ternary[mask | following] + ternary[following]
                    forward[union] += forward[place] * product[following] * step[union]
                    following = (following - left) & left
            part = (part - 1) & mask
    whole = 0.0
    for mask in range(sets - 1, 0, -1):
        left = sets - 1 & ~mask
        part = mask
        while part:
            place = ternary[mask] + ternary[part]
            if left == 0:
                backward[place] = 1.0
                whole += forward[place]
            elif forward[place] > 0.0:
                following = left & -left
                while following:
                    _multiply(product, following, touches[place])
                    union = ternary[mask | following] + ternary[following]
                    backward[place] += backward[union] * product[following] * step[union]
                    following = (following - left) & left
            part = (part - 1) & mask
    return whole


@njit(cache=True, nogil=True)
def _multiply(product, following, touching):  # pragma: no cover - compiled
    """The product over a set, from that of the set without its first variable; sets come in rising order."""
    first = following & -following
    v = 0
    while first >> v != 1:
        v += 1
    product[following] = product[following & ~first] * touching[v]


@njit(cache=True, nogil=True, inline="always")
def _weigh_sets(inside, ternary, touches, step, forward, backward, whole, weight):  # pragma: no cover - compiled
    """Fill `weight` (k, 2**k) so that v's posterior is the sum over sets of weight times the posterior of its parents inside the set.

    Parents inside a set that meet a part are all those inside less those inside the rest: a positive and a negative weight.
    """
    k, sets = inside.shape
    product = np.ones(sets)
    taken = np.empty(k)
    for mask in range(1, sets):
        for v in range(k):
            if mask >> v & 1:
                weight[v, 0] += step[2 * ternary[mask]] * backward[2 * ternary[mask]] / whole
        left = sets - 1 & ~mask
        part = mask
        while part:
            place = ternary[mask] + ternary[part]
            if forward[place] > 0.0:
                taken[:] = 0.0
                following = left & -left
                while following:
                    _multiply(product, following, touches[place])
                    union = ternary[mask | following] + ternary[following]
                    gain = product[following] * step[union] * backward[union]
                    if gain > 0.0:
                        for v in range(k):
                            if following >> v & 1:
                                taken[v] += gain
                    following = (following - left) & left
                for v in range(k):
                    if taken[v] > 0.0:
                        any_parents = forward[place] * taken[v] / (touches[place, v] * whole)
                        weight[v, mask] += any_parents
                        weight[v, mask & ~part] -= any_parents * (1.0 - touches[place, v])
            part = (part - 1) & mask


def estimate_posterior(values: np.ndarray, targeted: np.ndarray | None = None, *, penalty: float = 1.0) -> np.ndarray:
    """Posterior probability of every edge by the Gaussian BIC, all DAGs being equally likely beforehand.

    Parameters
    ----------
    values
        (n, k) rows, k from 2 to 10.
    targeted
        (n, k) bool, where a variable was intervened on: its own score leaves these rows out. None where nothing was.
    penalty
        Factor of the BIC penalty.

    Returns
    -------
    (k, k) float64, [i, j] about i --> j; what [i, j] and [j, i] leave to 1 is that of no edge.

    Raises
    ------
    DataError
        As `scores.score_table`.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((1000, 2))
    >>> estimate_posterior(np.column_stack([noise[:, 0], noise[:, 1] + noise[:, 0]])).round(3).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    scores = score_table(values, targeted, penalty=penalty)
    direct = np.empty((len(scores), len(scores)))
    dag_posterior(scores, direct)
    return direct


def estimate_class_posterior(
    values: np.ndarray, targeted: np.ndarray | None = None, *, penalty: float = 1.0, by_class: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probability of every kind of edge of a CPDAG, or of an interventional essential graph, by the Gaussian BIC.

    Parameters
    ----------
    values
        (n, k) rows, k from 2 to 6; six variables take seconds for the list of classes, once for each family of targets.
    targeted
        (n, k) bool, where a variable was intervened on: its own score leaves these rows out, and the distinct rows are the regimes, which split the
        classes. None where nothing was.
    penalty
        Factor of the BIC penalty.
    by_class
        Whether the prior is uniform over the interventional Markov classes of these regimes, however many DAGs each has; without interventions these
        are the Markov classes. If not, it is uniform over DAGs, whatever the regimes, as in `estimate_posterior`.

    Returns
    -------
    (k, k) float64 of i --> j at [i, j], and (k, k) symmetric of i --- j; what is left to 1 is that of no edge.

    Raises
    ------
    DataError
        As `scores.score_table`; for more than six variables.

    References
    ----------
    Hauser and Buehlmann (2012), Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs,
    theorem 10, for what a class is.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((1000, 2))
    >>> values = np.column_stack([noise[:, 0], noise[:, 1] + noise[:, 0]])
    >>> [edge.round(3).tolist() for edge in estimate_class_posterior(values)]
    [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> targeted = np.arange(1000)[:, None] % 2 == np.array([[1, 2]])
    >>> [edge.round(3).tolist() for edge in estimate_class_posterior(values, targeted)]
    [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    """
    scores = score_table(values, targeted, penalty=penalty)
    k = len(scores)
    if k > MOST_VARIABLES:
        raise DataError(f"Markov classes are listed for up to {MOST_VARIABLES} variables; found {k}. `estimate_posterior` takes more.")
    classes = markov_classes(k, regime_cuts(targeted, k))
    arrow, line = np.empty((1, k, k)), np.empty((1, k, k))
    class_posterior_each(scores[None], classes.parents, classes.arrows, classes.lines, class_weights(classes, by_class=by_class), arrow, line)
    return arrow[0], line[0]


def class_weights(classes: MarkovClasses, *, by_class: bool = True) -> np.ndarray:
    """(c,) prior weights of the classes: all the same, or by the number of their DAGs."""
    return np.ones(len(classes.sizes)) if by_class else classes.sizes.astype(float)


@njit(cache=True, nogil=True)
def class_posterior_each(scores, parents, arrows, lines, prior, arrow, line):  # pragma: no cover - compiled
    """Posterior of i --> j and of i --- j on t subsets, from one DAG of each class: DAGs of one class are taken to have the same score.

    Parameters
    ----------
    scores
        (t, k, 2**k) float64.
    parents, arrows, lines
        (c, k) int64, of `graph.classes.markov_classes`; all t subsets have the same regimes.
    prior
        (c,) from `class_weights`.
    arrow, line
        (t, k, k) float64, filled with the result.
    """
    t, k, sets = scores.shape
    total = np.empty(len(parents))
    by_arrows, by_lines = np.empty((k, sets)), np.empty((k, sets))
    for at in range(t):
        for c in range(len(parents)):
            total[c] = 0.0
            for v in range(k):
                total[c] += scores[at, v, parents[c, v]]
        best = total.max()
        by_arrows[:] = 0.0
        by_lines[:] = 0.0
        whole = 0.0
        for c in range(len(parents)):
            if total[c] > best - NEGLIGIBLE:
                weight = prior[c] * math.exp(total[c] - best)
                whole += weight
                for v in range(k):
                    by_arrows[v, arrows[c, v]] += weight
                    by_lines[v, lines[c, v]] += weight
        _spread_masks(by_arrows, whole, arrow[at])
        _spread_masks(by_lines, whole, line[at])


@njit(cache=True, nogil=True)
def _spread_masks(weight, whole, pairs):  # pragma: no cover - compiled
    """From the weight of each mask of v to that of each u in it: `pairs[u, v]`."""
    k, sets = weight.shape
    pairs[:] = 0.0
    for v in range(k):
        for mask in range(sets):
            if weight[v, mask] > 0.0:
                for u in range(k):
                    if mask >> u & 1:
                        pairs[u, v] += weight[v, mask] / whole
