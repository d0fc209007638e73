"""
The life of a node's process: begin, spin, come to rest, end.

SIGINT and SIGTERM are waited for instead of handled by rclpy, so that a node can still talk to the
others when it is told to end: an arm that moves is stopped before its executor is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from bbllm.core.errors import BbllmError
from bbllm.nodes.heartbeat import Heartbeat, Heartbeats
from bbllm.nodes.leaving import leave_graph
from bbllm.nodes.stack import ALIVE_FD

ENDS = (signal.SIGINT, signal.SIGTERM)
FAULTS = 10
"""How many faults in callbacks end the spinning of a node, whose process ends at the first."""


class StackNode(Node):
    """One of the nodes of the stack: it tells the others that it lives, and hears them."""

    def __init__(self, name: str):
        super().__init__(name)
        self.group = ReentrantCallbackGroup()
        self.failed = False
        self.heartbeats = Heartbeats(self)

    def begin(self) -> None:
        """Tell the others that this node serves; called once it is built and spun."""
        self._heartbeat = Heartbeat(self)

    def fail(self, reason: str) -> None:
        """End this process with an error, from any thread: what cannot serve must not seem to."""
        self.get_logger().fatal(reason)
        self.failed = True
        os.kill(os.getpid(), signal.SIGTERM)

    def come_to_rest(self) -> None:
        """
        End what runs; called before the process ends, while others can still be reached.

        Also after a fault, when it may be that nobody spins this node any more: it must not wait
        for an answer for long.
        """


def run(make: Callable[[], StackNode], threads: int = 8) -> None:
    """
    Run a node until SIGINT or SIGTERM; the body of every node's `main`.

    Args:
        make: Builds the node.
        threads: How many callbacks may run at once.
    """
    told_to_end = _end_signals()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node: StackNode | None = None
    try:
        node = make()
        executor = MultiThreadedExecutor(threads)
        executor.add_node(node)
        ending = threading.Event()
        spinning = threading.Thread(target=_spin, args=(executor, node, ending), daemon=True)
        spinning.start()
        node.begin()
        os.read(told_to_end, 1)
        _come_to_rest(node)
        ending.set()
        executor.wake()
        spinning.join(timeout=2.0)
        # The executor waits for no callback under way, which then misses what it has destroyed.
        time.sleep(0.05)
        executor.shutdown(timeout_sec=1.0)
    except BbllmError as error:
        sys.exit(f'error: {error}')
    finally:
        # It waits for nothing: threads that still run a callback end with the process.
        if node is not None:
            leave_graph(node)
        rclpy.try_shutdown()
    if node.failed:
        sys.exit(1)


def _come_to_rest(node: StackNode) -> None:
    """End what runs, whatever else has failed: a fault must leave nothing moving either."""
    try:
        node.come_to_rest()
    except Exception:  # whatever it is, the process still ends in order
        node.get_logger().error(f'fault in coming to rest:\n{traceback.format_exc()}')
        node.failed = True


def _end_signals() -> int:
    """Return a file descriptor that can be read from once SIGINT or SIGTERM came."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    for number in ENDS:
        # Also where SIGINT is ignored, as in processes that a script starts in the background.
        signal.signal(number, _nothing)
    # Whatever thread the signal reaches, C writes to the pipe at once.
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    _end_with_owner()
    return readable


def _nothing(number: int, frame: object) -> None:
    """Handle a signal that was already seen at the pipe."""


def _end_with_owner() -> None:
    """End when whoever started this process has gone, also by SIGKILL: then a pipe is closed."""
    given = os.environ.pop(ALIVE_FD, '')
    if given:

        def watch() -> None:
            os.read(int(given), 1)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=watch, name='owner', daemon=True).start()


def _spin(executor: MultiThreadedExecutor, node: StackNode, ending: threading.Event) -> None:
    """Spin until the end, also after a fault: what runs comes to rest while its answers come."""
    faults: list[BaseException] = []
    while not ending.is_set() and len(faults) < FAULTS:
        try:
            executor.spin_once(timeout_sec=1.0)
        except ExternalShutdownException:
            return
        except BaseException as fault:  # whatever it is, nothing may be left moving
            if fault in faults:
                continue  # rclpy raises one as often as it had looked for a thread to call it in
            faults.append(fault)
            if len(faults) == 1:
                node.fail(f'fault in a callback:\n{traceback.format_exc()}')
