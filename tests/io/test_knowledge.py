"""Background knowledge from files and mappings, and through a whole run."""

import json

import numpy as np
import pandas as pd
import pytest

import seacausal
from seacausal.cli import main
from seacausal.errors import DataError
from seacausal.io.knowledge import read_knowledge

NAMES = ("age", "sex", "dose", "weight", "response")


def pairs(matrix):
    return {(NAMES[i], NAMES[j]) for i, j in np.argwhere(matrix)}


def test_a_file_of_all_three(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text(
        'tiers = [["age", "sex"], ["dose"], ["response"]]\nforbidden = [["dose", "weight"], ["*", "sex"]]\nrequired = [["dose", "response"]]\n'
    )
    found = read_knowledge(path, NAMES)
    later = {("dose", "age"), ("dose", "sex"), ("response", "age"), ("response", "sex"), ("response", "dose")}
    assert pairs(found.forbidden) == later | {("dose", "weight")} | {(name, "sex") for name in NAMES}
    assert pairs(found.required) == {("dose", "response")}
    assert found.given["tiers"] == [["age", "sex"], ["dose"], ["response"]]
    np.testing.assert_array_equal(read_knowledge(found.given, NAMES).forbidden, found.forbidden)


def test_required_causes_forbid_the_way_back():
    found = read_knowledge({"required": [("age", "dose"), ("dose", "response")]}, NAMES)
    assert pairs(found.forbidden) == {("dose", "age"), ("response", "dose"), ("response", "age")}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"tier": []}, "found 'tier'. Did you mean 'tiers'"),
        ({"tiers": ["age", "sex"]}, "'tiers' of the knowledge must be a list of lists of names; found 'age'"),
        ({"tiers": 3}, "found 3. Write tiers ="),
        ({"forbidden": [["age", "sex", "dose"]]}, r"pairs of names, \[cause, effect\]; found \['age', 'sex', 'dose'\]"),
        ({"required": [["age", 4]]}, r"found \['age', 4\]"),
        ({"required": [["age", "does"]]}, "found 'does'. Did you mean 'dose'"),
        ({"required": [["*", "dose"]]}, "must be variables; found '\\*'"),
        ({"tiers": [["age"], ["sex", "age"]]}, "found 'age' in tier 1 and in tier 2"),
        ({"tiers": [["age"], ["dose"]], "required": [["dose", "age"]]}, "found 'dose' -> 'age', but it is forbidden, or goes against the tiers"),
        ({"tiers": [["sex"], ["age"]], "required": [["age", "dose"], ["dose", "sex"]]}, "must go down the tiers; found a path from 'age' to 'sex'"),
        ({"tiers": 0}, "found 0. Write tiers ="),
        ({"required": [["age", "age"]]}, "joins a variable to itself"),
        ({"required": [["age", "sex"], ["sex", "dose"], ["dose", "age"]]}, "must not close a cycle; found one through age, sex, dose"),
    ],
)
def test_what_is_refused(table, words):
    with pytest.raises(DataError, match=words):
        read_knowledge(table, NAMES)


def test_a_run_honours_it(tmp_path, capsys):
    """Nothing tells which of two Gaussian columns is the cause, so it is what was said."""
    generator = np.random.default_rng(0)
    age = generator.normal(size=500)
    frame = pd.DataFrame({"response": age + generator.normal(size=500), "age": age, "dose": generator.normal(size=500)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    free = seacausal.discover(frame)
    told = seacausal.discover(frame, knowledge={"tiers": [["age"], ["response"]], "required": [["dose", "response"]]})
    assert told.probabilities[0, 1] == 0
    both = free.probabilities + free.probabilities.T
    assert told.probabilities[1, 0] == pytest.approx(free.probabilities[1, 0] / (1 - both[1, 0] + free.probabilities[1, 0]), abs=1e-6)
    assert told.edges()[0] == ("dose", "response", 1.0)
    (tmp_path / "known.toml").write_text('tiers = [["age"], ["response"]]\nrequired = [["dose", "response"]]\n')
    assert main(["discover", str(tmp_path / "t.csv"), "--knowledge", str(tmp_path / "known.toml"), "--out", str(tmp_path / "r")]) == 0
    assert "Known beforehand: 2 tiers, 1 required." in capsys.readouterr().out
    assert json.loads((tmp_path / "r" / "result.json").read_text())["data"]["knowledge"]["required"] == [["dose", "response"]]
    assert main(["discover", str(tmp_path / "t.csv"), "--knowledge", str(tmp_path / "absent.toml"), "--out", str(tmp_path / "s")]) == 2
    assert "The knowledge" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_other_sources_are_refused(tmp_path):
    for source in ([("dose", "response")], 3, b"known.toml"):
        with pytest.raises(DataError, match="`knowledge` must be a TOML file or a mapping; found"):
            read_knowledge(source, NAMES)
    (tmp_path / "deep.toml").write_text("tiers = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(DataError, match="must be TOML in UTF-8"):
        read_knowledge(tmp_path / "deep.toml", NAMES)
    assert not read_knowledge({"tiers": [], "required": []}, NAMES).forbidden.any()


def test_an_identifier_that_was_left_out_is_said_to_be():
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 2)), columns=["a", "b"]).assign(id=range(40))
    with pytest.raises(DataError, match="found 'id'\\. It names the rows and was left out"):
        seacausal.discover(frame, knowledge={"tiers": [["id"], ["a", "b"]]})
