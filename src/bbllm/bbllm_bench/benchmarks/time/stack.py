"""
Rows of the five nodes: start, idle cost, overhead of a step, speed.

Each start is one of `bbllm up sim`. The idle cost is that of all processes of the stack, `bbllm
up` itself among them.

*Overhead of a step* is the time from the step's announcement to the acceptance of its trajectory
by the controller, without the time of the Body's model: observing the scene, map_step,
execute_skill, checking, planning, sending.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbllm.core.errors import WorldError
from bbllm.core.events import Ending, Event, ModelCall, StepBegun
from bbllm.core.types import Outcome, SkillCall
from bbllm.scene.scene_file import load_scene
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.machine import raw_factor
from bbllm_bench.benchmarks.time.processes import Started, family_of, python, run_command, running

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
MOVES = (
    'put the red cube on location_B',
    'put the red cube on location_A',
)
"""Carried out in turn, at real-time speed."""
FAST_TASK = 'build a plus sign with the cubes'
FAST_SCENE = 'plus_sign'


def measure_idle(windows: int, seed: int) -> Mapping[str, Measured]:
    """Watch the processes of a stack without any client, at real-time speed."""
    return {'idle': _idle(windows)}


def measure_one_process(windows: int, seed: int) -> Mapping[str, Measured]:
    """Watch the same nodes in one process, and let them carry out tasks as fast as they can."""
    return {
        'idle-one': _idle(windows, ONE_PROCESS),
        'fast-one': _starts(STARTS_OF_ONE, ONE_PROCESS)['fast'],
    }


def measure_overhead(tasks: int, seed: int) -> Mapping[str, Measured]:
    """Carry out tasks at real-time speed, between goals of a bare action."""
    with up(), connected() as client:
        # Before and after, because others may be at work on this machine.
        bare = _bare_ms(TRIPS // 2)
        overheads = step_overheads(client, tasks)
        bare += _bare_ms(TRIPS // 2)
    values = tuple(1e3 * overhead_s for overhead_s in overheads)
    return {'overhead': Measured(values=values, references=tuple(bare))}


def measure_starts(starts: int, seed: int) -> Mapping[str, Measured]:
    """Start the stack as fast as it can, and carry out a task each time."""
    return _starts(starts)


def _idle(windows: int, *options: str) -> Measured:
    with up(*options) as started:
        time.sleep(SETTLE_S)
        pids = family_of(started.pid)
        idle = tuple(cores_used(pids, WINDOW_S) for _ in range(windows))
    return Measured(values=idle, references=(1.0,) * windows, paired=True)


def _starts(starts: int, *options: str) -> Mapping[str, Measured]:
    ready, fast, imports, raw = [], [], [], []
    options = ('--speed', '0', '--scene', FAST_SCENE, *options)
    for _ in range(starts):
        with up(*options) as started, connected() as client:
            result = _run(client, FAST_TASK, [])
        ready.append(started.ready_s)
        fast.append(result.robot_s / result.wall_s)
        imports.append(run_command(python('-c', ROS_AND_PHYSICS), START_S, _environ())[1])
        raw.append(raw_factor(load_scene(FAST_SCENE)))
    return {
        'ready': Measured(values=tuple(ready), references=tuple(imports), paired=True),
        'fast': Measured(values=tuple(fast), references=tuple(raw), paired=True),
    }


def up(*options: str) -> AbstractContextManager[Started]:
    """Start the stack; yields `bbllm up`."""
    return running(
        python('-m', 'bbllm', 'up', 'sim', *MODELS, *options), READY, START_S, _environ()
    )


@contextmanager
def connected() -> Iterator[StackClient]:
    """Yield a client of the stack that runs."""
    from bbllm_ros.stack.client import StackClient
    from bbllm_ros.stack.stack import NODES, READY_S

    with StackClient(environ=_environ()) as client:
        client.wait_ready(NODES, READY_S)
        yield client


def _environ() -> Mapping[str, str]:
    from bbllm_ros.stack.stack import node_environ

    return node_environ()


def _bare_ms(count: int) -> list[float]:
    """Return the times to acceptance of goals of a bare action [ms]."""
    script = Path(__file__).with_name('bare_action.py')
    printed, _, _ = run_command(python(str(script), str(count)), BARE_S, _environ())
    return [1e3 * accepted_s for accepted_s in json.loads(printed.splitlines()[-1])]


def step_overheads(client: StackClient, moves: int) -> list[float]:
    """Run tasks; for every step, seconds to its first trajectory without the Body's model [s]."""
    accepted: dict[bytes, float] = {}
    events: list[Event] = []
    _watch_goals(client, accepted)
    for i in range(moves):
        _run(client, MOVES[i % len(MOVES)], events)
    time.sleep(0.5)  # the last status may come later than the result
    return list(overheads_of(events, sorted(accepted.values())))


def _run(client: StackClient, task: str, events: list[Event]) -> Any:
    result = client.run_task(task, on_event=events.append)
    if result.ending is not Ending.FINISHED:
        raise WorldError(f'{task!r} ended {result.ending.name}: {result.message}')
    return result


def overheads_of(events: list[Event], accepted_s: list[float]) -> Iterator[float]:
    """Return what steps that began with a trajectory cost beside model and motion [s]."""
    begun_s, model_s = None, 0.0
    for i, event in enumerate(events):
        if isinstance(event.data, StepBegun):
            begun_s, model_s = event.stamp_s, 0.0
        elif isinstance(event.data, ModelCall) and begun_s is not None:
            model_s += event.data.duration_s
        elif isinstance(event.data, SkillCall) and begun_s is not None:
            ended_s = next(e.stamp_s for e in events[i:] if isinstance(e.data, Outcome))
            first_s = next((s for s in accepted_s if event.stamp_s <= s <= ended_s), None)
            if first_s is not None:
                yield first_s - begun_s - model_s
            begun_s = None


def _watch_goals(client: StackClient, accepted: dict[bytes, float]) -> None:
    """Note when the controller accepted which goal, by the server's own stamps."""
    from action_msgs.msg import GoalStatusArray

    from bbllm_ros.convert.records import LATCHED, stamp_from_msg

    def on_status(msg: GoalStatusArray) -> None:
        for status in msg.status_list:
            info = status.goal_info
            accepted[bytes(info.goal_id.uuid)] = stamp_from_msg(info.stamp)

    topic = 'fr3_arm_controller/follow_joint_trajectory/_action/status'
    client.node.create_subscription(GoalStatusArray, topic, on_status, LATCHED)


def cores_used(pids: Sequence[int], duration_s: float) -> float:
    """
    Watch processes for a time [s] and return how many cores they kept busy.

    Raises:
        OSError: One of them has gone.
    """
    before_s = processor_s(pids)
    time.sleep(duration_s)
    return (processor_s(pids) - before_s) / duration_s


def processor_s(pids: Sequence[int]) -> float:
    """
    Return the processor time that processes have used so far [s].

    Raises:
        OSError: One of them has gone.
    """
    # Behind the name, which may have blanks and brackets: user and system time.
    stats = [Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2] for pid in pids]
    ticks = sum(int(stat.split()[11]) + int(stat.split()[12]) for stat in stats)
    return ticks / os.sysconf('SC_CLK_TCK')
