"""What a run finds: a causal graph with the probability of every edge, to ask, draw and save."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seacausal.config import DiscoverConfig, check_threshold
from seacausal.data import Degenerate, EdgeProbabilities
from seacausal.graph.decoding import decode_dag
from seacausal.io.results import format_edges_csv, format_graphml, format_json, prepare_folder, write_results

if TYPE_CHECKING:
    import networkx
    from matplotlib.figure import Figure

    from seacausal.report.painter import Painter


class Edge(NamedTuple):
    """One directed edge."""

    cause: str
    effect: str
    probability: float


class Link(NamedTuple):
    """Two variables that are joined one way or the other."""

    first: str
    """The more probable cause."""
    second: str
    probability: float
    """Of either direction."""


@dataclass(frozen=True, repr=False, eq=False)
class CausalGraph:
    """A causal graph with the probability of every edge."""

    estimate: EdgeProbabilities
    """Probabilities and names."""
    config: DiscoverConfig
    """How it was found."""
    dataset: dict[str, Any]
    """Facts of the data: rows, dropped rows, variables, interventions."""
    degenerate: Degenerate
    """Columns that carry no information of their own."""
    weights: str | None
    """SHA-256 of the network, None where none ran."""
    seconds: dict[str, float]
    """Wall time of each stage."""
    adapter: str | None = None
    """SHA-256 of the adapter, None where none was given."""

    def __repr__(self) -> str:
        return f"CausalGraph({len(self.names)} variables, {len(self.edges())} edges above {self.config.threshold})"

    @property
    def probabilities(self) -> np.ndarray:
        """(d, d) float64; `probabilities[i, j]` is P(i -> j), the diagonal is 0."""
        return self.estimate.direct

    @property
    def names(self) -> tuple[str, ...]:
        """The d variables."""
        return self.estimate.names

    def edges(self, threshold: float | None = None) -> list[Edge]:
        """Edges whose probability exceeds the threshold (that of the configuration by default), the most probable first."""
        level = self.config.threshold if threshold is None else check_threshold(threshold)
        cause, effect = np.nonzero(self.probabilities > level)
        found = [Edge(self.names[i], self.names[j], float(self.probabilities[i, j])) for i, j in zip(cause, effect)]
        return sorted(found, key=lambda edge: -edge.probability)

    def undecided(self, threshold: float | None = None) -> list[Link]:
        """Pairs that are joined with a probability above the threshold, though neither direction is by itself; the most probable first.

        Observations alone may fit both directions of an edge equally well.
        """
        level = self.config.threshold if threshold is None else check_threshold(threshold)
        both = self.probabilities + self.probabilities.T
        pairs = np.argwhere(self.estimate.undecided(level)).tolist()
        return sorted((Link(self.names[i], self.names[j], float(both[i, j])) for i, j in pairs), key=lambda link: -link.probability)

    def to_networkx(self, threshold: float | None = None, *, acyclic: bool = False) -> networkx.DiGraph:
        """All variables, and the edges above the threshold with their `probability`.

        Parameters
        ----------
        acyclic
            Every pair that is joined, either way, with a probability above the threshold, in one direction each and without directed cycles, for
            what needs a DAG; see `graph.decoding.decode_dag`.
        """
        import networkx

        level = self.config.threshold if threshold is None else check_threshold(threshold)
        found = decode_dag(self.probabilities, level) if acyclic else self.probabilities > level
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.names)
        for i, j in np.argwhere(found).tolist():
            graph.add_edge(self.names[i], self.names[j], probability=float(self.probabilities[i, j]))
        return graph

    def plot(self, threshold: float | None = None, *, reference: np.ndarray | None = None) -> Figure:
        """The graph in layers beside the matrix of probabilities; `reference` (d, d) bool, i -> j, is shown beside the prediction."""
        from seacausal.report.plots import plot_graph

        level = self.config.threshold if threshold is None else check_threshold(threshold)
        return plot_graph(self.estimate, level, reference=reference)

    def notes(self) -> list[str]:
        """What one should know of the data and of what was done to them, in sentences."""
        from seacausal.report.notes import describe

        return describe(self.dataset, self.degenerate, self.config.algorithm)

    def summary(self) -> dict[str, Any]:
        """What `result.json` holds; the same data, configuration and versions give the same summary."""
        packages = ("seacausal", "numpy", "numba") + (("onnxruntime",) if self.weights else ())
        return {
            "configuration": asdict(self.config),
            "data": self.dataset,
            "degenerate columns": asdict(self.degenerate),
            "notes": self.notes(),
            "edges above threshold": len(self.edges()),
            "undecided pairs above threshold": len(self.undecided()),
            **({"weights sha256": self.weights} if self.weights else {}),
            **({"adapter sha256": self.adapter} if self.adapter else {}),
            "versions": {package: version(package) for package in packages} | {"python": platform.python_version()},
        }

    def save(self, folder: str | os.PathLike[str], *, reference: np.ndarray | None = None, painter: Painter | None = None) -> list[Path]:
        """Write `edges.csv`, `graph.graphml`, `result.json`, `graph.html` and `graph.png`, each whole or not at all; returns their paths.

        Parameters
        ----------
        reference
            (d, d) bool graph, i -> j, to show beside the prediction.
        painter
            A process that draws, started earlier to save time.

        Raises
        ------
        DataError
            If the folder cannot be written.
        """
        from seacausal.report.page import render_page

        path = prepare_folder(folder)
        page = render_page(self.estimate, self.config.threshold, notes=self.notes())
        if painter is None:
            from seacausal.report.plots import render_png

            picture = render_png(self.plot(reference=reference))
        else:
            picture = painter.paint(self.estimate, self.config.threshold, reference)
        content = {
            "edges.csv": format_edges_csv(self.estimate),
            "graph.graphml": format_graphml(self.estimate, self.config.threshold),
            "result.json": format_json(self.summary()),
            "graph.html": page,
            "graph.png": picture,
        }
        write_results(path, content)
        return [path / name for name in content]
