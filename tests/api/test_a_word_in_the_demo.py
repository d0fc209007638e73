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


def test_two_denials_of_the_demo_do_not_end_it() -> None:
    answers = [Answer(granted=False, reason='too fast', by='Ann'), Answer(granted=False, by='Ann')]

    def approve(request: ApprovalRequest) -> bool | Answer:
        return answers.pop() if answers else True

    with Robot(
        'sim',
        scene=SCENE,
        brain='offline',
        body='offline',
        journal=False,
        approve=approve,
        rehearse=False,
    ) as robot:
        episode = robot.do(TASK)

    assert (episode.ending, episode.goal) == (Ending.FINISHED, 'met'), episode.message
    assert (episode.feedback_loops, episode.remarks) == (2, 2)
    assert any(
        isinstance(event.data, WarningRaised) and "'too fast'" in event.data.text
        for event in episode.events
    )
