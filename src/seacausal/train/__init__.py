"""Training on data simulated on the fly."""
