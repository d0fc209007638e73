"""The command line of `bbllm doctor --fr3`; what it checks is in tests/franka and tests/fci."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from bbllm.core.findings import Finding, Level
from bbllm_bench.commands import doctor
from bbllm_franka.address import ROBOT_IP
from bbllm_franka.checks import fr3

Command = Callable[..., Result]
SECRET = 'not-to-be-printed-4711'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the robots that are asked to be checked; nothing is connected to."""
    robots: list[Any] = []

    def check(robot: Any, report: Callable[[str], None]) -> list[Finding]:
        robots.append(robot)
        return [Finding('desk', Level.FAIL, repr(robot), 'Unlock the joints.')]

    monkeypatch.setattr(fr3, 'check_fr3', check)
    return robots


def test_the_report_ends_with_what_to_do_and_type(bbllm: Command, asked: list[Any]) -> None:
    printed = bbllm('doctor', '--fr3', '--load', '0.5')
    data = json.loads(bbllm('doctor', '--fr3', '--ip', '172.16.0.9', '--json').stdout)

    assert printed.exit_code == 1
    assert 'The arm cannot be used yet.\nNext: Unlock the joints.\n' in printed.stdout
    assert printed.stdout.endswith(f'bbllm doctor --fr3 --ip {ROBOT_IP} --load 0.5\n')
    assert [robot.address for robot in asked] == [ROBOT_IP, '172.16.0.9']
    assert (data['arm_ready'], data['next'][-10:]) == (False, '172.16.0.9')


def test_the_password_goes_to_the_client_of_desk_and_nowhere_else(
    bbllm: Command, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(doctor.PASSWORD, SECRET)

    result = bbllm('doctor', '--fr3', '--desk-user', 'admin', '--json')

    assert asked[0].login.password.get_secret_value() == SECRET
    assert doctor.PASSWORD not in os.environ  # so that no process inherits it
    assert SECRET not in result.output
    assert json.loads(result.stdout)['next'].endswith('--desk-user admin')


def test_without_a_terminal_the_password_has_to_be_in_the_environment(
    bbllm: Command, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(doctor.PASSWORD, raising=False)

    result = bbllm('doctor', '--fr3', '--desk-user', 'admin')

    assert (result.exit_code, asked) == (2, [])
    assert 'set BBLLM_DESK_PASSWORD' in result.output


@pytest.mark.parametrize(
    ('words', 'text'),
    [
        (['--load', '1'], '--load: only with --fr3'),
        (['--real', '--desk-user', 'admin'], '--desk-user: only with --fr3'),
        (['--fr3', '--gripper', 'hand'], '--gripper: only with --real'),
        (['--fr3', '--namespace', 'left'], '--namespace: only without --fr3'),
        (['--fr3', '--real'], 'two ways to a robot'),
    ],
)
def test_options_of_another_way_are_refused(
    bbllm: Command, asked: list[Any], words: list[str], text: str
) -> None:
    result = bbllm('doctor', *words)

    assert (result.exit_code, asked) == (2, [])
    assert text in result.output
