"""What the SEA paper reports, to stand beside our own figures.

Source: Wu, Bao, Barzilay and Jaakkola (2025), Sample, estimate, aggregate: a recipe for causal discovery foundation models, TMLR; the tables of
synthetic data and of CPDAG metrics, whose means are over five graphs. SEA (FCI) was given observational data, SEA (GIES) interventional data. NN
mechanisms are not in these tables.
"""

from __future__ import annotations

Cells = dict[str, dict[str, float]]
"""Group of `bench.suites`: mechanism: value."""


def _row(linear: float, additive: float, sigmoid: float, polynomial: float) -> dict[str, float]:
    return {"linear": linear, "nn-additive": additive, "sigmoid": sigmoid, "polynomial": polynomial}


PUBLISHED: dict[tuple[str, str], Cells] = {
    ("SEA (FCI)", "SHD"): {
        "N=10, E=10": _row(1.0, 3.0, 3.9, 6.1),
        "N=20, E=20": _row(3.2, 5.0, 6.7, 9.8),
        "N=100, E=400": _row(162, 403, 247, 325),
    },
    ("SEA (FCI)", "CPDAG-SHD"): {
        "N=10, E=10": _row(1.4, 2.6, 3.5, 6.4),
        "N=20, E=20": _row(2.6, 4.8, 6.2, 11.0),
    },
    ("SEA (GIES)", "SHD"): {
        "N=20, E=20": _row(3.0, 3.4, 8.1, 10.1),
        "N=100, E=400": _row(116, 364, 218, 328),
    },
}
"""(Method, metric): its cells."""
