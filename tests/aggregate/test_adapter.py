import json
import struct
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from seacausal.aggregate.adapter import FORMAT, hash_weights, read_adapter
from seacausal.aggregate.encoding import WIDTH
from seacausal.aggregate.export import export_onnx
from seacausal.aggregate.model import Base, ModelConfig
from seacausal.aggregate.network import Network, released
from seacausal.discovery import discover
from seacausal.errors import CheckpointError, DataError
from seacausal.io.tensors import read_tensors
from seacausal.train.low_rank import adapt, base_parts, name_factors
from seacausal.train.release import write_network

CONFIG = ModelConfig(width=16, heads=2, blocks=2, triangle=4, hidden=16)


def draw_model(seed):
    torch.manual_seed(seed)
    model = Base(CONFIG)
    for block in model.blocks:
        torch.nn.init.normal_(block.outward.weight, 0, 0.2)
    return model.eval()


def to_numpy(tensors):
    return {name: value.detach().numpy() for name, value in tensors.items()}


def write(path, tensors, **header):
    save_file(to_numpy(tensors), path, metadata={"format": FORMAT, "header": json.dumps(header)})
    return path


@pytest.fixture
def network(tmp_path):
    """A small network, written as `export` does."""
    model = draw_model(0)
    path = tmp_path / "tiny.onnx"
    write_network(path, model, export_onnx(model))
    return Network(path)


def facts(of=None):
    weights = hash_weights(to_numpy((of or draw_model(0)).state_dict()))
    return {"weights": weights, "algorithm": "lingam", "statistic": "distance-correlation"}


@pytest.fixture
def adapted(tmp_path):
    """The same network with random factors of rank 2, and its file."""
    model = draw_model(0)
    adapt(model, base_parts(model), 2)
    trained = {name: value for name, value in model.named_parameters() if value.requires_grad}
    with torch.no_grad():
        for name, value in trained.items():
            if name.endswith("up"):
                value.normal_(0, 0.5)
        # what lies outside the parts counts for nothing, in torch and in the file
        factors = {
            name: value * model.get_submodule(name[: name.rindex(".")]).get_buffer("of_" + ("rows" if name.endswith("up") else "columns"))
            for name, value in trained.items()
        }
    return model, write(tmp_path / "adapter.safetensors", name_factors(factors), **facts())


def forward(model, channels):
    with torch.no_grad():
        return model(torch.from_numpy(channels)[None])[0].numpy()


@pytest.mark.parametrize("d", [2, 9, 31])
def test_an_adapted_forward_equals_torch(network, adapted, d):
    model, path = adapted
    channels = np.random.default_rng(d).standard_normal((d, d, WIDTH)).astype(np.float32)
    changed = replace(network, adapter=read_adapter(path))
    np.testing.assert_allclose(changed.logits(channels), forward(model, channels), rtol=0, atol=1e-5)
    assert np.abs(changed.logits(channels) - network.logits(channels)).max() > 0.1


def test_whole_weights_take_the_place_of_others(network, tmp_path):
    other = draw_model(1)
    path = write(tmp_path / "full.safetensors", other.state_dict(), **facts())
    channels = np.random.default_rng(0).standard_normal((7, 7, WIDTH)).astype(np.float32)
    np.testing.assert_allclose(replace(network, adapter=read_adapter(path)).logits(channels), forward(other, channels), rtol=0, atol=1e-5)


def test_the_reader_reads_what_safetensors_reads():
    path = released().tensors
    ours, metadata = read_tensors(path)
    theirs = load_file(path)
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert json.loads(metadata["header"])["step"] > 0


def test_an_adapter_of_other_weights_is_refused(network, adapted, tmp_path):
    _, path = adapted
    with pytest.raises(CheckpointError, match=r"must belong to the weights in use; it was trained from .*run `seacausal finetune` again"):
        replace(released(), adapter=read_adapter(path)).load()


@pytest.mark.parametrize("change", ["lone", "shape", "name", "none"])
def test_tensors_that_do_not_fit_are_refused(network, adapted, tmp_path, change):
    tensors = load_file(adapted[1])
    up = "blocks.0.inward.weight/up"
    if change == "lone":
        del tensors["blocks.0.inward.weight/down"]
    elif change == "shape":
        tensors[up] = tensors[up][:-1].copy()
    elif change == "name":
        tensors["blocks.7.inward.weight"] = tensors[up]
    else:
        tensors = {}
    save_file(tensors, tmp_path / "bad.safetensors", metadata={"format": FORMAT, "header": json.dumps(facts())})
    with pytest.raises(CheckpointError, match=r"bad\.safetensors' must fit the weights"):
        replace(network, adapter=read_adapter(tmp_path / "bad.safetensors")).load()


def table(entry, numbers=b"\0" * 16):
    header = json.dumps({"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} | entry}).encode()
    return struct.pack("<Q", len(header)) + header + numbers


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 40,
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 60_000) + b"[" * 60_000,
        table({"dtype": "I64"}),
        table({"shape": [2, 3]}),
        table({"shape": [-2, -2]}),
        table({"shape": 4}),
        table({"data_offsets": [0, 2**60]}),
        table({"data_offsets": [0.0, 16.0]}),
        table({}, numbers=b"\0" * 12),
        table({}, numbers=struct.pack("<4f", 0, 0, 0, np.nan)),
    ],
)
def test_damaged_files_are_named(tmp_path, content):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"bad\.safetensors' must be a safetensors file of finite float32 numbers"):
        read_adapter(path)


def test_foreign_files_are_named(tmp_path):
    with pytest.raises(CheckpointError, match="must be a readable file"):
        read_adapter(tmp_path / "none.safetensors")
    with pytest.raises(CheckpointError, match=r"must be an adapter of format seacausal-adapter-1; found 'seacausal-weights-1'"):
        read_adapter(released().tensors)
    path = write(tmp_path / "bare.safetensors", {"w": torch.zeros(2)}, weights="0")
    with pytest.raises(CheckpointError, match="must name weights, algorithm and statistic"):
        read_adapter(path)


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 6))
    x[:, 3:] += x[:, :3] ** 3
    return x


def test_discover_takes_algorithm_and_statistic_from_the_adapter(network, adapted, values):
    _, path = adapted
    options = {"network": network, "subsets": 20}
    graph = discover(values, adapter=path, **options)
    assert (graph.config.algorithm, graph.config.statistic) == ("lingam", "distance-correlation")
    assert graph.summary()["adapter sha256"] == read_adapter(path).sha256
    plain = discover(values, algorithm="lingam", statistic="distance-correlation", **options)
    assert "adapter sha256" not in plain.summary()
    assert np.abs(graph.probabilities - plain.probabilities).max() > 1e-3
    given = discover(values, adapter=path, algorithm="pc", **options)
    assert (given.config.algorithm, given.config.statistic) == ("pc", "distance-correlation")
    assert (plain.config.algorithm, discover(values, **options).config.algorithm) == ("lingam", "fci")


def test_discover_refuses_what_does_not_go_together(network, adapted, values, tmp_path):
    _, path = adapted
    with pytest.raises(CheckpointError, match="must belong to the weights in use"):
        discover(values, adapter=path)
    with pytest.raises(DataError, match="`adapter` must not be given with the aggregator 'vote'"):
        discover(values, adapter=path, aggregator="vote")
    later = write(tmp_path / "later.safetensors", {"head.out.bias": torch.zeros(2)}, **(facts() | {"algorithm": "oracle"}))
    with pytest.raises(CheckpointError, match=r"later\.safetensors' must be of this version .*found 'oracle'"):
        discover(values, adapter=later, network=network)
