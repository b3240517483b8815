import csv
import hashlib
import json
import subprocess
import sys
import time

import networkx
import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from seacausal.aggregate.adapter import FORMAT, hash_weights
from seacausal.aggregate.network import released
from seacausal.cli import main


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, 400)
    b = a + 0.4 * rng.standard_normal(400)
    return pd.DataFrame({"a": a, "b": b, "c": rng.standard_normal(400), "d": b**2 + 0.3 * rng.standard_normal(400), "who": ""})


@pytest.fixture
def table(frame, tmp_path):
    """Writes a frame as CSV and gives the path; discovery writes below the same folder."""

    def write(changed=None, name="table.csv"):
        path = tmp_path / name
        (frame.drop(columns="who") if changed is None else changed).to_csv(path, index=False)
        return path

    return write


def run(*arguments):
    return main([str(a) for a in arguments])


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fails(capsys, tmp_path, *arguments):
    """Status 2, one message on standard error, nothing on standard output and nothing written; returns the message."""
    before = set(tmp_path.rglob("*"))
    try:
        status = run("discover", *arguments, "--out", tmp_path / "result")
    except SystemExit as stop:
        status = stop.code
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert set(tmp_path.rglob("*")) == before
    return captured.err


def test_discover_writes_and_prints(table, tmp_path, capsys):
    assert run("discover", table(), "--out", tmp_path / "new" / "result") == 0
    out = capsys.readouterr().out
    assert "400 rows, 4 variables." in out
    assert "cause  effect  probability" in out
    assert "Seconds: read" in out
    written = sorted(path.name for path in (tmp_path / "new" / "result").iterdir())
    assert written == ["edges.csv", "graph.graphml", "graph.html", "graph.png", "result.json"]
    assert (tmp_path / "new" / "result" / "graph.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_alone_and_agrees_with_the_files(table, tmp_path, capsys):
    assert run("discover", table(), "--out", tmp_path / "r", "--json", "--threshold", "0.3") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    answer = json.loads(captured.out)
    assert answer["configuration"]["threshold"] == 0.3
    rows = read_rows(tmp_path / "r" / "edges.csv")
    assert len(rows) == 6
    assert all(abs(sum(float(row[key]) for key in ("p_direct", "p_reverse", "p_absent")) - 1) < 1e-6 for row in rows)
    graph = networkx.read_graphml(tmp_path / "r" / "graph.graphml")
    names = networkx.get_node_attributes(graph, "name")
    assert {(names[i], names[j]) for i, j in graph.edges} == {(e["cause"], e["effect"]) for e in answer["edges"]}
    assert all(e["probability"] > 0.3 for e in answer["edges"])
    joined = {frozenset((row["source"], row["target"])) for row in rows if float(row["p_absent"]) < 0.7}
    assert joined == {frozenset((e["cause"], e["effect"])) for e in answer["edges"]} | {frozenset(list(u.values())[:2]) for u in answer["undecided"]}


def test_what_is_joined_in_an_open_direction_is_printed(tmp_path, capsys):
    generator = np.random.default_rng(0)
    one = generator.standard_normal(2000)
    np.savetxt(tmp_path / "t.csv", np.column_stack([one, one + generator.standard_normal(2000)]), delimiter=",", header="dose,answer", comments="")
    assert run("discover", tmp_path / "t.csv", "--out", tmp_path / "r", "--threshold", "0.9", "--no-scale") == 0
    out = capsys.readouterr().out
    assert "No edge is more probable than 0.9.\nJoined with a probability above 0.9, in a direction that these data leave open:\n" in out
    assert "cause" not in out


def test_the_same_seed_writes_the_same_bytes(table, tmp_path, capsys):
    path = table()
    for folder in ("one", "two"):
        assert run("discover", path, "--out", tmp_path / folder, "--seed", "4", "--json") == 0
    capsys.readouterr()
    for first in (tmp_path / "one").iterdir():
        assert first.read_bytes() == (tmp_path / "two" / first.name).read_bytes(), first.name


def test_interventions_column(frame, table, tmp_path, capsys):
    frame.loc[:99, "who"] = "b"
    frame.loc[100:149, "who"] = "b,c"
    assert run("discover", table(frame), "--out", tmp_path / "r", "--interventions", "who") == 0
    assert "150 rows with interventions on 2 variables" in capsys.readouterr().out


def test_strange_names_survive(frame, table, tmp_path, capsys):
    names = {"a": 'comma, "quote"', "b": "späce Ω", "c": "<&>'", "d": "$x_1$ [bold]"}
    assert run("discover", table(frame.drop(columns="who").rename(columns=names)), "--out", tmp_path / "r", "--threshold", "0.05") == 0
    assert "[bold]" in capsys.readouterr().out
    rows = read_rows(tmp_path / "r" / "edges.csv")
    assert {row["source"] for row in rows} | {row["target"] for row in rows} == set(names.values())
    graph = networkx.read_graphml(tmp_path / "r" / "graph.graphml")
    assert set(networkx.get_node_attributes(graph, "name").values()) == set(names.values())


def test_constant_and_copied_columns_are_named(frame, table, tmp_path, capsys):
    changed = frame.drop(columns="who").assign(flat=1.0, copy=frame["a"])
    assert run("discover", table(changed), "--out", tmp_path / "r") == 0
    out = capsys.readouterr().out
    assert "left without edges: flat." in out
    assert "Columns that repeat another: copy = a." in out


def test_missing_rows_are_dropped_on_request(frame, table, tmp_path, capsys):
    changed = frame.drop(columns="who")
    changed.loc[3, "b"] = np.nan
    path = table(changed)
    message = fails(capsys, tmp_path, path)
    assert "'b'" in message
    assert "row 4" in message
    assert run("discover", path, "--out", tmp_path / "r", "--missing", "drop") == 0
    assert "Dropped 1 row with" in capsys.readouterr().out
    assert json.loads((tmp_path / "r" / "result.json").read_text())["data"]["dropped rows"] == 1
    changed.loc[4] = np.nan
    assert run("discover", table(changed), "--out", tmp_path / "r", "--missing", "impute") == 0
    rows, columns = changed.shape
    out = capsys.readouterr().out
    assert "Dropped 1 row without values." in out
    assert f"Imputed 1 of {(rows - 1) * columns:,} values, for which {rows - 1:,} rows count as " in out
    assert json.loads((tmp_path / "r" / "result.json").read_text())["data"]["imputed cells"] == 1


def test_columns_that_are_no_variables_and_rows_that_are_not_meant(frame, table, tmp_path, capsys):
    changed = frame.assign(who=["sham", "b", "", "gene"] * (len(frame) // 4), id=[f"s{i}" for i in range(len(frame))])
    options = ["--interventions", "who", "--control", "sham", "--other-targets", "drop", "--ignore", "id", "c"]
    assert run("discover", table(changed), *options, "--out", tmp_path / "r") == 0
    out = capsys.readouterr().out
    assert f"{len(frame) * 3 // 4:,} rows, 3 variables, {len(frame) // 4} rows with interventions on 1 variable." in out
    assert f"Left out {len(frame) // 4} rows of interventions on what is no column: gene ({len(frame) // 4})." in out
    told = json.loads((tmp_path / "r" / "result.json").read_text())["data"]["reading"]
    assert told.pop("ignore") == ["id", "c"]
    assert told == {"file": "table.csv", "interventions": "who", "control": ["sham"], "other_targets": "drop", "missing": "error"}
    assert run("discover", table(changed), "--ignore", "id", "--ignore", "c", "--out", tmp_path / "s") == 2
    assert "--ignore must be given once" in capsys.readouterr().err


def test_config_file_lies_between_defaults_and_flags(table, tmp_path, capsys):
    config = tmp_path / "run.toml"
    config.write_text('threshold = 0.2\nseed = 9\nscale = false\nmissing = "drop"\n')
    assert run("discover", table(), "--config", config, "--seed", "5", "--out", tmp_path / "r", "--json") == 0
    found = json.loads(capsys.readouterr().out)["configuration"]
    assert (found["threshold"], found["seed"], found["scale"]) == (0.2, 5, False)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("treshold = 0.2\n", "found 'treshold'"),
        ("threshold = = 1\n", "must be TOML"),
        ('threshold = "high"\n', "threshold"),
        ("columns = []\n", "must hold something; found nothing for 'columns'"),
        ('interventions = "-dose"\n', "found '-dose', which is none"),
        ('ignore = ["-dose"]\n', "found '-dose'"),
        ('ignore = ["a", "-dose"]\n', "must not begin with a dash; found '-dose'"),
        (None, "must be a readable file"),
    ],
)
def test_bad_config_files(table, tmp_path, capsys, content, words):
    config = tmp_path / "run.toml"
    if content is not None:
        config.write_text(content)
    assert words in fails(capsys, tmp_path, table(), "--config", config)


def test_an_interrupt_ends_with_a_line():
    code = (
        "import sys, seacausal.cli, seacausal.__main__; sys.argv = ['seacausal', 'algorithms']\n"
        "def main(): raise KeyboardInterrupt\nseacausal.cli.main = main; seacausal.__main__.run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "seacausal: interrupted\n")


def test_bad_tables_end_with_status_two(frame, table, tmp_path, capsys):
    plain = frame.drop(columns="who")
    assert "none.csv" in fails(capsys, tmp_path, tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    assert "empty" in fails(capsys, tmp_path, tmp_path / "empty.csv")
    assert "at least 2" in fails(capsys, tmp_path, table(plain[["a"]]))
    assert "at least 30 rows; found 29" in fails(capsys, tmp_path, table(plain[:29]))
    typo = plain.astype(object)
    typo.loc[16, "b"] = "1.2.3"
    message = fails(capsys, tmp_path, table(typo))
    assert all(words in message for words in ("'b'", "'1.2.3'", "row 17", "line 18"))
    infinite = plain.copy()
    infinite.loc[7, "c"] = np.inf
    message = fails(capsys, tmp_path, table(infinite))
    assert "'c'" in message
    assert "row 8" in message
    assert "'a'" in fails(capsys, tmp_path, table(plain.set_axis(["a", "a", "b", "c"], axis=1)))
    frame.loc[4, "who"] = "bb"
    message = fails(capsys, tmp_path, table(frame), "--interventions", "who")
    assert "'bb'" in message
    assert "row 5" in message
    assert "'whom'" in fails(capsys, tmp_path, table(frame), "--interventions", "whom")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
    assert "t.parquet" in fails(capsys, tmp_path, tmp_path / "t.parquet")


def test_an_output_folder_that_cannot_be_written(table, tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    assert run("discover", table(), "--out", tmp_path / "taken") == 2
    assert "must be a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["discover"], ["discover", "x.csv", "--nonsense"], ["nonsense"], [], ["discover", "x.csv", "--threshold", "2"]]
)
def test_bad_usage_is_status_two(arguments, capsys):
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    captured = capsys.readouterr()
    assert captured.out + captured.err


def test_simulate_then_discover(tmp_path, capsys):
    path = tmp_path / "sim.npz"
    simulated = ["--variables", "6", "--edges", "6", "--mechanisms", "nn", "--targets", "6", "--regime-rows", "50", "--seed", "3"]
    assert run("simulate", path, *simulated) == 0
    first = path.read_bytes()
    assert run("simulate", path, *simulated) == 0
    assert path.read_bytes() == first
    assert "1,300 rows, 6 variables" in capsys.readouterr().out
    assert run("discover", path, "--out", tmp_path / "r") == 0
    assert "300 rows with interventions on 6 variables" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        run("simulate", tmp_path / "s.npz", "--variables", "1")
    assert "`variables` must be at least 2" in capsys.readouterr().err
    assert run("simulate", tmp_path / "s.csv") == 2
    assert run("simulate", tmp_path / "s.npz", "--show", tmp_path / "s.pdf") == 2
    assert not (tmp_path / "s.npz").exists()


def test_simulate_shows_what_it_drew(tmp_path, capsys):
    options = ["--graph", "regulatory", "--mechanisms", "tree", "saturating", "--measurement", "missing", "--targets", "4", "--regime-rows", "30"]
    options += ["--targets-per-regime", "2", "--regime-spread", "3", "--off-target", "0.5", "--intervention", "imperfect"]
    assert run("simulate", tmp_path / "s.npz", *options, "--show", tmp_path / "new" / "s.png") == 0
    picture = (tmp_path / "new" / "s.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000
    assert run("simulate", tmp_path / "t.npz", *options, "--show", tmp_path / "t.png") == 0
    assert (tmp_path / "t.png").read_bytes() == picture
    capsys.readouterr()
    assert run("discover", tmp_path / "s.npz", "--missing", "drop", "--out", tmp_path / "r") == 0
    assert "rows with missing or infinite values" in capsys.readouterr().out


def test_train_and_export(tmp_path, capsys):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("workers = 1\n[model]\nwidth = 16\nheads = 2\nblocks = 1\n[[sizes]]\nsmallest = 5\nlargest = 6\nbatch = 2\nshare = 1.0\n")
    assert run("train", tmp_path / "run", "--recipe", recipe, "--steps", "2") == 0
    assert run("train", tmp_path / "run", "--recipe", recipe, "--steps", "3", "--resume") == 0
    assert run("export", tmp_path / "run" / "last.safetensors", "--out", tmp_path / "w", "--name", "tiny") == 0
    assert sorted(path.name for path in (tmp_path / "w").iterdir()) == ["tiny.onnx", "tiny.safetensors"]
    assert run("train", tmp_path / "run", "--recipe", recipe) == 2
    assert "must not hold a run already" in capsys.readouterr().err
    assert run("export", tmp_path / "none.safetensors") == 2


def test_finetune_then_discover(frame, table, tmp_path, capsys):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("workers = 1\n[domain]\ncells = 3000\n[[sizes]]\nsmallest = 5\nlargest = 6\nbatch = 2\nshare = 1.0\n")
    options = [tmp_path / "run", "--estimator", "pc", "--statistic", "spearman", "--recipe", recipe]
    assert run("finetune", *options, "--steps", "1") == 0
    assert run("finetune", *options, "--steps", "2", "--resume") == 0
    adapter = tmp_path / "run" / "adapter.safetensors"
    assert capsys.readouterr().out == f"{adapter}\n" * 2
    path = table(frame.drop(columns="who").assign(e=frame["a"] ** 3))
    assert run("discover", path, "--adapter", adapter, "--out", tmp_path / "r") == 0
    saved = json.loads((tmp_path / "r" / "result.json").read_text())
    assert saved["adapter sha256"] == hashlib.sha256(adapter.read_bytes()).hexdigest()
    assert (saved["configuration"]["algorithm"], saved["configuration"]["statistic"]) == ("pc", "spearman")
    for arguments, words in (
        ([tmp_path / "x", "--rank", "0"], "--rank must be at least 1; found 0"),
        ([tmp_path / "x", "--estimator", "oracle"], "found 'oracle'"),
        ([tmp_path / "x", "--from", tmp_path / "none"], "must be a readable safetensors file"),
        ([tmp_path / "run", "--rank", "3", "--resume", "--recipe", recipe], "must be a run of"),
    ):
        assert run("finetune", *arguments) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    assert "must be an adapter" in fails(capsys, tmp_path, path, "--adapter", tmp_path / "run" / "last.safetensors")


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "seacausal", *map(str, arguments)], capture_output=True, text=True, check=False)


def test_the_demo_runs_as_a_command(tmp_path):
    done = command("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "7,466 rows, 11 variables, 5,711 rows with interventions on 6 variables." in done.stdout
    assert "consensus" in done.stdout
    assert (tmp_path / "demo" / "graph.png").stat().st_size > 20_000


def test_help_and_version_load_nothing_heavy():
    heavy = "numba,torch,onnxruntime,matplotlib,polars,pandas"
    check = f"import sys, seacausal.cli as c; c.main(['--help']); c.main(['--version']); print([m for m in '{heavy}'.split(',') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith("usage: seacausal")
    assert done.stdout.splitlines()[-1] == "[]"


def test_simulating_tables_compiles_nothing(tmp_path):
    heavy = "numba,torch,onnxruntime,matplotlib,polars,pandas"
    check = (
        "import sys, seacausal.cli as c\n"
        f"c.main(['simulate', {str(tmp_path / 's.npz')!r}])\nprint([m for m in '{heavy}'.split(',') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def write_adapter(path):
    """One of the released weights, a little larger."""
    weights = load_file(released().tensors)
    header = {"weights": hash_weights(weights), "algorithm": "pc", "statistic": "spearman"}
    save_file({"read.0.weight": 1.1 * weights["read.0.weight"]}, path, metadata={"format": FORMAT, "header": json.dumps(header)})
    return path


@pytest.mark.parametrize("adapted", [False, True])
def test_torch_is_not_needed_to_discover(table, tmp_path, adapted):
    options = ["--adapter", str(write_adapter(tmp_path / "adapter.safetensors"))] if adapted else []
    check = (
        "import sys\nfrom seacausal.cli import main\n"
        f"status = main(['discover', {str(table())!r}, '--out', {str(tmp_path / 'r')!r}, *{options!r}])\n"
        "sys.exit(status or any(m in sys.modules for m in ('torch', 'onnx', 'safetensors', 'scipy.stats')))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_algorithms_and_samplers_are_listed(capsys):
    assert run("algorithms") == 0
    out = capsys.readouterr().out
    assert all(line in out for line in ("fci           PAG", "gies          CPDAG   used", "uncertainty  variables, predict"))
    assert run("algorithms", "--all") == 2


def test_it_says_where_an_algorithm_had_no_part(table, tmp_path, capsys):
    path = table(pd.DataFrame(np.random.default_rng(0).standard_normal((60, 4)), columns=list("abcd")))
    assert run("discover", path, "--out", tmp_path / "r", "--algorithm", "ges") == 0
    assert "the algorithm 'ges' had no part" in capsys.readouterr().out


def test_the_program_finds_scipy_in_the_process_of_the_command(table, tmp_path):
    path = table(pd.DataFrame(np.random.default_rng(0).standard_normal((60, 6)), columns=list("abcdef")))
    options = ["--sampler", "program", "--algorithm", "ges", "--subsets", "3", "--out", str(tmp_path / "r")]
    done = subprocess.run([sys.executable, "-m", "seacausal", "discover", str(path), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r" / "result.json").read_text())["configuration"]["algorithm"] == "ges"


@pytest.mark.parametrize("aggregator", ["base", "vote", "resolve"])
def test_the_aggregator_is_chosen_and_named(frame, table, tmp_path, aggregator):
    """In a process of its own: only the network loads onnxruntime, and only its hash is saved."""
    path = table(frame.drop(columns="who").assign(e=frame["a"] ** 3))
    check = (
        "import sys\nfrom seacausal.cli import main\n"
        f"status = main(['discover', {str(path)!r}, '--out', {str(tmp_path / 'r')!r}, '--aggregator', {aggregator!r}, '--json'])\n"
        "sys.exit(status or 10 + ('onnxruntime' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 10 + (aggregator == "base"), done.stderr
    saved = json.loads((tmp_path / "r" / "result.json").read_text())
    assert saved["configuration"]["aggregator"] == aggregator == json.loads(done.stdout)["configuration"]["aggregator"]
    assert ("weights sha256" in saved) == ("onnxruntime" in saved["versions"]) == (aggregator == "base")
    assert len(read_rows(tmp_path / "r" / "edges.csv")) == 10


def test_the_aggregator_in_a_config_file(frame, table, tmp_path, capsys):
    path = table(frame.drop(columns="who").assign(e=frame["a"] ** 3))
    config = tmp_path / "run.toml"
    config.write_text('aggregator = "resolve"\nthreshold = 0.4\n')
    assert run("discover", path, "--config", config, "--out", tmp_path / "r", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["configuration"]["aggregator"] == "resolve"
    assert {edge["probability"] for edge in answer["edges"]} <= {0.5, 1.0}


def test_bad_aggregators(frame, table, tmp_path, capsys):
    assert "aggregator" in fails(capsys, tmp_path, table(), "--aggregator", "tiny")
    assert "five columns that vary; found 4" in fails(capsys, tmp_path, table(), "--aggregator", "vote")


def test_training_without_torch_says_what_to_install(tmp_path):
    check = (
        "import sys\nfrom seacausal.cli import main\n"
        "class Absent:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError('no torch', name='torch')\n"
        f"sys.meta_path.insert(0, Absent()); sys.exit(main(['train', {str(tmp_path / 'r')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'pip install "seacausal[train]"' in done.stderr


def test_progress_shows_after_a_second(capsys):
    from seacausal.cli import Progress

    with Progress(3) as progress:
        progress("reading")
        time.sleep(1.3)
        progress("estimating")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "reading ...\nestimating ...\n"


def test_a_module_in_the_working_folder_is_not_run(table, tmp_path):
    path = table()
    for name in ("pickle", "matplotlib", "numpy"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\n")
    entry = "from seacausal.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", entry, "discover", path, "--out", "r"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


def test_standard_output_that_cannot_be_written(table, tmp_path):
    run_in_shell = f"{sys.executable} -m seacausal discover {table()} --out {tmp_path / 'r'}"
    full = subprocess.run(f"{run_in_shell} >/dev/full", shell=True, capture_output=True, text=True, check=False)
    assert full.returncode == 2
    assert "standard output must be writable" in full.stderr
    closed = subprocess.run(f"{run_in_shell} >&-", shell=True, capture_output=True, text=True, check=False)
    assert closed.returncode == 0
    assert "seacausal:" not in closed.stderr  # what it is doing may be said, where it takes long
    gone = subprocess.run(f"{run_in_shell} | true", shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in gone.stderr


def test_names_beyond_the_terminals_encoding(frame, table, tmp_path):
    path = table(frame.drop(columns="who").rename(columns={"a": "α"}))
    environment = {"PATH": "/usr/bin", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "seacausal", "discover", str(path), "--out", str(tmp_path / "r")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\\u03b1" in done.stdout


def test_no_edge_may_be_printed(table, tmp_path, capsys):
    assert run("discover", table(), "--top", "0", "--threshold", "0.01", "--out", tmp_path / "r") == 0
    assert run("discover", table(), "--top", "0", "--threshold", "0.7", "--out", tmp_path / "r") == 0
    assert "--top shows more" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--config", "a.toml", "--config", "b.toml"], "must be given once"),
        (["--top", "-1"], "--top must not be negative"),
        (["--columns"], "must name the columns that are variables; found none"),
        (["--out", "x" * 300], "must be writable"),
        (["--out", "~nobody-of-that-name/x"], "known home"),
    ],
)
def test_bad_options(table, capsys, arguments, words):
    assert run("discover", table(), *arguments) == 2
    assert words in capsys.readouterr().err
