"""Goals of houses as predicates with counts (planners.goal_predicates), and back."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

from bbllm.planners.common.goal_predicates import (
    STATE_OF,
    GoalPredicate,
    GoalRelation,
    contradiction,
    goal_text,
    nested_places,
)
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Property, Relation
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseholdGoal

OPPOSITES = (('on', 'off'), ('open', 'closed'), ('plugged_in', 'plugged_out'), ('dirty', 'clean'))
"""States of which an object has one at a time."""
PLACES = (Relation.INSIDE, Relation.ON)
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


def clashing(
    goal: HouseholdGoal, graph: Graph, counts: Mapping[str, int] | None = None
) -> tuple[HouseCondition, ...] | None:
    """
    Return conditions of a goal that a house has too few objects for; None without such.

    *counts* is how many objects there are of each class; None: as many as in the house.
    """
    nodes = graph.nodes
    there = Counter(node.class_name for node in nodes.values()) if counts is None else counts
    counts = {**there, **dict.fromkeys(goal.same, 1)}
    for one, other in combinations(goal.all, 2):
        few = one.count + other.count > counts.get(str(one.thing), 0)
        if few and _opposite(one, other):
            return one, other
    portable = {n.class_name for n in nodes.values() if Property.GRABBABLE in n.properties}
    stated = {item: each for each in goal.all if (item := _predicate(each)) is not None}
    lies_in = {
        n: [other for relation in PLACES for other in graph.targets(n, relation)] for n in nodes
    }
    nested = nested_places(lies_in, lambda node_id: nodes[node_id].class_name)
    found = contradiction(stated, counts, portable, nested)
    return None if found is None else tuple(stated[item] for item in found)


def _opposite(one: HouseCondition, other: HouseCondition) -> bool:
    states = {(one.is_, other.is_), (other.is_, one.is_)}
    wanted = not (one.not_ or other.not_) and one.thing == other.thing != ANYTHING
    return wanted and not states.isdisjoint(OPPOSITES)


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
