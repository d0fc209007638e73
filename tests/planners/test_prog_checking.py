"""Whether an assertion holds by the facts, and what of them a model is told."""

from __future__ import annotations

import pytest
from made_scenes import made_scene

from bbllm.core.errors import ParseError
from bbllm.planners.common.program import Assertion, ProgramCondition
from bbllm.planners.prog_prompt.assertion_checking import holds, parse_verdict, state_text
from bbllm.planners.prog_prompt.grammar import parse_program

SCENE = made_scene(
    'kitchen_1 fridge_2 fridge_3 mug_4 mug_5 sink_6 tap_7 cup_8 egg_9 character_40',
    'fridge_2 close_to character_40',
    'mug_4 close_to character_40',
    'sink_6 close_to character_40',
    'egg_9 close_to character_40',
    'tap_7 is on',
    'fridge_2 is closed',
    'fridge_3 is open',
    'mug_4 inside sink_6',
    'mug_5 inside fridge_3',
    'egg_9 inside fridge_2',
    'mug_4 is dirty',
    'cup_8 held_by character_40',
    'mug_5 on kitchen_1',
)


def condition(text: str) -> ProgramCondition:
    (statement,) = parse_program(f'assert({text})').sub_goals[0].statements
    assert isinstance(statement, Assertion)
    return statement.condition


@pytest.mark.parametrize(
    ('text', 'found', 'so'),
    [
        ("'close' to 'mug'", None, True),
        ("'close' to 'tap'", None, False),
        ("'close' to 'cup'", None, True),  # what is in a hand is close
        ("'close' to 'unicorn'", None, False),
        ("'fridge' is 'closed'", None, True),
        ("'fridge' is 'opened'", None, False),  # the open one is not close
        ("'fridge' is 'opened'", 'fridge_3', True),  # but was gone to last
        ("'fridge' is not 'opened'", None, True),
        ("'tap' is 'switchon'", None, True),
        ("'tap' is 'switched on'", None, True),
        ("'tap' is 'switchoff'", None, False),
        ("'mug' is 'dirty'", None, True),
        ("'mug' is 'sliced'", None, False),
        ("'cup' in 'hands'", None, True),
        ("'mug' in 'hands'", None, False),
        ("'mug' not in 'hands'", None, True),
        ("'mug' in 'sink'", None, True),
        ("'cup' in 'sink'", None, False),
        ("'mug' on 'kitchen'", None, True),
        ("'mug' on 'sink'", None, False),
    ],
)
def test_facts_say_whether_a_condition_holds(text: str, found: str | None, so: bool) -> None:
    assert holds(condition(text), SCENE, found) is so


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ("'close' to 'mug'", 'You see: mug is dirty, mug inside sink.'),
        ("'close' to 'tap'", 'You see: nothing of this.'),
        ("'fridge' is 'closed'", 'You see: fridge is closed.'),
        ("'close' to 'egg'", 'You see: nothing of this.'),  # it is behind a closed door
        ("'cup' in 'hands'", 'You see: nothing of this. You have: cup.'),
        ("'mug' in 'sink'", 'You see: mug is dirty, sink, mug inside sink.'),
        ("'close' to 'mu'", 'You see: nothing of this.'),  # part of a word is no word
    ],
)
def test_a_model_is_told_what_is_close_and_held_of_the_things_in_question(
    text: str, told: str
) -> None:
    assert state_text(condition(text), SCENE) == told


@pytest.mark.parametrize(
    ('text', 'so'),
    [('True', True), ('False.', False), ('`true`', True), ('**False** as it is closed', False)],
)
def test_a_verdict_is_the_first_word(text: str, so: bool) -> None:
    assert parse_verdict(text) is so


@pytest.mark.parametrize('text', ['', 'Yes', 'It is True', 'Truely'])
def test_anything_else_is_no_verdict(text: str) -> None:
    with pytest.raises(ParseError, match='Answer with True or False alone'):
        parse_verdict(text)
