import numpy as np
import pytest

from seacausal.bench.accuracy import Scores, measure
from seacausal.bench.baselines import BASELINES
from seacausal.bench.suites import Case, simulated_cases
from seacausal.data import Dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset


@pytest.mark.parametrize("interventional", [False, True])
def test_every_baseline_that_applies_is_measured(interventional):
    case = next(iter(simulated_cases(interventional=interventional, graphs=1, largest=10)))
    scores = measure([case])[case.group, case.column]
    measured = {method for method, _ in scores.values} - {"seacausal"}
    assert measured == set(BASELINES) - (set() if interventional else {"shift"})
    assert all(0 < scores.mean(name) <= 1 for name in measured)
    assert scores.mean("seacausal") >= scores.mean("vote") > scores.mean("correlation")


def test_baselines_that_need_free_rows_are_left_out():
    simulation = Simulation(variables=5, edges=5, observational_rows=0, targets=5, regime_rows=40)
    case = Case("screen", "", simulate_dataset(simulation, generator=np.random.default_rng(6)))
    assert BASELINES["resolve"](case.dataset) is None
    assert ("resolve", "mAP") not in measure([case])["screen", ""].values


def test_baselines_that_need_five_variables_are_left_out():
    values = np.random.default_rng(0).standard_normal((100, 4))
    case = Case("four", "", Dataset.observational(values, adjacency=np.triu(np.ones((4, 4), bool), 1)))
    scores = measure([case])["four", ""]
    assert np.isnan(scores.mean("vote"))
    assert np.isnan(scores.mean("resolve"))
    assert scores.mean("correlation") > 0


def test_large_sets_are_of_hundreds_of_variables():
    case = next(iter(simulated_cases(large=True)))
    assert case.group == "N=300, E=600"
    assert case.dataset.values.shape == (3000, 300)
    assert abs(case.dataset.adjacency.sum() - 600) < 60


def test_cells_are_left_out_by_their_size_and_sets_stay_the_same():
    def draw(**options):
        return [
            (case.group, case.column, case.dataset.values[0].tolist()) for case in simulated_cases(graphs=1, mechanisms=("linear", "nn"), **options)
        ]

    small, middle = draw(largest=10), draw(smallest=20, largest=20)
    assert {group for group, _, _ in small} == {"N=10, E=10", "N=10, E=40"}
    assert {group for group, _, _ in middle} == {"N=20, E=20", "N=20, E=80"}
    assert sorted(small + middle) == sorted(draw(largest=20))
    assert [case for case in small if case[0] == "N=10, E=10"] == draw(cells=((10, 10, 1),))


def test_calibration_is_that_of_all_pairs_of_a_cell():
    """Errors of two data sets that cancel each other in a bin do not count."""
    truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], bool)
    scores = Scores()
    for one, direct in ((truth, np.full((3, 3), 0.31)), (np.zeros((3, 3), bool), np.full((3, 3), 0.33)), (truth, truth * 0.9)):
        scores.predictions.append((one, direct))
    assert scores.mean("seacausal", "ECE") == pytest.approx((abs(3 - 6 * 0.31 - 6 * 0.33) + 3 * 0.1) / 18)
    assert np.isnan(scores.mean("FLOP", "ECE"))
