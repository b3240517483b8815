"""Connected parts of a known network."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seacausal.errors import DataError
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.networks import read_network, sample_subgraph


def test_edge_lists_in_several_dialects(tmp_path):
    path = tmp_path / "net.tsv"
    expected = np.zeros((3, 3), bool)
    expected[[0, 1, 0], [1, 2, 2]] = True
    for text in (
        "a\tb\nb\tc\na\tc\n",
        "# curated\na,b,+\n\nb,c,-\na,c,+\na,b,+\n",
        "a b 0.5\nb c 0.1\na c 0.2\nc c 1\n",
        '\ufeff"a";"b"\r\n"b";"c"\r\n"a";"c"',
    ):
        path.write_text(text, encoding="utf-8")
        assert np.array_equal(read_network(path), expected)
    np.savez(tmp_path / "net.npz", A=expected * 2)
    assert np.array_equal(read_network(tmp_path / "net.npz"), expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nlonely\n", "must hold a cause and an effect; found 'lonely' in line 2"),
        (b"a,b\n,c\n", "found ',c' in line 2"),
        (b"a,a\n", "must have at least one edge"),
        (b"# nothing\n", "must have at least one edge"),
        (b"a,b\n\xff\xfe,c\n", "must be text in UTF-8"),
        (b"", "must not be empty"),
    ],
)
def test_what_is_no_edge_list_is_refused(tmp_path, content, message):
    path = tmp_path / "net.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_network(path)


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "net.npz"
    path.write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match=r"must be an \.npz archive with a matrix 'A'"):
        read_network(path)
    np.savez(path, A=np.ones((2, 3)))
    with pytest.raises(DataError, match=r"must be a square matrix; found shape \(2, 3\)"):
        read_network(path)
    with pytest.raises(DataError, match="must exist"):
        read_network(tmp_path / "none.csv")


@settings(max_examples=80, deadline=None)
@given(size=st.integers(1, 25), density=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_parts_are_connected_and_acyclic(size, density, seed):
    generator = np.random.default_rng(seed)
    network = generator.random((size, size)) < density * 0.2
    np.fill_diagonal(network, False)
    whole = nx.from_numpy_array(network, create_using=nx.DiGraph)
    largest = max(map(len, nx.weakly_connected_components(whole)))
    for variables in {1, (largest + 1) // 2, largest}:
        part = sample_subgraph(network, variables, generator=generator)
        assert part.shape == (variables, variables)
        graph = nx.from_numpy_array(part, create_using=nx.DiGraph)
        assert nx.is_directed_acyclic_graph(graph)
        assert nx.is_weakly_connected(graph)
    with pytest.raises(DataError, match=f"at least {largest + 1} variables; the largest has {largest}"):
        sample_subgraph(network, largest + 1, generator=generator)


def test_parts_are_induced_and_lose_only_edges_of_cycles():
    generator = np.random.default_rng(0)
    chain = np.eye(9, k=1, dtype=bool)
    for _ in range(20):
        part = sample_subgraph(chain, 4, generator=generator)  # four in a row
        assert part.sum() == 3
        assert part.sum(0).max() == part.sum(1).max() == 1
    ring = np.roll(np.eye(5, dtype=bool), 1, axis=1)
    assert {int(sample_subgraph(ring, 5, generator=generator).sum()) for _ in range(20)} == {4}
    both = np.ones((4, 4), bool)
    assert {int(sample_subgraph(both, 4, generator=generator).sum()) for _ in range(20)} == {6}


def test_data_sets_from_a_network(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("".join(f"r{i % 3},t{i}\n" for i in range(30)) + "r0,r1\nr1,r2\nr2,r0\n")
    simulation = Simulation(variables=12, network=str(path), observational_rows=50)
    first, again = (simulate_dataset(simulation, generator=np.random.default_rng(1)) for _ in range(2))
    assert first.adjacency.tobytes() == again.adjacency.tobytes()
    assert nx.is_weakly_connected(nx.from_numpy_array(first.adjacency, create_using=nx.DiGraph))
    assert 1 <= first.adjacency.any(1).sum() <= 3  # the regulators
    with pytest.raises(DataError, match="at least 40 variables; the largest has 33"):
        simulate_dataset(Simulation(variables=40, network=str(path)), generator=np.random.default_rng(1))
