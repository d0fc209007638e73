"""
VirtualHome's rules as a table: per action its checks in order, and what it changes.

To be held line by line against section 1.6 of the facts about VirtualHome 2.3.0; that it is right
is proven by a test that runs the original beside it. In the messages, {C} is the character, {a}
and {b} are the things of the line.
"""

from __future__ import annotations

from collections.abc import Mapping

from bbllm.worlds.household.checks import (
    A,
    B,
    any_of,
    carries,
    carries_character,
    carries_something,
    character_has_room,
    close_to,
    faces,
    faces_directly,
    hand_is_free,
    hand_is_full,
    has,
    has_room,
    holding,
    holding_a_knife,
    in_a_room,
    in_same_room,
    in_state,
    no,
    of_class,
    place_left_on,
    remembered,
    supported,
    taken_from_inside,
    with_posture,
    within_reach,
)
from bbllm.worlds.household.effects import (
    drop_into_room,
    face,
    face_what_it_faces,
    forget_place,
    link,
    look_away,
    pour,
    put,
    put_back,
    rest_on,
    set_state,
    take,
    take_posture,
    unhand,
    walk_to,
    wear,
)
from bbllm.worlds.household.rule import Check, OnFailure, Rule
from bbllm.worlds.household.vocabulary import Action, Property, Relation, State

SEATS = {
    'couch': 4, 'bed': 4, 'chair': 1, 'loveseat': 2, 'sofa': 4, 'toilet': 1, 'pianobench': 2,
    'bench': 2,
}  # fmt: skip
"""How many can sit on a thing; one on things of another class."""
BERTHS = {'couch': 2, 'bathtub': 2, 'bed': 3, 'loveseat': 2, 'sofa': 2, 'bench': 1}
"""How many can lie on a thing; one on things of another class."""
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
TO_CLEAN = set_state(A, State.CLEAN, State.DIRTY)

STANDING = Check('sitting', no(with_posture(State.SITTING, State.LYING)), '{C} is sitting')
WALK = Rule(
    (STANDING, IN_ROOM, Check('no_room', has_room(A), '')),
    (walk_to(A),),
    misses_things=False,
)
FAR_FIND = Rule((IN_ROOM, Check('no_room', has_room(A), CLOSE_A.message)), (walk_to(A),))
"""FIND of what is not close: it walks, and where that fails it says that it is not close."""
FIND = Rule(
    (CLOSE_A,),
    (look_away, link(A)),
    when=any_of(
        carries_character(A),
        has(A, Property.BODY_PART),
        close_to(A),
        with_posture(State.SITTING, State.LYING),
    ),
    instead=FAR_FIND,
    misses_things=False,
)
LOOK = Rule((FACING,))
LET_GO = Rule((HOLDING_A, IN_ROOM), (unhand(A), drop_into_room(A), forget_place(A)))
CLEANING = Rule((CLOSE_A,), (TO_CLEAN,))
RISE = Rule((RESTING,))


def moving(*also: str) -> Rule:
    movable = any_of(has(A, Property.MOVABLE), of_class(A, 'button', 'chair', 'curtain', *also))
    return Rule(
        (Check('not_movable', movable, '{a} is not movable'), CLOSE_A, REACHABLE, FREE_HAND)
    )


def _unsupported(why: str, *, misses_things: bool = True) -> Rule:
    return Rule((Check('unsupported', supported(why), ''),), misses_things=misses_things)


RULES: Mapping[Action, Rule] = {
    Action.WALK: WALK,
    Action.RUN: WALK,
    Action.FIND: FIND,
    Action.GRAB: Rule(
        (
            Check(
                'not_grabbable',
                any_of(has(A, Property.GRABBABLE), of_class(A, 'water', 'child')),
                '{a} is not grabbable',
            ),
            Check('already_grabbed', no(remembered(A)), '{a} already grabbed'),
            CLOSE_A,
            REACHABLE,
            FREE_HAND,
            IN_ROOM,
        ),
        (take(A),),
    ),
    Action.OPEN: Rule(
        (
            OPENABLE,
            CLOSE_A,
            FREE_HAND,
            Check('not_closed', in_state(A, State.CLOSED), '{a} is not closed'),
            Check('still_on', no(in_state(A, State.ON)), '{a} is still on'),
        ),
        (set_state(A, State.OPEN, State.CLOSED),),
    ),
    Action.CLOSE: Rule(
        (
            OPENABLE,
            CLOSE_A,
            Check('not_open', in_state(A, State.OPEN), '{a} is not open'),
        ),
        (set_state(A, State.CLOSED, State.OPEN),),
    ),
    Action.PUTBACK: Rule((HOLDING_A, CLOSE_B), (put(A, Relation.ON, B), forget_place(A))),
    Action.PUTIN: Rule(
        (HOLDING_A, CLOSE_B, Check('not_open', B_OPEN, B_NOT_OPEN)),
        (put(A, Relation.INSIDE, B), forget_place(A)),
    ),
    Action.PUTOBJBACK: Rule(
        (
            Check('not_grabbed', remembered(A), '{a} not grabbed'),
            Check(HOLDING_A.name, HOLDING_A.holds, HOLDING_A.message, OnFailure.SKIP),
            Check(CLOSE_B.name, CLOSE_B.holds, CLOSE_B.message, OnFailure.SKIP),
            Check(
                'not_open', any_of(no(taken_from_inside(A)), B_OPEN), B_NOT_OPEN, OnFailure.SKIP
            ),
        ),
        (put_back(A, B), forget_place(A)),
        recalls_place=True,
    ),
    Action.SWITCHON: Rule(
        (
            SWITCH,
            CLOSE_A,
            Check('not_off', in_state(A, State.OFF), '{a} is not off'),
            Check('unplugged', no(in_state(A, State.PLUGGED_OUT)), '{a} is unplugged'),
        ),
        (set_state(A, State.ON, State.OFF),),
    ),
    Action.SWITCHOFF: Rule(
        (SWITCH, CLOSE_A, Check('not_on', in_state(A, State.ON), '{a} is not on')),
        (set_state(A, State.OFF, State.ON),),
    ),
    Action.SIT: Rule(
        (
            CLOSE_A,
            Check('sitting', no(with_posture(State.SITTING)), '{C} is sitting'),
            Check('not_sittable', has(A, Property.SITTABLE), '{a} is not sittable'),
            Check('no_place', place_left_on(A, SEATS, 1), 'Too many things on {a}'),
        ),
        (rest_on(A), face_what_it_faces(A), take_posture(State.SITTING)),
    ),
    Action.LIE: Rule(
        (
            CLOSE_A,
            Check('lying', no(with_posture(State.LYING)), '{C} is lying'),
            Check('not_lieable', has(A, Property.LIEABLE), '{a} is not lieable'),
            Check('no_place', place_left_on(A, BERTHS, 1), 'Too many things on {a}'),
        ),
        (rest_on(A), take_posture(State.LYING)),
    ),
    Action.STANDUP: Rule(
        (Check('not_resting', with_posture(State.SITTING, State.LYING), '{C} is not sitting'),),
        (take_posture(),),
    ),
    Action.SLEEP: RISE,
    Action.WAKEUP: RISE,
    Action.DROP: LET_GO,
    Action.RELEASE: LET_GO,
    Action.DRINK: Rule(
        (
            Check(
                'not_drinkable',
                has(A, Property.DRINKABLE, Property.RECIPIENT),
                '{a} is not drinkable or not recipient',
            ),
            HOLDING_A,
        )
    ),
    Action.EAT: Rule(
        (
            CLOSE_A,
            Check(
                'not_eatable',
                any_of(has(A, Property.EATABLE), carries_something(A)),
                '{a} is not eatable',
            ),
            Check(
                'nothing_eatable',
                any_of(has(A, Property.EATABLE), carries(A, Property.EATABLE)),
                'none of object on {a} is eatable',
            ),
        )
    ),
    Action.READ: Rule(
        (Check('not_readable', has(A, Property.READABLE), '{a} is not readable'), HOLDING_A)
    ),
    Action.CUT: Rule(
        (
            FREE_HAND,
            CLOSE_A,
            EATABLE,
            Check('not_cuttable', has(A, Property.CUTTABLE), '{a} is not cuttable'),
            Check('no_knife', holding_a_knife, '{C} is not holding a knife'),
        )
    ),
    Action.POUR: Rule(
        (
            Check(
                'not_pourable',
                has(A, Property.POURABLE, Property.DRINKABLE),
                '{a} is not pourable or drinkable',
            ),
            Check(
                'not_recipient',
                any_of(has(B, Property.RECIPIENT), of_class(B, 'hands_both', 'sponge', 'face')),
                '{b} is not recipient',
            ),
            HOLDING_A,
            CLOSE_B,
        ),
        (pour(A, B),),
    ),
    Action.LOOKAT: LOOK,
    Action.POINTAT: LOOK,
    Action.TURNTO: Rule((), (look_away, face(A))),
    Action.WATCH: Rule(
        (
            Check('not_lookable', has(A, Property.LOOKABLE), '{a} not lookable'),
            IN_ROOM,
            Check('unsupported', in_a_room(A), ''),
            Check('other_room', in_same_room(A), 'char room {room_C} is not node room {room_a}'),
            FACING,
            Check(
                'not_facing',
                any_of(
                    of_class(A, 'computer'), no(with_posture(State.SITTING)), faces_directly(A)
                ),
                '{C} is not facing {a} while sitting',
            ),
            Check(REACHABLE.name, REACHABLE.holds, REACHABLE.message, OnFailure.TELL),
        )
    ),
    Action.TOUCH: Rule((CLOSE_A, REACHABLE)),
    Action.WIPE: Rule(
        (
            CLOSE_A,
            Check('empty_hands', hand_is_full, '{C} does not hold anything in hands'),
        ),
        (TO_CLEAN,),
    ),
    Action.WASH: CLEANING,
    Action.RINSE: CLEANING,
    Action.SCRUB: CLEANING,
    Action.SQUEEZE: Rule(
        (
            FREE_HAND,
            CLOSE_A,
            Check(
                'not_clothes',
                any_of(has(A, Property.CLOTHES), of_class(A, *SQUEEZABLE)),
                '{a} is not clothes',
            ),
        )
    ),
    Action.PUSH: Rule((CLOSE_A, REACHABLE, FREE_HAND)),
    Action.PULL: moving(),
    Action.MOVE: moving(),
    Action.TYPE: Rule(
        (
            CLOSE_A,
            Check(
                'no_switch',
                any_of(of_class(A, 'keyboard'), has(A, Property.HAS_SWITCH)),
                '{a} does not have switch',
            ),
        )
    ),
    Action.PLUGIN: Rule(
        (
            PLUG,
            CLOSE_A,
            FREE_HAND,
            Check('not_plugged_out', in_state(A, State.PLUGGED_OUT), '{a} is not plugged_out'),
        ),
        (set_state(A, State.PLUGGED_IN, State.PLUGGED_OUT),),
    ),
    Action.PLUGOUT: Rule(
        (
            PLUG,
            CLOSE_A,
            FREE_HAND,
            Check('not_plugged_in', in_state(A, State.PLUGGED_IN), '{a} is not plugged_in'),
            Check('still_on', no(in_state(A, State.ON)), '{a} is still on', OnFailure.TELL),
        ),
        (set_state(A, State.PLUGGED_OUT, State.PLUGGED_IN),),
    ),
    Action.PUTON: Rule(
        (HOLDING_A, Check('not_clothes', has(A, Property.CLOTHES), '{a} is not clothes')),
        (wear(A), unhand(A)),
    ),
    Action.PUTOFF: _unsupported('PUTOFF breaks off in VirtualHome 2.3.0'),
    Action.GREET: Rule((Check('not_person', has(A, Property.PERSON), '{a} is not person'),)),
    Action.LOOKAT_SHORT: _unsupported('VirtualHome 2.3.0 has no rule', misses_things=False),
    Action.LOOKAT_LONG: _unsupported('VirtualHome 2.3.0 has no rule', misses_things=False),
}
"""One row for each action."""
