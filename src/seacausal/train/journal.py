"""What a run leaves to read: log.csv, validation.csv, curves.png, and a line on standard error.

A run that was killed may have written lines after its last checkpoint; they are taken away when it goes on, so that no step stands there twice.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

LOG = ("step", "seconds", "examples", "loss")
VALIDATION = ("step", "loss", "map")


class Journal:
    """The records of the run in one folder."""

    def __init__(self, folder: Path, steps: int, limit: float = 0.0) -> None:
        """`limit`: seconds after which the run ends, 0 for none."""
        self._log, self._validation, self._curves = folder / "log.csv", folder / "validation.csv", folder / "curves.png"
        self._steps, self._limit = steps, limit
        self._score: float | None = None
        self._start: tuple[int, float, int] | None = None

    def resume(self, step: int) -> None:
        """Takes away what was written after this step."""
        for path in (self._log, self._validation):
            if path.exists():
                lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
                path.write_text("".join([*lines[:1], *(line for line in lines[1:] if int(line.split(",")[0]) <= step)]), encoding="utf-8")

    def write_step(self, step: int, seconds: float, examples: int, loss: float) -> None:
        """One more line of log.csv; `loss` is the mean (nats a pair) since the last one."""
        _append(self._log, LOG, (str(step), f"{seconds:.1f}", str(examples), f"{loss:.5f}"))
        self._say(step, seconds, examples, loss)

    def write_validation(self, step: int, loss: float, score: float) -> None:
        """One more line of validation.csv: loss (nats a pair) and mean average precision; and the curves drawn anew."""
        _append(self._validation, VALIDATION, (str(step), f"{loss:.5f}", f"{score:.5f}"))
        self._score = score
        self.draw()

    def draw(self) -> None:
        """Draws curves.png from the two files."""
        if not self._log.exists():
            return
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 3.5), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        left = figure.add_subplot()
        log, validation = _read(self._log), _read(self._validation)
        left.plot([row["step"] for row in log], [row["loss"] for row in log], color="#9fb4d2", label="loss")
        left.set(xlabel="step", ylabel="loss (nats a pair)")
        if validation:
            steps = [row["step"] for row in validation]
            left.plot(steps, [row["loss"] for row in validation], color="#1d5192", label="validation loss")
            right = left.twinx()
            right.plot(steps, [row["map"] for row in validation], color="#d55e00", label="validation mAP")
            right.set_ylabel("validation mAP")
        figure.legend(loc="outside upper center", ncols=3, frameon=False)
        temporary = self._curves.with_suffix(".part")
        figure.savefig(temporary, format="png")
        os.replace(temporary, self._curves)

    def _say(self, step: int, seconds: float, examples: int, loss: float) -> None:
        """Where the run stands; speed and time left are those since it began or went on."""
        line = f"step {step:,}{'' if self._limit else f' of {self._steps:,}'}, loss {loss:.4f}"
        if self._score is not None:
            line += f", validation mAP {self._score:.3f}"
        if self._start is None:
            self._start = step, seconds, examples
        elif seconds > self._start[1]:
            passed = seconds - self._start[1]
            left = (self._steps - step) * passed / (step - self._start[0])
            if self._limit:
                left = min(left, max(0.0, self._limit - seconds))
            line += f", {(examples - self._start[2]) / passed:.0f} data sets/s, {left / 60:.0f} min left"
        sys.stderr.write(f"\r\x1b[2K{line}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()


def _append(path: Path, header: tuple[str, ...], cells: tuple[str, ...]) -> None:
    with path.open("a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write(",".join(header) + "\n")
        file.write(",".join(cells) + "\n")


def _read(path: Path) -> list[dict[str, float]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: float(cell) for key, cell in row.items()} for row in csv.DictReader(file)]
