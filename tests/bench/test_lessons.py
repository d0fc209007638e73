"""What a failed step teaches, what is said of it, and what can be read of that again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bbllm.bench.household_expert.conclusions import concluded_in, conclusion, refused_in
from bbllm.bench.household_expert.lessons import Lessons, Surprise, surprised
from bbllm.core.types import SkillCall
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import build
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm.worlds.household.world import HouseholdWorld

SECOND_SLICE = (
    *('walk breadslice_104', 'grab breadslice_104', 'walk breadslice_105', 'grab breadslice_105'),
    *('walk toaster_103', 'putin breadslice_104 toaster_103', 'putin breadslice_105 toaster_103'),
)
"""The last step fails where a toaster holds one slice at most."""


def kitchen(*constraints: dict[str, Any]) -> HouseholdWorld:
    """Ids from 100: stool, two forks, toaster, two slices, plate, fridge, apple."""
    graph = build(
        {'rooms': {'kitchen': [
            {'stool': {'on': ['cutleryfork*2']}}, 'toaster', 'breadslice*2', 'plate',
            {'fridge': {'inside': ['apple'], 'is': ['open']}},
        ]}},
        'made up',
    )  # fmt: skip
    found = [Constraint.model_validate(words) for words in constraints]
    return HouseholdWorld(graph, constraints=found)


def told_by(world: HouseholdWorld, *lines: str) -> str:
    """Do steps such as `grab apple_108`, and return what is told of the last, which fails."""
    for line in lines:
        skill, *args = line.split()
        outcome = world.execute(SkillCall(skill, tuple(args)))
    assert not outcome.succeeded
    return outcome.message


def names_of(words: dict[str, int]) -> Any:
    return words.get


@pytest.mark.parametrize(
    ('constraint', 'steps', 'learnt'),
    [
        (
            {'not_graspable': {'thing': 'apple'}},
            ['walk apple_108', 'grab apple_108'],
            Lessons(gripless=frozenset({108})),
        ),
        (
            {'holds_at_most': {'thing': 'toaster', 'count': 1}},
            SECOND_SLICE,
            Lessons(room=frozenset({(103, 1)})),
        ),
        (
            {'puts_only_on': 'furniture'},
            ['walk plate_106', 'grab plate_106', 'walk apple_108', 'grab apple_108',
             'putback apple_108 plate_106'],
            Lessons(room=frozenset({(106, 0)})),
        ),
    ],
)  # fmt: skip
def test_each_sentence_by_which_a_house_refuses_a_step_is_understood(
    constraint: dict[str, Any], steps: Sequence[str], learnt: Lessons
) -> None:
    world = kitchen(constraint)

    message = told_by(world, *steps)

    assert refused_in(message, world.graph, names_of({})) == learnt


def test_a_sentence_in_a_planner_s_own_names_is_understood_too() -> None:
    graph = kitchen().graph

    heard = refused_in('char gets no grip on apple1 and pear9', graph, names_of({'apple1': 108}))

    assert heard == Lessons(gripless=frozenset({108}))


def test_a_sentence_about_something_else_teaches_nothing() -> None:
    world = kitchen()

    assert not refused_in(told_by(world, 'grab apple_108'), world.graph, names_of({}))


@pytest.mark.parametrize(
    ('surprise', 'learnt'),
    [
        (Surprise(Action.GRAB, (108,)), Lessons(gripless=frozenset({108}))),
        (
            Surprise(Action.PUTIN, (105, 103), frozenset({104})),
            Lessons(room=frozenset({(103, 1)})),
        ),
        (Surprise(Action.PUTIN, (105, 103)), Lessons()),
        (Surprise(Action.SWITCHON, (103,)), Lessons()),
    ],
)
def test_what_is_concluded_can_be_read_again(surprise: Surprise, learnt: Lessons) -> None:
    numbers = {'apple1': 108, 'toaster1': 103, 'breadslice2': 105}
    short = {node_id: word for word, node_id in numbers.items()}

    text = conclusion(surprise, short.__getitem__)

    assert concluded_in(f'Step 3 failed, as {text}.', numbers.get) == learnt


def test_a_put_that_failed_is_tried_again_when_something_else_lies_there() -> None:
    toaster = {'holds_at_most': {'thing': 'toaster', 'count': 1}}
    world = kitchen(toaster)
    told_by(world, *SECOND_SLICE)
    put = ScriptLine(Action.PUTIN, (('breadslice', 105), ('toaster', 103)))
    free = Household(world.graph)

    failed = Surprise.at(world.graph, Action.PUTIN, (105, 103))
    wiser = surprised([failed]).heeded_in(free)

    assert free.can(put)
    assert not wiser.can(put)
    assert wiser.step(ScriptLine(Action.GRAB, (('breadslice', 104),))).succeeded
    assert wiser.can(put)


def test_that_one_can_go_somewhere_stays_believed() -> None:
    assert not surprised([Surprise(Action.WALK, (103,))])
