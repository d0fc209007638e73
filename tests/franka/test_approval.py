"""
Nothing moves a real arm or its hand that a person did not approve, whoever asks for it.

Each case counts what reaches the robot: motions of the arm, goals of the hand, and calls that
need a stopped robot, at the two places through which all of them go.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bbllm import Robot
from bbllm.api.config import EpisodeConfig
from bbllm.api.local_session import LocalSession
from bbllm.api.setup import make_setup, run_episode
from bbllm.api.stage import open_stage
from bbllm.cli.support.session import run_here
from bbllm.cli.views.output import Output
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ApprovalError, ConfigError
from bbllm.core.events import Ending
from bbllm.core.tasks import make_task
from bbllm.core.types import Code, SkillCall
from bbllm_franka import stage
from bbllm_franka.arm_link import ArmLink
from bbllm_franka.hand import HandLink
from bbllm_franka.messages import Word
from tests.franka.test_table import SCENE

TASK = 'put the red cube on location_A'
MOVING = (Word.FOLLOW, Word.AMEND)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / 'measured.yaml'
    path.write_text(SCENE)
    return path


@pytest.fixture(autouse=True)
def as_if_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a simulation on this computer pass for a robot."""
    monkeypatch.setattr(stage, 'check_address', lambda address, simulated: address)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what was sent to arm and hand, which is empty as long as nothing may move."""
    seen: list[str] = []
    send, run = ArmLink.send, HandLink._run

    def watched_send(link: ArmLink, word: Word, *values: Any) -> None:
        if word in MOVING or word is Word.CALL:
            seen.append(str(values[0]) if word is Word.CALL else word.name)
        send(link, word, *values)

    def watched_run(hand: HandLink, *values: Any) -> Any:
        seen.append('hand')
        return run(hand, *values)

    monkeypatch.setattr(ArmLink, 'send', watched_send)
    monkeypatch.setattr(HandLink, '_run', watched_run)
    return seen


@pytest.fixture
def options(address: str, scene: Path) -> dict[str, Any]:
    return {'ip': address, 'scene': scene, 'realtime': 'ignore', 'rehearse': False}


def deny(request: ApprovalRequest) -> Answer:
    return Answer(granted=False, reason='not today', by='a person')


def by_do(robot: Robot) -> None:
    assert robot.do(TASK).ending is not Ending.FINISHED


def by_chat(robot: Robot) -> None:
    robot.chat().say(TASK)


def by_execute(robot: Robot) -> None:
    assert robot.execute('pick(red_cube)').code is Code.NOT_APPROVED
    assert robot.execute('return_to_base()').code is Code.NOT_APPROVED
    for skill in robot.skills:  # some of which are refused for what they lack
        assert not robot.execute(SkillCall(skill.name)).succeeded


def by_run_episode(robot: Robot) -> None:
    assert run_episode(TASK, 'brain_body', robot, brain='offline').ending is not Ending.FINISHED


def by_plan_and_scene(robot: Robot) -> None:
    robot.plan(TASK)
    robot.observe()
    robot.picture()
    if (expect := robot.features.expect) is not None:
        expect([SkillCall('pick', ('red_cube',))])
    robot.stop()


def by_stop_and_close(robot: Robot) -> None:
    robot.stop()
    robot.close()


@pytest.mark.parametrize(
    'asked_for', [by_do, by_chat, by_execute, by_run_episode, by_plan_and_scene, by_stop_and_close]
)
def test_a_denied_robot_stays_where_it_is(
    options: dict[str, Any], moved: list[str], asked_for: Callable[[Robot], None]
) -> None:
    with Robot('fr3', approve=deny, **options) as robot:
        asked_for(robot)

    assert moved == []


def test_what_is_approved_moves(options: dict[str, Any], moved: list[str]) -> None:
    """The places that are watched are those through which motions go."""
    with Robot('fr3', approve=lambda request: True, **options) as robot:
        episode = robot.do(TASK)

    assert episode.ending is Ending.FINISHED, episode.message
    assert {'FOLLOW', 'hand', 'set_collision_behavior'} <= {*moved}


def test_an_approval_does_not_outlast_a_new_connection(
    options: dict[str, Any], moved: list[str]
) -> None:
    asked: list[ApprovalRequest] = []
    may_move = True

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return may_move

    with Robot('fr3', approve=approve, **options) as robot:
        robot.execute('return_to_base()')
        assert 'FOLLOW' in moved
        may_move = False
        link = robot._session.world.driver._link  # type: ignore[attr-defined]
        link._process.kill()
        cancel, end_s = CancelToken(), time.monotonic() + 20.0
        while link.lost is None:
            assert time.monotonic() < end_s, 'the end of the control process was not noticed'
            cancel.wait(0.02)
        robot.observe()  # which connects anew
        moved.clear()
        asked.clear()
        assert robot.execute('return_to_base()').code is Code.NOT_APPROVED
        by_do(robot)

    assert len(asked) == 2
    assert moved == []


@pytest.fixture
def session(options: dict[str, Any]) -> Iterator[LocalSession]:
    """Return a session as `bbllm chat`, the console and the MCP server of a robot have it."""
    chosen = EpisodeConfig.of({**options, 'brain': 'offline'}).on_arm('fr3')
    with open_stage(chosen) as opened:
        setup = make_setup(chosen, chosen.domain)
        yield LocalSession(opened.world, setup, asks=True, arm=opened.approved)


def test_no_program_answers_for_a_person(session: LocalSession, moved: list[str]) -> None:
    future = session.start(make_task(TASK))
    cancel = CancelToken()
    while (request := session.approvals.waiting) is None:
        assert not future.done(), future.result().message
        cancel.wait(0.02)
    with pytest.raises(ApprovalError):
        session.approvals.answer(request.hash, Answer(granted=True, by='bot', automatic=True))
    session.stop('The test is over.')

    assert future.result(30.0).ending is Ending.CANCELLED
    assert moved == []


def test_a_session_of_a_real_arm_needs_somebody_to_ask(session: LocalSession) -> None:
    with pytest.raises(ConfigError, match='moves after a person has approved'):
        LocalSession(session.world, session._setup, arm=True)


def test_run_moves_nothing_without_a_terminal_even_with_yes(
    options: dict[str, Any], moved: list[str]
) -> None:
    chosen = EpisodeConfig.of({**options, 'brain': 'offline'}).on_arm('fr3')

    with pytest.raises(ConfigError, match='start this in a terminal'):
        run_here(make_task(TASK), make_setup(chosen, chosen.domain), Output(True), yes=True)
    assert moved == []


def test_nothing_is_recovered_that_was_denied(options: dict[str, Any], moved: list[str]) -> None:
    with Robot('fr3', approve=deny, **options) as robot:
        driver = robot._session.world.driver  # type: ignore[attr-defined]
        driver._down = True  # as after a reflex
        by_do(robot)
        by_execute(robot)
        assert driver._down

    assert moved == []
