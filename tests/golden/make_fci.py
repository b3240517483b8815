"""Write fci.npz, the answers of causal-learn 0.1.4.8's FCI, which cannot be installed beside the 0.1.3.7 that other tests compare with.

    pip install --target FOLDER --no-deps causal-learn==0.1.4.8 momentchi2==0.1.8
    PYTHONPATH=FOLDER:tests/estimate:src python tests/golden/make_fci.py

Four kinds of inputs, each with k variables: covariances of 500 rows of random tables; random answers that fit no graph; answers by d-separation in
random graphs with unmeasured and selected variables; answers of undirected graphs, some of them turned round, which give R5 to R7 work. Answers are
(k, k, 2**k) tables, packed into bits. causal-learn's sets hand out their members in the order they came, so that the result does not change with
Python's hash seed.
"""

import importlib.metadata
from pathlib import Path

import numpy as np
from mixed_graphs import dag_of, separated_given, separated_in
from references import random_answers, random_dag, random_table, reference_fci

from seacausal.graph.marks import NO_EDGE, TAIL

COVARIANCES = {4: 40, 5: 80, 6: 40, 7: 30}
ANSWERS = {3: 20, 4: 60, 5: 120, 6: 80, 7: 40}
GRAPHS = {5: 150, 6: 60}
UNDIRECTED = {4: 30, 5: 60, 6: 60}


def answers_of_graph(generator: np.random.Generator, k: int) -> np.ndarray:
    """(k, k, 2**k), d-separation among k variables of a random DAG of k + 3, given one or none of the others."""
    adjacency = random_dag(generator, k + 3, generator.choice([1.2, 1.6, 2.0]))
    order = generator.permutation(k + 3)
    measured, selected = order[:k], order[k : k + generator.integers(2)]
    accepted = np.zeros((k, k, 1 << k), bool)
    for given in range(1 << k):
        whole = sum(1 << int(measured[v]) for v in range(k) if given >> v & 1) | sum(1 << int(s) for s in selected)
        accepted[:, :, given] = separated_given(dag_of(adjacency)[None], whole)[0][np.ix_(measured, measured)]
    return accepted


def answers_near_undirected_graph(generator: np.random.Generator, k: int) -> np.ndarray:
    """(k, k, 2**k), separation in a random undirected graph, which selection can make of a DAG; two percent of the answers are wrong."""
    upper = np.triu(generator.random((k, k)) < 2.5 / (k - 1), 1)
    accepted = separated_in(np.where(upper | upper.T, TAIL, NO_EDGE).astype(np.int8)[None])[0]
    for i, j in zip(*np.triu_indices(k, 1)):
        free = np.array([not given & (1 << i | 1 << j) for given in range(1 << k)])
        accepted[i, j] ^= free & (generator.random(1 << k) < 0.02)
        accepted[j, i] = accepted[i, j]
    return accepted


def main() -> None:
    assert importlib.metadata.version("causal-learn") == "0.1.4.8"
    generator = np.random.default_rng(0)
    golden = {}
    for k, count in COVARIANCES.items():
        tables = [random_table(1000 + seed, k) for seed in range(count)]
        golden[f"covariances of {k}"] = np.stack([np.cov(table.T)[np.triu_indices(k)] for table in tables])
        golden[f"marks of covariances of {k}"] = np.stack([reference_fci(table=table) for table in tables])
    kinds = (
        ("answers", random_answers, ANSWERS),
        ("graphs", answers_of_graph, GRAPHS),
        ("undirected", answers_near_undirected_graph, UNDIRECTED),
    )
    for name, make, counts in kinds:
        for k, count in counts.items():
            inputs = np.stack([make(generator, k) for _ in range(count)])
            golden[f"{name} of {k}"] = np.packbits(inputs.reshape(count, -1), axis=1)
            golden[f"marks of {name} of {k}"] = np.stack([reference_fci(accepted=accepted) for accepted in inputs])
    np.savez_compressed(Path(__file__).parent / "fci.npz", **golden)


if __name__ == "__main__":
    main()
