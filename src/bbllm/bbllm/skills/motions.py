"""The motion of a call in a scene, or the reason why nothing may move."""

import traceback
from pathlib import Path

from bbllm.core.text import error_text
from bbllm.core.types import Code, Scene, SkillCall
from bbllm.skills.catalog import find_skill, own_skills
from bbllm.skills.grasps import MAX_WIDTH_M, Hand
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion, MoveAbove, Segment, StandStill
from bbllm.skills.skill import ArmSkill, Judge

WIDER_M = 0.001
"""How much wider than the hand opens a grip may be: readings of an open hand vary [m]."""


def refusal(call: SkillCall, scene: Scene) -> Rejection | None:
    """Return the first precondition of a checked call that the scene shows to be unmet."""
    return _first(call, scene, Judge.SCENE)


def out_of_reach(call: SkillCall, scene: Scene) -> Rejection | None:
    """Return that a place is out of reach where the scene shows it."""
    return _first(call, scene, Judge.ARM)


def _first(call: SkillCall, scene: Scene, judge: Judge) -> Rejection | None:
    skill = find_skill(call.skill)
    for need in () if skill is None else skill.needs:
        if need.judge is judge and need.unmet is not None:
            words = need.unmet(call, scene)
            if words is not None:
                return need.refusal(words)
    return None


def plan_motion(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    """Return the motion of a call that `check_call` has passed, or why it cannot be tried."""
    return refusal(call, scene) or geometric_motion(call, scene, hand)


def geometric_motion(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    """
    Do the same for a call that `motions.refusal` does not refuse.

    Pure geometry: a refusal is returned only where it is certain by outlines and heights.
    `arm.execution` finds out which of the grips the arm can reach.
    """
    skill = find_skill(call.skill)
    if skill is None or skill.plan is None:
        return Rejection(Code.UNKNOWN_SKILL, f'The arm has no skill named {call.skill!r}.')
    if skill in own_skills():
        motion = skill.plan(call, scene, hand)
    else:
        try:
            motion = skill.plan(call, scene, hand)
            fault = _fault_of(motion)
        except Exception as error:  # whatever the skill of another package does
            at = traceback.extract_tb(error.__traceback__)[-1]
            fault = f'{error_text(error)} ({Path(at.filename).name}, line {at.lineno})'
        if fault:
            return _unplanned(call, skill, fault)
    if not skill.moves and not _stands_still(motion):
        # No person was asked, and no constraint was judged.
        return Rejection(Code.INTERNAL, f'{skill.name} would move, and states that it does not.')
    return motion


def _fault_of(motion: object) -> str:
    """Return why a result cannot be followed, '' where it can as far as it shows."""
    if isinstance(motion, Rejection):
        return ''
    if not isinstance(motion, Motion):
        return f'it returned {type(motion).__name__}, and has to return a Motion or a Rejection'
    if not motion.segments:
        return 'its Motion is empty, and needs a segment'
    for segment in motion.segments:
        if not isinstance(segment, Segment):
            return f'{type(segment).__name__} is no segment, such as Glide and Lift'
        for grip in segment.grips if isinstance(segment, MoveAbove) else ():
            if not 0.0 <= grip.opening_m <= MAX_WIDTH_M + WIDER_M:
                return (
                    f'opening_m={grip.opening_m:g} of a Grip is no opening of the hand, '
                    f'which are from 0 to {MAX_WIDTH_M:g} m'
                )
    return ''


def _unplanned(call: SkillCall, skill: ArmSkill, fault: str) -> Rejection:
    """Return that a skill of another package did not plan a call, which moves nothing."""
    name = getattr(skill.plan, '__qualname__', type(skill.plan).__name__)
    return Rejection(
        Code.INTERNAL,
        f'The skill {skill.name} ({skill.plan.__module__}:{name}) could not plan {call}: {fault}. '
        'Nothing moved; a plan without it would do until its package is mended.',
    )


def _stands_still(motion: Motion | Rejection) -> bool:
    if isinstance(motion, Rejection):
        return True
    return all(isinstance(segment, StandStill) for segment in motion.segments)
