"""`bbllm doctor`: what works on this machine, and what to do about what does not."""

import os
import sys
from contextlib import nullcontext
from functools import partial

import typer
from pydantic import SecretStr
from rich.text import Text

from bbllm.api.config import ArmChoice
from bbllm.api.ros_environment import choose_domain
from bbllm.cli.support.options import JsonOption, domain_option
from bbllm.cli.support.requests import flag, option
from bbllm.cli.support.verb_group import FAILED
from bbllm.cli.views.output import Output
from bbllm.core.constants import checked_namespace
from bbllm.core.errors import ConfigError
from bbllm.core.findings import Finding, Level
from bbllm.core.records import to_json
from bbllm.core.registry import BRAIN_AND_BODY, fallback_name
from bbllm_franka.address import ROBOT_IP
from bbllm_franka.checks.desk import DeskLogin
from bbllm_ros.checks.machine import check_machine
from bbllm_ros.checks.real_arm import RealArm, check_real_arm

MARKS = {Level.OK: 'green', Level.WARN: 'yellow', Level.FAIL: 'bold red'}
EITHER, FR3, REAL = 'With --fr3 or --real', 'With --fr3', 'With --real'
PASSWORD = 'BBLLM_DESK_PASSWORD'
"""Environment variable from which the password of Desk may come."""


def doctor(
    *,
    fr3: bool = flag(
        'Check a Franka Research 3 and the way to it over libfranka, without ROS: for '
        '`bbllm run --robot fr3` and `bbllm up fr3`.'
    ),
    real: bool = flag(
        'Check a real arm behind the driver of franka_ros2, over ROS: for `franka_real.launch.py`.'
    ),
    ip: str | None = option(
        f"The robot's control; {ROBOT_IP} by default.", metavar='ADDRESS', panel=EITHER
    ),
    load_kg: float | None = option(
        ArmChoice.model_fields['load_kg'].description or '',
        '--load',
        metavar='KG',
        min=0.0,
        max=3.0,
        panel=FR3,
    ),
    desk_user: str | None = option(
        'A user of Desk, to read brakes, FCI, control and safety there. Asks for the password, or '
        f'takes it from ${PASSWORD}; it is stored nowhere.',
        panel=FR3,
    ),
    namespace: str | None = option(
        'Where the names of a stack lie, all stacks by default; with --real those of the driver, '
        "`bbllm_real` by default, '' for none."
    ),
    gripper: str | None = option(
        "Prefix of the hand's names; `franka_gripper` by default.", panel=REAL
    ),
    domain: int | None = domain_option(),
    json: JsonOption = False,
) -> None:
    """
    Check this machine: Python, models, ROS, rendering; print what to do.

    Exit code 0 when `bbllm demo` works here. With --fr3: libfranka, the
    network, this machine's real-time set-up, the robot, its hand and load, and
    the next command; its states are read for a second, over the one connection
    that it grants. With --real: the same of the network and this machine, the
    driver, and what stands between a plan and a motion. Exit code 0 when
    nothing is in the way of using the arm. Nothing moves.

    Examples:
      bbllm doctor
      bbllm doctor --fr3 --ip 172.16.0.2
      bbllm doctor --fr3 --ip 172.16.0.2 --desk-user admin
      bbllm doctor --real --ip 172.16.0.2
    """
    output = Output(json)
    choose_domain(domain)
    if fr3 and real:
        raise ConfigError('--fr3 and --real are two ways to a robot: check one at a time.')
    _refuse(fr3, FR3, {'--load': load_kg, '--desk-user': desk_user})
    _refuse(real, REAL, {'--gripper': gripper})
    _refuse(fr3 or real, EITHER, {'--ip': ip})
    _refuse(not fr3, 'Without --fr3', {'--namespace': namespace})
    if namespace and namespace.strip('/'):
        namespace = checked_namespace(namespace)
    # Not at the top: MuJoCo takes a second, which --help need not.
    from bbllm_franka.checks.fr3 import RobotToCheck, check_fr3, next_step

    robot = RobotToCheck(address=ip or ROBOT_IP, load_kg=load_kg or 0.0, login=_login(desk_user))
    key, verdicts = 'arm_ready', ('The arm can be used.', 'The arm cannot be used yet.')
    if fr3:
        checks = partial(check_fr3, robot)
    elif real:
        chosen = {'robot_ip': ip, 'namespace': namespace, 'gripper': gripper}
        given = {name: value.strip('/') for name, value in chosen.items() if value is not None}
        checks = partial(check_real_arm, RealArm(**given))
    else:
        checks = partial(check_machine, namespace)
        key = 'demo_works'
        verdicts = ('`bbllm demo` works here.', '`bbllm demo` does not work here.')
    findings = []
    status = output.console.status('looking ...') if output.live else None
    with status or nullcontext():
        for finding in checks(lambda doing: status.update(f'{doing} ...') if status else None):
            findings.append(finding)
            if not output.json:
                _print(finding, output)
    failed = {finding.name for finding in findings if finding.level is Level.FAIL}
    works = not failed
    following = next_step(robot, findings) if fr3 else ''
    if not output.json:
        verdict = verdicts[0] if works else verdicts[1]
        if failed and failed <= set(BRAIN_AND_BODY) and not (fr3 or real):
            stand_ins = ' '.join(f'--{role} {fallback_name()}' for role in sorted(failed))
            verdict = f'Without that language model, `bbllm demo {stand_ins}` works here.'
        output.print()
        output.print(verdict)
        if following:
            output.print(f'Next: {following}')
    more = {'next': following} if fr3 else {}
    output.result({key: works, **more, 'findings': to_json(findings)})
    raise typer.Exit(0 if works else FAILED)


def _refuse(taken: bool, where: str, options: dict[str, object]) -> None:
    """Raise ConfigError where options were given that are not taken."""
    if not taken and (names := [name for name, value in options.items() if value is not None]):
        raise ConfigError(
            f'{", ".join(names)}: only {where.lower()}, as `bbllm doctor --help` lists.'
        )


def _login(user: str | None) -> DeskLogin | None:
    """Return a user of Desk with the password, which no other process inherits."""
    if user is None:
        return None
    password = os.environ.pop(PASSWORD, '')
    if not password and not sys.stdin.isatty():
        raise ConfigError(f'There is no terminal to ask for the password: set {PASSWORD}.')
    if not password:
        password = typer.prompt(f'Password of {user} in Desk', hide_input=True, err=True)
    return DeskLogin(user=user, password=SecretStr(password))


def _print(finding: Finding, output: Output) -> None:
    line = Text()
    line.append(f'{finding.level.value:<4}', MARKS[finding.level])
    line.append(f'  {finding.name:<11} {finding.text}')
    output.console.print(line)
    if finding.remedy:
        output.console.print(Text(f'{"":18}→ {finding.remedy}', 'cyan'))
