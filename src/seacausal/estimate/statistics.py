"""Global statistics of every ordered pair, from one pass over the rows.

In: standardised rows. Out: a dictionary of (d, d) arrays whose entry [i, j] says how j depends on i. All but the variance channels are free of
scale and shift. With interventions, the correlations and moments of j's dependence use only rows where j was not a target: that mechanism
holds in all of them, whatever was done to the others. (Ranks and variances use all rows, and so does everything beyond 40 variables; powers keep the
centre and scale of all rows.)

The surprising choice: besides z itself, every variable contributes z^2 and z^3 (clipped), so that one (3d, 3d) Gram matrix gives, by linear
algebra alone, how well a cubic of i explains j, alone or beside cubics of all other variables. That carries direction for nonlinear and
non-Gaussian data and survives standardisation.
"""

from __future__ import annotations

import numpy as np

CHUNK = 8192
"""Rows per step of the pass."""
CLIP = 6.0
"""Standard deviations at which the powers are clipped."""
EXACT_EXCLUSION = 40
"""Up to so many variables the rows where j is a target are left out of j's multivariate statistics; beyond, d inversions would dominate."""
EXCLUSION = 128
"""Beyond so many variables they are left out nowhere: a matrix for each variable would fill the memory."""
RANK_ROWS = 2000
"""Rows that the rank correlation looks at."""
ROWS_CAP = 20_000
"""Row counts enter significance channels up to here, the largest seen in training."""
SETTLED = 10
"""A setting has one value in so many rows at least."""
MOVED, MOVED_ROWS = 0.25, 30
"""A target has moved whose mean or log-variance differs by more, in its standard deviations; fewer rows say too little."""

Statistics = dict[str, np.ndarray]


def standardise(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre and scale columns in float64.

    Returns
    -------
    (n, d) z, (d,) means and (d,) standard deviations; a column that varies by less than 1e-10 of its size has standard deviation 0 and z = 0.
    """
    unit = size_units(values)
    if (unit != 1).any():
        values = values * unit
    origin = values[0].astype(np.float64)
    z = values - origin
    mean = z.mean(0)
    z -= mean
    spread = np.sqrt(np.einsum("nd,nd->d", z, z) / len(z))
    spread[spread <= 1e-10 * (np.abs(origin + mean) + np.abs(mean))] = 0.0
    z *= np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return z, (origin + mean) / unit, spread / unit


def size_units(values: np.ndarray) -> np.ndarray:
    """(d,) powers of two that bring columns of extreme size near 1, so that squares neither overflow nor vanish; 1 for all others."""
    peak = np.maximum(values.max(0), -values.min(0)).astype(np.float64)
    unit = np.ones(len(peak))
    extreme = (peak > 1e100) | ((peak < 1e-100) & (peak > 0))
    unit[extreme] = np.ldexp(1.0, np.minimum(-np.frexp(peak[extreme])[1], 1000))
    return unit


def gram_matrix(z: np.ndarray) -> np.ndarray:
    """Sums of products of (1, z, z^2, z^3), powers clipped: (1 + 3d, 1 + 3d)."""
    n, d = z.shape
    gram = np.zeros((1 + 3 * d, 1 + 3 * d))
    features = np.empty((min(CHUNK, n), 1 + 3 * d))
    for start in range(0, n, CHUNK):
        rows = z[start : start + CHUNK]
        block = features[: len(rows)]
        clipped = np.clip(rows, -CLIP, CLIP)
        block[:, 0] = 1.0
        block[:, 1 : 1 + d] = rows
        np.multiply(clipped, clipped, out=block[:, 1 + d : 1 + 2 * d])
        np.multiply(block[:, 1 + d : 1 + 2 * d], clipped, out=block[:, 1 + 2 * d :])
        gram += block.T @ block
    return gram


def find_settings(values: np.ndarray, targeted: np.ndarray) -> np.ndarray:
    """(d,) bool, the targets that have one value wherever they are not intervened on, in `SETTLED` rows or more: settings of an instrument.

    Nothing acts on them, so there is no mechanism that an intervention replaces.

    Parameters
    ----------
    values, targeted
        (n, d), and where a variable was intervened on.
    """
    found = np.zeros(values.shape[1], bool)
    for j in np.flatnonzero(targeted.any(0)):
        first = values[:CHUNK, j][~targeted[:CHUNK, j]]
        if (first != first[:1]).any():  # as of nearly all, which saves the pass over all rows
            continue
        rest = values[~targeted[:, j], j]
        found[j] = len(rest) >= SETTLED and bool((rest == rest[0]).all())
    return found


def exclude_targets(gram: np.ndarray, z: np.ndarray, targeted: np.ndarray | None) -> tuple[list[np.ndarray], np.ndarray]:
    """The Gram matrices of the rows in which each variable is no target.

    Parameters
    ----------
    gram
        `gram_matrix(z)`.
    targeted
        (n, d) bool, where a variable was intervened on; None where none was.

    Returns
    -------
    The matrix of all rows and those that differ from it, and (d,) which of these belongs to a variable: beyond `EXCLUSION` variables the first.
    """
    grams, which = [gram], np.zeros(z.shape[1], np.int64)
    if targeted is not None and z.shape[1] <= EXCLUSION:
        for j in np.flatnonzero(targeted.any(0) & ~targeted.all(0)):
            which[j] = len(grams)
            grams.append(gram - gram_matrix(z[targeted[:, j]]))
    return grams, which


def correlate_features(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means (3d,), variances (3d,) and correlations (3d, 3d) of z, z^2 and z^3; a feature that does not vary has correlation 0 with all."""
    mean = gram[0, 1:] / gram[0, 0]
    covariance = gram[1:, 1:] / gram[0, 0] - np.outer(mean, mean)
    variance = covariance.diagonal().copy()
    scale = np.divide(1.0, np.sqrt(np.maximum(variance, 1e-12)), where=variance > 1e-9, out=np.zeros_like(variance))
    return mean, variance, covariance * scale[:, None] * scale


def join_powers(correlation: np.ndarray) -> np.ndarray:
    """(3d, 3d) correlations of `correlate_features` with the powers of a variable side by side."""
    d = len(correlation) // 3
    together = np.arange(3 * d).reshape(3, d).T.ravel()
    return correlation[np.ix_(together, together)]


def global_statistics(
    z: np.ndarray, spread: np.ndarray, targeted: np.ndarray | None, *, grams: tuple[list[np.ndarray], np.ndarray] | None = None
) -> Statistics:
    """All statistics that need no regimes.

    Parameters
    ----------
    z
        (n, d) standardised rows.
    spread
        (d,) standard deviations before standardising.
    targeted
        (n, d) bool, where a variable was intervened on; None where none was.
    grams
        `exclude_targets(gram_matrix(z), z, targeted)` where they are there already.
    """
    d = z.shape[1]
    if grams is None:
        grams = exclude_targets(gram_matrix(z), z, targeted if d <= EXACT_EXCLUSION else None)
    matrices, which = grams
    if d > EXACT_EXCLUSION or not which.any():
        out = _columns(matrices[0], np.arange(d))
    else:
        out = {}
        for j in range(d):
            for name, column in _columns(matrices[which[j]], np.arange(j, j + 1)).items():
                out.setdefault(name, np.zeros((d, d)))[:, j : j + 1] = column
    out |= _rank_statistics(z)
    log_variance = 2 * np.log(np.maximum(spread, np.finfo(float).tiny))
    log_variance -= log_variance.mean()
    conditional = log_variance[None] + out["linear residual"]
    out["log variance"] = np.broadcast_to(log_variance, (d, d))
    out["log variance difference"] = log_variance[None] - log_variance[:, None]
    out["conditional log variance"] = conditional
    out["conditional log variance difference"] = conditional - conditional[0][:, None]
    return out


def _columns(gram: np.ndarray, js: np.ndarray) -> Statistics:
    """Statistics of the dependence of the variables `js` on all: (d, len(js)) each."""
    d = (len(gram) - 1) // 3
    n = gram[0, 0]
    mean, variance, features = correlate_features(gram)
    rows = min(n, ROWS_CAP)
    out = _pairwise(features, js, rows)
    out |= _linear(features[:d, :d], js, rows, n)
    out |= _additive(features, js, rows, n)
    skewness, kurtosis = mean[2 * d :][js], (mean[d : 2 * d] ** 2 + variance[d : 2 * d])[js] - 3
    out["skewness"] = np.broadcast_to(np.arcsinh(skewness), (d, len(js)))
    out["kurtosis"] = np.broadcast_to(np.arcsinh(kurtosis), (d, len(js)))
    return out


def _pairwise(features: np.ndarray, js: np.ndarray, rows: float) -> Statistics:
    """Of pairs alone: correlation, how much better a cubic explains j or its square, cross moments."""
    d = len(features) // 3
    blocks = features.reshape(3, d, 3, d)
    own = np.einsum("aibi->iab", blocks) + 1e-4 * np.eye(3)
    inverse = np.linalg.inv(own)
    to_level, to_square = blocks[:, :, 0][:, :, js], blocks[:, :, 1][:, :, js]  # (3, d, len(js))
    correlation = np.clip(to_level[0], -1, 1)
    cubic = np.clip(np.einsum("aij,iab,bij->ij", to_level, inverse, to_level), 0, 1)
    gain = np.maximum(cubic - correlation**2, 0)
    square = np.clip(np.einsum("aij,iab,bij->ij", to_square, inverse, to_square), 0, 1)
    reverse_square, reverse_cube = blocks[0][:, 1][:, js], blocks[0][:, 2][:, js]  # i with the square and the cube of j
    return {
        "correlation": correlation,
        "correlation significance": _significance(correlation, rows),
        "cubic": cubic,
        "cubic gain": gain,
        "cubic gain significance": np.log1p(rows * gain / np.maximum(1 - cubic, 1e-3)) / 8,
        "square": square,
        "square significance": np.log1p(rows * square / np.maximum(1 - square, 1e-3)) / 8,
        "square moment": to_level[1],
        "cube moment": to_level[2],
        "square asymmetry": correlation * (to_level[1] - reverse_square),
        "cube asymmetry": correlation * (to_level[2] - reverse_cube),
    }


def _linear(correlation: np.ndarray, js: np.ndarray, rows: float, n: float) -> Statistics:
    """Of all variables jointly: partial correlations and the variance that the others leave unexplained."""
    d = len(correlation)
    shrinkage = max(_shrinkage(correlation, n) if n < 10 * d else 0.0, 1e-7)
    precision = np.linalg.inv(_shrink(correlation, shrinkage))
    while precision.diagonal().min() <= 0.5:  # it is 1 or more, but where rows that were left out lie so far off that what is left is rounding
        shrinkage = min(10 * shrinkage, 1.0)
        precision = np.linalg.inv(_shrink(correlation, shrinkage))
    diagonal = precision.diagonal()
    partial = np.clip(-precision[:, js] / np.sqrt(diagonal[:, None] * diagonal[js]), -1, 1)
    partial[js, np.arange(len(js))] = 0
    return {
        "partial correlation": partial,
        "partial correlation significance": _significance(partial, max(rows - d, 0.1 * rows)),
        "linear residual": np.broadcast_to(-np.log(diagonal[js]), (d, len(js))),
    }


def _additive(features: np.ndarray, js: np.ndarray, rows: float, n: float) -> Statistics:
    """What j loses when i's cubic is dropped from the additive cubic regression on all other variables.

    With H the inverse of the joint (3d, 3d) matrix, the regression of j's three features on all others has coefficients -H[., j] K and residual
    covariance K = inv(H[j, j]), and the others' own inverse is H - H[., j] K H[j, .]; so one inversion serves every pair.
    """
    d = len(features) // 3
    joint = np.linalg.inv(features + (1e-4 + 1.5 * d / n) * np.eye(3 * d))
    blocks = joint.reshape(3, d, 3, d).transpose(1, 3, 0, 2)  # (d, d, 3, 3)
    own = blocks[np.arange(d), np.arange(d)]
    to_j = blocks[:, js]  # (d, len(js), 3, 3)
    residual = np.linalg.inv(own[js])
    coefficients = -(to_j @ residual)[..., :2]  # on j itself and on its square
    others = own[:, None] - to_j @ residual @ to_j.swapaxes(-1, -2)
    others[js, np.arange(len(js))] = np.eye(3)
    drop = np.einsum("ijac,ijac->ijc", coefficients, np.linalg.solve(others, coefficients))
    drop[js, np.arange(len(js))] = 0
    left = np.stack([residual[:, 0, 0], residual[:, 1, 1]], -1)  # (len(js), 2)
    ratio = np.maximum(drop, 0) / np.maximum(left, 1e-6)
    return {
        "additive": np.log1p(ratio[..., 0]),
        "additive significance": np.log1p(rows * ratio[..., 0]) / 8,
        "additive square": np.log1p(ratio[..., 1]),
        "additive square significance": np.log1p(rows * ratio[..., 1]) / 8,
        "additive residual": np.broadcast_to(np.log(np.maximum(left[:, 0], 1e-6)), (d, len(js))),
    }


def _shrink(correlation: np.ndarray, share: float) -> np.ndarray:
    """Correlations drawn towards none by a share."""
    return (1 - share) * correlation + share * np.eye(len(correlation))


def spaced_rows(z: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, evenly spaced."""
    return z[np.linspace(0, len(z) - 1, min(len(z), most)).astype(int)]


def _rank_statistics(z: np.ndarray) -> Statistics:
    """Correlation and partial correlation under any monotone change of the columns: 2 sin(pi/6 Spearman) (Liu et al., 2012)."""
    rows = spaced_rows(z, RANK_ROWS)
    ranks = np.column_stack([average_ranks(column) for column in rows.T])
    ranks -= ranks.mean(0)
    spread = np.sqrt((ranks**2).mean(0))
    ranks /= np.where(spread > 0, spread, 1)
    correlation = 2 * np.sin(np.pi / 6 * (ranks.T @ ranks / len(ranks)))
    np.fill_diagonal(correlation, 1.0)
    shrinkage = max(_shrinkage(correlation, len(rows)), 1e-3)
    precision = np.linalg.pinv(_shrink(correlation, shrinkage), hermitian=True)
    diagonal = np.maximum(precision.diagonal(), 1e-3)
    partial = np.clip(-precision / np.sqrt(np.outer(diagonal, diagonal)), -1, 1)
    return {"rank correlation": np.clip(correlation, -1, 1), "rank partial correlation": partial}


def average_ranks(column: np.ndarray) -> np.ndarray:
    """(n,) ranks from 0, the mean of their places for values that are equal."""
    order = np.argsort(column, kind="stable")
    arranged = column[order]
    new = np.concatenate([[True], arranged[1:] != arranged[:-1]])
    group = np.cumsum(new) - 1
    starts = np.flatnonzero(np.concatenate([new, [True]]))
    ranks = np.empty(len(column))
    ranks[order] = (0.5 * (starts[:-1] + starts[1:] - 1))[group]
    return ranks


def _shrinkage(correlation: np.ndarray, n: float) -> float:
    """Share of the identity in the oracle-approximating shrinkage estimate (Chen et al., 2010, equation 23)."""
    d = len(correlation)
    square, trace2 = float((correlation**2).sum()), float(np.trace(correlation) ** 2)
    spare = square - trace2 / d
    if spare <= 1e-12:
        return 1.0
    return min(1.0, ((1 - 2 / d) * square + trace2) / ((n + 1 - 2 / d) * spare))


def _significance(correlation: np.ndarray, rows: float) -> np.ndarray:
    """Fisher's z over its standard error, compressed."""
    return np.arcsinh(np.arctanh(np.clip(correlation, -0.9999, 0.9999)) * np.sqrt(max(rows - 3, 1.0))) / 4


def interventional_statistics(z: np.ndarray, targeted: np.ndarray, share: float = 1.0, apart: np.ndarray | None = None) -> Statistics:
    """How the rows where i was a target differ from the others, for each variable j: entry [i, j].

    The reference is the observational rows where there are at least 30, else every row where i was not a target. Significances are of a `share` of
    the rows, see `estimate.serial`, and of shifts that are `apart` anyway, see `estimate.offsets`.

    Returns
    -------
    Mean shift (reference standard deviations) and log-variance ratio, each compressed and with its significance, and which i were targets.
    """
    n, d = z.shape
    control = ~targeted.any(1)
    mean, variance, size = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d)
    base_mean, base_variance, base_size = np.zeros((d, d)), np.ones((d, d)), np.full(d, float(n))
    enough = control.sum() >= 30
    total, total_square = z.sum(0), np.einsum("nd,nd->d", z, z)
    if enough:
        base_mean[:], base_variance[:], base_size[:] = z[control].mean(0), z[control].var(0), control.sum()
    for i in np.flatnonzero(targeted.any(0)):
        rows = z[targeted[:, i]]
        size[i] = len(rows)
        mean[i], variance[i] = rows.mean(0), rows.var(0)
        if not enough and n > len(rows):
            base_size[i] = n - len(rows)
            base_mean[i] = (total - rows.sum(0)) / base_size[i]
            base_variance[i] = (total_square - (rows**2).sum(0)) / base_size[i] - base_mean[i] ** 2
    hit = size > 0
    base_variance = np.maximum(base_variance, 1e-6)
    shift = np.where(hit[:, None], (mean - base_mean) / np.sqrt(base_variance), 0)
    count, base_count = (np.clip(share * rows, 1, ROWS_CAP) for rows in (size, base_size))
    error = np.sqrt(1 / count + 1 / base_count)[:, None]
    far = error if apart is None else np.sqrt(error**2 + apart**2 / base_variance)
    several = (size >= 3)[:, None]
    ratio = np.where(several, np.log(np.maximum(variance, 1e-6) / base_variance), 0)
    ratio_error = np.sqrt(2 / np.maximum(count - 1, 1) + 2 / base_count)[:, None]
    every = np.ones((d, d))
    return {
        "shift": np.arcsinh(shift),
        "shift significance": np.arcsinh(shift / far) / 4,
        "log variance ratio": np.arcsinh(ratio),
        "log variance ratio significance": np.arcsinh(ratio / ratio_error) / 4,
        "target": hit[:, None] * every,
        "target rows": (np.log1p(count) * hit / 8)[:, None] * every,
    }


def find_unmoved(statistics: Statistics) -> np.ndarray:
    """(d,) bool, the targets of `MOVED_ROWS` rows or more whose own mean and variance stay there: something else may have been acted on.

    Parameters
    ----------
    statistics
        Those of `interventional_statistics`.
    """
    moved = [np.abs(np.sinh(statistics[name].diagonal())) > MOVED for name in ("shift", "log variance ratio")]
    return (statistics["target rows"].diagonal() >= np.log1p(MOVED_ROWS) / 8) & ~moved[0] & ~moved[1]
