"""
Additional constraints of a house: an object without a grip, a toaster for one slice.

A constraint is felt by a step that fails, with a message of its own. Scenes show beforehand how
much fits and what takes both hands; what slips, is stuck or runs is not to be seen:

    {not_graspable: {thing: fryingpan, count: 1}}    those with the lowest ids; all without count
    {holds_at_most: {thing: toaster, count: 1}}      each of them, of what is in or on it
    {puts_only_on: furniture}                       nothing is put in or on what can be carried
    {shut_while_on: {thing: toaster}}               nothing goes in or comes out while it is on
    {needs_both_hands: {thing: plate}}              nothing else is in the hands together with it
    {stuck: {thing: faucet, count: 1}}              they can neither be opened nor switched on
    {unseen: washed}                                no scene shows which objects have become so

The first two are the special constraints of LLM-State's tasks with a star. The third keeps people
from piling objects up in their hands, which the clean rules leave open because they ask for no
surface; with it a least number of steps can be proven (docs/household.md). By the last no step
fails: what has become of which object has to be remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from bbllm.worlds.household.checks import ActionSituation, Check, Predicate, above
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.rules import Rule
from bbllm.worlds.household.vocabulary import HANDS, Action, Property, Relation, State

PUTTING = (Action.PUTBACK, Action.PUTIN, Action.PUTOBJBACK)

_Class = Annotated[str, Field(pattern=r'^[A-Za-z]\w*$', max_length=64)]
_Rules = Mapping[Action, Rule]


class _Record(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)


class AboutObject(_Record):
    """Objects of a class, and how many of them."""

    thing: _Class
    count: Annotated[int, Field(ge=1, le=100)] | None = None


class Constraint(_Record):
    """One exception to a house's rules."""

    not_graspable: AboutObject | None = None
    """Objects that slip out of a hand: so many with the lowest ids, all where count is None."""
    holds_at_most: AboutObject | None = None
    """How many objects each of them takes, in and on it together."""
    puts_only_on: Literal['furniture'] | None = None
    shut_while_on: AboutObject | None = None
    needs_both_hands: AboutObject | None = None
    stuck: AboutObject | None = None
    unseen: Literal['heated', 'washed', 'toasted', 'used'] | None = None
    """A derived state that no scene shows."""

    @model_validator(mode='after')
    def _states_one_condition(self) -> Constraint:
        stated = [value for _, value in self if value is not None]
        limit, whole_class = self.holds_at_most, self.shut_while_on or self.needs_both_hands
        uncounted = limit and limit.count is None
        miscounted = whole_class and whole_class.count is not None
        if len(self.model_fields_set) != 1 or not stated or uncounted or miscounted:
            raise ValueError(
                'a constraint is one of {not_graspable: {thing: fryingpan}}, {holds_at_most: '
                '{thing: toaster, count: 1}}, {puts_only_on: furniture}, {shut_while_on: '
                '{thing: toaster}}, {needs_both_hands: {thing: plate}}, {stuck: {thing: faucet}} '
                'and {unseen: washed}'
            )
        return self

    @property
    def class_name(self) -> str:
        """The class that it speaks of; '' where it speaks of all objects."""
        about = next((value for _, value in self if isinstance(value, AboutObject)), None)
        return about.thing if about else ''

    def shown(self, n_there: int) -> str:
        """Return what scenes show of its objects; '' for nothing. *n_there* are in or on one."""
        if self.holds_at_most is not None:
            count = self.holds_at_most.count or 0
            text = f'holds at most {count}, in and on it together'
            more = f', and takes no more while {count} or more are there'
            return text + (more if n_there >= count else '')
        return 'takes both hands' if self.needs_both_hands is not None else ''

    @model_serializer(mode='wrap')
    def _only_what_is_given(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        # Cases of suites without the later kinds keep their fingerprints.
        data: dict[str, object] = write(self)
        later = ('shut_while_on', 'needs_both_hands', 'stuck', 'unseen')
        return {k: v for k, v in data.items() if v is not None or k not in later}

    def __str__(self) -> str:
        data = self.model_dump(exclude_none=True)
        return ', '.join(f'{name}: {value}' for name, value in data.items())


def constrained(rules: _Rules, constraints: Iterable[Constraint], graph: Graph) -> _Rules:
    """Return rules with the checks of constraints on a house, as it is at the start, added."""
    return with_check(rules, [pair for each in constraints for pair in _checks(each, graph)])


def with_check(rules: _Rules, checks: Iterable[tuple[Action, Check]]) -> _Rules:
    """Return rules of which some have one check more."""
    changed = dict(rules)
    for action, check in checks:
        changed[action] = replace(changed[action], checks=(*changed[action].checks, check))
    return changed


def faults_of_constraints(constraints: Sequence[Constraint], graph: Graph) -> list[str]:
    """Return what constraints speak of and a house lacks, one sentence part each."""
    there = {node.class_name for node in graph.nodes.values()}
    return [
        f'constraints: {constraint}: there is no {constraint.class_name}'
        for constraint in constraints
        if constraint.class_name and constraint.class_name not in there
    ]


def _checks(constraint: Constraint, graph: Graph) -> list[tuple[Action, Check]]:
    if slippery := constraint.not_graspable:
        chosen = _first(slippery, graph)
        check = Check(
            'not_graspable', lambda s: s.objects[0].id not in chosen, '{C} gets no grip on {a}'
        )
        return [(Action.GRAB, check)]
    if limit := constraint.holds_at_most:
        check = Check(
            'no_room_left',
            _room_left(limit.thing, limit.count or 0),
            f'no room left at {{b}}: it takes more only while fewer than {limit.count} objects '
            'are in and on it',
        )
    elif large := constraint.needs_both_hands:
        alone = Check(
            'both_hands',
            _alone(large.thing),
            '{a} takes both hands, and {C} holds something, which has to be put down first',
        )
        free = Check(
            'both_hands',
            _no_large(large.thing),
            '{C} holds what takes both hands, and has to put it down first',
        )
        return [(Action.GRAB, alone), (Action.GRAB, free)]
    elif jammed := constraint.stuck:
        chosen = _first(jammed, graph)
        check = Check(
            'stuck', lambda s: s.objects[0].id not in chosen, '{a} is stuck, and stays so'
        )
        return [(Action.OPEN, check), (Action.SWITCHON, check)]
    elif running := constraint.shut_while_on:
        rests = Check('runs', _rests(running.thing), '{b} is on, and nothing goes in')
        ended = Check('runs', _ended(running.thing), '{a} is in what is on, and cannot come out')
        return [(Action.GRAB, ended), *((action, rests) for action in PUTTING)]
    elif constraint.unseen:
        return []
    else:
        check = Check('not_steady', _steady, '{b} can be carried itself, and nothing is put there')
    return [(action, check) for action in PUTTING]


def _first(about: AboutObject, graph: Graph) -> frozenset[int]:
    ids = sorted(n for n, node in graph.nodes.items() if node.class_name == about.thing)
    return frozenset(ids[: about.count])


def _held(s: ActionSituation) -> list[str]:
    graph = s.graph
    held = (n for hand in HANDS for n in graph.targets(s.character.id, hand))
    return [graph.nodes[n].class_name for n in held]


def _alone(item: str) -> Predicate:
    return lambda s: s.objects[0].class_name != item or not _held(s)


def _no_large(item: str) -> Predicate:
    return lambda s: item not in _held(s)


def _room_left(item: str, count: int) -> Predicate:
    def holds(s: ActionSituation) -> bool:
        place = s.objects[1]
        if place.class_name != item:
            return True
        taken = s.graph.sources(place.id, Relation.INSIDE) | s.graph.sources(place.id, Relation.ON)
        return len(taken - {s.objects[0].id}) < count

    return holds


def _rests(item: str) -> Predicate:
    def holds(s: ActionSituation) -> bool:
        place = s.objects[1]
        return place.class_name != item or State.ON not in place.states

    return holds


def _ended(item: str) -> Predicate:
    def holds(s: ActionSituation) -> bool:
        around = (s.graph.nodes[n] for n in above(s.graph, s.objects[0].id))
        return not any(node.class_name == item and State.ON in node.states for node in around)

    return holds


def _steady(s: ActionSituation) -> bool:
    return Property.GRABBABLE not in s.objects[1].properties
