"""Checks that several rules make, and classes that are known by name."""

from __future__ import annotations

from bbllm.worlds.household.checks import (
    A,
    B,
    any_of,
    character_has_room,
    close_to,
    faces,
    faces_directly,
    hand_is_free,
    has,
    holding,
    in_same_room,
    in_state,
    no,
    of_class,
    taken_from_inside,
    with_posture,
    within_reach,
)
from bbllm.worlds.household.rule import Check
from bbllm.worlds.household.vocabulary import Property, State

SEATS = {
    'couch': 4, 'bed': 4, 'chair': 1, 'loveseat': 2, 'sofa': 4, 'toilet': 1, 'pianobench': 2,
    'bench': 2,
}  # fmt: skip
"""How many can sit on an object; one on objects of another class."""
BERTHS = {'couch': 2, 'bathtub': 2, 'bed': 3, 'loveseat': 2, 'sofa': 2, 'bench': 1}
"""How many can lie on an object; one on objects of another class."""
SQUEEZABLE = (
    'cleaning_solution', 'tooth_paste', 'shampoo', 'food_peanut_butter', 'dish_soap', 'soap',
    'towel', 'rag', 'paper', 'sponge', 'food_lemon', 'check',
)  # fmt: skip
"""Classes that can be squeezed though they are no clothes."""

CLOSE_A = Check('not_close', close_to(A), '{C} is not close to {a}')
CLOSE_B = Check('not_close', close_to(B), '{C} is not close to {b}')
HOLDING_A = Check('not_holding', holding(A), '{C} is not holding {a}')
FREE_HAND = Check('no_free_hand', hand_is_free, '{C} does not have a free hand')
REACHABLE = Check('inside_closed', within_reach(A), '{a} is inside other closed thing')
IN_ROOM = Check('unsupported', character_has_room, '')
FACING = Check('not_facing', faces(A), '{C} does not face {a}')
OPENABLE = Check(
    'not_openable',
    any_of(has(A, Property.CAN_OPEN), of_class(A, 'desk', 'window')),
    '{a} can not be opened',
)
SWITCH = Check('no_switch', has(A, Property.HAS_SWITCH), '{a} does not have a switch')
PLUG = Check('no_plug', has(A, Property.HAS_PLUG), '{a} does not have a plug')
EATABLE = Check('not_eatable', has(A, Property.EATABLE), '{a} is not eatable')
RESTING = Check(
    'not_resting',
    with_posture(State.SITTING, State.LYING),
    '{C} is not lying or sitting',
)
B_OPEN = any_of(no(has(B, Property.CAN_OPEN)), in_state(B, State.OPEN))
B_NOT_OPEN = '{b} is not open or is not openable'
STANDING = Check('sitting', no(with_posture(State.SITTING, State.LYING)), '{C} is sitting')
NOT_STANDING = Check('not_resting', with_posture(State.SITTING, State.LYING), '{C} is not sitting')
B_OPEN_IF_TAKEN_OUT = any_of(no(taken_from_inside(A)), B_OPEN)
GRABBABLE = Check(
    'not_grabbable',
    any_of(has(A, Property.GRABBABLE), of_class(A, 'water', 'child')),
    '{a} is not grabbable',
)
MOVABLE = Check(
    'not_movable',
    any_of(has(A, Property.MOVABLE), of_class(A, 'button', 'chair', 'curtain')),
    '{a} is not movable',
)
RECIPIENT = Check(
    'not_recipient',
    any_of(has(B, Property.RECIPIENT), of_class(B, 'hands_both', 'sponge', 'face')),
    '{b} is not recipient',
)
SAME_ROOM = Check('other_room', in_same_room(A), 'char room {room_C} is not node room {room_a}')
FACING_ITSELF = Check(
    'not_facing',
    any_of(of_class(A, 'computer'), no(with_posture(State.SITTING)), faces_directly(A)),
    '{C} is not facing {a} while sitting',
)
