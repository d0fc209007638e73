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
from pathlib import Path

from bbllm.core.forked import ONE_THREAD, PROC, ForkedProcess, has_one_thread

NodeProcess = subprocess.Popen[bytes] | ForkedProcess

PRELOADED = (
    'bbllm.arm.execution.executor',
    'bbllm.core.journal',
    'bbllm.planners.assembly',
    'bbllm.sim.simulation',
    'bbllm.skills.catalog',
    'bbllm_ros.parameters.scene_sources',
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
ARGUMENTS = slice(45, 47)
"""Where a command line begins and ends: fields 48 and 49 of proc(5), counted after the name."""
NAME_LENGTH = 15
"""What Linux keeps of the name of a process (TASK_COMM_LEN without its end)."""


def can_fork() -> bool:
    """Return whether a fork of this process could become a node: one thread, nothing of ROS."""
    return 'rclpy' not in sys.modules and has_one_thread()


def preload() -> None:
    """Import what nodes need; before numpy, which would start threads."""
    os.environ.setdefault(*ONE_THREAD)
    for module in PRELOADED:
        with suppress(ImportError):  # it is reported by the node that needs it
            importlib.import_module(module)


def new_process(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], log: int
) -> NodeProcess:
    """Run `python -m module`, with its output in a log (a file descriptor)."""
    return subprocess.Popen(
        [sys.executable, '-m', module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=environ,
        # Ctrl-C in the terminal is for whoever owns the stack, who ends it in order.
        start_new_session=True,
    )


def fork_module(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], log: int
) -> NodeProcess:
    """Run the `main` of a module in a fork of this process, or as a new process after ROS."""
    if not can_fork():
        return new_process(module, arguments, environ, log)
    return ForkedProcess(run_module, module, arguments, environ, log)


def run_module(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], log: int
) -> None:
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
