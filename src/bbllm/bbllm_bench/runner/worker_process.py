"""
`python -m bbllm_bench.runner.worker_process FD SCRATCH PARENT`: plays the episodes from a pipe.

The first message is where modules are, the second the function that plays; every further one is
an EpisodeSpec, which an Answer follows. The process ends with the process PARENT, however that
ended, and then removes SCRATCH, the folder for temporary files.
"""

import faulthandler
import gc
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection

POLL_S = 0.5
"""How often the process checks whether its parent is gone [s]."""


def main() -> None:
    """Play until the parent is gone."""
    descriptor, scratch, parent = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    _serve(descriptor, scratch, parent)


def serve_in_fork(
    descriptor: int, scratch: str, parent: int, environ: Mapping[str, str], output: int
) -> None:
    """Play in a fork of PARENT, with its output in a file (a descriptor), as `main` does."""
    gc.freeze()  # what is collected is written to, and then no longer shared
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.excepthook = sys.__excepthook__
    for stream in (1, 2):
        os.dup2(output, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # A lock of the parent, or an end of the pipe of another worker, must not be held open here.
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf('SC_OPEN_MAX'))
    os.environ.clear()
    os.environ.update(environ)
    tempfile.tempdir = None  # read anew from the environment
    _serve(descriptor, scratch, parent)


def _serve(descriptor: int, scratch: str, parent: int) -> None:
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    # What a player starts must not hold the pipe open when this process has gone.
    os.set_inheritable(descriptor, False)
    watch = threading.Thread(target=_end_with_parent, args=(parent, scratch), daemon=True)
    watch.start()
    pipe = Connection(descriptor)
    try:
        sys.path[:] = pipe.recv()
        from bbllm_bench.runner.worker_result import attempt

        play = pipe.recv()
        while True:
            pipe.send(attempt(play, pipe.recv()))
    except (EOFError, OSError):
        watch.join()


def _end_with_parent(parent: int, scratch: str) -> None:
    """End the process when the parent is gone, with what it left lying about."""
    while os.getppid() == parent:
        time.sleep(POLL_S)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


if __name__ == '__main__':
    main()
