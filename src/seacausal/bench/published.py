"""What the SEA paper reports, to stand beside our own figures.

Source: Wu, Bao, Barzilay and Jaakkola (2025), Sample, estimate, aggregate: a recipe for causal discovery foundation models, TMLR; the tables of
synthetic data, of CPDAG and skeleton metrics and of orientation, whose means are over five graphs. SEA (FCI) was given observational data, SEA (GIES)
interventional data. NN mechanisms are in the table of orientation alone.
"""

from __future__ import annotations

Cells = dict[str, dict[str, float]]
"""Group of `bench.suites`: mechanism: value."""


def _row(linear: float, additive: float, sigmoid: float, polynomial: float) -> dict[str, float]:
    return {"linear": linear, "nn-additive": additive, "sigmoid": sigmoid, "polynomial": polynomial}


def _oriented(linear: float, additive: float, nn: float, sigmoid: float, polynomial: float) -> dict[str, float]:
    return _row(linear, additive, sigmoid, polynomial) | {"nn": nn}


PUBLISHED: dict[tuple[str, str], Cells] = {
    ("SEA (FCI)", "mAP"): {
        "N=10, E=10": _row(0.98, 0.88, 0.83, 0.62),
        "N=20, E=20": _row(0.96, 0.91, 0.85, 0.69),
        "N=100, E=400": _row(0.84, 0.04, 0.63, 0.34),
    },
    ("SEA (FCI)", "skeleton mAP"): {
        "N=10, E=10": _row(1.00, 0.96, 0.99, 0.87),
        "N=20, E=20": _row(1.00, 0.95, 0.97, 0.86),
    },
    ("SEA (FCI)", "OA"): {
        "N=10, E=10": _oriented(0.92, 0.92, 0.94, 0.76, 0.71),
        "N=20, E=80": _oriented(0.93, 0.90, 0.93, 0.85, 0.89),
        "N=100, E=400": _oriented(0.93, 0.90, 0.91, 0.87, 0.82),
    },
    ("SEA (GIES)", "mAP"): {
        "N=10, E=10": _row(0.99, 0.94, 0.85, 0.70),
        "N=20, E=20": _row(0.97, 0.94, 0.84, 0.69),
        "N=100, E=400": _row(0.91, 0.27, 0.69, 0.38),
    },
    ("SEA (GIES)", "skeleton mAP"): {
        "N=10, E=10": _row(1.00, 0.97, 0.98, 0.86),
        "N=20, E=20": _row(1.00, 0.96, 0.95, 0.82),
    },
    ("SEA (GIES)", "OA"): {
        "N=10, E=10": _oriented(0.94, 0.88, 0.93, 0.84, 0.79),
        "N=20, E=80": _oriented(0.92, 0.88, 0.92, 0.84, 0.89),
        "N=100, E=400": _oriented(0.94, 0.91, 0.92, 0.87, 0.84),
    },
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
