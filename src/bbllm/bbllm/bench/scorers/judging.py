"""
Score a settled table by two formulations of its goal.

Each goal has a function for its conditions, the first formulation, which GCR counts, and a second
formulation with other mathematics, which returns a fault. Whatever the goal, everything must have
come to rest on the table or on another object: what is in the hand or in the air fails it, unless
the goal is to hold something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bbllm.bench.scorers import hidden, line_and_triangle, patterns, sides, stacks
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import (
    ColorLine,
    Contained,
    Corners,
    Goal,
    Hold,
    LetterL,
    OneSide,
    PairsASide,
    PlusSign,
    Resting,
    Segregated,
    Tower,
    Triangle,
)
from bbllm.bench.suites.scores import Condition, FinalState, Score, Verdict, first_fault

Formulations = tuple[Callable[[Any, Table], list[Condition]], Callable[[Any, Table], str]]
FORMULATIONS: Mapping[type[object], Formulations] = {
    OneSide: (sides.one_side, sides.one_side_fault),
    Segregated: (sides.segregated, sides.segregated_fault),
    PairsASide: (sides.pairs_a_side, sides.pairs_a_side_fault),
    LetterL: (patterns.letter_l, patterns.letter_l_fault),
    PlusSign: (patterns.plus_sign, patterns.plus_sign_fault),
    ColorLine: (line_and_triangle.color_line, line_and_triangle.color_line_fault),
    Triangle: (line_and_triangle.triangle, line_and_triangle.triangle_fault),
    Resting: (stacks.resting, stacks.resting_fault),
    Contained: (stacks.contained, stacks.contained_fault),
    Tower: (stacks.tower, stacks.tower_fault),
    Corners: (hidden.corners, hidden.corners_fault),
    Hold: (hidden.hold, hidden.hold_fault),
}


def judge(goal: Goal, state: FinalState) -> Score:
    """
    Score a settled table.

    To compare conditions, score the start of an episode with `objects` and `start` the same.
    """
    table = Table(state, level_m=goal.level_m, tilt_deg=goal.tilt_deg)
    conditions_of, fault_of = FORMULATIONS[type(goal)]
    unrest = table.unrest(state.held if isinstance(goal, Hold) else '')
    conditions = (*conditions_of(goal, table), Condition('everything at rest', unrest))
    faults = (first_fault(conditions), fault_of(goal, table) or unrest)
    verdict, reason = _together(*faults)
    return Score(verdict=verdict, reason=reason, conditions=conditions, faults=faults)


def _together(first: str, second: str) -> tuple[Verdict, str]:
    if bool(first) is bool(second):
        return (Verdict.FAILED, first) if first else (Verdict.PASSED, '')
    found = [f'said: {fault[:-1]}' if fault else 'found nothing against it'
             for fault in (first, second)]  # fmt: skip
    return Verdict.DISPUTED, f'the first formulation {", the second ".join(found)}.'
