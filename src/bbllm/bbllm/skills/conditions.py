"""
What the preconditions of a call decide by the scene, in the order in which its skill has them.

`skills.motions` begins with `refusal`, and so do tables without a simulator.
"""

from bbllm.core.types import Scene, SkillCall
from bbllm.skills.catalog import find_skill
from bbllm.skills.rejection import Rejection
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
