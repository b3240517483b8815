import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from seacausal.aggregate.axial import PaperConfig
from seacausal.aggregate.model import ModelConfig
from seacausal.aggregate.network import load_weights
from seacausal.errors import CheckpointError, DataError, TrainingError
from seacausal.estimate.distance_correlation import distance_correlation
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.domain import GENTLE, ONE_LAW, ROOT_SHARES, STRUCTURED, Domain, Size, draw_specification
from seacausal.simulate.interventions import INTERVENTIONS
from seacausal.simulate.measurement import MEASUREMENTS
from seacausal.simulate.noise import ANY, LAWS
from seacausal.train.checkpoint import read_checkpoint
from seacausal.train.command import read_recipe
from seacausal.train.loop import TrainConfig, train
from seacausal.train.minibatch import draw_minibatch
from seacausal.train.presets import BasePreset, choose_preset, load_preset
from seacausal.train.release import export_weights
from seacausal.train.validation import Validation
from seacausal.views import view_marginals

TINY = TrainConfig(
    steps=6,
    warmup=2,
    workers=1,
    every=1,
    save_every=2,
    model=ModelConfig(width=16, heads=2, blocks=1, triangle=4, hidden=16),
    domain=Domain(cells=3000),
    sizes=(Size(5, 7, 2, 0.5), Size(2, 4, 2, 0.5)),
)


def state(path):
    tensors, header = read_checkpoint(path)
    return tensors, header["step"], header["examples"]


def assert_same(first, second):
    assert first[1:] == second[1:]
    assert first[0].keys() == second[0].keys()
    for name in first[0]:
        assert torch.equal(first[0][name], second[0][name]), name


@pytest.mark.parametrize("uses", [1, 2])
def test_stopped_and_resumed_equals_one_run(tmp_path, uses):
    config = replace(TINY, uses=uses)
    whole = state(train(config, tmp_path / "whole"))
    train(config, tmp_path / "parts", until=3)
    assert_same(whole, state(train(config, tmp_path / "parts", resume=True)))
    losses = [line.split(",")[::3] for line in (tmp_path / "whole" / "log.csv").read_text().splitlines()]
    resumed = [line.split(",")[::3] for line in (tmp_path / "parts" / "log.csv").read_text().splitlines()]
    assert losses == resumed
    assert len(losses) == 7


JOINT = replace(TINY, steps=4, validate_every=2, validation=3, sizes=(Size(5, 6, 4, 1.0),))


JOINT_RECIPE = (
    "warmup = 2\nevery = 1\nsave_every = 2\nvalidate_every = 2\nvalidation = 3\n[model]\nwidth = 16\nheads = 2\nblocks = 1\n"
    "triangle = 4\nhidden = 16\n[domain]\ncells = 3000\n[[sizes]]\nsmallest = 5\nlargest = 6\nbatch = 4\nshare = 1.0\n"
)


def losses_of(folder, name="log.csv", column=3):
    return [float(line.split(",")[column]) for line in (folder / name).read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def joint_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint")
    train(JOINT, folder)
    return folder


def test_two_workers_take_the_steps_of_the_joint_batch(joint_run, tmp_path):
    train(replace(JOINT, workers=2), tmp_path)
    assert losses_of(tmp_path) == pytest.approx(losses_of(joint_run), abs=2e-5)
    for column in (1, 2):
        assert losses_of(tmp_path, "validation.csv", column) == pytest.approx(losses_of(joint_run, "validation.csv", column), abs=1e-3)
    one, two = state(joint_run / "last.safetensors"), state(tmp_path / "last.safetensors")
    assert one[1:] == two[1:] == (4, 16)
    for name in one[0]:
        if name.startswith("average."):
            torch.testing.assert_close(two[0][name], one[0][name], rtol=1e-3, atol=1e-5)


def test_torchrun_takes_the_steps_of_the_joint_batch(joint_run, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("steps = 4\n" + JOINT_RECIPE)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "seacausal", "train"]
    done = subprocess.run([*command, str(tmp_path / "run"), "--recipe", str(recipe)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("last.safetensors") == 1
    assert losses_of(tmp_path / "run") == pytest.approx(losses_of(joint_run), abs=2e-5)
    assert losses_of(tmp_path / "run", "validation.csv", 2) == pytest.approx(losses_of(joint_run, "validation.csv", 2), abs=1e-3)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_workers_end_with_a_run_that_is_killed(tmp_path):
    """Begun as a shell begins a job in the background, where interrupts are ignored."""
    recipe, log = tmp_path / "recipe.toml", tmp_path / "run" / "log.csv"
    recipe.write_text("steps = 100_000\n" + JOINT_RECIPE)
    command = [sys.executable, "-m", "seacausal", "train", str(tmp_path / "run"), "--recipe", str(recipe)]
    with (tmp_path / "output").open("w") as output:
        run = subprocess.Popen(command, stdout=output, stderr=output, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    try:
        wait_until(lambda: log.exists() and len(log.read_text().splitlines()) > 3)
    finally:
        run.kill()
        run.wait()

    def stands_still() -> bool:
        before = log.read_text()
        time.sleep(2)  # a step takes some hundredths of a second
        return log.read_text() == before

    assert stands_still() or stands_still()  # what was being written when the run was killed may come first


def wait_until(condition, seconds: float = 120) -> None:
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds
        time.sleep(0.05)


def test_validation_is_the_same_at_every_step_and_not_among_the_training_data():
    draw = partial(draw_minibatch, 0, sizes=JOINT.sizes, domain=JOINT.domain)
    drawn = [Validation(draw, 3, rank, 2)._minibatches for rank in (0, 1, 0)]
    assert [len(share) for share in drawn] == [2, 1, 2]
    assert torch.equal(drawn[0][0][0]["channels"], drawn[2][0][0]["channels"])
    assert not torch.equal(drawn[0][0][1][..., 0], draw_minibatch(0, 0, 0, 1, sizes=JOINT.sizes, domain=JOINT.domain)[1][..., 0])


def test_a_run_stops_where_validation_no_longer_improves(joint_run, tmp_path, monkeypatch):
    """From the third validation on the score falls: after two more of them the run ends, and the best checkpoint is that of the third."""
    scores = iter([0.2, 0.4, 0.6, 0.5, 0.6, 0.9])
    monkeypatch.setattr(Validation, "score", lambda *_: torch.tensor([1.0, 1.0, next(scores), 1.0], dtype=torch.float64))
    config = replace(JOINT, steps=6, validate_every=1, validation=1, patience=2)
    train(config, tmp_path, until=4)
    train(config, tmp_path, resume=True)
    assert losses_of(tmp_path, "validation.csv", 2) == [0.2, 0.4, 0.6, 0.5, 0.6]
    assert state(tmp_path / "best.safetensors")[1] == 3
    assert state(tmp_path / "last.safetensors")[1] == 5
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_lines_after_the_last_checkpoint_are_written_once(tmp_path):
    train(TINY, tmp_path, until=4)
    with (tmp_path / "log.csv").open("a") as file:
        file.write("5,1.0,10,0.9\n")  # as by a run that was killed before the next checkpoint
    train(TINY, tmp_path, resume=True)
    assert [int(line.split(",")[0]) for line in (tmp_path / "log.csv").read_text().splitlines()[1:]] == [1, 2, 3, 4, 5, 6]


def test_progress_names_speed_score_and_time_left(joint_run, tmp_path, capfd):
    train(replace(JOINT, steps=4), tmp_path)
    first, *_, last = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"step 1 of 4, loss \d\.\d{4}", first)
    assert re.fullmatch(r"step 4 of 4, loss \d\.\d{4}, validation mAP \d\.\d{3}, \d+ data sets/s, 0 min left", last)


def test_a_loss_that_is_no_number_keeps_the_minibatch(tmp_path, monkeypatch):
    monkeypatch.setattr("seacausal.train.loop.pair_loss", lambda logits, _: logits.sum() * torch.nan)
    with pytest.raises(TrainingError, match="found nan at step 0, worker 0"):
        train(TINY, tmp_path)
    inputs, _ = draw_minibatch(TINY.seed, 0, 0, 1, sizes=TINY.sizes, domain=TINY.domain)
    with np.load(tmp_path / "failed.npz") as kept:
        assert np.array_equal(kept["channels"], inputs["channels"].numpy())
    assert not (tmp_path / "last.safetensors").exists()


def test_unknown_devices_and_no_use_of_the_data_are_refused(tmp_path):
    with pytest.raises(DataError, match="found 'abacus'"):
        train(TINY, tmp_path / "run", device="abacus")
    with pytest.raises(DataError, match="`uses` must be at least 1; found 0"):
        train(replace(TINY, uses=0), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_minibatches_are_functions_of_their_numbers():
    first = draw_minibatch(1, 2, 0, 2, sizes=TINY.sizes, domain=TINY.domain)
    again = draw_minibatch(1, 2, 0, 2, sizes=TINY.sizes, domain=TINY.domain)
    other = draw_minibatch(1, 2, 1, 2, sizes=TINY.sizes, domain=TINY.domain)
    assert torch.equal(first[0]["channels"], again[0]["channels"])
    assert torch.equal(first[1], again[1])
    assert first[0]["channels"].shape == other[0]["channels"].shape
    assert not torch.equal(first[0]["channels"], other[0]["channels"])


def test_data_sets_are_shown_several_times_with_other_groups():
    draw = partial(draw_minibatch, 1, sizes=(Size(5, 30, 2, 1.0),), domain=TINY.domain, uses=3)
    memory = {}
    shown = [draw(step, 0, 1, memory=memory) for step in range(12)]
    new = [torch.equal(one[1], draw_minibatch(1, step, 0, 1, sizes=(Size(5, 30, 2, 1.0),), domain=TINY.domain)[1]) for step, one in enumerate(shown)]
    assert new == [True, False, False] * 4
    origins = [next(k for k, first in enumerate(shown) if torch.equal(first[1], one[1])) for one in shown]
    assert set(origins) == set(memory) == {0, 3, 6, 9}
    assert origins[1:3] == [0, 0]
    assert not torch.equal(shown[0][0]["channels"], shown[1][0]["channels"])
    assert all(torch.equal(draw(step, 0, 1)[0]["channels"], shown[step][0]["channels"]) for step in (0, 5, 11))


def test_classes_say_which_way_an_edge_goes():
    _, classes = draw_minibatch(3, 0, 0, 1, sizes=(Size(8, 8, 4, 1.0),), domain=TINY.domain)
    forward, backward = classes == 1, classes == 2
    assert forward.any()
    assert torch.equal(forward, backward.transpose(1, 2))


def test_training_lowers_the_loss(tmp_path):
    config = replace(TINY, steps=150, warmup=10, learning_rate=5e-3, every=25, save_every=150, sizes=(Size(5, 5, 8, 1.0),))
    train(config, tmp_path)
    losses = [float(line.split(",")[3]) for line in (tmp_path / "log.csv").read_text().splitlines()[1:]]
    assert losses[-1] < losses[0] - 0.1


def test_runs_are_not_overwritten_and_resume_needs_one(tmp_path):
    with pytest.raises(CheckpointError, match="must hold a run to resume"):
        train(TINY, tmp_path, resume=True)
    train(TINY, tmp_path, until=1)
    with pytest.raises(DataError, match="must not hold a run already"):
        train(TINY, tmp_path)
    for workers in (1, 2):
        with pytest.raises(CheckpointError, match=r"^'.*last\.safetensors' must have the sizes .*width': 32.* found .*width': 16"):
            train(replace(TINY, workers=workers, model=ModelConfig(width=32)), tmp_path, resume=True)


def test_damaged_checkpoints_are_named(tmp_path):
    path = tmp_path / "last.safetensors"
    path.write_bytes(b"\x00" * 64)
    with pytest.raises(CheckpointError, match="must be a readable safetensors file"):
        read_checkpoint(path)


def test_export_writes_both_files(tmp_path):
    checkpoint = train(TINY, tmp_path / "run", until=1)
    paths = export_weights(checkpoint, tmp_path / "weights", "tiny")
    assert sorted(path.name for path in paths) == ["tiny.onnx", "tiny.safetensors"]
    assert sorted(path.name for path in (tmp_path / "weights").iterdir()) == ["tiny.onnx", "tiny.safetensors"]


def test_recipes_are_checked(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text('steps = 7\n[domain]\nmechanisms = ["linear"]\n[[sizes]]\nsmallest = 2\nlargest = 4\nbatch = 2\nshare = 1.0\n')
    config = read_recipe(path)
    assert config.steps == 7
    assert config.domain.mechanisms == ("linear",)
    assert config.sizes == (Size(2, 4, 2, 1.0),)
    path.write_text("stepz = 7\n")
    with pytest.raises(DataError, match="found 'stepz'"):
        read_recipe(path)
    path.write_text("[domain]\nmechanism = 1\n")
    with pytest.raises(DataError, match="found 'mechanism'"):
        read_recipe(path)
    with pytest.raises(DataError, match="must be a readable file"):
        read_recipe(tmp_path / "none.toml")


def test_the_domain_draws_what_it_says():
    every = [draw_specification(Domain(), 8, generator=np.random.default_rng(seed)) for seed in range(800)]
    drawn = [one for one in every if isinstance(one, Simulation)]

    def near(share, wanted, of=drawn):
        return abs(share - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / len(of))

    assert near(1 - len(drawn) / len(every), Domain().expression, every)
    plain = [one for one in drawn if not one.cycles]
    assert near(1 - len(plain) / len(drawn), Domain().cycles)
    assert near(np.mean([bool(set(one.mechanisms) & set(Domain().further)) for one in plain]), Domain().further_share)
    for name, wanted in (("levels", Domain().discrete), ("mediators", Domain().mediators), ("hidden", Domain().hidden)):
        assert near(np.mean([getattr(one, name) > 0 for one in plain if one.graph != "layered"]), wanted)
    assert {0, 4} <= {one.mediators for one in plain if one.graph == "layered"}
    assert near(np.mean([one.selection > 0 for one in plain]), Domain().selection)
    assert near(np.mean([one.graph in STRUCTURED for one in drawn]), Domain().structured)
    assert not any(name.startswith(("sigmoid", "polynomial")) for one in drawn for name in one.mechanisms)
    assert {one.root_law for one in drawn} == {*LAWS, ANY}
    assert {one.noise_law for one in drawn} == {*LAWS, ANY} - {"steps"}
    assert near(np.mean([one.root_spread > 1 for one in drawn]), 0.3)
    assert near(np.mean([one.noise_spread > 2 for one in drawn]), 0.2)
    assert not any(one.noise_per_regime for one in drawn if one.noise_spread > 2)
    assert {one.intervention for one in drawn} == set(INTERVENTIONS)
    assert {one.measurement for one in drawn} == set(MEASUREMENTS) - {"codes", "missing"}
    quiet = np.array([one.noise_coefficient < 0.04 for one in drawn])
    targeted = np.array([one.targets > 0 for one in drawn])
    assert 0.02 < quiet[targeted].mean() < 0.3
    assert not quiet[~targeted].any()


def test_sparse_sets_and_bystanders_are_drawn_as_often_as_asked_for():
    domain = Domain(expression=0.0, sparse=0.2, bystanders=0.4)
    drawn = [draw_specification(domain, 20, generator=np.random.default_rng(seed)) for seed in range(600)]
    assert np.mean([one.edges < 8 for one in drawn]) == pytest.approx(0.2, abs=0.05)
    assert np.mean([one.bystanders > 0 for one in drawn]) == pytest.approx(0.4, abs=0.06)
    assert np.mean([one.bystanders == 20 for one in drawn]) == pytest.approx(0.11, abs=0.04)
    assert min(one.bystanders for one in drawn if one.bystanders) >= 4
    usual = [draw_specification(Domain(expression=0.0), 20, generator=np.random.default_rng(seed)) for seed in range(100)]
    assert min(one.edges for one in usual) >= 8
    assert not any(one.bystanders for one in usual)


def test_equal_and_textbook_sets_are_drawn_as_often_as_asked_for():
    def draw(**shares: float) -> list[Simulation]:
        domain = Domain(expression=0.0, cycles=0.0, **shares)
        return [draw_specification(domain, 10, generator=np.random.default_rng(seed)) for seed in range(200)]

    def is_equal(one: Simulation) -> bool:
        equal = one.root_law == one.noise_law and one.root_scale == one.noise_coefficient
        return equal and one.root_spread == one.noise_spread == 1.0 and not one.rescaled

    assert np.mean([is_equal(one) for one in draw(equal=0.3)]) == pytest.approx(0.3, abs=0.12)
    assert not any(map(is_equal, draw()))
    equal, textbook = draw(equal=1.0), draw(equal=1.0, textbook=1.0)
    assert all(map(is_equal, equal + textbook))
    assert all(one.measurement == "none" and 3 <= one.edges <= 15 for one in textbook)
    assert np.mean([one.measurement == "none" for one in equal]) < 0.5


def test_plain_sets_are_linear_and_of_one_law_and_nothing_else_happens():
    def draw(**shares: float) -> list[Simulation]:
        domain = Domain(expression=0.0, hidden=1.0, selection=1.0, off_target=1.0, drift=1.0, discrete=0.0, interventional=1.0, **shares)
        return [draw_specification(domain, 10, generator=np.random.default_rng(seed)) for seed in range(200)]

    assert np.mean([not one.hidden for one in draw(plain=0.3)]) == pytest.approx(0.3, abs=0.1)
    plain = draw(plain=1.0)
    assert {one.mechanisms for one in plain} == {("linear",)}
    assert all(one.root_law == one.noise_law for one in plain)
    assert np.mean([one.root_law == "gaussian" for one in plain]) == pytest.approx(0.5, abs=0.15)
    assert {one.root_law for one in plain} == {"gaussian", *ONE_LAW}
    assert not any(one.hidden or one.selection or one.off_target or one.drift or one.levels for one in plain)
    assert {one.measurement for one in plain} == {"none", "units"}
    assert all(2.9 <= one.edges <= 20.1 and one.targets for one in plain)
    assert np.mean([one.targets == 1 for one in plain]) == pytest.approx(0.52, abs=0.1)
    assert not any(one.hidden == 0 for one in draw(plain=1.0, equal=1.0))


def test_gentle_sets_are_small_and_come_before_all_others():
    def draw(d: int = 10, **shares: float) -> list[Simulation]:
        domain = Domain(expression=0.0, equal=1.0, discrete=1.0, hidden=0.5, **shares)
        return [draw_specification(domain, d, generator=np.random.default_rng(seed)) for seed in range(100)]

    assert np.mean([one.mechanisms == ("gentle",) for one in draw(gentle=0.3)]) == pytest.approx(0.3, abs=0.12)
    gentle = draw(gentle=1.0)
    assert all(one.mechanisms == ("gentle",) and one.root_law == one.noise_law == ANY and not one.levels for one in gentle)
    assert {one.measurement for one in gentle} == {"none", "units", "round", "exponential"}
    assert np.mean([one.hidden > 0 for one in gentle]) == pytest.approx(0.5, abs=0.15)
    assert np.mean([one.edges for one in draw(2, gentle=1.0)]) == pytest.approx(0.735, abs=0.05)
    assert not any(one.mechanisms == ("gentle",) for one in draw(GENTLE + 1, gentle=1.0))


def test_everyday_sets_have_few_values_beside_continuous_ones():
    def draw(**shares):
        domain = Domain(expression=0.0, cycles=0.0, discrete=0.0, **shares)
        return [draw_specification(domain, 10, generator=np.random.default_rng(seed)) for seed in range(100)]

    assert np.mean([one.levels > 0 for one in draw(everyday=0.3)]) == pytest.approx(0.3, abs=0.12)
    everyday = draw(everyday=1.0)
    assert all(2 <= one.levels <= 7 and 0.15 <= one.levels_share <= 0.7 and not one.tables for one in everyday)
    assert np.mean([one.ratings > 0 for one in everyday]) == pytest.approx(0.5, abs=0.15)
    assert np.mean([one.root_law == "gaussian" for one in everyday]) == pytest.approx(0.5 + 0.3 * ROOT_SHARES["gaussian"], abs=0.12)
    assert np.mean([one.root_law == "steps" for one in everyday]) == pytest.approx(0.2 + 0.3 * ROOT_SHARES["steps"], abs=0.1)
    assert np.mean([one.measurement == "codes" for one in everyday]) == pytest.approx(0.2, abs=0.1)
    assert np.mean([one.levels > 0 for one in draw(everyday=1.0, equal=1.0)]) == 0


def test_categories_are_numbered_without_order_where_asked_for():
    drawn = [draw_specification(Domain(discrete=0.5, codes=0.5, expression=0.0), 8, generator=np.random.default_rng(seed)) for seed in range(100)]
    assert {one.measurement == "codes" for one in drawn if one.levels} == {True, False}
    assert not any(one.measurement == "codes" for one in drawn if not one.levels)


def test_inputs_are_intervened_on_where_asked_for():
    drawn = [
        draw_specification(Domain(inputs=1.0, interventional=1.0, expression=0.0), 8, generator=np.random.default_rng(seed)) for seed in range(60)
    ]
    assert all(isinstance(one, Simulation) and one.roots_first and 1 <= one.targets <= 5 for one in drawn)


def test_instruments_are_drawn_where_asked_for():
    domain = Domain(settings=0.5, interventional=1.0, expression=0.0, cycles=0.0)
    drawn = [draw_specification(domain, 8, generator=np.random.default_rng(seed)) for seed in range(100)]
    instruments = [one for one in drawn if one.settings]
    assert len(instruments) == pytest.approx(50, abs=20)
    assert all(one.roots_first and 1 <= one.targets <= 5 and one.settings >= 0.5 and one.intervention != "activity" for one in instruments)
    assert 0.4 < np.mean(["scaled" in one.mechanisms and len(one.mechanisms) > 5 for one in instruments]) < 0.9


def test_the_papers_law_is_drawn_alone_where_asked_for():
    domain = Domain(paper=1.0, interventional=0.4, cells=50_000)
    drawn = [draw_specification(domain, 10, generator=np.random.default_rng(seed)) for seed in range(300)]
    usual = Simulation()
    for one in drawn:
        assert one.mechanisms[0] in domain.mechanisms
        assert len(one.mechanisms) == 1
        same = (
            "root_law",
            "noise_law",
            "noise_coefficient",
            "noise_per_regime",
            "weights",
            "measurement",
            "hidden",
            "mediators",
            "rescaled",
            "levels",
        )
        assert all(getattr(one, name) == getattr(usual, name) for name in same)
        assert 450 <= one.observational_rows + one.targets * one.regime_rows <= 5000
        assert one.targets in (0, 10)
    assert 0.28 < np.mean([one.targets > 0 for one in drawn]) < 0.52
    assert {one.graph for one in drawn} == {"erdos-renyi", "scale-free-replaced"}
    assert {one.intervention for one in drawn} == {"gaussian", "uniform"}
    assert len({(one.edges, one.observational_rows) for one in drawn}) > 290


@pytest.mark.parametrize("kind", ["expression", "cycles", "selection"])
def test_every_kind_of_data_set_becomes_an_example(kind):
    """A minibatch of one kind alone; no pair is both i -> j and j -> i."""
    shares = {"expression": 0.0, "cycles": 0.0, "selection": 0.0} | {kind: 1.0}
    inputs, classes = draw_minibatch(5, 0, 0, 1, sizes=(Size(6, 6, 6, 1.0),), domain=Domain(cells=3000, expression_cells=3000, **shares))
    assert torch.isfinite(inputs["channels"]).all()
    assert set(classes.unique().tolist()) == {0, 1, 2}
    assert torch.equal(classes == 1, (classes == 2).transpose(1, 2))


PAPER = replace(
    TINY,
    preset="paper",
    paper=PaperConfig(width=16, blocks=1, heads=2, hidden=8, dropout=0.2, variables=20, subsets=60),
    sizes=(Size(5, 8, 4, 1.0),),
)


def test_the_paper_preset_stops_and_resumes_as_one_run(tmp_path):
    whole = state(train(PAPER, tmp_path / "whole"))
    train(PAPER, tmp_path / "parts", until=3)
    assert_same(whole, state(train(PAPER, tmp_path / "parts", resume=True)))
    for other in (TINY, replace(PAPER, algorithm="gies"), replace(PAPER, statistic="correlation")):
        with pytest.raises(CheckpointError, match="must have the sizes"):
            train(replace(other, steps=9), tmp_path / "parts", resume=True)


def test_two_workers_of_the_paper_preset_simulate_the_joint_batch():
    source = {"sizes": PAPER.sizes, "domain": PAPER.domain, "preset": choose_preset(PAPER)}
    whole, *parts = [draw_minibatch(0, 1, rank, workers, **source) for rank, workers in ((0, 1), (0, 2), (1, 2))]
    for name in ("statistic", "nodes", "times", "types"):
        assert torch.equal(whole[0][name], torch.cat([part[0][name] for part in parts])), name
    assert torch.equal(whole[1], torch.cat([part[1] for part in parts]))


def test_the_paper_preset_learns(tmp_path):
    domain = Domain(cells=4000, further_share=0.0, interventional=1.0)
    config = replace(PAPER, algorithm="gies", domain=domain, steps=150, warmup=10, learning_rate=5e-3, every=10, save_every=150, validate_every=150)
    train(config, tmp_path)
    losses = losses_of(tmp_path)
    assert losses[-1] < losses[0] - 0.1
    assert losses_of(tmp_path, "validation.csv", 2)[0] > 0.2


@pytest.mark.parametrize("statistic", ["inverse-covariance", "correlation", "distance-correlation"])
@pytest.mark.parametrize("algorithm", ["fci", "gies", "lingam"])
def test_the_paper_preset_reads_one_statistic_and_one_algorithm(statistic, algorithm):
    """The marks are the algorithm's own on the subsets' rows; the inverse covariance is in the data's units."""
    preset = choose_preset(replace(PAPER, statistic=statistic, algorithm=algorithm))
    dataset = simulate_dataset(Simulation(variables=7, edges=9, targets=3, regime_rows=100), generator=np.random.default_rng(2))
    tokens = preset.show(preset.view(dataset, 12, generator=np.random.default_rng(0)), generator=np.random.default_rng(1))
    views = view_marginals(dataset, 12, algorithm=algorithm, statistic=statistic, seed=int(np.random.default_rng(0).integers(2**31)))
    expected = {
        "inverse-covariance": np.arcsinh(np.linalg.inv(np.cov(dataset.values.T, bias=True))),
        "correlation": np.corrcoef(dataset.values.T),
        "distance-correlation": distance_correlation(dataset.values),
    }
    np.testing.assert_allclose(tokens.statistic, expected[statistic], rtol=1e-4, atol=1e-6)
    subsets, estimates = views.local
    assert np.array_equal(tokens.cells[:, 0], subsets[:, 0] * 7 + subsets[:, 1])
    assert np.array_equal(tokens.types[:, 0], 4 * estimates.marks[:, 1, 0] + estimates.marks[:, 0, 1])
    assert tokens.types.any()
    assert (estimates.marks == 3).any() == (algorithm == "fci")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"preset": "papyrus"}, "`preset` must be base or paper; found 'papyrus'"),
        ({"algorithm": "notears"}, "`algorithm` must be one of fci"),
        ({"statistic": "spearman"}, "`statistic` must be one of inverse-covariance, .*; found 'spearman'"),
        ({"sizes": (Size(4, 8, 2, 1.0),)}, "between 5 and 20 variables; found 4 to 8"),
        ({"sizes": (Size(5, 21, 2, 1.0),)}, "between 5 and 20 variables; found 5 to 21"),
    ],
)
def test_presets_are_checked(tmp_path, fields, message):
    with pytest.raises(DataError, match=message):
        train(replace(PAPER, **fields), tmp_path)


@pytest.mark.parametrize("name", ["base", "paper-fci", "paper-gies"])
def test_recipes_of_released_weights_are_valid(name):
    config = read_recipe(Path(__file__).parents[2] / "recipes" / f"{name}.toml")
    assert choose_preset(config).settings()["width"] == 64
    assert (config.domain.interventional == 1.0) == (name == "paper-gies")


def test_checkpoints_from_before_there_were_presets_are_of_base():
    header = {"config": {"model": {"width": 32, "blocks": 1}}}
    assert load_preset(header) == BasePreset(ModelConfig(width=32, blocks=1))


def test_export_of_the_paper_preset_writes_both_files(tmp_path):
    checkpoint = train(replace(PAPER, algorithm="gies", statistic="correlation"), tmp_path / "run", until=2)
    onnx_path = tmp_path / "weights" / "tiny.onnx"
    assert set(export_weights(checkpoint, tmp_path / "weights", "tiny")) == {onnx_path, onnx_path.with_suffix(".safetensors")}
    network = load_weights(str(onnx_path))
    assert (network.facts["preset"], network.algorithm, network.statistic) == ("paper", "gies", "correlation")


def test_weights_that_differ_from_their_file_are_not_released(tmp_path, monkeypatch):
    checkpoint = train(PAPER, tmp_path / "run", until=1)
    monkeypatch.setattr("seacausal.train.release.TOLERANCE", -1.0)
    with pytest.raises(CheckpointError, match="Do not release these weights"):
        export_weights(checkpoint, tmp_path / "weights", "tiny")
    assert list((tmp_path / "weights").iterdir()) == []
