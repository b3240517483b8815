"""Causal discovery by other people's packages, for comparison: the one file that imports them.

In: a data set. Out: marks of a CPDAG, a DAG or an interventional essential graph. Each peer runs in a process of its own, which is ended when it
takes longer than a limit, so that packages may print, be slow or fail. None is required: what is not installed is left out, and a note says what to
install.

Columns are standardised first, which changes no peer's answer in theory. Only GIES uses interventions; the others see the observational rows where
these are enough (`estimate.order.control_rows`), else all rows as if there were none.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from seacausal.data import Dataset
from seacausal.estimate.graph_search import graph_statistics
from seacausal.estimate.order import control_rows
from seacausal.estimate.statistics import gram_matrix, spaced_rows, standardise
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL

RESTARTS = 2_000
"""Random restarts of FLOP's search, times variables: 20 on 100 variables, and so many on few that its answer does not depend on luck."""
PENALTY = 2.0
"""Factor of the BIC penalty where a peer is not listed with its own: what FLOP's authors recommend."""
LINGAM_ROWS = 5000
"""Rows that DirectLiNGAM is given, evenly spaced, where there are more: its time is proportional to them."""
SLOW = 50
"""Variables up to which peers in pure Python are run."""


@dataclass(frozen=True)
class Peer:
    """One other method."""

    name: str
    """What tables call it."""
    module: str
    """What has to be importable."""
    install: str
    """What pip installs it by, in a version that was tried."""
    function: Callable[[Dataset], np.ndarray]
    """From a data set to (d, d) marks."""
    widest: int | None = None
    """It is not run on more variables; None for no such limit."""


def find_flop(dataset: Dataset) -> np.ndarray:
    """Iterated local search over orders by BIC (Wienoebst, Henckel and Weichwald, 2025, Embracing discrete search)."""
    import flopsearch  # type: ignore[import-not-found]

    return to_marks(flopsearch.flop(_free_rows(dataset), PENALTY, restarts=RESTARTS // len(dataset.names)) != 0)


def find_gies(dataset: Dataset, *, penalty: float = 1.0) -> np.ndarray:
    """Greedy interventional equivalence search by BIC (Hauser and Buehlmann, 2012), the package of Gamella and Kolotuhina."""
    import gies  # type: ignore[import-not-found]
    from gies.scores.gauss_int_l0_pen import GaussIntL0Pen  # type: ignore[import-not-found]

    z = standardise(dataset.values)[0]
    tables, targets = [], []
    for regime in np.unique(dataset.targets, axis=0):
        rows = (dataset.targets == regime).all(1)[dataset.regime]
        if rows.any():
            tables.append(z[rows])
            targets.append(np.flatnonzero(regime).tolist())
    score = GaussIntL0Pen(tables, targets, lmbda=penalty * np.log(len(z)) / 2)
    return to_marks(gies.fit(score)[0] != 0)


def find_boss(dataset: Dataset) -> np.ndarray:
    """Best order score search by BIC (Andrews et al., 2023) in causal-learn, whose `lambda_value` is half of the penalty's factor."""
    from causallearn.search.PermutationBased.BOSS import boss  # type: ignore[import-not-found]

    random.seed(0)  # of its order of moves
    found = boss(_free_rows(dataset), parameters={"lambda_value": PENALTY / 2}, verbose=False)
    return to_marks(found.graph == -1)  # -1 at [i, j] and 1 at [j, i] is i -> j


def find_lingam(dataset: Dataset) -> np.ndarray:
    """DirectLiNGAM (Shimizu et al., 2011), whose matrix holds the effect of j on i at [i, j]."""
    from lingam import DirectLiNGAM  # type: ignore[import-not-found]

    found = DirectLiNGAM().fit(spaced_rows(_free_rows(dataset), LINGAM_ROWS))
    return to_marks(np.asarray(found.adjacency_matrix_).T != 0)


def find_graph(dataset: Dataset) -> np.ndarray:
    """The linear graph that our own network is shown (`estimate.graph_search`), alone."""
    edge = graph_statistics(gram_matrix(_free_rows(dataset)))[0]["linear graph edge"]
    return to_marks(edge > 0)


PEERS = (
    Peer("FLOP", "flopsearch", "flopsearch==0.3.0", find_flop),
    Peer("GIES", "gies", "gies==0.0.3", find_gies, SLOW),
    Peer("GIES, twice the penalty", "gies", "gies==0.0.3", lambda dataset: find_gies(dataset, penalty=2.0), SLOW),
    Peer("BOSS", "causallearn.search.PermutationBased.BOSS", "causal-learn==0.1.4.8", find_boss, SLOW),
    Peer("DirectLiNGAM", "lingam", "lingam==1.13.0", find_lingam, SLOW),
    Peer("BIC search", "seacausal", "seacausal", find_graph),
)


def to_marks(adjacency: np.ndarray) -> np.ndarray:
    """(d, d) marks of a graph whose directed edges stand at [i, j], i -> j, and whose undirected ones at [i, j] and [j, i]."""
    joined = adjacency | adjacency.T
    return np.where(adjacency & ~adjacency.T, ARROW, np.where(joined, TAIL, NO_EDGE)).astype(np.int8)


def _free_rows(dataset: Dataset) -> np.ndarray:
    """The standardised rows for a method that knows no interventions."""
    z = standardise(dataset.values)[0]
    rows = control_rows(z, dataset.targets[dataset.regime] if dataset.interventional else None)
    return standardise(rows)[0].astype(np.float64)


@dataclass
class PeerRuns:
    """Runs all peers that are installed; one that is late or fails once does not go on with its row of the table."""

    limit: float
    """Seconds a peer may take for a data set."""
    peers: tuple[Peer, ...] = PEERS
    """Whom to run."""
    notes: list[str] = field(default_factory=list)
    """What is missing from the tables and why, in the order in which it was found out."""
    _out: set[tuple[str, str | None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for peer in self.peers:
            if not is_installed(peer.module):
                self._out.add((peer.name, None))
                self._note(f"{peer.name} is left out: it needs `pip install {peer.install}`.")

    def run(self, dataset: Dataset, row: str) -> Iterator[tuple[str, np.ndarray | None, float]]:
        """Name, marks and seconds of each peer; no marks where it was late or failed. `row` is where in the table they stand."""
        for peer in self.peers:
            if (peer.name, None) in self._out or (peer.name, row) in self._out:
                continue
            if peer.widest is not None and len(dataset.names) > peer.widest:
                self._note(f"{peer.name} is not run on more than {peer.widest} variables.")
                continue
            try:
                yield peer.name, *run_apart(peer, dataset, self.limit)
            except (TimeoutError, RuntimeError) as error:
                self._out.add((peer.name, row))
                self._note(f"{peer.name} stopped at {row}: {error}")
                yield peer.name, None, self.limit

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def is_installed(module: str) -> bool:
    """Whether a module can be found."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def run_apart(peer: Peer, dataset: Dataset, limit: float) -> tuple[np.ndarray, float]:
    """Marks and seconds of a peer in a process of its own; start and transfer do not count.

    Raises
    ------
    TimeoutError
        If it takes longer than `limit` seconds, start included.
    RuntimeError
        If it fails; the message ends with its last line.
    """
    command = [sys.executable, "-P", "-m", "seacausal.bench.peers", peer.name]  # -P: no module of the working folder is run
    try:
        done = subprocess.run(command, input=pickle.dumps(replace(dataset, adjacency=None)), capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"it took longer than {limit:g} s for a data set.") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        raise RuntimeError(f"it failed, {lines[-1]}")
    return pickle.loads(done.stdout)


def _serve(name: str) -> None:
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints is not the answer
    dataset = pickle.loads(sys.stdin.buffer.read())
    peer = next(peer for peer in PEERS if peer.name == name)
    importlib.import_module(peer.module)  # its start does not count
    started = time.perf_counter()
    marks = peer.function(dataset)
    with answer:
        pickle.dump((marks, time.perf_counter() - started), answer)


if __name__ == "__main__":
    _serve(sys.argv[1])
