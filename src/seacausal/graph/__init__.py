"""Edge marks, graph operations and metrics."""
