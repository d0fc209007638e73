"""Goals of houses as predicates with counts (planners.goal_predicates), and back."""

from collections.abc import Iterable, Mapping

from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseholdGoal
from bbllm_planners.goal_predicates import (
    STATE_OF,
    GoalPredicate,
    GoalRelation,
    goal_text,
)

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
