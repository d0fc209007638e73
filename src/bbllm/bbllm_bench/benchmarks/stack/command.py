"""
`bbllm bench stack`: start, memory, idle cost, speed, and the overhead of a step.

*Overhead of a step* is the time from the step's announcement to the acceptance of its trajectory
by the controller, without the time of the Body's model: observing the scene, map_step,
execute_skill, checking, planning, sending. The same run measures the round trip of an action that
does nothing, between two processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bbllm.arm.driver import GoalStatus
from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import PlainConsole
from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import WorldError
from bbllm.core.events import Ending, Event, ModelCall, StepBegun
from bbllm.core.types import Outcome, SkillCall
from bbllm_bench.benchmarks.shared import machine_text, percentile, write_json
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import grid_of, print_grid
from bbllm_ros.stack.stack import Stack, StackConfig, node_environ

app = typer.Typer(add_completion=False)
MAX_MEMORY_MB = 1000.0
MAX_READY_S = 8.0
MAX_START_S = 20.0
"""How long a process may take to start on a busy machine [s]."""
IDLE_S = 5.0
MOVES = (
    'put the red cube on location_B',
    'put the red cube on location_A',
)
"""Carried out in turn, at real-time speed."""
FAST_TASK = 'build a plus sign with the cubes'
FAST_SCENE = 'plus_sign'


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and 95th percentile of some times."""

    n: int
    median_ms: float
    p95_ms: float

    @classmethod
    def of(cls, times_s: list[float]) -> Spread:
        return cls(
            n=len(times_s),
            median_ms=percentile(times_s, 50) * 1e3,
            p95_ms=percentile(times_s, 95) * 1e3,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StackReport:
    """What one run measured."""

    machine: dict[str, str]
    rmw: str
    load: float
    """Load average of the last minute when it began: who else was at work."""
    ready_s: float
    """From the start of the first process to a scene and all servers [s]."""
    pss_mb: float
    """Memory of the five processes, what they share counted once [MB]."""
    rss_mb: float
    """The same, what they share counted in each [MB]."""
    idle_cores: float
    """Cores that the idle stack uses, at real-time speed."""
    step_overhead: Spread
    bare_accept: Spread
    """A bare action's goal, from sending to acceptance."""
    bare_round_trip: Spread
    """The same to its result."""
    fast_factor: float
    """Simulated seconds of calls per wall second of the episode with speed 0."""
    fast_motion_factor: float
    """Simulated seconds per wall second while calls were carried out with speed 0."""


@app.command()
def stack(
    moves: Annotated[int, typer.Option(min=1, help='Tasks for the overhead per step.')] = 6,
    trips: Annotated[int, typer.Option(min=10, help='Round trips of the bare action.')] = 200,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-stack.json'),
    json: JsonOption = False,
) -> None:
    """Measure the stack of five nodes: start, memory, speed, overhead per step."""
    console = PlainConsole(stderr=json)
    report = run_stack_bench(moves, trips, say=lambda text: console.print(text, style='dim'))
    print_report(report, console)
    write_json(out, asdict(report), printed=json)
    console.print(f'written to {out}')


def run_stack_bench(moves: int, trips: int, say: Callable[[str], None]) -> StackReport:
    """Start the stack twice, at real-time speed and as fast as it can, and measure."""
    load = os.getloadavg()[0]
    say('starting five nodes at real-time speed')
    with started({}) as (stack, client, ready_s):
        pids = [process.pid for process in stack.processes.values()]
        idle_cores = cores_used(pids, IDLE_S)
        say(f'{trips} round trips of a bare action')
        accepts, round_trips = _bare_action(client, stack.environ(), trips)
        say(f'{moves} tasks for the overhead per step')
        overheads = step_overheads(client, moves)
        pss_mb, rss_mb = memory_mb(pids, 'Pss'), memory_mb(pids, 'Rss')
    say(f'{FAST_TASK}, as fast as it can')
    with started({'speed': 0.0, 'scene': FAST_SCENE}) as (_, client, _):
        fast_factor, fast_motion_factor = fast_factors(client)
    return StackReport(
        machine=describe_machine(),
        rmw=node_environ()['RMW_IMPLEMENTATION'],
        load=load,
        ready_s=ready_s,
        pss_mb=pss_mb,
        rss_mb=rss_mb,
        idle_cores=idle_cores,
        step_overhead=Spread.of(overheads),
        bare_accept=Spread.of(accepts),
        bare_round_trip=Spread.of(round_trips),
        fast_factor=fast_factor,
        fast_motion_factor=fast_motion_factor,
    )


def print_report(report: StackReport, console: Console) -> None:
    figures = {
        'seconds from start to ready': (f'{report.ready_s:.1f}', f'< {MAX_READY_S:g}'),
        'memory, shared counted once (PSS) [MB]': (
            f'{report.pss_mb:.0f}',
            f'< {MAX_MEMORY_MB:g}',
        ),
        'memory, sum of RSS [MB]': (f'{report.rss_mb:.0f}', f'< {MAX_MEMORY_MB:g}'),
        'cores used when idle, at real-time speed': (f'{report.idle_cores:.2f}', ''),
    }
    for title, spread in (
        ('overhead per step', report.step_overhead),
        ('bare rclpy action: goal accepted', report.bare_accept),
        ('bare rclpy action: round trip', report.bare_round_trip),
    ):
        times = f'{spread.median_ms:.1f} / {spread.p95_ms:.1f}'
        figures[f'{title}, median / 95 % of {spread.n} [ms]'] = (times, '')
    for title, factor in (
        ('whole episode', report.fast_factor),
        ('during calls', report.fast_motion_factor),
    ):
        figures[f'speed:=0, simulated s per wall s, {title}'] = (f'{factor:.1f}', '')
    rows = [
        {'what': name, 'measured': value, 'wanted': wanted}
        for name, (value, wanted) in figures.items()
    ]
    print_grid(grid_of('Stack of five nodes, models offline', rows), console)
    machine = machine_text(report.machine)
    console.print(f'{machine}, {report.rmw}; load average at the start {report.load:.1f}')


@contextmanager
def started(sim: dict[str, Any]) -> Iterator[tuple[Stack, Any, float]]:
    """Start a stack; yield it, a client and how long it took to be ready [s]."""
    # Whatever keys are set: this measures everything but models.
    models = {'brain': 'offline', 'body': 'offline'}
    params = {'mujoco_sim': sim, 'brain_planner': models, 'body_mapper': models}
    begun_s = time.monotonic()
    with Stack(StackConfig(params=params)) as stack, stack.wait_ready() as client:
        yield stack, client, time.monotonic() - begun_s


def _bare_action(
    client: Any, environ: dict[str, str], trips: int
) -> tuple[list[float], list[float]]:
    """Time an action that does nothing: seconds to acceptance and to the result."""
    from bbllm_interfaces.action import ExecuteSkill

    from bbllm_bench.benchmarks.stack import echo
    from bbllm_ros.rclpy_support.calls import ActionCall, need_server

    command = [sys.executable, echo.__file__, '--ros-args', '-r', f'__ns:=/{NAMESPACE}']
    process = subprocess.Popen(command, env=environ)
    try:
        call = ActionCall(client.node, ExecuteSkill, echo.ACTION, echo.ACTION, client.group)
        need_server(lambda: call.ready, echo.ACTION, MAX_START_S)
        accepts, whole = [], []
        for i in range(trips + 5):
            begun_s = time.monotonic()
            accepted: list[float] = []
            status, _ = call.run(
                ExecuteSkill.Goal(),
                10.0,
                on_accepted=partial(_append_now, accepted),
            )
            if status is not GoalStatus.SUCCEEDED:
                raise WorldError(f'The bare action ended {status.value}.')
            if i >= 5:  # the first ones find each other
                accepts.append(accepted[0] - begun_s)
                whole.append(time.monotonic() - begun_s)
        return accepts, whole
    finally:
        process.terminate()
        process.wait()


def _append_now(times_s: list[float]) -> None:
    times_s.append(time.monotonic())


def step_overheads(client: Any, moves: int) -> list[float]:
    """Run tasks; for every step, seconds to its first trajectory without the Body's model [s]."""
    accepted: dict[bytes, float] = {}
    events: list[Event] = []
    _watch_goals(client, accepted)
    for i in range(moves):
        result = client.run_task(MOVES[i % len(MOVES)], on_event=events.append)
        if result.ending is not Ending.FINISHED:
            raise WorldError(f'A task of the bench ended {result.ending.name}: {result.message}')
    time.sleep(0.5)  # the last status may come later than the result
    return list(overheads_of(events, sorted(accepted.values())))


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


def _watch_goals(client: Any, accepted: dict[bytes, float]) -> None:
    """Note when the controller accepted which goal, by the server's own stamps."""
    from action_msgs.msg import GoalStatusArray

    from bbllm_ros.convert.records import LATCHED, stamp_from_msg

    def hear(msg: GoalStatusArray) -> None:
        for status in msg.status_list:
            info = status.goal_info
            accepted[bytes(info.goal_id.uuid)] = stamp_from_msg(info.stamp)

    topic = 'fr3_arm_controller/follow_joint_trajectory/_action/status'
    client.node.create_subscription(GoalStatusArray, topic, hear, LATCHED)


def fast_factors(client: Any) -> tuple[float, float]:
    """Run a task; return simulated seconds per wall second: whole episode, during calls."""
    events: list[Event] = []
    result = client.run_task(FAST_TASK, on_event=events.append)
    if result.ending is not Ending.FINISHED:
        raise WorldError(f'{FAST_TASK!r} ended {result.ending.name}: {result.message}')
    calls_s = 0.0
    begun_s = 0.0
    for event in events:
        if isinstance(event.data, SkillCall):
            begun_s = event.stamp_s
        elif isinstance(event.data, Outcome):
            calls_s += event.stamp_s - begun_s
    return result.robot_s / result.wall_s, result.robot_s / calls_s


def memory_mb(pids: Sequence[int], kind: str) -> float:
    """
    Add up the memory of processes [MB]: `Rss`, or `Pss`, which counts what several share once.

    Raises:
        OSError: One of them has gone.
    """
    total_kb = 0
    for pid in pids:
        for line in Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines():
            if line.startswith(f'{kind}:'):
                total_kb += int(line.split()[1])
    return total_kb / 1024


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
