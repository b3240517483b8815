"""What the tests of tables share."""

import csv

import pytest


@pytest.fixture
def table(tmp_path):
    """Writes a text file: a header, 40 rows of numbers, and what a test changes in them."""

    def write(*, header="Raf,Mek,Erk", changes=None, name="table.csv", rows=40, encoding="utf-8", end="\n"):
        width = len(next(csv.reader([header])))
        lines = [",".join(f"{row + column / 10}" for column in range(width)) for row in range(1, rows + 1)]
        for row, line in (changes or {}).items():
            lines[row - 1] = line
        path = tmp_path / name
        path.write_bytes((end.join([header, *lines]) + end).encode(encoding))
        return path

    return write
