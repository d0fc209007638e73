"""
`python -m bbllm.bench.runner.worker_process FD SCRATCH PARENT`: plays the episodes from a pipe.

The first message is where modules are, the second the function that plays; every further one is
an EpisodeSpec, which an Answer follows. The process ends with the process PARENT, however that
ended, and then removes SCRATCH, the folder for temporary files.
"""

import faulthandler
import os
import shutil
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

LOOK_S = 0.5
"""How often the process checks whether its parent is gone [s]."""


def main() -> None:
    """Play until the parent is gone."""
    descriptor, scratch, parent = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
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
        from bbllm.bench.runner.worker_result import attempt

        play = pipe.recv()
        while True:
            pipe.send(attempt(play, pipe.recv()))
    except (EOFError, OSError):
        watch.join()


def _end_with_parent(parent: int, scratch: str) -> None:
    """End the process when the parent is gone, with what it left lying about."""
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


if __name__ == '__main__':
    main()
