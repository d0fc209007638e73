"""The memory graph: places within places, hands and seats, and what comes into sight later."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_scenes import made_scene

from bbllm.core.types import Kind, Scene, SkillCall
from bbllm.planners.common.goal_predicates import GoalPredicate, GoalRelation
from bbllm.planners.fltrnn.memory_graph import MemoryGraph

THINGS = 'kitchen_1 bath_2 character_3 fridge_4 box_5 milk_6 plum_7 table_8 sofa_9 shelf_10'
FACTS = (
    'character_3 in_room kitchen_1',
    *(f'{name} in_room kitchen_1' for name in ('fridge_4', 'box_5', 'milk_6', 'plum_7')),
    *('table_8 in_room kitchen_1', 'sofa_9 in_room kitchen_1', 'shelf_10 in_room bath_2'),
    *('fridge_4 is closed', 'box_5 is closed', 'box_5 inside fridge_4', 'milk_6 inside box_5'),
    *('plum_7 on table_8', 'milk_6 affords grabbable', 'plum_7 affords grabbable'),
    'box_5 affords grabbable',
)


def scene(*facts: str, things: str = THINGS) -> Scene:
    made = made_scene(things, *facts)
    rooms = ('kitchen_1', 'bath_2')
    return replace(
        made,
        objects=tuple(
            replace(item, kind=Kind.LOCATION) if item.name in rooms else item
            for item in made.objects
        ),
    )


def call(text: str) -> SkillCall:
    skill, *args = text.split()
    return SkillCall(skill, tuple(args))


def after(*calls: str) -> MemoryGraph:
    memory = MemoryGraph(scene(*FACTS))
    for text in calls:
        memory.apply(call(text))
    return memory


def predicate(relation: str, thing: str, place: str = '', count: int = 1) -> GoalPredicate:
    return GoalPredicate(GoalRelation(relation), thing, place, count)


@pytest.mark.parametrize(
    ('relation', 'thing', 'place', 'so'),
    [
        ('inside', 'milk', 'box', True),
        ('inside', 'milk', 'fridge', True),
        ('inside', 'milk', 'kitchen', True),
        ('on', 'milk', 'kitchen', False),
        ('inside', 'milk', 'bath', False),
        ('on', 'plum', 'table', True),
        ('inside', 'plum', 'table', False),
    ],
)
def test_a_thing_is_in_all_that_its_place_is_in_and_on_no_room(
    relation: str, thing: str, place: str, so: bool
) -> None:
    assert after().is_satisfied(predicate(relation, thing, place)) is so


def test_as_many_have_to_be_so_as_a_predicate_says() -> None:
    memory = after('grab plum_7')

    assert memory.is_satisfied(predicate('holds', 'plum'))
    assert not memory.is_satisfied(predicate('holds', 'plum', count=2))
    assert not memory.is_satisfied(predicate('holds', 'milk'))


def test_what_is_shut_in_twice_has_the_outer_door_opened_first() -> None:
    memory = after()
    assert memory.closed_around('milk_6') == 'fridge_4'

    memory.apply(call('open fridge_4'))

    assert memory.closed_around('milk_6') == 'box_5'


def test_what_is_carried_goes_along_and_is_within_reach_everywhere() -> None:
    memory = after('grab plum_7', 'walk shelf_10')

    assert (memory.here, memory.room_of('plum_7')) == ('bath_2', 'bath_2')
    assert memory.places('plum_7') == ()
    assert memory.refusal(call('putback plum_7 shelf_10')) is None
    assert 'is in kitchen_1' in str(memory.refusal(call('putback plum_7 table_8')))


def test_what_is_put_down_is_where_it_was_put_and_in_no_hand() -> None:
    on = after('grab plum_7', 'putback plum_7 sofa_9')
    inside = after('grab plum_7', 'open fridge_4', 'putin plum_7 fridge_4')

    assert (on.places('plum_7'), on.held) == ((('on', 'sofa_9'),), ())
    assert inside.places('plum_7') == (('inside', 'fridge_4'),)


def test_on_top_of_something_closed_there_is_room_and_in_it_there_is_none() -> None:
    memory = after('grab plum_7')

    assert memory.refusal(call('putback plum_7 fridge_4')) is None
    assert 'is closed' in str(memory.refusal(call('putin plum_7 fridge_4')))


def test_nothing_is_put_into_what_is_in_it() -> None:
    memory = after('open fridge_4', 'open box_5', 'grab box_5')

    assert 'cannot be put into itself' in str(memory.refusal(call('putin box_5 milk_6')))


def test_who_sits_sits_down_nowhere_else_and_goes_nowhere() -> None:
    memory = after('sit sofa_9')

    for text in ('sit table_8', 'walk shelf_10', 'find plum_7'):
        assert 'it has to stand up first' in str(memory.refusal(call(text)))
    assert memory.refusal(call('grab plum_7')) is None
    assert after('sit sofa_9', 'standup').refusal(call('sit table_8')) is None


def test_what_nothing_is_known_of_may_be_grabbed_and_what_only_stands_there_may_not() -> None:
    plain = MemoryGraph(scene('chair_1 affords sittable', things='chair_1 thing_2'))

    assert plain.refusal(call('grab thing_2')) is None
    assert 'cannot be grabbed' in str(plain.refusal(call('grab chair_1')))


def test_what_is_known_stays_as_it_is_remembered_when_it_is_seen_again() -> None:
    memory = after('grab plum_7', 'putback plum_7 sofa_9', 'open fridge_4')
    held = (*FACTS[:-1], 'plum_7 held_by character_3', 'milk_6 on table_8')

    memory.see(scene(*held))

    assert memory.held == ()
    assert memory.places('plum_7') == (('on', 'sofa_9'),)
    assert memory.places('milk_6') == (('inside', 'box_5'),)
    assert memory.states('fridge_4') == {'open'}


def test_a_change_of_a_copy_is_no_change_of_what_was_copied() -> None:
    memory = after()
    other = memory.copy()
    for text in ('open fridge_4', 'grab plum_7', 'putback plum_7 sofa_9', 'sit sofa_9'):
        other.apply(call(text))

    assert memory.states('fridge_4') == {'closed'}
    assert memory.places('plum_7') == (('on', 'table_8'),)
    assert (memory.held, memory.seat) == ((), None)
    assert other.states('fridge_4') == {'open'}


def test_who_acts_is_none_of_the_things() -> None:
    assert 'character_3' not in after().names
    assert {'kitchen_1', 'bath_2'} == set(after().rooms)
