"""`bbllm doctor`: what works on this machine, and what to do about what does not."""

from contextlib import nullcontext
from functools import partial

import typer
from rich.text import Text

from bbllm.api.ros_environment import choose_domain
from bbllm.api.settings import flag_of
from bbllm.cli.support.options import JsonOption, domain_option
from bbllm.cli.support.requests import flag, option
from bbllm.cli.support.verb_group import FAILED
from bbllm.cli.views.output import Output
from bbllm.core.constants import checked_namespace
from bbllm.core.errors import ConfigError
from bbllm.core.records import to_json
from bbllm.core.registry import BRAIN_AND_BODY, fallback_name
from bbllm_ros.checks.machine import Finding, Level, check_machine
from bbllm_ros.checks.real_arm import ROBOT_IP, RealArm, check_real_arm

MARKS = {Level.OK: 'green', Level.WARN: 'yellow', Level.FAIL: 'bold red'}
REAL = 'With --real'


def doctor(
    *,
    real: bool = flag('Check a real arm and its driver instead.'),
    robot_ip: str | None = option(
        f"The robot's control; {ROBOT_IP} by default.", metavar='ADDRESS', panel=REAL
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

    Exit code 0 when `bbllm demo` works here. With --real: the robot's network,
    this machine's real-time set-up, the driver, the hand, and what stands
    between a plan and a motion; exit code 0 when nothing is in the way of
    using the arm. Nothing moves.
    """
    output = Output(json)
    choose_domain(domain)
    options = {'robot_ip': robot_ip, 'gripper': gripper}
    chosen = {name: value.strip('/') for name, value in options.items() if value is not None}
    if chosen and not real:
        names = ', '.join(map(flag_of, chosen))
        raise ConfigError(f'{names}: only with --real, as in `bbllm doctor --real`.')
    if namespace and namespace.strip('/'):
        namespace = checked_namespace(namespace)
    if real:
        if namespace is not None:
            chosen['namespace'] = namespace.strip('/')
        checks = partial(check_real_arm, RealArm(**chosen))
        key, verdicts = 'arm_ready', ('The arm can be used.', 'The arm cannot be used yet.')
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
    if not output.json:
        verdict = verdicts[0] if works else verdicts[1]
        if failed and failed <= set(BRAIN_AND_BODY) and not real:
            stand_ins = ' '.join(f'--{role} {fallback_name()}' for role in sorted(failed))
            verdict = f'Without that language model, `bbllm demo {stand_ins}` works here.'
        output.print()
        output.print(verdict)
    output.result({key: works, 'findings': to_json(findings)})
    raise typer.Exit(0 if works else FAILED)


def _print(finding: Finding, output: Output) -> None:
    line = Text()
    line.append(f'{finding.level.value:<4}', MARKS[finding.level])
    line.append(f'  {finding.name:<11} {finding.text}')
    output.console.print(line)
    if finding.remedy:
        output.console.print(Text(f'{"":18}→ {finding.remedy}', 'cyan'))
