"""Columns with heavy tails become normal scores before any statistic, unless they fit together better as they are.

In a column of counts of molecules, incomes, ratios, or with outliers, a few rows make up nearly all of every moment, so that correlations and powers
see those rows alone. Normal scores are the quantiles of a Gaussian at the column's ranks (van der Waerden, 1952): they keep its order and nothing
else. But where effects are linear and it is the noise that has heavy tails, those rows say more of the effects than all others, and ranks bend what
was straight. So the table decides: the Gaussian law of every second row has to explain the other rows better with scores than without, in
log-likelihood over that of independent columns.
"""

from __future__ import annotations

from functools import cache
from statistics import NormalDist

import numpy as np

from seacausal.estimate.category_search import VALUES
from seacausal.estimate.order import control_rows
from seacausal.estimate.statistics import CHUNK, average_ranks, spaced_rows, standardise

HEAVY = 12.0
"""Fourth moment of a standardised column beyond which its tails are heavy: a Gaussian law has 3, an exponential one 9, a log-normal one 114."""
HEAVY_SCREEN = 30.0
"""The same where effects of interventions cannot be told from tails, for want of rows without any."""
SET_FAR, SET_CUT = 20.0, 4.0
"""Standard deviations of a variable elsewhere beyond which an intervention sets it far, and those that it is cut at then."""
BEYOND = 2.0
"""What is set far lies further out than any other value by this, too, for tails may be long by themselves."""
FOLLOWED = 0.3
"""What follows a variable that is set far moves by at least this share of its distance, both in their standard deviations."""
FEWEST_OTHERS, MIDDLE_ROWS = 20, 2000
"""Rows in which a variable is no target that are enough to tell what is far, and those that are looked at; their median deviation is what counts."""
FAR, STEPS = 6.0, 1200
"""Scores end here, and between their two ends quantiles are interpolated in so many steps."""
RIDGE = 1e-3
"""Share of the identity in the correlations of half of the rows, and 0.2 d / m of m rows."""


def draw_in(z: np.ndarray, spread: np.ndarray, values: np.ndarray, targeted: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Put normal scores, standardised again, in the place of the columns with heavy tails.

    Parameters
    ----------
    z
        (n, d) standardised rows.
    spread
        (d,) standard deviations before standardising.
    values
        (n, d) rows as they were.
    targeted
        (n, d) bool, where a variable was intervened on; None where none was. The rows of `control_rows` decide.

    Returns
    -------
    Rows, their spreads and the numbers of the columns that were changed; `z` and `spread` themselves where none was. The spread of a changed
    column is that of a Gaussian with the same median deviation.
    """
    known = control_rows(z, targeted)
    found = find_heavy(known, screen=targeted is not None and known is z)
    heavy = [j for j in found if len(np.unique(values[:, j])) > VALUES]  # fewer are categories
    if not heavy:
        return z, spread, []
    drawn, spreads = z.copy(), spread.copy()
    for j in heavy:
        drawn[:, j] = score_ranks(values[:, j])
    if gain_of_dependence(known) > gain_of_dependence(control_rows(drawn, targeted)):
        return z, spread, []
    for j in heavy:
        spreads[j] = _spread_of_middle(values[:, j])
    return drawn, spreads, heavy


def cut_targets(z: np.ndarray, spread: np.ndarray, targeted: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Cut what interventions set far from all that a variable is otherwise, where no other follows so far, as with most of these: effects level off.

    Parameters
    ----------
    z
        (n, d) standardised rows.
    spread
        (d,) standard deviations before standardising.
    targeted
        (n, d) bool, where a variable was intervened on.

    Returns
    -------
    Rows and spreads, standardised again, and the numbers of the columns that were cut; `z` and `spread` themselves where none was.
    """
    free = ~targeted
    middle, unit, most = np.zeros(z.shape[1]), np.full(z.shape[1], np.inf), np.zeros(z.shape[1])
    for j in range(z.shape[1]):
        rest = z[free[:, j], j]
        others = spaced_rows(rest, MIDDLE_ROWS)
        if len(others) >= FEWEST_OTHERS:
            middle[j] = np.median(others)
            unit[j] = np.median(np.abs(others - middle[j])) / NormalDist().inv_cdf(0.75) or np.inf
            most[j] = np.abs(rest - middle[j]).max()
    known = np.isfinite(unit)
    cut, levelling, followed = z, [], 0
    for j in np.flatnonzero(targeted.any(0)):
        hit = np.flatnonzero(targeted[:, j])
        far = hit[np.abs(z[hit, j] - middle[j]) > max(SET_FAR * unit[j], BEYOND * most[j])]
        if not len(far):
            continue
        moved = np.abs(((z[far] - middle) * free[far]).sum(0)) / np.maximum(free[far].sum(0), 1)
        reach = np.abs(z[far, j] - middle[j]).mean() / unit[j]
        if (moved[known] < min(SET_FAR, FOLLOWED * reach) * unit[known]).all():
            cut = z.copy() if cut is z else cut
            cut[far, j] = np.clip(z[far, j], middle[j] - SET_CUT * unit[j], middle[j] + SET_CUT * unit[j])
            levelling.append(int(j))
        else:
            followed += 1
    if followed >= len(levelling):
        return z, spread, []
    cut, _, change = standardise(cut)
    return cut, spread * change, levelling


def find_heavy(rows: np.ndarray, *, screen: bool) -> list[int]:
    """Numbers of the columns of (n, d) `rows` with heavy tails; `screen` says whether effects of interventions are among them."""
    mean = rows.mean(0)
    second, fourth = np.zeros(len(mean)), np.zeros(len(mean))
    for start in range(0, len(rows), CHUNK):
        square = (rows[start : start + CHUNK] - mean) ** 2
        second += square.sum(0)
        fourth += np.einsum("nd,nd->d", square, square)
    limit = HEAVY_SCREEN if screen else HEAVY
    return np.flatnonzero(fourth * len(rows) > limit * np.maximum(second, 1e-150) ** 2).tolist()


def score_ranks(column: np.ndarray) -> np.ndarray:
    """(n,) normal scores with mean 0 and standard deviation 1; values that are equal share the score of their mean rank."""
    scores = np.interp((average_ranks(column) + 0.5) / len(column), *_tabulate_quantiles())
    return standardise(scores[:, None])[0][:, 0]


@cache
def _tabulate_quantiles() -> tuple[np.ndarray, np.ndarray]:
    """Shares of a Gaussian and its quantiles at these."""
    quantiles = np.linspace(-FAR, FAR, STEPS + 1)
    return np.array([NormalDist().cdf(quantile) for quantile in quantiles]), quantiles


def gain_of_dependence(z: np.ndarray) -> float:
    """Mean log-likelihood a row of (n, d) `z` gains by the correlations of the other half of the rows, even and odd ones in turn."""
    total = 0.0
    for half in range(2):
        fitted, left = z[half::2], z[1 - half :: 2]
        mean, spread = fitted.mean(0), fitted.std(0) + 1e-12
        fitted, left = (fitted - mean) / spread, (left - mean) / spread
        m, d = fitted.shape
        share = min(0.5, RIDGE + 0.2 * d / m)
        correlation = (1 - share) * (fitted.T @ fitted) / m + share * np.eye(d)
        shift = np.linalg.inv(correlation) - np.eye(d)
        total -= 0.5 * (np.linalg.slogdet(correlation)[1] + np.einsum("nd,nd->", left @ shift, left) / len(left))
    return total / 2


def _spread_of_middle(column: np.ndarray) -> float:
    """Standard deviation of a Gaussian whose values lie as far from the median, at the median of those that do."""
    half = column / 2  # differences stay finite
    deviation = np.abs(half - np.median(half))
    return 2 * min(float(np.median(deviation[deviation > 0])), 1e300) / NormalDist().inv_cdf(0.75)
