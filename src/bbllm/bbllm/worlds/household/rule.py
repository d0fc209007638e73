"""The rows of the table of rules, and how a step follows them."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from enum import Enum

from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import Relation, State


@dataclass(slots=True)
class Memory:
    """What is known beside the graph while a script runs."""

    taken_from: dict[int, tuple[int, Relation]] = field(default_factory=dict)
    """For what was grabbed: where it was, and how it stood there."""
    posture: frozenset[State] | None = None
    """States that the character is believed to have; None: those of its node."""


@dataclass(slots=True)
class ActionSituation:
    """One action about to be done. Checks only read it."""

    graph: Graph
    character: Node
    objects: tuple[Node, ...]
    memory: Memory

    @property
    def posture(self) -> Set[State]:
        """States of the character, as far as the rules see them."""
        believed = self.memory.posture
        return self.character.states if believed is None else believed


Predicate = Callable[[ActionSituation], bool]
Effect = Callable[[ActionSituation], None]


class OnFailure(Enum):
    """The consequence of a failed check."""

    FAIL = 'fail'
    """The step fails, and nothing changes."""
    TELL = 'tell'
    """The message is reported, and the step goes on."""
    SKIP = 'skip'
    """The message is reported, and the step succeeds without any effect."""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition of a rule."""

    name: str
    """What is wrong where it does not, for example `not_close`."""
    holds: Predicate
    message: str
    """The message of its failure: {C} is the character, {a} and {b} the objects, {room_C} and
    {room_a} their rooms. Empty: none."""
    otherwise: OnFailure = OnFailure.FAIL


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
    misses_things: bool = True
    """Whether a missing object has a message of its own; where not, the original breaks off."""


def follow(rule: Rule, s: ActionSituation, apply: bool) -> tuple[str, tuple[str, ...]]:
    """
    Check a rule and, with *apply*, change what it changes; return what failed, and all messages.

    That is the name of a check, '' where none failed. Raises CycleError where objects stand inside
    each other; nothing has changed then.
    """
    while rule.when is not None and rule.instead is not None and not rule.when(s):
        rule = rule.instead
    if rule.recalls_place:
        place = s.memory.taken_from.get(s.objects[0].id)
        if place is not None:
            s.objects = (s.objects[0], s.graph.nodes[place[0]])
    texts: tuple[str, ...] = ()
    for check in rule.checks:
        if check.holds(s):
            continue
        if check.message:
            texts = (*texts, _worded(check.message, s))
        if check.otherwise is OnFailure.FAIL:
            return check.name, texts
        if check.otherwise is OnFailure.SKIP:
            return '', texts
    if apply:
        for effect in rule.effects:
            effect(s)
    return '', texts


def _worded(message: str, s: ActionSituation) -> str:
    words: dict[str, object] = {'C': s.character, **dict(zip('ab', s.objects))}
    if '{room_' in message:
        for name, node in (('room_C', s.character), ('room_a', s.objects[0])):
            room = s.graph.room_of(node.id)
            words[name] = None if room is None else s.graph.nodes[room]
    return message.format_map(words)
