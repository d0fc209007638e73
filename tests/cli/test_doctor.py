"""What the doctor finds, and what it says to do about it."""

import json
import os
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from typer.testing import Result

from bbllm.core.findings import Finding, Level
from bbllm.core.plugins import forget
from bbllm_bench.commands import doctor
from bbllm_ros.checks import machine
from bbllm_ros.checks.real_arm import DRIVER, MESSAGES, check_messages, check_safety

Command = Callable[..., Result]
OTHERS = 'from other packages'


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that sets what the doctor finds."""

    def find(*found: Finding) -> None:
        monkeypatch.setattr(doctor, 'check_machine', lambda namespace, on_progress: found)

    return find


def test_a_warning_leaves_the_demo_working_and_a_failure_does_not(
    bbllm: Command, findings: Callable[..., None]
) -> None:
    findings(Finding('ros', Level.WARN, 'none', 'make setup'))
    warned = bbllm('doctor')
    assert warned.exit_code == 0
    assert 'warn  ros' in warned.stdout and '→ make setup' in warned.stdout

    findings(Finding('python', Level.OK, '3.12'), Finding('packages', Level.FAIL, 'none'))

    result = bbllm('doctor', '--json')

    data = json.loads(result.stdout)
    assert (result.exit_code, data['demo_works']) == (1, False)
    assert [entry['level'] for entry in data['findings']] == ['ok', 'fail']


def test_a_model_that_fails_leaves_the_demo_to_the_stand_in(
    bbllm: Command, findings: Callable[..., None]
) -> None:
    findings(Finding('brain', Level.FAIL, 'm answers 401'), Finding('body', Level.OK, 'there'))
    without = bbllm('doctor').stdout
    findings(Finding('brain', Level.FAIL, 'm answers 401'), Finding('packages', Level.FAIL, ''))
    broken = bbllm('doctor').stdout

    assert without.endswith('`bbllm demo --brain offline` works here.\n')
    assert 'does not work' not in without
    assert 'bbllm demo --brain' not in broken


def test_what_other_packages_add_is_listed_with_what_is_left_out_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / 'nodding-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: nodding\nVersion: 1.0\n')
    (about / 'entry_points.txt').write_text(
        '[bbllm.skills]\nnod = nodding:no\n[bbllm.robots]\nmine = nodding:MINE\n'
        '[bbllm.planners]\ngone = nodding:GONE\n'
        'hello = bbllm.planners.brain_body.base_llm:BASE_LLM\n'
    )
    (tmp_path / 'nodding.py').write_text(
        'from dataclasses import replace\nfrom bbllm.robots.fr3 import FR3\n'
        "no, MINE = 3, replace(FR3, name='mine')"
    )
    try:
        with monkeypatch.context() as changed:
            changed.syspath_prepend(str(tmp_path))
            forget()
            skills, robots, planners = machine.check_plugins()
    finally:
        forget()

    assert (skills.level, robots) == (Level.WARN, machine.ok('robots', f'{OTHERS}: mine'))
    assert skills.text.startswith(f'{OTHERS}: none. The skill nod (nodding:no of nodding) is left')
    assert planners.text.startswith(f'{OTHERS}: hello. The planner gone is installed, but')
    assert [each.text for each in machine.check_plugins()] == [f'{OTHERS}: none'] * 3


def test_a_state_folder_that_cannot_be_written_to_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where a folder should be stops even root, whom permissions do not.
    (tmp_path / 'bbllm').write_text('')
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))

    finding = machine.check_state()

    assert (finding.level, 'XDG_STATE_HOME' in finding.remedy) == (Level.FAIL, True)


def test_a_server_that_is_down_fails_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(('127.0.0.1', 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv('OPENAI_BASE_URL', f'http://127.0.0.1:{port}/v1')
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-this-is-a-secret-0123456789')

    findings = machine.check_models()

    assert {finding.level for finding in findings} == {Level.FAIL}
    assert '--brain offline' in findings[0].remedy
    assert 'secret' not in str(findings)


def test_the_middleware_is_named_and_one_that_is_not_there_ends_nothing(
    bbllm: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')
    monkeypatch.delenv('RMW_IMPLEMENTATION', raising=False)
    finding = next(finding for finding in machine.check_ros() if finding.name == 'rmw')
    assert finding.level is Level.OK
    assert finding.text.startswith('rmw_fastrtps_cpp, the default of bbllm, domain ')

    monkeypatch.setenv('RMW_IMPLEMENTATION', 'rmw_of_nobody')

    result = bbllm('doctor', '--json')

    findings = {entry['name']: entry for entry in json.loads(result.stdout)['findings']}
    middleware = findings['rmw']
    assert middleware['level'] == 'warn'
    assert re.search('rmw_of_nobody, .RMW_IMPL.*, domain.* does not work', middleware['text'])
    assert 'stack' not in findings


def test_interfaces_that_are_older_than_the_program_are_a_finding_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')
    old = tmp_path / 'bbllm_interfaces'
    old.mkdir()
    for name in ('__init__', 'action', 'msg', 'srv'):
        (old / f'{name}.py').write_text('')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(tmp_path), *sys.path]))
    with mock.patch.dict(sys.modules):  # so that no later test has the old ones
        for name in [*sys.modules]:
            if name.startswith(('bbllm_interfaces', 'bbllm_ros.stack.client')):
                del sys.modules[name]
        *_, finding = machine.check_ros()
        unchecked = machine.check_stack(None)

    assert (finding.name, finding.level) == ('interfaces', Level.WARN)
    assert 'older than bbllm_ros: ImportError: cannot import name' in finding.text
    assert finding.remedy.startswith('make setup')
    assert unchecked == []


def package(prefix: Path, name: str, version: str, about: str) -> None:
    folder = prefix / 'share' / name
    folder.mkdir(parents=True)
    text = f'<package><version>{version}</version><description>{about}</description></package>'
    (folder / 'package.xml').write_text(text)


def test_stand_ins_for_messages_are_distinguished_from_the_drivers_own(tmp_path: Path) -> None:
    for name in MESSAGES:
        package(tmp_path / 'ours', name, '3.4.0', 'What bbllm uses of it')
    for name in (*DRIVER, 'franka_msgs'):
        package(tmp_path / 'driver', name, '3.5.1', 'By its makers')
    ours, driver = tmp_path / 'ours', tmp_path / 'driver'

    alone, mixed = list(check_messages([ours])), list(check_messages([driver, ours]))

    assert [(item.level, 'stand-ins' in item.text) for item in alone] == [(Level.OK, True)]
    assert "the driver's own: franka_msgs 3.5.1" in mixed[0].text
    assert (mixed[1].level, mixed[1].remedy[:24]) == (Level.WARN, 'With the driver sourced:')
    assert [item.level for item in check_messages([tmp_path])] == [Level.FAIL]


def test_a_safety_file_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('tcp_sped: {max_m_s: 1}')

    assert check_safety({}).level is Level.OK
    finding = check_safety({'safety': str(path)})
    assert (finding.level, "did you mean 'tcp_speed'" in finding.text) == (Level.FAIL, True)


def test_constraints_are_listed_with_the_safety_rules() -> None:
    never = 'touch the laptop; move any cube'
    finding = check_safety({'safety': 'safety_slow', 'never': never, 'keep_out': '0 0 0 1 1 1'})

    assert finding.level is Level.OK
    assert finding.text.endswith('; never touch the laptop; never move any cube')
    assert '; keep_out box_1: 1 x 1 x 1 m, from (0, 0, 0) to (1, 1, 1) m;' in finding.text
    assert check_safety({'never': 'eat the cube'}).level is Level.FAIL
