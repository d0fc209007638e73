"""
Score a settled table by two formulations of its goal.

Each goal has a function for its conditions, the first formulation, which GCR counts, and a second
formulation with other mathematics, which returns a fault. Whatever the goal, everything must have
come to rest on the table or on another object: what is in the hand or in the air fails it, unless
the goal is to hold something.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bbllm.bench.scorers import hidden, line_and_triangle, patterns, sides, stacks
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites import goals
from bbllm.bench.suites.scores import Condition, FinalState, Score, Verdict, first_fault

Formulations = tuple[Callable[[Any, Table], list[Condition]], Callable[[Any, Table], str]]
FORMULATIONS: Mapping[type[object], Formulations] = {
    goals.OneSide: (sides.one_side, sides.one_side_fault),
    goals.Segregated: (sides.segregated, sides.segregated_fault),
    goals.PairsASide: (sides.pairs_a_side, sides.pairs_a_side_fault),
    goals.LetterL: (patterns.letter_l, patterns.letter_l_fault),
    goals.PlusSign: (patterns.plus_sign, patterns.plus_sign_fault),
    goals.ColorLine: (line_and_triangle.color_line, line_and_triangle.color_line_fault),
    goals.Triangle: (line_and_triangle.triangle, line_and_triangle.triangle_fault),
    goals.Resting: (stacks.resting, stacks.resting_fault),
    goals.Contained: (stacks.contained, stacks.contained_fault),
    goals.Tower: (stacks.tower, stacks.tower_fault),
    goals.Corners: (hidden.corners, hidden.corners_fault),
    goals.Hold: (hidden.hold, hidden.hold_fault),
}


def judge(goal: goals.Goal, state: FinalState) -> Score:
    """
    Score a settled table.

    To compare conditions, score the start of an episode with `objects` and `start` the same.
    """
    table = Table(state, level_m=goal.level_m, tilt_deg=goal.tilt_deg)
    conditions_of, fault_of = FORMULATIONS[type(goal)]
    unrest = table.unrest(state.held if isinstance(goal, goals.Hold) else '')
    conditions = (*conditions_of(goal, table), Condition('everything at rest', unrest))
    faults = (first_fault(conditions), fault_of(goal, table) or unrest)
    verdict, reason = Verdict.FAILED if faults[0] else Verdict.PASSED, faults[0]
    if bool(faults[0]) is not bool(faults[1]):
        found = [f'said: {each[:-1]}' if each else 'found nothing against it' for each in faults]
        verdict = Verdict.DISPUTED
        reason = f'the first formulation {", the second ".join(found)}.'
    return Score(verdict=verdict, reason=reason, conditions=conditions, faults=faults)
