"""All samplers by name, and one entry to them. What goes in differs, what comes out does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seacausal.data import Subset
from seacausal.errors import DataError
from seacausal.sample.program import sample_by_program
from seacausal.sample.subsets import sample_by_statistic, sample_random, sample_subsets
from seacausal.sample.uncertainty import Predict, sample_by_uncertainty


@dataclass(frozen=True)
class Sampler:
    """One way to choose subsets."""

    name: str
    """What it is called by."""
    function: Callable[..., Subset]
    """Takes what it needs, `count`, `size` and `seed`."""
    needs: tuple[str, ...]
    """Names of arguments of `draw_subsets`."""
    note: str
    """What it does, in a line."""


SAMPLERS = (
    Sampler("mixture", sample_subsets, ("scores",), "half random, then half by statistic, visits shared: the default"),
    Sampler("random", sample_random, ("variables",), "evenly"),
    Sampler("statistic", sample_by_statistic, ("scores",), "greedily by the size of the scores"),
    Sampler("uncertainty", sample_by_uncertainty, ("variables", "predict"), "greedily by the entropy of a prediction, renewed every ten subsets"),
    Sampler("program", sample_by_program, ("scores",), "the best subset by an integer linear program; needs scipy, for up to some 50 variables"),
)


def draw_subsets(
    sampler: str, variables: int, count: int, *, scores: np.ndarray | None = None, predict: Predict | None = None, size: int = 5, seed: int = 0
) -> Subset:
    """Draw subsets by the sampler of a name.

    Parameters
    ----------
    sampler
        A name of `SAMPLERS`.
    variables
        d.
    count
        How many subsets, t.
    scores
        (d, d) magnitudes of a global statistic.
    predict
        From the subsets so far to the (d, d) probabilities of i -> j, see `sample_by_uncertainty`.
    size
        Variables per subset, k.
    seed
        The same seed gives the same subsets.

    Returns
    -------
    `Subset` of (t, k) variables and (d, d) visits.

    Raises
    ------
    DataError
        If there is no such sampler, what it needs was not given, or there are fewer variables than `size`.

    Examples
    --------
    >>> draw_subsets("random", 5, 2).visits[0].tolist()
    [0, 2, 2, 2, 2]
    """
    found = {known.name: known for known in SAMPLERS}.get(sampler)
    if found is None:
        raise DataError(f"The sampler must be one of {', '.join(known.name for known in SAMPLERS)}; found {sampler!r}. Check the spelling.")
    if scores is not None and np.shape(scores) != (variables, variables):
        raise DataError(f"`scores` must have shape ({variables}, {variables}); found {np.shape(scores)}. Give a number for every pair of variables.")
    given = {"variables": variables, "scores": scores, "predict": predict}
    for name in found.needs:
        if given[name] is None:
            raise DataError(f"The sampler {sampler!r} needs `{name}`; found none. Give it, or choose 'random'.")
    return found.function(**{name: given[name] for name in found.needs}, count=count, size=size, seed=seed)
