"""What `seacausal bench` prints."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from seacausal.aggregate.network import released
from seacausal.bench import command, everyday, peers, suites
from seacausal.bench.peers import PeerRuns, to_marks
from seacausal.bench.published import PUBLISHED
from seacausal.bench.suites import CELLS, MECHANISMS, PEER_MECHANISMS
from seacausal.cli import parse
from seacausal.errors import CheckpointError, SeaError
from seacausal.graph.metrics import is_acyclic
from seacausal.io.npz import write_dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset


def read_tables(text: str) -> dict[str, dict[str, list[str]]]:
    """Title: first cell of a row: its other cells."""
    tables = {}
    for block in text.strip().split("\n\n"):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines() if line.startswith("|")]
        if lines:
            tables[lines[0][0]] = {"": lines[0][1:]} | {line[0]: line[1:] for line in lines[2:]}
    return tables


@pytest.fixture
def perfect_peers(monkeypatch):
    """Every peer is installed and answers the true graph."""
    monkeypatch.setattr(peers, "is_installed", lambda module: True)
    monkeypatch.setattr(peers, "run_apart", lambda peer, dataset, limit: (to_marks(dataset.adjacency), 0.25))


def test_peers_stand_beside_ours(monkeypatch, capsys, perfect_peers):
    monkeypatch.setattr(command, "PEER_CELLS", ((6, 6, 1),))
    command.run_bench(["peers"], parse)
    table = read_tables(capsys.readouterr().out)["N=6, E=6"]
    assert table[""][:3] == ["CPDAG-SHD linear", "CPDAG-SHD nn-additive", "CPDAG-SHD nn"]
    assert table["FLOP"] == ["0.0"] * 3 + ["1.000"] * 3 + ["0.25"]
    assert list(table)[1] == "seacausal"
    assert {"R2-sort", "VarSort", "correlation", "GIES", "GIES, twice the penalty", "BOSS", "DirectLiNGAM"} < set(table)
    assert table["R2-sort"][:3] == ["", "", ""]


def test_peers_join_the_external_table(capsys, perfect_peers, tmp_path):
    folder = tmp_path / "lingam"
    folder.mkdir()
    write_dataset(folder / "6vars_uniform.npz", simulate_dataset(Simulation(6, 8, observational_rows=300), generator=np.random.default_rng(0)))
    (tmp_path / "dcdi_generator").mkdir()
    command.run_bench(["external", "--peers", "--data", str(tmp_path)], parse)
    table = read_tables(capsys.readouterr().out)["set"]
    assert table[""][4] == "best peer"
    assert table["LiNGAM"][4] == "1.000 FLOP"
    assert dict(zip(table[""], table["LiNGAM"]))["BOSS"] == "1.000"
    command.run_bench(["external", "--data", str(tmp_path)], parse)
    assert "FLOP" not in capsys.readouterr().out


def test_notes_say_who_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(command, "PEER_CELLS", ((5, 5, 1),))
    monkeypatch.setattr(peers, "is_installed", lambda module: False)
    command.run_bench(["peers"], parse)
    out = capsys.readouterr().out
    assert "FLOP is left out: it needs `pip install flopsearch==0.3.0`." in out
    assert len(out.strip().split("\n\n")[-1].splitlines()) == len(PeerRuns(1).peers)


def test_independent_columns(monkeypatch, capsys):
    monkeypatch.setattr("seacausal.bench.independent.SIZES", ((4, 60),))
    command.run_bench(["independent", "--graphs", "2"], parse)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| joined pairs (expected edges) | Gaussian | uniform | log-normal | half binary |"
    cells = re.fullmatch(r"\| N=4, 60 rows" + r" \| ([\d.]+) \(([\d.]+)\)" * 4 + r" \|", lines[2]).groups()
    assert all(float(joined) <= 2 and 0 < float(expected) < 3 for joined, expected in zip(cells[::2], cells[1::2]))  # of six pairs


def test_instruments_show_the_same_sets(monkeypatch, capsys):
    monkeypatch.setattr(suites, "MEASURED", ("none", "units", "dropout"))
    monkeypatch.setattr(suites, "MISSING", ((0.05, "drop"), (0.2, "impute")))
    cases = list(suites.measured_cases(graphs=2))
    kinds = ("none", "units", "dropout", "missing 5%, drop", "missing 20%, impute")
    assert [(case.group, case.column) for case in cases[::2]] == [(kind, m) for kind in kinds for m in PEER_MECHANISMS]
    plain, units, lost, dropped, imputed = (cases[start : start + 6] for start in range(0, 30, 6))
    for one, other, third in zip(plain, dropped, imputed):
        assert 1 - len(other.dataset.values) / 2000 == other.dataset.dropped_rows / 2000 > 0.4
        assert 0.15 < third.dataset.imputed_cells / one.dataset.values.size < 0.22
        assert 0.78 < (third.dataset.values == one.dataset.values).mean() < 0.85
        assert (third.dataset.adjacency == one.dataset.adjacency).all()
    for one, other, third in zip(plain, units, lost):
        assert (one.dataset.adjacency == other.dataset.adjacency).all()
        assert (one.dataset.adjacency == third.dataset.adjacency).all()
        np.testing.assert_allclose(np.corrcoef(one.dataset.values.T), np.corrcoef(other.dataset.values.T), atol=1e-5)
        assert (third.dataset.values == 0).mean() > 0.02
    monkeypatch.setattr(command, "measured_cases", lambda graphs: [case for case in cases if case.column == "linear"][::2])
    monkeypatch.setattr(command, "PEER_MECHANISMS", ("linear",))
    command.run_bench(["measured"], parse)
    table = read_tables(capsys.readouterr().out)["mAP"]
    assert list(table) == ["", *kinds]
    assert float(table["none"][0]) > 0.9


def test_everyday_tables(monkeypatch, capsys):
    monkeypatch.setattr(everyday, "ROWS", (200,))
    cases = list(everyday.everyday_cases(graphs=2))
    assert [case.group for case in cases[::2]] == list(everyday.KINDS)
    for case in cases:
        d = len(case.dataset.names)
        assert 3 <= d <= 4
        assert is_acyclic(case.dataset.adjacency)
        values = sorted(len(np.unique(column)) for column in case.dataset.values.T)
        assert values[0] < 15
        assert values[-1] == 200
    command.run_bench(["everyday", "--graphs", "1"], parse)
    tables = read_tables(capsys.readouterr().out)
    assert tables["mAP"][""] == tables["log-loss"][""] == ["200 rows"]
    assert list(tables["mAP"]) == list(tables["log-loss"]) == ["", *everyday.KINDS]
    assert float(tables["mAP"]["dose of four levels"][0]) > 0.9
    assert 0 < float(tables["log-loss"]["dose of four levels"][0]) < 0.5


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["simulated"], {"SHD at 0.5 (SEA (FCI) as published)": "(1)", "SHD of CPDAGs (SEA (FCI) as published)": "(1.4)"}),
        (["interventional"], {"SHD at 0.5": None, "SHD of CPDAGs": None}),  # not in the paper at N=10
        (["simulated", "--standardised"], {"SHD at 0.5": None}),
    ],
    ids=["observational", "interventional", "standardised"],
)
def test_published_figures_stand_beside_the_same_cells_only(monkeypatch, capsys, options, expected):
    monkeypatch.setattr(command, "MECHANISMS", ("linear",))
    monkeypatch.setattr(command, "simulated_cases", lambda **kwargs: _one_graph(**kwargs))
    command.run_bench([*options, "--largest", "10", "--graphs", "1"], parse)
    tables = read_tables(capsys.readouterr().out)
    for title, bracket in expected.items():
        (cell,) = tables[title]["N=10, E=10"]
        assert cell.endswith(f" {bracket}") if bracket else "(" not in cell
        assert "(" not in tables[title]["N=10, E=40"][0]


def _one_graph(**kwargs):
    from seacausal.bench.suites import simulated_cases

    return simulated_cases(**kwargs, mechanisms=("linear",))


def test_published_figures_belong_to_cells_of_ours():
    groups = {f"N={d}, E={edges}" for d, edges, _ in CELLS}
    for cells in PUBLISHED.values():
        assert set(cells) <= groups
        assert all(set(row) <= set(MECHANISMS) for row in cells.values())


def test_identifiability_prints_oracles_and_ours(capsys):
    command.run_bench(["identifiability", "--graphs", "1"], parse)
    out = capsys.readouterr().out
    table = read_tables(out)[""]
    assert table[""] == ["mAP", "AUC", "SHD", "OA"]
    assert {"mean metric over the class", "metric of the mean graph", "seacausal", "seacausal without variances and orders"} < set(table)
    assert "Members of the class: " in out


def test_weights_by_name_or_path(tmp_path):
    copy = tmp_path / "other.onnx"
    for path in (released().path, released().tensors):
        shutil.copy(path, tmp_path / f"other{path.suffix}")
    assert command._load(str(copy)).path == copy
    assert command._load("base").sha256 == released().sha256
    for missing in ("no_such_weights", str(tmp_path / "none.onnx")):
        with pytest.raises(SeaError, match=Path(missing).stem):
            command._load(missing)


def test_the_weights_given_are_the_ones_judged(monkeypatch, capsys, tmp_path):
    """A network that is damaged stops the bench."""
    for kind in ("onnx", "safetensors"):
        (tmp_path / f"damaged.{kind}").write_bytes(b"no network")
    with pytest.raises(CheckpointError, match="damaged"):
        command.run_bench(["identifiability", "--graphs", "1", "--weights", str(tmp_path / "damaged.onnx")], parse)
    with pytest.raises(CheckpointError, match="damaged"):
        command.run_bench(["simulated", "--graphs", "1", "--largest", "10", "--weights", str(tmp_path / "damaged.onnx")], parse)


def test_the_sets_of_a_recipe_are_judged(capsys, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        '[[sets]]\nname = "wide"\nvariables = 9\nedges = 9\n[[sets]]\nname = "few"\nvariables = 5\nedges = 4\ntargets = 2\nregime_rows = 9\n'
    )
    command.run_bench(["recipe", "--recipe", str(recipe)], parse)
    table = read_tables(capsys.readouterr().out)["set"]
    assert list(table)[1:] == ["few, interventional", "wide, observational"]
    recipe.write_text("[domain]\nexpression = 0.0\ncells = 2000\n[[sizes]]\nsmallest = 3\nlargest = 6\nbatch = 4\nshare = 1.0\n")
    command.run_bench(["recipe", "--recipe", str(recipe), "--graphs", "12"], parse)
    table = read_tables(capsys.readouterr().out)["set"]
    assert set(table) == {"", "N=3 to 6, observational", "N=3 to 6, interventional"}
    assert sum(int(row[-1]) for name, row in table.items() if name) == 12
