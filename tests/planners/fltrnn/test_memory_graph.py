"""The memory graph: what it refuses and what it remembers."""

import pytest

from bbllm.core.types import Scene, SkillCall
from bbllm_planners.fltrnn.grammar import parse_object
from bbllm_planners.fltrnn.memory_graph import ARITY, MemoryGraph
from bbllm_planners.goal_predicates import GoalPredicate, GoalRelation
from tests.planners.house_player import Studio, id_of
from tests.planners.made_scenes import made_scene

MILK_ON_SOFA = GoalPredicate(GoalRelation.ON, 'milk', 'sofa')


def do(text: str) -> SkillCall:
    """Return a call of `grab milk`, on the first things of these classes."""
    verb, *words = text.split()
    names = (parse_object(id_of(word)) for word in words)
    return SkillCall(verb, tuple(name for name in names if name))


def after(*texts: str) -> MemoryGraph:
    memory = MemoryGraph(Studio().observe())
    for text in texts:
        memory.apply(do(text))
    return memory


@pytest.mark.parametrize(
    ('before', 'call', 'why'),
    [
        ([], 'grab milk', 'is in kitchen_'),
        (['walk kitchen'], 'grab milk', 'which is closed; it has to be opened first'),
        (['walk kitchen', 'open fridge'], 'grab milk', None),
        (['walk kitchen', 'open fridge', 'grab milk'], 'grab juice', 'only one thing may be held'),
        (['walk kitchen', 'open fridge'], 'open fridge', 'is open already'),
        (['walk kitchen'], 'close fridge', 'is not open'),
        (['walk kitchen'], 'open kitchencounter', 'is nothing that can be opened'),
        (['walk kitchen'], 'putback plum fridge', 'is not held'),
        (['walk kitchen', 'grab plum'], 'putin plum fridge', 'fridge_130 is closed'),
        (['walk kitchen', 'grab plum'], 'putback plum plum', 'cannot be put into itself'),
        (['walk kitchen', 'open microwave'], 'switchon microwave', 'has to be closed before'),
        (['walk kitchen', 'switchon microwave'], 'open microwave', 'has to be switched off'),
        (['walk kitchen', 'switchon microwave'], 'switchon microwave', 'is not off'),
        (['walk kitchen'], 'switchoff microwave', 'is not on'),
        (['walk sofa', 'sit sofa'], 'walk kitchen', 'has to stand up first'),
        (['walk sofa', 'sit sofa', 'standup'], 'walk kitchen', None),
        (['walk kitchen'], 'grab fridge', 'cannot be grabbed'),
        ([], 'wash milk', "no action 'wash'"),
        ([], 'grab', 'takes 1 things, but got 0'),
    ],
)
def test_what_a_rule_forbids_is_refused_with_what_would_have_to_be_done(
    before: list[str], call: str, why: str | None
) -> None:
    refusal = after(*before).refusal(do(call))

    if why is None:
        assert refusal is None
    else:
        fridge = parse_object(id_of('fridge')) or ''
        assert refusal is not None and why.replace('fridge_130', fridge) in refusal.why


def test_an_object_is_where_it_was_put_and_moves_with_its_place() -> None:
    memory = after('walk kitchen', 'open fridge', 'grab milk', 'walk sofa', 'putback milk sofa')

    assert memory.is_satisfied(MILK_ON_SOFA)
    assert memory.held == ()
    (milk,) = memory.of_class('milk')
    assert memory.room_of(milk) == memory.room_of(memory.of_class('sofa')[0])
    assert not memory.is_satisfied(GoalPredicate(GoalRelation.INSIDE, 'milk', 'fridge'))
    assert memory.is_satisfied(GoalPredicate(GoalRelation.INSIDE, 'milk', 'livingroom'))


def test_who_sits_at_first_sight_has_to_stand_up_before_it_walks() -> None:
    world = Studio()
    for text in ('walk sofa', 'sit sofa'):
        assert world.execute(do(text)).succeeded
    memory = MemoryGraph(world.observe())

    takes = {skill.name: len(skill.params) for skill in world.skills}
    assert {name: takes[name] for name in ARITY} == ARITY
    assert memory.seat == do('walk sofa').args[0]
    assert 'has to stand up first' in str(memory.refusal(do('walk kitchen')))
    assert world.execute(SkillCall('standup')).succeeded
    assert MemoryGraph(world.observe()).seat is None


OBJECTS = 'kitchen_1 bath_2 character_3 fridge_4 box_5 milk_6 plum_7 table_8 sofa_9 shelf_10'
FACTS = (
    'character_3 in_room kitchen_1',
    *(f'{name} in_room kitchen_1' for name in ('fridge_4', 'box_5', 'milk_6', 'plum_7')),
    *('table_8 in_room kitchen_1', 'sofa_9 in_room kitchen_1', 'shelf_10 in_room bath_2'),
    *('fridge_4 is closed', 'box_5 is closed', 'box_5 inside fridge_4', 'milk_6 inside box_5'),
    *('plum_7 on table_8', 'milk_6 affords grabbable', 'plum_7 affords grabbable'),
    'box_5 affords grabbable',
)


def scene(*facts: str) -> Scene:
    return made_scene(OBJECTS, *facts, rooms='kitchen_1 bath_2')


@pytest.mark.parametrize(
    ('relation', 'obj', 'place', 'so'),
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
def test_an_object_is_in_all_containers_of_its_place_and_on_no_room(
    relation: str, obj: str, place: str, so: bool
) -> None:
    wanted = GoalPredicate(GoalRelation(relation), obj, place)

    assert MemoryGraph(scene(*FACTS)).is_satisfied(wanted) is so


def test_what_is_known_stays_as_it_is_remembered_when_it_is_seen_again() -> None:
    memory = MemoryGraph(scene(*FACTS))
    assert memory.closed_around('milk_6') == 'fridge_4'
    for skill, *args in (
        ('grab', 'plum_7'),
        ('putback', 'plum_7', 'sofa_9'),
        ('open', 'fridge_4'),
    ):
        memory.apply(SkillCall(skill, tuple(args)))
    assert memory.closed_around('milk_6') == 'box_5'
    held = (*FACTS[:-1], 'plum_7 held_by character_3', 'milk_6 on table_8')

    memory.see(scene(*held))

    assert memory.held == ()
    assert memory.places('plum_7') == (('on', 'sofa_9'),)
    assert memory.places('milk_6') == (('inside', 'box_5'),)
    assert memory.states('fridge_4') == {'open'}
