"""
VirtualHome's rules as a table: per action its checks in order, and what it changes.

To be held line by line against section 1.6 of the facts about VirtualHome 2.3.0; that it is right
is proven by a test that runs the original beside it. In the messages, {C} is the character, {a}
and {b} are the objects of the line.
"""

from __future__ import annotations

from collections.abc import Mapping

from bbllm.worlds.household import checks as ask
from bbllm.worlds.household import effects as do
from bbllm.worlds.household.checks import A, B, any_of, no
from bbllm.worlds.household.named_checks import (
    B_NOT_OPEN,
    B_OPEN,
    B_OPEN_IF_TAKEN_OUT,
    BERTHS,
    CLOSE_A,
    CLOSE_B,
    EATABLE,
    FACING,
    FACING_ITSELF,
    FREE_HAND,
    GRABBABLE,
    HOLDING_A,
    IN_ROOM,
    MOVABLE,
    NOT_STANDING,
    OPENABLE,
    PLUG,
    REACHABLE,
    RECIPIENT,
    RESTING,
    SAME_ROOM,
    SEATS,
    SQUEEZABLE,
    STANDING,
    SWITCH,
)
from bbllm.worlds.household.rule import Check, OnFailure, Rule
from bbllm.worlds.household.vocabulary import Action, Property, Relation, State

TO_CLEAN = do.set_state(A, State.CLEAN, State.DIRTY)
WALK = Rule(
    (STANDING, IN_ROOM, Check('no_room', ask.has_room(A), '')),
    (do.walk_to(A),),
    misses_things=False,
)
FAR_FIND = Rule((IN_ROOM, Check('no_room', ask.has_room(A), CLOSE_A.message)), (do.walk_to(A),))
"""FIND of what is not close: it walks, and where that fails it says that it is not close."""
FIND = Rule(
    (CLOSE_A,),
    (do.look_away, do.link(A)),
    when=any_of(
        ask.carries_character(A),
        ask.has(A, Property.BODY_PART),
        ask.close_to(A),
        ask.with_posture(State.SITTING, State.LYING),
    ),
    instead=FAR_FIND,
    misses_things=False,
)
LOOK = Rule((FACING,))
LET_GO = Rule((HOLDING_A, IN_ROOM), (do.unhand(A), do.drop_into_room(A), do.forget_place(A)))
CLEANING = Rule((CLOSE_A,), (TO_CLEAN,))
RISE = Rule((RESTING,))
MOVING = Rule((MOVABLE, CLOSE_A, REACHABLE, FREE_HAND))


def _unsupported(why: str, *, misses_things: bool = True) -> Rule:
    return Rule((Check('unsupported', ask.supported(why), ''),), misses_things=misses_things)


RULES: Mapping[Action, Rule] = {
    Action.WALK: WALK,
    Action.RUN: WALK,
    Action.FIND: FIND,
    Action.GRAB: Rule(
        (
            GRABBABLE,
            Check('already_grabbed', no(ask.remembered(A)), '{a} already grabbed'),
            CLOSE_A,
            REACHABLE,
            FREE_HAND,
            IN_ROOM,
        ),
        (do.take(A),),
    ),
    Action.OPEN: Rule(
        (
            OPENABLE,
            CLOSE_A,
            FREE_HAND,
            Check('not_closed', ask.in_state(A, State.CLOSED), '{a} is not closed'),
            Check('still_on', no(ask.in_state(A, State.ON)), '{a} is still on'),
        ),
        (do.set_state(A, State.OPEN, State.CLOSED),),
    ),
    Action.CLOSE: Rule(
        (
            OPENABLE,
            CLOSE_A,
            Check('not_open', ask.in_state(A, State.OPEN), '{a} is not open'),
        ),
        (do.set_state(A, State.CLOSED, State.OPEN),),
    ),
    Action.PUTBACK: Rule((HOLDING_A, CLOSE_B), (do.put(A, Relation.ON, B), do.forget_place(A))),
    Action.PUTIN: Rule(
        (HOLDING_A, CLOSE_B, Check('not_open', B_OPEN, B_NOT_OPEN)),
        (do.put(A, Relation.INSIDE, B), do.forget_place(A)),
    ),
    Action.PUTOBJBACK: Rule(
        (
            Check('not_grabbed', ask.remembered(A), '{a} not grabbed'),
            Check(HOLDING_A.name, HOLDING_A.holds, HOLDING_A.message, OnFailure.SKIP),
            Check(CLOSE_B.name, CLOSE_B.holds, CLOSE_B.message, OnFailure.SKIP),
            Check('not_open', B_OPEN_IF_TAKEN_OUT, B_NOT_OPEN, OnFailure.SKIP),
        ),
        (do.put_back(A, B), do.forget_place(A)),
        recalls_place=True,
    ),
    Action.SWITCHON: Rule(
        (
            SWITCH,
            CLOSE_A,
            Check('not_off', ask.in_state(A, State.OFF), '{a} is not off'),
            Check('unplugged', no(ask.in_state(A, State.PLUGGED_OUT)), '{a} is unplugged'),
        ),
        (do.set_state(A, State.ON, State.OFF),),
    ),
    Action.SWITCHOFF: Rule(
        (SWITCH, CLOSE_A, Check('not_on', ask.in_state(A, State.ON), '{a} is not on')),
        (do.set_state(A, State.OFF, State.ON),),
    ),
    Action.SIT: Rule(
        (
            CLOSE_A,
            Check('sitting', no(ask.with_posture(State.SITTING)), '{C} is sitting'),
            Check('not_sittable', ask.has(A, Property.SITTABLE), '{a} is not sittable'),
            Check('no_place', ask.place_left_on(A, SEATS, 1), 'Too many things on {a}'),
        ),
        (do.rest_on(A), do.face_what_it_faces(A), do.take_posture(State.SITTING)),
    ),
    Action.LIE: Rule(
        (
            CLOSE_A,
            Check('lying', no(ask.with_posture(State.LYING)), '{C} is lying'),
            Check('not_lieable', ask.has(A, Property.LIEABLE), '{a} is not lieable'),
            Check('no_place', ask.place_left_on(A, BERTHS, 1), 'Too many things on {a}'),
        ),
        (do.rest_on(A), do.take_posture(State.LYING)),
    ),
    Action.STANDUP: Rule((NOT_STANDING,), (do.take_posture(),)),
    Action.SLEEP: RISE,
    Action.WAKEUP: RISE,
    Action.DROP: LET_GO,
    Action.RELEASE: LET_GO,
    Action.DRINK: Rule(
        (
            Check(
                'not_drinkable',
                ask.has(A, Property.DRINKABLE, Property.RECIPIENT),
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
                any_of(ask.has(A, Property.EATABLE), ask.carries_something(A)),
                '{a} is not eatable',
            ),
            Check(
                'nothing_eatable',
                any_of(ask.has(A, Property.EATABLE), ask.carries(A, Property.EATABLE)),
                'none of object on {a} is eatable',
            ),
        )
    ),
    Action.READ: Rule(
        (Check('not_readable', ask.has(A, Property.READABLE), '{a} is not readable'), HOLDING_A)
    ),
    Action.CUT: Rule(
        (
            FREE_HAND,
            CLOSE_A,
            EATABLE,
            Check('not_cuttable', ask.has(A, Property.CUTTABLE), '{a} is not cuttable'),
            Check('no_knife', ask.holding_a_knife, '{C} is not holding a knife'),
        )
    ),
    Action.POUR: Rule(
        (
            Check(
                'not_pourable',
                ask.has(A, Property.POURABLE, Property.DRINKABLE),
                '{a} is not pourable or drinkable',
            ),
            RECIPIENT,
            HOLDING_A,
            CLOSE_B,
        ),
        (do.pour(A, B),),
    ),
    Action.LOOKAT: LOOK,
    Action.POINTAT: LOOK,
    Action.TURNTO: Rule((), (do.look_away, do.face(A))),
    Action.WATCH: Rule(
        (
            Check('not_lookable', ask.has(A, Property.LOOKABLE), '{a} not lookable'),
            IN_ROOM,
            Check('unsupported', ask.in_a_room(A), ''),
            SAME_ROOM,
            FACING,
            FACING_ITSELF,
            Check(REACHABLE.name, REACHABLE.holds, REACHABLE.message, OnFailure.TELL),
        )
    ),
    Action.TOUCH: Rule((CLOSE_A, REACHABLE)),
    Action.WIPE: Rule(
        (
            CLOSE_A,
            Check('empty_hands', ask.hand_is_full, '{C} does not hold anything in hands'),
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
                any_of(ask.has(A, Property.CLOTHES), ask.of_class(A, *SQUEEZABLE)),
                '{a} is not clothes',
            ),
        )
    ),
    Action.PUSH: Rule((CLOSE_A, REACHABLE, FREE_HAND)),
    Action.PULL: MOVING,
    Action.MOVE: MOVING,
    Action.TYPE: Rule(
        (
            CLOSE_A,
            Check(
                'no_switch',
                any_of(ask.of_class(A, 'keyboard'), ask.has(A, Property.HAS_SWITCH)),
                '{a} does not have switch',
            ),
        )
    ),
    Action.PLUGIN: Rule(
        (
            PLUG,
            CLOSE_A,
            FREE_HAND,
            Check('not_plugged_out', ask.in_state(A, State.PLUGGED_OUT), '{a} is not plugged_out'),
        ),
        (do.set_state(A, State.PLUGGED_IN, State.PLUGGED_OUT),),
    ),
    Action.PLUGOUT: Rule(
        (
            PLUG,
            CLOSE_A,
            FREE_HAND,
            Check('not_plugged_in', ask.in_state(A, State.PLUGGED_IN), '{a} is not plugged_in'),
            Check('still_on', no(ask.in_state(A, State.ON)), '{a} is still on', OnFailure.TELL),
        ),
        (do.set_state(A, State.PLUGGED_OUT, State.PLUGGED_IN),),
    ),
    Action.PUTON: Rule(
        (HOLDING_A, Check('not_clothes', ask.has(A, Property.CLOTHES), '{a} is not clothes')),
        (do.wear(A), do.unhand(A)),
    ),
    Action.PUTOFF: _unsupported('PUTOFF breaks off in VirtualHome 2.3.0'),
    Action.GREET: Rule((Check('not_person', ask.has(A, Property.PERSON), '{a} is not person'),)),
    Action.LOOKAT_SHORT: _unsupported('VirtualHome 2.3.0 has no rule', misses_things=False),
    Action.LOOKAT_LONG: _unsupported('VirtualHome 2.3.0 has no rule', misses_things=False),
}
"""One row for each action."""
