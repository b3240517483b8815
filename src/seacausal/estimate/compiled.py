"""Whether a kernel's machine code is there already."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def is_compiled(kernel: Any) -> bool:
    """Whether this process or an earlier run, on disk, compiled a `numba.njit` function."""
    name = kernel.py_func.__name__
    return bool(kernel.signatures) or any(Path(kernel.stats.cache_path or "").glob(f"*.{name}-*.nbi"))
