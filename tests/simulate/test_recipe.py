"""Recipes: what they may say, what is written, and what is refused before anything is."""

import numpy as np
import pytest

from seacausal.cli import main
from seacausal.errors import DataError
from seacausal.io.npz import read_datasets
from seacausal.simulate.dataset import CHOICES
from seacausal.simulate.expression import Expression
from seacausal.simulate.recipe import read_recipe

SEVERAL = """
seed = 4
[[sets]]
name = "linear"
count = 2
variables = 6
edges = 7
mechanisms = ["linear"]
observational_rows = 60
weights = [1, 2]
[[sets]]
name = "cells"
kind = "expression"
variables = 5
edges = 4
cells = 40
targets = 5
regime_cells = 8
technical = { dropout = 60, library_law = [5, 0.2] }
"""


@pytest.fixture
def recipe(tmp_path):
    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def run(*arguments):
    """The exit status, whichever way it comes."""
    try:
        return main([str(a) for a in arguments])
    except SystemExit as stop:
        return stop.code


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_set_of_a_recipe_is_written(recipe, tmp_path, capsys):
    path = recipe(SEVERAL)
    assert run("simulate", "--recipe", path, "--out", tmp_path / "one") == 0
    assert "3 data sets written, 0 were there" in capsys.readouterr().out
    assert sorted(contents(tmp_path / "one")) == ["cells_1.npz", "collection.json", "linear_1.npz", "linear_2.npz"]
    first, second = (read_datasets(tmp_path / "one" / f"linear_{i}.npz")[0] for i in (1, 2))
    assert first.values.shape == second.values.shape == (60, 6)
    assert first.values.tobytes() != second.values.tobytes()
    cells = read_datasets(tmp_path / "one" / "cells_1.npz")[0]
    assert cells.values.shape == (80, 5)
    assert cells.names == ("G1", "G2", "G3", "G4", "G5")
    assert cells.targets[cells.regime].sum(0).tolist() == [8] * 5
    assert cells.adjacency.any()


def test_sets_stay_the_same_for_any_workers_and_where_the_recipe_grows(recipe, tmp_path, capsys):
    path = recipe(SEVERAL)
    assert run("simulate", f"--recipe={path}", "--out", tmp_path / "one") == 0
    whole = contents(tmp_path / "one")
    assert run("simulate", "--recipe", path, "--out", tmp_path / "two", "--workers", "2") == 0
    assert contents(tmp_path / "two") == whole
    (tmp_path / "one" / "linear_1.npz").unlink()
    recipe(SEVERAL.replace("count = 2", "count = 3"))
    assert run("simulate", "--recipe", path, "--out", tmp_path / "one") == 0
    assert "2 data sets written, 2 were there" in capsys.readouterr().out
    grown = contents(tmp_path / "one")
    assert {name: grown[name] for name in whole} == whole
    assert len(grown) == len(whole) + 1
    assert read_recipe(path)[0].simulate().values.tobytes() == read_datasets(tmp_path / "one" / "linear_1.npz")[0].values.astype(np.float32).tobytes()
    recipe(SEVERAL.replace("edges = 7", "edges = 8"))
    assert run("simulate", "--recipe", path, "--out", tmp_path / "one") == 2
    assert "must share their settings" in capsys.readouterr().err
    assert contents(tmp_path / "one") == grown


def test_one_set_needs_no_table(recipe, tmp_path):
    members = read_recipe(recipe('kind = "expression"\nvariables = 4\nedges = 2\nseed = 9\ncount = 3\n', "few.toml"))
    assert [member.files for member in members] == [("few_1.npz",), ("few_2.npz",), ("few_3.npz",)]
    assert members[0].specification == Expression(variables=4, edges=2)
    assert len({member.simulate().values.tobytes() for member in members}) == 3
    other = read_recipe(recipe('kind = "expression"\nvariables = 4\nedges = 2\nseed = 8\n', "few.toml"))
    assert other[0].simulate().values.tobytes() != members[0].simulate().values.tobytes()


def test_the_size_is_that_of_the_file(recipe, tmp_path):
    path = recipe(SEVERAL.replace("observational_rows = 60", "observational_rows = 6000"))
    run("simulate", "--recipe", path, "--out", tmp_path / "x")
    for member in read_recipe(path):
        assert member.size == pytest.approx((tmp_path / "x" / member.files[0]).stat().st_size, rel=0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edgs = 3", r"Keys of 'mine.toml: set 1' must be options; found 'edgs'. Did you mean 'edges'\?"),
        ("[[sets]]\nname = 'a'\ntechnical = 1", "found 'technical'"),
        ("[[sets]]\nname = 'a'\nkind = 'expression'\ntechnical = { dropuot = 1 }", "technical' must be options; found 'dropuot'"),
        ("[[sets]]\nname = 'a'\nkind = 'expression'\ntechnical = 3", "'technical' of .* must be a table; found 3"),
        ("edges = 3\n[[sets]]\nname = 'a'", "beside .* must be seed; found 'edges'"),
        ("[[sets]]\nedges = 3", "'name' of 'mine.toml: set 1' must be letters"),
        ("[[sets]]\nname = '../a'", "'name' of 'mine.toml: set 1' must be letters"),
        ("[[sets]]\nname = 'a'\n[[sets]]\nname = 'a'", "distinct; found 'a' twice"),
        ("sets = []", "'sets' of 'mine.toml' must be tables"),
        ("count = 0", "'count' of .* must be a whole number of at least 1; found 0"),
        ("seed = -1", "'seed' of .* must be a whole number of at least 0; found -1"),
        ("seed = true", "'seed' of .* must be a whole number"),
        ("kind = 'cells'", "'kind' of .* must be one of structural, expression; found 'cells'"),
        ("variables = 'ten'", "'variables' of .* must be a whole number; found 'ten'"),
        ("variables = 10.0", "'variables' of .* must be a whole number; found 10.0"),
        ("edges = true", "'edges' of .* must be a number; found True"),
        ("rescaled = 1", "'rescaled' of .* must be true or false; found 1"),
        ("graph = 3", "'graph' of .* must be text; found 3"),
        ("weights = [1, 2, 3]", r"'weights' of .* must be a list, each a number, of 2; found \[1, 2, 3\]"),
        ("mechanisms = 'linear'", "'mechanisms' of .* must be a list, each text; found 'linear'"),
        ("mechanisms = ['cubic']", "'mine.toml: set 1' must be possible. `mechanisms` must be one of"),
        ("edges = ", "must be TOML"),
    ],
)
def test_bad_recipes_are_refused_and_nothing_is_written(recipe, tmp_path, capsys, text, message):
    path = recipe(text)
    with pytest.raises(DataError, match=message):
        read_recipe(path)
    assert run("simulate", "--recipe", path, "--out", tmp_path / "x") == 2
    assert capsys.readouterr().err.startswith("seacausal: ")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--recipe", "none.toml", "--out", "x"), "must be a readable file"),
        (("--recipe", "paper"), "--out"),
        (("--recipe", "paper", "--out", "x", "--variables", "3"), "--variables"),
        (("--recipe", "paper", "--out", "x", "--limit", "0"), "`limit` must"),
        (("x.npz", "--recipe", "paper", "--out", "x"), "x.npz"),
        (("--recipe",), "--recipe"),
        (("x.npz", "--technical"), "must stand beside --expression"),
        (("x.npz", "--expression", "--mechanisms", "nn"), "--mechanisms"),
        (("x.npz", "--expression", "--dropout", "50"), "--dropout"),
        (("x.npz", "--expression", "--hill", "0"), "`hill` must"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert run("simulate", *arguments) == 2
    assert said in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_single_cells_from_the_command(tmp_path, capsys):
    options = ["--expression", "--variables", "6", "--edges", "5", "--cells", "50", "--targets", "6", "--regime-cells", "10", "--seed", "2"]
    assert run("simulate", tmp_path / "levels.npz", *options) == 0
    assert "110 rows, 6 variables" in capsys.readouterr().out
    levels = read_datasets(tmp_path / "levels.npz")[0]
    assert (levels.targets.sum(1) == [0] + [1] * 6).all()
    assert not levels.values[levels.targets[levels.regime]].any()  # knocked out
    assert levels.values[~levels.targets[levels.regime]].min() >= 0
    options += ["--remaining", "0.5"]
    assert run("simulate", tmp_path / "down.npz", *options) == 0
    down = read_datasets(tmp_path / "down.npz")[0]
    hit = down.targets[down.regime]
    assert 0 < down.values[hit].mean() < 0.9 * down.values[down.regime == 0].mean()
    assert run("simulate", tmp_path / "counts.npz", *options, "--technical", "--no-logarithm", "--show", tmp_path / "c.png") == 0
    counts = read_datasets(tmp_path / "counts.npz")[0].values
    assert (counts == counts.round()).all()
    assert (counts == 0).mean() > 0.5
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_sortability_of_a_recipe(recipe, capsys):
    assert run("sortability", recipe(SEVERAL), "--sets", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:]] == [["| linear", "1"], ["| cells", "1"]]
    assert float(lines[2].split(" | ")[2]) > 0.9  # weights above 1 let the variance grow
    assert "found 'edgs'" in (run("sortability", recipe("edgs = 1")) == 2 and capsys.readouterr().err)


def test_the_recipe_of_a_training_run_stands_for_sets_like_those_it_draws(recipe, tmp_path, capsys):
    text = "steps = 7\n[domain]\nmechanisms = ['linear']\nfurther_share = 0.0\nexpression = 0.0\ncells = 2000\n"
    text += "[[sizes]]\nsmallest = 3\nlargest = 4\nbatch = 8\nshare = 0.5\n"
    path = recipe(text, "run.toml")
    assert run("simulate", "--recipe", path, "--out", tmp_path / "sets", "--count", "5") == 0
    assert "5 data sets written, 0 were there" in capsys.readouterr().out
    sets = [read_datasets(tmp_path / "sets" / f"run_{k}.npz")[0] for k in range(1, 6)]
    assert {len(one.names) for one in sets} == {3, 4}
    assert len({one.values.tobytes() for one in sets}) == 5
    assert all(member.specification.mechanisms == ("linear",) for member in read_recipe(path, count=5))
    assert run("simulate", "--recipe", path, "--out", tmp_path / "sets", "--count", "6") == 0
    assert "1 data sets written, 5 were there" in capsys.readouterr().out
    assert run("simulate", "--recipe", recipe(text.replace("0.5", "half"), "bad.toml"), "--out", tmp_path / "none") == 2
    assert run("simulate", "--recipe", recipe(text.replace("cells", "cell"), "bad.toml"), "--out", tmp_path / "none") == 2
    assert "found 'cell'" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_help_says_which_names_every_option_takes(capsys):
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    said = capsys.readouterr().out
    for option, names in CHOICES.items():
        assert f"--{option.replace('_', '-')}: {', '.join(names)}." in said
