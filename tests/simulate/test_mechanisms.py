"""Mean and variance of a child against direct formulas, for mechanisms whose formula is not additive and linear."""

import inspect
import math

import numpy as np
import pytest

from seacausal.simulate.mechanisms import draw_mechanism

ROWS = 200_000
SIGMA = 0.4


def draw(name: str, parents: int, seed: int, *, spread: float = 1.0):
    """Parameters, independent parents, noise and child."""
    generator = np.random.default_rng([seed, parents])
    mechanism = draw_mechanism(name, parents, generator=generator)
    x = (spread * generator.standard_normal((ROWS, parents))).astype(np.float32)
    noise = (SIGMA * generator.standard_normal(ROWS)).astype(np.float32)
    return dict(inspect.getclosurevars(mechanism).nonlocals), mechanism, x, noise, mechanism(x, noise).astype(float)


def integrate(function) -> np.ndarray:
    """The expectation of function(X), X ~ N(0, 1), by the trapezium rule."""
    x = np.linspace(-9, 9, 20_001)
    return (function(x[:, None]) * np.exp(-(x[:, None] ** 2) / 2)).sum(0) * (x[1] - x[0]) / math.sqrt(2 * math.pi)


def assert_moments(y: np.ndarray, mean: float, variance: float) -> None:
    """Within 5 standard errors, that of the variance from the fourth moment."""
    assert abs(y.mean() - mean) < 5 * math.sqrt(variance / len(y))
    fourth = ((y - y.mean()) ** 4).mean()
    assert abs(y.var() - variance) < 5 * math.sqrt((fourth - variance**2) / len(y))


@pytest.mark.parametrize("parents", [1, 3])
@pytest.mark.parametrize("name", ["sigmoid-mix", "polynomial-mix"])
def test_noise_that_multiplies(name, parents):
    """Mean 0 and variance sigma^2 E f^2, E f^2 = (sum of E f_k)^2 + sum of Var f_k."""
    drawn, _, x, noise, y = draw(name, parents, 1)
    own = dict(inspect.getclosurevars(drawn["f"]).nonlocals)

    def terms(u: np.ndarray) -> np.ndarray:
        if name == "sigmoid-mix":
            inner = own["b"] * (u + own["c"])
            return np.repeat(own["a"] * inner / (1 + np.abs(inner)), parents, axis=1)
        return np.clip(own["c0"] + u * own["c1"] + u**2 * own["c2"], -1, 1)

    first, second = integrate(terms), integrate(lambda u: terms(u) ** 2)
    assert_moments(y, 0, SIGMA**2 * (first.sum() ** 2 + (second - first**2).sum()))
    np.testing.assert_allclose(y, terms_of_columns(terms, x) * noise, rtol=1e-3, atol=1e-4)


def terms_of_columns(terms, x: np.ndarray) -> np.ndarray:
    """The sum over parents, each by its own term."""
    return sum(terms(x[:, [k]].astype(float))[:, k] for k in range(x.shape[1]))


@pytest.mark.parametrize("parents", [1, 4])
def test_multiplicative(parents):
    """Each factor has mean 1 and second moment 1 + w^2 E tanh^2."""
    drawn, _, _, _, y = draw("multiplicative", parents, 2)
    square = integrate(lambda u: np.tanh(u) ** 2)[0]
    assert_moments(y, 1, np.prod(1 + drawn["w"].astype(float) ** 2 * square) - 1 + SIGMA**2)


@pytest.mark.parametrize("parents", [1, 4])
def test_saturating(parents):
    drawn, mechanism, _, _, y = draw("saturating", parents, 3)
    w, t, h = (drawn[key].astype(float) for key in "wth")

    def terms(u: np.ndarray) -> np.ndarray:
        level = np.log1p(np.exp(u))
        return w * level**h / (t**h + level**h)

    first, second = integrate(terms), integrate(lambda u: terms(u) ** 2)
    assert_moments(y, first.sum(), (second - first**2).sum() + SIGMA**2)
    nothing = np.zeros(2, np.float32)
    low, high = (mechanism(np.full((2, parents), end, np.float32), nothing)[0] for end in (-1e4, 1e9))
    assert low == pytest.approx(0, abs=0.02)
    assert high == pytest.approx(w.sum(), rel=1e-3)


@pytest.mark.parametrize("parents", [1, 2, 9])
def test_tree(parents):
    """Parents at +-1 with equal chances: the mean of Y over all sign patterns."""
    drawn, mechanism, x, noise, _ = draw("tree", parents, 4, spread=2)
    patterns = np.array([[1.0 if number >> k & 1 else -1.0 for k in range(parents)] for number in range(2**parents)], np.float32) * 2
    level = [mechanism(pattern[None], np.zeros(1, np.float32))[0] for pattern in patterns]
    y = mechanism(2 * np.sign(x), noise).astype(float)
    assert_moments(y, np.mean(level), np.var(level) + SIGMA**2)
    assert set(drawn["asked"].tolist()) == set(range(parents))
    assert 2 ** drawn["depth"] - 1 == len(drawn["asked"]) >= max(parents, 7)


@pytest.mark.parametrize("seed", range(6))
def test_no_parent_of_a_tree_goes_without_effect(seed):
    mechanism = draw("tree", 5, seed)[1]
    x = 2 * np.random.default_rng(seed).standard_normal((5000, 5)).astype(np.float32)
    nothing = np.zeros(5000, np.float32)
    for parent in range(5):
        other = x.copy()
        other[:, parent] = np.random.default_rng(9).permutation(x[:, parent])
        assert (mechanism(x, nothing) != mechanism(other, nothing)).mean() > 0.003


def test_counts_at_fixed_parents():
    """Poisson-lognormal: mean m = exp(b + asinh(x) w + sigma^2 / 2), variance m + m^2 (exp(sigma^2) - 1)."""
    drawn, mechanism, _, noise, _ = draw("count", 2, 5)
    for x in ((0.0, 0.0), (0.7, -0.4), (-1.5, 0.3)):
        y = mechanism(np.tile(np.array(x, np.float32), (ROWS, 1)), noise).astype(float)
        mean = math.exp(drawn["b"] + np.arcsinh(x) @ drawn["w"] + SIGMA**2 / 2)
        assert_moments(y, mean, mean + mean**2 * math.expm1(SIGMA**2))
        assert (y == np.round(y)).all()
    y = mechanism(np.full((ROWS, 2), 1e30, np.float32) * np.sign(drawn["w"]).astype(np.float32), noise).astype(float)
    assert_moments(y, math.exp(6), math.exp(6))
    assert_moments(mechanism(np.full((ROWS, 2), -1e30, np.float32) * np.sign(drawn["w"]).astype(np.float32), noise), math.exp(-1), math.exp(-1))
    assert mechanism(np.full((9, 2), 0.5, np.float32), noise[:9]).tobytes() == mechanism(np.full((9, 2), 0.5, np.float32), noise[:9]).tobytes()
