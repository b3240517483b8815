"""Every local estimator by name: what it answers, what it is given, which reference it equals.

In: the rows of t subsets of five variables. Out: (t, 5, 5) marks. `function` takes one small table; `each` runs over all subsets of a data set. With
interventions, those that use them score a variable on the rows where it was no target, and know which edges a regime tells apart; the others see only
rows without a target in the subset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from seacausal.errors import DataError
from seacausal.estimate.boss import boss_each, estimate_boss
from seacausal.estimate.exact import estimate_exact, exact_each
from seacausal.estimate.fci import estimate_fci, fci_each
from seacausal.estimate.fci_complete import fci_complete_each
from seacausal.estimate.fci_full import fci_full_each
from seacausal.estimate.gather import FEWEST_FREE, K, SubsetData
from seacausal.estimate.ges import NO_LIMIT, estimate_ges, ges_each
from seacausal.estimate.gies import estimate_gies, gies_each
from seacausal.estimate.kci import estimate_fci_kci, fci_kci_each
from seacausal.estimate.lingam import estimate_lingam, lingam_each
from seacausal.estimate.partial_correlation import threshold_table
from seacausal.estimate.pc import estimate_pc, pc_each
from seacausal.estimate.statistics import standardise

ALPHA = 0.05
"""Level of the independence tests."""


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
        kernel(covariances, rows, threshold_table(data.rows, ALPHA), marks)
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
            if len(table) >= FEWEST_FREE:  # fewer say nothing: no edge
                marks[t] = kernel(standardise(table)[0][None])[0]
        return marks

    return each


def _run_ges(data: SubsetData, scores: np.ndarray, marks: np.ndarray) -> None:
    ges_each(scores, float(NO_LIMIT), False, marks)


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
    Algorithm("ges", "CPDAG", False, estimate_ges, _by_scores(_run_ges), "GES, BIC (causal-learn)"),
    Algorithm(
        "ges-2",
        "CPDAG",
        False,
        partial(estimate_ges, penalty=2.0),
        _by_scores(_run_ges, penalty=2.0),
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
