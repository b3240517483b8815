"""Categories drawn from tables: their law given the parents, and data sets of them."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from seacausal.errors import DataError
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.simulate.tables import draw_categories


def simulate(seed: int, **fields):
    return simulate_dataset(Simulation(**{"variables": 8, "edges": 12, "levels": 4, **fields}), generator=np.random.default_rng(seed))


def differ(counts) -> float:
    """How likely rows of counts that follow one law are to differ so much; columns of few are left out."""
    counts = np.asarray(counts)
    counts = counts[:, counts.sum(0) > 50]
    return chi2_contingency(counts).pvalue if counts.shape[1] > 1 else 1.0


def test_categories_depend_on_the_configuration_of_their_parents_alone():
    generator = np.random.default_rng(0)
    parents = generator.integers(0, 3, (30_000, 2)).astype(float)
    half = np.arange(30_000) < 15_000
    for _ in range(10):
        own = draw_categories(parents, 4, generator=generator)
        assert set(own) <= set(range(4))
        rows = [(parents == (a, b)).all(1) for a in range(3) for b in range(3)]
        assert differ([np.bincount(own[row], minlength=4) for row in rows]) < 1e-6
        for row in rows:  # the same table holds in all rows
            assert differ([np.bincount(own[row & part], minlength=4) for part in (half, ~half)]) > 1e-5


def test_a_parent_of_many_values_is_cut_at_its_quartiles():
    generator = np.random.default_rng(1)
    parent = generator.standard_normal(20_000)
    own = draw_categories(parent[:, None], 3, generator=generator)
    eighth = np.searchsorted(np.quantile(parent, np.arange(1, 8) / 8), parent)
    counts = np.array([np.bincount(own[eighth == part], minlength=3) for part in range(8)])
    assert differ(counts) < 1e-6
    assert all(differ(counts[first : first + 2]) > 1e-5 for first in range(0, 8, 2))


def test_some_parents_act_in_order():
    generator = np.random.default_rng(4)
    parent = np.repeat(np.arange(4.0), 5_000)
    alike = 0
    for _ in range(200):
        means = draw_categories(parent[:, None], 4, rare=True, generator=generator).reshape(4, -1).mean(1)
        steps = np.diff(means)
        alike += bool((steps > 0.02).all() or (steps < -0.02).all())
    assert 40 <= alike <= 80  # effects in no order are monotone in one case of twelve


def test_categories_may_be_rare():
    generator = np.random.default_rng(5)
    nothing = np.empty((5_000, 0))
    rarest = np.array([np.bincount(draw_categories(nothing, 2, rare=True, generator=generator), minlength=2).min() / 5_000 for _ in range(200)])
    assert 0.05 < (rarest < 0.02).mean() < 0.25
    assert (rarest > 0.3).mean() > 0.3


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("intervention", ["gaussian", "shift", "activity", "imperfect", "clamp"])
def test_interventions_and_off_targets_leave_levels_as_they_are(tables, intervention):
    found = simulate(2, tables=tables, intervention=intervention, targets=8, regime_rows=50, off_target=0.8, drift=0.2)
    for column in found.values.T:
        levels = np.unique(column)
        assert 2 <= len(levels) <= 4
        assert set(levels) == set(np.unique(column[found.regime == 0]))


def test_some_variables_stay_continuous():
    found = simulate(3, variables=40, edges=60, levels_share=0.5, tables=True)
    few = np.array([len(np.unique(column)) <= 4 for column in found.values.T])
    assert 10 <= few.sum() <= 30
    assert all(len(np.unique(column)) > 500 for column in found.values.T[~few])
    assert simulate(3, levels_share=1.0).values.tobytes() == simulate(3).values.tobytes()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"levels_share": 1.5}, "`levels_share` must be a probability"),
        ({"levels": 0, "tables": True}, "`levels` must"),
        ({"levels": 0, "rare": True}, "`rare`"),
    ],
)
def test_what_cannot_be_is_refused(fields, message):
    with pytest.raises(DataError, match=message):
        simulate(0, **fields)
