"""
Ends a node when the program that started it has ended, also by SIGKILL.

`bbllm up` and the launch files put their own process into the environment of each node; a node
started otherwise takes its parent. A parent that was gone before the node could look leaves
process 1 as the parent, as a service manager does: then there is no owner. Importing this module
needs no ROS.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

from bbllm.ros.rclpy_support.peer_process import PeerProcess, ProcessState

OWNER = 'BBLLM_OWNER'
"""Environment variable with the owner's process, as `str(PeerProcess.own())` writes it."""
LOOK_S = 0.2
"""Time between two looks at the owner's process [s]."""


def owner_environ() -> dict[str, str]:
    """Return the variable that makes this process the owner of the nodes that it starts."""
    return {OWNER: str(PeerProcess.own() or '')}


def end_with_owner(on_end: Callable[[str], None]) -> None:
    """
    Send SIGTERM to this process once its owner has ended; returns at once.

    Args:
        on_end: Called before that, in another thread, with a sentence that names the owner.
    """
    given = PeerProcess.parse(os.environ.pop(OWNER, ''))
    owner = given or PeerProcess.of(os.getppid())
    if owner is None or owner.number == 1:
        return

    def watch() -> None:
        while owner.state() is not ProcessState.GONE:
            time.sleep(LOOK_S)
        on_end(f'The process {owner.number}, which started this node, has ended.')
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name='owner', daemon=True).start()
