"""causal-learn behind one function per algorithm, and inputs to compare on: random tables, and random answers that fit no graph."""

import contextlib
import io

import numpy as np
from causallearn.search.ConstraintBased import FCI, PC
from causallearn.utils.cit import CIT_Base

from seacausal.graph.marks import ARROW, CIRCLE, NO_EDGE, TAIL

ROWS = 500


def marks_of(graph) -> np.ndarray:
    """Ours from causal-learn's matrix, where `graph[i, j]` is the mark at i's end: -1 tail, 1 arrow, 2 circle."""
    return np.select([graph.graph == -1, graph.graph == 1, graph.graph == 2], [TAIL, ARROW, CIRCLE], NO_EDGE).T.astype(np.int8)


class Answers(CIT_Base):
    """A test for causal-learn that looks its answers up in a (k, k, 2**k) table."""

    def __init__(self, accepted):
        self.accepted = accepted
        self.method = "answers"

    def __call__(self, i, j, given=()):
        return float(self.accepted[i, j, sum(1 << int(v) for v in given)])


class FirstComeSet(dict):
    """A set that hands out its members in the order they came, where Python's order of strings changes with the hash seed."""

    def __init__(self, members=()):
        super().__init__(dict.fromkeys(members))

    def add(self, member):
        self[member] = None

    def remove(self, member):
        del self[member]


@contextlib.contextmanager
def replaced(module, **attributes):
    """Set attributes of a module for a while."""
    before = {name: getattr(module, name) for name in attributes if hasattr(module, name)}
    for name, value in attributes.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name in attributes:
            if name in before:
                setattr(module, name, before[name])
            else:
                delattr(module, name)


def reference_fci(*, table: np.ndarray | None = None, accepted: np.ndarray | None = None, sets: type = FirstComeSet) -> np.ndarray:
    """FCI of the causal-learn that is installed, on rows or on answers, with its sets in the order of the columns."""
    patches = {"set": sets} | ({} if accepted is None else {"CIT": lambda *_, **__: Answers(accepted)})
    rows = np.zeros((99, len(accepted))) if accepted is not None else table
    with replaced(FCI, **patches), contextlib.redirect_stdout(io.StringIO()):
        return marks_of(FCI.fci(rows, "fisherz", 0.05, show_progress=False)[0])


def reference_pc(*, table: np.ndarray | None = None, accepted: np.ndarray | None = None) -> np.ndarray:
    """PC of the causal-learn that is installed, on rows or on answers."""
    if accepted is None:
        return marks_of(PC.pc(table, 0.05, "fisherz", show_progress=False).G)
    with replaced(PC, CIT=lambda *_, **__: Answers(accepted)):
        return marks_of(PC.pc(np.zeros((99, len(accepted))), show_progress=False).G)


def random_dag(generator: np.random.Generator, nodes: int, edges_per_node: float) -> np.ndarray:
    """(nodes, nodes) bool, `adjacency[i, j]` is i -> j."""
    density = min(1.0, 2 * edges_per_node / (nodes - 1))
    upper = np.triu(generator.random((nodes, nodes)) < density, 1)
    order = generator.permutation(nodes)
    return upper[np.ix_(order, order)]


def ancestors(adjacency: np.ndarray) -> np.ndarray:
    """`[i, j]` is whether i = j or a directed path leads from i to j."""
    reach = adjacency | np.eye(len(adjacency), dtype=bool)
    for _ in range(len(adjacency).bit_length()):
        reach = reach @ reach
    return reach


def random_table(seed: int, k: int = 5) -> np.ndarray:
    """(500, k), columns of a random linear or nonlinear, sparse or dense system of k + 3, so that common causes go unmeasured."""
    generator = np.random.default_rng([k, seed])
    adjacency = random_dag(generator, k + 3, (0.7, 1.5, 2.5)[seed % 3])
    weights = adjacency * generator.uniform(0.4, 1.5, adjacency.shape) * generator.choice([-1, 1], adjacency.shape)
    table = np.zeros((ROWS, k + 3))
    for v in sorted(range(k + 3), key=lambda v: ancestors(adjacency)[:, v].sum()):
        inputs = table @ weights[:, v]
        inputs /= max(1.0, inputs.std() / 3)  # or squares of squares end in columns that determine each other
        table[:, v] = (np.tanh(inputs) + 0.3 * inputs**2 if seed % 2 else inputs) + generator.standard_normal(ROWS)
    return table[:, generator.choice(k + 3, k, replace=False)]


def random_answers(generator: np.random.Generator, k: int) -> np.ndarray:
    """(k, k, 2**k) answers that fit no graph: pairs that are never, at once, late or now and then independent."""
    never, at_once, late, rarely = [0.0] * 9, [0.9] + [0.3] * 8, [0.0, 0.0] + [0.5] * 7, [0.1] * 9
    accept = np.array([never, at_once, late, rarely])
    sizes = np.array([min(8, given.bit_count()) for given in range(1 << k)])
    accepted = np.zeros((k, k, 1 << k), bool)
    for i in range(k):
        for j in range(i + 1, k):
            kind = generator.choice(4, p=[0.3, 0.25, 0.4, 0.05])
            free = np.array([not given & (1 << i | 1 << j) for given in range(1 << k)])
            accepted[i, j] = accepted[j, i] = free & (generator.random(1 << k) < accept[kind, sizes])
    return accepted
