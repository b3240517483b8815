"""Wall time and peak memory of whole commands, each in a process of its own, best of several warm runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from seacausal.io.npz import write_dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset

TABLES = ((20, 20_000, 20), (100, 100_000, 200))
"""Variables, rows, expected edges."""


def measure_speed(*, repeats: int = 3) -> list[tuple[str, float, float]]:
    """(what, seconds, peak memory in MB) of each command; seconds count from process start, interpreter included."""
    found = [("python -c pass", *_best([sys.executable, "-c", "pass"], repeats))]
    found.append(("import seacausal", *_best([sys.executable, "-c", "import seacausal"], repeats)))
    found.append(("seacausal --help", *_best([sys.executable, "-m", "seacausal", "--help"], repeats)))
    with tempfile.TemporaryDirectory() as folder:
        for d, rows, edges in TABLES:
            dataset = simulate_dataset(
                Simulation(variables=d, edges=edges, mechanisms=("nn-additive",), observational_rows=rows), generator=np.random.default_rng(0)
            )
            for suffix in ("npz", "csv"):
                path = Path(folder) / f"table.{suffix}"
                if suffix == "npz":
                    write_dataset(path, dataset)
                else:
                    np.savetxt(path, dataset.values, "%.6g", ",", header=",".join(dataset.names), comments="")
                command = [sys.executable, "-m", "seacausal", "discover", str(path), "--out", str(Path(folder) / "out")]
                _best(command, 1)  # compiles the kernels where that has not been done
                found.append((f"discover, {d} variables x {rows:,} rows, {suffix}", *_best(command, repeats)))
    return found


def measure_cold() -> float:
    """Seconds of the first run ever on a small table: every kernel is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        write_dataset(path, simulate_dataset(Simulation(), generator=np.random.default_rng(0)))
        command = [sys.executable, "-m", "seacausal", "discover", str(path), "--out", str(Path(folder) / "out")]
        return _run(command, os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")})[0]


def _best(command: list[str], repeats: int) -> tuple[float, float]:
    runs = [_run(command, dict(os.environ)) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), max(memory for _, memory in runs)


def _run(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    with process.stderr:
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}: {process.stderr.read().decode()}")
    return seconds, usage.ru_maxrss / 1024
