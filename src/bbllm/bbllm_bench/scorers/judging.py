"""
Score a settled table by the conditions of its goal.

Each goal has a function that checks its conditions one by one. Whatever the goal, everything must
have come to rest on the table or on another object: what is in the hand or in the air fails it,
unless the goal is to hold something.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bbllm_bench.scorers import arrangements, blocks, patterns, talk
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites import goals
from bbllm_bench.suites.scores import Condition, FinalState, Score

SCORERS: Mapping[type[object], Callable[[Any, Table], Iterable[Condition]]] = {
    goals.LetterL: patterns.letter_l,
    goals.PlusSign: patterns.plus_sign,
    goals.ColorLine: arrangements.color_line,
    goals.Triangle: arrangements.triangle,
    goals.Conditions: blocks.conditions,
    goals.Tower: blocks.tower,
    goals.Corners: blocks.corners,
    goals.Hold: blocks.hold,
    goals.Layout: blocks.layout,
    goals.Spoken: talk.spoken,
}


def judge(goal: goals.Goal, state: FinalState) -> Score:
    """
    Score a settled table.

    To compare conditions, score the start of an episode with `objects` and `start` the same.
    """
    table = Table(state, level_m=goal.level_m, tilt_deg=goal.tilt_deg)
    wanted = isinstance(goal, goals.Hold) or (
        isinstance(goal, goals.Conditions)
        and any(state.held in blocks.read_goal(t, table)[0].to_hold for t in goal.texts)
    )
    unrest = table.unrest(state.held if wanted else '')
    rest = Condition('everything at rest', unrest)
    return Score((*SCORERS[type(goal)](goal, table), rest))
