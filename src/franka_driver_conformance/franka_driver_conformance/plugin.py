"""The pytest plugin: options, what may be done to the robot, and the report."""

from __future__ import annotations

import difflib
import fnmatch
import functools
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from franka_driver_conformance.report import Finding, Report, save

if TYPE_CHECKING:
    from franka_driver_conformance.client import DriverClient

FOLDER = Path(__file__).parent
MARKERS = {
    'moves_arm': 'sends goals to the arm, switches controllers or sets parameters of the robot',
    'moves_hand': 'moves the fingers, which hold nothing',
    'stops_robot': 'needs somebody who makes the robot stop while it moves',
    'hand': 'applies only where a hand is mounted',
    'ptp': 'uses point-to-point motions that the robot plans itself',
}
ORDER = ('moves_arm', 'moves_hand', 'stops_robot')
"""Checks that only look come first, those that stop the robot last."""
MOTIONS = (
    "joint 7 turns by less than 0.1 rad, some forty times, 2 to 6 s each; the arm's controller is "
    'deactivated and activated; the collision thresholds become those of the examples'
)
FINGERS = 'the fingers open and close, with up to 20 N; keep everything out from between them'
STOPS = 'you make the robot stop three times, and it is brought back each time'
FINDINGS = pytest.StashKey[dict[str, Finding]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup('franka driver conformance').addoption
    add('--robot-namespace', default='', metavar='NAME', help="The driver's; '' for none.")
    add('--robot-controller', default='fr3_arm_controller', help="Name of the arm's controller.")
    add('--robot-gripper', default='franka_gripper', help='Prefix of the hand, or none.')
    add('--allow-motion', action='store_true', help=f'Allow motions: {MOTIONS}.')
    add('--allow-hand', action='store_true', help=f'Allow the hand: {FINGERS}.')
    add(
        '--provoke',
        choices=('none', 'sim', 'socket', 'person'),
        default='none',
        help='What makes the robot stop: mujoco_sim of bbllm, a simulated robot below the '
        'driver at --provoke-socket, or you, when you are asked.',
    )
    add('--provoke-socket', metavar='PATH', help='Of a simulated robot that takes lines.')
    add('--check', action='append', default=[], metavar='PATTERN', help='Only these checks.')
    add('--yes', action='store_true', help='Do not ask before something moves.')
    add('--conformance-report', metavar='DIR', help='Folder for the report (Markdown and JSON).')
    add('--record-messages', metavar='FILE', help='Keep all messages as lines of JSON.')
    add('--patience', type=float, default=5.0, help='Limit for what is done at once [s].')
    add('--await-driver', type=float, default=10.0, help='Limit for finding the driver [s].')


def pytest_configure(config: pytest.Config) -> None:
    for name, text in MARKERS.items():
        config.addinivalue_line('markers', f'{name}: {text}')
    config.stash[FINDINGS] = {}


def is_check(item: pytest.Item) -> bool:
    return item.path.parent == FOLDER / 'checks'


def check_name(item: pytest.Item) -> str:
    """Return the name of a check: the parameters' id if there is one, else the function's."""
    _, bracket, name = item.name.partition('[')
    return name.rstrip(']') if bracket else item.name[len('test_') :].replace('_', '-')


@functools.cache
def documented() -> dict[str, tuple[str, str, str]]:
    """Return what CHECKS.md says of each check: sentence, markers and source."""
    rows = (FOLDER / 'CHECKS.md').read_text('utf-8').splitlines()
    cells = [[cell.strip() for cell in row.split('|')] for row in rows if row.startswith('| `')]
    return {name.strip('`'): (says, marks, source) for _, name, says, marks, source, _ in cells}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select checks by pattern, sort them, and skip those that are not allowed."""
    checks = [item for item in items if is_check(item)]
    if not checks:
        return
    if hasattr(config, 'workerinput'):
        raise pytest.UsageError('These checks share one robot: run them in one process (-n 0).')
    names = [check_name(item) for item in checks]
    patterns = config.option.check
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            close = difflib.get_close_matches(pattern, names)
            meant = f' Did you mean {", ".join(close)}?' if close else ''
            raise pytest.UsageError(
                f"No check fits {pattern!r}.{meant} Patterns such as '*-rejected' fit several."
            )
    dropped = [
        item
        for item, name in zip(checks, names, strict=True)
        if patterns and not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    items[:] = sorted((item for item in items if item not in dropped), key=_rank)
    for item in checks:
        if reason := _why_skipped(item, config):
            item.add_marker(pytest.mark.skip(reason=reason))


def _rank(item: pytest.Item) -> int:
    return max(
        (ORDER.index(mark.name) + 1 for mark in item.iter_markers() if mark.name in ORDER),
        default=0,
    )


def _why_skipped(item: pytest.Item, config: pytest.Config) -> str:
    needs = {mark.name for mark in item.iter_markers()}
    option = config.option
    if 'hand' in needs and option.robot_gripper == 'none':
        return 'there is no hand (--robot-gripper none)'
    if 'stops_robot' in needs and option.provoke == 'none':
        return 'nothing makes the robot stop (--provoke)'
    if needs & {'moves_arm', 'stops_robot'} and not option.allow_motion:
        return 'moves the arm or sets the robot (--allow-motion)'
    if 'moves_hand' in needs and not option.allow_hand:
        return 'moves the fingers (--allow-hand)'
    return ''


def allows_motion(config: pytest.Config) -> bool:
    return bool(config.option.allow_motion or config.option.allow_hand)


def need_alone(client: DriverClient, find_s: float = 0.0) -> None:
    """Look for other programs that command the robot, and end the run if there are any."""
    deadline_s = time.monotonic() + find_s
    while True:
        if found := client.other_commanders():
            pytest.exit(
                f'Others command this robot too: {", ".join(found)}. A robot takes goals from '
                'every client, so nothing is moved. End them, or leave out --allow-motion and '
                '--allow-hand.',
                returncode=1,
            )
        if time.monotonic() >= deadline_s:
            return
        time.sleep(0.05)


def ask(config: pytest.Config, text: str = '') -> None:
    """Show a text and wait for Enter; without one, describe what moves; a no ends the run."""
    option = config.option
    if not text and option.yes:
        return
    will = [MOTIONS] * option.allow_motion + [FINGERS] * option.allow_hand
    will += [STOPS] * (option.allow_motion and option.provoke == 'person')
    capture = config.pluginmanager.getplugin('capturemanager')
    capture.suspend_global_capture(in_=True)
    try:
        if text:
            input(f'\n{text} ')
            return
        print('\nWhat will happen:', *will, sep='\n  ')
        answer = input('Stand beside the robot, the user stop at hand. Go on? [y/N] ')
    except EOFError:
        answer = ''
    finally:
        capture.resume_global_capture()
    if answer.strip().lower() not in ('y', 'yes'):
        pytest.exit('Ended.' if text else 'Nothing was moved.', returncode=1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if is_check(item) and (report.when == 'call' or not report.passed):
        verdict = {'passed': 'pass', 'failed': 'FAIL', 'skipped': 'skipped'}[report.outcome]
        name = check_name(item)
        says, _, source = documented()[name]
        item.config.stash[FINDINGS][name] = Finding(
            name=name,
            says=says,
            theme=item.path.stem[len('test_') :],
            source=source,
            verdict=verdict,
            reason=str(call.excinfo.value) if call.excinfo else '',
            evidence=dict(report.user_properties) if report.passed else {},
            duration_s=round(report.duration, 2),
        )
    return report


def _report(config: pytest.Config) -> Report:
    place = f'/{config.option.robot_namespace.strip("/")}'
    return Report(
        driver='mujoco_sim' if config.option.provoke == 'sim' else f'the driver under {place}',
        when=time.strftime('%Y-%m-%d %H:%M:%S'),
        findings=tuple(config.stash[FINDINGS].values()),
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    report = _report(config)
    if not report.findings:
        return
    terminalreporter.section('franka driver conformance')
    terminalreporter.write_line(report.summary)
    if folder := config.option.conformance_report:
        save(report, folder)
        terminalreporter.write_line(f'report: {folder}')
