"""
`bbllm bench process-faults`: how a task ends when a process is killed, stopped or frozen.

In each trial a stack in real time runs a task, and at a random moment of it a node, or the
`bbllm up` or `ros2 launch` that owns the nodes, gets SIGKILL or SIGSTOP, or is frozen by the
freezer of cgroups (version 1, which takes root). A trial is good where the episode ends with the
name of the node within the stated time, the arm stands still afterwards, and the journal is whole.
"""

import enum
import importlib.util
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import BbllmError, LostNodeError, WorldError
from bbllm.core.events import Ending, Event
from bbllm.core.journal import end_journal, read_episode
from bbllm.core.paths import config_dir, episodes_dir
from bbllm.core.tasks import new_episode_id
from bbllm.core.types import SkillCall
from bbllm_bench.benchmarks.shared import TrialBar, exit_unless, write_report
from bbllm_bench.benchmarks.time.processes import family_of
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import Grid, grid_of
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.rclpy_support.domains import own_domain
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.service_clients import SimClient
from bbllm_ros.stack.stack import (
    NODES,
    SIMULATOR,
    Stack,
    StackConfig,
    node_environ,
)

app = typer.Typer(add_completion=False)
TASK = 'put the red cube on location_B'
PARAMS: dict[str, dict[str, Value]] = {SIMULATOR: {'speed': 1.0}}
READY_S = 120.0
FREEZER = Path('/sys/fs/cgroup/freezer')
STILL_RAD_S = 0.005
"""Speed of a joint below which the arm stands still [rad/s]."""
REST_S = 3.0
"""How long the arm may take until it stands still after the episode has ended, wall clock [s]."""
DELAY_S = 4.0
"""The fault comes at a random time up to this after the first call, wall clock [s]."""
JOURNAL_S = 20.0
"""How long a planner that goes on may take to end its episode [s]."""
GONE_S = 15.0
"""How long the nodes of an owner that was killed may take to end [s]."""


class Manner(enum.StrEnum):
    """What a process suffers."""

    KILL = 'kill -9'
    STOP = 'SIGSTOP'
    FREEZE = 'freeze'


LIMIT_S = {Manner.KILL: 4.0, Manner.STOP: 4.0, Manner.FREEZE: 14.0}
"""How long after the fault the episode may take to end with the node's name, wall clock [s]."""
OWNERS = ('bbllm up', 'ros2 launch')


@dataclass(frozen=True, slots=True)
class ProcessFault:
    """One fault: of what, how, and when after the first call."""

    target: str
    manner: Manner
    delay_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFaultResult:
    """What became of it, as the client of the stack saw it, and how that is judged."""

    trial: ProcessFault
    episode_id: str
    struck: bool
    """Whether the fault came before the task was over."""
    told_s: float
    """From the fault to the end of the episode, wall clock [s]."""
    ending: str
    message: str
    at_rest: bool
    named: bool = False
    journal_whole: bool = False

    @property
    def good(self) -> bool:
        late = self.told_s > LIMIT_S[self.trial.manner] and self.trial.target in NODES
        return self.named and self.at_rest and self.journal_whole and not late


@app.command()
def process_faults(
    trials: Annotated[int, typer.Option(min=1, help='How many.')] = 200,
    seed: Annotated[int, typer.Option(min=0, help='Of targets, manners and moments.')] = 0,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path(
        'bench-process-faults.json'
    ),
    json: JsonOption = False,
) -> None:
    """Kill, stop and freeze processes of a stack in mid-task, and report how the tasks end."""
    drawn = draw_trials(trials, seed)
    results: list[ProcessFaultResult] = []
    with TrialBar(len(drawn)) as bar:

        def on_result(result: ProcessFaultResult) -> None:
            results.append(result)
            bar.advance(f'{len(results)}/{len(drawn)} {_line(result)}', failed=not result.good)

        run_trials(drawn, on_result)
    report = {
        'machine': describe_machine(),
        'seed': seed,
        'task': TASK,
        'results': [{**asdict(result), 'good': result.good} for result in results],
    }
    good = f'good: {sum(result.good for result in results)} of {len(results)}'
    write_report(out, report, [grid_of_processes(results)], [good], json=json)
    exit_unless(all(result.good for result in results))


def draw_trials(n: int, seed: int) -> list[ProcessFault]:
    """Draw trials: nine of ten hit a node, one of ten its owner."""
    rng = random.Random(seed)
    manners = list(Manner) if os.access(FREEZER, os.W_OK) else [Manner.KILL, Manner.STOP]
    owners = OWNERS if importlib.util.find_spec('ros2launch') else OWNERS[:1]
    drawn = []
    for _ in range(n):
        target = rng.choice(owners) if rng.random() < 0.1 else rng.choice(NODES)
        drawn.append(ProcessFault(target, rng.choice(manners), rng.uniform(0.0, DELAY_S)))
    # The trials of owners need stacks of their own, so they come last.
    return sorted(drawn, key=lambda trial: trial.target not in NODES)


def run_trials(
    trials: Sequence[ProcessFault], on_result: Callable[[ProcessFaultResult], None]
) -> None:
    of_nodes = [trial for trial in trials if trial.target in NODES]
    with own_domain() as domain:
        environ = {'ROS_DOMAIN_ID': str(domain)}
        if of_nodes:
            config = StackConfig(params=PARAMS, environ=environ)
            with Stack(config) as stack, stack.wait_ready(READY_S) as client:
                watch = Watch(client)
                for trial in of_nodes:
                    on_result(run_on_node(trial, stack, watch))
        for trial in trials[len(of_nodes) :]:
            on_result(run_on_owner(trial, environ))


class Watch:
    """A client of a stack, and the speed of its arm."""

    def __init__(self, client: StackClient):
        self.client = client
        self.sim = SimClient(client.node, client.group)
        poller = Poller(client.node)
        self._joints = JointFeed(client.node, poller, 'franka_gripper', 2.0)
        poller.start()

    def comes_to_rest(self) -> bool:
        """Wait until the arm stands still for half a second; False where it does not in time."""
        since_s, deadline_s = time.monotonic(), time.monotonic() + REST_S
        while time.monotonic() < deadline_s:
            joints, now_s = self._joints, self._joints.newest_stamp_s
            if not joints.quiet and joints.fastest_rad_s(now_s, now_s) > STILL_RAD_S:
                since_s = time.monotonic()
            if time.monotonic() > since_s + 0.5:
                return True
            time.sleep(0.01)
        return False


def run_on_node(trial: ProcessFault, stack: Stack, watch: Watch) -> ProcessFaultResult:
    """Let a node suffer, and repair the stack afterwards."""
    process = stack.processes[trial.target]
    with suffering(process.pid, trial.manner) as begin:
        result = _run_task(trial, watch, begin)
    if trial.manner is Manner.KILL and result.struck:
        process.wait(READY_S)
        stack.respawn_dead()
    watch.client.wait_ready(NODES, READY_S, cancel=CancelToken(stack.check))
    watch.sim.reset()
    return judge(result)


def run_on_owner(trial: ProcessFault, environ: dict[str, str]) -> ProcessFaultResult:
    """Let the owner of a stack suffer; its nodes end with it, or go on where it only stands."""
    launch = 'import sys; from ros2cli.cli import main; sys.exit(main())'
    path = config_dir().parent / 'launch' / 'franka_sim.launch.py'
    command = {
        'bbllm up': [sys.executable, '-m', 'bbllm', 'up', 'sim'],
        'ros2 launch': [sys.executable, '-c', launch, 'launch', str(path)],
    }[trial.target]
    owner = subprocess.Popen(
        command,
        env=node_environ(more=environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with StackClient(environ=environ) as client:
            client.wait_ready(NODES, READY_S)
            nodes = family_of(owner.pid)[1:]
            with suffering(owner.pid, trial.manner) as begin:
                result = _run_task(trial, Watch(client), begin)
    finally:
        if owner.poll() is None:
            owner.send_signal(signal.SIGINT)
        owner.wait(READY_S)
    deadline_s = time.monotonic() + GONE_S
    while any(map(_lives, nodes)) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    if any(map(_lives, nodes)):
        raise WorldError(f'{trial}: nodes are left: {[pid for pid in nodes if _lives(pid)]}')
    return judge(result)


def _run_task(trial: ProcessFault, watch: Watch, begin: Callable[[], None]) -> ProcessFaultResult:
    """Give the task, begin the fault at its moment, and wait for the end and for rest."""
    struck_s: list[float] = []

    def strike() -> None:
        struck_s.append(time.monotonic())
        begin()

    timer = threading.Timer(trial.delay_s, strike)

    def on_event(event: Event) -> None:
        if isinstance(event.data, SkillCall) and timer.ident is None:
            timer.start()

    episode_id = new_episode_id()
    try:
        result = watch.client.run_task(TASK, episode_id=episode_id, on_event=on_event)
        ending, message = result.ending, result.message
    except LostNodeError as error:
        ending, message = Ending.WORLD_FAILED, str(error)
        if watch.client.heartbeats.has_ended('brain_planner'):
            end_journal(_journal(episode_id), ending, message)
    ended_s = time.monotonic()
    timer.cancel()
    if timer.ident is not None:
        timer.join()
    return ProcessFaultResult(
        trial=trial,
        episode_id=episode_id,
        struck=bool(struck_s),
        told_s=ended_s - struck_s[0] if struck_s else 0.0,
        ending=ending.name,
        message=message,
        at_rest=watch.comes_to_rest(),
    )


def judge(seen: ProcessFaultResult) -> ProcessFaultResult:
    """Judge a trial once the fault was taken back: a planner that goes on ends its episode."""
    trial, whole = seen.trial, False
    deadline_s = time.monotonic() + JOURNAL_S
    while not whole and time.monotonic() < deadline_s:
        try:
            journal = read_episode(_journal(seen.episode_id))
            own = trial.target == 'brain_planner' and trial.manner is not Manner.KILL
            whole = journal.ending is not None if own else journal.message == seen.message
        except (BbllmError, OSError):
            whole = False
        if not whole:
            time.sleep(0.1)
    # A task that was over before the fault came, and one whose owner only stands, end as usual.
    node = trial.target in NODES
    usual = not seen.struck or (not node and trial.manner is not Manner.KILL)
    name = trial.target if node else ''
    if usual:
        named = seen.ending == Ending.FINISHED.name
    else:
        named = bool(seen.message) and name in seen.message
    return replace(seen, named=named, journal_whole=whole)


def _journal(episode_id: str) -> Path:
    return episodes_dir() / f'{episode_id}.jsonl'


@contextmanager
def suffering(pid: int, manner: Manner) -> Iterator[Callable[[], None]]:
    """Yield what begins a fault of a process; it is taken back in the end where that can be."""
    if manner is Manner.KILL:
        yield lambda: os.kill(pid, signal.SIGKILL)
    elif manner is Manner.STOP:
        try:
            yield lambda: os.kill(pid, signal.SIGSTOP)
        finally:
            os.kill(pid, signal.SIGCONT)
    else:
        group = FREEZER / f'bbllm-{os.getpid()}'
        group.mkdir(exist_ok=True)
        (group / 'cgroup.procs').write_text(str(pid))
        try:
            yield lambda: _write(group / 'freezer.state', 'FROZEN')
        finally:
            _write(group / 'freezer.state', 'THAWED')
            (FREEZER / 'cgroup.procs').write_text(str(pid))


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _lives(pid: int) -> bool:
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def grid_of_processes(results: Sequence[ProcessFaultResult]) -> Grid:
    rows = []
    for target in (*NODES, *OWNERS):
        for manner in Manner:
            found = [r for r in results if (r.trial.target, r.trial.manner) == (target, manner)]
            if found:
                delays_s = [result.told_s for result in found if result.told_s]
                times = f'{median(delays_s):.1f} / {max(delays_s):.1f}' if delays_s else '-'
                good = f'{sum(result.good for result in found)}/{len(found)}'
                rows.append(
                    {
                        'process': target,
                        'fault': manner.value,
                        'good': good,
                        'hit': str(len(delays_s)),
                        'named after, s (median / longest)': times,
                    }
                )
    return grid_of(f'{TASK}, with one fault of a process each', rows)


def _line(result: ProcessFaultResult) -> str:
    trial = result.trial
    marks = [] if result.good else ['BAD']
    marks += [name for name in ('named', 'at_rest', 'journal_whole') if not getattr(result, name)]
    return (
        f'{trial.target} {trial.manner.value} after {trial.delay_s:.1f} s: {result.told_s:.1f} s, '
        f'{result.ending}: {result.message} {" not ".join(marks)}'
    )
