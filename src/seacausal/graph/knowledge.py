"""What is known before any data are seen: edges that there must be, and directions that there cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge of d variables."""

    required: np.ndarray
    """(d, d) bool, [i, j] where i -> j is an edge; acyclic."""
    forbidden: np.ndarray
    """(d, d) bool, [i, j] where i -> j is none: also where j is required to be a cause of i, if only through others."""
    given: dict[str, Any]
    """The same as it was given: tiers, required and forbidden edges by name."""

    def condition(self, direct: np.ndarray) -> np.ndarray:
        """(d, d) probabilities of i -> j, given what is known of each pair; nothing follows for other pairs.

        What is left of a pair, the direction that is not forbidden and no edge, is scaled to add up to one. Where the other direction had been
        certain, there is no edge.

        Examples
        --------
        >>> direct = np.array([[0.0, 0.3], [0.6, 0.0]])
        >>> Knowledge(np.zeros((2, 2), bool), np.array([[False, False], [True, False]]), {}).condition(direct).tolist()
        [[0.0, 0.75], [0.0, 0.0]]
        """
        absent = np.clip(1.0 - direct - direct.T, 0.0, 1.0)
        allowed = np.where(self.forbidden, 0.0, direct)
        left = absent + allowed + allowed.T
        changed = (self.forbidden | self.forbidden.T) & (left > 0)
        out = np.where(changed, allowed / np.where(changed, left, 1.0), allowed)
        # A certain edge that was found stays behind one that is known, where no graph without cycles can have both.
        return np.where(self.required, 1.0, np.minimum(out, 1 - 1e-9) if self.required.any() else out)
