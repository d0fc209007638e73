"""A goal of a household as groups of predicates: the sub-goals of FLTRNN and its baselines."""

from collections.abc import Sequence

from bbllm.worlds.household.derived import FOR_CLOTHES, SINKS, USED
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Property
from bbllm_bench.oracle.household.subplan import MAKERS
from bbllm_bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm_bench.suites.house_predicates import predicates_of
from bbllm_planners.goal_predicates import PLACING, GoalPredicate, GoalRelation

_LAST = (GoalRelation.HOLDS, GoalRelation.SIT)
"""What keeps the hand full, or the robot in its seat."""


def groups_of(goal: HouseholdGoal, graph: Graph) -> list[tuple[GoalPredicate, ...]]:
    """
    Return the predicates of a goal, those about one place together; what is held comes last.

    Empty if predicates cannot express the goal.
    """
    found: list[GoalPredicate] = []
    for condition in goal.all:
        one = predicates_of(HouseholdGoal(kind='household', all=(condition,)))
        items = one if one is not None else _made(condition, goal, graph)
        if not items or goal.same:
            return []
        found += items
    groups: dict[str, list[GoalPredicate]] = {}
    for item in sorted(dict.fromkeys(found), key=_rank):
        key = item.relation.value if item.relation in _LAST else item.place or item.thing
        groups.setdefault(key, []).append(item)
    return [tuple(items) for items in groups.values()]


def _rank(item: GoalPredicate) -> int:
    if item.relation in _LAST:
        return 2 + _LAST.index(item.relation)
    return 0 if item.relation in PLACING else 1


def _made(condition: HouseCondition, goal: HouseholdGoal, graph: Graph) -> Sequence[GoalPredicate]:
    """Return what makes an object heated, toasted or washed; empty if it goes elsewhere."""
    entity, word = condition.thing, condition.is_
    alone = sum(entity in (item.thing, item.held) for item in goal.all) == 1
    plain = not (condition.not_ or condition.place or condition.room or condition.count > 1)
    if word not in MAKERS or word == USED or entity is None or not alone or not plain:
        return ()
    nodes = graph.nodes.values()
    clothes = any(Property.CLOTHES in n.properties for n in nodes if n.class_name == entity)
    for device in sorted(nodes, key=lambda node: node.class_name):
        name = device.class_name
        makes = name.replace('_', '').lower() in MAKERS[word] - SINKS
        if makes and condition.by in (None, name) and (name in FOR_CLOTHES) is clothes:
            inside = GoalPredicate(GoalRelation.INSIDE, entity, name)
            closed = [GoalPredicate(GoalRelation.CLOSED, name)]
            door = closed if Property.CAN_OPEN in device.properties else []
            return (inside, *door, GoalPredicate(GoalRelation.TURNON, name))
    return ()
