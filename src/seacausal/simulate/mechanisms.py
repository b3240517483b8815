"""How a child depends on its parents: the mechanisms of the SEA paper's generator (itself DCDI's, Brouillard et al. 2020).

`draw_mechanism(name, parents, ...)` draws the parameters once and returns a function of the parents' values and the noise, so that every regime of a
data set shares them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Mechanism = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(parents (n, k), noise (n,)) -> child (n,)."""


def draw_linear(parents: int, generator: np.random.Generator, weights: tuple[float, float] = (0.25, 1.0)) -> Mechanism:
    """Y = X w + noise, |w| uniform over `weights`, random signs."""
    w = generator.uniform(*weights, parents) * generator.choice([-1.0, 1.0], parents)
    w = w.astype(np.float32)
    return lambda x, noise: x @ w + noise


def draw_nn_additive(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = PReLU(X W + b) v + c + noise, 10 hidden units, slope 0.25, weights N(0, 1), biases uniform in +-1 / sqrt(inputs)."""
    w, b, v, c = _draw_layers(parents, 10, generator)

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        hidden = x @ w + b
        return np.where(hidden > 0, hidden, 0.25 * hidden) @ v + c + noise

    return mechanism


def draw_nn(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = tanh((X, noise) W + b) v + c: 20 hidden units, the noise is one more input."""
    w, b, v, c = _draw_layers(parents + 1, 20, generator)
    return lambda x, noise: np.tanh(np.column_stack([x, noise]) @ w + b) @ v + c


def draw_sigmoid(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = sum of a s(b (x + c)) + noise with s(u) = u / (1 + |u|), one a = 1 + Exp(mean 1/4), b = +-U(.5, 2), c = U(-2, 2) for all parents."""
    a = np.float32(1 + generator.exponential(0.25))
    b = np.float32(generator.uniform(0.5, 2) * generator.choice([-1, 1]))
    c = np.float32(generator.uniform(-2, 2))

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        u = b * (x + c)
        return (a * u / (1 + np.abs(u))).sum(1) + noise

    return mechanism


def draw_polynomial(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = sum of clip(c0 + c1 x + c2 x^2, -1, 1) + noise, coefficients U(0, 1) for each parent."""
    c0, c1, c2 = generator.random((3, parents), dtype=np.float32)
    return lambda x, noise: np.clip(c0 + x * (c1 + c2 * x), -1, 1).sum(1) + noise


def _draw_layers(inputs: int, hidden: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.float32]:
    w = generator.standard_normal((inputs, hidden), dtype=np.float32)
    b = generator.uniform(-1, 1, hidden).astype(np.float32) / np.float32(np.sqrt(inputs))
    v = generator.standard_normal(hidden, dtype=np.float32)
    c = np.float32(generator.uniform(-1, 1) / np.sqrt(hidden))
    return w, b, v, c


MECHANISMS: dict[str, Callable[..., Mechanism]] = {
    "linear": draw_linear,
    "nn-additive": draw_nn_additive,
    "nn": draw_nn,
    "sigmoid": draw_sigmoid,
    "polynomial": draw_polynomial,
}


def draw_mechanism(name: str, parents: int, *, generator: np.random.Generator, weights: tuple[float, float] = (0.25, 1.0)) -> Mechanism:
    """Draw one mechanism; `weights` bounds the size of linear coefficients and is ignored by the others."""
    if name == "linear":
        return draw_linear(parents, generator, weights)
    return MECHANISMS[name](parents, generator)
