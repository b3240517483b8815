"""The paper's collection: what is in it, that each set is what it says, and that its files do not depend on how they were made."""

import json
from collections import Counter

import numpy as np
import pytest

from seacausal.cli import main
from seacausal.data import Dataset
from seacausal.errors import DataError
from seacausal.io.layout import name_layout, read_layout
from seacausal.io.npz import write_dataset
from seacausal.io.table import read_table
from seacausal.simulate import paper
from seacausal.simulate.collection import SETTINGS, write_collection
from seacausal.simulate.paper import DENSITIES, TRAINED, UNSEEN, Model, Paper, list_models, settle, simulate_model


@pytest.fixture
def few(monkeypatch):
    """A collection of eight causal models of ten variables."""
    monkeypatch.setattr(paper, "SPLITS", {"train": 1, "test": 1})
    monkeypatch.setattr(paper, "TRAINED", ("linear", "nn"))
    monkeypatch.setattr(paper, "UNSEEN", {})
    monkeypatch.setattr(paper, "DENSITIES", (2,))
    return Paper(largest=10, rows=20)


def write(folder, chosen, **options):
    return write_collection(folder, list_models(chosen), settle(chosen), **options)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_are_as_many_as_in_the_paper():
    models = list_models(Paper())
    counts = Counter((model.folder.split("/")[0], model.mechanism in UNSEEN) for model in models)
    assert counts == {("train", False): 6480, ("validation", False): 360, ("test", False): 360, ("test", True): 600}
    assert len({(model.folder, model.number) for model in models}) == len(models)
    combinations = {(model.mechanism, model.simulation.graph, model.simulation.variables, model.simulation.edges) for model in models}
    assert len(combinations) == (len(TRAINED) + len(UNSEEN)) * 2 * 3 * len(DENSITIES)
    assert {model.simulation.graph for model in models if "scale-free" in model.folder} == {"scale-free-replaced"}  # the generator's own
    assert len(list_models(Paper(limit=2, largest=20))) == (3 * 3 + len(UNSEEN)) * 2 * 2 * 4 * 2


def test_both_tables_are_one_causal_model():
    for model in list_models(Paper(limit=1, largest=10))[::17]:
        observational, interventional = simulate_model(model)
        d, n = 10, 10_000
        assert observational.values.shape == interventional.values.shape == (n, d)
        assert not observational.interventional
        np.testing.assert_array_equal(observational.adjacency, interventional.adjacency)
        assert np.bincount(interventional.regime).tolist() == [910] + [909] * 10
        assert (interventional.targets.sum(1) == [0] + [1] * 10).all()
        for j in range(d):
            hit = interventional.values[interventional.targets[interventional.regime, j], j]
            assert abs(hit.mean()) < 4.5 / np.sqrt(909)
            assert hit.std() == pytest.approx(1, abs=0.11)
        # The observational rows of both have one law: graph, mechanisms and noise are shared.
        control = interventional.values[interventional.regime == 0]
        spread = observational.values.std(0)
        assert (np.abs(control.mean(0) - observational.values.mean(0)) < 5 * spread / np.sqrt(910)).all()
        roots = ~observational.adjacency.any(0)
        assert np.abs(observational.values[:, roots]).max() <= 1
        assert np.abs(observational.values[:, roots]).max() > 0.99


def test_text_and_program_differ_by_options():
    model = next(m for m in list_models(Paper(limit=1, largest=10, half_width=2.0, intervention="uniform")) if m.mechanism == "linear")
    observational, interventional = simulate_model(model)
    roots = ~observational.adjacency.any(0)
    assert 1.98 < np.abs(observational.values[:, roots]).max() <= 2
    hit = interventional.targets[interventional.regime]
    assert 0.99 < np.abs(interventional.values[hit]).max() <= 1


def test_names_seed_and_models_differ():
    graphs = {simulate_model(model)[0].adjacency.tobytes() for model in list_models(Paper(limit=3, largest=10, rows=2))[:60]}
    assert len(graphs) == 60


def test_files_depend_on_no_number_of_workers_and_runs_go_on(few, tmp_path):
    assert write(tmp_path / "one", few, workers=1) == (8, 0)
    told = []
    assert write(tmp_path / "three", few, workers=3, progress=lambda *at: told.append(at)) == (8, 0)
    assert told == [(i, 8) for i in range(1, 9)]
    whole = contents(tmp_path / "one")
    assert len(whole) == 8 * 5 + 1
    assert contents(tmp_path / "three") == whole
    assert write(tmp_path / "one", few) == (0, 8)
    folder = tmp_path / "three" / "train" / "nn_scale-free_10_20"
    (folder / "regimes1.csv").unlink()  # as after an interruption
    (tmp_path / "three" / "test" / "linear_erdos-renyi_10_20" / "data1.npy").unlink()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "one").rglob("*.npy")}
    assert write(tmp_path / "three", few, workers=2) == (2, 6)
    assert contents(tmp_path / "three") == whole
    assert times == {path: path.stat().st_mtime_ns for path in times}


def test_what_is_written_is_what_is_simulated(few, tmp_path):
    write(tmp_path, few)
    for model in list_models(few):
        assert {path.name for path in (tmp_path / model.folder).iterdir()} == set(name_layout(1))
        for written, interventional in zip(simulate_model(model), (False, True)):
            found = read_layout(tmp_path / model.folder, 1, interventional=interventional)
            np.testing.assert_array_equal(found.values, written.values)
            np.testing.assert_array_equal(found.targets[found.regime], written.targets[written.regime])
            np.testing.assert_array_equal(found.adjacency, written.adjacency)


def test_the_space_asked_for_is_what_the_files_take(few, tmp_path):
    write(tmp_path, few)
    size = sum(path.stat().st_size for path in tmp_path.rglob("DAG*")) + sum(path.stat().st_size for path in tmp_path.rglob("*1.csv"))
    size += sum(np.load(path).nbytes for path in tmp_path.rglob("data*.npy"))
    assert sum(model.size for model in list_models(few)) == pytest.approx(size, rel=0.1)


def test_a_failure_stops_and_leaves_no_half_set(few, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / SETTINGS).write_text(json.dumps(settle(few)))
    (tmp_path / "x" / "test").touch()  # a file where a folder must be
    with pytest.raises(DataError, match="The output folder must be writable"):
        write(tmp_path / "x", few)
    for folder in (tmp_path / "x").glob("train/*"):
        assert {path.name for path in folder.iterdir()} == set(name_layout(1))


def test_folders_of_other_settings_are_refused(few, tmp_path, monkeypatch):
    folder = tmp_path / "x"
    write(folder, few)
    before = contents(folder)
    with pytest.raises(DataError, match="must share their settings"):
        write(folder, Paper(largest=10, rows=21))
    (folder / SETTINGS).write_text("{")
    with pytest.raises(DataError, match="must be readable JSON"):
        write(folder, few)
    (folder / SETTINGS).unlink()
    with pytest.raises(DataError, match="must be empty or hold"):
        write(folder, few)
    del before[SETTINGS]
    assert contents(folder) == before
    monkeypatch.setattr(Model, "size", 1 << 60)
    with pytest.raises(DataError, match="GB free for what is to be written"):
        write(tmp_path / "new", few)
    with pytest.raises(DataError, match="`workers` must"):
        write(tmp_path / "new", few, workers=0)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"limit": 0}, "`limit` must"),
        ({"largest": 9}, "`largest` must"),
        ({"rows": 1}, "`rows` must"),
        ({"half_width": 0.0}, "`half_width` must"),
        ({"intervention": "shift"}, "`intervention` must"),
    ],
)
def test_impossible_collections_are_refused(fields, message):
    with pytest.raises(DataError, match=message):
        Paper(**fields)


def test_the_command(few, tmp_path, capsys):
    arguments = ["simulate", "--recipe", "paper", "--out", str(tmp_path / "x"), "--largest", "10", "--rows", "20", "--workers", "2"]
    assert main(arguments) == 0
    assert "8 causal models written, 0 were there" in capsys.readouterr().out
    assert main(arguments) == 0
    assert "0 causal models written, 8 were there" in capsys.readouterr().out
    table = tmp_path / "x" / "train" / "linear_erdos-renyi_10_20" / "data_interv1.npy"
    found = read_table(table)  # as `seacausal discover` reads it
    assert found.targets[found.regime].sum(0).tolist() == [18] * 10


def test_sortability_tells_what_gives_the_order_away(few, tmp_path, capsys):
    assert main(["sortability", "paper", "--largest", "10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| | sets | varsortability | standardised | R2-sortability | standardised |"
    cells = [line.strip("| ").split(" | ") for line in lines[2:]]
    assert [cell[0] for cell in cells] == ["linear", "nn"]
    assert all(cell[1] == "2" and cell[3] == "0.500" and cell[4] == cell[5] for cell in cells)
    assert all(float(cell[2]) > 0.6 for cell in cells)
    path = tmp_path / "t.npz"
    values = np.random.default_rng(0).standard_normal((100, 3)) * [1, 2, 3]
    write_dataset(path, Dataset.observational(values, adjacency=np.eye(3, k=1, dtype=bool)))
    assert main(["sortability", str(path)]) == 0
    assert "| t.npz | 1 | 1.000 | 0.500 |" in capsys.readouterr().out
    for adjacency, said in ((None, "must hold the true graph"), (np.zeros((3, 3), bool), "found none in t.npz")):
        write_dataset(path, Dataset.observational(values, adjacency=adjacency))
        assert main(["sortability", str(path)]) == 2
        assert said in capsys.readouterr().err
    assert main(["sortability", "paper", "--sets", "0"]) == 2
