"""The network that reconciles estimates and statistics into one graph."""
