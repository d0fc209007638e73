"""
Processes of nodes that begin as forks of this one, which has imported what they need.

A node imports for 0.4 to 0.8 s of processor time. Its fork has nearly all of that already, and
shares the memory. Neither rclpy nor Fast DDS may be loaded before, so that each node loads,
configures and uses its own; and a thread would be missing in the fork. Needs no ROS.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

PRELOADED = (
    'bbllm.arm.execution.executor',
    'bbllm.core.journal',
    'bbllm.planners.assembly',
    'bbllm.sim.simulation',
    'bbllm.skills.catalog',
    'bbllm.worlds.perception.sources',
    'bbllm_interfaces.action',
    'control_msgs.action',
    'controller_manager_msgs.srv',
    'diagnostic_msgs.msg',
    'franka_msgs.action',
    'franka_msgs.srv',
    'geometry_msgs.msg',
    'lifecycle_msgs.srv',
    'moveit_msgs.msg',
    'rcl_interfaces.srv',
    'rosgraph_msgs.msg',
    'sensor_msgs.msg',
    'tf2_msgs.msg',
    'vision_msgs.msg',
    'visualization_msgs.msg',
)
"""What most nodes import and does not load ROS: messages are Python until one is sent."""
ONE_THREAD = ('OPENBLAS_NUM_THREADS', '1')
"""Small matrices only: more threads cost memory and the other nodes' time."""
PROC = Path('/proc/self')
ARGUMENTS = slice(45, 47)
"""Where a command line begins and ends: fields 48 and 49 of proc(5), counted after the name."""
NAME_LENGTH = 15
"""What Linux keeps of the name of a process (TASK_COMM_LEN without its end)."""


def can_fork() -> bool:
    """Return whether a fork of this process could become a node: one thread, nothing of ROS."""
    threads = PROC / 'task'
    return 'rclpy' not in sys.modules and threads.is_dir() and len(list(threads.iterdir())) == 1


def preload() -> None:
    """Import what nodes need; before numpy, which would start threads."""
    os.environ.setdefault(*ONE_THREAD)
    for module in PRELOADED:
        with suppress(ImportError):  # it is reported by the node that needs it
            importlib.import_module(module)


class ForkedProcess:
    """A module whose `main` runs in a fork; what a `Stack` uses of `subprocess.Popen`."""

    def __init__(
        self, module: str, arguments: Sequence[str], environ: Mapping[str, str], log: int
    ) -> None:
        self._process = get_context('fork').Process(
            target=_run, args=(module, arguments, environ, log)
        )
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None  # it was started
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; raises TimeoutExpired where it does not end in time [s]."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(str(self._process), timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _run(module: str, arguments: Sequence[str], environ: Mapping[str, str], log: int) -> None:
    """Become what `python -m module` would be, with its output in a log."""
    os.setsid()
    gc.freeze()  # what is collected is written to, and then no longer shared
    for stream in (1, 2):
        os.dup2(log, stream)
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]  # a TextIOWrapper
    sys.excepthook = sys.__excepthook__
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = [module, *arguments]
    _show_command([Path(sys.executable).name, '-m', *sys.argv])
    importlib.import_module(module).main()


def _show_command(words: Sequence[str]) -> None:
    """Let the machine's list of processes show a command, as far as it fits in place of ours."""
    (PROC / 'comm').write_text(words[2].rpartition('.')[2][:NAME_LENGTH])
    fields = (PROC / 'stat').read_text().rpartition(')')[2].split()
    begin, end = (int(field) for field in fields[ARGUMENTS])
    size = end - begin
    ctypes.memmove(begin, '\0'.join(words).encode()[: size - 1].ljust(size, b'\0'), size)
