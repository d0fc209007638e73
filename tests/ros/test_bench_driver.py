"""`bbllm bench driver`, as people and programs use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from stacks import Running
from typer.testing import CliRunner, Result

from bbllm.cli.commands import bench_driver
from bbllm.cli.main import app
from bbllm.cli.verb_group import BAD_INPUT, FAILED
from bbllm.nodes.driver_checks import client
from bbllm.nodes.driver_checks.report import JSON_FILE, PAGE_FILE

pytestmark = pytest.mark.ros

PATIENCE_S = 120.0


@pytest.fixture
def alone(empty_domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put this process where no driver is, and let it notice soon."""
    monkeypatch.setenv('ROS_DOMAIN_ID', str(empty_domain))
    monkeypatch.setattr(client, 'READY_S', 0.5)


def run(*words: object, typed: str | None = None) -> Result:
    return CliRunner().invoke(app, ['bench', 'driver', *map(str, words)], input=typed)


@pytest.mark.slow
def test_one_command_starts_a_simulator_and_checks_it(tmp_path: Path) -> None:
    command = [sys.executable, '-m', 'bbllm', 'bench', 'driver', '--sim', '--json']
    command += ['--only', 'three-controllers-are-active', '--only', 'no-points-are-rejected']
    command += ['--out', str(tmp_path / 'run'), '--record', str(tmp_path / 'said.jsonl')]

    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)

    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    assert data['passed'] is True
    assert [finding['verdict'] for finding in data['findings']] == ['pass', 'pass']
    assert {path.name for path in (tmp_path / 'run').iterdir()} == {JSON_FILE, PAGE_FILE}
    said = [json.loads(line) for line in (tmp_path / 'said.jsonl').read_text().splitlines()]
    follow = 'fr3_arm_controller/follow_joint_trajectory'
    assert ('rejected', follow) in [(line['what'], line['name']) for line in said]


@pytest.mark.usefixtures('alone')
def test_where_no_driver_answers_that_is_said_with_what_to_do() -> None:
    done = run('--namespace', 'arm')

    assert done.exit_code == FAILED
    assert 'No driver answers under /arm' in done.stderr
    assert 'bbllm bench driver --sim' in done.stderr


@pytest.mark.usefixtures('alone')
def test_nothing_is_sent_when_the_question_is_answered_with_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, 'await_driver', lambda *_: None)
    said = tmp_path / 'said.jsonl'

    done = run(
        '--allow-motion', '--allow-hand', '--provoke', 'person', '--record', said, typed='n\n'
    )

    assert done.exit_code == FAILED
    for word in ('joint 7', 'the fingers', 'made to stop'):
        assert word in done.stdout
    assert said.read_text() == ''


def test_robot_that_somebody_else_commands_is_not_moved(
    running: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module, name in ((client, 'READY_S'), (bench_driver, 'FIND_S')):
        monkeypatch.setattr(module, name, PATIENCE_S)
    said = tmp_path / 'said.jsonl'
    chosen = ('--only', 'three-controllers-are-active', '--out', tmp_path / 'run')
    chosen += ('--namespace', running.stack.config.namespace)

    moving = [
        run(f'--allow-{what}', '--yes', '--record', said, *chosen) for what in ('motion', 'hand')
    ]
    looking = run(*chosen)

    for done in moving:
        assert done.exit_code == FAILED
        assert 'Others command this robot too: /bbllm/fr3_executor.' in done.stderr
        assert 'franka_driver.launch.py' in done.stderr
    assert said.read_text() == ''
    assert looking.exit_code == 0, looking.stderr


def test_two_reports_are_shown_side_by_side(tmp_path: Path) -> None:
    finding = {'name': 'it-does', 'says': 'It does.', 'theme': 'it', 'source': 'fr 1.7'}
    for name, verdict in (('sim', 'pass'), ('arm', 'FAIL')):
        (tmp_path / name).mkdir()
        report = {'driver': name, 'when': '', 'findings': [{**finding, 'verdict': verdict}]}
        (tmp_path / name / JSON_FILE).write_text(json.dumps(report))

    done = run('--compare', tmp_path / 'sim', tmp_path / 'arm')

    assert done.exit_code == 0
    assert '| `it-does` | pass | FAIL |' in done.stdout
    assert '1 of 1 checks differ.' in done.stdout


def test_pattern_that_fits_no_check_is_bad_input() -> None:
    done = run('--only', 'nothing-like-it')

    assert done.exit_code == BAD_INPUT
    assert "No check fits 'nothing-like-it'" in done.stderr
