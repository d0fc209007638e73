"""
Score a settled table by the conditions of its goal.

Each goal has a function that checks its conditions one by one. Whatever the goal, everything must
have come to rest on the table or on another object: what is in the hand or in the air fails it,
unless the goal is to hold something.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bbllm_bench.scorers import arrangements, blocks, layout, patterns
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites import goals
from bbllm_bench.suites.scores import Condition, FinalState, Score

SCORERS: Mapping[type[object], Callable[[Any, Table], Iterable[Condition]]] = {
    goals.OneSide: arrangements.one_side,
    goals.Segregated: arrangements.segregated,
    goals.PairsASide: arrangements.pairs_a_side,
    goals.LetterL: patterns.letter_l,
    goals.PlusSign: patterns.plus_sign,
    goals.ColorLine: arrangements.color_line,
    goals.Triangle: arrangements.triangle,
    goals.Resting: blocks.resting,
    goals.Contained: blocks.contained,
    goals.Tower: blocks.tower,
    goals.Corners: blocks.corners,
    goals.Hold: blocks.hold,
    goals.Layout: layout.layout,
}


def judge(goal: goals.Goal, state: FinalState) -> Score:
    """
    Score a settled table.

    To compare conditions, score the start of an episode with `objects` and `start` the same.
    """
    table = Table(state, level_m=goal.level_m, tilt_deg=goal.tilt_deg)
    unrest = table.unrest(state.held if isinstance(goal, goals.Hold) else '')
    rest = Condition('everything at rest', unrest)
    return Score((*SCORERS[type(goal)](goal, table), rest))
