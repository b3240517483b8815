"""Channels stand where the model expects them, whatever is missing."""

import dataclasses

import numpy as np
import pytest

from seacausal.aggregate.encoding import CHANNELS, GROUPS, LIMIT, NAMES, WIDTH, encode
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.views import view_dataset

FLAGS = slice(2 * len(NAMES), 2 * len(NAMES) + len(GROUPS))


def random_views(d: int, groups=GROUPS) -> dict[str, np.ndarray]:
    """Every channel of the groups with numbers of its own."""
    return {name: np.random.default_rng(NAMES.index(name)).uniform(-1, 1, (d, d)) for group in groups for name in CHANNELS[group]}


def places(group: str) -> list[int]:
    """Where the channels of a group stand, transposes included."""
    at = [NAMES.index(name) for name in CHANNELS[group]]
    return at + [len(NAMES) + c for c in at]


def test_names_are_distinct_and_counted():
    assert len(set(NAMES)) == len(NAMES)
    assert encode(random_views(4), 100).shape == (4, 4, WIDTH)


def test_channels_hold_their_statistics():
    views = random_views(6)
    out = encode(views, 100)
    for c, name in enumerate(NAMES):
        expected = np.arcsinh(views[name]) / 2 if name in CHANNELS["variances"][:4] else views[name]
        np.testing.assert_allclose(out[..., c], expected, rtol=1e-6)
    assert (out[..., FLAGS] == 1).all()


def test_every_channel_stands_beside_its_transpose():
    out = encode(random_views(6), 100)
    half = len(NAMES)
    assert np.array_equal(out[..., half : 2 * half], out.transpose(1, 0, 2)[..., :half])
    assert not np.array_equal(out[..., half : 2 * half], out[..., :half])


@pytest.mark.parametrize("absent", GROUPS)
def test_absent_groups_are_zero_and_say_so(absent):
    """Whether their statistics were not computed, not asked for, or incomplete."""
    kept = [group for group in GROUPS if group != absent]
    out = encode(random_views(5, kept), 100)
    assert (out[..., places(absent)] == 0).all()
    assert (out[0, 0, FLAGS] == [group != absent for group in GROUPS]).all()
    for group in kept:
        assert (out[..., places(group)] != 0).all()
        assert np.array_equal(out[..., places(group)], encode(random_views(5), 100)[..., places(group)])
    assert np.array_equal(encode(random_views(5), 100, set(kept)), out)
    incomplete = random_views(5)
    del incomplete[CHANNELS[absent][-1]]
    assert np.array_equal(encode(incomplete, 100), out)


def test_without_any_group_the_shape_of_the_data_is_left():
    out = encode(random_views(5), 100, set())
    assert (out[..., : FLAGS.stop] == 0).all()
    assert (out[..., FLAGS.stop :] != 0).any()


def test_diagonal_rows_and_variables():
    out = encode(random_views(5), 1000)
    assert np.array_equal(out[..., -3], np.eye(5))
    np.testing.assert_allclose(out[..., -2], (np.log(1000) - 7) / 2, rtol=1e-6)
    np.testing.assert_allclose(out[..., -1], np.log(5) - 3, rtol=1e-6)
    assert np.array_equal(encode(random_views(5), 20_000), encode(random_views(5), 10**7))
    assert not np.array_equal(encode(random_views(5), 20_000), encode(random_views(5), 19_000))
    assert encode(random_views(200), 1000)[0, 0, -1] == encode(random_views(128), 1000)[0, 0, -1]


def test_permuting_variables_permutes_the_encoding():
    views, order = random_views(7), np.random.default_rng(0).permutation(7)
    out = encode(views, 300)
    permuted = encode({name: value[np.ix_(order, order)] for name, value in views.items()}, 300)
    assert np.array_equal(permuted, out[np.ix_(order, order)])
    assert not np.array_equal(permuted, out)


def test_the_order_of_the_views_is_irrelevant():
    views = random_views(5)
    assert np.array_equal(encode(dict(reversed(views.items())), 300), encode(views, 300))


def test_large_values_are_clipped():
    out = encode({name: 1e30 * value for name, value in random_views(5).items()}, 10)
    assert out.dtype == np.float32
    assert np.abs(out).max() == LIMIT
    assert np.isfinite(out).all()


@pytest.mark.parametrize(("rows", "targets", "levels"), [(60, 0, 0), (2000, 0, 0), (30, 8, 0), (400, 3, 0), (400, 0, 3), (60, 3, 4)])
def test_views_of_real_data_are_finite_and_complete(rows, targets, levels):
    usual = Simulation(variables=8, edges=12, mechanisms=("nn-additive",), observational_rows=rows, noise_law="student", levels=levels)
    simulation = dataclasses.replace(usual, targets=targets, regime_rows=1 + rows // 100)
    dataset = simulate_dataset(simulation, generator=np.random.default_rng(rows))
    views = view_dataset(dataset, 40, seed=1)
    out = encode(views.channels, views.rows)
    assert out.dtype == np.float32
    assert np.isfinite(out).all()
    there = {"categories": levels > 0, "interventions": targets > 0}
    assert (out[0, 0, FLAGS] == [there.get(group, True) for group in GROUPS]).all()
    # Nearly all values lie well inside the limit.
    assert (np.abs(out) == LIMIT).mean() < 0.01
