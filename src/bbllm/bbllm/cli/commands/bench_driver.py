"""`bbllm bench driver`: does a driver do what clients of franka_ros2 rely on?"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bbllm.cli.choices import DomainOption
from bbllm.cli.ros import choose_domain
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.namespaces import NAMESPACE, REAL_NAMESPACE
from bbllm.core.paths import state_dir

if TYPE_CHECKING:
    from bbllm.nodes.driver_checks.client import DriverClient
    from bbllm.nodes.driver_checks.provoker import Provoker
    from bbllm.nodes.driver_checks.report import Report
    from bbllm.nodes.driver_checks.runner import Finding

STYLES = {'pass': 'green', 'FAIL': 'bold red', 'skipped': 'dim'}
MOTIONS = (
    "joint 7 turns by less than 0.1 rad, some forty times, 2 to 6 s each; the arm's controller is "
    'taken down and up again; thresholds become those of the examples'
)
FINGERS = 'the fingers open and close, with up to 20 N; keep everything out from between them'
STOPS = 'the robot is made to stop three times, by you, and is brought back each time'
NO_HAND = 'none'
START_S = 30.0
"""How long a simulator may take to start on a busy machine [s]."""
FIND_S = 5.0
"""How long others who command the robot may take to be found, once its driver is [s]."""


class Provoke(str, Enum):
    """Who makes the robot stop."""

    none = 'none'
    sim = 'sim'
    person = 'person'


def driver(
    sim: Annotated[
        bool,
        typer.Option(
            '--sim', help='Start mujoco_sim and check it: all checks, nothing else is needed.'
        ),
    ] = False,
    namespace: Annotated[
        str | None,
        typer.Option(
            '--namespace',
            metavar='NAME',
            help="The driver's; '' for none. bbllm_real by default, with --sim bbllm.",
            show_default=False,
        ),
    ] = None,
    domain: DomainOption = None,
    controller: Annotated[
        str, typer.Option('--controller', metavar='NAME', help="The arm's controller.")
    ] = 'fr3_arm_controller',
    gripper: Annotated[
        str, typer.Option('--gripper', metavar='NAME', help="The hand's; none: no hand.")
    ] = 'franka_gripper',
    allow_motion: Annotated[
        bool, typer.Option('--allow-motion', help=f'Allow motions: {MOTIONS}.')
    ] = False,
    allow_hand: Annotated[
        bool, typer.Option('--allow-hand', help=f'Allow the hand: {FINGERS}.')
    ] = False,
    provoke: Annotated[
        Provoke,
        typer.Option(
            '--provoke',
            help='Who makes the robot stop: mujoco_sim by itself, or you, when you are asked.',
        ),
    ] = Provoke.none,
    only: Annotated[
        list[str] | None,
        typer.Option('--only', metavar='PATTERN', help='Only these checks, as in *-rejected.'),
    ] = None,
    yes: Annotated[
        bool, typer.Option('--yes', '-y', help='Do not ask before something moves.')
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            '--out', metavar='DIR', help='Folder of the report; a new one below the state folder.'
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            '--record', metavar='FILE', help='Keep all that is said, as lines of JSON, in a file.'
        ),
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option('--compare', metavar='A B', help='Only show two reports side by side.'),
    ] = None,
    json: Annotated[bool, typer.Option('--json', help='Print one JSON object.')] = False,
) -> None:
    """
    Check that a driver does what clients of franka_ros2 rely on.

    Without options that allow more, a driver is only looked at. With them it has
    to run alone: where anybody else commands the robot, nothing is moved.

    [bold]Examples[/bold]

      bbllm bench driver --sim
      bbllm bench driver --namespace ''
      bbllm bench driver --namespace '' --allow-motion --allow-hand --provoke person
      bbllm bench driver --compare sim/ arm/
    """
    output = Output(json)
    if compare:
        _compare(output, *compare)
        return
    from bbllm.nodes.driver_checks.catalogue import select
    from bbllm.nodes.driver_checks.check import Need
    from bbllm.nodes.driver_checks.client import DriverClient
    from bbllm.nodes.driver_checks.commanders import need_alone
    from bbllm.nodes.driver_checks.recording import Recording
    from bbllm.nodes.driver_checks.report import Report, save
    from bbllm.nodes.driver_checks.runner import run_checks
    from bbllm.nodes.driver_checks.session import Session

    if namespace is None or (sim and not namespace):
        namespace = NAMESPACE if sim else REAL_NAMESPACE
    checks = select(tuple(only or ()))
    allowed = {Need.NOTHING, Need.STOP}
    allowed |= {Need.MOTION} if allow_motion or sim else set()
    allowed |= {Need.HAND} if allow_hand or sim else set()
    hand = '' if gripper == NO_HAND else gripper
    look: Callable[[], None] = _nothing
    with ExitStack() as stack:
        choose_domain(domain)
        if sim:
            provoke, yes = Provoke.sim, True
            output.say('Starting mujoco_sim ...', 'dim')
            look = stack.enter_context(_simulator(namespace, own=domain is None))
        recording = stack.enter_context(Recording(record))
        client = stack.enter_context(
            DriverClient(namespace, controller=controller, gripper=hand, recording=recording)
        )
        _await_driver(client, namespace, START_S if sim else None)
        moves = bool(allowed & {Need.MOTION, Need.HAND})
        if moves and not sim:
            need_alone(client, FIND_S)
            look = partial(need_alone, client, 0.0)  # also of who comes later
        if not yes:
            _ask(output, {need.value for need in allowed}, provoke)
        session = Session(client, _provoker(provoke, client, output))
        findings = run_checks(
            checks, session, frozenset(allowed), lambda finding: _tell(output, finding), look
        )
    what = 'mujoco_sim' if sim else f'the driver under /{namespace.strip("/")}'
    when = time.strftime('%Y-%m-%d %H:%M:%S')
    report = Report(driver=what, when=when, findings=tuple(findings))
    folder = out or state_dir() / 'driver-checks' / time.strftime('%Y%m%d-%H%M%S')
    save(report, folder)
    _close(output, report, folder)


@contextmanager
def _simulator(namespace: str, *, own: bool) -> Iterator[Callable[[], None]]:
    """Run a simulator that nobody else meets; yield what raises when it has died."""
    from bbllm.ros.rclpy_support.domains import own_domain
    from bbllm.ros.stack.stack import Stack, StackConfig

    with ExitStack() as stack:
        if own:
            choose_domain(stack.enter_context(own_domain()))
        config = StackConfig(nodes=('mujoco_sim',), namespace=namespace)
        yield stack.enter_context(Stack(config)).check


def _nothing() -> None:
    """Look at nothing: a driver that was there before is not ours to watch."""


def _await_driver(client: DriverClient, namespace: str, timeout_s: float | None) -> None:
    from bbllm.nodes.driver_checks.client import READY_S, await_driver

    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    await_driver(
        client, f'under /{namespace.strip("/")} in ROS domain {domain}', timeout_s or READY_S
    )


def _ask(output: Output, allowed: set[str], provoke: Provoke) -> None:
    """Say what will move, and go on only when that is wanted."""
    will = [text for need, text in (('motion', MOTIONS), ('hand', FINGERS)) if need in allowed]
    if 'motion' in allowed and provoke is Provoke.person:
        will.append(STOPS)
    if not will:
        return
    output.say('What will happen:')
    for text in will:
        output.say(f'  {text}')
    if not typer.confirm('Stand beside the robot, the user stop at hand. Go on?', err=True):
        raise typer.Abort


def _provoker(who: Provoke, client: DriverClient, output: Output) -> Provoker | None:
    from bbllm.nodes.driver_checks.provoker import PersonProvoker, SimProvoker

    if who is Provoke.none:
        return None
    if who is Provoke.sim:
        return SimProvoker(client)

    def ask(text: str) -> None:
        output.say(text, 'bold')
        typer.prompt('', default='', show_default=False, prompt_suffix='', err=True)

    return PersonProvoker(ask)


def _tell(output: Output, finding: Finding) -> None:
    output.console.print(
        f'{finding.verdict.value:<8}', style=STYLES[finding.verdict.value], end='', soft_wrap=True
    )
    output.say_line(f'{finding.name:<52} {finding.says}')
    if finding.reason:
        output.say_line(f'{"":8}{finding.reason}')


def _close(output: Output, report: Report, folder: Path) -> None:
    output.say()
    output.say_line(report.summary)
    output.say_path('report', folder)
    output.result({**asdict(report), 'passed': report.passed, 'folder': str(folder)})
    if not report.passed:
        raise typer.Exit(1)


def _compare(output: Output, first: Path, second: Path) -> None:
    from bbllm.nodes.driver_checks.report import compare, differences_page, load

    if first == second:
        raise ConfigError(f'{first} was named twice; name two reports: --compare A B.')
    ours, theirs = load(first), load(second)
    rows = compare(ours, theirs)
    output.say(differences_page(ours, theirs, rows))
    output.say_line(f'{len(rows)} of {len(ours.findings)} checks differ.')
    output.result({'differences': [asdict(row) for row in rows]})
