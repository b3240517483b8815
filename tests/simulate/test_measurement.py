"""What the instrument makes of the values; the older measurements are tested in test_simulation.py."""

import math

import numpy as np
import pytest

from seacausal.discovery import discover
from seacausal.errors import DataError
from seacausal.io.npz import read_datasets, write_dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.measurement import MEASUREMENTS

ROWS = 20_000


def measured(kind: str, seed: int, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Independent normal columns of various means and spreads, as they are and as they are measured."""
    generator = np.random.default_rng(seed)
    true = (generator.standard_normal((ROWS, columns)) * np.arange(1, columns + 1) - 3).astype(np.float32)
    return true, MEASUREMENTS[kind](true.copy(), generator)


@pytest.mark.parametrize("kind", MEASUREMENTS)
def test_measurements_keep_shape_and_kind(kind):
    true, found = measured(kind, 0)
    assert found.shape == true.shape
    assert found.dtype == np.float32
    assert not np.isinf(found).any()
    assert np.isnan(found).any() == (kind == "missing")
    assert measured(kind, 0)[1].tobytes() == found.tobytes()


def test_classes_are_few_and_in_order():
    numbers, shares = set(), []
    for seed in range(12):
        true, found = measured("classes", seed)
        for before, after in zip(true.T, found.T):
            levels, level = np.unique(after, return_inverse=True)
            if len(levels) < 100:
                numbers.add(len(levels))
                shares.append(np.bincount(level).min() / ROWS)
                bounds = [(before[level == k].min(), before[level == k].max()) for k in range(len(levels))]
                assert all(low[1] <= high[0] for low, high in zip(bounds, bounds[1:]))
                assert after.std() == pytest.approx(before.std(), rel=1e-3)
            else:
                np.testing.assert_array_equal(before, after)
    assert numbers == {2, 3, 4, 5}
    assert 0.25 < len(shares) / 72 < 0.75
    assert min(shares) < 0.1


def test_outliers_are_few_and_far():
    shares, together = [], []
    for seed in range(12):
        true, found = measured("outliers", seed)
        off = (found - found.mean(0) - true + true.mean(0)) / true.std(0)
        off -= np.median(off, 0)
        far = np.abs(off) > 0.01
        assert (np.abs(off[far]) > 4.9).all()
        assert (np.abs(off[far]) < 20.1).all()
        assert (off[far] > 0).mean() == pytest.approx(0.5, abs=0.1)
        shares += far.mean(0).tolist()
        hit = far[:, far.any(0)]
        if hit.shape[1] > 1:
            together.append((hit.all(1) == hit.any(1)).all())
    hit = np.array(shares) > 0
    assert 0.25 < hit.mean() < 0.75
    assert (np.array(shares)[hit] > 0.008).all()
    assert (np.array(shares)[hit] < 0.055).all()
    assert 0.2 < np.mean(together) < 0.8  # whole rows in half of the data sets


@pytest.mark.parametrize("seed", range(4))
def test_dropout_falls_with_the_level(seed):
    """The log-odds of being lost are linear in the level, with one slope for all columns; what is kept is log(1 + exp z)."""
    true, found = measured("dropout", seed)
    z = (true - true.mean(0)) / true.std(0)
    kept = found > 0
    np.testing.assert_allclose(found[kept], np.log1p(np.exp(z[kept])), rtol=1e-3)
    edges = np.arange(-2.0, 2.01, 0.25)
    lost = np.array([(~kept)[(z >= low) & (z < low + 0.25)].mean() for low in edges])
    assert (np.diff(lost) < 0.03).all()
    inner = (lost > 0.03) & (lost < 0.97)
    slope, middle = np.polyfit(edges[inner] + 0.125, np.log(lost[inner] / (1 - lost[inner])), 1)
    assert -4.3 < slope < -0.9
    assert -1.6 < -middle / slope < 0.6


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_whole_numbers_over_the_size_of_the_library(seed):
    """For a column of low counts, 1 / size is the least value above 0, so that a row's counts are whole multiples of it."""
    true, found = measured("counts", seed, columns=40)
    assert (found >= 0).all()
    scaled = np.expm1(found.astype(float))
    least = np.where(scaled > 0, scaled, np.inf).min(1)
    single = np.isfinite(least)
    ratio = scaled[single] / least[single, None]
    whole = np.abs(ratio - np.round(ratio)) < 1e-3 * np.maximum(ratio, 1)
    assert whole.all(1).mean() > 0.8  # the least count of a row is 1, but for a few
    sizes = -np.log(least[single])
    spread = np.subtract(*np.quantile(sizes, [0.75, 0.25])) / 1.349
    assert 0.08 < spread < 0.75
    for column in range(40):
        assert np.corrcoef(true[:, column], found[:, column])[0, 1] > 0.1


def test_counts_have_the_mean_that_their_level_says():
    """E count / size = exp(m + s z): the logarithm of the mean in slices of z is linear, its slope one s in (0.3, 1) for all columns."""
    true, found = measured("counts", 5)
    z = (true - true.mean(0)) / true.std(0)
    slopes = []
    for column in range(6):
        order = np.argsort(z[:, column]).reshape(20, -1)
        mean = np.log(np.expm1(found[:, column][order].astype(float)).mean(1))
        slopes.append(np.polyfit(z[:, column][order].mean(1)[2:-2], mean[2:-2], 1)[0])
    assert np.ptp(slopes) < 0.12
    assert 0.27 < np.mean(slopes) < 1.03


def test_molecules_are_whole_numbers_that_grow_with_the_level():
    spreads = []
    for seed in range(12):
        true, found = measured("molecules", seed)
        assert (found == np.round(found)).all()
        assert (found >= 0).all()
        for column in range(true.shape[1]):
            order = np.argsort(true[:, column]).reshape(20, -1)
            mean = found[:, column][order].mean(1)
            assert mean[-4:].mean() > mean[:4].mean()
        spreads.append(found.max() / max(np.median(found), 1))
    assert max(spreads) > 100  # many counts have heavy tails


def test_what_rows_share_is_a_batch_or_a_factor():
    """The moves of all columns have rank 1, or take two to eight values; one strength of 0.1 to 0.8 standard deviations serves all columns."""
    batches, strengths, alike = [], [], []
    for seed in range(40):
        true, found = measured("shared", seed, columns=20)
        moves = (found.astype(float) - true) / true.std(0)
        kinds = len(np.unique(np.round(moves[:, 0], 3)))
        batches.append(kinds <= 8)
        if batches[-1]:
            assert kinds >= 2
        else:
            weights = np.linalg.svd(moves, compute_uv=False)
            assert weights[1] < 1e-3 * weights[0]
            alike.append(np.ptp(moves.std(0)) < 1e-3)
        strengths.append(np.sqrt((moves**2).mean()))
    assert 0.3 < np.mean(batches) < 0.7
    assert 0.2 < np.mean(alike) < 0.8
    assert 0.05 < min(strengths) < 0.2
    assert 0.5 < max(strengths) < 1.3


def test_sizes_belong_to_rows():
    spreads = []
    for seed in range(12):
        true, found = measured("sizes", seed)
        above = true - true.min(0)
        inner = (above > 0.1).all(1)
        sizes = np.log(found[inner] / above[inner])
        assert np.ptp(sizes, axis=1).max() < 1e-3
        spreads.append(sizes[:, 0].std())
    assert 0.08 < min(spreads) < 0.3
    assert 0.4 < max(spreads) < 0.62


@pytest.mark.parametrize("columns", [2, 6, 100])
def test_holes_depend_on_one_complete_column_alone(columns):
    """Chances of a row depend on the complete column; given that, cells are missing alike and whatever their own values."""
    slopes = []
    for seed in range(6):
        true, found = measured("missing", seed, columns)
        holes = np.isnan(found)
        np.testing.assert_array_equal(found[~holes], true[~holes])
        (driver,) = np.flatnonzero(~holes.any(0))
        others = np.setdiff1d(np.arange(columns), driver)
        expected = holes[:, others].mean() * (columns - 1)
        assert 0.09 < expected < 0.51
        assert 0.05 < holes.any(1).mean() < 0.52
        count = holes.sum(1)
        slopes.append(abs(np.corrcoef(true[:, driver], count)[0, 1]))
        own = [np.corrcoef(true[:, v], holes[:, v])[0, 1] for v in others]
        assert np.abs(own).max() < 5 / math.sqrt(ROWS)
    assert max(slopes) > 10 / math.sqrt(ROWS)


def test_holes_are_written_read_and_dropped(tmp_path):
    simulation = Simulation(variables=6, edges=6, observational_rows=400, targets=2, regime_rows=50, measurement="missing")
    dataset = simulate_dataset(simulation, generator=np.random.default_rng(1))
    path = tmp_path / "holes.npz"
    write_dataset(path, dataset)
    with np.load(path) as archive:
        np.testing.assert_array_equal(archive["X"], dataset.values)  # NaN where NaN is
    holes = np.isnan(dataset.values).any(1)
    (read,) = read_datasets(path, missing="drop")
    assert read.dropped_rows == holes.sum() > 0
    np.testing.assert_array_equal(read.values, dataset.values[~holes])
    graph = discover(path, missing="drop", subsets=4)
    assert graph.dataset["dropped rows"] == holes.sum()
    with pytest.raises(DataError, match="must hold finite numbers"):
        discover(path, subsets=4)
    with pytest.raises(DataError, match="finite"):
        discover(dataset, subsets=4)
    assert discover(dataset, missing="drop", subsets=4).dataset["dropped rows"] == holes.sum()


def test_categories_are_numbered_in_another_order():
    generator = np.random.default_rng(2)
    true = np.column_stack([generator.integers(0, 4, (3000, 8)), generator.integers(0, 40, (3000, 4))]).astype(np.float32) * 2 - 3
    found = MEASUREMENTS["codes"](true.copy(), generator)
    assert np.array_equal(found[:, 8:], true[:, 8:])
    changed = ~(found == true).all(0)
    assert 1 <= changed.sum() < 8
    for column in np.flatnonzero(changed):
        pairs = set(zip(true[:, column].tolist(), found[:, column].tolist()))
        assert sorted(code for _, code in pairs) == [0, 1, 2, 3]
        assert sorted(value for value, _ in pairs) == [-3, -1, 1, 3]
    codes = [[next(c for v, c in zip(true[:, k], found[:, k]) if v == value) for value in (-3, -1, 1, 3)] for k in np.flatnonzero(changed)]
    assert any(one != [0, 1, 2, 3] for one in codes)
