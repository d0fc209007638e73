"""
Score a settled table by the conditions of its goal.

Each goal has a function that checks its conditions one by one. Whatever the goal, everything must
have come to rest on the table or on another object: what is in the hand or in the air fails it,
unless the goal is to hold something.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bbllm.core.errors import ParseError, UnknownNameError
from bbllm.core.goals import TaskGoal, parse_goal
from bbllm.core.types import Fact, Kind, Scene, SceneObject
from bbllm.scene.relations import build_scene
from bbllm.worlds.scene.goal_check import TableTolerances, check_goal
from bbllm_bench.scorers import arrangements, blocks, patterns
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites import goals
from bbllm_bench.suites.scores import Condition, FinalState, Score


def _conditions(goal: goals.Conditions, table: Table) -> Iterator[Condition]:
    """Check each condition by the checker of episodes."""
    start, now = (_scene(items, table.held) for items in (table.start, table.now))
    wanted, fault = _read(goal, start)
    if fault:
        yield Condition(goal.text, fault)
    for condition in wanted.conditions:
        found = check_goal(TaskGoal((condition,)), now, start, goal.limits)
        fault = '; '.join(found.unmet) or found.unseen
        yield Condition(condition.in_words, fault and f'{fault}.')


def _contained(goal: goals.Contained, table: Table) -> Iterator[Condition]:
    """Check that named objects are in their containers, and no other is in any."""
    boxes = table.every(Kind.CONTAINER)
    others = [n for n in table.movables if n not in goal.inside and n not in boxes]
    parts = [f'in({name}, {box})' for name, box in goal.inside.items()]
    if others and boxes:
        parts.append(f'not in({"|".join(others)}, {"|".join(boxes)})')
    stated = goals.Conditions(
        kind='conditions',
        text='; '.join(parts),
        limits=TableTolerances(rim_m=goal.rim_m),
        level_m=goal.level_m,
        tilt_deg=goal.tilt_deg,
    )
    yield from _conditions(stated, table)


def _read(goal: goals.Conditions, scene: Scene) -> tuple[TaskGoal, str]:
    """Return a goal and '', or an empty one and why a scene cannot have it."""
    try:
        return parse_goal(goal.text, scene), ''
    except (ParseError, UnknownNameError) as error:
        return TaskGoal(()), str(error)


def _scene(items: Mapping[str, SceneObject], held: str) -> Scene:
    scene = build_scene(tuple(items.values()), None, skills=(), stamp_s=0.0, now_s=0.0)
    return replace(scene, facts=(*scene.facts, *([Fact(held, 'held_by', 'hand')] if held else [])))


SCORERS: Mapping[type[object], Callable[[Any, Table], Iterable[Condition]]] = {
    goals.OneSide: arrangements.one_side,
    goals.Segregated: arrangements.segregated,
    goals.PairsASide: arrangements.pairs_a_side,
    goals.LetterL: patterns.letter_l,
    goals.PlusSign: patterns.plus_sign,
    goals.ColorLine: arrangements.color_line,
    goals.Triangle: arrangements.triangle,
    goals.Conditions: _conditions,
    goals.Contained: _contained,
    goals.Tower: blocks.tower,
    goals.Corners: blocks.corners,
    goals.Hold: blocks.hold,
    goals.Layout: blocks.layout,
}


def judge(goal: goals.Goal, state: FinalState) -> Score:
    """
    Score a settled table.

    To compare conditions, score the start of an episode with `objects` and `start` the same.
    """
    table = Table(state, level_m=goal.level_m, tilt_deg=goal.tilt_deg)
    wanted = isinstance(goal, goals.Hold) or (
        isinstance(goal, goals.Conditions)
        and state.held in _read(goal, _scene(state.start, ''))[0].to_hold
    )
    unrest = table.unrest(state.held if wanted else '')
    rest = Condition('everything at rest', unrest)
    return Score((*SCORERS[type(goal)](goal, table), rest))
