"""What a run leaves behind: tables, graphs and summaries, as bytes first and as files once all of them are there.

`prepare_folder` is for before the long computation, `write_results` for after it.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import os
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from seacausal.data import EdgeProbabilities
from seacausal.errors import DataError
from seacausal.io.cells import Place, to_numbers
from seacausal.io.files import as_path, existing_file, make_folders, read_records, remove_folders, replace_files, unwritable

_EDGE_COLUMNS = ("source", "target", "p_direct", "p_reverse", "p_absent")
_DECIMALS = 8


def prepare_folder(path: str | os.PathLike[str]) -> Path:
    """Find out whether results can be written to a folder, and leave no trace.

    The folder is made where it is missing, a file is written into it, and both are taken away again; `write_results` makes it for good.

    Raises
    ------
    DataError
        If the path is a file, or the folder cannot be made or written.
    """
    folder = as_path(path)
    try:
        if folder.exists() and not folder.is_dir():
            raise DataError(f"The output must be a folder; found a file at {str(folder)!r}. Choose another name or remove the file.")
        made = make_folders(folder)
        try:
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b"seacausal")
        finally:
            remove_folders(made)
    except DataError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise unwritable(folder, error) from None
    return folder


def write_results(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write several files into one folder, which is made where missing; every file is whole or as it was before.

    Parameters
    ----------
    folder
        Where to.
    files
        The content for each file name.

    Raises
    ------
    DataError
        If the folder or a file in it cannot be written; nothing is left half-written.
    """
    replace_files(as_path(folder), {name: partial(_write, content) for name, content in files.items()})


def _write(content: bytes, stream: BinaryIO) -> None:
    """Write bytes to a stream."""
    stream.write(content)


def format_edges_csv(probabilities: EdgeProbabilities) -> bytes:
    """Every unordered pair i < j in column order: P(i -> j), P(j -> i) and P(no edge), to eight decimals."""
    direct = np.asarray(probabilities.direct, np.float64)
    i, j = np.triu_indices(len(direct), k=1)
    columns = (direct[i, j], direct[j, i], EdgeProbabilities(direct, probabilities.names).absent[i, j])
    names = np.array(probabilities.names, object)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_EDGE_COLUMNS)
    writer.writerows(zip(names[i].tolist(), names[j].tolist(), *(np.round(column, _DECIMALS).tolist() for column in columns)))
    return text.getvalue().encode()


def read_edges(path: str | os.PathLike[str]) -> EdgeProbabilities:
    """Read what `format_edges_csv` wrote.

    Raises
    ------
    DataError
        If the file is absent or is not a table of every pair with its three probabilities.
    """
    path = existing_file(path)
    place = Place(path.name)
    header, *rows = read_records(path) or [[]]
    d = (1 + math.isqrt(1 + 8 * len(rows))) // 2
    i, j = np.triu_indices(d, k=1)
    names = (*[row[0] for row in rows[:1] if row], *[row[1] for row in rows[: d - 1] if len(row) > 1])
    complete = tuple(header) == _EDGE_COLUMNS and len(rows) == len(i) > 0 and len(set(names)) == d
    if not complete or any(len(row) != len(header) or row[:2] != [names[a], names[b]] for row, a, b in zip(rows, i.tolist(), j.tolist())):
        raise DataError(f"{path.name} must hold {', '.join(_EDGE_COLUMNS)} of every pair in the order of the columns. Write it again.")
    direct = np.zeros((d, d))
    direct[i, j] = to_numbers([row[2] for row in rows], "p_direct", place)
    direct[j, i] = to_numbers([row[3] for row in rows], "p_reverse", place)
    if not (direct.min() >= 0 and (direct + direct.T).max() <= 1 + 2 * 10.0**-_DECIMALS):
        raise DataError(f"Probabilities of {path.name} must be at least 0 and sum to at most 1 for each pair. Write it again.")
    return EdgeProbabilities(direct, names)


def format_graphml(probabilities: EdgeProbabilities, threshold: float) -> bytes:
    """A directed graph with an edge i -> j where `direct[i, j] > threshold`.

    Nodes are n0, n1, ... in column order with the variable as attribute `name`, edges have the attribute `probability`. Written by hand, for
    importing networkx takes longer.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="name" for="node" attr.name="name" attr.type="string"/>',
        '  <key id="probability" for="edge" attr.name="probability" attr.type="double"/>',
        '  <graph edgedefault="directed">',
    ]
    lines += [f'    <node id="n{i}"><data key="name">{html.escape(name, quote=False)}</data></node>' for i, name in enumerate(probabilities.names)]
    direct = np.asarray(probabilities.direct, np.float64)
    i, j = np.nonzero(direct > threshold)
    lines += [
        f'    <edge source="n{source}" target="n{target}"><data key="probability">{value}</data></edge>'
        for source, target, value in zip(i.tolist(), j.tolist(), np.round(direct[i, j], _DECIMALS).tolist())
    ]
    return "\n".join([*lines, "  </graph>", "</graphml>", ""]).encode()


def format_json(mapping: Mapping[str, object]) -> bytes:
    """JSON in the order of the mapping, indented by two, as UTF-8.

    Raises
    ------
    ValueError
        If a number is NaN or infinite, which JSON cannot hold.
    """
    return (json.dumps(mapping, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
