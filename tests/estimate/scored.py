"""Random tables with and without interventions, the references' formats, and slow twins that score-based estimators share."""

import contextlib
import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from seacausal.graph.equivalence import complete_orientations
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL


def random_system(generator: np.random.Generator, d: int) -> tuple[np.ndarray, bool]:
    """(d, d) weights, upper triangular, of a sparse or dense system, and whether it is linear."""
    kept = np.triu(generator.random((d, d)) < generator.uniform(0.1, 0.9), 1)
    return kept * generator.uniform(0.3, 1.5, (d, d)) * generator.choice([-1, 1], (d, d)), bool(generator.random() < 0.6)


def random_table(seed: int, k: int = 5, rows: int = 300) -> np.ndarray:
    """(rows, k) standardised columns in random order; in half of the tables two common causes go unmeasured."""
    return random_experiment(seed, k, np.zeros((1, k), bool), (rows, rows + 1))[0]


def random_experiment(seed: int, k: int, regimes: np.ndarray, rows: tuple[int, int] = (40, 120)) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) values and (n, k) bool targets of perfect interventions with a shifted mean, `rows` from each of the (r, k) regimes."""
    generator = np.random.default_rng([17, k, seed])
    d = k + 2 * int(generator.integers(2))
    weights, linear = random_system(generator, d)
    measured = generator.permutation(d)[:k]
    values, targeted = [], []
    for regime in regimes:
        n = int(generator.integers(*rows))
        hit = np.zeros(d, bool)
        hit[measured] = regime
        table = np.zeros((n, d))
        for v in range(d):
            noise, inputs = generator.standard_normal(n), table @ weights[:, v]
            table[:, v] = noise + 1 if hit[v] else noise * 0.7 + (inputs if linear else np.tanh(inputs) + 0.5 * np.abs(inputs))
        values.append(table[:, measured])
        targeted.append(np.tile(regime, (n, 1)))
    table = np.vstack(values)
    return (table - table.mean(0)) / table.std(0), np.vstack(targeted)


def random_regimes(seed: int, k: int) -> np.ndarray:
    """(r, k) bool: none, one each, several at once, some missing, or a target in several regimes; every variable is free in one at least."""
    generator = np.random.default_rng([18, k, seed])
    each = np.eye(k, dtype=bool)
    regimes = (
        np.zeros((1, k), bool),
        np.vstack([np.zeros(k, bool), each]),
        generator.random((generator.integers(2, 5), k)) < 0.4,
        np.vstack([np.zeros(k, bool), each[generator.random(k) < 0.5]]),
        np.vstack([each[0], each[0] | each[1], each[1], generator.random(k) < 0.5]),
    )[seed % 5]
    regimes = np.unique(regimes, axis=0)
    return np.vstack([regimes, np.zeros(k, bool)]) if regimes.all(0).any() else regimes


def degenerate_tables() -> dict[str, np.ndarray]:
    plain = np.random.default_rng(19).standard_normal((60, 5))
    plain[:, 2] += plain[:, 0] - plain[:, 1]
    return {
        "constant": np.column_stack([plain[:, :4], np.full(60, 7.3)]),
        "all constant": np.full((60, 5), 0.1),
        "duplicated": np.column_stack([plain[:, :3], plain[:, 0], -3 * plain[:, 1] + 1]),
        "all the same": np.tile(plain[:, :1], (1, 5)),
        "dependent": np.column_stack([plain[:, :4], plain[:, 0] + plain[:, 3]]),
        "ties": np.round(plain),
        "binary": (plain > 0).astype(float),
        "fewer rows than columns": plain[:3],
        "two rows": plain[:2],
        "one row": plain[:1],
        "huge": plain * 1e150,
        "tiny": plain * 1e-150,
    }


def marks_of_adjacency(adjacency: np.ndarray) -> np.ndarray:
    """Marks from an adjacency in which i --- j stands as both i -> j and j -> i, as in `gies`."""
    present = np.asarray(adjacency) != 0
    return np.select([present & ~present.T, present | present.T], [ARROW, TAIL], NO_EDGE).astype(np.int8)


def marks_of_causal_learn(graph) -> np.ndarray:
    """Marks from causal-learn's matrix, where `graph[i, j]` is the mark at i's end: -1 tail, 1 arrow."""
    return np.select([graph.graph == -1, graph.graph == 1], [TAIL, ARROW], NO_EDGE).T.astype(np.int8)


@contextlib.contextmanager
def old_numpy() -> Iterator[None]:
    """What causal-learn 0.1.3.7 needs of numpy 1: `np.mat`, and `np.where` of a scalar."""
    where = np.where
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(np, "mat", np.asmatrix, raising=False)
        patch.setattr(np, "where", lambda condition, *either: where(np.atleast_1d(condition), *either))
        yield


def masks_of(adjacency: np.ndarray) -> np.ndarray:
    """(k,) parent masks of a (k, k) adjacency, `adjacency[i, j]` being i -> j."""
    return (np.asarray(adjacency, np.int64) << np.arange(len(adjacency))[:, None]).sum(0)


def every_dag(k: int) -> np.ndarray:
    """(g, k) parent masks: all subgraphs of the complete DAGs of all orders."""
    found: set[tuple[int, ...]] = set()
    for order in itertools.permutations(range(k)):
        before = [sum(1 << u for u in order[: order.index(v)]) for v in range(k)]
        found.update(itertools.product(*[[mask for mask in range(1 << k) if mask & ~before[v] == 0] for v in range(k)]))
    return np.array(sorted(found))


def adjacencies_of(dags: np.ndarray) -> np.ndarray:
    """(g, k, k) bool of (g, k) parent masks, [i, j] being i -> j."""
    return (dags[:, None, :] >> np.arange(dags.shape[1])[:, None] & 1).astype(bool)


def member_score(scores: np.ndarray, marks: np.ndarray) -> float:
    """The score of a DAG of the class, found by giving the lines directions one by one and completing what follows."""
    marks = marks.copy()
    while True:
        lines = np.argwhere((marks == TAIL) & (marks.T == TAIL))
        if not len(lines):
            break
        marks[tuple(lines[0])] = ARROW
        complete_orientations(marks)
    return float(sum(scores[v, mask] for v, mask in enumerate(masks_of(marks == ARROW))))


def permuted(marks: np.ndarray, order: np.ndarray) -> np.ndarray:
    return marks[np.ix_(order, order)]
