"""The motion of a call in a scene, or the reason why nothing may move."""

from bbllm.core.types import Code, Scene, SkillCall
from bbllm.skills.catalog import find_skill
from bbllm.skills.grasps import Hand
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion, StandStill
from bbllm.skills.skill import Judge


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
    motion = skill.plan(call, scene, hand)
    if not skill.moves and not _stands_still(motion):
        # No person was asked, and no constraint was judged.
        return Rejection(Code.INTERNAL, f'{skill.name} would move, and states that it does not.')
    return motion


def _stands_still(motion: Motion | Rejection) -> bool:
    if isinstance(motion, Rejection):
        return True
    return all(isinstance(segment, StandStill) for segment in motion.segments)
