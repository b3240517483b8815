import subprocess
import sys

import numpy as np

from seacausal.data import EdgeProbabilities
from seacausal.report import painter
from seacausal.report.painter import Painter, start_ahead

PAIR = EdgeProbabilities(np.array([[0.0, 0.9], [0.0, 0.0]]), ("a", "b"))


def test_a_process_started_ahead_draws_the_same_picture():
    start_ahead()
    (process,) = painter._ahead
    with Painter() as early:
        assert early._process is process
        assert not painter._ahead
        picture = early.paint(PAIR, 0.5)
    assert process.returncode == 0
    with Painter() as late:
        assert late.paint(PAIR, 0.5) == picture
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_process_that_failed_is_replaced():
    with Painter() as broken:
        broken._process.kill()
        broken._process.wait()
        assert broken.paint(PAIR, 0.5)[:4] == b"\x89PNG"


def test_nothing_heavy_is_loaded_before_the_process_starts():
    code = "import sys, seacausal.report.painter; print([name for name in ('numpy', 'matplotlib', 'email') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
