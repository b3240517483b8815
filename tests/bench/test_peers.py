"""Other people's methods: their conventions, their limits, and what happens where one is missing."""

import numpy as np
import pytest

from seacausal.bench import peers
from seacausal.bench.accuracy import measure, to_cpdag
from seacausal.bench.peers import PEERS, Peer, PeerRuns, is_installed, run_apart, to_marks
from seacausal.bench.suites import Case
from seacausal.data import Dataset
from seacausal.graph.equivalence import essential_graph
from seacausal.graph.marks import ARROW, TAIL

GRAPH = np.zeros((5, 5), bool)
GRAPH[[0, 1, 2, 3], [2, 2, 3, 4]] = True
"""0 -> 2 <- 1, 2 -> 3 -> 4: all directed in its CPDAG."""
FORK = np.zeros((3, 3), bool)
FORK[0, [1, 2]] = True
"""1 <- 0 -> 2: undirected in its CPDAG."""


def linear(adjacency: np.ndarray, noise: str = "standard_normal", rows: int = 2000) -> Dataset:
    """Coefficients of 1, in the order of the columns."""
    values = getattr(np.random.default_rng(1), noise)((rows, len(adjacency)))
    for j in range(len(adjacency)):
        values[:, j] += values[:, adjacency[:, j]].sum(1)
    return Dataset.observational(values, adjacency=adjacency)


def find_peer(name: str) -> Peer:
    peer = next(peer for peer in PEERS if peer.name == name)
    if not is_installed(peer.module):
        pytest.skip(f"needs pip install {peer.install}")
    return peer


@pytest.mark.parametrize("name", ["FLOP", "GIES", "GIES, twice the penalty", "BOSS", "BIC search"])
def test_peers_find_a_class(name):
    """Both joined in one table: directions and undirected edges come out as ours."""
    both = np.zeros((8, 8), bool)
    both[:5, :5], both[5:, 5:] = GRAPH, FORK
    marks, seconds = run_apart(find_peer(name), linear(both), 120)
    np.testing.assert_array_equal(marks, essential_graph(both))
    assert seconds > 0


def test_lingam_finds_the_directions():
    dataset = linear(FORK, "random")
    marks, _ = run_apart(find_peer("DirectLiNGAM"), dataset, 120)
    assert (marks == ARROW).tolist() == FORK.tolist()
    np.testing.assert_array_equal(to_cpdag(marks), essential_graph(FORK))


def test_gies_uses_interventions():
    """A regime that sets 0 in a fork directs both edges; its last regime holds the same targets again."""
    dataset = linear(FORK, rows=3000)
    values = dataset.values.copy()
    values[1000:, 1:] -= values[1000:, :1]
    values[1000:, 0] = 3 * np.random.default_rng(2).standard_normal(2000)
    values[1000:, 1:] += values[1000:, :1]
    targets = np.array([[False] * 3, [True, False, False], [True, False, False]])
    interventional = Dataset(values, dataset.names, np.repeat([0, 1, 2], 1000), targets)
    marks, _ = run_apart(find_peer("GIES"), interventional, 120)
    assert (marks == ARROW).tolist() == FORK.tolist()


def test_marks_give_the_edges_back():
    generator = np.random.default_rng(0)
    for _ in range(20):
        adjacency = generator.random((6, 6)) < 0.3
        np.fill_diagonal(adjacency, False)
        marks = to_marks(adjacency)
        assert ((marks == ARROW) | ((marks == TAIL) & (marks.T == TAIL))).tolist() == adjacency.tolist()
        assert ((marks == 0) == (marks.T == 0)).all()


def test_only_free_rows_without_interventions_reach_the_others():
    dataset = linear(FORK, rows=1000)
    targets = np.array([[False] * 3, [True, False, False]])
    enough, few = (Dataset(dataset.values, dataset.names, np.repeat([0, 1], [free, 1000 - free]), targets) for free in (400, 50))
    assert len(peers._free_rows(enough)) == 400
    assert len(peers._free_rows(few)) == 1000


def test_a_late_peer_is_ended():
    with pytest.raises(TimeoutError, match=r"longer than 0.05 s"):
        run_apart(PEERS[0], linear(FORK), 0.05)


def test_a_failing_peer_says_why():
    unknown = Peer("nobody", "json", "nothing", lambda dataset: GRAPH)
    with pytest.raises(RuntimeError, match="it failed, StopIteration"):
        run_apart(unknown, linear(FORK), 120)


def test_what_is_not_installed_is_left_out_with_a_note():
    runs = PeerRuns(60, (Peer("absent", "no_such_package.inside", "no-such-package==1", lambda dataset: GRAPH),))
    assert runs.notes == ["absent is left out: it needs `pip install no-such-package==1`."]
    assert list(runs.run(linear(GRAPH), "row")) == []
    assert is_installed("json.decoder")
    assert not is_installed("json.no_such_module")


def test_who_is_late_once_leaves_its_row(monkeypatch):
    """The second data set is too much for "slow": it has no score in that cell, does not go on with the row, and begins again with the next."""
    started = []

    def run(peer: Peer, dataset: Dataset, limit: float) -> tuple[np.ndarray, float]:
        started.append((peer.name, len(dataset.values)))
        if peer.name == "slow" and len(dataset.values) == 301:
            raise TimeoutError("it took longer than 60 s for a data set.")
        return to_marks(dataset.adjacency), 1.5

    monkeypatch.setattr(peers, "run_apart", run)
    several = tuple(Peer(name, "json", "", lambda dataset: GRAPH, widest) for name, widest in (("quick", None), ("slow", None), ("narrow", 4)))
    runs = PeerRuns(60, several)
    cases = [Case(row, column, linear(GRAPH, rows=n)) for n, row, column in ((300, "a", "x"), (301, "a", "x"), (302, "a", "y"), (303, "b", "x"))]
    cells = measure(cases, peers=runs)
    assert [rows for name, rows in started if name == "quick"] == [300, 301, 302, 303]
    assert [rows for name, rows in started if name == "slow"] == [300, 301, 303]
    assert "narrow" not in dict(started)
    assert [np.isnan(cells[cell].mean("slow")) for cell in (("a", "x"), ("a", "y"), ("b", "x"))] == [True, True, False]
    scores = cells["a", "x"]
    assert [scores.mean("quick", metric) for metric in ("mAP", "CPDAG-SHD", "seconds")] == [1, 0, 1.5]
    assert len(scores.values["quick", "mAP"]) == 2
    assert runs.notes == [
        "narrow is not run on more than 4 variables.",
        "slow stopped at a: it took longer than 60 s for a data set.",
    ]
