"""Batches of data sets against as many simulated one after another: every statistic of a set has the same distribution over sets."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest, kurtosis

torch = pytest.importorskip("torch", reason="torch is not installed")

from seacausal.errors import DataError  # noqa: E402
from seacausal.simulate import noise  # noqa: E402
from seacausal.simulate.batched import INTERVENTIONS, LAWS, MECHANISMS, _draw_layers, simulate_batch  # noqa: E402
from seacausal.simulate.dataset import Simulation, simulate_dataset  # noqa: E402
from seacausal.simulate.graphs import GRAPHS  # noqa: E402

SETS = 3000
WEB = ((0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4))


@pytest.fixture
def web(monkeypatch):
    """A graph of five variables with 0, 1, 1, 3 and 1 parents."""
    adjacency = np.zeros((5, 5), bool)
    adjacency[tuple(np.transpose(WEB))] = True
    monkeypatch.setitem(GRAPHS, "web", lambda *_, **__: adjacency)


def both(simulation, sets=SETS):
    """(sets, n, d) values of either path, with their targets (sets, r, d), adjacency (sets, d, d) and regime (n,)."""
    generator = np.random.default_rng(0)
    single = [simulate_dataset(simulation, generator=generator) for _ in range(sets)]
    batch = simulate_batch(simulation, sets, generator=np.random.default_rng(1))
    np.testing.assert_array_equal(single[0].regime, batch.regime)
    plain = (np.stack([one.values for one in single]), np.stack([one.targets for one in single]), np.stack([one.adjacency for one in single]))
    return plain, (batch.values.numpy(), batch.targets.numpy(), batch.adjacency.numpy()), single[0].regime


def describe(values):
    """Name of each statistic: (sets,) its values."""
    x = values.astype(np.float64)
    centred = x - x.mean(1, keepdims=True)
    covariance = np.einsum("bni,bnj->bij", centred, centred) / x.shape[1]
    spread = np.maximum(np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)), 1e-6)  # a constant has none but by rounding
    found = {}
    for i in range(x.shape[2]):
        found[f"mean {i}"], found[f"log variance {i}"] = x[:, :, i].mean(1), np.log(spread[:, i])
        found[f"kurtosis {i}"] = np.round((centred[:, :, i] ** 4).mean(1) / spread[:, i] ** 4, 6)
        for j in range(i):
            found[f"correlation {i} {j}"] = np.round(covariance[:, i, j] / spread[:, i] / spread[:, j], 6)
    return found


def assert_same_law(one, other):
    one, other = describe(one), describe(other)
    for name, values in one.items():
        assert ks_2samp(values, other[name]).pvalue > 1e-4, name


@pytest.mark.parametrize(
    "fields",
    [
        *({"mechanisms": (name,)} for name in MECHANISMS),
        {"mechanisms": tuple(MECHANISMS), "noise_law": "exponential", "root_law": "gaussian", "root_scale": 1.5},
        {"mechanisms": ("nn-additive",), "rescaled": True, "noise_per_regime": False},
        {"weights": (1.0, 3.0), "noise_coefficient": 1.0},
    ],
)
def test_every_statistic_has_the_law_of_the_single_path(web, fields):
    simulation = Simulation(variables=5, edges=6, graph="web", observational_rows=100, **fields)
    (one, _, _), (other, _, _), _ = both(simulation)
    assert other.dtype == np.float32
    assert_same_law(one, other)


@pytest.mark.parametrize("intervention", INTERVENTIONS)
def test_every_regime_has_the_law_of_the_single_path(web, intervention):
    fields = {"targets": 5, "regime_rows": 30, "intervention": intervention, "mechanisms": ("linear", "nn"), "noise_coefficient": 1.0}
    (one, _, _), (other, targets, _), regime = both(Simulation(variables=5, edges=6, graph="web", observational_rows=60, **fields), 1500)
    assert (targets == np.eye(6, 5, -1, dtype=bool)).all()
    for number in range(6):
        assert_same_law(one[:, regime == number], other[:, regime == number])


def test_targets_are_hit_in_their_regimes_alone():
    fields = {"targets": 7, "targets_per_regime": 3, "regime_rows": 4, "observational_rows": 5, "intervention": "knock-out"}
    batch = simulate_batch(Simulation(variables=9, edges=14, **fields), 30, generator=np.random.default_rng(8))
    assert batch.regime.tolist() == [0] * 5 + [1] * 4 + [2] * 4 + [3] * 4
    assert (batch.targets.sum(2) == torch.tensor([0, 3, 3, 1])).all()
    assert torch.equal(batch.values == 0, batch.targets[:, batch.regime])


def test_noise_differs_between_regimes_as_it_should(web):
    def spread_of_spreads(per_regime):
        fields = {"targets": 1, "regime_rows": 400, "noise_per_regime": per_regime, "mechanisms": ("linear",)}
        batch = simulate_batch(
            Simulation(variables=5, edges=6, graph="web", observational_rows=400, **fields), 300, generator=np.random.default_rng(2)
        )
        keep = ~batch.targets[:, 1, 1]
        x, y = batch.values[keep][:, :, 0].double(), batch.values[keep][:, :, 1].double()
        slope = (x * y).mean(1) / (x * x).mean(1)
        left = (y - slope[:, None] * x).reshape(len(x), 2, 400).std(2)
        return (left[:, 0] / left[:, 1]).log().std()

    assert spread_of_spreads(per_regime=False) < 0.08
    assert spread_of_spreads(per_regime=True) > 0.1


@pytest.mark.parametrize("graph", ["erdos-renyi", "scale-free", "regulatory"])
def test_graph_and_values_belong_together(graph):
    """Without noise a child is the linear combination of its own parents, with weights in range."""
    simulation = Simulation(variables=9, edges=14, graph=graph, observational_rows=50, noise_coefficient=0.0)
    batch = simulate_batch(simulation, 40, generator=np.random.default_rng(3))
    edges = []
    for values, adjacency in zip(batch.values.double().numpy(), batch.adjacency.numpy()):
        edges.append(adjacency.sum())
        for child in np.flatnonzero(adjacency.any(0)):
            w, *_ = np.linalg.lstsq(values[:, adjacency[:, child]], values[:, child], rcond=1e-9)
            np.testing.assert_allclose(values[:, adjacency[:, child]] @ w, values[:, child], atol=1e-5)
        roots = values[:, ~adjacency.any(0)]
        assert 0.7 < np.abs(roots).max() <= 1
    assert np.mean(edges) == pytest.approx(14, abs=4.5 * np.sqrt(14 / 40))


@pytest.mark.parametrize("law", noise.LAWS)
def test_laws_are_those_of_the_single_path(law):
    generator = torch.Generator().manual_seed(4)
    draws = LAWS[law](2000, 100, generator).double().numpy()
    expected = np.stack([noise.draw_noise(law, 100, generator=np.random.default_rng([5, i])) for i in range(2000)])
    if law != "heavy":  # which has no variance
        assert abs(draws.mean()) < 4.5 / np.sqrt(draws.size)
        assert draws.var() == pytest.approx(1, abs=4.5 * np.sqrt(8 / draws.size))
    shown = np.s_[:, 0] if law == "steps" else np.s_[::4]  # the steps of one variable are no independent draws
    assert ks_2samp(draws[shown].ravel(), expected[shown].ravel()).pvalue > 1e-3
    assert ks_2samp(kurtosis(draws, axis=1), kurtosis(expected, axis=1)).pvalue > 1e-3


@pytest.mark.parametrize("name", ["nn-additive", "nn"])
def test_networks_follow_their_formulas(name):
    """Two children of three and of two parents, the third place being padded with zeros."""
    generator = torch.Generator().manual_seed(6)
    x, noise = torch.randn((2, 3, 7), generator=generator), torch.randn((2, 7), generator=generator)
    present, count = torch.tensor([[True, True, True], [True, True, False]]), torch.tensor([3, 2])
    x *= present[:, :, None]
    found = MECHANISMS[name](x, present, count, noise, (0, 0), torch.Generator().manual_seed(7))
    inputs = x if name == "nn-additive" else torch.cat([noise[:, None], x], 1)
    extra, hidden = (0, 10) if name == "nn-additive" else (1, 20)
    w, b, v, c = _draw_layers(inputs, count + extra, hidden, torch.Generator().manual_seed(7))
    assert w.shape == (2, hidden, 3 + extra)
    assert (b.abs().amax(1)[:, 0] <= (count + extra) ** -0.5).all()
    assert (b.abs().amax(1)[:, 0] > 0.7 * (count + extra) ** -0.5).all()
    h = torch.einsum("ghk,gkn->ghn", w, inputs) + b
    h = torch.where(h > 0, h, 0.25 * h) if name == "nn-additive" else torch.tanh(h)
    expected = (v.transpose(1, 2) * h).sum(1) + c[:, 0] + (noise if name == "nn-additive" else 0)
    torch.testing.assert_close(found, expected)
    many = torch.stack([_draw_layers(inputs, count, hidden, torch.Generator().manual_seed(seed))[3] for seed in range(200)])
    assert 0.95 < many.abs().max() * hidden**0.5 <= 1


def test_clamped_levels_are_log_uniform():
    levels = INTERVENTIONS["clamp"](4000, 3, torch.Generator().manual_seed(8))
    assert (levels == levels[:, :1]).all()
    assert kstest((levels[:, 0].abs() / 0.5).log10().numpy(), "uniform").pvalue > 1e-3
    assert abs((levels[:, 0] > 0).double().mean() - 0.5) < 4.5 * 0.5 / np.sqrt(4000)


def test_the_generator_decides_every_byte():
    simulation = Simulation(mechanisms=("linear", "nn"), targets=3, regime_rows=5)
    first, again, other = (simulate_batch(simulation, 4, generator=np.random.default_rng(seed)) for seed in (6, 6, 7))
    for field in ("values", "adjacency", "regime", "targets"):
        assert torch.equal(getattr(first, field), getattr(again, field))
    assert not torch.equal(first.values, other.values)
    assert not torch.equal(first.values[0], first.values[1])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("mechanisms", ("linear", "gp")), ("levels", 3), ("hidden", 1), ("mediators", 1), ("cycles", 1), ("selection", 1)),
        *(
            ("off_target", 0.1),
            ("drift", 0.1),
            ("strays", 0.1),
            ("roots_first", True),
            ("settings", 0.5),
            ("regime_spread", 2.0),
            ("root_spread", 2.0),
            ("root_law", "any"),
            ("noise_law", "any"),
            ("bystanders", 1),
            ("measurement", "round"),
            ("network", "x.npz"),
            ("intervention", "shift"),
        ),
    ],
)
def test_what_is_not_done_in_batches_is_refused(field, value):
    with pytest.raises(DataError, match=f"`{field}` must be what batches"):
        simulate_batch(Simulation(targets=0 if field == "cycles" else 2, regime_rows=4, **{field: value}), 2, generator=np.random.default_rng(0))


def test_a_batch_has_a_set():
    with pytest.raises(DataError, match="`sets` must be at least 1; found 0"):
        simulate_batch(Simulation(), 0, generator=np.random.default_rng(0))
