"""
What a household must be like at the end, as data: the goals of suites that are played in houses.

A condition speaks of classes of objects, and any object of the class will do:

    {thing: salmon, inside: fridge}     also on a plate that is inside a fridge
    {thing: toothpaste, inside: toothbrush, on: toothbrush}     inside or on: both name one class
    {thing: book, on: sofa, count: 2}   two different books, or more
    {thing: tv, is: 'on'}               a state, or heated, washed, toasted, used
    {held: toothbrush}                  in a hand
    {person: sitting, on: sofa}
    {thing: apple, on: kitchentable, not: true}
    {thing: breadslice, is: toasted, on: kitchentable}      both of the same thing
    {thing: milk, is: heated, by: microwave}                this device did it
    {thing: lightswitch, is: 'off', room: bedroom}          those in a room of this class only
    {thing: anything, on: kitchentable, not: true}          of all that can be grabbed
    {held: anything, not: true}                             with empty hands

Classes under `same` are of the same object in all conditions that speak of them: the
toothbrush that is held is the one with paste.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from bbllm.files.yaml_files import FileRecord
from bbllm.worlds.household.derived import HEATED, TOASTED, WASHED, WORDS
from bbllm.worlds.household.graph import RelationWord, StateWord
from bbllm.worlds.household.vocabulary import Action, State, did_you_mean
from bbllm_planners.goal_predicates import STATE_OF, GoalPredicate, GoalRelation, goal_text

STATE_WORDS = (*(state.value.lower() for state in State), *WORDS)
ANYTHING = 'anything'
"""Stands for the class of all that can be grabbed."""
FORMS = (
    'write one of {thing: salmon, inside: fridge}, {thing: book, on: sofa}, {thing: tv, is: on}, '
    '{thing: toast, is: toasted, on: table}, {held: toothbrush}, {person: sitting, on: sofa}; '
    'room goes with a thing, and by with what is heated, washed or toasted by it'
)
ClassName = Annotated[str, Field(pattern=r'^[A-Za-z]\w*$', max_length=64)]


class HouseCondition(FileRecord):
    """One object that must be so, or must not."""

    model_config = ConfigDict(populate_by_name=True)

    thing: ClassName | None = None
    held: ClassName | None = None
    """What must be in a hand."""
    person: Literal['sitting', 'lying'] | None = None
    inside: ClassName | None = None
    on: ClassName | None = None
    is_: str | None = Field(None, alias='is')
    room: ClassName | None = None
    """Class of the rooms whose objects count; None: all."""
    by: ClassName | None = None
    """Class of the device that has to have made it `heated`, `washed` or `toasted`; None: any."""
    count: Annotated[int, Field(ge=1, le=100)] = 1
    """How many different objects of the class at least."""
    not_: bool = Field(False, alias='not')

    @field_validator('is_')
    @classmethod
    def _a_state_there_is(cls, word: str | None) -> str | None:
        if word is not None and word not in STATE_WORDS:
            raise ValueError(
                f'nothing can be {word!r}.{did_you_mean(word, STATE_WORDS)} Known: '
                f'{", ".join(STATE_WORDS)}'
            )
        return word

    @model_validator(mode='after')
    def _states_one_condition(self) -> HouseCondition:
        item, held, person = self.thing, self.held, self.person
        facts = {name for name in ('inside', 'on', 'is_') if getattr(self, name)}
        fits = sum(map(bool, (item, held, person))) == 1 and (
            not {'inside', 'on'} <= facts or self.inside == self.on
        )
        if not (
            fits
            and (bool(facts) if item else not self.room)
            and not (held and facts)
            and not (person and (facts - {'on'} or self.count > 1))
            and (not self.by or self.is_ in (HEATED, WASHED, TOASTED))
        ):
            raise ValueError(f'{str(self)!r} is no condition; {FORMS}')
        return self

    @property
    def classes(self) -> tuple[str, ...]:
        names = (self.thing, self.held, self.inside, self.on, self.room, self.by)
        return tuple(name for name in names if name and name != ANYTHING)

    @property
    def place(self) -> str | None:
        return self.inside or self.on

    def __str__(self) -> str:
        words = [
            'not:' * self.not_,
            self.thing or self.held or f'person {self.person}',
            'in a hand' if self.held else '',
            f'is {self.is_}' if self.is_ else '',
            f'by {self.by}' if self.by else '',
            f'inside {self.inside}' if self.inside else '',
            'or' if self.inside and self.on else '',
            f'on {self.on}' if self.on else '',
            f'in the {self.room}' if self.room else '',
            f'(at least {self.count})' if self.count > 1 else '',
        ]
        return ' '.join(filter(None, words))


class HouseholdGoal(FileRecord):
    """Conditions on a house, all of which must be met."""

    kind: Literal['household']
    all: Annotated[tuple[HouseCondition, ...], Field(min_length=1)]
    same: Annotated[tuple[ClassName, ...], Field(max_length=2)] = ()
    """Classes of which one object has to fit all conditions that speak of it."""

    @field_validator('all')
    @classmethod
    def _each_once(cls, conditions: tuple[HouseCondition, ...]) -> tuple[HouseCondition, ...]:
        texts = [str(condition) for condition in conditions]
        for text in texts:
            if texts.count(text) > 1:
                raise ValueError(
                    f'the condition {text!r} is given twice; give it once, with count'
                )
        return conditions

    @model_validator(mode='after')
    def _ties_are_of_several(self) -> HouseholdGoal:
        for name in self.same:
            about = [each for each in self.all if name in each.classes]
            if len(about) < 2 or any(each.count > 1 or each.not_ for each in about):
                raise ValueError(
                    f'same: {name}: it ties two conditions or more that speak of one {name}, '
                    'without count and not: same: [toothbrush] with {held: toothbrush} and '
                    '{thing: toothpaste, inside: toothbrush}'
                )
        return self


class GraphNode(FileRecord):
    """A state that one object must have at the end."""

    id: int
    state: StateWord


class GraphEdge(FileRecord):
    """An edge that the graph must have at the end."""

    from_id: int
    relation: RelationWord
    to_id: int


class GraphGoal(FileRecord):
    """
    Nodes and edges of the graph at the end, and actions on the way: by objects, not by classes.

    Source: the goals of the Embodied Agent Interface (Li et al., arXiv 2410.07166), without their
    temporal form: an action counts at any time, in the order given.
    """

    kind: Literal['graph']
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    actions: tuple[tuple[Action, ...], ...] = ()
    """Actions that have to be carried out, in this order; one of several where there are some."""
    program: tuple[str, ...] = ()
    """Lines of an annotated plan that reaches it; no planner ever gets them."""


HouseGoal = HouseholdGoal | GraphGoal
"""The goals of suites that are played in houses."""


_RELATIONS: Mapping[str, GoalRelation] = {word: relation for relation, word in STATE_OF.items()}


def predicates_of(goal: HouseholdGoal) -> tuple[GoalPredicate, ...] | None:
    """Return a goal as predicates; None where these cannot express it."""
    if goal.same:
        return None
    known = tuple(item for each in goal.all if (item := _predicate(each)) is not None)
    return known if len(known) == len(goal.all) else None


def text_of(goal: HouseholdGoal) -> str | None:
    """Return a goal as predicates, as planners get it; None where these cannot express it."""
    predicates = predicates_of(goal)
    return None if predicates is None else goal_text(predicates)


def goal_of(predicates: Iterable[GoalPredicate]) -> HouseholdGoal:
    """Return predicates as a goal, which is judged on the household itself."""
    return HouseholdGoal(kind='household', all=tuple(_condition(item) for item in predicates))


def _predicate(condition: HouseCondition) -> GoalPredicate | None:
    item, held, is_, place = condition.thing, condition.held, condition.is_, condition.place
    if condition.not_ or condition.room or ANYTHING in (item, held):
        return None
    if held:
        return GoalPredicate(GoalRelation.HOLDS, held, '', condition.count)
    if condition.person == 'sitting' and condition.on:
        return GoalPredicate(GoalRelation.SIT, condition.on, '', 1)
    if not item or (is_ and (place or is_ not in _RELATIONS)):
        return None
    relation = GoalRelation.INSIDE if condition.inside else GoalRelation.ON
    if is_:
        relation = _RELATIONS[is_]
    return GoalPredicate(relation, item, place or '', condition.count)


def _condition(item: GoalPredicate) -> HouseCondition:
    words: dict[str, object] = {'thing': item.noun, 'count': item.count}
    if item.relation is GoalRelation.HOLDS:
        words = {'held': item.noun, 'count': item.count}
    elif item.relation is GoalRelation.SIT:
        words = {'person': 'sitting', 'on': item.noun}
    elif item.place:
        words[item.relation.value] = item.place
    else:
        words['is'] = STATE_OF[item.relation]
    return HouseCondition.model_validate(words)
