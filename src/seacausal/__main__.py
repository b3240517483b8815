"""The process behind the command `seacausal`, and behind `python -m seacausal`."""

from __future__ import annotations

import gc
import os
import sys

from seacausal.report.painter import start_ahead


def run() -> None:
    """The process behind the command: `main`, with the garbage collector kept from going through every module at start and end (0.4 s)."""
    gc.set_threshold(100_000, 50, 50)
    # numba imports scipy, where it is installed, to offer np.linalg inside kernels (0.15 s). Ours use none, and this process runs nothing else.
    sys.modules["scipy.linalg.cython_blas"] = None  # type: ignore[assignment]
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.argv[1:2] in (["discover"], ["demo"]) and not {"-h", "--help"} & set(sys.argv):
            start_ahead()
        from seacausal.cli import main

        status = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("seacausal: interrupted\n")
        sys.stderr.flush()
        os._exit(130)  # threads may wait for a lock that the interrupted one held
    except BrokenPipeError:  # whoever read has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 0
    except OSError as error:
        sys.stderr.write(f"seacausal: standard output must be writable; {error.strerror}. Redirect it elsewhere.\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 2
    gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    run()
