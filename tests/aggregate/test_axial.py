import numpy as np
import pytest
import torch

from seacausal.aggregate.axial import Paper, PaperConfig
from seacausal.aggregate.export_axial import export_paper
from seacausal.aggregate.network import Network, PaperNetwork, load_weights
from seacausal.aggregate.tokens import PADDING, Tokens, join_tokens, make_tokens
from seacausal.errors import CheckpointError, DataError
from seacausal.train.release import write_network

SMALL = {"width": 16, "blocks": 2, "heads": 4, "hidden": 8, "variables": 30, "subsets": 40}


def build(*, tied=False, **fields):
    """Random weights everywhere, also where training starts from zero."""
    torch.manual_seed(0)
    model = Paper(PaperConfig(tied=tied, **SMALL | fields))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 0, 0.3)
    return model.double().eval()


def draw(d, t, seed=0, k=5):
    rng = np.random.default_rng(seed)
    variables = np.array([rng.choice(d, k, replace=False) for _ in range(t)])
    marks = rng.integers(0, 4, (t, k, k)).astype(np.int8)
    statistic = rng.standard_normal((d, d))
    tables = (SMALL["variables"], SMALL["subsets"])
    return make_tokens(statistic + statistic.T, "inverse-covariance", variables, marks, tables=tables, generator=rng)


def run(model, *sets):
    arrays = join_tokens(sets)
    return model(**{name: torch.from_numpy(array).double() if name == "statistic" else torch.from_numpy(array) for name, array in arrays.items()})


def attend(x, present, attention, *, tied):
    """(R, C, w): attention along C by the plain formula; entries that are not present are masked."""
    width, heads = x.shape[-1], attention.heads
    q, k, v = attention.inward(attention.norm(x)).unflatten(-1, (3, heads, width // heads)).unbind(-3)
    score = torch.einsum("rihc,rjhc->rhij", q, k) / (width // heads) ** 0.5
    if tied:
        both = (present[:, :, None] & present[:, None])[:, None]
        score = (score * both).sum(0, keepdim=True) / both.sum(0, keepdim=True).clamp(min=1) ** 0.5
    score = score.expand(len(x), -1, -1, -1).masked_fill(~present[:, None, None], -1e300)
    return x + attention.outward(torch.einsum("rhij,rjhc->rihc", score.softmax(-1), v).flatten(2))


def dense(model, tokens: Tokens, *, tied):
    """The network on the padded (T, K) alignment of one data set, K = d^2."""
    d, t = len(tokens.statistic), len(tokens.times)
    aligned = np.full((t, d * d), PADDING)
    aligned[np.arange(t)[:, None], tokens.cells] = tokens.types
    types = torch.from_numpy(aligned)
    present = types != PADDING
    node = model.of_node(torch.from_numpy(tokens.nodes))
    x = model.read(torch.from_numpy(tokens.statistic).double()[..., None]) + node[:, None] + node[None]
    pair = model.pair((model.cause(node)[:, None] + model.effect(node)[None]).relu()).reshape(d * d, -1)
    h = model.of_type(types) + model.of_time(torch.from_numpy(tokens.times))[:, None] + pair[None]
    everywhere = torch.ones(d, d, dtype=torch.bool)
    for block in model.blocks:
        h = attend(h, present, block.inside, tied=tied)
        h = attend(h.transpose(0, 1), present.T, block.along, tied=tied).transpose(0, 1)
        h = block.marginal(h)
        count = present.sum(0)[:, None]
        mean = (h * present[..., None]).sum(0) / count.clamp(min=1)
        message = torch.where(count > 0, mean, block.uncovered).view(x.shape)
        x = block.merge(torch.cat([x, message], -1))
        x = attend(x, everywhere, block.rows, tied=tied)
        x = attend(x.transpose(0, 1), everywhere, block.columns, tied=tied).transpose(0, 1)
        x = block.globally(x)
        h = h + x.reshape(1, d * d, -1)
    return model.head(x[None])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("d", "t"), [(5, 3), (7, 30), (12, 9), (20, 1)])
def test_the_sparse_network_is_the_masked_dense_one(d, t, tied):
    """Segments of one to thirty tokens, and pairs that no subset holds."""
    model, tokens = build(tied=tied), draw(d, t, seed=d)
    expected = dense(model, tokens, tied=tied)
    torch.testing.assert_close(run(model, tokens), expected, rtol=0, atol=1e-8)
    assert (run(build(tied=not tied), tokens) - expected).abs().max() > 1e-3


@pytest.mark.parametrize("tied", [False, True])
def test_gradients_are_those_of_the_dense_network(tied):
    tokens = draw(8, 12)
    sparse, plain = build(tied=tied), build(tied=tied)
    (run(sparse, tokens) ** 2).sum().backward()
    (dense(plain, tokens, tied=tied) ** 2).sum().backward()
    for (name, one), two in zip(sparse.named_parameters(), plain.parameters()):
        torch.testing.assert_close(one.grad, two.grad, rtol=1e-7, atol=1e-7, msg=name)
        assert one.grad.abs().max() > 0, name


def test_permuting_variables_with_their_embeddings_permutes_the_logits():
    model, tokens = build(), draw(9, 12)
    order = np.random.default_rng(1).permutation(9)
    place = np.argsort(order)
    moved = Tokens(
        tokens.statistic[np.ix_(order, order)],
        tokens.types,
        place[tokens.cells // 9] * 9 + place[tokens.cells % 9],
        tokens.nodes[order],
        tokens.times,
    )
    expected = run(model, tokens)[:, order][:, :, order]
    torch.testing.assert_close(run(model, moved), expected, rtol=0, atol=1e-10)
    unmoved = Tokens(moved.statistic, moved.types, moved.cells, tokens.nodes, tokens.times)
    assert (run(model, unmoved) - expected).abs().max() > 1e-3


def test_the_order_of_subsets_and_of_variables_within_them_is_irrelevant():
    model, tokens = build(), draw(9, 12)
    rng = np.random.default_rng(2)
    subsets, within = rng.permutation(12), rng.permutation(20)
    moved = Tokens(tokens.statistic, tokens.types[subsets][:, within], tokens.cells[subsets][:, within], tokens.nodes, tokens.times[subsets])
    torch.testing.assert_close(run(model, moved), run(model, tokens), rtol=0, atol=1e-10)


def test_swapping_i_and_j_swaps_the_outputs():
    logits = run(build(), draw(8, 10))
    assert torch.equal(logits, logits.transpose(1, 2)[..., [0, 2, 1]])
    assert (logits[..., 1] - logits[..., 2]).abs().max() > 0.01


@pytest.mark.parametrize("tied", [False, True])
def test_a_batch_of_two_is_two_batches_of_one(tied):
    model, first, second = build(tied=tied), draw(8, 10, seed=1), draw(8, 25, seed=2)
    torch.testing.assert_close(run(model, first, second), torch.cat([run(model, first), run(model, second)]), rtol=0, atol=1e-10)


def test_pairs_that_were_never_covered_read_the_learned_constant():
    """One subset of five among ten variables: with blocks that let nothing else through, only the other pairs follow the constant."""
    model, tokens = build(blocks=1), draw(10, 1)
    block = model.blocks[0]
    for part in (block.rows, block.columns, block.globally):
        torch.nn.init.zeros_(part.outward.weight)
    before = run(model, tokens)
    torch.nn.init.normal_(block.uncovered, 0, 1.0)
    moved = (run(model, tokens) - before).abs().amax(-1)[0].reshape(-1)
    covered = np.zeros(100, bool)
    covered[tokens.cells] = True
    assert moved[covered].max() == 0
    assert moved[~covered].min() > 0


def test_dropout_is_for_training_alone():
    model, tokens = build(dropout=0.5), draw(8, 10)
    assert torch.equal(run(model, tokens), run(model, tokens))
    model.train()
    assert not torch.equal(run(model, tokens), run(model, tokens))


def test_tokens_name_both_marks_and_both_ends():
    """0 o-> 2 in the subset (2, 0, 1); nothing else is joined."""
    marks = np.zeros((1, 3, 3), np.int8)
    marks[0, 1, 0], marks[0, 0, 1] = 2, 3
    statistic = np.array([[100.0, -20, 0], [-20, 8, 0], [0, 0, 1]])
    raw, plain = (
        make_tokens(statistic, name, np.array([[2, 0, 1]]), marks, tables=(3, 1), generator=np.random.default_rng(0))
        for name in ("inverse-covariance", "correlation")
    )
    found = dict(zip(raw.cells[0].tolist(), raw.types[0].tolist()))
    assert found == {0 * 3 + 2: 4 * 3 + 2, 2 * 3 + 0: 4 * 2 + 3, 1: 0, 3: 0, 5: 0, 7: 0}
    np.testing.assert_allclose(np.sinh(raw.statistic.astype(float)), statistic, rtol=1e-5)
    assert sorted(raw.nodes) == [0, 1, 2]
    assert np.array_equal(plain.statistic, statistic)


def test_segments_hold_all_tokens_once():
    sets = draw(8, 10, seed=1), draw(8, 25, seed=2)
    joined = join_tokens(sets)
    cells = np.concatenate([sets[0].cells.ravel(), 64 + sets[1].cells.ravel()])
    assert np.array_equal(cells[joined["order"]], np.repeat(joined["segments"], joined["lengths"]))
    assert sorted(joined["order"]) == list(range(35 * 20))
    assert (np.diff(joined["lengths"]) >= 0).all()
    assert (joined["lengths"] > 0).all()


@pytest.mark.parametrize(("d", "t", "what"), [(31, 3, "30 variables at most; found 31"), (9, 41, "40 subsets at most; found 41")])
def test_more_than_there_are_embeddings_are_refused(d, t, what):
    with pytest.raises(DataError, match=what):
        draw(d, t)


@pytest.mark.parametrize(("d", "t"), [(5, 40), (9, 12), (30, 25), (12, 1)])
def test_onnx_equals_torch(d, t, tmp_path):
    model, tokens = build(width=32).float(), draw(d, t)
    path = tmp_path / "net.onnx"
    write_network(path, model, export_paper(model, "gies", "correlation"))
    inputs = {name: torch.from_numpy(array) for name, array in join_tokens([tokens]).items()}
    with torch.no_grad():
        expected = model(**inputs)[0].numpy()
    found = PaperNetwork(path).logits(tokens)
    assert np.abs(found - expected).max() < 1e-5 * max(1, np.abs(expected).max())
    assert np.abs(expected).max() > 0.1


def test_files_say_what_they_hold(tmp_path):
    path = tmp_path / "net.onnx"
    model = build().float()
    write_network(path, model, export_paper(model, "gies", "correlation"))
    network = load_weights(str(path))
    assert isinstance(network, PaperNetwork)
    assert (network.algorithm, network.statistic, network.tables) == ("gies", "correlation", (30, 40))
    assert isinstance(load_weights("base"), Network)
    assert isinstance(load_weights(str(load_weights("base").path)), Network)
    with pytest.raises(DataError, match=r"`weights` must be one of base.*; found 'basis'"):
        load_weights("basis")
    with pytest.raises(CheckpointError, match="must be readable"):
        load_weights(str(tmp_path / "none.onnx"))
    with pytest.raises(CheckpointError, match="must not tie attention"):
        export_paper(build(tied=True).float(), "gies", "correlation")


def test_predictions_follow_the_seed_and_swap_with_the_statistic(tmp_path):
    path = tmp_path / "net.onnx"
    model = build().float()
    write_network(path, model, export_paper(model, "fci", "correlation"))
    network = PaperNetwork(path, threads=1)
    rng = np.random.default_rng(0)
    variables = np.array([rng.choice(8, 5, replace=False) for _ in range(6)])
    marks, statistic = rng.integers(0, 4, (6, 5, 5)).astype(np.int8), np.corrcoef(rng.standard_normal((8, 20)))
    first = network.predict(statistic, variables, marks, seed=1)
    assert np.array_equal(first, network.predict(statistic, variables, marks, seed=1))
    assert not np.array_equal(first, network.predict(statistic, variables, marks, seed=2))
    assert (np.diag(first) == 0).all()
    assert (first + first.T <= 1).all()
    np.testing.assert_allclose(network.predict(statistic, variables[:0], marks[:0]), (1 - np.eye(8)) / 3)
