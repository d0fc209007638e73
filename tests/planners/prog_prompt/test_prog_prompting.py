"""What ProgPrompt's model is shown, and that its examples would work."""

import re
from typing import Any

import pytest

from bbllm.core.text import without_delimiters
from bbllm.core.types import Scene, SkillCall, Task
from bbllm.testing import ScriptedModel
from bbllm_planners.prog_prompt.grammar import parse_program, parse_verdict
from bbllm_planners.prog_prompt.planner import ProgPrompt
from bbllm_planners.prog_prompt.program import Assertion, ProgramCondition
from bbllm_planners.prog_prompt.prompting import (
    HOUSEHOLD_SKILLS,
    ProgPrompts,
    header_of,
    is_true,
    state_text,
)
from tests.planners.chosen import chosen
from tests.planners.made_scenes import made_scene
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary

NOBODY: Any = None
TASK = Task('t', 'microwave salmon')
REACHED = {
    'put_the_wine_glass_in_the_kitchen_cabinet': [('wineglass_10', 'inside', 'kitchencabinet_31')],
    'throw_away_the_lime': [('lime_11', 'inside', 'garbagecan_32')],
    'wash_mug': [('mug_12', 'held_by', 'character_40')],
    'refrigerate_the_salmon': [(f'salmon_{i}', 'inside', 'fridge_33') for i in (13, 14)],
    'bring_me_some_fruit': [('bananas_15', 'on', 'coffeetable_36')],
    'wash_clothes': [('washingmachine_37', 'is', 'on')],
    'put_apple_in_fridge': [('apple_16', 'inside', 'fridge_33')],
}
"""The paper's examples, each with what is so after it, or one of what may be."""


def house() -> Scene:
    return SmallHouse().observe()


def headers(prompt: str) -> list[str]:
    return re.findall(r'^def (\w+)\(\):$', prompt, re.M)


def test_only_what_the_world_can_do_is_imported_and_shown_in_examples() -> None:
    scene = made_scene('mug_1 character_2', skills='find/1 grab/1 putback/2 greet/1')

    prompt = without_delimiters(ProgPrompts(n_examples=7).plan(TASK, scene))

    imports = prompt.splitlines()[0]
    assert imports == 'from actions import grab <obj>, find <obj>, putback <obj> <obj>'
    assert headers(prompt) == ['bring_me_some_fruit', 'microwave_salmon']
    assert 'greet' not in HOUSEHOLD_SKILLS


@pytest.mark.parametrize(
    ('instruction', 'header'),
    [
        ('microwave salmon', 'microwave_salmon'),
        ("don't move!", 'don_t_move'),
        ('2 mugs', 'task_2_mugs'),
        ('???', 'task'),
        ('räume auf', 'räume_auf'),
        ('x():\n\timport os', 'x_import_os'),
    ],
)
def test_a_task_becomes_the_name_of_a_function(instruction: str, header: str) -> None:
    assert header_of(instruction) == header
    assert header.isidentifier()


@pytest.mark.parametrize('comments', [True, False])
@pytest.mark.parametrize('feedback', [True, False])
def test_every_example_is_a_program_that_works_also_without_what_an_ablation_leaves_out(
    comments: bool, feedback: bool
) -> None:
    prompts = ProgPrompts(n_examples=7, comments=comments, feedback=feedback)

    for name, example in zip(REACHED, prompts.examples(house()), strict=True):
        world, context = SmallHouse(), Diary()
        model = ScriptedModel([example])
        ProgPrompt(model, NOBODY, options=chosen('prog_prompt', check='graph')).run(
            Task('t', name), world, context
        )

        assert context.failed == [], name
        assert any(world.has(*reached) for reached in REACHED[name]), name
        left_open = [fact.subject for fact in world.observe().facts if fact.object == 'open']
        assert left_open == ['garbagecan_32'], name  # as it was


def test_an_example_opens_what_its_object_is_shut_in() -> None:
    world, context = SmallHouse(), Diary()
    for call in ('find fridge_33', 'open fridge_33', 'find lime_11', 'grab lime_11'):
        skill, name = call.split()
        assert world.execute(SkillCall(skill, (name,))).succeeded
    for skill, args in (
        ('find', 'fridge_33'),
        ('putin', 'lime_11 fridge_33'),
        ('close', 'fridge_33'),
    ):
        assert world.execute(SkillCall(skill, tuple(args.split()))).succeeded
    (example,) = [e for e in ProgPrompts().examples(house()) if e.startswith('def throw_away')]

    ProgPrompt(ScriptedModel([example]), NOBODY, options=chosen('prog_prompt', check='graph')).run(
        TASK, world, context
    )

    assert context.failed == []
    assert world.has('lime_11', 'inside', 'garbagecan_32')
    checks = [line for line in context.lines if "'close' to 'lime'" in line]
    assert checks == ["'close' to 'lime': False by graph"]  # `find` went to it, behind the door


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
        ("'close' to 'egg'", None, False),  # it is behind a closed door
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
def test_facts_decide_whether_a_condition_is_true(text: str, found: str | None, so: bool) -> None:
    assert is_true(condition(text), SCENE, found) is so


@pytest.mark.parametrize(
    ('text', 'expected'),
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
def test_a_check_has_the_close_and_held_objects_in_question(text: str, expected: str) -> None:
    assert state_text(condition(text), SCENE) == expected


@pytest.mark.parametrize(
    ('text', 'so'),
    [('True', True), ('False.', False), ('`true`', True), ('**False** as it is closed', False)],
)
def test_a_verdict_is_the_first_word(text: str, so: bool) -> None:
    assert parse_verdict(text) is so
