"""Rates of the local estimators, of the samplers and statistics, each beside the reference implementation in the same run, on one core.

References are taken where they are installed (the extra "dev"): causal-learn, gies, lingam, dcor.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from seacausal.estimate.algorithms import ALGORITHMS, SubsetData
from seacausal.estimate.covariance import covariance
from seacausal.estimate.distance_correlation import distance_correlation
from seacausal.estimate.gather import plan_rows
from seacausal.estimate.local import estimate_subsets
from seacausal.estimate.statistics import global_statistics, standardise
from seacausal.sample.program import restore_scipy
from seacausal.sample.subsets import sample_subsets
from seacausal.simulate.dataset import Simulation, simulate_dataset

ROWS = 10_000
SECONDS = 1.0
"""How long a measurement lasts, about."""


@dataclass(frozen=True)
class Rate:
    """One line of the table."""

    what: str
    """What was measured."""
    ours: float
    """Seconds."""
    reference: float | None
    """Seconds of the reference for the same, None where it is not installed."""


def measure_algorithms(variables: int) -> list[Rate]:
    """Sample and estimate, seconds a subset: 10,000 rows of `variables` columns, 500 rows a subset, one thread."""
    dataset = simulate_dataset(Simulation(variables=variables, edges=2 * variables, observational_rows=ROWS), generator=np.random.default_rng(0))
    z, _, spread = standardise(dataset.values)
    scores = global_statistics(z, spread, None)["partial correlation"]
    plan = plan_rows(dataset.regime, dataset.targets, generator=np.random.default_rng(0))

    def run(each: Callable[[np.ndarray], Any]) -> Callable[[int], Any]:
        return lambda t: each(sample_subsets(scores, t).variables)

    found = []
    for algorithm in ALGORITHMS:
        ours = _seconds(run(lambda v, each=algorithm.each: each(SubsetData(z, dataset.regime, dataset.targets, v, plan))))
        table = z[np.ix_(plan.pool[:500], sample_subsets(scores, 1).variables[0])]
        found.append(Rate(f"{algorithm.name}, {variables} variables", ours, _reference(algorithm.name, table)))
    both = _seconds(run(lambda v: estimate_subsets(z, dataset.regime, dataset.targets, v, plan)))
    return [*found, Rate(f"fci and exact posterior, {variables} variables", both, None)]


def measure_rest() -> list[Rate]:
    """Seconds for each: the sampler, distance correlation, covariance, and what a second thread gives."""
    generator = np.random.default_rng(0)
    scores = generator.random((1000, 1000))
    sampler = _best(lambda: sample_subsets(scores, 500))
    values = generator.standard_normal((500, 100))
    correlation = _best(lambda: distance_correlation(values))
    found = [
        Rate("500 subsets of 1,000 variables", sampler, None),
        Rate("distance correlation, 500 rows x 100 variables", correlation, _distance_reference(values)),
        rate_covariance(162_000, 622),
    ]
    dataset = simulate_dataset(Simulation(variables=20, edges=40, observational_rows=ROWS), generator=generator)
    z = standardise(dataset.values)[0]
    plan = plan_rows(dataset.regime, dataset.targets, generator=generator)
    variables = sample_subsets(np.ones((20, 20)), 20_000).variables
    one, two = (_best(lambda w=w: estimate_subsets(z, dataset.regime, dataset.targets, variables, plan, workers=w)) for w in (1, 2))
    return [*found, Rate("20,000 subsets, fci and exact posterior, two threads (reference: one)", two, one)]


def rate_covariance(rows: int, columns: int) -> Rate:
    """Covariance of a float32 table, and numpy's product of two float64 tables of that size, on as many threads as numpy takes."""
    values = np.random.default_rng(0).standard_normal((rows, columns), np.float32)
    left, right = values.astype(np.float64), values[:, ::-1].astype(np.float64)
    product = _best(lambda: left.T @ right)
    return Rate(f"covariance, {rows:,} rows x {columns} columns (reference: numpy's product)", _best(lambda: covariance(values)), product)


def _seconds(run: Callable[[int], Any]) -> float:
    """Seconds a subset, best of three."""
    run(2)
    started = time.perf_counter()
    run(20)
    count = int(np.clip(SECONDS * 20 / (time.perf_counter() - started), 20, 10_000))
    return _best(lambda: run(count)) / count


def _best(run: Callable[[], Any], repeats: int = 3) -> float:
    run()
    spent = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        spent.append(time.perf_counter() - started)
    return min(spent)


@contextmanager
def _scalars_in_where() -> Iterator[None]:
    """causal-learn 0.1.3.7 asks `np.where` of a scalar, as numpy 1 allowed."""
    where = np.where
    np.where = lambda condition, *either: where(np.atleast_1d(condition), *either)  # type: ignore[assignment]
    try:
        yield
    finally:
        np.where = where  # type: ignore[assignment]


def _reference(name: str, table: np.ndarray) -> float | None:
    restore_scipy()
    try:
        run = _references()[name]
        with redirect_stdout(io.StringIO()):
            return _best(lambda: run(table), 3)
    except (ImportError, KeyError):
        return None


def _references() -> dict[str, Callable[[np.ndarray], Any]]:
    if not hasattr(np, "mat"):
        setattr(np, "mat", np.asmatrix)  # noqa: B010  # causal-learn 0.1.3.7 was written for numpy 1

    def fci(x: np.ndarray, **options: Any) -> Any:
        from causallearn.search.ConstraintBased.FCI import fci

        return fci(x, show_progress=False, **options)

    def kci(x: np.ndarray) -> Any:
        return fci(x, independence_test_method="kci", kernelX="Polynomial", kernelY="Polynomial", kernelZ="Polynomial")

    def pc(x: np.ndarray) -> Any:
        from causallearn.search.ConstraintBased.PC import pc

        return pc(x, show_progress=False)

    def ges(x: np.ndarray) -> Any:
        from causallearn.search.ScoreBased.GES import ges

        with _scalars_in_where():
            return ges(x)

    def grasp(x: np.ndarray) -> Any:
        from causallearn.search.PermutationBased.GRaSP import grasp

        with _scalars_in_where():
            return grasp(x, score_func="local_score_BIC")

    def gies(x: np.ndarray) -> Any:
        import gies  # type: ignore[import-not-found]

        return gies.fit_bic([x], [[]])

    def lingam(x: np.ndarray) -> Any:
        import lingam  # type: ignore[import-not-found]

        return lingam.DirectLiNGAM().fit(x)

    return {"fci": fci, "fci-kci": kci, "pc": pc, "ges-2": ges, "boss": grasp, "gies": gies, "lingam": lingam}


def _distance_reference(values: np.ndarray) -> float | None:
    restore_scipy()
    try:
        import dcor  # type: ignore[import-not-found]
    except ImportError:
        return None
    few = values[:, :10]
    pairs = [(i, j) for i in range(10) for j in range(i)]
    return _best(lambda: [dcor.distance_correlation(few[:, i], few[:, j]) for i, j in pairs], 1) * 4950 / 45
