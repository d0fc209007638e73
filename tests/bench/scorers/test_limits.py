"""What an unreached goal is due to, by the events of its episode."""

import pytest

from bbllm.core.events import Ending, Episode, Event
from bbllm.core.types import Code, Outcome, SkillCall, Status, Task
from bbllm_bench.scorers.limits import limit_of

PICK, PLACE = SkillCall('pick', ('can',)), SkillCall('place', ('basket',))


def episode(*outcomes: tuple[SkillCall, Code], ending: Ending = Ending.GAVE_UP) -> Episode:
    events = tuple(
        Event(
            stamp_s=float(number),
            data=Outcome(
                call=call,
                status=Status.FAILED if code is not Code.NONE else Status.SUCCEEDED,
                code=code,
            ),
        )
        for number, (call, code) in enumerate(outcomes)
    )
    task = Task('t', 'do it')
    named = {'id': 'e', 'planner': 'p', 'brain': 'b', 'body': 'b', 'message': ''}
    return Episode(**named, task=task, events=events, ending=ending)


@pytest.mark.parametrize(
    ('code', 'limit'),
    [
        (Code.GRASP_FAILED, 'grasp'),
        (Code.NOT_GRASPABLE, 'grasp'),
        (Code.TIMEOUT, 'budget'),
        (Code.MISPLACED, 'motion'),
        (Code.UNKNOWN_OBJECT, 'plan'),
        (Code.STALE_SCENE, 'perception'),
    ],
)
def test_the_last_failure_decides(code: Code, limit: str) -> None:
    assert limit_of(episode((PLACE, Code.MISPLACED), (PICK, code))) == limit


def test_a_failure_that_was_made_good_does_not_count() -> None:
    assert limit_of(episode((PICK, Code.GRASP_FAILED), (PICK, Code.NONE))) == 'plan'


def test_a_plan_without_failures_is_to_blame_itself() -> None:
    assert limit_of(episode((PICK, Code.NONE), ending=Ending.FINISHED)) == 'plan'


def test_a_limit_of_the_run_is_a_budget() -> None:
    assert limit_of(episode((PICK, Code.NONE), ending=Ending.OUT_OF_BUDGET)) == 'budget'
