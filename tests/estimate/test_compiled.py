import sys
import time

import numpy as np
import pytest

from seacausal.estimate import compiled
from seacausal.estimate.compiled import Aside
from seacausal.estimate.gather import SubsetData, plan_rows
from seacausal.estimate.local import _estimate, compile_local, estimate_gathered


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "aside_module.py"


def test_a_function_is_called_in_another_process(module):
    module.write_text(f"import os\ndef work():\n    open({str(module)!r} + '.done', 'w').write(str(os.getpid()))\n")
    with Aside("aside_module", "work") as aside:
        aside.wait()
    assert int((module.parent / "aside_module.py.done").read_text()) != 0


def test_waiting_has_an_end(module, monkeypatch):
    monkeypatch.setattr(compiled, "LONGEST", 0.2)
    module.write_text("import time\ndef work():\n    time.sleep(60)\n")
    started = time.perf_counter()
    with Aside("aside_module", "work") as aside:
        aside.wait()
    assert time.perf_counter() - started < 30


@pytest.mark.parametrize("executable", ["", "/opt/blender", "/no/such/python"])
def test_programs_that_embed_python_start_nothing(executable, monkeypatch):
    monkeypatch.setattr(sys, "executable", executable)
    with Aside("time", "time") as aside:
        aside.wait()
    assert aside._process is None


def test_what_is_compiled_aside_is_what_runs_here():
    compile_local()
    known = len(_estimate.signatures)
    z = np.random.default_rng(0).standard_normal((60, 5))
    regime, targets = np.zeros(60, int), np.zeros((1, 5), bool)
    estimate_gathered(SubsetData(z, regime, targets, np.arange(5)[None], plan_rows(regime, targets, generator=np.random.default_rng(0))))
    assert len(_estimate.signatures) == known == 1
