"""Named arrays from a safetensors file, with numpy alone: eight bytes of length, a table in JSON, then the numbers.

Only what seacausal writes is read: little-endian float32. Whatever else a file may hold, or claim to, is an error; nothing in it is ever run.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from seacausal.errors import CheckpointError


def read_tensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays by name, and the strings of the file's metadata.

    Raises
    ------
    CheckpointError
        If the file cannot be read, is no safetensors file, is cut short, or holds other than finite float32 numbers.
    """
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"'{path}' must be a readable file; {error}. Check the path.") from None
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        table = json.loads(content[8:start].decode())
        metadata = table.pop("__metadata__", {})
        tensors = {name: _take(content[start:], entry) for name, entry in table.items()}
        if not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError("its metadata are not text")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"'{path}' must be a safetensors file of finite float32 numbers; {error}. It is damaged or of another kind.") from None
    return tensors, metadata


def _take(numbers: bytes, entry: Any) -> np.ndarray:
    """One array of the table; ValueError where it is not as it says."""
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    if entry["dtype"] != "F32":
        raise ValueError(f"found numbers of type {entry['dtype']}")
    if not all(type(size) is int and size >= 0 for size in (*shape, begin, end)):
        raise ValueError("found a size that is no whole number")
    if end > len(numbers) or end - begin != 4 * math.prod(shape):
        raise ValueError(f"found {len(numbers):,} bytes of numbers where a tensor {shape} lies from {begin:,} to {end:,}")
    found = np.frombuffer(numbers[begin:end], "<f4").reshape(shape)
    if not np.isfinite(found).all():
        raise ValueError("found a number that is not finite")
    return found
