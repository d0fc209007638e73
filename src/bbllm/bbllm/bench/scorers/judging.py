"""
One function that judges any goal: two formulations, and what they say together.

Each goal has a module of its own with `parts_of`, the first formulation, which is also what GCR
counts, and `second_look`, written with other mathematics. Whatever the goal, everything must have
come to rest on the table or on another thing: what is in the hand or in the air fails it, unless
the goal is to hold something.
"""

from __future__ import annotations

from bbllm.bench.scorers import (
    color_line,
    contained,
    corners,
    hold,
    letter_l,
    one_side,
    pairs_a_side,
    plus_sign,
    resting,
    segregated,
    tower,
    triangle,
)
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
from bbllm.bench.suites.parts import Part, finding_of
from bbllm.bench.suites.situation import Finding, Judgement, Situation, Verdict


def judge(goal: Goal, situation: Situation) -> Judgement:
    """
    Judge a settled table.

    Judge the start of an episode with `objects` and `start` the same, to compare conditions.
    """
    table = Table(situation, level_m=goal.level_m, tilt_deg=goal.tilt_deg)
    parts, second = _both(goal, table)
    unrest = table.unrest_but(situation.held) if isinstance(goal, Hold) else table.unrest
    parts = [*parts, Part('everything at rest', unrest)]
    if second.passed and unrest:
        second = Finding(False, unrest)
    findings = (finding_of(parts), second)
    verdict, reason = _together(*findings)
    return Judgement(
        verdict=verdict,
        reason=reason,
        conditions=tuple(part.condition for part in parts),
        findings=findings,
    )


def _both(goal: Goal, table: Table) -> tuple[list[Part], Finding]:
    """Return what both formulations of a goal say."""
    match goal:
        case OneSide():
            return one_side.parts_of(goal, table), one_side.second_look(goal, table)
        case LetterL():
            return letter_l.parts_of(goal, table), letter_l.second_look(goal, table)
        case ColorLine():
            return color_line.parts_of(goal, table), color_line.second_look(goal, table)
        case PairsASide():
            return pairs_a_side.parts_of(goal, table), pairs_a_side.second_look(goal, table)
        case Triangle():
            return triangle.parts_of(goal, table), triangle.second_look(goal, table)
        case PlusSign():
            return plus_sign.parts_of(goal, table), plus_sign.second_look(goal, table)
        case Segregated():
            return segregated.parts_of(goal, table), segregated.second_look(goal, table)
        case Resting():
            return resting.parts_of(goal, table), resting.second_look(goal, table)
        case Contained():
            return contained.parts_of(goal, table), contained.second_look(goal, table)
        case Tower():
            return tower.parts_of(goal, table), tower.second_look(goal, table)
        case Corners():
            return corners.parts_of(goal, table), corners.second_look(goal, table)
        case Hold():
            return hold.parts_of(goal, table), hold.second_look(goal, table)


def _together(first: Finding, second: Finding) -> tuple[Verdict, str]:
    if first.passed and second.passed:
        return Verdict.PASSED, ''
    if not first.passed and not second.passed:
        return Verdict.FAILED, first.reason
    found = {True: 'found nothing against it', False: 'said'}
    told = ', the second '.join(
        f'{found[one.passed]}{"" if one.passed else ": " + one.reason[:-1]}'
        for one in (first, second)
    )
    return Verdict.DISPUTED, f'the first formulation {told}.'
