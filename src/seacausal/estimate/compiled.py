"""Whether a kernel's machine code is there already, and a second process that makes it while this one goes on."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LONGEST = 120
"""Seconds that a second process is waited for."""


def is_compiled(kernel: Any) -> bool:
    """Whether this process or an earlier run, on disk, compiled a `numba.njit` function."""
    name = kernel.py_func.__name__
    return bool(kernel.signatures) or any(Path(kernel.stats.cache_path or "").glob(f"*.{name}-*.nbi"))


class Aside:
    """A process that calls a function, whose kernels are then in numba's cache on disk; without effect where none can be started."""

    def __init__(self, module: str, function: str) -> None:
        self._process = None
        if (os.cpu_count() or 1) > 1 and Path(sys.executable or "").name.startswith("python"):  # else a program that embeds Python
            command = [sys.executable, "-P", "-c", f"from {module} import {function}; {function}()"]  # -P: no module of the working folder is run
            quiet = subprocess.DEVNULL
            with contextlib.suppress(OSError):
                self._process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)

    def wait(self) -> None:
        """Until it is done; whatever it did not do is compiled here when it is first called."""
        if self._process is None:
            return
        try:
            self._process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self.__exit__()

    def __enter__(self) -> Aside:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
