"""Which subsets of variables are looked at."""
