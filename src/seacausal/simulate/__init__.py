"""Simulated data sets with their true graphs."""
