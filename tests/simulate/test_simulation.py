"""Simulated data against the specification that they were drawn from.

Where a test needs to know the graph, it is put among `GRAPHS` as "fixed".
"""

import hashlib
import inspect
import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kurtosis, spearmanr

from seacausal.errors import DataError
from seacausal.simulate.dataset import INTERVENTIONS, MEASUREMENTS, Simulation, simulate_dataset, topological_order
from seacausal.simulate.graphs import GRAPHS, most_edges
from seacausal.simulate.mechanisms import MECHANISMS, draw_mechanism
from seacausal.simulate.noise import ANY, LAWS, draw_noise

CHAIN = ((0, 1), (1, 2))
DIAMOND = ((0, 1), (0, 2), (1, 3), (2, 3))


@pytest.fixture
def fix_graph(monkeypatch):
    def fix(variables: int, edges: tuple[tuple[int, int], ...]) -> np.ndarray:
        adjacency = np.zeros((variables, variables), bool)
        adjacency[tuple(np.transpose(edges))] = True
        monkeypatch.setitem(GRAPHS, "fixed", lambda *_, **__: adjacency)
        return adjacency

    return fix


def simulate(seed: int, **fields):
    return simulate_dataset(Simulation(**fields), generator=np.random.default_rng(seed))


def regress(target: np.ndarray, *parents: np.ndarray) -> tuple[np.ndarray, float]:
    """Slopes, without the intercept, and the standard deviation of the residual."""
    design = np.column_stack([np.ones(len(target)), *parents]).astype(float)
    coefficients = np.linalg.lstsq(design, target.astype(float), rcond=None)[0]
    return coefficients[1:], float((target - design @ coefficients).std())


def regime_rows(dataset, variable: int) -> np.ndarray:
    """Which rows have `variable` as their target."""
    return dataset.targets[dataset.regime, variable]


# Noise


@pytest.mark.parametrize("law", sorted(set(LAWS) - {"heavy"}))
def test_noise_has_mean_0_and_standard_deviation_1(law):
    size = 400_000
    noise = draw_noise(law, size, generator=np.random.default_rng(0))
    assert noise.dtype == np.float32
    assert noise.shape == (size,)
    noise = noise.astype(float)
    assert abs(noise.mean()) < 4.5 / math.sqrt(size)
    # The standard error of a variance is sqrt((kurtosis - 1) / n); no law has a kurtosis above 9 ("irregular" draws its own, for this seed below).
    assert abs(noise.var() - 1) < 4.5 * math.sqrt(8 / size)


def test_heavy_noise_has_the_middle_of_a_gaussian_and_tails_of_a_power():
    """P(|x| > t) falls as t^-a, a between 1 and 3: from 5 to 50 by a factor between 10 and 1,000, drawn anew for each variable."""
    shares = []
    for seed in range(30):
        noise = draw_noise("heavy", 100_000, generator=np.random.default_rng(seed))
        np.testing.assert_allclose(np.quantile(noise, [0.25, 0.5, 0.75]), [-0.6745, 0, 0.6745], atol=0.02)
        shares.append([(np.abs(noise) > t).mean() for t in (5, 50)])
    falls = np.log10(np.array(shares)[:, 0] / np.maximum(np.array(shares)[:, 1], 1e-6))
    assert 0.9 < falls.min() < 1.4
    assert falls.max() > 2.3


@pytest.mark.parametrize(
    ("law", "skewness", "kurtosis"),
    [("gaussian", 0, 3), ("uniform", 0, 1.8), ("laplace", 0, 6), ("exponential", 2, 9), ("gumbel", 1.1395, 5.4)],
)
def test_noise_laws_differ_in_shape(law, skewness, kurtosis):
    noise = draw_noise(law, 1_000_000, generator=np.random.default_rng(1)).astype(float)
    assert (noise**3).mean() == pytest.approx(skewness, abs=0.05)
    assert (noise**4).mean() == pytest.approx(kurtosis, abs=0.3)  # 0.2 standard errors for the Gaussian, 2 for the exponential


# Mechanisms


def drawn_parameters(mechanism) -> dict:
    return dict(inspect.getclosurevars(mechanism).nonlocals)


def linear_by_hand(w, x, noise):
    return sum(w[p] * x[p] for p in range(len(x))) + noise


def sigmoid_by_hand(a, b, c, x, noise):
    return sum(a * b * (value + c) / (1 + abs(b * (value + c))) for value in x) + noise


def polynomial_by_hand(c0, c1, c2, x, noise):
    return sum(min(1, max(-1, c0[p] + c1[p] * x[p] + c2[p] * x[p] ** 2)) for p in range(len(x))) + noise


def nn_by_hand(w, b, v, c, x, noise):
    inputs = [*x, noise]
    return c + sum(v[h] * math.tanh(b[h] + sum(inputs[p] * w[p, h] for p in range(len(inputs)))) for h in range(20))


def nn_additive_by_hand(w, b, v, c, x, noise):
    before = [b[h] + sum(x[p] * w[p, h] for p in range(len(x))) for h in range(10)]
    return c + noise + sum(v[h] * max(before[h], 0.25 * before[h]) for h in range(10))


def nn_bent_by_hand(w, b, v, c, slope, x, noise):
    before = [b[h] + sum(x[p] * w[p, h] for p in range(len(x))) for h in range(w.shape[1])]
    return c + noise + sum(v[h] * before[h] * (1 if before[h] > 0 else slope[h]) for h in range(w.shape[1]))


def wave_by_hand(wave, x):
    drawn = drawn_parameters(wave)
    return sum(drawn["weight"][h] * math.cos(drawn["phase"][h] + sum(x[p] * drawn["frequency"][p, h] for p in range(len(x)))) for h in range(40))


def post_nonlinear_by_hand(f, shape, strength, x, noise):
    inner = drawn_parameters(f)
    u = linear_by_hand(**inner, x=x, noise=noise) if "w" in inner else wave_by_hand(inner["f"], x) + noise
    return [math.copysign(abs(u) ** strength, u), math.sinh(min(4, max(-4, strength * u))), math.tanh(strength * u)][shape]


def quadratic_by_hand(a, b, c, x, noise):
    x = [min(8, max(-8, value)) for value in x]
    pairs = [c[p, q] * x[p] * x[q] for p in range(len(x)) for q in range(len(x))]
    return noise + sum(pairs) + sum(a[p] * x[p] + b[p] * x[p] ** 2 for p in range(len(x)))


def saturating_by_hand(w, t, h, x, noise):
    level = [math.log1p(math.exp(value)) for value in x]
    return noise + sum(w[p] * level[p] ** h[p] / (t[p] ** h[p] + level[p] ** h[p]) for p in range(len(x)))


def gentle_by_hand(w, a, c, b, kind, x, noise):
    u = [a[p] * (x[p] - c[p]) for p in range(len(x))]
    shapes = (lambda p: x[p], lambda p: math.log1p(math.exp(u[p])) / a[p], lambda p: math.asinh(u[p]) / a[p])
    g = [shapes[kind[p]](p) if kind[p] < 3 else x[p] * (1 + a[p] * min(abs(x[p]), 2) / 4) for p in range(len(x))]
    return sum(w[p] * g[p] for p in range(len(x))) + math.exp(b * max(-2, min(2, sum(g)))) * noise


def tree_by_hand(depth, asked, t, leaf, x, noise):
    def descend(level: int, place: int) -> float:
        """From node `place` of a level; the first node of a level is number 2^level - 1."""
        if level == depth:
            return leaf[place]
        node = 2**level - 1 + place
        return descend(level + 1, 2 * place + int(x[asked[node]] > t[node]))

    return descend(0, 0) + noise


def mix_by_hand(f, by_hand, x, noise):
    return noise * by_hand(**drawn_parameters(f), x=x, noise=0.0)


def scaled_by_hand(f, size, grows, c, x, noise):
    drawn = drawn_parameters(f)
    waves = drawn.get("waves") or [drawn["f"]]
    g = size * sum(wave_by_hand(wave, x[p : p + 1] if len(waves) > 1 else x) for p, wave in enumerate(waves))
    return (math.exp(g) if grows else c + g) * noise


BY_HAND = {
    "linear": linear_by_hand,
    "uneven": linear_by_hand,
    "sigmoid": sigmoid_by_hand,
    "polynomial": polynomial_by_hand,
    "nn": nn_by_hand,
    "nn-additive": nn_additive_by_hand,
    "nn-bent": nn_bent_by_hand,
    "gp": lambda f, x, noise: wave_by_hand(f, x) + noise,
    "gp-additive": lambda waves, x, noise: noise + sum(wave_by_hand(f, x[p : p + 1]) for p, f in enumerate(waves)),
    "post-nonlinear": post_nonlinear_by_hand,
    "heteroscedastic": lambda f, g, x, noise: wave_by_hand(f, x) + math.exp(wave_by_hand(g, x)) * noise,
    "scaled": scaled_by_hand,
    "threshold": lambda w, t, x, noise: noise + sum(w[p] * (x[p] > t[p]) for p in range(len(x))),
    "sigmoid-mix": lambda f, x, noise: mix_by_hand(f, sigmoid_by_hand, x, noise),
    "polynomial-mix": lambda f, x, noise: mix_by_hand(f, polynomial_by_hand, x, noise),
    "multiplicative": lambda w, x, noise: noise + math.prod(1 + w[p] * math.tanh(x[p]) for p in range(len(x))),
    "quadratic": quadratic_by_hand,
    "saturating": saturating_by_hand,
    "gentle": gentle_by_hand,
    "tree": tree_by_hand,
}


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "count"])  # test_mechanisms.py has the moments of counts
@pytest.mark.parametrize("parents", [1, 2, 7])
def test_mechanisms_follow_their_formulas(name, parents):
    generator = np.random.default_rng([2, parents])
    mechanism = draw_mechanism(name, parents, generator=generator)
    x = (2 * generator.standard_normal((50, parents))).astype(np.float32)
    noise = generator.standard_normal(50).astype(np.float32)
    expected = [BY_HAND[name](**drawn_parameters(mechanism), x=x[row].astype(float), noise=float(noise[row])) for row in range(50)]
    np.testing.assert_allclose(mechanism(x, noise), expected, rtol=1e-4, atol=1e-4)  # float32 against float64


def pooled_parameters(name: str, parents: int, draws: int = 400) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    drawn = [drawn_parameters(draw_mechanism(name, parents, generator=generator)) for _ in range(draws)]
    return {key: np.array([one[key] for one in drawn], float) for key in drawn[0]}


def test_linear_weights_are_uniform_in_size_with_either_sign():
    w = pooled_parameters("linear", 3)["w"]
    assert np.abs(w).min() >= 0.25
    assert np.abs(w).max() <= 1
    assert abs(np.abs(w).mean() - 0.625) < 4 * 0.75 / math.sqrt(12 * w.size)
    assert abs((w > 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(w.size)


def test_uneven_weights_are_log_normal_with_either_sign():
    w = pooled_parameters("uneven", 3)["w"]
    logs = np.log(np.abs(w) / 0.3)
    assert abs(np.median(logs)) < 4 * 1.25 * 1.1 / math.sqrt(w.size)
    assert abs((logs < -1.1).mean() - 0.1587) < 4 * math.sqrt(0.1587 * 0.8413 / w.size)
    assert np.abs(w).max() == 3
    assert abs((w > 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(w.size)


def test_bent_units_have_slopes_of_their_own_and_read_one_parent_or_all():
    drawn = pooled_parameters("nn-bent", 3)
    slope = drawn["slope"]
    assert -1 <= slope.min() < -0.99 < 0.99 < slope.max() <= 1
    assert abs(slope.mean()) < 4 / math.sqrt(3 * slope.size)
    reads = (drawn["w"] != 0).sum(1)
    assert all((units == 1).all() or (units == 3).all() for units in reads)
    assert abs((reads[:, 0] == 1).mean() - 0.5) < 4 * 0.5 / math.sqrt(len(reads))
    logs = np.log(np.sqrt((drawn["v"] ** 2).mean(1)))
    assert abs(logs.mean() - math.log(0.1) / 2) < 0.2


@pytest.mark.parametrize("parents", [1, 2, 5])
def test_quadratic_terms_leave_no_parent_out(parents):
    drawn = pooled_parameters("quadratic", parents)
    a, b, c = drawn["a"] != 0, drawn["b"] != 0, drawn["c"] != 0
    assert not (c & ~np.triu(np.ones((parents, parents), bool), 1)).any()
    assert (a | b | c.any(1) | c.any(2)).all()
    scale = np.sqrt(a.sum(1) + b.sum(1) + c.sum((1, 2)))
    sizes = np.abs(drawn["a"] * scale[:, None])[a]
    assert 0.299 < sizes.min() < 0.31
    assert 0.99 < sizes.max() < 1.001
    assert abs((drawn["b"][b] > 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(b.sum())


def test_sigmoid_parameters():
    """The law of method.md, section 10."""
    drawn = pooled_parameters("sigmoid", 3)
    size = len(drawn["a"])
    assert drawn["a"].min() >= 1
    assert abs(drawn["a"].mean() - 1.25) < 4 * 0.25 / math.sqrt(size)
    assert ((np.abs(drawn["b"]) >= 0.5) & (np.abs(drawn["b"]) <= 2)).all()
    assert abs((drawn["b"] > 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(size)
    assert 1.9 < np.abs(drawn["c"]).max() <= 2
    assert abs(drawn["c"].mean()) < 4 * 4 / math.sqrt(12 * size)


def test_polynomial_parameters():
    for coefficients in pooled_parameters("polynomial", 3).values():
        assert 0 <= coefficients.min() < 0.01
        assert 0.99 < coefficients.max() < 1
        assert abs(coefficients.mean() - 0.5) < 4 / math.sqrt(12 * coefficients.size)


@pytest.mark.parametrize(("name", "inputs", "hidden"), [("nn", 4, 20), ("nn-additive", 3, 10)])
def test_network_parameters(name, inputs, hidden):
    drawn = pooled_parameters(name, 3)
    assert drawn["w"].shape[1:] == (inputs, hidden)
    for key in ("w", "v"):
        assert abs(drawn[key].mean()) < 4 / math.sqrt(drawn[key].size)
        assert abs(drawn[key].var() - 1) < 4 * math.sqrt(2 / drawn[key].size)
    assert 0.9 < np.abs(drawn["b"]).max() * math.sqrt(inputs) <= 1 + 1e-6
    assert 0.9 < np.abs(drawn["c"]).max() * math.sqrt(hidden) <= 1 + 1e-6


# Whole data sets


specifications = st.integers(2, 12).flatmap(
    lambda d: st.builds(
        Simulation,
        variables=st.just(d),
        edges=st.floats(0, most_edges("layered", d)),
        graph=st.sampled_from(sorted(GRAPHS)),
        mechanisms=st.lists(st.sampled_from(sorted(MECHANISMS)), min_size=1, max_size=3).map(tuple),
        observational_rows=st.integers(5, 40),  # one row has no variance to be rescaled by
        root_law=st.sampled_from((*LAWS, ANY)),
        root_spread=st.floats(1, 5),
        noise_law=st.sampled_from((*LAWS, ANY)),
        noise_per_regime=st.booleans(),
        rescaled=st.booleans(),
        hidden=st.integers(0, 4),
        mediators=st.integers(0, 4),
        selection=st.integers(0, 2),
        targets=st.integers(0, d),
        regime_rows=st.integers(0, 5),
        intervention=st.sampled_from(sorted(INTERVENTIONS)),
        measurement=st.sampled_from(sorted(MEASUREMENTS)),
    )
)


@settings(max_examples=150, deadline=None)
@given(specification=specifications, seed=st.integers(0, 2**32))
def test_every_specification_gives_a_whole_data_set(specification, seed):
    dataset = simulate_dataset(specification, generator=np.random.default_rng(seed))
    d, targets = specification.variables, specification.targets
    assert dataset.values.shape == (specification.observational_rows + targets * specification.regime_rows, d)
    assert dataset.values.dtype == np.float32
    assert np.isfinite(dataset.values).all() or specification.measurement == "missing"
    assert not np.isinf(dataset.values).any()
    assert dataset.adjacency.shape == (d, d)
    assert nx.is_directed_acyclic_graph(nx.from_numpy_array(dataset.adjacency, create_using=nx.DiGraph))
    assert np.bincount(dataset.regime, minlength=1 + targets).tolist() == [specification.observational_rows] + [specification.regime_rows] * targets
    assert dataset.targets.sum(1).tolist() == [0] + [1] * targets
    assert dataset.targets.sum(0).max() <= 1


@pytest.mark.parametrize("hidden", [0, 2])
def test_the_seed_decides_every_byte(hidden):
    fields = {"mechanisms": ("linear", "nn"), "hidden": hidden, "targets": 4, "regime_rows": 20, "measurement": "noise"}
    first, again, other = (simulate(seed, **fields) for seed in (7, 7, 8))
    for field in ("values", "regime", "targets", "adjacency"):
        assert getattr(first, field).tobytes() == getattr(again, field).tobytes()
    assert first.values.tobytes() != other.values.tobytes()
    assert first.adjacency.tobytes() != other.adjacency.tobytes()


def test_roots_follow_their_law(fix_graph):
    fix_graph(3, CHAIN)
    root = simulate(0, variables=3, edges=2, graph="fixed", observational_rows=20_000).values[:, 0]
    assert 0.999 < np.abs(root).max() <= 1
    root = simulate(0, variables=3, edges=2, graph="fixed", observational_rows=20_000, root_law="gaussian", root_scale=3).values[:, 0]
    assert root.std() == pytest.approx(3, rel=0.02)
    assert np.abs(root).max() > 3 * 3


def test_strays_have_laws_of_their_own():
    def kurtosis(strays: float) -> np.ndarray:
        values = simulate(0, variables=40, edges=1, observational_rows=4000, strays=strays).values
        z = (values - values.mean(0)) / values.std(0)
        return (z**4).mean(0)

    assert (np.abs(kurtosis(0.0) - 1.8) < 0.2).sum() >= 38  # but for the one with a parent
    assert 5 < (np.abs(kurtosis(0.5) - 1.8) > 0.2).sum() < 30


def test_regression_recovers_linear_weights_and_noise():
    dataset = simulate(1, variables=12, edges=24, observational_rows=20_000, weights=(0.5, 1.5))
    inner = np.flatnonzero(dataset.adjacency.any(0))
    assert len(inner) >= 6
    for j in inner:
        slopes, left = regress(dataset.values[:, j], *dataset.values[:, dataset.adjacency[:, j]].T)
        assert (np.abs(slopes) > 0.5 - 0.05).all()
        assert (np.abs(slopes) < 1.5 + 0.05).all()
        assert 0.4 * 0.98 < left < 0.4 * math.sqrt(2) * 1.02


def test_d_separated_variables_have_no_partial_correlation():
    n = 40_000
    dataset = simulate(2, variables=7, edges=9, observational_rows=n)
    graph = nx.from_numpy_array(dataset.adjacency, create_using=nx.DiGraph)
    correlation = np.corrcoef(dataset.values.T)
    separated = 0
    for i, j in itertools.combinations(range(7), 2):
        others = [v for v in range(7) if v not in (i, j)]
        for given_these in itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(4)):
            precision = np.linalg.inv(correlation[np.ix_([i, j, *given_these], [i, j, *given_these])])
            partial = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
            if nx.is_d_separator(graph, {i}, {j}, set(given_these)):
                separated += 1
                assert abs(partial) < 5 / math.sqrt(n)
            elif (dataset.adjacency[i, j] and set(given_these) == set(graph.predecessors(j)) - {i}) or (
                dataset.adjacency[j, i] and set(given_these) == set(graph.predecessors(i)) - {j}
            ):
                assert abs(partial) > 0.1
    assert separated > 50


def test_every_variable_draws_one_of_the_mechanisms(fix_graph):
    """In a star of 40 leaves: linear ones are linear in the root, the others are not."""
    fix_graph(41, tuple((0, leaf) for leaf in range(1, 41)))
    fields = {"variables": 41, "edges": 40, "graph": "fixed", "root_scale": 2.0, "noise_coefficient": 0.05, "observational_rows": 500}

    def curved(mechanisms) -> float:
        values = simulate(3, mechanisms=mechanisms, **fields).values
        root = values[:, 0]
        return np.mean([regress(leaf, root, root**2, root**3)[1] < 0.9 * regress(leaf, root)[1] for leaf in values[:, 1:].T])

    assert curved(("linear",)) == 0
    assert curved(("nn",)) > 0.9
    assert 0.2 < curved(("linear", "nn")) < 0.8


def test_rescaling_brings_every_child_to_unit_variance(fix_graph):
    fix_graph(4, DIAMOND)
    fields = {"variables": 4, "edges": 4, "graph": "fixed", "mechanisms": ("nn-additive",), "weights": (1.0, 2.0)}
    assert simulate(4, rescaled=True, **fields).values[:, 1:].std(0) == pytest.approx([1, 1, 1], rel=1e-4)
    assert (np.abs(simulate(4, **fields).values[:, 1:].std(0) - 1) > 0.1).any()


@pytest.mark.parametrize("kind", GRAPHS)
def test_separation_in_the_graph_is_independence_in_linear_data(kind):
    """Partial correlations of 300 triples with random conditioning sets: within 4.5 standard errors of 0 if and only if separated, but for few.

    Paths that cancel may hide a dependence, so some of those not separated are let off; of those separated, none is.
    """
    rows, d = 40_000, 9
    dataset = simulate(3, variables=d, edges=11, graph=kind, weights=(0.5, 1.0), observational_rows=rows, root_law="gaussian", noise_law="gaussian")
    graph = nx.from_numpy_array(dataset.adjacency, create_using=nx.DiGraph)
    correlation = np.corrcoef(dataset.values.T.astype(float))
    generator = np.random.default_rng(4)
    found = {True: [], False: []}
    for _ in range(300):
        i, j, *given = generator.choice(d, int(generator.integers(2, 6)), replace=False).tolist()
        precision = np.linalg.inv(correlation[np.ix_([i, j, *given], [i, j, *given])])
        partial = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
        found[nx.is_d_separator(graph, {i}, {j}, set(given))].append(abs(math.atanh(partial)) * math.sqrt(rows - len(given) - 3))
    assert len(found[True]) > 20
    assert max(found[True]) < 4.5
    assert len(found[False]) > 20
    assert np.mean(np.array(found[False]) > 4.5) > 0.85


SAME_AS_EVER = {
    "default": ({}, "bd25355dbb73996d", -35.9563),
    "mixed": (
        {"variables": 12, "edges": 20, "mechanisms": ("linear", "nn", "gp"), "hidden": 2, "targets": 5, "regime_rows": 30},
        "5f357a24221f8351",
        31.1269,
    ),
    "scale-free": (
        {"graph": "scale-free", "edges": 25, "mechanisms": ("nn-additive",), "noise_law": "laplace", "intervention": "activity", "targets": 10}
        | {"regime_rows": 9, "measurement": "zero-inflate"},
        "3ecbd5c52d9eee3b",
        -3.18229,
    ),
    "ordered": (
        {"levels": 4, "rescaled": True, "noise_per_regime": False, "measurement": "units", "targets": 3, "intervention": "shift"},
        "47d0fb3251e50580",
        19.8934,
    ),
}
"""Fields; digest of graph, regimes, targets and the generator's state at the end; checksum of the values. Released weights and benches rest on these
data, so that no change may draw one number more, or in another order, than before."""


@pytest.mark.parametrize("case", SAME_AS_EVER)
def test_seeds_give_the_same_data_as_ever(case):
    fields, digest, checksum = SAME_AS_EVER[case]
    generator = np.random.default_rng(2026)
    dataset = simulate_dataset(Simulation(**fields), generator=generator)
    parts = [dataset.adjacency.astype(np.int8), dataset.regime.astype("<i4"), dataset.targets.astype(np.int8)]
    drawn = hashlib.sha256(b"".join(part.tobytes() for part in parts) + repr(generator.bit_generator.state).encode()).hexdigest()[:16]
    assert drawn == digest
    values = dataset.values.astype(float)
    assert float((values.ravel() * np.cos(np.arange(values.size))).sum()) == pytest.approx(checksum, rel=1e-4)  # BLAS may round otherwise


# Interventions


@pytest.fixture
def intervened(fix_graph):
    """The diamond 0 -> {1, 2} -> 3 with an intervention on each variable."""

    def draw(**fields):
        fix_graph(4, DIAMOND)
        return simulate(
            5, variables=4, edges=4, graph="fixed", weights=(0.8, 1.0), targets=4, **{"observational_rows": 8000, "regime_rows": 8000, **fields}
        )

    return draw


@pytest.mark.parametrize("intervention", ["gaussian", "shifted", "uniform"])
@pytest.mark.parametrize("mechanism", ["linear", "nn-additive"])
def test_perfect_interventions_cut_the_parents(intervened, intervention, mechanism):
    dataset = intervened(intervention=intervention, mechanisms=(mechanism,))
    for target, parents in ((1, [0]), (2, [0]), (3, [1, 2])):
        rows = regime_rows(dataset, target)
        own = dataset.values[rows, target]
        slopes, _ = regress(own, *dataset.values[rows][:, parents].T)
        spread = dataset.values[rows][:, parents].std(0)
        assert (np.abs(slopes) * spread < 5 / math.sqrt(rows.sum())).all()
        slopes, _ = regress(dataset.values[~rows, target], *dataset.values[~rows][:, parents].T)
        assert (np.abs(slopes) * spread > 0.1).all()


@pytest.mark.parametrize(("intervention", "mean", "spread"), [("gaussian", 0, 1), ("shifted", 2, 1), ("uniform", 0, 1 / math.sqrt(3))])
def test_targets_follow_the_law_of_the_intervention(intervened, intervention, mean, spread):
    dataset = intervened(intervention=intervention)
    for target in range(4):
        own = dataset.values[regime_rows(dataset, target), target]
        assert own.mean() == pytest.approx(mean, abs=4.5 / math.sqrt(8000))
        assert own.std() == pytest.approx(spread, abs=4.5 / math.sqrt(2 * 8000))
        if intervention == "uniform":
            assert 0.99 < np.abs(own).max() <= 1


@pytest.mark.parametrize("intervention", INTERVENTIONS)
def test_interventions_leave_the_other_mechanisms_as_they_are(intervened, intervention):
    dataset = intervened(intervention=intervention, noise_per_regime=False)
    for target in range(4):
        for j, parents in ((1, [0]), (2, [0]), (3, [1, 2])):
            if j == target or (intervention in ("activity", "knock-out", "clamp") and target in parents):
                continue
            rows, control = regime_rows(dataset, target), dataset.regime == 0
            found, left = regress(dataset.values[rows, j], *dataset.values[rows][:, parents].T)
            expected, expected_left = regress(dataset.values[control, j], *dataset.values[control][:, parents].T)
            # Noise of at most 0.57 on parents that vary by 0.1 or more where they are knocked down.
            error = 0.57 / dataset.values[rows][:, parents].std(0) / math.sqrt(8000)
            np.testing.assert_array_less(np.abs(found - expected), 7 * error)
            assert left == pytest.approx(expected_left, rel=6 / math.sqrt(8000))


def test_the_noise_may_differ_between_regimes(intervened):
    def spreads(**fields) -> np.ndarray:
        dataset = intervened(**fields)
        regimes = [r for r in range(5) if not dataset.targets[r, 3]]
        return np.array([regress(*dataset.values[dataset.regime == r][:, [3, 1, 2]].T)[1] for r in regimes])

    assert np.ptp(spreads(noise_per_regime=False)) < 0.02
    assert np.ptp(spreads(noise_per_regime=True)) > 0.04
    assert (spreads(noise_per_regime=True) > 0.4 * 0.97).all()
    assert (spreads(noise_per_regime=True) < 0.4 * math.sqrt(2) * 1.03).all()


def test_shift_and_knock_down_keep_the_parents(intervened):
    """A shift adds a constant of 0.5 to 3 standard deviations over all regimes, a knock-down multiplies by 0 to 0.5."""
    for intervention in ("shift", "knock-down"):
        dataset = intervened(intervention=intervention, noise_per_regime=False)
        for target, parents in ((1, [0]), (2, [0]), (3, [1, 2])):
            rows, control = regime_rows(dataset, target), dataset.regime == 0
            own, before = dataset.values[rows, target], dataset.values[control, target]
            changed, kept = (regress(dataset.values[which, target], *dataset.values[which][:, parents].T)[0] for which in (rows, control))
            if intervention == "shift":
                np.testing.assert_allclose(changed, kept, atol=0.08)
                spread = dataset.values[dataset.regime != dataset.regime[np.flatnonzero(rows)[0]], target].std()
                assert 0.45 < abs(own.mean() - before.mean()) / spread < 3.1
            else:
                factor = changed / kept
                assert np.ptp(factor) < 0.08
                assert (factor < 0.52).all()
                assert own.std() / before.std() == pytest.approx(factor.mean(), abs=0.05)


def test_blocked_activity_shows_in_the_children_alone(intervened):
    """The target keeps its own mechanism; its effect on each child shrinks by one factor of 0 to 0.5, the effects of other parents stay."""
    dataset = intervened(intervention="activity", noise_per_regime=False)

    def slopes(target: int, j: int, parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """In the rows of the target, and in the observational ones."""
        both = (regime_rows(dataset, target), dataset.regime == 0)
        return tuple(regress(dataset.values[rows, j], *dataset.values[rows][:, parents].T)[0] for rows in both)

    for target, parents in ((1, [0]), (2, [0]), (3, [1, 2])):
        np.testing.assert_allclose(*slopes(target, target, parents), atol=0.06)
    factors = [found[0] / before[0] for found, before in (slopes(0, 1, [0]), slopes(0, 2, [0]))]
    assert -0.05 < factors[0] < 0.55
    assert factors[0] == pytest.approx(factors[1], abs=0.06)
    for target, other in ((1, 2), (2, 1)):
        found, before = slopes(target, 3, [target, other])
        assert -0.05 < found[0] / before[0] < 0.55
        assert found[1] == pytest.approx(before[1], abs=0.06)


# Hidden causes and measurement


@pytest.mark.parametrize("levels", [2, 6])
def test_ordered_values_are_few_and_children_see_them(fix_graph, levels):
    fix_graph(2, ((0, 1),))
    dataset = simulate(8, variables=2, edges=1, graph="fixed", levels=levels, observational_rows=5000, noise_coefficient=0.01)
    for column in dataset.values.T:
        assert 2 <= len(np.unique(column)) <= levels
        assert abs(column.mean()) < 1e-3
        assert column.std() == pytest.approx(1, abs=1e-3)
    cause, effect = dataset.values.T
    assert abs(np.corrcoef(cause, effect)[0, 1]) > 0.7


def test_ratings_are_classes_of_one_continuous_parent(fix_graph):
    fix_graph(4, ((0, 3), (1, 3), (2, 3)))
    rated, exact = 0, 0
    for seed in range(60):
        dataset = simulate(seed, variables=4, edges=3, graph="fixed", levels=4, levels_share=0.5, ratings=1.0, observational_rows=2000)
        few = [len(np.unique(column)) <= 4 for column in dataset.values.T]
        child = int(np.flatnonzero(dataset.adjacency.any(0))[0])
        if not few[child] or all(few[parent] for parent in range(4) if parent != child):
            assert dataset.adjacency[:, child].sum() == 3
            continue
        (parent,) = np.flatnonzero(dataset.adjacency[:, child])
        assert not few[parent]
        rated += 1
        order = np.argsort(dataset.values[:, parent])
        exact += bool((np.diff(dataset.values[order, child]) >= 0).all())
        assert spearmanr(dataset.values[:, parent], dataset.values[:, child]).statistic > 0.3
    assert rated >= 15
    assert 0.1 < exact / rated < 0.6


def test_every_root_and_every_noise_has_a_law_and_every_root_a_scale_of_its_own():
    fields = {"variables": 60, "edges": 0, "observational_rows": 4000, "root_scale": 1.0}
    laws = simulate(0, root_law=ANY, **fields).values
    sizes = [len(np.unique(column)) for column in laws.T]
    assert 2 <= sum(size <= 5 for size in sizes) <= 15  # steps, one of eleven laws
    assert kurtosis(laws, axis=0).min() < -1
    assert np.sort(kurtosis(laws, axis=0))[-10] > 2
    deviations = simulate(0, root_law="gaussian", root_spread=3.0, **fields).values.std(0)
    assert 0.32 < deviations.min() < 0.5
    assert 2 < deviations.max() < 3.1
    assert np.median(deviations) == pytest.approx(1, abs=0.35)
    fields |= {"variables": 40, "edges": 39, "graph": "bipartite", "root_law": "gaussian", "noise_coefficient": 1e-3}
    exact, noisy = (simulate(0, noise_law=law, **fields) for law in ("gaussian", ANY))
    residuals = [residual_of(noisy, child) for child in np.flatnonzero(noisy.adjacency.any(0))]
    assert kurtosis(residuals, axis=1).max() > 2
    assert kurtosis(residuals, axis=1).min() < -1
    assert np.abs(kurtosis([residual_of(exact, child) for child in np.flatnonzero(exact.adjacency.any(0))], axis=1)).max() < 0.5


def residual_of(dataset, child):
    """What a linear fit on its parents leaves of a variable."""
    parents, own = dataset.values[:, dataset.adjacency[:, child]].astype(float), dataset.values[:, child].astype(float)
    return own - parents @ np.linalg.lstsq(parents, own, rcond=None)[0]


def test_steps_are_few_values_at_equal_distances():
    least = []
    for seed in range(50):
        values, counts = np.unique(draw_noise("steps", 20_000, generator=np.random.default_rng(seed)), return_counts=True)
        assert 2 <= len(values) <= 5
        np.testing.assert_allclose(np.diff(values), values[1] - values[0], rtol=1e-4)
        least.append(counts.min() / 20_000)
    assert 1 / 60 < min(least) < 1 / 25
    assert max(least) > 1 / 8


def test_noise_of_one_variance(fix_graph):
    fix_graph(3, CHAIN)
    fields = {"variables": 3, "edges": 2, "graph": "fixed", "observational_rows": 50_000, "root_law": "gaussian", "root_scale": 0.7}
    dataset = simulate(0, noise_coefficient=0.7, noise_spread=1.0, **fields)
    precision = np.linalg.inv(np.cov(dataset.values.T, dtype=float))
    first, second, third = (dataset.values[:, v].astype(float) for v in (0, 1, 2))
    for residual in (first, second - first * np.cov(first, second)[0, 1] / first.var(), third - second * np.cov(second, third)[0, 1] / second.var()):
        assert residual.std() == pytest.approx(0.7, rel=0.02)
    assert 1 / precision[2, 2] == pytest.approx(0.49, rel=0.03)


def test_bystanders_have_no_edges_and_no_part_in_anything():
    fields = {"variables": 12, "edges": 30, "hidden": 2, "observational_rows": 20_000}
    dataset = simulate(0, bystanders=5, **fields)
    joined = dataset.adjacency.any(0) | dataset.adjacency.any(1)
    assert joined.sum() <= 7
    alone = np.corrcoef(dataset.values.T)[~joined]
    assert np.abs(alone[alone < 0.999]).max() < 0.05
    assert joined.sum() >= 5
    assert not simulate(0, bystanders=20, **fields).adjacency.any()


def test_hidden_roots_are_left_out(fix_graph):
    """Of 0 -> 4 and 1 -> {2, 3} only the root of two children can be hidden: it stays as a correlation without an edge."""
    fix_graph(5, ((0, 4), (1, 2), (1, 3)))
    fields = {"edges": 3, "graph": "fixed", "observational_rows": 5000, "weights": (0.9, 1.0)}
    dataset = simulate(6, variables=4, hidden=1, **fields)
    assert dataset.values.shape == (5000, 4)
    assert dataset.names == ("X1", "X2", "X3", "X4")
    assert np.argwhere(dataset.adjacency).tolist() == [[0, 3]]  # 0 -> 4 of the whole graph
    correlation = np.corrcoef(dataset.values.T)
    assert abs(correlation[1, 2]) > 0.3
    assert np.abs(correlation[[0, 0, 1, 2], [1, 2, 3, 3]]).max() < 0.06
    assert np.argwhere(simulate(6, variables=5, hidden=0, **fields).adjacency).tolist() == [[0, 4], [1, 2], [1, 3]]


def test_hidden_mediators_hand_their_parents_to_their_children(fix_graph):
    """Of 0 -> 1 -> {2, 3}, 2 -> 4 -> 5 the variables 1 and 2 are left out: a chain of two, whose ends 0, 3 and 4 stay joined through it."""
    fix_graph(6, ((0, 1), (1, 2), (1, 3), (2, 4), (4, 5)))
    fields = {"edges": 3, "graph": "fixed", "observational_rows": 5000, "weights": (0.9, 1.0)}
    dataset = simulate(6, variables=4, mediators=2, **fields)
    assert dataset.values.shape == (5000, 4)
    assert np.argwhere(dataset.adjacency).tolist() == [[0, 1], [0, 2], [2, 3]]  # 0 -> 3, 0 -> 4, 4 -> 5 of the whole graph
    assert abs(np.corrcoef(dataset.values.T)[1, 2]) > 0.3


def test_without_roots_to_hide_the_size_still_holds(fix_graph):
    fix_graph(4, ((0, 1), (1, 2), (2, 3)))
    dataset = simulate(7, variables=2, edges=1, hidden=2, graph="fixed", targets=2, regime_rows=3)
    assert dataset.values.shape[1] == 2
    assert np.argwhere(dataset.adjacency).tolist() == [[0, 1]]
    assert dataset.targets.tolist() == [[False, False], [True, False], [False, True]]


def measured(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The same data set, as it is and as it is measured."""
    fields = {"variables": 8, "edges": 8, "observational_rows": 2000}
    return simulate(seed, **fields).values, simulate(seed, measurement=kind, **fields).values


@pytest.mark.parametrize("seed", range(4))
def test_units_change_scales_alone(seed):
    plain, scaled = measured("units", seed)
    ratio = scaled.std(0) / plain.std(0)
    np.testing.assert_allclose(scaled, plain * ratio, rtol=1e-5)
    assert np.ptp(np.log(ratio)) > 0.1


def test_units_are_sometimes_standard_deviations():
    standardised = [bool(np.allclose(measured("units", seed)[1].std(0), 1, rtol=1e-4)) for seed in range(40)]
    assert 4 <= sum(standardised) <= 24  # 40 / 3 is expected


@pytest.mark.parametrize("kind", ["round", "exponential", "zero-inflate"])
def test_shapes_change_by_increasing_functions_of_half_the_columns(kind):
    changed = []
    for seed in range(6):
        plain, shaped = measured(kind, seed)
        assert np.isfinite(shaped).all()
        for before, after in zip(plain.T, shaped.T):
            changed.append(not np.array_equal(before, after))
            assert (np.diff(after[np.argsort(before)]) >= 0).all()
            assert after.std() > 0
            if changed[-1] and kind == "round":
                assert len(np.unique(after)) < 40
            if changed[-1] and kind == "zero-inflate":
                assert (after == after.min()).mean() > 0.01
    assert 0.25 < np.mean(changed) < 0.75


def test_measurement_noise_is_added_to_half_the_columns():
    plain, noisy = (np.concatenate(parts, 1) for parts in zip(*(measured("noise", seed) for seed in range(6))))
    error = (noisy - noisy.mean(0) - plain + plain.mean(0)) / plain.std(0)
    changed = error.std(0) > 1e-6
    assert 0.25 < changed.mean() < 0.75
    assert (error.std(0)[changed] > 0.09).all()
    assert (error.std(0)[changed] < 0.63).all()
    assert np.abs([np.corrcoef(e, p)[0, 1] for e, p in zip(error.T[changed], plain.T[changed])]).max() < 5 / math.sqrt(2000)


# Order and errors


@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 20), density=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_parents_come_before_children(d, density, seed):
    generator = np.random.default_rng(seed)
    order = generator.permutation(d)
    adjacency = np.triu(generator.random((d, d)) < density, 1)[np.ix_(order, order)]
    found = topological_order(adjacency)
    assert sorted(found) == list(range(d))
    place = np.argsort(found)
    assert all(place[i] < place[j] for i, j in np.argwhere(adjacency))


@pytest.mark.parametrize("edges", [((0, 0),), ((0, 1), (1, 0)), ((0, 1), (1, 2), (2, 1), (2, 3))])
def test_cycles_have_no_order(edges):
    adjacency = np.zeros((4, 4), bool)
    adjacency[tuple(np.transpose(edges))] = True
    with pytest.raises(DataError, match="must be acyclic"):
        topological_order(adjacency)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"graph": "lattice"}, "`graph` must be one of erdos-renyi, scale-free, .*; found 'lattice'"),
        ({"mechanisms": ("linear", "cubic")}, "`mechanisms` must be one of .*; found 'cubic'"),
        ({"root_law": "cauchy"}, "`root_law` must be one of .*; found 'cauchy'"),
        ({"noise_law": "cauchy"}, "`noise_law` must be one of .*; found 'cauchy'"),
        ({"intervention": "hard"}, "`intervention` must be one of .*; found 'hard'"),
        ({"measurement": "log"}, "`measurement` must be one of .*; found 'log'"),
        ({"variables": 1, "edges": 0}, "`variables` must be at least 2"),
        ({"variables": 5, "edges": 10.5}, r"`edges` between 0 and 10; found 5 and 10\.5"),
        ({"edges": -1}, "`edges` between 0 and 45"),
        ({"edges": math.nan}, "`edges` between 0 and 45"),
        ({"targets": 11}, "`targets` must lie between 0 and 10"),
        ({"targets": -1}, "`targets` must lie between 0 and 10"),
        ({"observational_rows": 0}, "add up to at least 1"),
        ({"observational_rows": -1, "targets": 2, "regime_rows": 5}, "must not be negative"),
        ({"regime_rows": -1}, "must not be negative"),
        ({"variables": 6, "edges": 10, "graph": "bipartite"}, "`edges` between 0 and 9; found 6 and 10"),
        ({"targets_per_regime": 0}, "`targets_per_regime` must be at least 1; found 0"),
        ({"root_spread": 0.5}, "`root_spread` must be a factor of at least 1; found 0.5"),
        ({"noise_spread": 0.5}, "`noise_spread` must be a factor of at least 1; found 0.5"),
        ({"regime_spread": 0.5}, "`regime_spread` must be a factor of at least 1; found 0.5"),
        ({"regime_spread": math.nan}, "`regime_spread` must"),
        ({"regime_spread": math.inf}, "`regime_spread` must"),
        ({"off_target": 1.5}, "`off_target` must be a probability; found 1.5"),
        ({"off_target": math.nan}, "`off_target` must"),
        ({"settings": 1.5}, "`settings` must be a probability; found 1.5"),
        ({"drift": -0.1}, "`drift` must be a number of standard deviations of at least 0; found -0.1"),
        ({"drift": math.nan}, "`drift` must"),
        ({"strays": 1.5}, "`strays` must be a probability; found 1.5"),
        ({"drift_share": 1.5}, "`drift_share` must be a probability; found 1.5"),
        ({"mechanisms": ()}, "`mechanisms` must"),
        ({"hidden": -1}, "`bystanders`, `hidden` and `mediators` must not be negative; found 0, -1 and 0"),
        ({"bystanders": -1}, "`bystanders`, `hidden`"),
        ({"mediators": -1}, "must not be negative; found 0, 0 and -1"),
        ({"levels": 1}, "`levels` must"),
        ({"ratings": 1.1}, "`ratings` must be a probability"),
        ({"ratings": 0.5}, "`levels` must be at least 2 where there are `ratings`"),
        ({"cycles": -1}, "`cycles` and `selection` must not be negative; found -1 and 0"),
        ({"selection": -1}, "`cycles` and `selection` must not be negative; found 0 and -1"),
        ({"cycles": 1, "mechanisms": ("nn",)}, r"`mechanisms` must be \('linear',\) where there are `cycles`; found \('nn',\)"),
        ({"cycles": 1, "mechanisms": ("linear", "nn")}, "`mechanisms` must be .* where there are `cycles`"),
        ({"cycles": 1, "rescaled": True}, "`rescaled` must be False where"),
        ({"cycles": 1, "levels": 3}, "`levels` must be 0 where"),
        ({"cycles": 1, "settings": 0.5}, "`settings` must be 0.0 where"),
        ({"cycles": 1, "mediators": 1}, "`mediators` must be 0 where"),
        ({"cycles": 1, "off_target": 0.5}, "`off_target` must be 0.0 where"),
        ({"cycles": 1, "drift": 0.5}, "`drift` must be 0.0 where"),
        ({"cycles": 1, "targets": 2, "intervention": "shift"}, "`intervention` must be one of gaussian, .* where there are `cycles`; found 'shift'"),
        ({"levels": -2}, "`levels` must"),
    ],
)
def test_impossible_specifications_are_refused(fields, message):
    with pytest.raises(DataError, match=message):
        Simulation(**fields)
