import numpy as np
import pytest
import torch

from seacausal.aggregate.encoding import CHANNELS, GROUPS, NAMES, WIDTH, encode
from seacausal.aggregate.export import export_onnx
from seacausal.aggregate.model import Base, ModelConfig
from seacausal.aggregate.network import ASIDE, FOLDER, Network, choose_passes, released, to_direct
from seacausal.errors import CheckpointError
from seacausal.train.release import compare, load_weights, write_network


@pytest.fixture
def model():
    """Random weights everywhere, also where training starts from zero."""
    torch.manual_seed(0)
    network = Base(ModelConfig(channels=WIDTH, blocks=2))
    for block in network.blocks:
        torch.nn.init.normal_(block.outward.weight, 0, 0.1)
    return network.double().eval()


def draw(*shape):
    return torch.randn(*shape, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_swapping_i_and_j_swaps_the_outputs(model):
    logits = model(draw(2, 7, 7))
    swapped = logits.transpose(1, 2)[..., [0, 2, 1]]
    assert torch.equal(logits, swapped)
    assert (logits[..., 1] - logits[..., 2]).abs().max() > 0.01


def test_permuting_variables_permutes_the_logits(model):
    channels = draw(1, 9, 9)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(2))
    expected = model(channels)[:, order][:, :, order]
    torch.testing.assert_close(model(channels[:, order][:, :, order]), expected, rtol=0, atol=1e-10)
    assert (expected - model(channels)).abs().max() > 0.01


def test_a_batch_of_two_is_two_batches_of_one(model):
    channels = draw(2, 6, 6)
    torch.testing.assert_close(model(channels), torch.cat([model(channels[:1]), model(channels[1:])]), rtol=0, atol=1e-12)


def test_evaluating_twice_is_the_same(model):
    channels = draw(1, 5, 5)
    assert torch.equal(model(channels), model(channels))


def test_onnx_equals_torch(model, tmp_path):
    path = tmp_path / "net.onnx"
    single = model.float()
    write_network(path, single, export_onnx(single))
    assert compare(single, Network(path), sizes=(2, 5, 20, 64)) < 1e-5


def test_released_weights_predict_what_torch_does():
    network = released()
    model, _, _ = load_weights(network.tensors)
    assert compare(model, network, sizes=(2, 11, 50)) < 1e-5


def test_all_released_weights_together_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 10_000_000


def test_the_number_of_threads_changes_nothing():
    channels = np.random.default_rng(0).standard_normal((40, 40, WIDTH)).astype(np.float32)
    assert np.array_equal(released(threads=1).predict(channels), released(threads=2).predict(channels))


def draw_views(*, without: tuple[str, ...] = (), few: bool = False) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    views = {name: generator.standard_normal((6, 6)) for name in NAMES if name not in {name for group in without for name in CHANNELS[group]}}
    return views | ({"levels": np.full((6, 6), np.log(3))} if few else {})


def test_every_pass_does_without_two_groups():
    passes = choose_passes(draw_views(), set(GROUPS))
    assert passes == [set(GROUPS), *(set(GROUPS) - aside for aside in ASIDE)]
    assert all({"moments", "interventions"} <= seen for seen in passes)
    passes = choose_passes(draw_views(without=("interventions", "variances")), set(GROUPS))
    assert len(passes) == 6
    assert not any(seen & {"interventions", "variances"} for seen in passes)


def test_passes_that_would_see_the_same_or_nothing_are_left_out():
    assert choose_passes(draw_views(), {"moments", "interventions"}) == [{"moments", "interventions"}]
    assert choose_passes(draw_views(), {"correlation"}) == [{"correlation"}]
    assert choose_passes(draw_views(), {"correlation", "variances"}) == [{"correlation", "variances"}, {"correlation"}, {"variances"}]
    assert choose_passes(draw_views(without=("variances",)), {"variances"}) == [set()]


def test_moments_of_categories_are_seen_once():
    first, *others = choose_passes(draw_views(few=True), set(GROUPS))
    assert "moments" in first
    assert not any("moments" in seen for seen in others)


def test_only_networks_trained_without_groups_are_asked_without(model, tmp_path):
    views, single = draw_views(), model.float()
    for dropped, passes in ((1.0, choose_passes(views, set(GROUPS))), (0.25, [set(GROUPS)])):
        path = tmp_path / f"{dropped}.onnx"
        write_network(path, single, export_onnx(single, dropped))
        network = Network(path)
        expected = to_direct(np.mean([network.logits(encode(views, 500, seen)) for seen in passes], axis=0))
        np.testing.assert_allclose(network.predict_table(views, 500, set(GROUPS)), expected, atol=1e-6)
        assert network.several == (dropped == 1)


def test_damaged_weights_are_named(tmp_path):
    path = tmp_path / "broken.onnx"
    with pytest.raises(CheckpointError, match=r"broken\.safetensors' must be readable"):
        _ = Network(path).sha256
    with pytest.raises(CheckpointError, match=r"broken\.onnx' must be readable"):
        Network(path).load()
    path.write_bytes(b"no network")
    with pytest.raises(CheckpointError, match=r"broken\.safetensors' must be a readable file"):
        Network(path).load()
    model = Base(ModelConfig(blocks=1))
    write_network(path, model, b"no network")
    with pytest.raises(CheckpointError, match=r"broken\.onnx' must be an ONNX network of the weights in 'broken\.safetensors'"):
        Network(path).load()


@pytest.mark.parametrize("other", [{"blocks": 2}, {"width": 32}])
def test_weights_of_another_network_are_refused(tmp_path, other):
    path = tmp_path / "odd.onnx"
    write_network(path, Base(ModelConfig(blocks=1)), export_onnx(Base(ModelConfig(**{"blocks": 1} | other))))
    with pytest.raises(CheckpointError, match=r"odd\.onnx' must be an ONNX network of the weights in 'odd\.safetensors'"):
        Network(path).load()


def test_weights_of_another_width_are_refused(tmp_path):
    path = tmp_path / "narrow.onnx"
    narrow = Base(ModelConfig(channels=7, blocks=1))
    write_network(path, narrow, export_onnx(narrow))
    with pytest.raises(CheckpointError, match="found 7"):
        Network(path).predict(np.zeros((2, 2, WIDTH), np.float32))
