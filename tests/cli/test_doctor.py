"""What the doctor finds, and what it says to do about it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.cli.checks import machine as checkup
from bbllm.cli.checks.machine import (
    Finding,
    Level,
    check_compilers,
    check_models,
    check_packages,
    check_rendering,
    check_ros,
    check_state,
)
from bbllm.cli.commands import doctor

Command = Callable[..., Result]


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that sets what the doctor finds."""

    def find(*found: Finding) -> None:
        monkeypatch.setattr(doctor, 'CHECKS', (lambda: list(found),))

    return find


def test_a_warning_leaves_the_demo_working(bbllm: Command, findings: Callable[..., None]) -> None:
    findings(Finding('ros', Level.WARN, 'none', 'make setup'))

    result = bbllm('doctor')

    assert result.exit_code == 0
    assert 'warn  ros' in result.stdout
    assert '→ make setup' in result.stdout


def test_a_failure_means_that_the_demo_does_not_work(
    bbllm: Command, findings: Callable[..., None]
) -> None:
    findings(Finding('python', Level.OK, '3.12'), Finding('packages', Level.FAIL, 'none'))

    result = bbllm('doctor', '--json')

    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert data['demo_works'] is False
    assert [entry['level'] for entry in data['findings']] == ['ok', 'fail']


def test_a_state_folder_that_cannot_be_written_to_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where a folder should be stops even root, whom permissions do not.
    (tmp_path / 'bbllm').write_text('')
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))

    finding = check_state()

    assert finding.level is Level.FAIL
    assert 'XDG_STATE_HOME' in finding.remedy


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        checkup.importlib.util, 'find_spec', lambda name: None if name == 'ruckig' else object()
    )

    finding = check_packages()

    assert finding.level is Level.FAIL
    assert 'ruckig' in finding.text


def test_a_missing_compiler_is_a_warning_with_its_debian_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkup, '_which', lambda tool: None if tool == 'c++' else '/bin/true')

    finding = check_compilers()

    assert finding.level is Level.WARN
    assert 'apt install g++' in finding.remedy


def test_no_way_to_render_names_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, '_python', lambda code, **environment: 'no GL')

    finding = check_rendering()

    assert finding.level is Level.WARN
    assert 'libosmesa6' in finding.remedy


def test_a_shell_without_ros_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup.importlib.util, 'find_spec', lambda name: None)

    (finding,) = check_ros()

    assert finding.level is Level.WARN
    assert finding.remedy


def test_a_trial_that_fails_returns_its_last_words() -> None:
    assert checkup._python('raise SystemExit("no GL here")') == 'no GL here'
    assert checkup._python('pass') is None


def test_a_server_that_is_down_fails_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(('127.0.0.1', 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv('OPENAI_BASE_URL', f'http://127.0.0.1:{port}/v1')
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-this-is-a-secret-0123456789')

    findings = check_models()

    assert {finding.level for finding in findings} == {Level.FAIL}
    assert '--brain offline' in findings[0].remedy
    assert 'secret' not in str(findings)


def test_the_stand_in_is_called_a_stand_in() -> None:
    assert all('not a language model' in finding.text for finding in check_models())


def test_the_middleware_is_named_and_where_its_name_comes_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')
    monkeypatch.delenv('RMW_IMPLEMENTATION', raising=False)

    finding = next(finding for finding in check_ros() if finding.name == 'rmw')

    assert finding.level is Level.OK
    assert finding.text == 'rmw_fastrtps_cpp, the default of bbllm'


def test_a_middleware_that_is_not_there_is_a_warning_and_ends_nothing(
    bbllm: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')
    monkeypatch.setenv('RMW_IMPLEMENTATION', 'rmw_of_nobody')

    result = bbllm('doctor', '--json')

    findings = {entry['name']: entry for entry in json.loads(result.stdout)['findings']}
    assert findings['rmw']['level'] == 'warn'
    assert 'rmw_of_nobody, $RMW_IMPLEMENTATION, does not work' in findings['rmw']['text']
    assert 'stack' not in findings
