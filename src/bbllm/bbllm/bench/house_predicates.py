"""Goals of houses as predicates with counts (planners.goal_predicates), and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from bbllm.bench.house_goals import ANYTHING, HouseCondition, HouseholdGoal
from bbllm.planners.goal_predicates import (
    STATE_OF,
    GoalPredicate,
    GoalRelation,
    contradiction,
    nested_places,
)
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Property, Relation

_RELATIONS: Mapping[str, GoalRelation] = {word: relation for relation, word in STATE_OF.items()}


def predicates_of(goal: HouseholdGoal) -> tuple[GoalPredicate, ...] | None:
    """Return a goal as predicates; None where these cannot say it."""
    found = [_predicate(condition) for condition in goal.all]
    known = tuple(item for item in found if item is not None)
    return known if len(known) == len(found) else None


def goal_of(predicates: Iterable[GoalPredicate]) -> HouseholdGoal:
    """Return predicates as a goal, which is judged on the household itself."""
    return HouseholdGoal(kind='household', all=tuple(_condition(item) for item in predicates))


def clashing(goal: HouseholdGoal, graph: Graph) -> tuple[HouseCondition, ...] | None:
    """Return conditions of a goal that a house has too few things for; None without such."""
    nodes = graph.nodes.values()
    portable = {n.class_name for n in nodes if Property.GRABBABLE in n.properties}
    said = {item: each for each in goal.all if (item := _predicate(each)) is not None}
    places = (Relation.INSIDE, Relation.ON)
    lies_in = {
        n: [other for relation in places for other in graph.targets(n, relation)]
        for n in graph.nodes
    }
    nested = nested_places(lies_in, lambda node_id: graph.nodes[node_id].class_name)
    found = contradiction(said, Counter(n.class_name for n in nodes), portable, nested)
    return None if found is None else tuple(said[item] for item in found)


def _predicate(condition: HouseCondition) -> GoalPredicate | None:
    if condition.not_ or condition.room or ANYTHING in (condition.thing, condition.held):
        return None
    if condition.held:
        return GoalPredicate(GoalRelation.HOLDS, condition.held, '', condition.count)
    if condition.person == 'sitting' and condition.on:
        return GoalPredicate(GoalRelation.SIT, condition.on, '', 1)
    if not condition.thing or (condition.is_ and condition.place):
        return None
    if condition.is_:
        relation = _RELATIONS.get(condition.is_)
        if relation is None:
            return None
        return GoalPredicate(relation, condition.thing, '', condition.count)
    relation = GoalRelation.INSIDE if condition.inside else GoalRelation.ON
    return GoalPredicate(relation, condition.thing, condition.place or '', condition.count)


def _condition(item: GoalPredicate) -> HouseCondition:
    words: dict[str, object] = {'thing': item.thing, 'count': item.count}
    if item.relation is GoalRelation.HOLDS:
        words = {'held': item.thing, 'count': item.count}
    elif item.relation is GoalRelation.SIT:
        words = {'person': 'sitting', 'on': item.thing}
    elif item.place:
        words[item.relation.value] = item.place
    else:
        words['is'] = STATE_OF[item.relation]
    return HouseCondition.model_validate(words)
