"""Random directed acyclic graphs. `adjacency[i, j]` is i -> j; variables come in random order.

Every family has exactly `edges` expected edges, but for `simulate_scale_free_replaced`, which repeats the shortfall of the SEA paper's generator.
Its Erdos-Renyi graphs have the law of `simulate_erdos_renyi`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.errors import DataError


def simulate_erdos_renyi(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Every pair is joined with the same probability, so that `edges` are expected; a random order directs them.

    Returns
    -------
    (d, d) bool adjacency.
    """
    pairs = variables * (variables - 1) / 2
    upper = np.triu(generator.random((variables, variables)) < edges / pairs, 1)
    return _shuffle(upper, generator)


def simulate_scale_free(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Each new variable takes parents with probability proportional to 1 + their number of edges (Barabasi and Albert, 1999).

    The number of parents is drawn round `edges / variables`, raised so that the early variables, which have few candidates, do not make the graph
    sparser than asked.

    Returns
    -------
    (d, d) bool adjacency.
    """
    adjacency = np.zeros((variables, variables), bool)
    degree = np.ones(variables)
    left = float(edges)
    for child in range(1, variables):
        wanted = max(0.0, left / (variables - child))
        count = min(child, int(wanted) + int(generator.random() < wanted % 1))
        chosen = generator.choice(child, count, replace=False, p=degree[:child] / degree[:child].sum())
        adjacency[chosen, child] = True
        degree[chosen] += 1
        degree[child] += count
        left -= count
    return _shuffle(adjacency, generator)


def simulate_scale_free_replaced(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Scale-free graphs as the SEA paper's generator draws them: parents may be drawn twice, so fewer than `edges` are expected.

    Variables are taken from the last of a causal order to the first. Each draws a binomial number of parents among those still to come, with
    replacement and with probability proportional to 1 + their number of children.

    Returns
    -------
    (d, d) bool adjacency.
    """
    pairs = variables * (variables - 1) / 2
    adjacency = np.zeros((variables, variables), bool)
    weight = np.ones(variables)
    for child in range(variables - 1, 0, -1):
        count = generator.binomial(child, min(1.0, edges / pairs))
        parents = np.unique(generator.choice(child, count, p=weight[:child] / weight[:child].sum()))
        adjacency[parents, child] = True
        weight[parents] += 1
    return _shuffle(adjacency, generator)


def simulate_small_world(variables: int, edges: float, *, rewired: float = 0.1, generator: np.random.Generator) -> np.ndarray:
    """A ring in which neighbours are joined, with a share of edges led elsewhere (Watts and Strogatz, 1998); a random order directs them.

    The ring is filled from the nearest neighbours outwards; of the last distance each edge is kept with the probability that gives `edges`.

    Parameters
    ----------
    rewired
        The probability that an edge keeps one end only; the other end goes to a variable that is not yet joined.

    Returns
    -------
    (d, d) bool adjacency.
    """
    joined = np.zeros((variables, variables), bool)
    ring, left = np.arange(variables), float(edges)
    for distance in range(1, variables // 2 + 1):
        first = ring if 2 * distance < variables else ring[:distance]
        first = first[generator.random(len(first)) < left / len(first)]
        second = (first + distance) % variables
        joined[first, second] = joined[second, first] = True
        left -= variables if 2 * distance < variables else distance
        if left <= 0:
            break
    for i, j in np.argwhere(np.triu(joined, 1)).tolist():
        if generator.random() < rewired:
            free = np.flatnonzero(~joined[i])
            free = free[free != i]
            if len(free):
                k = generator.choice(free)
                joined[i, j] = joined[j, i] = False
                joined[i, k] = joined[k, i] = True
    return _direct(joined, generator)


def simulate_stochastic_block(variables: int, edges: float, *, blocks: int = 5, between: float = 0.1, generator: np.random.Generator) -> np.ndarray:
    """Pairs of one block are joined more often than others (Holland, Laskey and Leinhardt, 1983); a random order directs them.

    Parameters
    ----------
    blocks
        Every variable belongs to one of them, at random.
    between
        Probability of an edge between blocks over that within one, as long as this leaves room for `edges`.

    Returns
    -------
    (d, d) bool adjacency.
    """
    block = generator.integers(blocks, size=variables)
    weight = np.triu(np.where(block[:, None] == block, 1.0, between), 1)
    return _shuffle(generator.random(weight.shape) < _to_probabilities(weight, edges), generator)


def simulate_bipartite(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Two layers of half the variables each; every pair from the upper to the lower one is joined with the same probability.

    Returns
    -------
    (d, d) bool adjacency.

    Raises
    ------
    DataError
        If `edges` is above `most_edges`.
    """
    most = most_edges("bipartite", variables)
    if not 0 <= edges <= most:
        raise DataError(f"`edges` of two layers of {variables} variables must lie between 0 and {most}; found {edges}. Ask for fewer edges.")
    adjacency = np.zeros((variables, variables), bool)
    upper = variables // 2
    adjacency[:upper, upper:] = generator.random((upper, variables - upper)) < edges / most
    return _shuffle(adjacency, generator)


def simulate_layered(variables: int, edges: float, *, generator: np.random.Generator) -> np.ndarray:
    """Three layers of a third of the variables each; every pair from a layer to the next is joined with the same probability.

    Returns
    -------
    (d, d) bool adjacency.
    """
    layer = _layers(variables)
    weight = np.where(layer[None, :] - layer[:, None] == 1, 1.0, 0.0)
    return _shuffle(generator.random(weight.shape) < _to_probabilities(weight, edges), generator)


def simulate_regulatory(
    variables: int, edges: float, *, regulators: float = 0.1, module: int = 20, between: float = 0.05, generator: np.random.Generator
) -> np.ndarray:
    """Few regulators with many targets, in modules: the hubs of gene networks (Barabasi and Oltvai, 2004) within modules (Segal et al., 2003).

    Only regulators have children. The chance of an edge is proportional to the strength of the regulator, which is Pareto with exponent 2, and
    `between` times as large where the target belongs to another module. Regulators act on one another down a random order.

    Parameters
    ----------
    regulators
        Share of the variables, or as many more as `edges` need.
    module
        Variables of a module, on average.

    Returns
    -------
    (d, d) bool adjacency.
    """
    count = max(1, round(regulators * variables))
    while count * (variables - count) + count * (count - 1) / 2 < edges and count < variables:
        count += 1
    member = generator.integers(max(1, round(variables / module)), size=variables)
    strength = 1 + generator.pareto(2.0, count)
    weight = np.zeros((variables, variables))
    weight[:count] = strength[:, None] * np.where(member[:count, None] == member, 1.0, between)
    weight = np.triu(weight, 1)
    return _shuffle(generator.random(weight.shape) < _to_probabilities(weight, edges), generator)


def most_edges(graph: str, variables: int) -> int:
    """How many edges a graph of `GRAPHS` can have."""
    if graph == "bipartite":
        return (variables // 2) * (variables - variables // 2)
    if graph == "layered":
        first, second, third = np.bincount(_layers(variables), minlength=3).tolist()
        return first * second + second * third
    return variables * (variables - 1) // 2


def _layers(variables: int) -> np.ndarray:
    """(d,) int, the layer of every variable of `simulate_layered`, before they are shuffled."""
    return np.arange(variables) * 3 // variables


def _to_probabilities(weights: np.ndarray, edges: float) -> np.ndarray:
    """Probabilities proportional to `weights`, cut at 1, that add up to `edges`."""
    heavy = np.sort(weights[weights > 0])[::-1]
    certain = np.arange(len(heavy))  # how many of the heaviest have probability 1
    rest = np.cumsum(heavy[::-1])[::-1]
    factors = np.maximum(edges - certain, 0) / rest
    fits = np.flatnonzero(factors * heavy <= 1)
    return np.minimum(1.0, weights * factors[fits[0]]) if len(fits) else (weights > 0).astype(float)


def _direct(joined: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A symmetric matrix, its edges directed by a random order and its variables shuffled."""
    return _shuffle(np.triu(_shuffle(joined, generator), 1), generator)


def _shuffle(adjacency: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    order = generator.permutation(len(adjacency))
    return adjacency[np.ix_(order, order)]


GRAPHS: dict[str, Callable[..., np.ndarray]] = {
    "erdos-renyi": simulate_erdos_renyi,
    "scale-free": simulate_scale_free,
    "scale-free-replaced": simulate_scale_free_replaced,
    "small-world": simulate_small_world,
    "stochastic-block": simulate_stochastic_block,
    "bipartite": simulate_bipartite,
    "layered": simulate_layered,
    "regulatory": simulate_regulatory,
}
"""(variables, expected edges, generator) -> (d, d) bool adjacency."""
