"""The table of local estimators: every loop over subsets against its function on each subset's rows."""

from typing import get_args

import numpy as np
import pytest

from seacausal.config import AlgorithmName, SamplerName, StatisticName
from seacausal.errors import DataError
from seacausal.estimate.algorithms import ALGORITHMS, SubsetData, find_algorithm
from seacausal.estimate.dependence import STATISTICS
from seacausal.estimate.gather import plan_rows
from seacausal.estimate.statistics import standardise
from seacausal.graph.marks import ARROW, CIRCLE, TAIL
from seacausal.sample.samplers import SAMPLERS
from seacausal.sample.subsets import sample_random
from seacausal.simulate.dataset import Simulation, simulate_dataset

NAMES = [algorithm.name for algorithm in ALGORITHMS]


def data_of(seed: int, t: int = 12, **fields) -> SubsetData:
    dataset = simulate_dataset(Simulation(variables=8, edges=12, **fields), generator=np.random.default_rng(seed))
    plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(seed))
    return SubsetData(standardise(dataset.values)[0], dataset.regime, dataset.targets, sample_random(8, t, seed=seed).variables, plan, rows=300)


def test_options_name_the_table():
    assert list(get_args(AlgorithmName)) == NAMES
    assert list(get_args(SamplerName)) == [sampler.name for sampler in SAMPLERS]
    assert set(get_args(StatisticName)) == {statistic.name for statistic in STATISTICS}
    assert len(set(NAMES)) == len(NAMES)
    with pytest.raises(DataError, match=r"must be one of fci, .*; found 'notears'"):
        find_algorithm("notears")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mechanism", ["linear", "sigmoid"])
def test_all_subsets_at_once_are_each_alone(name, mechanism):
    data, algorithm = data_of(1, observational_rows=1000, mechanisms=(mechanism,)), find_algorithm(name)
    found = algorithm.each(data)
    assert found.shape == (12, 5, 5)
    assert np.count_nonzero(found) > 20
    for marks, table in zip(found, data.tables()):
        assert table.shape == (300, 5)
        np.testing.assert_array_equal(marks, algorithm.function(table))
    known = {"PAG": {0, TAIL, ARROW, CIRCLE}, "CPDAG": {0, TAIL, ARROW}, "DAG": {0, TAIL, ARROW}}[algorithm.output]
    assert set(np.unique(found).tolist()) <= known
    assert np.array_equal(found != 0, (found != 0).swapaxes(1, 2))
    if algorithm.output == "DAG":
        assert ((found == ARROW) == (found == TAIL).swapaxes(1, 2)).all()


def arrows_the_right_way(name: str, seed: int) -> tuple[int, int]:
    fields = {"observational_rows": 1000, "targets": 8, "regime_rows": 300}
    dataset = simulate_dataset(Simulation(variables=8, edges=12, **fields), generator=np.random.default_rng(seed))
    data = data_of(seed, 60, **fields)
    right = wrong = 0
    for marks, subset in zip(find_algorithm(name).each(data), data.variables):
        directed = (marks == ARROW) & (marks.T == TAIL)
        truth = dataset.adjacency[np.ix_(subset, subset)]
        right, wrong = right + int((directed & truth).sum()), wrong + int((directed & truth.T).sum())
    return right, wrong


@pytest.mark.parametrize("name", ["gies", "exact"])
def test_interventions_orient(name):
    right, wrong = np.sum([arrows_the_right_way(name, seed) for seed in range(3)], 0)
    right_without, _ = np.sum([arrows_the_right_way("ges", seed) for seed in range(3)], 0)
    assert right > 10 * wrong
    assert right > 1.3 * right_without


@pytest.mark.parametrize("name", NAMES)
def test_without_rows_free_of_targets_there_is_an_answer(name):
    data = data_of(2, observational_rows=0, targets=8, regime_rows=40)
    found = find_algorithm(name).each(data)
    assert set(np.unique(found).tolist()) <= {0, 1, 2, 3}


@pytest.mark.parametrize("name", NAMES)
def test_degenerate_columns_have_an_answer(name):
    values = np.random.default_rng(3).standard_normal((200, 8))
    values[:, 1] = values[:, 0]
    values[:, 2] = values[:, 3] + values[:, 4]
    values[:, 5] = values[:, 5] > 1
    regime, targets = np.zeros(200, np.int32), np.zeros((1, 8), bool)
    plan = plan_rows(regime, targets, generator=np.random.default_rng(0))
    data = SubsetData(standardise(values)[0], regime, targets, sample_random(8, 10).variables, plan)
    found = find_algorithm(name).each(data)
    assert np.array_equal(found != 0, (found != 0).swapaxes(1, 2))
