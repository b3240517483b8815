"""What a terminal shows of a run that takes long."""

from __future__ import annotations

import sys
from typing import Any


class Progress:
    """Says on standard error which stage a run is in, once it has taken a second: a bar in a terminal, else a line for each stage."""

    def __init__(self, stages: int, *, shown: bool = True) -> None:
        from threading import Timer

        self._stages, self._done, self._stage = stages, -1, ""
        self._bar: Any = None
        self._late = False
        self._timer = Timer(1.0, self._show)
        self._timer.daemon = True
        if shown:
            self._timer.start()

    def __call__(self, stage: str) -> None:
        """A stage begins."""
        self._stage = stage
        self._done += 1
        if self._bar is not None:
            self._bar.update(0, completed=self._done, description=stage)
        elif self._late:
            sys.stderr.write(f"{stage} ...\n")

    def _show(self) -> None:
        self._late = True
        if not sys.stderr.isatty():
            sys.stderr.write(f"{self._stage} ...\n")
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task(self._stage, total=self._stages, completed=max(self._done, 0))
        self._bar.start()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        if self._bar is not None:
            self._bar.stop()
