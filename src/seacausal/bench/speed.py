"""Wall time and peak memory of whole commands, each in a process of its own, best of several warm runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from seacausal.io.npz import write_dataset
from seacausal.simulate.dataset import Simulation, simulate_dataset

TABLES = ((20, 20_000, 20), (100, 100_000, 200))
"""Variables, rows, expected edges."""
MEASURE = """
import os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - started, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command from a small process, for a new one counts its parent's memory as its own."""


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
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, *command], capture_output=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.decode()}")
    seconds, memory = done.stdout.split()
    return float(seconds), float(memory) / 1024
