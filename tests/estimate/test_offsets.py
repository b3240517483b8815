"""Regimes that are off as a whole: when they are found, and what becomes of rows and shifts."""

import numpy as np
import pytest

from seacausal.data import Dataset
from seacausal.discovery import discover
from seacausal.estimate.offsets import centre_regimes, find_offsets
from seacausal.estimate.statistics import interventional_statistics, standardise

VARIABLES, ROWS = 8, 50


def screen(off: float, *, seed: int = 0, effect: float = 0.9) -> Dataset:
    """A chain, each variable of which is set to 3 in a regime of its own; every regime moves all columns by N(0, off^2)."""
    generator = np.random.default_rng(seed)
    regime = np.repeat(np.arange(VARIABLES + 1), [200, *[ROWS] * VARIABLES]).astype(np.int32)
    targets = np.eye(VARIABLES + 1, VARIABLES, k=-1, dtype=bool)
    values = generator.standard_normal((len(regime), VARIABLES))
    for j in range(VARIABLES):
        if j:
            values[:, j] += effect * values[:, j - 1]
        values[targets[regime, j], j] = 3
    values += off * generator.standard_normal((len(targets), VARIABLES))[regime]
    adjacency = np.eye(VARIABLES, k=1, dtype=bool)
    return Dataset(values, tuple("abcdefgh"), regime, targets, adjacency)


def found_in(dataset: Dataset) -> np.ndarray | None:
    return find_offsets(standardise(dataset.values)[0], dataset.regime, dataset.targets)


@pytest.mark.parametrize("seed", range(5))
def test_offsets_are_found_and_effects_are_none(seed):
    assert found_in(screen(0.0, seed=seed)) is None
    dataset = screen(1.0, seed=seed)
    apart = found_in(dataset)
    assert apart is not None
    spread = standardise(dataset.values)[2]
    assert np.median(apart * spread) == pytest.approx(1, abs=0.35)


def test_a_few_regimes_or_rows_tell_nothing():
    dataset = screen(1.0)
    few = dataset.regime < 3
    assert find_offsets(standardise(dataset.values[few])[0], dataset.regime[few], dataset.targets) is None
    short = np.concatenate([np.flatnonzero(dataset.regime == number)[:4] for number in range(VARIABLES + 1)])
    assert find_offsets(standardise(dataset.values[short])[0], dataset.regime[short], dataset.targets) is None
    every = np.ones_like(dataset.targets)
    assert find_offsets(standardise(dataset.values)[0], dataset.regime, every) is None


def test_what_moves_in_some_columns_alone_is_no_offset():
    dataset = screen(1.0)
    still = screen(0.0).values
    dataset.values[:, :2] = still[:, :2]
    assert found_in(dataset) is None


def test_regimes_are_centred_but_for_targets_and_categories():
    dataset = screen(1.0)
    z = standardise(dataset.values)[0]
    z[:, 7] = np.repeat([0.0, 1, 2], len(z) // 3)
    z[:, 6] = dataset.regime / 8
    before = z.tobytes()
    out = centre_regimes(z, dataset.regime, dataset.targets)
    assert z.tobytes() == before
    np.testing.assert_array_equal(out[:, 6:], z[:, 6:])
    for number in range(VARIABLES + 1):
        rows = dataset.regime == number
        kept = dataset.targets[number, :6]
        np.testing.assert_array_equal(out[rows][:, :6][:, kept], z[rows][:, :6][:, kept])
        np.testing.assert_allclose(out[rows][:, :6][:, ~kept].mean(0), 0, atol=1e-12)
        np.testing.assert_allclose(out[rows][:, :6].std(0), z[rows][:, :6].std(0))


def test_shifts_count_by_how_far_regimes_are_apart():
    dataset = screen(0.0)
    z, targeted = standardise(dataset.values)[0], dataset.targets[dataset.regime]
    plain, wide = (interventional_statistics(z, targeted, 1.0, apart) for apart in (None, np.full(VARIABLES, 0.7)))
    control = z[~targeted.any(1)].var(0)
    error = np.sqrt(1 / ROWS + 1 / 200)
    expected = np.sinh(4 * plain["shift significance"]) * error / np.sqrt(error**2 + 0.49 / control)
    np.testing.assert_allclose(np.sinh(4 * wide["shift significance"]), expected, atol=1e-9)
    for name in plain.keys() - {"shift significance"}:
        np.testing.assert_array_equal(plain[name], wide[name])


def test_batches_do_not_join_what_stands_alone():
    off, still = (discover(screen(size, effect=0.0)) for size in (1.0, 0.0))
    assert off.dataset["offset regimes"]
    assert any(note.startswith("All columns differ between the interventions") for note in off.notes())
    assert not still.dataset["offset regimes"]
    assert off.probabilities.max() < 0.3
    unheeded = discover(screen(1.0, effect=0.0), offsets=False)
    assert not unheeded.dataset["offset regimes"]
    assert unheeded.probabilities.max() > off.probabilities.max()
    chain = discover(screen(1.0))
    assert (chain.probabilities[np.eye(VARIABLES, k=1, dtype=bool)] > 0.8).all()
    assert chain.probabilities[~np.eye(VARIABLES, k=1, dtype=bool)].max() < 0.3
