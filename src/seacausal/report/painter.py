"""The picture from a second process, so that matplotlib loads on one core while the graph is found on another.

`Painter()` starts `python -m seacausal.report.painter`, which imports matplotlib and waits; `paint` sends it the result and returns the PNG. Both
ends are this program, so the pickle between them never holds foreign data.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # nothing heavy is loaded before the second process runs
    from types import TracebackType

    import numpy as np

    from seacausal.data import EdgeProbabilities

_ahead: list[subprocess.Popen[bytes]] = []


def start_ahead() -> None:
    """Start the process of the next `Painter` before anything else is loaded."""
    _ahead.append(_start())


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "seacausal.report.painter"]  # -P: no module of the working folder is run
    environment = os.environ | {"MPLBACKEND": "Agg"}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)


class Painter:
    """A process that is ready to draw by the time there is something to draw."""

    def __init__(self) -> None:
        self._process = _ahead.pop() if _ahead else _start()

    def paint(self, probabilities: EdgeProbabilities, threshold: float, reference: np.ndarray | None = None) -> bytes:
        """PNG bytes of `plot_graph`; drawn here where the other process failed."""
        try:
            picture, _ = self._process.communicate(pickle.dumps((probabilities, threshold, reference)))
        except OSError:
            picture = b""
        return picture or _draw(probabilities, threshold, reference)

    def __enter__(self) -> Painter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()


def _draw(probabilities: EdgeProbabilities, threshold: float, reference: np.ndarray | None) -> bytes:
    from seacausal.report.plots import plot_graph, render_png

    return render_png(plot_graph(probabilities, threshold, reference=reference))


def _serve() -> None:
    import numpy as np

    from seacausal.data import EdgeProbabilities

    _draw(EdgeProbabilities(np.zeros((2, 2)), ("a", "b")), 0.5, None)  # loads matplotlib and its fonts before the wait
    sys.stdout.buffer.write(_draw(*pickle.loads(sys.stdin.buffer.read())))
    sys.stdout.flush()
    os._exit(0)  # the reader waits for the end of the process, and taking matplotlib down takes a while


if __name__ == "__main__":
    _serve()
