"""Conversations: questions, answers, corrections, and what a turn leaves for the next."""

import threading
from collections.abc import Callable

import pytest

from bbllm import Robot
from bbllm.api.chat import Chat
from bbllm.core.errors import TaskError
from bbllm.core.events import Event, QuestionAsked
from bbllm.core.protocols import ModelRequest
from bbllm.core.types import Scene
from bbllm.testing import ScriptedModel
from tests.planners.symbolic_table import SymbolicTabletop
from tests.twenty_turns import LINES, TABLE, reply_to

RED_ON_A = '0: pick red_cube\n1: place red_cube on location_A\n2: Done'
ASK = 'ask: Which cube? | red_cube | blue_cube'


class Talker:
    """A robot on a table of symbols, with a scripted Brain."""

    def __init__(self, *replies: str | Callable[[ModelRequest], str], **options: object):
        self.brain = ScriptedModel(replies)
        self.robot = Robot(
            SymbolicTabletop(TABLE),
            brain=self.brain,
            body=self.brain,
            journal=False,
            **{'goal': 'no', **options},
        )
        self.events: list[Event] = []
        self.asked = threading.Event()
        self.chat: Chat = self.robot.chat(self._take)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event.data, QuestionAsked):
            self.asked.set()

    def prompt(self, index: int) -> str:
        return self.brain.requests[index].prompt

    def scene(self) -> Scene:
        return self.robot.observe()


def test_a_question_is_answered_and_moves_nothing() -> None:
    talker = Talker('answer: Two: red_cube and blue_cube (both are listed).')
    before = talker.scene().facts
    turn = talker.chat.say('how many cubes are there?').turn
    assert turn is not None
    assert (turn.ending, turn.moved) == ('ANSWERED', ())
    assert turn.reply == 'Two: red_cube and blue_cube (both are listed).'
    assert talker.scene().facts == before


def test_a_turn_is_given_with_those_before_it() -> None:
    talker = Talker(RED_ON_A, '0: Done')
    turn = talker.chat.say('move the red cube to A').turn
    assert turn is not None
    assert [move.partition(' ')[0] for move in turn.moved] == ['red_cube']
    talker.chat.say('put it back')
    assert '"move the red cube to A" | moved: red_cube' in talker.prompt(1)
    assert turn.moved[0] in talker.prompt(1)
    assert 'Earlier turns' not in talker.prompt(0)


def test_no_turn_is_given_where_none_is_wanted() -> None:
    talker = Talker('answer: Yes.', 'answer: No.', turns=0)
    talker.chat.say('is it so?')
    talker.chat.say('is it not?')
    assert 'Earlier turns' not in talker.prompt(1)
    assert len(talker.chat.turns) == 2


@pytest.mark.parametrize(
    ('typed', 'taken'), [('1', 'red_cube'), ('2.', 'blue_cube'), ('the red one', 'the red one')]
)
def test_a_question_of_the_planner_waits_for_its_answer(typed: str, taken: str) -> None:
    talker = Talker(ASK, RED_ON_A)
    assert talker.chat.begin('put a cube on A') is None
    assert talker.asked.wait(30)
    assert talker.chat.question is not None
    talker.chat.say(typed)
    running = talker.robot._session.running
    assert running is not None and running.future is not None
    episode = running.future.result(30)
    assert episode.ending is not None and episode.ending.name == 'FINISHED'
    assert f'The person answered "Which cube?" with: {taken}' in talker.prompt(1)
    with pytest.raises(TaskError, match='no task under way'):
        talker.robot._session.say('red_cube', 0.0, 'Which cube?')


def test_a_function_answers_questions() -> None:
    talker = Talker(ASK, RED_ON_A, on_question=lambda question: question.options[0])
    assert talker.robot.do('put a cube on A').ending.is_success  # type: ignore[union-attr]
    assert 'with: red_cube' in talker.prompt(1)


def test_the_same_function_answers_those_of_a_chat() -> None:
    talker = Talker(ASK, RED_ON_A, on_question=lambda question: question.options[0])
    assert talker.chat.say('put a cube on A').text == 'Done.'
    assert 'with: red_cube' in talker.prompt(1)


def test_answers_in_advance_are_used_and_then_nobody_answers() -> None:
    talker = Talker(ASK, 'ask: Which side?', RED_ON_A, ask='auto', answer='red_cube')
    talker.robot._session.attended = False
    assert talker.robot.do('put a cube on A').ending.is_success  # type: ignore[union-attr]
    assert 'with: red_cube' in talker.prompt(1)
    assert 'Nobody answers questions now' in talker.prompt(2)


def test_a_question_that_nobody_answers_ends_the_episode_with_itself() -> None:
    talker = Talker(ASK, answer_timeout_s=0.0)
    turn = talker.chat.say('put a cube on A').turn
    assert turn is not None
    assert turn.ending == 'GAVE_UP'
    assert 'Nobody answered within 0 s: Which cube? / 1: red_cube / 2: blue_cube' in turn.reply


def test_the_safest_reading_is_taken_where_nobody_answers() -> None:
    plan = f'{RED_ON_A}\nassumed: red_cube is meant'
    talker = Talker(ASK, plan, ask='safest', answer_timeout_s=0.0)
    turn = talker.chat.say('put a cube on A').turn
    assert turn is not None
    assert 'nobody answered; take the reading that moves least' in talker.prompt(1)
    assert turn.reply.startswith('Done. Assumed: red_cube is meant.')


def test_a_word_stops_the_turn_without_a_model() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slow(request: ModelRequest) -> str:
        entered.set()
        go_on.wait(30)
        return RED_ON_A

    talker = Talker(slow)
    assert talker.chat.begin('put a cube on A') is None
    assert entered.wait(30)
    assert talker.chat.say('STOP!').text == 'Stopped.'
    go_on.set()
    running = talker.robot._session.running
    assert running is not None and running.future is not None
    episode = running.future.result(30)
    assert episode.ending is not None and episode.ending.name == 'CANCELLED'
    assert len(talker.brain.requests) == 1 and not episode.steps


@pytest.mark.parametrize('text', ['', '   ', 'x' * 3000, '\u202e\u200b'])
def test_a_line_that_cannot_be_taken_leaves_the_conversation_as_it_was(text: str) -> None:
    talker = Talker('answer: Yes.')
    with pytest.raises(TaskError):
        talker.chat.say(text)
    assert talker.chat.say('هل هناك مكعب أحمر؟').turn is not None


def test_twenty_lines_of_a_conversation() -> None:
    def reply(request: ModelRequest) -> str:
        return reply_to([{'role': m.role, 'content': m.content} for m in request.messages])

    talker = Talker(*[reply] * (2 * len(LINES)), turns=20)
    for line in LINES:
        if (said := talker.chat.begin(line.text)) is not None:
            assert said.text  # it answers a question
        if line.ending:
            running = talker.robot._session.running
            assert running is not None and running.future is not None
            turn = talker.chat.reply_of(running.future.result(30)).turn
            assert turn is not None
            assert (turn.ending, line.says in turn.reply) == (line.ending, True), turn
        else:
            assert talker.asked.wait(30)
            talker.asked.clear()
    assert len(talker.chat.turns) == 18


def test_the_report_is_in_the_language_of_the_person() -> None:
    german = 'Fertig. Der red_cube steht auf location_A.'
    talker = Talker(f'language: German\n{RED_ON_A}', german, 'language: german\nanswer: Ja.')
    assert talker.chat.say('Stell den roten Würfel auf A').text == german
    assert 'into German' in talker.prompt(1) and 'Done.' in talker.prompt(1)
    assert talker.chat.say('Steht er dort?').text == 'Ja.'


def test_a_report_without_a_translation_stays_as_it_is() -> None:
    talker = Talker(f'language: German\n{RED_ON_A}', 'x' * 10_000)
    assert talker.chat.say('Stell den roten Würfel auf A').text.startswith('Done.')


def test_the_goal_of_a_question_is_read_only_where_something_is_to_move() -> None:
    talker = Talker(
        'answer: Yes.', RED_ON_A, 'on(red_cube, location_A)', goal='auto', on_question=str
    )
    assert talker.chat.say('is red_cube there?').turn is not None
    assert len(talker.brain.requests) == 1
    turn = talker.chat.say('could you put the red cube on A?').turn
    assert turn is not None and 'Checked: red_cube is on location_A.' in turn.reply
    assert 'Conditions:' in talker.prompt(2)
