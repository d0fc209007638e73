"""
The rules of a household as tables: the checks of each action in order, and what it changes.

`RULES` are those of VirtualHome 2.3.0, line by line as in section 1.6 of the facts about it; a
test runs the original beside them. `EAI_RULES` and `SANE_RULES` replace some rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bbllm.worlds.household import checks as c
from bbllm.worlds.household import effects as do
from bbllm.worlds.household.checks import A, Check, OnFailure, Predicate
from bbllm.worlds.household.effects import Effect
from bbllm.worlds.household.vocabulary import Action, Property, Relation, State


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: the checks in their order, and the changes when all of them pass."""

    checks: tuple[Check, ...] = ()
    effects: tuple[Effect, ...] = ()
    when: Predicate | None = None
    """Where this is false, the rule `instead` is followed and not this one."""
    instead: Rule | None = None
    recalls_place: bool = False
    """Whether {b} is where {a} was taken from; checks that use it stand behind `remembered`."""
    names_missing: bool = True
    """Whether a missing object has a message of its own; where not, the original breaks off."""


def _set(state: State, instead_of: State) -> tuple[Effect, ...]:
    return (do.set_state(state, instead_of),)


def _skip(check: Check) -> Check:
    return replace(check, otherwise=OnFailure.SKIP)


def _report(check: Check) -> Check:
    return replace(check, otherwise=OnFailure.NOTE)


_WALK = Rule((c.STANDING, c.IN_ROOM, c.HAS_ROOM), (do.walk_to,), names_missing=False)
_FIND = Rule(
    (c.CLOSE_A,),
    (do.turn_away, do.link),
    when=c.any_of(
        c.carries_character,
        c.has(A, Property.BODY_PART),
        c.close_to(A),
        c.with_posture(State.SITTING, State.LYING),
    ),
    instead=Rule((c.IN_ROOM, c.FINDS_ROOM), (do.walk_to,)),
    names_missing=False,
)
"""FIND of what is not close walks there; where that fails, the message is that it is not close."""
_WATCH = Rule((c.FACING,))
_LET_GO = Rule((c.HOLDING_A, c.IN_ROOM), (do.unhand, do.drop_into_room, do.forget_place))
_CLEAN = Rule((c.CLOSE_A,), _set(State.CLEAN, State.DIRTY))
_MOVE = Rule((c.MOVABLE, c.CLOSE_A, c.REACHABLE, c.FREE_HAND))
_NO_RULE = Rule((c.unsupported('VirtualHome 2.3.0 has no rule'),), names_missing=False)

RULES: Mapping[Action, Rule] = {
    Action.WALK: _WALK,
    Action.RUN: _WALK,
    Action.FIND: _FIND,
    Action.GRAB: Rule(
        (c.GRABBABLE, c.NOT_REMEMBERED, c.CLOSE_A, c.REACHABLE, c.FREE_HAND, c.IN_ROOM),
        (do.take,),
    ),
    Action.OPEN: Rule(
        (c.OPENABLE, c.CLOSE_A, c.FREE_HAND, c.IS_CLOSED, c.NOT_ON),
        _set(State.OPEN, State.CLOSED),
    ),
    Action.CLOSE: Rule((c.OPENABLE, c.CLOSE_A, c.IS_OPEN), _set(State.CLOSED, State.OPEN)),
    Action.PUTBACK: Rule(
        (c.HOLDING_A, c.CLOSE_B), (do.put(Relation.ON), do.forget_place)
    ),
    Action.PUTIN: Rule(
        (c.HOLDING_A, c.CLOSE_B, c.B_OPEN), (do.put(Relation.INSIDE), do.forget_place)
    ),
    Action.PUTOBJBACK: Rule(
        (c.REMEMBERED, *map(_skip, (c.HOLDING_A, c.CLOSE_B, c.B_OPEN_IF_TAKEN_OUT))),
        (do.put(), do.forget_place),
        recalls_place=True,
    ),
    Action.SWITCHON: Rule(
        (c.SWITCH, c.CLOSE_A, c.IS_OFF, c.HAS_POWER), _set(State.ON, State.OFF)
    ),
    Action.SWITCHOFF: Rule((c.SWITCH, c.CLOSE_A, c.IS_ON), _set(State.OFF, State.ON)),
    Action.SIT: Rule(
        (c.CLOSE_A, c.NOT_SITTING, c.SITTABLE, c.SEAT_LEFT),
        (do.rest_on_it, do.face_what_it_faces, do.take_posture(State.SITTING)),
    ),
    Action.LIE: Rule(
        (c.CLOSE_A, c.NOT_LYING, c.LIEABLE, c.BERTH_LEFT),
        (do.rest_on_it, do.take_posture(State.LYING)),
    ),
    Action.STANDUP: Rule((c.NOT_STANDING,), (do.take_posture(),)),
    Action.SLEEP: Rule((c.RESTING,)),
    Action.WAKEUP: Rule((c.RESTING,)),
    Action.DROP: _LET_GO,
    Action.RELEASE: _LET_GO,
    Action.DRINK: Rule((c.DRINKABLE, c.HOLDING_A)),
    Action.EAT: Rule((c.CLOSE_A, c.EATABLE_OR_LADEN, c.FOOD_ON_IT)),
    Action.READ: Rule((c.READABLE, c.HOLDING_A)),
    Action.CUT: Rule((c.FREE_HAND, c.CLOSE_A, c.EATABLE, c.CUTTABLE, c.KNIFE)),
    Action.POUR: Rule((c.POURABLE, c.RECIPIENT, c.HOLDING_A, c.CLOSE_B), (do.pour,)),
    Action.LOOKAT: _WATCH,
    Action.POINTAT: _WATCH,
    Action.TURNTO: Rule((), (do.turn_away, do.face)),
    Action.WATCH: Rule((
        *(c.LOOKABLE, c.IN_ROOM, c.A_IN_ROOM, c.SAME_ROOM, c.FACING, c.FACING_ITSELF),
        _report(c.REACHABLE),
    )),
    Action.TOUCH: Rule((c.CLOSE_A, c.REACHABLE)),
    Action.WIPE: Rule((c.CLOSE_A, c.FULL_HAND), _CLEAN.effects),
    Action.WASH: _CLEAN,
    Action.RINSE: _CLEAN,
    Action.SCRUB: _CLEAN,
    Action.SQUEEZE: Rule((c.FREE_HAND, c.CLOSE_A, c.CAN_SQUEEZE)),
    Action.PUSH: Rule((c.CLOSE_A, c.REACHABLE, c.FREE_HAND)),
    Action.PULL: _MOVE,
    Action.MOVE: _MOVE,
    Action.TYPE: Rule((c.CLOSE_A, c.KEYS)),
    Action.PLUGIN: Rule(
        (c.PLUG, c.CLOSE_A, c.FREE_HAND, c.UNPLUGGED), _set(State.PLUGGED_IN, State.PLUGGED_OUT)
    ),
    Action.PLUGOUT: Rule(
        (c.PLUG, c.CLOSE_A, c.FREE_HAND, c.PLUGGED_IN, _report(c.NOT_ON)),
        _set(State.PLUGGED_OUT, State.PLUGGED_IN),
    ),
    Action.PUTON: Rule((c.HOLDING_A, c.CLOTHES), (do.wear, do.unhand)),
    Action.PUTOFF: Rule((c.unsupported('PUTOFF breaks off in VirtualHome 2.3.0'),)),
    Action.GREET: Rule((c.PERSON,)),
    Action.LOOKAT_SHORT: _NO_RULE,
    Action.LOOKAT_LONG: _NO_RULE,
}  # fmt: skip
"""One row for each action."""

EAI_RULES: Mapping[Action, Rule] = {
    **RULES,
    Action.FIND: replace(
        _FIND,
        when=c.any_of(c.carries_character, c.has(A, Property.BODY_PART), c.close_to(A)),
        instead=_WALK,
    ),
    Action.WATCH: replace(
        RULES[Action.WATCH], checks=(*RULES[Action.WATCH].checks[:-1], c.REACHABLE)
    ),
    Action.PUTOFF: Rule((c.WORN, c.CLOTHES), (do.shed,)),
}
"""VirtualHome's rules as the Embodied Agent Interface 1.0.5 mends them."""

_PUT_DOWN = (c.HOLDING_A, c.CLOSE_B, c.B_AT_HAND, c.NOT_INTO_ITSELF)
_GO = Rule((c.STANDING, c.IN_SOME_ROOM), (do.go_to,))
_LET_FALL = Rule((c.HOLDING_A,), (do.let_fall,))
_TURN = replace(RULES[Action.TURNTO], checks=(c.IN_SAME_ROOM,))
_FACE_IT = replace(_TURN, checks=(c.IN_SAME_ROOM, c.AT_HAND))
_MOVE_AT_HAND = Rule((c.MOVABLE, c.CLOSE_A, c.AT_HAND, c.FREE_HAND))
_NEED_HAND = (
    *(Action.OPEN, Action.CLOSE, Action.SWITCHON, Action.SWITCHOFF, Action.EAT, Action.WIPE),
    *(Action.WASH, Action.RINSE, Action.SCRUB, Action.SQUEEZE, Action.CUT, Action.TOUCH),
    *(Action.TYPE, Action.PLUGIN),
)
"""Actions that differ only in that the object must be at hand."""


def _settle(posture: State) -> tuple[Effect, ...]:
    return (do.get_up, do.rest_on_it, do.face_what_it_faces, do.take_posture(posture))


_CLEAN_RULES: Mapping[Action, Rule] = {
    **RULES,
    **{
        action: replace(RULES[action], checks=(*RULES[action].checks, c.AT_HAND))
        for action in _NEED_HAND
    },
    Action.WALK: _GO,
    Action.RUN: _GO,
    Action.FIND: replace(_FIND, instead=_GO, names_missing=True),
    Action.GRAB: Rule(
        (c.GRABBABLE, c.NOT_HELD, c.CLOSE_A, c.AT_HAND, c.FREE_HAND, c.NOT_UNDER_CHARACTER),
        (do.pick_up,),
    ),
    Action.PUTBACK: Rule(_PUT_DOWN, (do.set_down(Relation.ON),)),
    Action.PUTIN: Rule((*_PUT_DOWN, c.B_OPEN), (do.set_down(Relation.INSIDE),)),
    Action.PUTOBJBACK: Rule(
        (c.REMEMBERED, *_PUT_DOWN, c.B_OPEN_IF_TAKEN_OUT), (do.set_down(),), recalls_place=True
    ),
    Action.SIT: Rule(
        (c.CLOSE_A, c.NOT_SITTING, c.SITTABLE, c.NOT_CARRIED, c.OWN_SEAT_LEFT),
        _settle(State.SITTING),
    ),
    Action.LIE: Rule(
        (c.CLOSE_A, c.NOT_LYING, c.LIEABLE, c.NOT_CARRIED, c.OWN_BERTH_LEFT),
        _settle(State.LYING),
    ),
    Action.STANDUP: Rule((c.NOT_STANDING,), (do.take_posture(), do.get_up)),
    Action.DROP: _LET_FALL,
    Action.RELEASE: _LET_FALL,
    Action.POUR: Rule((*RULES[Action.POUR].checks, c.B_AT_HAND, c.NOT_INTO_ITSELF), (do.pour,)),
    Action.TURNTO: _TURN,
    **dict.fromkeys((Action.LOOKAT, Action.LOOKAT_SHORT, Action.LOOKAT_LONG), _FACE_IT),
    Action.POINTAT: _TURN,
    Action.WATCH: replace(_FACE_IT, checks=(c.LOOKABLE, *_FACE_IT.checks)),
    Action.PUSH: _MOVE_AT_HAND,
    Action.PULL: _MOVE_AT_HAND,
    Action.MOVE: _MOVE_AT_HAND,
    Action.PLUGOUT: Rule(
        (c.PLUG, c.CLOSE_A, c.FREE_HAND, c.PLUGGED_IN, c.AT_HAND),
        (*_set(State.PLUGGED_OUT, State.PLUGGED_IN), do.go_off),
    ),
    Action.PUTON: Rule(RULES[Action.PUTON].checks, (do.wear, do.unhand, do.forget_place)),
    Action.PUTOFF: Rule((c.WORN, c.FREE_HAND), (do.take_off,)),
}
SANE_RULES: Mapping[Action, Rule] = {
    action: replace(
        rule, checks=tuple(c.A_FREE_HAND if x is c.FREE_HAND else x for x in rule.checks)
    )
    for action, rule in _CLEAN_RULES.items()
}
"""The clean rules, one row for each action: VirtualHome's with the surprising ones replaced."""
