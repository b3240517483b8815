from dataclasses import replace

import numpy as np
import pytest
import torch

from seacausal.aggregate.model import ModelConfig
from seacausal.errors import CheckpointError, DataError
from seacausal.simulate.interventions import INTERVENTIONS
from seacausal.simulate.measurement import MEASUREMENTS
from seacausal.train.checkpoint import read_checkpoint
from seacausal.train.command import read_recipe
from seacausal.train.domain import STRUCTURED, Domain, draw_simulation
from seacausal.train.loop import TrainConfig, pair_loss, train
from seacausal.train.minibatch import Size, draw_minibatch
from seacausal.train.release import export_weights

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


def test_stopped_and_resumed_equals_one_run(tmp_path):
    whole = state(train(TINY, tmp_path / "whole"))
    train(TINY, tmp_path / "parts", until=3)
    assert_same(whole, state(train(TINY, tmp_path / "parts", resume=True)))
    losses = [line.split(",")[::3] for line in (tmp_path / "whole" / "log.csv").read_text().splitlines()]
    resumed = [line.split(",")[::3] for line in (tmp_path / "parts" / "log.csv").read_text().splitlines()]
    assert losses == resumed
    assert len(losses) == 7


def test_two_workers_take_the_steps_of_the_joint_batch(tmp_path):
    """Both workers' examples in one process give the same gradients as the average of the two."""
    config = replace(TINY, steps=2, workers=2, sizes=(Size(6, 6, 2, 1.0),), warmup=1)
    tensors, _, examples = state(train(config, tmp_path / "two"))
    assert examples == 4
    torch.manual_seed(config.seed)
    from seacausal.aggregate.model import Base

    model = Base(config.model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, betas=(0.9, 0.98))
    for step in range(2):
        optimizer.zero_grad()
        loss = sum(
            pair_loss(model(channels), classes)
            for channels, classes in (draw_minibatch(config.seed, step, rank, 2, sizes=config.sizes, domain=config.domain) for rank in range(2))
        )
        (loss / 2).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    for name, value in model.named_parameters():
        torch.testing.assert_close(tensors[f"model.{name}"], value.detach(), rtol=1e-4, atol=1e-6)


def test_minibatches_are_functions_of_their_numbers():
    first = draw_minibatch(1, 2, 0, 2, sizes=TINY.sizes, domain=TINY.domain)
    again = draw_minibatch(1, 2, 0, 2, sizes=TINY.sizes, domain=TINY.domain)
    other = draw_minibatch(1, 2, 1, 2, sizes=TINY.sizes, domain=TINY.domain)
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert first[0].shape == other[0].shape
    assert not torch.equal(first[0], other[0])


def test_classes_say_which_way_an_edge_goes():
    _, classes = draw_minibatch(3, 0, 0, 1, sizes=(Size(8, 8, 4, 1.0),), domain=TINY.domain)
    forward, backward = classes == 1, classes == 2
    assert forward.any()
    assert torch.equal(forward, backward.transpose(1, 2))


def test_training_lowers_the_loss(tmp_path):
    config = replace(TINY, steps=150, warmup=10, learning_rate=5e-3, every=50, save_every=150, sizes=(Size(5, 5, 8, 1.0),))
    train(config, tmp_path)
    losses = [float(line.split(",")[3]) for line in (tmp_path / "log.csv").read_text().splitlines()[1:]]
    assert losses[-1] < losses[0] - 0.1


def test_runs_are_not_overwritten_and_resume_needs_one(tmp_path):
    with pytest.raises(CheckpointError, match="must hold a run to resume"):
        train(TINY, tmp_path, resume=True)
    train(TINY, tmp_path, until=1)
    with pytest.raises(DataError, match="must not hold a run already"):
        train(TINY, tmp_path)
    with pytest.raises(CheckpointError, match="must have the sizes"):
        train(replace(TINY, model=ModelConfig(width=32)), tmp_path, resume=True)


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
    drawn = [draw_simulation(Domain(), 8, generator=np.random.default_rng(seed)) for seed in range(600)]
    further = np.mean([bool(set(one.mechanisms) & set(Domain().further)) for one in drawn])
    assert abs(further - Domain().further_share) < 4 * np.sqrt(0.3 * 0.7 / 600)
    assert abs(np.mean([one.levels > 0 for one in drawn]) - Domain().discrete) < 4 * np.sqrt(0.05 * 0.95 / 600)
    assert abs(np.mean([one.mediators > 0 for one in drawn]) - Domain().mediators) < 4 * np.sqrt(0.1 * 0.9 / 600)
    assert abs(np.mean([one.graph in STRUCTURED for one in drawn]) - Domain().structured) < 4 * np.sqrt(0.2 * 0.8 / 600)
    assert not any(name.startswith(("sigmoid", "polynomial")) for one in drawn for name in one.mechanisms)
    assert {one.intervention for one in drawn} == set(INTERVENTIONS)
    assert {one.measurement for one in drawn} == set(MEASUREMENTS) - {"missing"}
    quiet = np.array([one.noise_coefficient < 0.04 for one in drawn])
    targeted = np.array([one.targets > 0 for one in drawn])
    assert 0.02 < quiet[targeted].mean() < 0.3
    assert not quiet[~targeted].any()
