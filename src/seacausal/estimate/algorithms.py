"""Every local estimator by name: what it answers, what it is given, which reference it equals.

In: the rows of t subsets of five variables. Out: (t, 5, 5) marks. `function` takes one small table; `each` runs over all subsets of a data set. With
interventions, those that use them score a variable on the rows where it was no target, and know which edges a regime tells apart; the others see only
rows without a target in the subset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np

from seacausal.errors import DataError
from seacausal.estimate.boss import boss_each, estimate_boss
from seacausal.estimate.exact import estimate_exact, exact_each
from seacausal.estimate.fci import estimate_fci, fci_each
from seacausal.estimate.fci_complete import fci_complete_each
from seacausal.estimate.fci_full import fci_full_each
from seacausal.estimate.gather import K, RowPlan, SubsetSums, gather_rows, gather_sums
from seacausal.estimate.ges import NO_LIMIT, estimate_ges, ges_each
from seacausal.estimate.gies import estimate_gies, gies_each
from seacausal.estimate.kci import estimate_fci_kci, fci_kci_each
from seacausal.estimate.lingam import estimate_lingam, lingam_each
from seacausal.estimate.partial_correlation import fisher_thresholds
from seacausal.estimate.pc import estimate_pc, pc_each
from seacausal.estimate.statistics import standardise
from seacausal.graph.essential import cut_masks

ALPHA = 0.05
"""Level of the independence tests."""
FEWEST = 10
"""Fewer rows than this say nothing: no edge."""
PART = 256
"""Subsets whose regimes are compared at a time."""


@dataclass(frozen=True)
class SubsetData:
    """What the estimators are given of t subsets, each part computed when it is first asked for."""

    z: np.ndarray
    """(n, d) float64 standardised rows."""
    regime: np.ndarray
    """(n,) as in `Dataset`."""
    targets: np.ndarray
    """(r, d) as in `Dataset`."""
    variables: np.ndarray
    """(t, 5) subsets."""
    plan: RowPlan
    """Which rows may serve which subset."""
    rows: int = 500
    """b, rows per subset."""
    workers: int = 1
    """Threads."""

    @cached_property
    def sums(self) -> SubsetSums:
        """Sums over each subset's rows."""
        return gather_sums(self.z, self.regime, self.targets, self.variables, self.plan, rows=self.rows, workers=self.workers)

    @cached_property
    def cuts(self) -> np.ndarray:
        """(t, 5) which variables of the subset a regime separates, see `graph.essential.cut_masks`."""
        present = self.targets[np.unique(self.regime)]
        parts = [present[:, self.variables[at : at + PART]].swapaxes(0, 1) for at in range(0, len(self.variables), PART)]
        return np.concatenate([cut_masks(part) for part in parts]) if parts else np.zeros((0, K), np.int64)

    def tables(self) -> list[np.ndarray]:
        """(m, 5) rows without a target in the subset, for each subset."""
        return gather_rows(self.z, self.regime, self.targets, self.variables, self.plan, rows=self.rows)


@dataclass(frozen=True)
class Algorithm:
    """One local estimator."""

    name: str
    """What it is called by."""
    output: Literal["PAG", "CPDAG", "DAG"]
    """What the marks mean; with interventions a CPDAG is the interventional essential graph."""
    interventions: bool
    """Whether it uses interventions."""
    function: Callable[..., np.ndarray]
    """(n, k) rows of one small table to (k, k) marks."""
    each: Callable[[SubsetData], np.ndarray]
    """All subsets of a data set to (t, 5, 5) marks."""
    reference: str
    """Source, and the implementation that tests hold it against."""


def _by_tests(kernel: Callable[..., None]) -> Callable[[SubsetData], np.ndarray]:
    def each(data: SubsetData) -> np.ndarray:
        covariances, rows = data.sums.covariances()
        marks = np.zeros(covariances.shape, np.int8)
        kernel(covariances, rows, np.array([fisher_thresholds(n, ALPHA) for n in range(data.rows + 1)]), marks)
        return marks

    return each


def _by_scores(kernel: Callable[[SubsetData, np.ndarray, np.ndarray], None], *, penalty: float = 1.0) -> Callable[[SubsetData], np.ndarray]:
    def each(data: SubsetData) -> np.ndarray:
        marks = np.zeros((len(data.variables), K, K), np.int8)
        kernel(data, data.sums.scores(penalty), marks)
        return marks

    return each


def _by_rows(kernel: Callable[[np.ndarray], np.ndarray]) -> Callable[[SubsetData], np.ndarray]:
    def each(data: SubsetData) -> np.ndarray:
        marks = np.zeros((len(data.variables), K, K), np.int8)
        for t, table in enumerate(data.tables()):
            if len(table) >= FEWEST:
                marks[t] = kernel(standardise(table)[0][None])[0]
        return marks

    return each


ALGORITHMS = (
    Algorithm("fci", "PAG", False, estimate_fci, _by_tests(fci_each), "FCI, Fisher's z, rules R0-R4 (causal-learn 0.1.3.7)"),
    Algorithm(
        "fci-full",
        "PAG",
        False,
        partial(estimate_fci, rules="full"),
        _by_tests(fci_full_each),
        "FCI, Fisher's z, rules R0-R10 (causal-learn 0.1.4.8)",
    ),
    Algorithm(
        "fci-complete",
        "PAG",
        False,
        partial(estimate_fci, rules="complete"),
        _by_tests(fci_complete_each),
        "FCI, Fisher's z, as Zhang (2008) states it (oracle)",
    ),
    Algorithm(
        "fci-kci",
        "PAG",
        False,
        estimate_fci_kci,
        _by_rows(lambda x: fci_kci_each(x, False, ALPHA)),
        "FCI, KCI test, kernel of degree 2 (causal-learn)",
    ),
    Algorithm("pc", "CPDAG", False, estimate_pc, _by_tests(pc_each), "PC, order-independent, Fisher's z (causal-learn 0.1.3.7)"),
    Algorithm("ges", "CPDAG", False, estimate_ges, _by_scores(lambda d, s, m: ges_each(s, float(NO_LIMIT), False, m)), "GES, BIC (causal-learn)"),
    Algorithm(
        "ges-2",
        "CPDAG",
        False,
        partial(estimate_ges, penalty=2.0),
        _by_scores(lambda d, s, m: ges_each(s, float(NO_LIMIT), False, m), penalty=2.0),
        "GES, twice the penalty of BIC (causal-learn 0.1.3.7)",
    ),
    Algorithm("gies", "CPDAG", True, estimate_gies, _by_scores(lambda d, s, m: gies_each(s, d.cuts, m)), "GIES, BIC (gies 0.0.3)"),
    Algorithm("boss", "CPDAG", False, estimate_boss, _by_scores(lambda d, s, m: boss_each(s, m)), "BOSS, BIC (exact search; GRaSP of causal-learn)"),
    Algorithm(
        "exact",
        "CPDAG",
        True,
        estimate_exact,
        _by_scores(lambda d, s, m: exact_each(s, d.cuts, True, m)),
        "best DAG by dynamic programming (enumeration)",
    ),
    Algorithm("lingam", "DAG", False, estimate_lingam, _by_rows(lingam_each), "DirectLiNGAM, pairwise likelihood ratio, adaptive lasso (lingam)"),
)
"""All of them."""


def find_algorithm(name: str) -> Algorithm:
    """The algorithm of a name.

    Raises
    ------
    DataError
        If there is none.
    """
    for algorithm in ALGORITHMS:
        if algorithm.name == name:
            return algorithm
    raise DataError(f"`algorithm` must be one of {', '.join(a.name for a in ALGORITHMS)}; found {name!r}. `seacausal algorithms` lists them.")
