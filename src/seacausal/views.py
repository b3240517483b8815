"""Sample and estimate: from a data set to everything that the network is shown of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from seacausal.data import Dataset, Degenerate, Subset
from seacausal.estimate.category_search import categories_ready, category_statistics
from seacausal.estimate.compiled import Aside
from seacausal.estimate.degenerate import find_classes, find_computed, find_degenerate, find_exclusive
from seacausal.estimate.gather import SubsetData, plan_rows
from seacausal.estimate.graph_search import JUMPS, graph_search_compiled, graph_statistics, interventional_graph_statistics
from seacausal.estimate.local import LocalEstimates, estimate_gathered, local_compiled, pool_estimates
from seacausal.estimate.offsets import centre_regimes, find_offsets
from seacausal.estimate.order import control_rows, order_compiled, order_statistics
from seacausal.estimate.outlying import find_outlying
from seacausal.estimate.pair_entropies import entropy_statistics
from seacausal.estimate.repeated import distinct_rows
from seacausal.estimate.serial import FEWEST, independent_share, split_doses
from seacausal.estimate.statistics import (
    exclude_targets,
    find_settings,
    find_unmoved,
    global_statistics,
    gram_matrix,
    interventional_statistics,
    spaced_rows,
    standardise,
)
from seacausal.estimate.tails import cut_targets, draw_in
from seacausal.sample.subsets import sample_subsets

SUBSET_SIZE = 5
SCORE_ROWS = 2000
"""Rows of a statistic of ranks or of all pairs of rows."""
WHOLE_ROWS = 30
"""Rows without imputed values that are enough to tell what was computed from what."""
COMPILE = "compile (first run only, up to half a minute)"


@dataclass(frozen=True)
class Views:
    """What the aggregator is given."""

    channels: dict[str, np.ndarray]
    """Arrays by name over the columns that vary, see `aggregate.encoding.CHANNELS`; empty where fewer than two do."""
    kept: np.ndarray
    """(d,) bool, the columns that vary."""
    degenerate: Degenerate
    """Columns that carry no information of their own."""
    cut: tuple[str, ...]
    """Targets that were set so far out that nothing followed, and were cut, see `estimate.tails.cut_targets`."""
    scored: tuple[str, ...]
    """Columns with heavy tails, in the place of which normal scores of their ranks stand."""
    settings: np.ndarray
    """(d,) bool, the columns that have one value wherever they are no target, or are targets in all rows, so that nothing acts on them."""
    offset: bool
    """Whether regimes are off in all columns, so that rows were compared within them, see `estimate.offsets`."""
    unmoved: tuple[str, ...]
    """Targets whose own level and spread the interventions leave as they were."""
    outlying: tuple[int, ...]
    """Numbers of the rows that fit nothing and were left out."""
    rows: int
    """How many independent rows the others are worth: n without those, or fewer where values were imputed, rows repeat others, or each resembles the
    one before."""
    copies: int
    """How many of them repeat others, where these count once, see `estimate.repeated`."""
    serial: bool
    """Whether each row resembles the one before."""
    seconds: dict[str, float]
    """Wall time of each stage."""
    local: tuple[np.ndarray, LocalEstimates] | None
    """(t, 5) subsets, numbered over the columns that vary, and their estimates; None where there are no local estimates."""


def usual_subsets(d: int) -> int:
    """How many subsets d variables get where nobody says how many: five for each, at least 100."""
    return max(100, 5 * d)


def view_dataset(
    dataset: Dataset,
    subsets: int,
    *,
    seed: int = 0,
    rows: int = 500,
    workers: int = 1,
    algorithm: str = "fci",
    sampler: str = "mixture",
    statistic: str = "partial-correlation",
    shown: bool = False,
    keep_outliers: bool = False,
    serial: bool = True,
    offsets: bool = True,
    jumps: int = JUMPS,
    predict: Callable[[dict[str, np.ndarray], int], np.ndarray] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Views:
    """Statistics of all pairs, then local estimates on `subsets` subsets of five variables. Below five variables there are none.

    Parameters
    ----------
    rows
        b, rows per subset.
    algorithm
        A name of `estimate.algorithms.ALGORITHMS`, whose marks take the place of FCI's.
    sampler
        A name of `sample.samplers.SAMPLERS`.
    statistic
        A name of `estimate.dependence.STATISTICS`: the scores that samplers go by.
    shown
        Whether the statistic, of standardised rows, also takes the place of the channel "partial correlation", for a network that was
        fine-tuned to it. That is the one slot for every statistic, as in the paper; its significance, the correlation and all other channels stay.
        Entry [i, j] stands as the statistic gives it, and `encode` puts its transpose beside it, so one that is not symmetric loses nothing. The
        diagonal becomes 0.
    keep_outliers
        Whether the rows of `find_outlying` are kept.
    serial
        Whether rows count for fewer that resemble the one before, see `estimate.serial`.
    offsets
        Whether regimes that are off in all columns are centred, see `estimate.offsets`.
    jumps
        How often the search for a linear graph leaves what it has found, and so its time.
    predict
        From channels and a number of rows to (d, d) probabilities of i -> j, for the sampler "uncertainty".
    progress
        Called with the name of each stage as it begins.
    """
    begin = clock = _Clock(progress)
    begin("statistics")
    plain, spread, targets, kept = _keep_varying(dataset)
    outlying = np.zeros(len(plain), bool) if keep_outliers else find_outlying(plain, dataset.regime)
    if outlying.any():
        imputed = None if dataset.imputed is None else dataset.imputed[~outlying]
        dataset = replace(dataset, values=dataset.values[~outlying], regime=dataset.regime[~outlying], imputed=imputed)
        plain, spread, targets, kept = _keep_varying(dataset)
    n, d = plain.shape
    targeted = replaced = targets[dataset.regime] if dataset.interventional else None
    settings, named, cut = np.zeros(len(kept), bool), targets, list[int]()
    if targeted is not None:
        always = targeted.all(0)  # drawn by whoever made the table, so that no row tells of another mechanism
        settings[kept] = settled = always | find_settings(plain, targeted)
        replaced, targets = targeted & ~settled, targets & ~settled  # what interventions put another mechanism in the place of
        targeted = targeted & ~always
        if not targeted.any():
            targeted = replaced = None
    z, spread, columns = draw_in(plain, spread, dataset.values if kept.all() else dataset.values[:, kept], targeted)
    if targeted is not None:
        z, spread, cut = cut_targets(z, spread, targeted)
    far, scored = (tuple(dataset.names[j] for j in np.flatnonzero(kept)[changed]) for changed in (cut, columns))
    measured, apart = z, find_offsets(z, dataset.regime, named) if targeted is not None and offsets else None
    if apart is not None:
        z, _, change = standardise(centre_regimes(z, dataset.regime, named))
        spread = spread * change
    gram = gram_matrix(z)
    # Sums of heavy columns are sums as they are.
    degenerate = _name_degenerate((plain.T @ plain if columns or apart is not None else gram[1 : 1 + d, 1 : 1 + d]) / n, dataset, kept)
    first = distinct_rows(dataset.values, dataset.regime)
    distinct = n if first is None else len(first)
    following = 1.0
    if serial:
        blocks = split_doses(measured, dataset.regime, named) if targeted is not None else dataset.regime
        following = independent_share(measured, blocks) if first is None else independent_share(measured[first], blocks[first])
    share = following * dataset.known_pairs * (distinct / n)
    worth = round(share * n)
    rows = min(rows, worth)
    channels: dict[str, np.ndarray] = {}
    unmoved: tuple[str, ...] = ()
    local = None
    wanted = d >= SUBSET_SIZE and subsets > 0
    if d >= 2 and not (order_compiled() and graph_search_compiled() and categories_ready(z) and (local_compiled() or not wanted)):
        begin(COMPILE)
        _compile(z, dataset.regime, targets, local=wanted)
        begin("statistics")
    if d >= 2:
        control = control_rows(z, replaced)
        controlled = gram if len(control) == n else gram_matrix(control)
        grams = exclude_targets(gram, z, replaced)
        if share < 1:  # the sums say of how many rows they are
            for sums in grams[0]:
                sums *= share
            if controlled is not gram:
                controlled *= max(share, min(FEWEST / len(control), 1.0))
        # Compiled kernels let other threads go on, so this costs next to nothing where there are two cores.
        search = ThreadPoolExecutor(1).submit(_search_graphs, controlled, grams, z, replaced, targets, jumps)
        channels = global_statistics(z, spread, replaced, grams=grams)
        if shown and statistic != "partial-correlation":
            channels["partial correlation"] = _score_pairs(statistic, z)
            np.fill_diagonal(channels["partial correlation"], 0)
        channels |= entropy_statistics(control, channels["cubic"])
        begin("order")
        channels |= order_statistics(control, spread, controlled)
        begin("graph search")
        channels |= search.result()
        if targeted is not None:
            channels |= interventional_statistics(measured, targeted, share, apart)
            unmoved = tuple(dataset.names[j] for j in np.flatnonzero(kept)[find_unmoved(channels)])
    if wanted:
        plan = plan_rows(dataset.regime, targets, generator=np.random.default_rng(seed))

        def estimate(variables: np.ndarray) -> LocalEstimates:
            data = SubsetData(z, dataset.regime, targets, variables, plan, rows, workers)
            found = estimate_gathered(data)
            if algorithm == "fci":
                return found
            from seacausal.estimate.algorithms import find_algorithm

            return replace(found, marks=find_algorithm(algorithm).each(data))

        def believe(sofar: Subset) -> np.ndarray:
            assert predict is not None
            return predict(channels | pool_estimates(estimate(sofar.variables), sofar.variables, d), worth)

        begin("sample")
        scores = channels["partial correlation"] if shown or statistic == "partial-correlation" else _score_pairs(statistic, z)
        subset = _draw(sampler, scores, subsets, seed, believe if predict else None)
        begin("estimate")
        estimates = estimate(subset.variables)
        channels |= pool_estimates(estimates, subset.variables, d)
        local = subset.variables, estimates
    out = tuple(np.flatnonzero(outlying).tolist())
    offset, copies = apart is not None, n - distinct
    return Views(channels, kept, degenerate, far, scored, settings, offset, unmoved, out, worth, copies, following < 1, clock.stop(), local)


def view_marginals(
    dataset: Dataset,
    subsets: int,
    *,
    algorithm: str,
    statistic: str,
    guide: str | None = None,
    scale: bool = True,
    seed: int = 0,
    rows: int = 500,
    workers: int = 1,
    sampler: str = "mixture",
    predict: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Views:
    """What the paper's network is given and no more: one statistic and the marks of one algorithm. Below five variables there is nothing.

    Parameters
    ----------
    algorithm, rows, sampler, progress
        As in `view_dataset`.
    statistic
        A name of `estimate.dependence.STATISTICS`: the only channel, under its own name.
    guide
        Another, if the sampler is to go by that.
    scale
        Whether the statistic is of the rows as they are, rather than standardised.
    predict
        From (d, d) statistic, (t, 5) subsets and their (t, 5, 5) marks to probabilities of i -> j, for the sampler "uncertainty".
    """
    from seacausal.estimate.algorithms import find_algorithm

    begin = clock = _Clock(progress)
    begin("statistics")
    z, _, targets, kept = _keep_varying(dataset)
    (n, d), none = z.shape, np.zeros(len(kept), bool)
    degenerate = _name_degenerate(z.T @ z / n, dataset, kept)
    if d < SUBSET_SIZE or subsets < 1:
        return Views({}, kept, degenerate, (), (), none, False, (), (), n, 0, False, clock.stop(), None)
    values = dataset.values[:, kept] if scale else z
    channel = _score_pairs(statistic, values)
    scores = channel if guide in (None, statistic) else _score_pairs(guide, values)
    plan = plan_rows(dataset.regime, targets, generator=np.random.default_rng(seed))

    def estimate(variables: np.ndarray) -> LocalEstimates:
        data = SubsetData(z, dataset.regime, targets, variables, plan, rows, workers)
        return LocalEstimates(find_algorithm(algorithm).each(data), None, data.sums.sums[:, SUBSET_SIZE, 0].astype(np.int64))

    def believe(sofar: Subset) -> np.ndarray:
        assert predict is not None
        return predict(channel, sofar.variables, estimate(sofar.variables).marks)

    begin("sample")
    variables = _draw(sampler, scores, subsets, seed, believe if predict else None).variables
    begin("estimate")
    return Views({statistic: channel}, kept, degenerate, (), (), none, False, (), (), n, 0, False, clock.stop(), (variables, estimate(variables)))


class _Clock:
    """Wall time by stage; called with the name of each as it begins."""

    def __init__(self, progress: Callable[[str], None] | None) -> None:
        self._progress = progress
        self._begun: list[tuple[str, float]] = []

    def __call__(self, stage: str) -> None:
        self._begun.append((stage, time.perf_counter()))
        if self._progress:
            self._progress(stage)

    def stop(self) -> dict[str, float]:
        """Seconds of each stage, the last of which ends now."""
        seconds: dict[str, float] = {}
        for (stage, before), (_, after) in zip(self._begun, [*self._begun[1:], ("", time.perf_counter())]):
            seconds[stage] = seconds.get(stage, 0.0) + after - before
        return seconds


def _keep_varying(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Standardised rows, standard deviations and targets of the columns that vary, and which those are."""
    z, _, spread = standardise(dataset.values)
    kept = spread > 0
    if kept.all():
        return z, spread, dataset.targets, kept
    return np.ascontiguousarray(z[:, kept]), spread[kept], dataset.targets[:, kept], kept


def _search_graphs(
    gram: np.ndarray, grams: tuple[list[np.ndarray], np.ndarray], z: np.ndarray, targeted: np.ndarray | None, targets: np.ndarray, jumps: int
) -> dict[str, np.ndarray]:
    found, graphs = graph_statistics(gram, jumps=jumps)
    if targeted is None:
        return found | category_statistics(z, None, starts=graphs)
    return found | interventional_graph_statistics(*grams, targets, jumps=jumps) | category_statistics(z, targeted, targets, starts=graphs)


def _name_degenerate(correlation: np.ndarray, dataset: Dataset, kept: np.ndarray) -> Degenerate:
    varying, constant = [[name for name, keep in zip(dataset.names, kept.tolist()) if keep is wanted] for wanted in (True, False)]
    values = dataset.values if kept.all() else dataset.values[:, kept]
    if dataset.imputed is not None and (~dataset.imputed).sum() >= WHOLE_ROWS:  # what was imputed was not computed
        whole = values[~dataset.imputed]
        z, _, spread = standardise(whole)
        if (spread > 0).all():
            values, correlation = whole, z.T @ z / len(z)
    found = find_computed(values, varying, find_degenerate(correlation, len(values), varying, constant))
    return replace(found, classes=find_classes(values, varying), exclusive=find_exclusive(values, varying))


def _compile(z: np.ndarray, regime: np.ndarray, targets: np.ndarray, *, local: bool) -> None:
    """All kernels that a run calls; those of the local estimates, more than half, in a second process at the same time."""
    with Aside("seacausal.estimate.local", "compile_local") if local and not local_compiled() else nullcontext() as aside:
        gram = gram_matrix(z[:, :2])
        order_statistics(z[:, :2], np.ones(2), gram)
        graph_statistics(gram)
        if not categories_ready(z):
            category_statistics(spaced_rows(z, 200), None)
        if local:
            first = sample_subsets(np.ones((SUBSET_SIZE, SUBSET_SIZE)), 1, size=SUBSET_SIZE).variables
            data = SubsetData(z, regime, targets, first, plan_rows(regime, targets, generator=np.random.default_rng(0)))
            _ = data.sums  # with interventions it has kernels of its own
            if aside:
                aside.wait()
            estimate_gathered(data)


def _score_pairs(statistic: str, z: np.ndarray) -> np.ndarray:
    """(d, d) another statistic; those that need more than one pass see at most `SCORE_ROWS` rows."""
    from seacausal.estimate.dependence import find_statistic

    known = find_statistic(statistic)
    return known.function(z if known.needs == "covariance" else spaced_rows(z, SCORE_ROWS))


def _draw(sampler: str, scores: np.ndarray, count: int, seed: int, predict: Callable[[Subset], np.ndarray] | None) -> Subset:
    if sampler == "mixture":
        return sample_subsets(scores, count, size=SUBSET_SIZE, seed=seed)
    from seacausal.sample.samplers import draw_subsets

    return draw_subsets(sampler, len(scores), count, scores=scores, predict=predict, size=SUBSET_SIZE, seed=seed)
