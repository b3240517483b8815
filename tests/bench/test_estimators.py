"""The table of rates."""

from seacausal.bench.estimators import rate_covariance


def test_covariance_is_measured_beside_numpys_product():
    rate = rate_covariance(2000, 30)
    assert rate.what.startswith("covariance, 2,000 rows x 30 columns")
    assert rate.reference is not None
    assert 0 < rate.reference < 60
    assert 0 < rate.ours < 60
