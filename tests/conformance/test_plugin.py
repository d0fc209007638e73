"""The list of checks, permissions, reports and the command line; no driver is needed."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import franka_driver_conformance
from bbllm.cli.main import app
from bbllm.cli.support.verb_group import BAD_INPUT, FAILED
from bbllm.sim import faults
from bbllm_bench.benchmarks.driver import command as bench_driver
from franka_driver_conformance import plugin
from franka_driver_conformance.__main__ import CHECKS, PLUGIN
from franka_driver_conformance.checks.test_frames import Description
from franka_driver_conformance.checks.test_parameters import THRESHOLDS
from franka_driver_conformance.expectations import close
from franka_driver_conformance.report import Finding, Report, differences, load, save
from franka_driver_conformance.stop_scenario import Cause, PersonProvoker
from tests.conformance.conformance_runs import run_checks

pytestmark = pytest.mark.ros

SOURCES = sorted(Path(franka_driver_conformance.__file__).parent.rglob('*.py'))


def bench(*words: object) -> Result:
    return CliRunner().invoke(app, ['bench', 'driver', *map(str, words)])


def report(driver: str, *findings: tuple[str, str, dict[str, object]]) -> Report:
    return Report(
        driver=driver,
        when='2026-01-01 12:00:00',
        findings=tuple(
            Finding(name=name, says='It does.', theme='it', source='fr', verdict=verdict, **more)  # type: ignore[arg-type]
            for name, verdict, more in findings
        ),
    )


def test_each_check_is_in_the_list_with_its_markers() -> None:
    class Collector:
        def pytest_collection_finish(self, session: pytest.Session) -> None:
            self.marks = {
                plugin.check_name(item): {mark.name for mark in item.iter_markers()}
                & set(plugin.MARKERS)
                for item in session.items
            }

    collector = Collector()
    pytest.main([*PLUGIN, str(CHECKS), '--collect-only', '-qq'], plugins=[collector])

    listed = {
        name: {mark.strip('` ') for mark in marks.split(',') if mark}
        for name, (_, marks, _) in plugin.documented().items()
    }
    assert len(collector.marks) == 147
    assert collector.marks == listed
    for name, (text, _, source) in plugin.documented().items():
        assert text.endswith('.'), name
        assert '.' in source or source.startswith('fr '), name


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: path.name)
def test_package_needs_nothing_of_bbllm(path: Path) -> None:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)

    ours = {name for name in names if name.startswith('bbllm')}
    assert ours <= ({'bbllm_interfaces.srv'} if path.name == 'stop_scenario.py' else set())


def test_thresholds_are_those_that_the_simulator_starts_with() -> None:
    monitor = faults.FaultMonitor()
    for side, ours in (('lower', monitor.lower), ('upper', monitor.upper)):
        torques, wrench = (THRESHOLDS[f'{side}_{part}_thresholds'] for part in ('torque', 'force'))
        assert [*ours] == [*torques, *wrench]


@pytest.mark.parametrize(
    ('options', 'reasons'),
    [
        ((), ('--allow-motion', '--allow-hand', '--provoke')),
        (('--robot-gripper=none', '--allow-hand'), ('--allow-motion', 'none', '--provoke')),
        (('--provoke=sim',), ('--allow-motion', '--allow-hand', '--allow-motion')),
    ],
)
def test_check_that_is_not_allowed_is_skipped_with_the_option_that_allows_it(
    tmp_path: Path, options: tuple[str, ...], reasons: tuple[str, ...]
) -> None:
    names = ('no-points-are-rejected', 'homing-succeeds', 'reflex-ends-the-goal')

    run = run_checks(tmp_path, *options, *(f'--check={name}' for name in names))

    assert run.code == 0
    for name, reason in zip(names, reasons, strict=True):
        assert run.findings[name]['verdict'] == 'skipped'
        assert reason in run.findings[name]['reason']


def test_missing_driver_ends_the_run(
    tmp_path: Path, empty_domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(empty_domain))

    run = run_checks(tmp_path, '--robot-namespace=arm', '--await-driver=0.5')

    assert run.code == 1
    assert f'No driver answers under /arm in ROS domain {empty_domain}' in run.output


def test_pattern_that_fits_no_check_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    run = run_checks(tmp_path, '--check=six-joint-are-rejected')

    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert 'Did you mean six-joints-are-rejected' in run.output


def test_numbers_of_another_length_and_nan_are_not_close() -> None:
    assert close([1.0, 2.0], 0.01) == [1.0, 2.001]
    for wrong in ([1.0], [1.0, 2.1], [1.0, float('nan')]):
        assert wrong != close([1.0, 2.0], 0.01)


def test_description_gives_poses_of_links() -> None:
    joint = (
        '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>'
        '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 1"/></joint>'
    )
    links = ''.join(f'<link name="{name}"/>' for name in ('tool', 'base', 'arm'))
    joints = joint.format('j1', 'revolute', 'base', 'arm')
    joints += joint.format('j2', 'fixed', 'arm', 'tool')

    description = Description(f'<robot name="r">{links}{joints}</robot>')

    assert description.root == 'base'
    assert description.types(('j1', 'j2')) == ['revolute', 'fixed']
    assert list(description.pose('tool', {})[:3, 3]) == close([1, 1, 0], 1e-9)
    turned = description.pose('tool', {'j1': 1.5707963267948966})
    assert list(turned[:3, 3]) == close([0, 0, 0], 1e-9)


@pytest.mark.parametrize(
    ('moving', 'questions'),
    [(True, ['keep it pressed', 'Release']), (False, ['Now press', 'Release'])],
)
def test_person_is_asked_where_no_motion_shows_the_stop(
    moving: bool, questions: list[str]
) -> None:
    asked: list[str] = []
    person = PersonProvoker(asked.append)

    person.prepare(Cause.USER_STOP, moving)
    person.provoke(Cause.USER_STOP)
    person.release(Cause.USER_STOP)

    assert len(asked) == 2
    assert all(words in text for words, text in zip(questions, asked, strict=True))


def test_reports_are_read_as_written_and_compared_by_the_command(tmp_path: Path) -> None:
    sim = report('sim', ('a', 'pass', {'evidence': {'width': 1}}), ('b', 'pass', {}))
    arm = report('arm', ('a', 'pass', {'evidence': {'width': 2}}), ('c', 'FAIL', {'reason': 'no'}))
    for run in (sim, arm):
        save(run, tmp_path / run.driver)

    assert load(tmp_path / 'arm') == arm
    assert arm.summary == '1 of 2 checks passed, 1 failed: arm.'
    assert '| `c` | It does. | FAIL: no |' in (tmp_path / 'arm' / 'driver-checks.md').read_text()
    assert differences(sim, arm) == [
        {'name': 'a', 'first': 'pass: {"width": 1}', 'second': 'pass: {"width": 2}'},
        {'name': 'b', 'first': 'pass', 'second': 'not in this run'},
        {'name': 'c', 'first': 'not in this run', 'second': 'FAIL: no'},
    ]
    command = [sys.executable, '-m', 'bbllm', 'bench', 'driver', '--compare', 'sim', 'arm']
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '3 of 2 checks differ.' in done.stdout
    bad = subprocess.run([*command[:-1], 'nothing'], capture_output=True, text=True, cwd=tmp_path)
    assert bad.returncode == FAILED
    assert 'is no report' in bad.stderr


def test_command_names_how_to_install_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_driver, 'PACKAGE', 'of_this_name_there_is_none')

    done = bench('--sim')

    assert done.exit_code == BAD_INPUT
    assert 'make setup' in done.stderr


@pytest.mark.slow
def test_command_starts_a_simulator_and_prints_one_object(tmp_path: Path) -> None:
    command = [sys.executable, '-m', 'bbllm', 'bench', 'driver', '--sim', '--json']
    command += ['--only', 'three-controllers-are-active', '--only', 'no-points-are-rejected']
    command += ['--out', str(tmp_path / 'run')]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120.0)

    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data['passed'] is True
    assert [finding['verdict'] for finding in data['findings']] == ['pass', 'pass']
    assert {path.name for path in (tmp_path / 'run').iterdir()} == {
        'driver-checks.json',
        'driver-checks.md',
    }
