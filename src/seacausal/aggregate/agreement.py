"""Where the network hesitates, heed a search over whole graphs that has agreed with all that it is sure of.

In training the network meets such searches on tables of all kinds and learns how far to trust them on average. On a table where every relation is
linear the search is worth more than that, and this shows: among hundreds of pairs there is not one about which the two disagree. Then the odds of
what the search says go up, by as much as there were occasions to disagree.
"""

from __future__ import annotations

import numpy as np

SURE = 0.9
"""What the network says with more than this it is sure of."""
EXTRA = 1 / 2000
"""Share of the pairs surely without an edge that the search may join nevertheless."""
EACH = 50
"""Sure arrows that add one to the odds."""
SEARCHES = (("interventions", "targeted linear graph edge"), ("graphs", "linear graph edge"))
"""Groups of channels and in each the answer of a search; the first that is present counts."""


def heed_search(direct: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Multiply the odds of what the search found, pair by pair, by one and the number of sure arrows over `EACH`.

    Nothing changes where the search leaves out or turns round a single sure arrow, joins more than `EXTRA` of the pairs that surely have no edge, or
    where more pairs are in doubt than there are sure arrows.

    Parameters
    ----------
    direct
        (d, d) probabilities of i -> j.
    edge
        (d, d) what the search found: 1 for i -> j, 1/2 in both places for i --- j.

    Returns
    -------
    (d, d) probabilities of i -> j.
    """
    said, found = (np.stack([one, one.T, 1 - one - one.T]) for one in (direct, edge))  # i -> j, j -> i, none
    pairs = np.triu(np.ones(direct.shape, bool), 1)
    arrows, apart = direct > SURE, pairs & (said[2] > SURE)
    sure = (said.max(0) > SURE) | ((said[2] < 1 - SURE) & (edge == 0.5))
    agree = (edge[arrows] > 0).all() and (found[2][apart] < 1).sum() <= EXTRA * apart.sum() and (~sure & pairs).sum() <= arrows.sum()
    if not agree:
        return direct
    weighted = said * np.where(found > 0, 1 + arrows.sum() / EACH, 1)
    return weighted[0] / weighted.sum(0)
