"""
Rows of the five nodes: start, idle cost, overhead of a step, speed; each start by `bbllm up sim`.

The idle cost is that of all processes of the stack, `bbllm up` itself among them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.scene.scene_file import load_scene
from bbllm_bench.benchmarks.stack.command import (
    FAST_SCENE,
    cores_used,
    fast_factors,
    step_overheads,
)
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.machine import raw_factor
from bbllm_bench.benchmarks.time.processes import family_of, python, run_command, running
from bbllm_ros.stack.stack import NODES, READY_S, node_environ

if TYPE_CHECKING:
    from bbllm_ros.stack.client import StackClient

STARTS = 3
"""How often the stack is started as fast as it can."""
ONE_PROCESS, STARTS_OF_ONE = '--one-process', 2
SETTLE_S = 3.0
"""How long after the start a stack may still be busy with it [s]."""
WINDOWS = 10
WINDOW_S = 1.0
"""In so many windows of this length the idle cost is read [s]."""
TASKS = 6
TRIPS = 200
"""Goals of the bare action."""
BARE_S = 120.0
"""How long half of these may take on a busy machine [s]."""
START_S = 60.0
"""How long a start may take on a busy machine [s]."""
READY = 'The stack is ready'
ROS_AND_PHYSICS = 'import rclpy, mujoco; rclpy.init(); rclpy.create_node("bare"); rclpy.shutdown()'
"""What the start of a stack cannot do without: it is the reference of the start."""
MODELS = ('--brain', 'offline', '--body', 'offline')
"""Whatever keys are set: this measures everything but models."""


def measure_idle(
    windows: int, seed: int, advance: Callable[[str], None]
) -> Mapping[str, Measured]:
    """Watch the processes of a stack without any client, at real-time speed."""
    return {'idle': _idle(windows, advance)}


def measure_one_process(
    windows: int, seed: int, advance: Callable[[str], None]
) -> Mapping[str, Measured]:
    """Watch the same nodes in one process, and let them carry out tasks as fast as they can."""
    idle = _idle(windows, advance, ONE_PROCESS)
    _, fast = _starts(STARTS_OF_ONE, advance, ONE_PROCESS)
    return {'idle-one': idle, 'fast-one': fast}


def measure_overhead(
    tasks: int, seed: int, advance: Callable[[str], None]
) -> Mapping[str, Measured]:
    """Carry out tasks at real-time speed, between goals of a bare action."""
    with _up(), _client() as client:
        # Before and after, because others may be at work on this machine.
        bare = _bare_accepts(TRIPS // 2)
        overheads = step_overheads(client, tasks)
        bare += _bare_accepts(TRIPS // 2)
    advance(f'{tasks} tasks for the overhead of a step')
    row = Measured(
        values=tuple(time_s * 1e3 for time_s in overheads),
        references=tuple(time_s * 1e3 for time_s in bare),
    )
    return {'overhead': row}


def measure_starts(
    starts: int, seed: int, advance: Callable[[str], None]
) -> Mapping[str, Measured]:
    """Start the stack as fast as it can, and carry out a task each time."""
    ready, fast = _starts(starts, advance)
    return {'ready': ready, 'fast': fast}


def _idle(windows: int, advance: Callable[[str], None], *options: str) -> Measured:
    with _up(*options) as (pid, _):
        time.sleep(SETTLE_S)
        idle = [cores_used(family_of(pid), WINDOW_S) for _ in range(windows)]
    advance('idle stack')
    return Measured(values=tuple(idle), references=(1.0,) * windows, paired=True)


def _starts(
    starts: int, advance: Callable[[str], None], *options: str
) -> tuple[Measured, Measured]:
    """Return the seconds to ready, and simulated seconds per wall second."""
    ready, imports, fast, raw = [], [], [], []
    options = ('--speed', '0', '--scene', FAST_SCENE, *options)
    for index in range(starts):
        with _up(*options) as (_, ready_s), _client() as client:
            ready.append(ready_s)
            fast.append(fast_factors(client)[0])
        imports.append(_import_s())
        raw.append(raw_factor(load_scene(FAST_SCENE)))
        advance(f'start {index + 1} of {starts}, as fast as it can')
    return (
        Measured(values=tuple(ready), references=tuple(imports), paired=True),
        Measured(values=tuple(fast), references=tuple(raw), paired=True),
    )


def _up(*options: str) -> AbstractContextManager[tuple[int, float]]:
    """Start the stack; yields its process, and the seconds until it was ready."""
    command = python('-m', 'bbllm', 'up', 'sim', *MODELS, *options)
    return running(command, READY, START_S, node_environ())


@contextmanager
def _client() -> Iterator[StackClient]:
    from bbllm_ros.stack.client import StackClient

    with StackClient(environ=node_environ()) as client:
        client.wait_ready(NODES, READY_S)
        yield client


def _bare_accepts(count: int) -> list[float]:
    script = Path(__file__).with_name('bare_action.py')
    command = python(str(script), str(count))
    printed, _, _ = run_command(command, BARE_S, node_environ())
    times: list[float] = json.loads(printed.splitlines()[-1])
    return times


def _import_s() -> float:
    return run_command(python('-c', ROS_AND_PHYSICS), START_S, node_environ())[1]
