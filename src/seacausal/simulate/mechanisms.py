"""How a child depends on its parents: the mechanisms of the SEA paper's generator (itself DCDI's, Brouillard et al. 2020), and further ones.

`draw_mechanism(name, parents, ...)` draws the parameters once and returns a function of the parents' values and the noise, so that every regime of a
data set shares them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seacausal.simulate.noise import log_uniform

Mechanism = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(parents (n, k), noise (n,)) -> child (n,)."""


def draw_linear(parents: int, generator: np.random.Generator, weights: tuple[float, float] = (0.25, 1.0)) -> Mechanism:
    """Y = X w + noise, |w| uniform over `weights`, random signs."""
    w = generator.uniform(*weights, parents) * generator.choice([-1.0, 1.0], parents)
    w = w.astype(np.float32)
    return lambda x, noise: x @ w + noise


def draw_uneven(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = X w + noise, |w| log-normal with median 0.3 and log-spread 1.1, at most 3, random signs: few strong effects and many weak ones."""
    w = 0.3 * np.exp(1.1 * generator.standard_normal(parents)) * generator.choice([-1.0, 1.0], parents)
    w = np.clip(w, -3, 3).astype(np.float32)
    return lambda x, noise: x @ w + noise


def draw_nn_additive(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = PReLU(X W + b) v + c + noise, 10 hidden units, slope 0.25, weights N(0, 1), biases uniform in +-1 / sqrt(inputs)."""
    w, b, v, c = _draw_layers(parents, 10, generator)
    return lambda x, noise: _run_layers(x, w, b, v, c, 0.25) + noise


def draw_nn_bent(parents: int, generator: np.random.Generator) -> Mechanism:
    """As `draw_nn_additive`, but every hidden unit has a slope of its own, U(-1, 1), from V to line, and the whole a size of 0.1 to 1, log-uniform.

    In half of the draws a hidden unit reads one parent alone, so that the effects of parents add up.
    """
    hidden = max(10, 3 * parents)
    w, b, v, c = _draw_layers(parents, hidden, generator)
    slope = generator.uniform(-1, 1, hidden).astype(np.float32)
    v *= np.float32(log_uniform(0.1, 1, generator=generator))
    if generator.random() < 0.5:
        w *= np.arange(parents)[:, None] == np.arange(hidden) % parents
    return lambda x, noise: _run_layers(x, w, b, v, c, slope) + noise


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


def draw_gp(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = f(X) + noise, f from a Gaussian process with a squared exponential kernel, by 40 random features (Rahimi and Recht, 2007)."""
    f = _draw_wave(parents, generator)
    return lambda x, noise: f(x) + noise


def draw_gp_additive(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = sum of f_k(X_k) + noise, each f_k from a Gaussian process of its own (Buehlmann, Peters and Ernest, 2014)."""
    waves = [_draw_wave(1, generator) for _ in range(parents)]
    return lambda x, noise: sum(f(x[:, k : k + 1]) for k, f in enumerate(waves)) + noise


def draw_post_nonlinear(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = g(f(X) + noise), f linear or a Gaussian process, g a signed power, a hyperbolic sine or tangent (Zhang and Hyvarinen, 2009)."""
    f = draw_linear(parents, generator, (0.5, 1.5)) if generator.random() < 0.5 else draw_gp(parents, generator)
    shape, strength = generator.integers(3), np.float32(generator.uniform(0.5, 2))

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        u = f(x, noise)
        if shape == 0:
            return np.sign(u) * np.abs(u) ** strength
        return np.sinh(np.clip(strength * u, -4, 4)) if shape == 1 else np.tanh(strength * u)

    return mechanism


def draw_heteroscedastic(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = f(X) + exp(g(X)) noise, f and g from Gaussian processes (Immer et al., 2023)."""
    f, g = _draw_wave(parents, generator), _draw_wave(parents, generator)
    return lambda x, noise: f(x) + np.exp(g(x)) * noise


def draw_scaled(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = s(X) noise: parents change the spread alone. s is exp(g) or c + g with c ~ N(0, 1).

    g is a Gaussian process, as in `draw_gp`, or a sum of one for each parent, divided by the root of their number.
    """
    additive, grows = generator.random(2) < 0.5
    f = (draw_gp_additive if additive else draw_gp)(parents, generator)
    size, c = np.float32(parents**-0.5 if additive else 1), np.float32(generator.standard_normal())

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        g = size * f(x, np.zeros_like(noise))
        return (np.exp(g) if grows else c + g) * noise

    return mechanism


def draw_threshold(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = sum of w_k [X_k > t_k] + noise, |w| in (0.5, 1.5), t ~ N(0, 0.7^2)."""
    w = (generator.uniform(0.5, 1.5, parents) * generator.choice([-1.0, 1.0], parents)).astype(np.float32)
    t = (0.7 * generator.standard_normal(parents)).astype(np.float32)
    return lambda x, noise: (x > t) @ w + noise


def draw_sigmoid_mix(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = f(X) noise, f as in `draw_sigmoid`: the noise multiplies."""
    f = draw_sigmoid(parents, generator)
    return lambda x, noise: f(x, np.zeros_like(noise)) * noise


def draw_polynomial_mix(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = f(X) noise, f as in `draw_polynomial`: the noise multiplies."""
    f = draw_polynomial(parents, generator)
    return lambda x, noise: f(x, np.zeros_like(noise)) * noise


def draw_multiplicative(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = product of (1 + w_k tanh(X_k)) + noise, |w| in (0.4, 1), random signs: what one parent does depends on the others."""
    w = (generator.uniform(0.4, 1, parents) * generator.choice([-1.0, 1.0], parents)).astype(np.float32)
    return lambda x, noise: (1 + w * np.tanh(x)).prod(1) + noise


def draw_quadratic(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = a sum of terms X_k, X_k^2 and X_k X_l, divided by the root of their number, + noise; parents are cut at +-8, so that powers of powers end.

    Every parent has one term of the three of its own; any other is there with a chance of 1/2, those of two parents with at most 1 / parents.
    Coefficients have a size of U(0.3, 1) and random signs.
    """
    a, b = (generator.random((2, parents)) < 0.5).astype(np.float32)
    c = np.triu(generator.random((parents, parents)) < min(0.5, 1 / parents), 1).astype(np.float32)
    own = generator.integers(3 if parents > 1 else 2, size=parents)
    a[own == 0], b[own == 1] = 1, 1
    for k in np.flatnonzero(own == 2):
        other = int(generator.integers(parents - 1))
        c[min(k, other + (other >= k)), max(k, other + (other >= k))] = 1
    scale = np.float32(np.sqrt(a.sum() + b.sum() + c.sum()))
    for terms in (a, b, c):
        terms *= (generator.uniform(0.3, 1, terms.shape) * generator.choice([-1.0, 1.0], terms.shape)).astype(np.float32) / scale

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        x = np.clip(x, -8, 8)
        return x @ a + (x * x) @ b + ((x @ c) * x).sum(1) + noise

    return mechanism


def draw_saturating(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = sum of w_k u^h / (t_k^h + u^h) + noise, u = log(1 + exp(X_k)) (Hill, 1910): parents raise or lower Y, and ever less so.

    |w| in (0.5, 2), random signs; t in (0.3, 1.5); one h of 0.5, 1, 2 or 4 for each parent.
    """
    w = (generator.uniform(0.5, 2, parents) * generator.choice([-1.0, 1.0], parents)).astype(np.float32)
    t = generator.uniform(0.3, 1.5, parents).astype(np.float32)
    h = generator.choice(np.array([0.5, 1, 2, 4], np.float32), parents)

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        u = np.logaddexp(np.float32(0), x) + np.float32(1e-6)
        return (w / (1 + (t / u) ** h)).sum(1) + noise

    return mechanism


def draw_gentle(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = sum of w_k g_k(X_k) + exp(b u) noise: every parent raises or lowers Y all along, and in a third of the draws its spread as well.

    |w| in (0.4, 1.2), random signs; g is x, or a line that turns into a flatter or a steeper one (log(1 + exp(a (x - c))) / a, asinh(a (x - c)) / a
    or x (1 + a min(|x|, 2) / 4), c ~ N(0, 1), a = exp U(-1, 1)); u is the sum, without w, cut to +-2, |b| in (0, 0.6).
    """
    w = (generator.uniform(0.4, 1.2, parents) * generator.choice([-1.0, 1.0], parents)).astype(np.float32)
    a, c = np.exp(generator.uniform(-1, 1, parents)).astype(np.float32), generator.standard_normal(parents, dtype=np.float32)
    kind = generator.integers(4, size=parents)
    b = np.float32(generator.uniform(-0.6, 0.6)) if generator.random() < 1 / 3 else np.float32(0)

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        u = a * (x - c)
        g = np.choose(kind, [x, np.logaddexp(np.float32(0), u) / a, np.arcsinh(u) / a, x * (1 + a * np.minimum(np.abs(x), 2) / 4)])
        return g @ w + (np.exp(b * np.clip(g.sum(1), -2, 2)) * noise if b else noise)

    return mechanism


def draw_tree(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y = the value of a leaf + noise: a binary tree of at least 3 levels, every node of which asks whether X_k > t (Breiman et al., 1984).

    Nodes and leaves are numbered level by level. The first nodes ask for one parent each, so that none goes unasked, the others for any; t ~
    N(0, 0.7^2), leaves N(0, 1).
    """
    depth = max(3, int(np.ceil(np.log2(parents + 1))))
    asked = np.concatenate([generator.permutation(parents), generator.integers(parents, size=2**depth - 1 - parents)])
    t = (0.7 * generator.standard_normal(len(asked))).astype(np.float32)
    leaf = generator.standard_normal(2**depth, dtype=np.float32)

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        node, rows = np.zeros(len(x), int), np.arange(len(x))
        for _ in range(depth):
            node = 2 * node + 1 + (x[rows, asked[node]] > t[node])
        return leaf[node - len(asked)] + noise

    return mechanism


def draw_count(parents: int, generator: np.random.Generator) -> Mechanism:
    """Y ~ Poisson(exp(b + asinh(X) w + noise)), the exponent cut to (-1, 6) (Poisson-lognormal: Aitchison and Ho, 1989).

    b in (0, 2), |w| in (0.3, 1) / sqrt(parents), random signs; asinh keeps counts of counts in bounds, the cut keeps any column from being all 0. The
    Poisson draws come from a seed of the mechanism's own.
    """
    b = generator.uniform(0, 2)
    w = generator.uniform(0.3, 1, parents) * generator.choice([-1.0, 1.0], parents) / np.sqrt(parents)
    seed = int(generator.integers(2**62))

    def mechanism(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
        rate = np.exp(np.clip(b + np.arcsinh(x.astype(float)) @ w + noise, -1, 6))
        return np.random.default_rng(seed).poisson(rate).astype(np.float32)

    return mechanism


def _draw_wave(inputs: int, generator: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    """A function of variance 1 over the draws and length scale U(0.7, 2.5) sqrt(inputs)."""
    scale = generator.uniform(0.7, 2.5) * np.sqrt(inputs)
    frequency = (generator.standard_normal((inputs, 40)) / scale).astype(np.float32)
    phase = generator.uniform(0, 2 * np.pi, 40).astype(np.float32)
    weight = generator.standard_normal(40).astype(np.float32) * np.float32(np.sqrt(2 / 40))
    return lambda x: np.cos(x @ frequency + phase) @ weight


def _draw_layers(inputs: int, hidden: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.float32]:
    w = generator.standard_normal((inputs, hidden), dtype=np.float32)
    b = generator.uniform(-1, 1, hidden).astype(np.float32) / np.float32(np.sqrt(inputs))
    v = generator.standard_normal(hidden, dtype=np.float32)
    c = np.float32(generator.uniform(-1, 1) / np.sqrt(hidden))
    return w, b, v, c


def _run_layers(x: np.ndarray, w: np.ndarray, b: np.ndarray, v: np.ndarray, c: np.float32, slope: float | np.ndarray) -> np.ndarray:
    """PReLU(X W + b) v + c, slopes at most 1."""
    hidden = x @ w
    hidden += b
    np.maximum(hidden, slope * hidden, out=hidden)
    return hidden @ v + c


MECHANISMS: dict[str, Callable[..., Mechanism]] = {
    "linear": draw_linear,
    "uneven": draw_uneven,
    "nn-additive": draw_nn_additive,
    "nn-bent": draw_nn_bent,
    "nn": draw_nn,
    "sigmoid": draw_sigmoid,
    "polynomial": draw_polynomial,
    "gp": draw_gp,
    "gp-additive": draw_gp_additive,
    "post-nonlinear": draw_post_nonlinear,
    "heteroscedastic": draw_heteroscedastic,
    "scaled": draw_scaled,
    "threshold": draw_threshold,
    "sigmoid-mix": draw_sigmoid_mix,
    "polynomial-mix": draw_polynomial_mix,
    "multiplicative": draw_multiplicative,
    "quadratic": draw_quadratic,
    "saturating": draw_saturating,
    "gentle": draw_gentle,
    "tree": draw_tree,
    "count": draw_count,
}


def draw_mechanism(name: str, parents: int, *, generator: np.random.Generator, weights: tuple[float, float] = (0.25, 1.0)) -> Mechanism:
    """Draw one mechanism; `weights` bounds the size of linear coefficients and is ignored by the others."""
    if name == "linear":
        return draw_linear(parents, generator, weights)
    return MECHANISMS[name](parents, generator)
