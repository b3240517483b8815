"""Laws of roots and noise, each centred with standard deviation 1, but for "heavy", which need not have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SQRT3 = float(np.sqrt(3.0))


def _student(generator: np.random.Generator, size: int) -> np.ndarray:
    return generator.standard_t(5, size) / np.sqrt(5 / 3)


def _heavy(generator: np.random.Generator, size: int) -> np.ndarray:
    """Student's law with 1 to 3 degrees of freedom, the first being Cauchy's; half of the draws lie as near to 0 as half of a Gaussian's do."""
    draws = generator.standard_t(generator.uniform(1, 3), size)
    return draws * (0.6745 / max(float(np.median(np.abs(draws))), 1e-3))


def _gumbel(generator: np.random.Generator, size: int) -> np.ndarray:
    return (generator.gumbel(size=size) - np.euler_gamma) * np.sqrt(6) / np.pi


def _skewed(generator: np.random.Generator, size: int) -> np.ndarray:
    """A gamma law of shape 1, the exponential, to 10, which is nearly normal; its tail is on either side."""
    shape = log_uniform(1, 10, generator=generator)
    return generator.choice((-1, 1)) * (generator.gamma(shape, size=size) - shape) / np.sqrt(shape)


def _mixture(generator: np.random.Generator, size: int) -> np.ndarray:
    centre = generator.uniform(0.5, 0.95)
    return centre * generator.choice([-1.0, 1.0], size) + np.sqrt(1 - centre**2) * generator.standard_normal(size)


def _steps(generator: np.random.Generator, size: int) -> np.ndarray:
    """Two to five values at equal distances, each with a chance of a fiftieth to a twelfth or more, as doses, genotypes and groups have."""
    levels, least = int(generator.integers(2, 6)), log_uniform(1 / 50, 1 / 12, generator=generator)
    chance = least + (1 - levels * least) * generator.dirichlet(np.ones(levels))
    value = np.arange(levels) - chance @ np.arange(levels)
    return generator.choice(value / np.sqrt(chance @ value**2), size, p=chance)


def _irregular(generator: np.random.Generator, size: int) -> np.ndarray:
    """A mixture of two to six Gaussians of any weights, centres and widths, as measured marginals may look."""
    parts = int(generator.integers(2, 7))
    weight = generator.dirichlet(np.ones(parts))
    centre, width = generator.standard_normal(parts), log_uniform(0.05, 1, parts, generator=generator)
    mean = weight @ centre
    spread = np.sqrt(weight @ (width**2 + (centre - mean) ** 2))
    part = generator.choice(parts, size, p=weight)
    return (centre[part] - mean + width[part] * generator.standard_normal(size)) / spread


LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "gaussian": lambda generator, size: generator.standard_normal(size, dtype=np.float32),
    "uniform": lambda generator, size: generator.uniform(-SQRT3, SQRT3, size),
    "laplace": lambda generator, size: generator.laplace(0, 1 / np.sqrt(2), size),
    "exponential": lambda generator, size: generator.exponential(1, size) - 1,
    "gumbel": _gumbel,
    "skewed": _skewed,
    "student": _student,
    "heavy": _heavy,
    "mixture": _mixture,
    "irregular": _irregular,
    "steps": _steps,
}
ANY = "any"
"""Stands for another of `LAWS` each time: in four of fifteen the Gaussian, in two the uniform."""


def log_uniform(low: float, high: float, size: int | None = None, *, generator: np.random.Generator) -> Any:
    """One number, or (size,), whose logarithm is uniform between those of `low` and `high`."""
    return np.exp(generator.uniform(np.log(low), np.log(high), size))


def draw_noise(law: str, size: int, *, generator: np.random.Generator) -> np.ndarray:
    """(size,) float32 draws, mean 0 and standard deviation 1 where the law has them; `law` is a key of `LAWS` or `ANY`."""
    if law == ANY:
        law = str(generator.choice(("gaussian", "gaussian", "gaussian", "uniform", *LAWS)))
    return LAWS[law](generator, size).astype(np.float32)
