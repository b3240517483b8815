from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from seacausal.aggregate.adapter import read_adapter
from seacausal.aggregate.axial import PaperConfig
from seacausal.aggregate.model import Base, ModelConfig
from seacausal.aggregate.network import Network, PaperNetwork
from seacausal.aggregate.tokens import join_tokens, make_tokens
from seacausal.discovery import discover
from seacausal.errors import CheckpointError, DataError
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.domain import Domain, Size, draw_specification
from seacausal.train.checkpoint import read_checkpoint
from seacausal.train.command import read_recipe
from seacausal.train.finetune import Adaptation, Adapted, finetune
from seacausal.train.loop import TrainConfig, _schedule, train
from seacausal.train.low_rank import Part, adapt, base_parts
from seacausal.train.presets import PaperPreset
from seacausal.train.release import export_weights, load_weights
from seacausal.views import view_dataset, view_marginals

TINY = TrainConfig(
    steps=4,
    warmup=2,
    workers=1,
    every=1,
    save_every=2,
    model=ModelConfig(width=16, heads=2, blocks=1, triangle=4, hidden=16),
    domain=Domain(cells=3000),
    sizes=(Size(5, 6, 2, 1.0),),
)
LINGAM = Adaptation("lingam", "distance-correlation")


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    return train(replace(TINY, steps=3), tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def adapter(start, tmp_path_factory):
    return finetune(LINGAM, tmp_path_factory.mktemp("whole"), start=start, config=TINY)


def test_stopped_and_resumed_equals_one_run(start, adapter, tmp_path):
    finetune(LINGAM, tmp_path, start=start, config=replace(TINY, steps=2, decay=1e-9))
    whole, parts = tmp_path / "whole", tmp_path
    finetune(LINGAM, whole, start=start, config=replace(TINY, decay=1e-9))
    resumed = finetune(LINGAM, parts, start=start, config=replace(TINY, decay=1e-9), resume=True)
    expected, found = load_file(whole / "adapter.safetensors"), load_file(resumed)
    assert expected.keys() == found.keys()
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


def test_queries_keys_and_feed_forward_weights_change_and_nothing_else(start, adapter):
    model, *_ = load_weights(start)
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    found = read_adapter(adapter)
    assert (found.algorithm, found.statistic) == ("lingam", "distance-correlation")
    merged = found.merge(weights)
    assert set(merged) == {"read.0.weight", "read.2.weight", "blocks.0.inward.weight", "blocks.0.outward.weight"}
    moved = {name: np.abs(value - weights[name]) > 0 for name, value in merged.items()}
    rows = moved["blocks.0.inward.weight"].any(1)
    assert [bool(rows[16 * k : 16 * k + 16].any()) for k in range(6)] == [True, True, False, True, True, False]  # queries, keys, values, twice
    assert not rows[96:112].any()  # triangle
    assert rows[112:].any()
    columns = moved["blocks.0.outward.weight"].any(0)
    assert not columns[:-16].any()
    assert columns[-16:].any()
    assert moved["read.0.weight"].any()
    assert np.linalg.matrix_rank((merged["blocks.0.inward.weight"] - weights["blocks.0.inward.weight"])[:16], tol=1e-6) == 2


def test_a_network_is_the_same_until_its_factors_are_trained():
    torch.manual_seed(0)
    model = Base(TINY.model).eval()
    torch.nn.init.normal_(model.blocks[0].outward.weight)
    channels = torch.randn(1, 5, 5, TINY.model.channels)
    with torch.no_grad():
        before = model(channels)
        adapt(model, base_parts(model), 2)
        assert torch.equal(model(channels), before)
    trained = [name for name, value in model.named_parameters() if value.requires_grad]
    assert len(trained) == 8
    assert all(".parametrizations.weight.0." in name for name in trained)


def test_any_linear_layer_can_be_adapted():
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 3))
    adapt(model, [Part("0", columns=slice(1, 3)), Part("1")], 1)
    model(torch.ones(2, 4)).sum().backward()
    assert [name for name, value in model.named_parameters() if value.grad is not None] == [
        f"{layer}.parametrizations.weight.0.{factor}" for layer in (0, 1) for factor in ("up", "down")
    ]
    assert (model[0].parametrizations.weight[0].down != 0).tolist() == [[False, True, True, False]]


def test_all_weights_can_be_trained_and_released(start, tmp_path):
    path = finetune(replace(LINGAM, rank=0), tmp_path / "full", start=start, config=TINY)
    checkpoint = tmp_path / "full" / "last.safetensors"
    for of in (start, checkpoint):
        export_weights(of, tmp_path / of.parent.name, "tiny")
    before, after = (Network(tmp_path / of.parent.name / "tiny.onnx") for of in (start, checkpoint))
    channels = np.random.default_rng(0).standard_normal((5, 5, TINY.model.channels)).astype(np.float32)
    np.testing.assert_allclose(replace(before, adapter=read_adapter(path)).logits(channels), after.logits(channels), rtol=0, atol=1e-6)
    assert np.abs(before.logits(channels) - after.logits(channels)).max() > 1e-3


@pytest.mark.parametrize("rank", [0, 2])
def test_the_paper_network_is_adapted(rank, tmp_path):
    sizes = PaperConfig(width=16, heads=2, blocks=1, hidden=16, variables=40, subsets=60)
    begun = train(replace(TINY, preset="paper", paper=sizes, steps=3), tmp_path / "start")
    path = finetune(replace(LINGAM, rank=rank), tmp_path / "adapted", start=begun, config=TINY)
    _, onnx_path = export_weights(begun, tmp_path, "paper")
    network = PaperNetwork(onnx_path, adapter=read_adapter(path))
    assert (network.algorithm, network.statistic) == ("lingam", "distance-correlation")
    dataset = simulate_dataset(Simulation(variables=6, edges=6, noise_law="uniform"), generator=np.random.default_rng(0))
    found, plain = discover(dataset, weights=str(onnx_path), adapter=path), discover(dataset, weights=str(onnx_path))
    assert (found.config.algorithm, found.config.statistic) == ("lingam", "distance-correlation")
    assert np.abs(found.probabilities - plain.probabilities).max() > 1e-5
    preset = Adapted(PaperPreset(sizes, "lingam", "distance-correlation"), begun, {"rank": rank})
    model = preset.build().eval()
    tensors = read_checkpoint(tmp_path / "adapted" / "last.safetensors")[0]
    model.load_state_dict({name[8:]: value for name, value in tensors.items() if name.startswith("average.")}, strict=False)
    views = view_marginals(dataset, 20, algorithm="lingam", statistic="distance-correlation")
    variables, estimates = views.local
    drawn = {"tables": network.tables, "generator": np.random.default_rng(0)}
    tokens = make_tokens(views.channels["distance-correlation"], "distance-correlation", variables, estimates.marks, **drawn)
    with torch.no_grad():
        expected = model(**{name: torch.from_numpy(value) for name, value in join_tokens([tokens]).items()})[0].numpy()
    np.testing.assert_allclose(network.logits(tokens), expected, rtol=0, atol=1e-5)


def test_a_low_rank_run_is_no_network_by_itself(start, adapter, tmp_path):
    checkpoint = adapter.with_name("last.safetensors")
    assert not any(name.startswith("average.read.0.bias") for name in read_checkpoint(checkpoint)[0])
    for use in (partial(export_weights, checkpoint, tmp_path, "x"), lambda: finetune(LINGAM, tmp_path / "y", start=checkpoint, config=TINY)):
        with pytest.raises(CheckpointError, match="must hold a whole network; found an adapter"):
            use()
    with pytest.raises(CheckpointError, match=r"must be a run of .*'rank': 4.*; found .*'rank': 2"):
        finetune(replace(LINGAM, rank=4), adapter.parent, start=start, config=TINY, resume=True)
    with pytest.raises(CheckpointError, match="must be a run of seacausal train"):
        train(TINY, adapter.parent, resume=True)


def test_adaptations_are_checked():
    for options, words in (
        ({"algorithm": "oracle"}, "'oracle'"),
        ({"algorithm": "pc", "statistic": "x"}, "'x'"),
        ({"algorithm": "pc", "rank": -1}, "-1"),
    ):
        with pytest.raises(DataError, match=f"found {words}"):
            Adaptation(**options)


def test_time_ends_a_run_and_lowers_its_learning_rate(start, tmp_path):
    finetune(LINGAM, tmp_path, start=start, config=replace(TINY, steps=10**9, save_every=10**9, minutes=0.02))
    header = read_checkpoint(tmp_path / "last.safetensors")[1]
    assert 1.2 <= header["seconds"] < 60
    assert 0 < header["step"] < 10**6
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 1 + header["step"]
    timed = TrainConfig(steps=10**9, minutes=10, decay=0.5, warmup=1)
    assert [_schedule(5, seconds, timed) for seconds in (0, 300, 450, 600, 700)] == [1, 1, 0.5, 0, 0]


def test_the_statistic_takes_one_channel_and_the_algorithm_the_marks():
    dataset = simulate_dataset(Simulation(variables=6, edges=6, noise_law="uniform"), generator=np.random.default_rng(0))
    before = view_dataset(dataset, 10)
    after = view_dataset(dataset, 10, algorithm="lingam", statistic="distance-correlation", shown=True)
    told = after.channels["partial correlation"]
    assert np.array_equal(told, told.T)
    assert (told.diagonal() == 0).all()
    assert (told[~np.eye(6, dtype=bool)] > 0).all()
    same = {name for name in before.channels if np.array_equal(before.channels[name], after.channels[name])}
    assert {"correlation", "partial correlation significance", "additive", "entropy order precedence"} <= same
    assert "partial correlation" not in same
    assert not after.channels["circle"].any()
    guided = view_dataset(dataset, 10, statistic="distance-correlation")
    assert np.array_equal(guided.channels["partial correlation"], before.channels["partial correlation"])
    assert np.array_equal(guided.local[0], after.local[0])


def test_the_recipe_for_uniform_noise_draws_what_it_says():
    config = read_recipe(Path(__file__).parents[2] / "recipes" / "uniform.toml")
    drawn = [draw_specification(config.domain, 10, generator=np.random.default_rng(seed)) for seed in range(100)]
    assert all(one.mechanisms == ("linear",) and one.root_law == one.noise_law == "uniform" and one.targets == one.hidden == 0 for one in drawn)
    assert 15 < sum(one.measurement == "units" for one in drawn) < 60
    free = [draw_specification(Domain(expression=0), 10, generator=np.random.default_rng(seed)) for seed in range(100)]
    assert len({one.noise_law for one in free}) > 3
