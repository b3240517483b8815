import os
import sys

import pytest

from seacausal.bench.speed import _run


def test_seconds_and_memory_are_those_of_the_command():
    seconds, memory = _run([sys.executable, "-S", "-c", "import time; time.sleep(0.3); b'x' * 50_000_000"], dict(os.environ))
    small, empty = _run([sys.executable, "-S", "-c", "pass"], dict(os.environ))
    assert 0.3 < seconds < 5
    assert small < seconds
    assert 40 < memory - empty < 60


def test_a_command_that_fails_is_named():
    with pytest.raises(RuntimeError, match=r"(?s)import nope ended with status 1: .*No module named 'nope'"):
        _run([sys.executable, "-c", "import nope"], dict(os.environ))
