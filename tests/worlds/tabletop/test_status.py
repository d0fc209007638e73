"""The status board: who does what, who waits for whom, and what stopped the robot."""

from __future__ import annotations

from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted, Event, StepBegun
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.worlds.tabletop.status import Mood, StatusBoard


def outcome(status: str, code: str, message: str) -> Event:
    call = SkillCall('pick', ('red_cube',))
    return Event(1.0, Outcome(call=call, status=Status[status], code=Code[code], message=message))


STARTED = Event(
    0.0,
    EpisodeStarted(episode_id='e', task='put the red cube away', planner='p', brain='b', body='b'),
)
REFLEX = outcome('FAILED', 'REFLEX', 'A reflex stopped the arm.')


def test_task_and_step_are_shown_while_they_last_and_then_how_it_ended() -> None:
    board = StatusBoard().heard(STARTED)
    board = board.heard(Event(0.5, StepBegun(index=2, text='pick the cube')))
    assert board.lines() == ('task: put the red cube away', 'step: 2: pick the cube')

    ended = Event(2.0, EpisodeEnded(ending=Ending.GAVE_UP, message='Nothing helped.'))
    assert board.heard(ended).lines() == ('ended: gave up: Nothing helped.',)


def test_fault_stays_until_a_call_succeeds() -> None:
    board = StatusBoard().heard(STARTED).heard(REFLEX)
    assert board.mood is Mood.FAULT
    assert 'stopped: A reflex stopped the arm.' in board.lines()

    missed = board.heard(outcome('FAILED', 'GRASP_FAILED', 'The fingers closed on nothing.'))
    assert missed.fault == 'A reflex stopped the arm.'
    assert missed.heard(outcome('SUCCEEDED', 'NONE', '')).mood is Mood.CALM


def test_failure_of_a_skill_is_no_fault_of_the_robot() -> None:
    board = StatusBoard().heard(outcome('FAILED', 'OCCUPIED', 'location_A is occupied.'))

    assert board.mood is Mood.CALM


def test_request_is_shown_first_and_goes_when_it_is_answered() -> None:
    request = ApprovalRequest(
        kind=RequestKind.PLAN,
        hash='abc',
        title='plan 1',
        lines=tuple(f'{i}: pick' for i in range(20)),
        reason='it is new',
    )

    board = StatusBoard().asked(request)

    assert board.mood is Mood.WAITS
    assert board.lines()[:2] == ('WAITS FOR A PERSON: plan 1 (it is new)', '    0: pick')
    assert '    ... and 8 more' in board.lines()
    assert board.asked(None) == StatusBoard()
