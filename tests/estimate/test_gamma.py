"""The gamma distribution's tail against scipy."""

import numpy as np
import pytest
from scipy import stats

from seacausal.estimate.gamma import upper_gamma


@pytest.mark.parametrize("shape", [1e-3, 0.1, 0.5, 1, 2.5, 7, 30, 200, 3000])
def test_equals_scipy(shape):
    for x in np.concatenate([np.geomspace(1e-8, 1e8, 60), shape * np.linspace(0.5, 2, 60), [0, shape + 1, np.nextafter(shape + 1, 0)]]):
        assert upper_gamma(float(shape), float(x)) == pytest.approx(stats.gamma.sf(x, shape), rel=1e-9, abs=1e-12)
