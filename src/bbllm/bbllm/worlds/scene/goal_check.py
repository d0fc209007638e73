"""
Whether a scene is what a goal requires, by geometry on a table and by facts in a household.

Tolerances are data, most of them in widths of the objects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from bbllm.core.errors import NoGoalError
from bbllm.core.goals import ConditionKind, GoalCondition, GoalFinding, TaskGoal
from bbllm.core.observation import Observed, as_seen, last_moves
from bbllm.core.types import Fact, Scene
from bbllm.worlds.scene.goal_choices import UNSEEN, alone, chosen, counted_places, to_one
from bbllm.worlds.scene.table_conditions import TableConditions
from bbllm.worlds.scene.table_tolerances import DEFAULTS, TableTolerances

K = ConditionKind
MOST_CHOICES = 2_000
"""So many ways to choose objects for the variables of a goal are tried."""


def check_goal(
    goal: TaskGoal,
    scene: Scene,
    start: Scene,
    limits: TableTolerances = DEFAULTS,
    observations: Sequence[Observed] | None = None,
) -> GoalFinding:
    """
    Return what a scene shows of a goal.

    Args:
        goal: The conditions.
        scene: The settled scene.
        start: The scene before the task, for what has moved.
        limits: What counts on a table.
        observations: All of the table from the start to the end, which have the order of moves
            and what was so on the way; None where they are not known.
    """
    found: list[GoalFinding] = []
    for value, conditions in goal.choices():
        fixed = replace(goal, conditions=conditions)
        finding = _check(fixed, scene, start, limits, observations)
        if value:
            finding = _as_written(finding, goal, fixed, value)
        if finding.met:
            return finding
        found.append(finding)
        if len(found) == MOST_CHOICES:
            return GoalFinding(unseen=f'{goal} has too many choices to try: name fewer')
    return min(found, key=lambda each: (len(each.unmet), -each.n_met))


def _as_written(
    finding: GoalFinding, goal: TaskGoal, fixed: TaskGoal, value: Mapping[str, str]
) -> GoalFinding:
    """Return what is found of one choice of objects for variables in the words of the goal."""
    written = dict(zip(fixed.conditions, goal.conditions))
    words = ', '.join(f'{name} = {chosen}' for name, chosen in value.items())
    return replace(
        finding,
        unmet=tuple(f'with {words}, {fault}' for fault in finding.unmet),
        broken=tuple(written[condition] for condition in finding.broken),
    )


def _check(
    goal: TaskGoal,
    scene: Scene,
    start: Scene,
    limits: TableTolerances,
    observations: Sequence[Observed] | None,
) -> GoalFinding:
    """Return what a scene shows of a goal without variables."""
    moves = None if observations is None else last_moves(observations)
    check = (
        HouseConditions(scene)
        if scene.is_symbolic
        else TableConditions(scene, start, limits, moves)
    )
    past = [
        TableConditions(as_seen(start, seen), start, limits, moves)
        for seen in (observations or ())[1:]
    ]
    unmet: list[str] = []
    broken: list[GoalCondition] = []
    n_met = 0
    unseen = f'no condition expresses {goal.rest!r}' if goal.rest else ''
    for condition in goal.conditions:
        try:
            if condition.once and observations is None:
                raise NoGoalError('what was so on the way is not known')
            fault = _never(condition, past) if condition.once else check.fault(condition)
        except NoGoalError as error:
            unseen = unseen or str(error)
            continue
        # What is in sight can break a condition with `not`, and can meet any other.
        open_ = bool(fault) != condition.negated
        exact = any(each.exact for each in condition.selections)
        hidden = _hidden(condition, scene, check.fault) if open_ or exact else ''
        if hidden:
            unseen = unseen or hidden
        elif fault:
            unmet.append(fault)
            broken.append(condition)
        else:
            n_met += 1
    return GoalFinding(tuple(unmet), unseen, n_met, tuple(broken))


def _never(condition: GoalCondition, past: Sequence[TableConditions]) -> str:
    """Return that a condition was so at no time on the way, '' if it was."""
    now = replace(condition, once=False)
    return (
        ''
        if any(not table.fault(now) for table in past)
        else f'at no time on the way: {now.in_words}'
    )


def undecided(goal: TaskGoal, start: Scene) -> str:
    """
    Return why a goal could not show that a task was done, '' if it can.

    A condition on any of several objects that one of them meets before anything has moved, such
    as a light that is off in a house of three.
    """
    tied = [c for c in goal.conditions if any(each.variable for each in c.selections)]
    if tied and check_goal(replace(goal, conditions=tuple(tied), rest=''), start, start).met:
        return f'`{"; ".join(map(str, tied))}` is met before anything has moved'
    for condition in goal.conditions:
        if condition in tied:
            continue
        choice = len(condition.subjects) == 1 and condition.subjects[0].count < len(
            condition.subjects[0].names
        )
        if choice and not condition.negated:
            found = check_goal(TaskGoal((condition,)), start, start)
            if found.met:
                return f'`{condition}` is met before anything has moved'
    return ''


def _hidden(
    condition: GoalCondition, scene: Scene, fault_of: Callable[[GoalCondition], str]
) -> str:
    """Return that an object that could decide a condition is not in sight, '' if none could."""
    if scene.whole:
        return ''
    (chosen,) = condition.subjects  # only houses are seen in part, and they have no shapes
    gone = [name for name in chosen.names if name not in scene.names]
    places = condition.place.names if condition.place else ()
    far = [name for name in places if name not in scene.names]
    good = [n for n in chosen.names if n not in gone and not fault_of(alone(condition, n))]
    enough = condition.negated or len(good) + len(gone) >= chosen.count
    if chosen.exact:
        enough = len(good) <= chosen.count <= len(good) + len(gone)
    deciding = [*(gone if enough else ()), *far]
    return f'{deciding[0]} {UNSEEN} at the end' if deciding else ''


class HouseConditions:
    """A household as conditions query it: by its facts, which are symbols already."""

    def __init__(self, scene: Scene):
        self._scene = scene
        self._around: dict[str, list[Fact]] = {}
        for fact in scene.facts:
            if fact.predicate in ('on', 'in', 'inside', 'in_room'):
                self._around.setdefault(fact.subject, []).append(fact)

    def fault(self, condition: GoalCondition) -> str:
        """Return why a condition does not hold, as a sentence without full stop; '' if it does."""
        return chosen(condition, partial(self._single, condition))

    def _single(self, condition: GoalCondition, name: str) -> str:
        has = self._scene.has
        if name not in self._scene.names:
            return f'{name} {UNSEEN}'
        match condition.kind:
            case K.HELD:
                return '' if has(name, 'held_by') else f'{name} is in no hand'
            case K.STATE:
                return '' if has(name, 'is', condition.word) else f'{name} is not {condition.word}'
        assert condition.place is not None  # of both other kinds, by the grammar
        place = condition.place
        if condition.counts_places:
            return counted_places(
                condition, name, lambda other: self._single(to_one(condition, other), name)
            )
        if not self._places_of(name, condition.kind).isdisjoint(place.names):
            return ''
        now = next((f': it is {f.predicate} {f.object}' for f in self._scene.facts
                    if f.subject == name and f.predicate in ('on', 'inside')), '')  # fmt: skip
        return f'{name} is not {condition.kind.value} {place.in_words}{now}'

    def _places_of(self, name: str, kind: ConditionKind) -> set[str]:
        """Return all that an object is in, its room included, or on, also by way of others."""
        found: set[str] = set()
        passed = [name]
        for each in passed:
            for fact in self._around.get(each, ()):
                if (fact.predicate == 'on') is (kind is K.ON):
                    found.add(fact.object)
                if fact.object not in passed:
                    passed.append(fact.object)
        return found
