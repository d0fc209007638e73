"""
`python -m bbllm.bench.runner.worker_process FD SCRATCH`: plays the episodes from a pipe.

The first message is where modules are, the second the function that plays; every further one is
an EpisodeSpec, answered with BEGUN as soon as it is played, and then with an Answer. The process
ends when the other end of the pipe is closed, so also when its parent was killed; then it also
removes SCRATCH, the folder for temporary files.
"""

import faulthandler
import os
import pickle
import queue
import shutil
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

_END_S = 1.0
"""How long an episode under way may take to end after its parent is gone [s]."""

BEGUN = 'begun'
"""Sent before an episode is played, so that an early death is not taken for its doing."""

Messages = queue.SimpleQueue[bytes | None]


def main() -> None:
    """Play until the parent closes the pipe."""
    descriptor, scratch = int(sys.argv[1]), sys.argv[2]
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    # What a player starts must not hold the pipe open when this process has gone.
    os.set_inheritable(descriptor, False)
    pipe = Connection(descriptor)
    messages: Messages = queue.SimpleQueue()
    threading.Thread(target=_read, args=(pipe, messages, scratch), daemon=True).start()
    _play_all(pipe, messages)


def _play_all(pipe: Connection, messages: Messages) -> None:
    where = messages.get()
    player = messages.get()
    if where is None or player is None:
        return
    sys.path[:] = pickle.loads(where)
    from bbllm.bench.runner.worker_result import attempt

    play = pickle.loads(player)
    while True:
        job = messages.get()
        if job is None:
            return
        episode = pickle.loads(job)
        pipe.send(BEGUN)
        pipe.send(attempt(play, episode))


def _read(pipe: Connection, messages: Messages, scratch: str) -> None:
    """Pass messages on as they come; end the process when the parent is gone."""
    while True:
        try:
            messages.put(pipe.recv_bytes())
        except (EOFError, OSError):
            break
    messages.put(None)
    time.sleep(_END_S)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


if __name__ == '__main__':
    main()
