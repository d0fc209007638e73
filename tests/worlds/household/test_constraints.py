"""What no scene tells: things without a grip, little room, and nothing piled up in the hands."""

import pytest
from pydantic import ValidationError

from bbllm.core.types import Fact
from bbllm.planners.domains.household.scene_text import house_environment
from bbllm.worlds.household.constraints import Constraint, faults_of_constraints
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import build
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm.worlds.household.world import HouseholdWorld
from tests.worlds.household.small_houses import execute


def kitchen() -> Graph:
    """Ids from 100: stool, two forks, toaster, two slices, plate, fridge, apple."""
    return build(
        {'rooms': {'kitchen': [
            {'stool': {'on': ['cutleryfork*2']}}, 'toaster', 'breadslice*2', 'plate',
            {'fridge': {'inside': ['apple'], 'is': ['open']}},
        ]}},
        'made up',
    )  # fmt: skip


def constraint(**words: object) -> Constraint:
    return Constraint.model_validate(words)


def does(world: HouseholdWorld, *lines: str) -> str:
    """Do steps such as `grab apple_108`; returns why the last one failed, '' where it did not."""
    outcome = execute(world, *lines)
    return '' if outcome.succeeded else f'{outcome.raw}: {outcome.message}'


def test_objects_without_a_grip_fail_when_grabbed_and_others_of_the_class_do_not() -> None:
    slippery = constraint(not_graspable={'thing': 'cutleryfork', 'count': 1})
    world = HouseholdWorld(kitchen(), constraints=[slippery])

    reported = does(world, 'walk stool_100', 'grab cutleryfork_101')

    assert reported.startswith(
        'not_graspable: <character> (1) gets no grip on <cutleryfork> (101)'
    )
    assert does(world, 'grab cutleryfork_102') == ''
    all_of_them = HouseholdWorld(
        kitchen(), constraints=[constraint(not_graspable={'thing': 'cutleryfork'})]
    )
    assert 'not_graspable' in does(all_of_them, 'walk stool_100', 'grab cutleryfork_102')


def test_a_full_toaster_takes_a_second_slice_when_the_first_is_out() -> None:
    world = HouseholdWorld(
        kitchen(), constraints=[constraint(holds_at_most={'thing': 'toaster', 'count': 1})]
    )

    shown = [fact for fact in world.observe().facts if fact.predicate == 'limit']
    fits = 'holds at most 1, in and on it together'
    assert shown == [Fact('toaster_103', 'limit', fits)]
    assert f'toaster (off, {fits})' in house_environment(world.observe())
    in_it = ['walk breadslice_104', 'grab breadslice_104', 'walk breadslice_105',
             'grab breadslice_105', 'walk toaster_103']  # fmt: skip
    assert does(world, *in_it, 'putin breadslice_104 toaster_103') == ''
    reported = does(world, 'putin breadslice_105 toaster_103')
    assert reported.startswith('no_room_left: ')
    full = 'it takes more only while fewer than 1 objects are in and on it'
    assert f'no room left at <toaster> (103): {full}' in reported
    full = f'{fits}, and takes no more while 1 or more are there'
    assert f'toaster (off, {full}; inside: breadslice)' in house_environment(world.observe())
    assert does(world, 'putback breadslice_105 toaster_103').startswith('no_room_left')
    assert does(world, 'grab breadslice_104', 'putback breadslice_105 toaster_103') == ''
    assert does(world, 'putobjback breadslice_104').startswith('no_room_left')


def test_where_objects_go_on_furniture_only_nothing_is_piled_up_in_a_hand() -> None:
    free = HouseholdWorld(kitchen())
    strict = HouseholdWorld(kitchen(), constraints=[constraint(puts_only_on='furniture')])
    steps = ['walk plate_106', 'grab plate_106', 'walk fridge_107', 'grab apple_108']

    assert does(free, *steps, 'putback apple_108 plate_106') == ''
    assert does(strict, *steps, 'putback apple_108 plate_106').startswith('not_steady: ')
    assert does(strict, 'putback apple_108 fridge_107') == ''


def test_no_scene_shows_a_constraint_and_a_copy_keeps_it() -> None:
    slippery = constraint(not_graspable={'thing': 'apple'})
    world = HouseholdWorld(kitchen(), constraints=[slippery])

    assert world.observe() == HouseholdWorld(kitchen()).observe()
    copy = Household(kitchen(), constraints=[slippery]).copy()
    assert copy.step(ScriptLine(Action.WALK, (('apple', 108),))).succeeded
    assert copy.step(ScriptLine(Action.GRAB, (('apple', 108),))).broken == 'not_graspable'


def test_whether_a_line_can_be_done_is_checked_without_doing_it() -> None:
    household = Household(kitchen(), constraints=[constraint(not_graspable={'thing': 'plate'})])
    before = household.graph.copy()
    walk, grab = (ScriptLine(action, (('apple', 108),)) for action in (Action.WALK, Action.GRAB))

    assert household.can(walk)
    assert not household.can(grab)
    assert household.graph == before
    household.step(walk)
    assert household.can(grab)


@pytest.mark.parametrize(
    'words',
    [
        {},
        {'not_graspable': {'thing': 'fork'}, 'puts_only_on': 'furniture'},
        {'holds_at_most': {'thing': 'toaster'}},
        {'holds_at_most': {'thing': 'toaster', 'count': 0}},
        {'shut_while_on': {'thing': 'toaster', 'count': 1}},
        {'needs_both_hands': {'thing': 'plate', 'count': 1}},
        {'puts_only_on': 'plates'},
        {'slippery': 'fork'},
    ],
)
def test_a_constraint_states_exactly_one_known_condition(words: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        constraint(**words)


def test_a_house_without_the_object_of_a_constraint_is_reported() -> None:
    faults = faults_of_constraints([constraint(not_graspable={'thing': 'guitar'})], kitchen())

    assert len(faults) == 1
    assert 'there is no guitar' in faults[0]


def test_nothing_goes_into_or_comes_out_of_a_toaster_that_is_on() -> None:
    world = HouseholdWorld(kitchen(), constraints=[constraint(shut_while_on={'thing': 'toaster'})])

    took = ['walk breadslice_104', 'grab breadslice_104', 'walk breadslice_105',
            'grab breadslice_105', 'walk toaster_103', 'putin breadslice_104 toaster_103',
            'switchon toaster_103']  # fmt: skip
    assert does(world, *took) == ''
    assert does(world, 'putin breadslice_105 toaster_103').startswith('runs: ')
    assert does(world, 'grab breadslice_104').startswith('runs: <breadslice> (104) is in what is')
    assert does(world, 'switchoff toaster_103', 'grab breadslice_104') == ''


def test_what_needs_both_hands_goes_with_nothing_else_in_them() -> None:
    world = HouseholdWorld(
        kitchen(), constraints=[constraint(needs_both_hands={'thing': 'plate'})]
    )
    walks = ['walk plate_106', 'grab plate_106', 'walk fridge_107']

    assert does(world, *walks, 'grab apple_108').startswith('both_hands: ')
    assert does(world, 'putback plate_106 fridge_107', 'grab apple_108') == ''
    assert does(world, 'grab plate_106').startswith('both_hands: ')


def test_what_is_stuck_neither_opens_nor_starts() -> None:
    stuck = [constraint(stuck={'thing': name}) for name in ('fridge', 'toaster')]
    world = HouseholdWorld(kitchen(), constraints=stuck)

    assert does(world, 'walk toaster_103', 'switchon toaster_103').startswith('stuck: ')
    assert does(world, 'walk fridge_107', 'close fridge_107') == ''
    refused = does(world, 'open fridge_107')
    assert refused.startswith('stuck: <fridge> (107) is stuck, and stays so')


def test_no_scene_shows_a_state_that_is_unseen_though_it_is_so() -> None:
    world = HouseholdWorld(kitchen(), constraints=[constraint(unseen='toasted')])
    steps = ('walk breadslice_104', 'grab breadslice_104', 'walk toaster_103',
             'putin breadslice_104 toaster_103', 'switchon toaster_103')  # fmt: skip

    assert does(world, *steps) == ''

    assert (104, 'toasted') in world.derived.now
    assert not any(fact.object == 'toasted' for fact in world.observe().facts)
