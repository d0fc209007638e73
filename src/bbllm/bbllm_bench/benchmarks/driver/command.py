"""`bbllm bench driver`: does a driver do what clients of franka_ros2 rely on?"""

import importlib.util
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.api.settings import flag_of
from bbllm.cli.support.options import JsonOption, domain_option
from bbllm.cli.support.requests import flag, option
from bbllm.cli.support.verb_group import BAD_INPUT, FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE, SLOW
from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir

PACKAGE = 'franka_driver_conformance'
TRIALS = 100
REPORT = Path('bench-fci.json')
MOTIONS = (
    "joint 7 turns by less than 0.1 rad, some forty times, 2 to 6 s each; the arm's controller is "
    'deactivated and activated; the collision thresholds become those of the examples'
)
FINGERS = 'the fingers open and close, with up to 20 N; keep everything out from between them'
START_S = 30.0
"""How long a simulator may take to start on a busy machine [s]."""
POLL_S = 0.2
END_S = 5.0
"""How long the checks may take to end after each request [s]."""
CODES = {0: 0, 2: INTERRUPTED, 4: BAD_INPUT}
"""Exit codes by those of pytest; any other is a failure."""


@dataclass(frozen=True, kw_only=True)
class DriverRequest:
    """What `bbllm bench driver` was asked for."""

    sim: bool = flag('Start mujoco_sim and check it: all checks, nothing else is needed.')
    fci: Literal['all', 'franka-sim', 'table'] | None = option(
        'Our driver over libfranka in place of a ROS driver. franka-sim: picks, places and faults '
        'on this independent server, which `make fci` installs. table: faults of the robot on '
        '`bbllm up fci`. all: both. bench-fci.json is the report.'
    )
    client: Literal['bbllm', 'franky', 'both'] = option(
        'With --fci: whose program the faults happen to; franky: one as its users write it.',
        default='bbllm',
    )
    trials: int = option('With --fci: picks and places on franka-sim.', default=TRIALS, min=0)
    seed: int = option('With --fci: of the first of them.', default=0, min=0)
    patience: float | None = option(
        'With --fci: seconds that the clock of franka-sim waits for each command of the picks and '
        'places, so that the commands are judged and not the computer; 0.1 does. By default it '
        'runs in real time.',
        min=0.001,
    )
    safety: str = option(
        'With --fci: envelope of the picks and places; safety is that of simulations.',
        default=SLOW,
    )
    namespace: str | None = option(
        "The driver's; '' for none. bbllm_real by default, with --sim bbllm."
    )
    domain: int | None = domain_option()
    controller: str = option("The arm's controller.", default='fr3_arm_controller')
    gripper: str = option("The hand's; none: no hand.", default='franka_gripper')
    allow_motion: bool = flag(f'Allow motions: {MOTIONS}.')
    allow_hand: bool = flag(f'Allow the hand: {FINGERS}.')
    provoke: Literal['none', 'sim', 'fci', 'person'] = option(
        'What makes the robot stop: mujoco_sim by itself, `bbllm up fci` at --ip by itself, or '
        'you, when you are asked.',
        default='none',
    )
    ip: str = option('With --provoke fci: address of `bbllm up fci`.', default='127.0.0.1')
    only: list[str] | None = option('Only these checks, as in *-rejected.', metavar='PATTERN')
    yes: bool = flag('Do not ask before something moves.', '-y')
    out: Path | None = option(
        'Folder of the report; a new one below the state folder.', metavar='DIR'
    )
    record: Path | None = option('Keep all messages, as lines of JSON, in a file.')
    compare: tuple[Path, Path] | None = option(
        'Only show two reports side by side.', metavar='A B'
    )
    json: JsonOption = False


def driver(request: DriverRequest) -> None:
    """
    Check that a driver does what clients of franka_ros2 rely on.

    Without options that allow more, a driver is only observed. With them it has
    to run alone: if another program commands the robot, nothing is moved.

    Examples:
      bbllm bench driver --sim
      bbllm bench driver --namespace ''
      bbllm bench driver --namespace '' --allow-motion --allow-hand --provoke person
      bbllm bench driver --compare sim/ arm/
      bbllm bench driver --namespace '' --allow-motion --allow-hand --provoke fci
      bbllm bench driver --fci all
      bbllm bench driver --fci all --client both --trials 0
    """
    if request.fci:
        from bbllm_bench.benchmarks.driver.fci import bench_fci  # its extra need not be there

        out = request.out or REPORT
        bench_fci(
            request.fci,
            request.client,
            request.trials,
            request.seed,
            out,
            json=request.json,
            safety=request.safety,
            patience_s=request.patience,
        )
        return
    need_ros('bbllm bench driver')
    output = Output(request.json)
    if importlib.util.find_spec(PACKAGE) is None:
        raise ConfigError(
            f'The package {PACKAGE} is not installed. In a checkout run make setup, or: '
            f'pip install --no-deps src/{PACKAGE}'
        )
    if request.compare:
        words = [f'{PACKAGE}.report', *map(str, request.compare)]
        words += ['--json'] if request.json else []
        raise typer.Exit(FAILED if subprocess.call([sys.executable, '-m', *words]) else 0)
    sim, namespace = request.sim, request.namespace
    if namespace is None or (sim and not namespace):
        namespace = NAMESPACE if sim else REAL_NAMESPACE
    folder = request.out or state_dir() / 'driver-checks' / time.strftime('%Y%m%d-%H%M%S')
    words = _words(request, namespace, folder)
    checks: list[Callable[[], None]] = []
    with ExitStack() as stack:
        choose_domain(request.domain)
        if sim:
            from bbllm_ros.rclpy_support.domains import own_domain
            from bbllm_ros.stack.stack import Stack, StackConfig

            output.print('Starting mujoco_sim ...', 'dim')
            if request.domain is None:
                choose_domain(stack.enter_context(own_domain()))
            config = StackConfig(nodes=('mujoco_sim',), namespace=namespace)
            checks.append(stack.enter_context(Stack(config)).check)
            words += [f'--await-driver={START_S}']
        code = _run(words, checks, to_stderr=request.json)
    file = folder / 'driver-checks.json'
    if file.exists():
        report = json.loads(file.read_text('utf-8'))
        output.result({**report, 'passed': code == 0, 'folder': str(folder)})
    elif code == FAILED and not sim:
        output.print('The simulated driver is checked by: bbllm bench driver --sim')
    raise typer.Exit(code)


def _words(request: DriverRequest, namespace: str, folder: Path) -> list[str]:
    sim = request.sim
    switches = ('allow_motion', 'allow_hand', 'yes')
    return [
        PACKAGE,
        f'--robot-namespace={namespace}',
        f'--conformance-report={folder}',
        f'--robot-controller={request.controller}',
        f'--robot-gripper={request.gripper}',
        *(f'--check={pattern}' for pattern in request.only or ()),
        *([f'--record-messages={request.record}'] if request.record else []),
        *(flag_of(name) for name in switches if sim or getattr(request, name)),
        *_provoke_words('sim' if sim else request.provoke, request.ip),
    ]


def _provoke_words(provoke: str, ip: str) -> list[str]:
    if provoke != 'fci':
        return [f'--provoke={provoke}']
    from bbllm_fci.lines import socket_path  # imports NumPy

    return ['--provoke=socket', f'--provoke-socket={socket_path(ip)}']


def _run(words: list[str], checks: list[Callable[[], None]], *, to_stderr: bool) -> int:
    """Run the checks in a separate process; *checks* raise when the simulator has died."""
    from bbllm_ros.rclpy_support.dds_boundary import bound_process

    bound_process()
    command = [sys.executable, '-m', *words]
    process = subprocess.Popen(command, stdout=sys.stderr if to_stderr else None)
    try:
        while process.poll() is None:
            for check in checks:
                check()
            time.sleep(POLL_S)
    except BaseException:
        # It cancels the goal that executes. 0 sends nothing: on a terminal, Ctrl-C has reached it.
        for number in (0, signal.SIGINT, signal.SIGKILL):
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
                break
        raise
    return CODES.get(process.returncode, FAILED)
