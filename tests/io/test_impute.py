"""Imputed cells: what they keep of the table, and what they leave alone."""

import numpy as np
import pytest

import seacausal
from seacausal.errors import DataError
from seacausal.io.impute import impute_missing
from seacausal.io.table import read_table


def chain(n=1000, d=5, *, share=0.2, seed=0):
    """Rows of a chain X1 -> X2 -> ..., and the same with a share of the cells missing."""
    generator = np.random.default_rng(seed)
    full = generator.normal(size=(n, d))
    for j in range(1, d):
        full[:, j] = 0.9 * full[:, j - 1] + 0.6 * full[:, j]
    return full, np.where(generator.random(full.shape) < share, np.nan, full)


def observational(values, seed=0):
    return impute_missing(values, np.zeros(len(values), int), np.zeros((1, values.shape[1]), bool), seed=seed)


def partial_correlations(values):
    precision = np.linalg.inv(np.corrcoef(values.T))
    return -precision / np.sqrt(np.outer(precision.diagonal(), precision.diagonal()))


def test_correlations_spreads_and_independences_stay():
    full, values = chain(n=4000)
    filled = observational(values)
    np.testing.assert_allclose(np.corrcoef(filled.T), np.corrcoef(full.T), atol=0.04)
    np.testing.assert_allclose(partial_correlations(filled), partial_correlations(full), atol=0.1)
    np.testing.assert_allclose(filled.std(0), full.std(0), rtol=0.04)


def test_only_missing_cells_change_and_take_values_of_their_column():
    _, values = chain()
    values[:, 4] = np.where(np.isnan(values[:, 4]), np.nan, np.digitize(values[:, 4], [-1, 0, 1]))
    values[7, 1] = np.inf
    before, known = values.copy(), np.isfinite(values)
    filled = observational(values)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(filled[known], values[known])
    for j in range(values.shape[1]):
        assert set(filled[:, j]) <= set(values[known[:, j], j])
    np.testing.assert_array_equal(filled, observational(values))
    assert (filled != observational(values, seed=1)).any()


def test_a_skewed_column_stays_as_skewed():
    full, values = chain()
    np.testing.assert_allclose(
        np.quantile(observational(np.exp(values)), [0.1, 0.5, 0.9], axis=0), np.quantile(np.exp(full), [0.1, 0.5, 0.9], axis=0), rtol=0.12
    )


def test_targets_are_drawn_from_their_own_regime_and_serve_no_others():
    _, values = chain()
    regime, targets = np.zeros(1000, int), np.zeros((3, 5), bool)
    regime[:200], regime[200:210] = 1, 2
    targets[1, 2] = targets[2, 2] = True
    values[:200, 2] = np.where(np.isnan(values[:200, 2]), np.nan, 50 + regime[:200])
    values[200:210, 2] = np.nan  # no value at all: as if nobody had acted on it
    filled = impute_missing(values, regime, targets)
    assert (filled[:200, 2] == 51).all()
    assert (filled[200:, 2] < 10).all()


def test_the_largest_floats_and_constant_columns():
    _, values = chain()
    values[:, 1] *= 1e307
    values[:, 3] = np.where(np.isnan(values[:, 3]), np.nan, 4.0)
    filled = observational(values)
    assert np.isfinite(filled).all()
    assert (filled[:, 3] == 4).all()


def test_tables_are_counted_and_hopeless_columns_refused():
    _, values = chain(n=100)
    values[3] = np.nan
    found = read_table(values, missing="impute")
    assert (found.dropped_rows, len(found.values)) == (1, 99)
    assert found.imputed_cells == np.isnan(values).sum() - 5
    shares = np.sort(np.isfinite(values[np.isfinite(values).any(1)]).mean(0))
    assert found.known_pairs == pytest.approx(shares[0] * shares[1])
    assert (read_table(values, missing="impute", seed=1).values != found.values).any()
    values[55:, 1] = np.nan
    with pytest.raises(DataError, match=r"in half of the rows for the others to be imputed; found 4\d in column 'X2' of the 99 rows of the array\."):
        read_table(values, missing="impute")


def test_graphs_of_imputed_tables_are_better_than_those_of_the_rows_without_gaps():
    full, values = chain(n=400, d=8, share=0.25)
    joined = {
        name: seacausal.discover(table, missing="impute" if name == "imputed" else "drop")
        for name, table in (("full", full), ("imputed", values), ("complete", values))
    }
    truth = np.eye(8, k=1, dtype=bool)

    def loss(graph):
        both = np.clip(graph.probabilities + graph.probabilities.T, 1e-4, 1 - 1e-4)
        return -np.log(np.where(truth | truth.T, both, 1 - both))[np.triu_indices(8, 1)].mean()

    assert loss(joined["full"]) < loss(joined["imputed"]) < 0.8 * loss(joined["complete"])
    shares = np.sort(np.isfinite(values).mean(0))
    assert joined["imputed"].dataset["independent rows"] == round(400 * shares[0] * shares[1])


def test_a_column_that_misses_half_of_its_values_gets_no_edges_from_that():
    joined = 0
    for seed in range(5):
        values = np.random.default_rng(seed).normal(size=(2000, 8))
        values[1000:, 7] = np.nan
        direct = seacausal.discover(values, missing="impute").probabilities
        joined += ((direct + direct.T)[7] > 0.5).sum()
    assert joined <= 1
