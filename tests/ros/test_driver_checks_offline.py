"""The list of checks, what becomes of them, and the reports of runs; no driver is needed."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sensor_msgs.msg import JointState

from bbllm.core.errors import ConfigError, WorldError
from bbllm.nodes import driver_checks
from bbllm.nodes.driver_checks import stops
from bbllm.nodes.driver_checks.catalogue import CHECKS, THEMES, select, with_tables
from bbllm.nodes.driver_checks.check import (
    Check,
    CheckFailedError,
    Need,
    expect_close,
    expect_equal,
)
from bbllm.nodes.driver_checks.frames import read_description
from bbllm.nodes.driver_checks.provoker import Cause, PersonProvoker
from bbllm.nodes.driver_checks.recording import Recording
from bbllm.nodes.driver_checks.report import Report, compare, load, page, save
from bbllm.nodes.driver_checks.runner import Finding, Verdict, run_check, run_checks
from bbllm.nodes.driver_checks.story import Story

pytestmark = pytest.mark.ros

SOURCES = sorted(Path(inspect.getfile(driver_checks)).parent.glob('*.py'))
LOOK = frozenset({Need.NOTHING, Need.STOP})


def session(gripper: str = 'franka_gripper', provoker: object = None) -> Any:
    driver = SimpleNamespace(gripper=gripper, recording=Recording())
    return SimpleNamespace(driver=driver, provoker=provoker)


def check_that(run: Any, need: Need = Need.NOTHING, *, hand: bool = False) -> Check:
    return Check(
        name='it-does', says='It does.', source='fr 1.7', need=need, theme='it', hand=hand, run=run
    )


def finding(name: str = 'it-does', verdict: Verdict = Verdict.PASSED, **more: Any) -> Finding:
    return Finding(
        name=name, says='It does.', theme='it', source='fr 1.7', verdict=verdict, **more
    )


def report(*findings: Finding, driver: str = 'mujoco_sim') -> Report:
    return Report(driver=driver, when='2026-01-01 12:00:00', findings=findings)


def test_list_is_long_and_each_name_stands_once() -> None:
    assert len(CHECKS) >= 50
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert len({theme.title for theme in THEMES}) == len(THEMES)


@pytest.mark.parametrize('check', CHECKS, ids=lambda check: check.name)
def test_check_says_one_sentence_and_where_it_is_written(check: Check) -> None:
    assert check.says.endswith('.')
    assert '.' in check.source or check.source.startswith('fr ')


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: path.name)
def test_client_speaks_only_the_interfaces_of_the_driver(path: Path) -> None:
    text = path.read_text()

    if path.name != 'provoker.py':
        assert 'bbllm_interfaces' not in text
        assert "'sim/" not in text


def test_page_of_the_checks_is_up_to_date(repository: Path) -> None:
    text = (repository / 'docs' / 'driver-checks.md').read_text('utf-8')

    assert with_tables(text) == text, 'python -m bbllm.nodes.driver_checks.catalogue docs/...'


def test_checks_are_chosen_by_pattern() -> None:
    names = [check.name for check in select(('*-joints-are-rejected',))]

    assert names == [
        'six-joints-are-rejected',
        'no-joints-are-rejected',
        'unknown-joints-are-rejected',
    ]


def test_pattern_that_fits_nothing_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match='Did you mean six-joints-are-rejected'):
        select(('six-joint-are-rejected',))


@pytest.mark.parametrize(
    ('need', 'hand', 'given', 'why'),
    [
        (Need.MOTION, False, {}, '--allow-motion'),
        (Need.HAND, True, {}, '--allow-hand'),
        (Need.HAND, True, {'gripper': ''}, '--gripper none'),
        (Need.STOP, False, {}, '--provoke'),
        (Need.STOP, False, {'provoker': object()}, '--allow-motion'),
    ],
)
def test_what_is_not_allowed_is_skipped_with_the_option_that_allows_it(
    need: Need, hand: bool, given: dict[str, Any], why: str
) -> None:
    ran: list[object] = []

    found = run_check(check_that(ran.append, need, hand=hand), session(**given), LOOK)

    assert found.verdict is Verdict.SKIPPED
    assert why in found.reason
    assert not ran


def test_check_that_raises_fails_with_its_sentence_and_the_next_one_is_run() -> None:
    def fail(_: object) -> Any:
        raise CheckFailedError('seven joints', 6)

    def stumble(_: object) -> Any:
        return [][0]

    checks = [check_that(fail), check_that(stumble), check_that(lambda _: {'seen': 7})]

    findings = run_checks(checks, session(), LOOK)

    assert [found.verdict for found in findings] == [
        Verdict.FAILED,
        Verdict.FAILED,
        Verdict.PASSED,
    ]
    assert findings[0].reason == 'Expected seven joints; seen: 6.'
    assert 'IndexError' in findings[1].reason
    assert findings[2].evidence == {'seen': 7}


def test_run_ends_when_the_simulator_has_died() -> None:
    def look() -> None:
        raise WorldError('It died.')

    with pytest.raises(WorldError, match='It died'):
        run_checks([check_that(lambda _: {})], session(), LOOK, look=look)


def test_numbers_of_another_length_are_not_close() -> None:
    expect_close('it', [1.0, 2.001], [1.0, 2.0], 0.01)
    for wrong in ([1.0], [1.0, 2.1], [1.0, float('nan')]):
        with pytest.raises(CheckFailedError, match=r'it within 0\.01'):
            expect_close('it', wrong, [1.0, 2.0], 0.01)


def test_what_was_not_reached_in_a_story_fails_with_what_ended_it() -> None:
    story = Story({'hardware': 'unconfigured'}, 'There was no answer.')

    assert stops.reflex_takes_the_hardware_down(story) == {}
    with pytest.raises(CheckFailedError, match='There was no answer'):
        stops.reflex_can_be_recovered(story)


@pytest.mark.parametrize(
    ('check', 'good', 'bad'),
    [
        (stops.reflex_silences_the_arm, {'arm': []}, {'arm': [JointState()]}),
        (stops.reflex_leaves_the_hand_alone, {'hand': [JointState()]}, {'hand': []}),
    ],
)
def test_silence_is_judged_by_what_was_heard(check: Any, good: Any, bad: Any) -> None:
    assert check(Story({'heard': good})) == {}
    with pytest.raises(CheckFailedError):
        check(Story({'heard': bad}))


def test_description_is_read_from_its_root() -> None:
    joint = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/></joint>'
    links = ''.join(f'<link name="{name}"/>' for name in ('tool', 'base', 'arm'))
    joints = joint.format('j1', 'revolute', 'base', 'arm') + joint.format(
        'j2', 'fixed', 'arm', 'tool'
    )

    description = read_description(f'<robot name="r">{links}{joints}</robot>')

    assert (description.root, description.fixed) == ('base', frozenset({'tool'}))
    assert description.parents == {'arm': 'base', 'tool': 'arm'}


def test_person_is_asked_before_the_arm_moves_and_before_it_recovers() -> None:
    asked: list[str] = []
    person = PersonProvoker(asked.append)

    person.prepare(Cause.USER_STOP, True)
    person.provoke(Cause.USER_STOP)
    person.release(Cause.USER_STOP)

    assert 'keep it pressed' in asked[0]
    assert 'Release' in asked[1]
    assert len(asked) == 2  # while the arm moves, the motion itself tells


def test_person_is_asked_for_the_deed_where_nothing_moves() -> None:
    asked: list[str] = []
    person = PersonProvoker(asked.append)

    person.prepare(Cause.USER_STOP, False)
    person.provoke(Cause.USER_STOP)

    assert len(asked) == 1
    assert 'Press the external activation device' in asked[0]


def test_recording_is_one_object_a_line(tmp_path: Path) -> None:
    with Recording(tmp_path / 'said.jsonl') as recording:
        recording.check = 'it-does'
        recording.note('received', 'franka/joint_states', JointState(name=['a'], position=[0.5]))
        recording.note('rejected', 'follow')

    lines = [json.loads(line) for line in (tmp_path / 'said.jsonl').read_text().splitlines()]
    assert [line['what'] for line in lines] == ['received', 'rejected']
    assert lines[0]['message']['position'] == [0.5]
    assert lines[0]['check'] == 'it-does'


def test_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = report(finding(evidence={'seen': 7}), finding('other', Verdict.FAILED, reason='no'))

    save(written, tmp_path)

    assert load(tmp_path) == written
    assert written.summary == '1 of 2 checks passed, 1 failed: mujoco_sim.'
    assert not written.passed
    assert '| `other` | It does. | FAIL | no |' in page(written)


def test_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / 'x.json').write_text('{"findings": [{}]}')

    with pytest.raises(ConfigError, match='is no report'):
        load(tmp_path / 'x.json')


def test_reports_differ_in_what_was_seen_and_in_what_was_not_run() -> None:
    sim = report(finding('a', evidence={'width': 1}), finding('b'), finding('c'))
    arm = report(finding('a', evidence={'width': 2}), finding('b'), driver='arm')

    rows = compare(sim, arm)

    assert [(row.name, row.first, row.second) for row in rows] == [
        ('a', 'pass: {"width": 1}', 'pass: {"width": 2}'),
        ('c', 'pass', 'not in this run'),
    ]


def test_values_that_differ_are_named() -> None:
    with pytest.raises(CheckFailedError, match=r'Expected the mode 2; seen: 1\.'):
        expect_equal('the mode', 1, 2)
