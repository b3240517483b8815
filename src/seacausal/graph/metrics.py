"""How near predicted probabilities are to a true graph. The diagonal never counts; `adjacency[i, j]` and `direct[i, j]` are i -> j."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seacausal.errors import DataError


def ordered_pairs(matrix: np.ndarray) -> np.ndarray:
    """(d, d) without its diagonal, flattened: (d (d - 1),)."""
    return matrix[~np.eye(len(matrix), dtype=bool)]


def score_average_precision(adjacency: np.ndarray, scores: np.ndarray) -> float:
    """Area under the precision-recall curve over ordered pairs, as a step function; tied scores enter together. nan without edges."""
    truth, score = ordered_pairs(adjacency).astype(bool), ordered_pairs(scores)
    if not truth.any():
        return float("nan")
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(truth[order])
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)  # the last of every tie
    hits = hits[last]
    return float((np.diff(hits, prepend=0) * hits / (last + 1)).sum() / truth.sum())


def score_auc(adjacency: np.ndarray, scores: np.ndarray) -> float:
    """Probability that an edge scores higher than a non-edge over ordered pairs, ties counting half. nan without either."""
    truth, score = ordered_pairs(adjacency).astype(bool), ordered_pairs(scores)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return float("nan")
    _, group, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[group]
    return float((rank[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def score_shd(adjacency: np.ndarray, direct: np.ndarray, threshold: float = 0.5) -> int:
    """Structural Hamming distance at a threshold: pairs that are joined or directed otherwise; a reversed edge counts once."""
    truth, found = adjacency.astype(bool), direct > threshold
    wrong = (truth != found) | (truth != found).T
    return int(np.triu(wrong, 1).sum())


def score_mark_distance(truth: np.ndarray, found: np.ndarray) -> int:
    """Structural Hamming distance between two graphs of any kind, such as CPDAGs: pairs of variables whose edge, or its absence, differs.

    Parameters
    ----------
    truth, found
        (d, d) marks, see `graph.marks`. A pair counts once, be it joined in one graph alone, directed otherwise, or undirected in one alone.
    """
    wrong = truth != found
    return int(np.triu(wrong | wrong.T, 1).sum())


def score_orientation(adjacency: np.ndarray, direct: np.ndarray) -> float:
    """Share of the true edges i -> j with direct[i, j] > direct[j, i]. nan without edges."""
    truth = adjacency.astype(bool)
    return float((direct > direct.T)[truth].mean()) if truth.any() else float("nan")


def score_calibration(adjacency: np.ndarray, direct: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error of P(i -> j) over ordered pairs, equal-width bins."""
    return pool_calibration([(adjacency, direct)], bins)


def pool_calibration(graphs: Iterable[tuple[np.ndarray, np.ndarray]], bins: int = 10) -> float:
    """`score_calibration` over the ordered pairs of several graphs together, each an adjacency and its probabilities."""
    truth, probability = (np.concatenate([ordered_pairs(one) for one in matrices]) for matrices in zip(*graphs))
    which = np.minimum((probability * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(which, truth - probability, bins)).sum() / len(truth))


def score_log_loss(adjacency: np.ndarray, direct: np.ndarray) -> float:
    """Mean over unordered pairs of -log of what was said of the truth, i -> j, j -> i or neither, in nats, at most 13.8.

    Two variables that cause each other count half as either.
    """
    i, j = np.triu_indices(len(adjacency), 1)
    forward, backward = adjacency[i, j].astype(float), adjacency[j, i].astype(float)
    both = np.maximum(forward + backward, 1)
    truth = np.stack([forward / both, backward / both, forward + backward == 0])
    said = np.stack([direct[i, j], direct[j, i], 1 - direct[i, j] - direct[j, i]])
    return float(-(truth * np.log(np.maximum(said, 1e-6))).sum(0).mean())


def is_acyclic(adjacency: np.ndarray) -> bool:
    """Whether a (d, d) graph, [i, j] being i -> j, has no directed cycle: roots are taken away until none is left."""
    left = adjacency.astype(bool)
    while len(left):
        inner = left.any(0)
        if inner.all():
            return False
        left = left[np.ix_(inner, inner)]
    return True


def follow_paths(adjacency: np.ndarray) -> np.ndarray:
    """(d, d) bool, [i, j] where a directed path of one edge or more leads from i to j (Warshall, 1962); [i, i] where i lies on a cycle."""
    reach = adjacency.copy()
    for middle in np.flatnonzero(adjacency.any(0) & adjacency.any(1)).tolist():
        reach |= reach[:, middle, None] & reach[middle]
    return reach


def check_acyclic(adjacency: np.ndarray, purpose: str) -> None:
    """Refuse a graph with a directed cycle.

    Raises
    ------
    DataError
        If there is one; `purpose` then says what a DAG was needed for.
    """
    if not is_acyclic(adjacency):
        raise DataError(f"The graph must be acyclic {purpose}; found a directed cycle. Give a graph without feedback.")
