"""What a search over whole graphs that agrees with all that is sure adds where the network hesitates."""

import numpy as np
import pytest

from seacausal.aggregate.agreement import EACH, choose_search, heed_search, look_gaussian
from seacausal.aggregate.encoding import GROUPS
from seacausal.aggregate.network import load_weights
from seacausal.bench.accuracy import judge
from seacausal.data import Dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset
from seacausal.views import usual_subsets, view_dataset

ARROWS = 25
OPEN, TURNED, JOINED = 30, 31, 32
"""Where the pairs begin that are in doubt: for the search open, with an arrow backwards, and apart."""


@pytest.fixture
def agreeing():
    """40 variables: 25 sure arrows 0 -> 1 -> ..., three pairs in doubt, and what a search found."""
    direct = np.full((40, 40), 0.01)
    edge = np.zeros((40, 40))
    for i in range(ARROWS):
        direct[i, i + 1], edge[i, i + 1] = 0.95, 1
    for at, forward, backward in ((OPEN, 0.5, 0.3), (TURNED, 0.5, 0.4), (JOINED, 0.6, 0.1)):
        direct[at, at + 4], direct[at + 4, at] = forward, backward
    edge[OPEN, OPEN + 4] = edge[OPEN + 4, OPEN] = 0.5
    edge[TURNED + 4, TURNED] = 1
    np.fill_diagonal(direct, 0)
    return direct, edge


def test_odds_rise_by_a_fiftieth_for_every_sure_arrow(agreeing):
    direct, edge = agreeing
    found, odds = heed_search(direct, edge), 1 + ARROWS / EACH
    assert odds == 1.5
    np.testing.assert_allclose(found[OPEN, OPEN + 4], 0.5 * odds / (0.8 * odds + 0.2))
    np.testing.assert_allclose(found[OPEN + 4, OPEN], 0.3 * odds / (0.8 * odds + 0.2))
    np.testing.assert_allclose(found[TURNED + 4, TURNED], 0.4 * odds / (0.6 + 0.4 * odds))
    np.testing.assert_allclose(found[TURNED, TURNED + 4], 0.5 / (0.6 + 0.4 * odds))
    np.testing.assert_allclose(found[JOINED, JOINED + 4], 0.6 / (0.7 + 0.3 * odds))
    np.testing.assert_allclose(found[0, 1], 0.95 * odds / (0.05 + 0.95 * odds))
    assert (found.diagonal() == 0).all()
    assert (found + found.T <= 1).all()


def test_one_disagreement_is_enough_to_change_nothing(agreeing):
    direct, edge = agreeing
    left_out, turned, open_, extra = (edge.copy() for _ in range(4))
    left_out[3, 4] = turned[3, 4] = 0
    turned[4, 3] = extra[0, 20] = 1
    for other in (left_out, turned, extra):
        assert heed_search(direct, other) is direct
    open_[3, 4] = open_[4, 3] = 0.5  # the search cannot tell, which is no disagreement
    assert heed_search(direct, open_) is not direct
    hesitant = direct.copy()
    hesitant[0, 10 : 10 + ARROWS] = 0.5
    assert heed_search(hesitant, edge) is hesitant


def test_odds_double_where_the_search_must_be_right_about_the_kind_of_relation(agreeing):
    direct, edge = agreeing
    direct[0, 10 : 10 + ARROWS] = 0.5  # more doubts than arrows, which alone would change nothing
    found = heed_search(direct, edge, holds=True)
    np.testing.assert_allclose(found[TURNED + 4, TURNED], 0.8 / 1.4)
    np.testing.assert_allclose(found[JOINED, JOINED + 4], 0.6 / 1.3)
    edge[3, 4], edge[4, 3] = 0, 1
    assert heed_search(direct, edge, holds=True) is direct


def collider(law: str, rows: int, seed: int) -> np.ndarray:
    """a -> c <- b, c -> d, linear; or a square among the effects, or a column of two values."""
    generator = np.random.default_rng(seed)
    a, b, c, d = generator.standard_normal((4, rows))
    if law == "uniform":
        a = generator.uniform(-1.7, 1.7, rows)
    if law == "binary":
        a = generator.integers(0, 2, rows).astype(float)
    c = 0.8 * a + 0.8 * b + 0.7 * c
    return np.column_stack([a, b, c, 0.8 * c + 0.7 * d + (0.4 * c**2 if law == "square" else 0)])


def channels_of(values: np.ndarray):
    views = view_dataset(Dataset.observational(values), usual_subsets(4))
    return views.channels, views.rows


@pytest.mark.parametrize("rows", [60, 500, 20_000])
def test_gaussian_tables_look_gaussian_and_others_do_not(rows):
    look = {law: np.mean([look_gaussian(*channels_of(collider(law, rows, seed))) for seed in range(20)]) for law in ("gaussian", "uniform", "square")}
    assert look["gaussian"] >= 0.85
    if rows > 60:
        assert look["uniform"] == look["square"] == 0


def test_the_search_of_the_kind_of_data_is_chosen():
    values, observational = collider("gaussian", 500, 0), set(GROUPS) - {"interventions"}
    channels, rows = channels_of(values)
    assert choose_search(channels, rows, set()) is None
    for groups, holds in ({"graphs"}, False), ({"graphs", "moments"}, True):
        assert choose_search(channels, rows, groups) == (channels["linear graph edge"], holds)
    channels, rows = channels_of(collider("binary", 500, 0))  # one column of categories leaves the others' search
    assert choose_search(channels, rows, observational) == (channels["linear graph edge"], False)
    channels, rows = channels_of((values > 0).astype(float))
    assert choose_search(channels, rows, observational) == (channels["category graph edge"], True)
    assert choose_search(channels | {"targeted linear graph edge": values}, rows, {"interventions", "categories"}) == (values, False)


def test_colliders_among_gaussian_columns_and_among_categories_are_seen_more_clearly(monkeypatch):
    network, groups = load_weights("base", threads=1), set(GROUPS)
    tables = [channels_of(collider("gaussian", 2000, seed)) for seed in range(5)]
    tables += [channels_of((collider("gaussian", 2000, seed) > 0.3).astype(float)) for seed in range(5)]
    heeded = [network.predict_table(*table, groups) for table in tables]
    monkeypatch.setattr("seacausal.aggregate.network.heed_search", lambda direct, edge, holds: direct)
    for table, direct in zip(tables, heeded):
        before = network.predict_table(*table, groups)
        assert (direct[:2, 2] > before[:2, 2]).all()
        assert direct[0, 1] + direct[1, 0] < before[0, 1] + before[1, 0]


def test_on_linear_data_doubts_get_fewer_and_without_the_group_nothing_changes(monkeypatch):
    network = load_weights("base", threads=1)
    simulation = Simulation(30, 100, root_law="gaussian", root_scale=1.0, noise_coefficient=1.0, rescaled=True, observational_rows=20_000)
    dataset = simulate_dataset(simulation, generator=np.random.default_rng(8))
    views = view_dataset(dataset, usual_subsets(30))
    heeded, without = (network.predict_table(views.channels, views.rows, set(GROUPS) - aside) for aside in (set(), {"graphs"}))
    monkeypatch.setattr("seacausal.aggregate.network.heed_search", lambda direct, edge, holds: direct)
    alone = network.predict_table(views.channels, views.rows, set(GROUPS))
    assert judge(dataset.adjacency, heeded)["log-loss"] < 0.9 * judge(dataset.adjacency, alone)["log-loss"]
    assert (without == network.predict_table(views.channels, views.rows, set(GROUPS) - {"graphs"})).all()
