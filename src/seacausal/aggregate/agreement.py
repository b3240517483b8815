"""Where the network hesitates, heed a search over whole graphs that has agreed with all that it is sure of.

In training the network meets such searches on tables of all kinds and learns how far to trust them on average. On a table where every relation is
linear the search is worth more than that, and this shows: among hundreds of pairs there is not one about which the two disagree. Then the odds of
what the search says go up, by as much as there were occasions to disagree. They go up without that where no relation can be anything but what the
search takes it for: of columns that together look Gaussian, and of categories.
"""

from __future__ import annotations

import math

import numpy as np

SURE = 0.8
"""What the network says with more than this it is sure of."""
EXTRA = 1 / 2000
"""Share of the pairs surely without an edge that the search may join nevertheless."""
EACH = 50
"""Sure arrows that add one to the odds."""
UNLIKELY = math.exp(-3)
"""A table is not Gaussian where one of its moments is less likely than this, over how many such moments there are."""


def choose_search(channels: dict[str, np.ndarray], rows: int, present: set[str]) -> tuple[np.ndarray, bool] | None:
    """(d, d) what a search found, as in `heed_search`, and whether all that it takes for granted holds; None where nothing was searched.

    Parameters
    ----------
    channels
        (d, d) arrays by name.
    rows
        n.
    present
        Groups of channels that are there and asked for.
    """
    if "interventions" in present:
        return channels["targeted linear graph edge"], False
    if "categories" in present and (channels["levels"] > 0).all():
        return channels["category graph edge"], True
    if "graphs" in present:
        return channels["linear graph edge"], "moments" in present and look_gaussian(channels, rows)
    return None


def look_gaussian(channels: dict[str, np.ndarray], rows: int) -> bool:
    """Whether skewness and kurtosis of d variables, and what cubics explain beyond straight lines, are no larger than among Gaussian variables.

    Parameters
    ----------
    channels
        (d, d) arrays by name; all of the group "moments".
    rows
        n.
    """
    d = len(channels["kurtosis"])
    skewness, kurtosis = (np.sinh(channels[name][0]) for name in ("skewness", "kurtosis"))
    alone = max((skewness**2).max() * rows / 6, (kurtosis**2).max() * rows / 24) / 2  # exp(-x^2 / 2) for a standard normal x
    pairs = np.expm1(8 * channels["cubic gain significance"][~np.eye(d, dtype=bool)]).max() / 2  # exp(-x / 2) for x of chi^2 with two degrees
    return bool(alone < math.log(2 * d / UNLIKELY) and pairs < math.log(d * (d - 1) / UNLIKELY))


def heed_search(direct: np.ndarray, edge: np.ndarray, *, holds: bool = False) -> np.ndarray:
    """Multiply the odds of what the search found, pair by pair, by one and the number of sure arrows over `EACH`, and one more if it `holds`.

    Nothing changes where the search leaves out or turns round a single sure arrow or joins more than `EXTRA` of the pairs that surely have no edge.
    Sure arrows count for nothing where more pairs are in doubt than there are of them.

    Parameters
    ----------
    direct
        (d, d) probabilities of i -> j.
    edge
        (d, d) what the search found: 1 for i -> j, 1/2 in both places for i --- j.
    holds
        Whether relations are surely of the kind that was searched for.

    Returns
    -------
    (d, d) probabilities of i -> j.
    """
    said, found = (np.stack([one, one.T, 1 - one - one.T]) for one in (direct, edge))  # i -> j, j -> i, none
    pairs = np.triu(np.ones(direct.shape, bool), 1)
    arrows, apart = direct > SURE, pairs & (said[2] > SURE)
    sure = (said.max(0) > SURE) | ((said[2] < 1 - SURE) & (edge == 0.5))
    agree = (edge[arrows] > 0).all() and (found[2][apart] < 1).sum() <= EXTRA * apart.sum()
    settled = (~sure & pairs).sum() <= arrows.sum()
    odds = 1 + agree * (settled * arrows.sum() / EACH + holds)
    if odds == 1:
        return direct
    weighted = said * np.where(found > 0, odds, 1)
    return weighted[0] / weighted.sum(0)
