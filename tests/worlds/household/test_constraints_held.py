"""Constraints hold for what they name and nothing else, beside each other and after the rules."""

from __future__ import annotations

from bbllm.core.types import SkillCall
from bbllm.worlds.household.constraints import Constraint, faults_of_constraints
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import build
from bbllm.worlds.household.world import HouseholdWorld


def kitchen() -> Graph:
    """Ids from 100: a toaster, two slices of bread, a stool with a plate, and a desk elsewhere."""
    rooms = {
        'kitchen': ['toaster', 'breadslice*2', {'stool': {'on': ['plate']}}],
        'bedroom': ['desk'],
    }
    return build({'rooms': rooms}, 'made up')


ONE_SLICE = {'holds_at_most': {'thing': 'toaster', 'count': 1}}


def world(*constraints: dict[str, object]) -> HouseholdWorld:
    return HouseholdWorld(
        kitchen(), constraints=[Constraint.model_validate(words) for words in constraints]
    )


def does(world: HouseholdWorld, *lines: str) -> str:
    """Do steps; returns the check that the last one fails, '' where it does not."""
    failed = ''
    for line in lines:
        skill, *args = line.split()
        failed = world.execute(SkillCall(skill, tuple(args))).raw
    return failed


BOTH_SLICES = ('walk breadslice_101', 'grab breadslice_101', 'walk breadslice_102',
               'grab breadslice_102', 'walk toaster_100')  # fmt: skip


def test_what_lies_on_a_toaster_takes_the_room_in_it() -> None:
    one = world(ONE_SLICE)

    assert does(one, *BOTH_SLICES, 'putback breadslice_101 toaster_100') == ''
    assert does(one, 'putin breadslice_102 toaster_100') == 'no_room_left'


def test_little_room_in_one_thing_leaves_other_things_their_room() -> None:
    one = world(ONE_SLICE)
    on_stool = ('walk stool_103', 'putback breadslice_101 stool_103')

    assert does(one, *BOTH_SLICES, *on_stool, 'putback breadslice_102 stool_103') == ''


def test_what_was_taken_out_finds_no_room_when_it_is_put_back_to_where_it_was() -> None:
    one = world(ONE_SLICE)
    does(one, *BOTH_SLICES, 'putin breadslice_101 toaster_100', 'grab breadslice_101')
    assert does(one, 'putin breadslice_102 toaster_100') == ''

    assert does(one, 'putobjback breadslice_101') == 'no_room_left'


def test_several_constraints_on_one_action_hold_all() -> None:
    both = world(ONE_SLICE, {'puts_only_on': 'furniture'})
    does(both, *BOTH_SLICES, 'putin breadslice_101 toaster_100')

    assert does(both, 'putin breadslice_102 toaster_100') == 'no_room_left'
    assert does(both, 'walk plate_104', 'putback breadslice_102 plate_104') == 'not_steady'


def test_what_the_rules_of_the_house_forbid_is_told_before_a_constraint_is_felt() -> None:
    slippery = world({'not_graspable': {'thing': 'breadslice'}})

    assert does(slippery, 'walk desk_105', 'grab breadslice_101') == 'not_close'
    assert does(slippery, 'walk breadslice_101', 'grab breadslice_101') == 'not_graspable'


def test_a_constraint_on_all_things_lacks_nothing_in_any_house() -> None:
    furniture = Constraint.model_validate({'puts_only_on': 'furniture'})

    assert faults_of_constraints([furniture], kitchen()) == []
