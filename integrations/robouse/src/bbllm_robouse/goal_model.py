"""
The stand-in `goal`: a program that reads the goals by which Robo Use judges; no language model.

It is the upper bound by our skills, as `expert` is on the suites of bbllm: what fails with it
fails by a skill or by a goal that it does not know, not by planning.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bbllm.core.goals import NONE
from bbllm.core.protocols import PromptRequest, Situation
from bbllm.core.types import Scene
from bbllm_bench.oracle.model import Answer, OracleModel
from bbllm_bench.oracle.reply_format import PlanLine, plan_reply
from bbllm_bench.oracle.step_mapping import call_text

Goals = Sequence[Mapping[str, Any]]
Wish = tuple[str, str]
"""What goes where."""

PLANNERS = ('brain_body', 'base_llm')
WITHOUT_STEPS = frozenset({'unmoved', 'upright'})
"""Goals that nothing has to be done for."""


class UnknownGoalError(Exception):
    """A goal of a kind that the stand-in does not know."""


def goal_model(goals: Goals) -> OracleModel:
    """Return the stand-in for a task with these goals."""

    def begin(situation: Situation | None) -> Answer:
        def answer(request: PromptRequest, _: str) -> str:
            scene = request.scene
            if request.kind == 'call':
                return call_text(request.text, scene)
            if request.kind == 'goal':
                return NONE
            if scene is None or not goals:
                return 'cannot: the task has no goals, for example as it is to be refused.'
            try:
                lines = steps_for(goals, scene)
            except UnknownGoalError as error:
                return f'cannot: {error}'
            return plan_reply(request, lines, 'rob0')

        return answer

    return OracleModel('goal', begin, PLANNERS)


def steps_for(goals: Goals, scene: Scene) -> list[PlanLine]:
    """
    Return the steps that are left of goals in a scene.

    Raises:
        UnknownGoalError: It does not know a kind of goal.
    """
    wishes = [wish for goal in goals for wish in _wishes(goal, scene)]
    there = {(fact.subject, fact.object) for fact in scene.facts if fact.predicate in ('on', 'in')}
    left = [wish for wish in wishes if wish not in there]
    lines: list[PlanLine] = []
    if scene.held is not None and scene.held not in {name for name, _ in left}:
        lines.append(PlanLine('place', ('table',), f'place {scene.held} on table'))
    closed = {
        fact.subject for fact in scene.facts if (fact.predicate, fact.object) == ('is', 'closed')
    }
    for drawer in dict.fromkeys(where for _, where in left if where in closed):
        lines.append(PlanLine('open', (drawer,), f'open {drawer}'))
    for name, where in _in_order(left, there, scene):
        if name != scene.held:
            lines.append(PlanLine('pick', (name,), f'pick {name}'))
        lines.append(PlanLine('place', (where,), f'place {name} on {where}'))
    lines += _drawers(goals, closed, scene, bool(left))
    return lines


def _wishes(goal: Mapping[str, Any], scene: Scene) -> list[Wish]:
    match goal['type']:
        case 'in':
            return [(goal['obj'], goal['container'])]
        case 'on_pad':
            return [(goal['obj'], goal['pad'])]
        case 'on_plate':
            return [(goal['obj'], goal['plate'])]
        case 'on_top' | 'on_top_level':
            return [(goal['obj'], goal['base'])]
        case 'in_socket':
            return [(goal['obj'], goal['socket'])]
        case 'stack':
            order = goal['order']
            bottom = [(order[0], goal['pad'])] if 'pad' in goal else []
            return [*bottom, *zip(order[1:], order)]
        case 'grid':
            return _cells(goal, scene)
        case 'drawer':
            return []
        case kind if kind in WITHOUT_STEPS:
            return []
    raise UnknownGoalError(f'`goal` does not know goals of the kind {goal["type"]}.')


def _cells(goal: Mapping[str, Any], scene: Scene) -> list[Wish]:
    """Give each expected cell an object of its colour, one that is there already first."""
    names = goal.get('objects') or [
        o.name for o in scene.objects if o.color and _is_movable(o.name, scene)
    ]
    at = {
        fact.subject: fact.object
        for fact in scene.facts
        if fact.predicate == 'on' and fact.object.startswith('cell_')
    }
    cells = [
        (f'cell_{row}_{column}', one['color'])
        for one in goal['expected']
        for row, column in [one['cell']]
    ]
    free, wishes = [*names], []
    for cell, color in sorted(
        cells, key=lambda each: not any(at.get(n) == each[0] for n in names)
    ):
        fitting = [name for name in free if scene.object(name).color == color]
        if not fitting:
            continue
        name = next((each for each in fitting if at.get(each) == cell), fitting[0])
        free.remove(name)
        wishes.append((name, cell))
    return wishes


def _is_movable(name: str, scene: Scene) -> bool:
    return scene.has(name, 'is', 'clear') or any(
        fact.subject == name and fact.predicate in ('on', 'in', 'held_by') for fact in scene.facts
    )


def _in_order(left: Sequence[Wish], there: set[Wish], scene: Scene) -> list[Wish]:
    """Order moves so that places are free when their turn comes; circles go over the table."""
    names, waiting, ordered = {name for name, _ in left}, [*left], list[Wish]()
    where_now = dict(there)
    if scene.held in names:
        waiting.sort(key=lambda wish: wish[0] != scene.held)
    while waiting:
        taken = {place: name for name, place in where_now.items()}
        for wish in waiting:
            name, place = wish
            blocked = place.startswith('cell_') and taken.get(place) not in (None, name)
            base_moves = any(place == other for other, _ in waiting)
            covered = any(under == name for _, under in where_now.items())
            if not blocked and not base_moves and not covered:
                break
        else:
            free = [name for name, _ in waiting if name not in where_now.values()]
            if not free:
                raise UnknownGoalError('no object of the goal is free to be moved.')
            wish = (free[0], 'table')
        if wish in waiting:
            waiting.remove(wish)
        ordered.append(wish)
        where_now[wish[0]] = wish[1]
        if len(ordered) > 40:
            raise UnknownGoalError('no order of moves was found.')
    return ordered


def _drawers(goals: Goals, closed: set[str], scene: Scene, placed: bool) -> list[PlanLine]:
    lines: list[PlanLine] = []
    for goal in goals:
        if goal['type'] == 'drawer':
            name = goal['drawer']
            opens = goal.get('min_open', -1) > 0
            if opens and name in closed:
                lines.append(PlanLine('open', (name,), f'open {name}'))
            elif not opens and (name not in closed or placed):
                lines.append(PlanLine('close', (name,), f'close {name}'))
    return lines
