"""Many data sets of one specification at once, on any device that torch knows: the law of `simulate_dataset`, not its draws.

Variables are simulated place by place of a causal order, each in all data sets together; parents are gathered, and padded with zero weights to the
largest number of them. Needs the extra "train".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seacausal.errors import DataError
from seacausal.simulate.dataset import Simulation, topological_order
from seacausal.simulate.graphs import GRAPHS
from seacausal.simulate.interventions import PERFECT, draw_targets
from seacausal.simulate.noise import SQRT3

Draw = Callable[..., Tensor]
"""(rows, columns, torch generator) -> their draws."""


@dataclass(frozen=True)
class Batch:
    """b data sets of n rows and d variables; of r regimes the first is observational."""

    values: Tensor
    """(b, n, d) float32."""
    adjacency: Tensor
    """(b, d, d) bool, [., i, j] is i -> j."""
    regime: Tensor
    """(n,) int64, the regime of each row, the same in all data sets."""
    targets: Tensor
    """(b, r, d) bool, which variables each regime intervenes on."""


def simulate_batch(simulation: Simulation, sets: int, *, generator: np.random.Generator, device: torch.device | str = "cpu") -> Batch:
    """Draw `sets` graphs, their mechanisms and their rows.

    Parameters
    ----------
    generator
        Of graphs, targets and the choice of mechanisms, drawn with numpy; it also gives the seed of torch's numbers, which differ between devices.

    Raises
    ------
    DataError
        If the specification asks for anything but linear, nn-additive and nn mechanisms, perfect interventions and equal regimes.
    """
    check_batched(simulation)
    if sets < 1:
        raise DataError(f"`sets` must be at least 1; found {sets}.")
    d, m, first = simulation.variables, simulation.regime_rows, simulation.observational_rows
    torch_generator = torch.Generator(device).manual_seed(int(generator.integers(2**63)))
    graphs = np.stack([GRAPHS[simulation.graph](d, simulation.edges, generator=generator) for _ in range(sets)])
    targets = np.stack([draw_targets(d, simulation.targets, simulation.targets_per_regime, generator=generator) for _ in range(sets)])
    chosen = generator.integers(len(simulation.mechanisms), size=(sets, d))
    order = np.array([topological_order(graph) for graph in graphs])
    regime = torch.arange(targets.shape[1], device=device).repeat_interleave(torch.tensor([first] + [m] * (targets.shape[1] - 1), device=device))
    values = torch.empty((d, sets, len(regime)), device=device)  # by variable, so that its parents lie apart
    for place in range(d):
        variable = order[:, place]
        parents = [np.flatnonzero(graph[:, v]) for graph, v in zip(graphs, variable)]
        count = np.array([len(one) for one in parents])
        roots = np.flatnonzero(count == 0)
        if len(roots):
            own = simulation.root_scale * LAWS[simulation.root_law](len(roots), len(regime), torch_generator)
            values[_move(variable[roots], device), _move(roots, device)] = own
        for number, name in enumerate(simulation.mechanisms):
            at = np.flatnonzero((count > 0) & (chosen[np.arange(sets), variable] == number))
            if len(at):
                own = _simulate_children(simulation, name, values, [parents[i] for i in at], at, regime, torch_generator)
                values[_move(variable[at], device), _move(at, device)] = own
        hit = targets[np.arange(sets), :, variable]
        at = np.flatnonzero(hit.any(1)) if m else np.zeros(0, int)
        if len(at):
            rows = first + m * (hit[at].argmax(1)[:, None] - 1) + np.arange(m)
            new = INTERVENTIONS[simulation.intervention](len(at), m, torch_generator)
            values[_move(variable[at], device)[:, None], _move(at, device)[:, None], _move(rows, device)] = new
    return Batch(values.permute(1, 2, 0).contiguous(), _move(graphs, device), regime, _move(targets, device))


def check_batched(simulation: Simulation) -> None:
    """Refuse what `simulate_batch` does not do.

    Raises
    ------
    DataError
        Naming the field, and that `simulate_dataset` does it.
    """
    plain: dict[str, object] = {"measurement": "none", "roots_first": False, "settings": 0.0, "drift": 0.0, "off_target": 0.0, "network": None}
    plain |= {
        "strays": 0.0,
        "root_spread": 1.0,
        "regime_spread": 1.0,
        "levels": 0,
        "bystanders": 0,
        "hidden": 0,
        "mediators": 0,
        "cycles": 0,
        "selection": 0,
    }
    wrong = [name for name, needed in plain.items() if getattr(simulation, name) != needed]
    wrong += [name for name in ("root_law", "noise_law") if getattr(simulation, name) not in LAWS]
    wrong += ["mechanisms"] * (not set(simulation.mechanisms) <= set(MECHANISMS))
    wrong += ["intervention"] * (simulation.targets > 0 and simulation.intervention not in INTERVENTIONS)
    if wrong:
        found = getattr(simulation, wrong[0])
        raise DataError(f"`{wrong[0]}` must be what batches of data sets can have; found {found!r}. Use simulate_dataset, one after another.")


def _simulate_children(
    simulation: Simulation, name: str, values: Tensor, parents: list[np.ndarray], sets: np.ndarray, regime: Tensor, generator: torch.Generator
) -> Tensor:
    """(g, n) one variable with parents in each of g data sets, before any intervention."""
    device, g, n = values.device, len(sets), len(regime)
    count = np.array([len(one) for one in parents])
    padded = np.zeros((g, count.max()), int)
    padded[np.arange(count.max()) < count[:, None]] = np.concatenate(parents)
    x = values[_move(padded, device), _move(sets, device)[:, None]]
    sizes = _move(count, device)
    present = torch.arange(x.shape[1], device=device) < sizes[:, None]
    x.masked_fill_(~present[:, :, None], 0)  # what stands there may be no number yet
    regimes = 1 + -(-simulation.targets // simulation.targets_per_regime) if simulation.noise_per_regime else 1
    spread = simulation.noise_coefficient * (1 + (simulation.noise_spread - 1) * _uniform((g, regimes), generator)).sqrt()
    noise = LAWS[simulation.noise_law](g, n, generator) * (spread[:, regime] if regimes > 1 else spread)
    own = MECHANISMS[name](x, present, sizes, noise, simulation.weights, generator)
    return own / (own.std(1, keepdim=True, correction=0) + 1e-6) if simulation.rescaled else own


def _mix_linear(x: Tensor, present: Tensor, count: Tensor, noise: Tensor, weights: tuple[float, float], generator: torch.Generator) -> Tensor:
    low, high = weights
    w = (low + (high - low) * _uniform(present.shape, generator)) * _signs(present.shape, generator)
    return torch.bmm((w * present)[:, None], x)[:, 0] + noise


def _mix_nn_additive(x: Tensor, present: Tensor, count: Tensor, noise: Tensor, weights: tuple[float, float], generator: torch.Generator) -> Tensor:
    w, b, v, c = _draw_layers(x, count, 10, generator)
    return torch.baddbmm(c, v, torch.nn.functional.leaky_relu(torch.baddbmm(b, w, x), 0.25))[:, 0] + noise


def _mix_nn(x: Tensor, present: Tensor, count: Tensor, noise: Tensor, weights: tuple[float, float], generator: torch.Generator) -> Tensor:
    inputs = torch.cat([noise[:, None], x], 1)
    w, b, v, c = _draw_layers(inputs, count + 1, 20, generator)
    h = torch.baddbmm(2 * b, 2 * w, inputs).sigmoid_()  # tanh(u) = 2 / (1 + exp(-2 u)) - 1, which torch computes six times faster
    return torch.baddbmm(c - v.sum(2, keepdim=True), 2 * v, h)[:, 0]


def _draw_layers(x: Tensor, inputs: Tensor, hidden: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Parameters as in `mechanisms._draw_layers`, for g data sets; the weights of absent parents meet zeros."""
    g = len(x)
    w = _normal((g, hidden, x.shape[1]), generator)
    b = (2 * _uniform((g, hidden, 1), generator) - 1) / inputs[:, None, None].sqrt()
    v = _normal((g, 1, hidden), generator)
    c = (2 * _uniform((g, 1, 1), generator) - 1) / math.sqrt(hidden)
    return w, b, v, c


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, device=generator.device)


def _signs(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return 2.0 * torch.randint(2, shape, generator=generator, device=generator.device) - 1


def _exponential(b: int, n: int, generator: torch.Generator) -> Tensor:
    return torch.empty((b, n), device=generator.device).exponential_(generator=generator)


def _mixture(b: int, n: int, generator: torch.Generator) -> Tensor:
    centre = 0.5 + 0.45 * _uniform((b, 1), generator)
    return centre * _signs((b, n), generator) + (1 - centre**2).sqrt() * _normal((b, n), generator)


def _student(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Five degrees of freedom, whose variance is 5 / 3."""
    return _normal((b, n), generator) / (_normal((5, b, n), generator).square().sum(0) / 3).sqrt()


def _heavy(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Student's law with 1 to 3 degrees of freedom for each variable, drawn as Bailey (1994) does."""
    freedom = 1 + 2 * _uniform((b, 1), generator)
    radius = (freedom * torch.expm1(2 / freedom * _exponential(b, n, generator))).sqrt()
    draws = radius * (2 * math.pi * _uniform((b, n), generator)).cos()
    return draws * (0.6745 / draws.abs().median(1, keepdim=True).values.clamp(min=1e-3))


def _skewed(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Gamma laws of shapes 1 to 10, either way round, one for each of the b variables."""
    shape = 10 ** _uniform((b, 1), generator)
    draws = torch._standard_gamma(shape.expand(b, n).contiguous(), generator=generator)  # pyright: ignore[reportPrivateImportUsage]: others take none
    return _signs((b, 1), generator) * (draws - shape) / shape.sqrt()


def _steps(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Two to five values at equal distances, their number and chances drawn for each of the b variables."""
    levels = torch.randint(2, 6, (b, 1), generator=generator, device=generator.device)
    place = torch.arange(5, device=generator.device)
    weight = _exponential(b, 5, generator) * (place < levels)  # normalised, uniform over the simplex
    least = (1 / 50) * (50 / 12) ** _uniform((b, 1), generator)
    chance = (least + (1 - levels * least) * weight / weight.sum(1, keepdim=True)) * (place < levels)
    value = place - (chance * place).sum(1, keepdim=True)
    value = value / (chance * value.square()).sum(1, keepdim=True).sqrt()
    return value.gather(1, torch.multinomial(chance, n, replacement=True, generator=generator))


def _irregular(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Mixtures of two to six Gaussians, one for each of the b variables."""
    present = torch.arange(6, device=generator.device) < torch.randint(2, 7, (b, 1), generator=generator, device=generator.device)
    weight = _exponential(b, 6, generator) * present  # normalised, uniform over the simplex
    weight /= weight.sum(1, keepdim=True)
    centre, width = _normal((b, 6), generator), 0.05 ** _uniform((b, 6), generator)
    centre -= (weight * centre).sum(1, keepdim=True)
    spread = (weight * (width.square() + centre.square())).sum(1, keepdim=True).sqrt()
    part = torch.multinomial(weight, n, replacement=True, generator=generator)
    return (centre.gather(1, part) + width.gather(1, part) * _normal((b, n), generator)) / spread


def _move(array: np.ndarray, device: torch.device | str) -> Tensor:
    return torch.from_numpy(array).to(device)


MECHANISMS: dict[str, Draw] = {"linear": _mix_linear, "nn-additive": _mix_nn_additive, "nn": _mix_nn}
"""Those of `mechanisms.MECHANISMS` that are simulated together."""
LAWS: dict[str, Draw] = {
    "gaussian": lambda b, n, generator: _normal((b, n), generator),
    "uniform": lambda b, n, generator: SQRT3 * (2 * _uniform((b, n), generator) - 1),
    "laplace": lambda b, n, generator: _exponential(b, n, generator) * _signs((b, n), generator) / math.sqrt(2),
    "exponential": lambda b, n, generator: _exponential(b, n, generator) - 1,
    "gumbel": lambda b, n, generator: -(_exponential(b, n, generator).log() + np.euler_gamma) * math.sqrt(6) / math.pi,
    "skewed": _skewed,
    "student": _student,
    "heavy": _heavy,
    "mixture": _mixture,
    "irregular": _irregular,
    "steps": _steps,
}
"""Those of `noise.LAWS`, for b variables of n rows."""
INTERVENTIONS: dict[str, Draw] = {
    "gaussian": lambda b, n, generator: _normal((b, n), generator),
    "shifted": lambda b, n, generator: _normal((b, n), generator) + 2,
    "uniform": lambda b, n, generator: 2 * _uniform((b, n), generator) - 1,
    "knock-out": lambda b, n, generator: torch.zeros((b, n), device=generator.device),
    "clamp": lambda b, n, generator: ((0.5 * 10 ** _uniform((b, 1), generator)) * _signs((b, 1), generator)).expand(b, n),
}
"""What b targets become in n rows: those of `interventions.PERFECT`."""
assert set(INTERVENTIONS) == set(PERFECT)
