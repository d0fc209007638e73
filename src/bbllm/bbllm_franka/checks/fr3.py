"""
Checks of `bbllm doctor --fr3`: the way to a Franka Research 3 over libfranka.

They come in the order in which a person meets what they check, and nothing moves. The states of
robot and hand are read over the one connection that each of them grants, for about a second; where
another program of this computer has it, it is left to that.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from shlex import quote

from bbllm.core.findings import Finding, Level, fail, ok
from bbllm.core.plugins import how_to_install
from bbllm_franka.address import ROBOT_IP, is_here, resolved_address
from bbllm_franka.arm_link import ArmLink
from bbllm_franka.checks.computer import (
    check_governor,
    check_kernel,
    check_limits,
    check_network,
    check_route,
    clients_of,
)
from bbllm_franka.checks.desk import DeskLogin, check_desk
from bbllm_franka.checks.mode import judge_mode
from bbllm_franka.checks.states import judge_hand, judge_quality, judge_tool
from bbllm_franka.errors import RobotError
from bbllm_franka.hand import HandLink
from bbllm_franka.libraries import PACKAGES
from bbllm_franka.messages import IGNORE
from bbllm_franka.probe import VERSION

IMPORT_S = 60.0
"""Time limit of the trial of an import, wall clock [s]."""
ROBOT = 'fr3'
TASK = "'put the red cube on location_B'"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotToCheck:
    """Where the robot is, and what is stated about it."""

    address: str = ROBOT_IP
    load_kg: float = 0.0
    """Mass that is meant to be set as load [kg]."""
    login: DeskLogin | None = None
    """A user of Desk; None: Desk is not asked."""


def check_fr3(robot: RobotToCheck, on_progress: Callable[[str], None]) -> Iterator[Finding]:
    """Yield the findings as they are made; `on_progress` is called with what is checked next."""
    on_progress('importing libfranka')
    wheels = [check_wheel(module) for module in PACKAGES]
    yield from wheels
    try:
        resolved = resolved_address(robot.address)
    except RobotError as error:
        yield fail('address', error.fact, error.remedy)
        return
    simulated = is_here(resolved)
    if simulated:
        text = f'{robot.address} is this computer: a simulated robot, by no network'
        yield ok('address', text, 'Every other command needs --simulated-robot with it.')
    else:
        yield check_route(resolved)
        on_progress(f'sending packets to {robot.address}')
        yield check_network(resolved)
    for check in (check_kernel, check_limits, check_governor):
        yield check()
    if all(wheel.level is Level.OK for wheel in wheels):
        yield from _check_robot(robot, resolved, on_progress, simulated=simulated)


def check_wheel(module: str) -> Finding:
    """Check whether a library of the extra `franka` can be imported, in a process of its own."""
    package = PACKAGES[module]
    remedy = f'Install it {how_to_install("franka")}.'
    try:
        found = version(package)
    except PackageNotFoundError:
        return fail(module, f'{package} is not installed', remedy)
    try:
        done = subprocess.run(
            [sys.executable, '-c', f'import {module}'],
            capture_output=True,
            text=True,
            timeout=IMPORT_S,
        )
    except subprocess.TimeoutExpired:
        return fail(module, f'{package} {found}: its import hangs for {IMPORT_S:g} s', remedy)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f'exit code {done.returncode}']
        return fail(module, f'{package} {found} cannot be imported: {lines[-1]}', remedy)
    return ok(module, f'{package} {found}')


def _check_robot(
    robot: RobotToCheck, resolved: str, on_progress: Callable[[str], None], *, simulated: bool
) -> Iterator[Finding]:
    states: list[Finding] = []
    if clients := clients_of(resolved):
        programs = ', '.join(sorted({client.program for client in clients}))
        text = f'connected to {programs}; a robot serves one program, so nothing was read'
        fci = fail('fci', text, 'End that program, and run this check again.')
    else:
        on_progress(f'reading states of {robot.address}, over the one connection that it grants')
        try:
            states = _read(robot, resolved, simulated=simulated)
            fci = ok('fci', f'answers libfranka, with version {VERSION} of the protocol')
        except RobotError as error:
            fci = fail('fci', error.fact, error.remedy)
    yield fci
    on_progress('reading Desk')
    yield from check_desk(robot.address, robot.login)
    yield from states


def _read(robot: RobotToCheck, resolved: str, *, simulated: bool) -> list[Finding]:
    """Read the states of robot and hand once; raises RobotError where the robot gives none."""
    with closing(ArmLink(resolved, realtime=IGNORE, robot=ROBOT)) as link:
        reading, settings = link.read(), link.settings()
    try:
        with closing(HandLink(resolved)) as hand:
            fingers = judge_hand(hand)
    except RobotError as error:
        fingers = fail('hand', error.fact, error.remedy)
    return [
        judge_quality(link.quality, simulated=simulated),
        judge_mode(reading.mode, reading.current_errors, reading.last_errors),
        fingers,
        *judge_tool(settings, robot.load_kg),
    ]


def next_step(robot: RobotToCheck, findings: Sequence[Finding]) -> str:
    """Return what to do and type after these findings."""
    load = f' --load {robot.load_kg:g}' if robot.load_kg else ''
    user = f' --desk-user {quote(robot.login.user)}' if robot.login else ''
    ip = f'--ip {quote(robot.address)}'
    for finding in findings:
        if finding.level is Level.FAIL:
            return f'{finding.remedy}\nbbllm doctor --fr3 {ip}{load}{user}'
    before = 'Give the scene that `bbllm up fci` serves; `bbllm scenes` lists what there is.'
    more = ' --scene first_day --simulated-robot'
    if not is_here(resolved_address(robot.address)):
        slow = any(finding.name == 'kernel' and finding.remedy for finding in findings)
        before = 'Measure the objects into a scene file, here my_table.yaml (docs/scene-files.md).'
        more = ' --scene my_table.yaml' + (' --realtime ignore' if slow else '')
    return f'{before}\nbbllm run {TASK} --robot {ROBOT} {ip}{more}{load}'
