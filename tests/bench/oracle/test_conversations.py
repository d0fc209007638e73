"""Conversations with `offline`: corrections, repetitions, undo, talk, and questions about it."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bbllm import Robot
from bbllm.api.chat import Chat
from bbllm.core.events import AnswerGiven, Ending, Event, WarningRaised
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.skills.catalog import own_skills
from bbllm.skills.plan_check import ImaginedTable
from tests.bench.oracle.test_sentences import NEAR, unmet

CONVERSATIONS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / 'conversations.yaml').read_text().replace('NEAR', NEAR)
)
END_S = 60.0
"""How long a turn may take [s]."""


@pytest.fixture(scope='module')
def scene() -> Iterator[Scene]:
    with Robot('sim') as robot:
        skills = tuple(skill.signature for skill in own_skills())
        yield replace(robot.observe(), skills=skills)


class TalkingTable(ImaginedTable):
    """A table on which a person speaks during a call, by the number of it."""

    def __init__(self, scene: Scene, during: Mapping[int, Callable[[], object]] = {}):
        super().__init__(scene)
        self.during, self.calls = during, list[str]()

    def execute(self, call: SkillCall) -> Outcome:
        self.during.get(len(self.calls), str)()
        self.calls.append(str(call))
        return super().execute(call)


def robot_on(table: ImaginedTable, **options: Any) -> Robot:
    return Robot(table, brain='offline', body='offline', journal=False, **options)


def wait_for(chat: Chat, text: str) -> None:
    """Write a line, and wait for the end of its turn or for a question."""
    asked = chat.question
    chat.begin(text)
    until_s = time.monotonic() + END_S
    while chat.is_busy and chat.question in (None, asked):
        assert time.monotonic() < until_s, f'{text!r} did not end within {END_S:g} s'
        time.sleep(0.005)


@pytest.mark.parametrize('talk', CONVERSATIONS, ids=lambda talk: ' / '.join(talk['lines']))
def test_a_conversation_ends_as_it_is_meant(talk: Mapping[str, Any], scene: Scene) -> None:
    table = ImaginedTable(scene)
    chat = robot_on(table).chat(lambda event: None)
    for line in talk['lines']:
        wait_for(chat, line)

    assert not chat.is_busy
    assert talk.get('says', '') in chat.turns[-1].reply
    assert not unmet(
        talk.get('ends', 'not moved(NEAR)'.replace('NEAR', NEAR)), table.observe(), scene
    )


ON_A = 'put the red cube on A'


@pytest.mark.parametrize(
    ('task', 'call', 'remark', 'ends'),
    [
        (ON_A, 0, 'no, the blue one', 'on(blue_cube, location_A); not moved(red_cube)'),
        (ON_A, 1, 'no, the blue one', 'on(blue_cube, location_A); not moved(red_cube)'),
        (ON_A, 0, 'no, on location_B', 'on(red_cube, location_B)'),
        (ON_A, 0, 'put it on location_C instead', 'on(red_cube, location_C)'),
        (ON_A, 1, 'a bit more to the right', 'shifted(red_cube, right, 27 cm)'),
        (ON_A, 1, 'put it back', 'not moved(red_cube)'),
        (ON_A, 1, 'undo', 'not moved(red_cube)'),
        (ON_A, 0, 'stop, use the green one', 'on(green_cube, location_A); not moved(red_cube)'),
        (ON_A, 0, 'and blue on B', 'on(red_cube, location_A); on(blue_cube, location_B)'),
        (f'{ON_A} and blue on B', 1, 'no, the red one on C', 'on(red_cube, location_C)'),
        ('put the cubes on the left side', 0, 'not the green one', 'not moved(green_cube)'),
        ('put the white cylinder on A', 0, 'no, the other one', 'on(black_cylinder, location_A)'),
    ],
)
def test_a_task_under_way_is_corrected(
    task: str, call: int, remark: str, ends: str, scene: Scene
) -> None:
    table = TalkingTable(scene)
    chat = robot_on(table).chat(lambda event: None)
    table.during = {call: lambda: chat.begin(remark)}
    wait_for(chat, task)

    assert chat.turns[-1].ending == Ending.FINISHED.name
    assert not unmet(ends, table.observe(), scene)


@pytest.mark.parametrize('remark', ['stop, do not move', 'stop that at once', 'never mind'])
def test_a_remark_that_begins_with_stop_and_changes_nothing_ends_the_task(
    remark: str, scene: Scene
) -> None:
    table = TalkingTable(scene)
    chat = robot_on(table).chat(lambda event: None)
    table.during = {0: lambda: chat.begin(remark)}
    wait_for(chat, ON_A)

    assert chat.turns[-1].ending == Ending.GAVE_UP.name
    assert 'You w' in chat.turns[-1].reply
    assert 'place(location_A)' not in table.calls


@pytest.mark.parametrize(
    ('question', 'answer'),
    [
        ('where is the blue cube?', 'blue_cube is on table'),
        ('what are you doing?', 'The task is "put the red cube on A".'),
        ('why?', 'The task is'),
        ('thanks', 'You are welcome.'),
        ('sing a song', "I do not understand 'sing a song'. I understand English sentences"),
    ],
)
def test_a_question_in_the_middle_of_a_task_leaves_the_task_as_it_is(
    question: str, answer: str, scene: Scene
) -> None:
    events: list[Event] = []
    table = TalkingTable(scene)
    chat = robot_on(table).chat(events.append)
    table.during = {0: lambda: chat.begin(question)}
    wait_for(chat, 'put the red cube on A')

    answers = [event.data.text for event in events if isinstance(event.data, AnswerGiven)]
    assert len(answers) == 1 and answers[0].startswith(answer)
    assert table.calls == ['pick(red_cube)', 'place(location_A)', 'return_to_base()']
    assert chat.turns[-1].ending == Ending.FINISHED.name


@pytest.mark.parametrize('ask', ['no', 'safest', 'auto'])
@pytest.mark.parametrize(
    ('task', 'ends', 'assumed'),
    [
        ('put the cylinder on B', 'on(white_cylinder, location_B)', 'white_cylinder'),
        ('tidy up', 'tower(all of NEAR)', 'stack the cubes'),
        ('bring me the red cube', 'held(red_cube)', 'pick up red_cube'),
    ],
)
def test_where_nobody_answers_what_moves_least_is_done_and_stated(
    ask: str, task: str, ends: str, assumed: str, scene: Scene
) -> None:
    table = ImaginedTable(scene)
    episode = robot_on(table, ask=ask, answer_timeout_s=0.0).do(task)

    assert episode.ending is Ending.FINISHED
    assert f'{assumed}.' in episode.summary.partition('Assumed: ')[2]
    assert not unmet(ends.replace('NEAR', NEAR), table.observe(), scene)


def test_an_answer_in_advance_that_is_no_option_is_refused_with_the_options(scene: Scene) -> None:
    table = ImaginedTable(scene)
    options = '1: white_cylinder / 2: black_cylinder'
    episode = robot_on(table, answer='purple').do('put the cylinder on B')

    assert episode.ending is Ending.GAVE_UP
    assert "The answer 'purple' is none of the options" in episode.message
    assert options in episode.message
    assert not unmet('not moved(white_cylinder|black_cylinder)', table.observe(), scene)

    robot = robot_on(table, answer='purple', on_question=lambda question: question.options[1])
    episode = robot.do('put the cylinder on B')
    warned = [event.data.text for event in episode.events if isinstance(event.data, WarningRaised)]
    assert options in ' '.join(warned)
    assert not unmet('on(black_cylinder, location_B)', table.observe(), scene)


def test_the_red_one_and_a_number_are_answers_in_advance(scene: Scene) -> None:
    for answer in ('the black one', '2', 'black_cylinder'):
        table = ImaginedTable(scene)
        robot_on(table, answer=answer).do('put the cylinder on B')
        assert not unmet('on(black_cylinder, location_B)', table.observe(), scene)
