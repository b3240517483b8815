import numpy as np
import pytest

import seacausal.aggregate.neighbourhoods as module
from seacausal.aggregate.encoding import encode
from seacausal.aggregate.neighbourhoods import NEAR, UNSEEN, cover_candidates, measure_nearness, name_candidates, predict_logits
from seacausal.aggregate.network import released, to_direct
from seacausal.graph.metrics import score_average_precision
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.views import view_dataset


def draw_channels(d: int, seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {name: generator.standard_normal((d, d)) for name in NEAR}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 20)
    monkeypatch.setattr(module, "SIZE", 12)
    monkeypatch.setattr(module, "CANDIDATES", 4)


def forward_pairwise(channels):
    """Logits that look at one pair alone."""
    both = channels[NEAR[0]] - channels[NEAR[1]].T
    return np.stack([both, 2 * both, both + 1], -1)


def test_few_variables_are_seen_at_once(small):
    seen = []
    channels = draw_channels(20)
    logits = predict_logits(channels, lambda part: seen.append(part) or forward_pairwise(part))
    assert len(seen) == 1
    assert seen[0] is channels
    assert np.array_equal(logits, forward_pairwise(channels))


@pytest.mark.parametrize("d", [21, 60])
def test_neighbourhoods_hold_every_named_pair(d):
    near = measure_nearness(draw_channels(d))
    assert np.allclose(near, near.T)
    assert (near[~np.eye(d, dtype=bool)] > 0).all()
    assert not near.diagonal().any()
    named = name_candidates(near, 4)
    assert (named.sum(1) >= 4).all()
    assert np.array_equal(named, named.T)
    for i in range(d):
        assert named[i, np.argsort(-near[i])[:4]].all()
    held = np.zeros((d, d), bool)
    for inside in cover_candidates(near, named, 12):
        assert len(inside) == len(set(inside.tolist())) == 12
        assert (np.diff(inside) > 0).all()
        held[np.ix_(inside, inside)] = True
    assert held[named].all()


def test_nearness_is_the_sum_of_reciprocal_ranks():
    first = np.array([[0.0, 3.0, -9.0], [1.0, 0.0, 2.0], [0.5, 0.0, 0.0]])
    near = measure_nearness({NEAR[0]: first})
    # Sizes: 0-1 3, 0-2 9, 1-2 2. Ranks: 0 has 2, 1; 1 has 0, 2; 2 has 0, 1.
    assert near == pytest.approx(np.array([[0, 0.5 + 1, 1 + 1], [1.5, 0, 0.5 + 0.5], [2, 1, 0]]), abs=1e-5)


def test_what_looks_at_pairs_alone_comes_out_whole_and_the_rest_is_small(small):
    channels = draw_channels(50)
    logits = predict_logits(channels, forward_pairwise)
    near = measure_nearness(channels)
    seen = np.zeros((50, 50), bool)
    for inside in cover_candidates(near, name_candidates(near, 4), 12):
        seen[np.ix_(inside, inside)] = True
    assert 0.2 < seen.mean() < 0.9
    assert np.allclose(logits[seen], forward_pairwise(channels)[seen])
    direct = to_direct(logits)
    assert direct[~seen].max() < UNSEEN
    assert np.array_equal(np.argsort(direct[~seen], kind="stable"), np.argsort(near[~seen], kind="stable"))


def test_a_pair_is_judged_where_its_surroundings_are_seen(small):
    """Each neighbourhood gives its number: a pair gets their mean, weighted by the shares of both variables' candidates that are inside."""
    channels, numbers = draw_channels(30, seed=3), iter(range(1000))
    logits = predict_logits(channels, lambda part: np.full((*part[NEAR[0]].shape, 3), float(next(numbers))))
    near = measure_nearness(channels)
    share = near * name_candidates(near, 4)
    neighbourhoods = list(cover_candidates(near, share > 0, 12))
    checked = 0
    for i, j in np.argwhere(share > 0).tolist():
        holding = [n for n, inside in enumerate(neighbourhoods) if {i, j} <= set(inside.tolist())]
        heed = [np.prod([share[v, neighbourhoods[n]].sum() / share[v].sum() for v in (i, j)]) ** 4 for n in holding]
        assert logits[i, j, 0] == pytest.approx(np.average(holding, weights=heed), abs=1e-4)
        checked += len(holding) > 1
    assert checked > 20


def test_the_order_of_variables_does_not_matter(small):
    channels = draw_channels(40)
    order = np.random.default_rng(1).permutation(40)
    permuted = {name: channel[np.ix_(order, order)] for name, channel in channels.items()}
    assert np.allclose(predict_logits(permuted, forward_pairwise), predict_logits(channels, forward_pairwise)[np.ix_(order, order)])


def test_three_hundred_variables_are_better_seen_in_parts():
    simulation = Simulation(variables=300, edges=600, graph="scale-free", mechanisms=("nn-additive",), observational_rows=2000)
    dataset = simulate_dataset(simulation, generator=np.random.default_rng(5))
    views = view_dataset(dataset, 300)
    network = released()
    groups = {"correlation", "moments", "variances", "orders", "estimates"}
    parts = network.predict_table(views.channels, views.rows, groups)
    whole = network.predict(encode(views.channels, views.rows, groups))
    assert score_average_precision(dataset.adjacency, parts) > score_average_precision(dataset.adjacency, whole) + 0.05
