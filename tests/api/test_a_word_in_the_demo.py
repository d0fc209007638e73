"""The standard demo with a person who speaks and denies: none of it costs a repair."""

import pytest

from bbllm.api.robot import Robot
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.errors import TaskError
from bbllm.core.events import Ending, Event, FeedbackReceived, StepBegun, WarningRaised

TASK = 'create a plus sign in the working space using the cubes'
SCENE = 'plus_sign'


def test_two_remarks_that_are_not_understood_are_named_and_the_demo_finishes() -> None:
    with Robot('sim', scene=SCENE, brain='offline', body='offline', journal=False) as robot:
        with pytest.raises(TaskError, match='No task is under way'):
            robot.say('hello')
        left = ['please be quick', 'hurry a bit']

        def speak(event: Event) -> None:
            if isinstance(event.data, StepBegun) and left:
                robot.say(left.pop())

        episode = robot.do(TASK, on_event=speak)

    assert (episode.ending, episode.goal) == (Ending.FINISHED, 'met'), episode.message
    assert (episode.feedback_loops, episode.remarks) == (2, 2)
    data = [event.data for event in episode.events]
    assert sum(isinstance(each, FeedbackReceived) for each in data) == 2
    warned = [each.text for each in data if isinstance(each, WarningRaised)]
    for text in ('please be quick', 'hurry a bit'):
        assert sum('did not understand' in line and text in line for line in warned) == 1


def test_a_plan_that_was_denied_is_asked_for_once_and_the_ending_names_the_denial() -> None:
    asked: list[ApprovalRequest] = []

    def deny(request: ApprovalRequest) -> Answer:
        asked.append(request)
        return Answer(granted=False, reason='too fast', by='Ann')

    with Robot(
        'sim',
        scene=SCENE,
        brain='offline',
        body='offline',
        journal=False,
        approve=deny,
        rehearse=False,
    ) as robot:
        episode = robot.do(TASK)

    assert len(asked) == 1
    assert episode.ending is Ending.WENT_IN_CIRCLES
    assert 'a person denied the plan "pick red_cube; ' in episode.message
    assert 'return to base": too fast. It was proposed again 2 times' in episode.message
    assert any(
        isinstance(event.data, WarningRaised) and "'too fast'" in event.data.text
        for event in episode.events
    )
