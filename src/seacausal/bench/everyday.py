"""Tables as people keep them: a few columns, some of them yes or no, classes, counts or kinds, beside Gaussian ones; none is a training set."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from seacausal.bench.suites import Case
from seacausal.data import Dataset

ROWS = (300, 1000, 5000)
Columns = dict[str, np.ndarray]
Edges = tuple[tuple[str, str], ...]


def _occurs(generator: np.random.Generator, level: np.ndarray) -> np.ndarray:
    """(n,) yes or no, with the log-odds `level`."""
    return (generator.random(len(level)) * (1 + np.exp(-level)) < 1).astype(float)


def _effect(generator: np.random.Generator) -> float:
    return generator.uniform(0.5, 1.5) * generator.choice([-1, 1])


def _chain(generator: np.random.Generator, n: int) -> Columns:
    dose = generator.normal(size=n)
    score = _effect(generator) * dose + generator.normal(size=n)
    return {"dose": dose, "score": score, "outcome": _effect(generator) * score + generator.normal(size=n)}


def _draw_classes(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    columns = _chain(generator, n)
    bounds = np.quantile(columns["score"], (generator.uniform(0.1, 0.4), generator.uniform(0.6, 0.9)))
    columns["class"] = np.searchsorted(bounds, columns["score"]).astype(float)
    return columns, (("dose", "score"), ("score", "outcome"), ("score", "class"))


def _draw_rating(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    columns = _chain(generator, n)
    seen = columns["outcome"] / columns["outcome"].std() + 0.4 * generator.normal(size=n)
    columns["rating"] = np.searchsorted(np.quantile(seen, (0.1, 0.3, 0.7, 0.9)), seen).astype(float)
    return columns, (("dose", "score"), ("score", "outcome"), ("outcome", "rating"))


def _draw_event(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    age, cholesterol = generator.normal(size=n), generator.normal(size=n)
    event = _occurs(generator, _effect(generator) * age + _effect(generator) * cholesterol - generator.uniform(0, 1.5))
    return {"age": age, "cholesterol": cholesterol, "event": event}, (("age", "event"), ("cholesterol", "event"))


def _draw_treated(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    age = generator.normal(size=n)
    severity = 0.6 * age + generator.normal(size=n)
    treated = _occurs(generator, 1.5 * severity + generator.uniform(-1, 1))
    outcome = _effect(generator) * severity + _effect(generator) * treated + generator.normal(size=n)
    edges = (("age", "severity"), ("severity", "treated"), ("severity", "outcome"), ("treated", "outcome"))
    return {"age": age, "severity": severity, "treated": treated, "outcome": outcome}, edges


def _draw_trial(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    arm, age = (generator.random(n) < 0.5).astype(float), generator.normal(size=n)
    marker = _effect(generator) * arm + generator.normal(size=n)
    outcome = _effect(generator) * marker + _effect(generator) * age + generator.normal(size=n)
    return {"arm": arm, "age": age, "marker": marker, "outcome": outcome}, (("arm", "marker"), ("marker", "outcome"), ("age", "outcome"))


def _draw_kinds(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    region, age = generator.integers(4, size=n), generator.normal(size=n)
    income = generator.normal(size=4)[region] + 0.5 * age + generator.normal(size=n)
    spending = _effect(generator) * income + generator.normal(size=n)
    columns = {"region": region.astype(float), "age": age, "income": income, "spending": spending}
    return columns, (("region", "income"), ("age", "income"), ("income", "spending"))


def _draw_counts(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    smoker, severity = (generator.random(n) < 0.3).astype(float), generator.normal(size=n)
    visits = generator.poisson(np.exp(0.5 * severity + generator.uniform(0.4, 1) * smoker + generator.uniform(-0.5, 1))).astype(float)
    cost = visits + generator.uniform(0.5, 2) * generator.normal(size=n)
    return {"smoker": smoker, "severity": severity, "visits": visits, "cost": cost}, (
        ("smoker", "visits"),
        ("severity", "visits"),
        ("visits", "cost"),
    )


def _draw_genotype(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    genotype = generator.binomial(2, generator.uniform(0.1, 0.5), n).astype(float)
    expression = _effect(generator) * genotype + generator.normal(size=n)
    trait = _effect(generator) * expression + generator.normal(size=n)
    ill = _occurs(generator, 1.5 * trait / trait.std() - 1)
    return {"genotype": genotype, "expression": expression, "trait": trait, "ill": ill}, (
        ("genotype", "expression"),
        ("expression", "trait"),
        ("trait", "ill"),
    )


def _draw_dose(generator: np.random.Generator, n: int) -> tuple[Columns, Edges]:
    dose, age = generator.integers(4, size=n).astype(float), generator.normal(size=n)
    response = 0.5 * _effect(generator) * dose + _effect(generator) * age + generator.normal(size=n)
    return {"dose": dose, "age": age, "response": response}, (("dose", "response"), ("age", "response"))


KINDS: dict[str, Callable[[np.random.Generator, int], tuple[Columns, Edges]]] = {
    "classes of a score": _draw_classes,
    "rating of an outcome": _draw_rating,
    "event": _draw_event,
    "treatment by severity": _draw_treated,
    "trial": _draw_trial,
    "kinds": _draw_kinds,
    "counts": _draw_counts,
    "genotype": _draw_genotype,
    "dose of four levels": _draw_dose,
}
"""Columns and edges of a table, by what is special about it."""


def everyday_cases(*, graphs: int | None = None) -> Iterator[Case]:
    """Of each kind and number of rows 10 tables, or as many as asked for; columns in random order."""
    for k, (kind, draw) in enumerate(KINDS.items()):
        for rows in ROWS:
            for table in range(graphs or 10):
                generator = np.random.default_rng([2029, k, rows, table])
                columns, edges = draw(generator, rows)
                names = tuple(generator.permutation(list(columns)).tolist())
                adjacency = np.zeros((len(names), len(names)), bool)
                for cause, effect in edges:
                    adjacency[names.index(cause), names.index(effect)] = True
                values = np.column_stack([columns[name] for name in names])
                yield Case(kind, f"{rows:,} rows", Dataset.observational(values, names, adjacency))
