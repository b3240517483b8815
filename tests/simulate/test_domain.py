"""What the shares of a domain promise of the sets that are drawn from it."""

import numpy as np
import pytest

from seacausal.simulate.dataset import Simulation
from seacausal.simulate.domain import Domain, draw_specification


def draw(count: int = 200, **shares: float) -> list[Simulation]:
    domain = Domain(expression=0, cycles=0, selection=0, **shares)
    drawn = [draw_specification(domain, 10, generator=np.random.default_rng([8, k])) for k in range(count)]
    return [one for one in drawn if isinstance(one, Simulation)]


def is_equal(simulation: Simulation) -> bool:
    return (
        simulation.root_law == simulation.noise_law
        and simulation.root_scale == simulation.noise_coefficient
        and simulation.noise_spread == 1
        and not simulation.rescaled
    )


def test_equal_sets_have_roots_and_noise_of_one_law_and_variance():
    assert all(map(is_equal, draw(equal=1)))
    assert sum(map(is_equal, draw(equal=0.3))) == pytest.approx(60, abs=4 * np.sqrt(200 * 0.3 * 0.7))
    assert not any(map(is_equal, draw()))


def test_textbook_sets_have_few_edges_in_the_units_of_the_sums():
    drawn = draw(equal=1, textbook=1)
    assert all(is_equal(one) and one.measurement == "none" and 3 <= one.edges <= 15 for one in drawn)
    plain = [one.measurement == "none" for one in draw(equal=1)]
    assert sum(plain) < 100


def test_sparse_sets_have_fewer_than_four_edges_for_ten_variables():
    assert max(one.edges for one in draw(sparse=1)) < 4
    assert min(one.edges for one in draw()) > 2


def test_bystanders_are_a_fifth_of_the_variables_or_all():
    alone = np.array([one.bystanders for one in draw(bystanders=1)])
    assert alone.min() >= 2
    assert 0.15 < (alone == 10).mean() < 0.45
    assert not any(one.bystanders for one in draw())
