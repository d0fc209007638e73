"""
What is wrong with a plan, found without a simulator: every call on the table as it will be then.

Calls go through `check_call`, the preconditions of their skill and its geometry, as in the
executor, and the effects of what is not refused make the table for the next call. A refused call
changes nothing, so that a step which relied on it is a fault as well.

Only what is certain is a fault. Objects that were let go, or that found their place on a table or
in a container, lie somewhere: neither they nor the room beside them are judged. Other objects that
the plan has moved, and their neighbours, may be a little off: a refusal by geometry counts where
it stays one with all of them smaller and larger. What the arm alone finds out, such as an object
that is too heavy, is not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbllm.core.skill_calls import CallError, check_call, is_pose_like
from bbllm.core.types import (
    MOVABLE,
    Code,
    Fact,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
)
from bbllm.skills.catalog import find_skill
from bbllm.skills.effects import changed, names_before, unsure
from bbllm.skills.grasps import MAX_WIDTH_M, Hand
from bbllm.skills.halves import carry_out_halves
from bbllm.skills.motions import geometric_motion, out_of_reach, refusal
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion
from bbllm.skills.shapes import vertical_axis
from bbllm.skills.skill import ArmSkill

OFF_M = 0.002
"""How much larger or smaller on each side objects may count: a pick may nudge what is beside it as
far [m]."""
_NO_HAND = Hand(
    tcp=Pose(position_m=(0.3, 0.0, 0.5), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=MAX_WIDTH_M
)
"""For motions that do not depend on it."""


@dataclass(frozen=True, slots=True)
class PlanFault:
    """A call of a plan that will be refused at its turn."""

    index: int
    """Of the call, from 0."""
    call: SkillCall
    code: Code
    sentence: str


def check_plan(calls: Sequence[SkillCall], scene: Scene) -> tuple[PlanFault, ...]:
    """Return the calls that would be refused one after the other; none of a household is."""
    if scene.is_symbolic:
        return ()
    table = ImaginedTable(scene)
    outcomes = enumerate(map(table.execute, calls))
    return tuple(
        PlanFault(index, outcome.call, outcome.code, outcome.message)
        for index, outcome in outcomes
        if not outcome.succeeded
    )


class ImaginedTable:
    """The table as it will be; `execute` applies the effects of a call, or refuses it."""

    def __init__(self, scene: Scene) -> None:
        self._seen, self._scene = scene, scene

    def observe(self) -> Scene:
        return self._scene

    def execute(self, call: SkillCall) -> Outcome:
        try:
            call = check_call(call, self._scene)
        except CallError as error:
            return error.outcome
        skill = find_skill(call.skill)
        if skill is not None and skill.halves:
            return carry_out_halves(skill, call, self.observe, self.execute)
        refused = self._refusal(call, skill)
        if refused is not None:
            return refused.outcome(call)
        return Outcome(call=call, status=Status.SUCCEEDED)

    def _refusal(self, call: SkillCall, skill: ArmSkill | None) -> Rejection | None:
        """Return why a call is refused, else have its effects."""
        scene = self._scene
        refused = refusal(call, scene)
        if refused is not None and refused.code is Code.NOT_HOLDING and _may_hold(scene):
            lying = [item.name for item in scene.objects if item.kind in MOVABLE]
            self._scene = _scattered(scene, lying)  # it may be any that is placed
            return None
        if refused is not None:
            return refused
        motion = None if skill is None else self._motion(call, skill)
        if isinstance(motion, Rejection):
            return motion
        far = out_of_reach(call, scene)
        if far is None:
            self._scene = _after(call, skill, scene, motion)
        return far

    def _motion(self, call: SkillCall, skill: ArmSkill) -> Motion | Rejection | None:
        """Return the motion, or why there are none for certain; None where that is not known."""
        scene, hand = self._scene, self._hand(skill)
        vague = unsure(scene)
        on_pose = any(map(is_pose_like, call.args))
        if hand is None or vague.intersection((*call.args, scene.held)) or (vague and on_pose):
            return None
        if not skill.is_sure(call, scene, None):
            return None
        objects = tuple(item for item in scene.objects if item.name not in vague)
        known = replace(scene, objects=objects)
        found = geometric_motion(call, known, hand)
        if isinstance(found, Rejection):
            return found if self._is_certain(found, call, skill, known, hand) else None
        return found

    def _hand(self, skill: ArmSkill) -> Hand | None:
        if not skill.uses_grip:
            return _NO_HAND
        reading = self._scene.hand
        return None if reading is None else Hand(tcp=reading.tcp, width_m=reading.width_m)

    def _is_certain(
        self, found: Rejection, call: SkillCall, skill: ArmSkill, scene: Scene, hand: Hand
    ) -> bool:
        if scene.objects == self._seen.objects and scene.hand is self._seen.hand:
            return True
        if found.code is Code.INTERNAL or not skill.is_sure(call, scene, found):
            return False
        others = (_resized(scene, call, off_m) for off_m in (-OFF_M, OFF_M))
        return all(isinstance(geometric_motion(call, each, hand), Rejection) for each in others)


def _may_hold(scene: Scene) -> bool:
    """Whether the hand has closed on something or nothing."""
    return any(fact.subject == 'hand' and fact.estimated for fact in scene.facts)


def _scattered(scene: Scene, names: Sequence[str]) -> Scene:
    """Return a scene in which some objects lie somewhere, and the hand is empty."""
    kept = [fact for fact in scene.facts if fact.subject not in ('hand', *names)]
    lying = [Fact(name, 'is', 'clear', estimated=True) for name in names]
    return replace(scene, facts=(*kept, *lying, Fact('hand', 'is', 'empty')))


def _after(call: SkillCall, skill: ArmSkill | None, scene: Scene, motion: Motion | None) -> Scene:
    """Return the scene once a call has succeeded; without a motion, as far as names show."""
    if skill is None:
        return scene
    if skill.imagine is not None:
        return skill.imagine(call, scene, motion)
    names = names_before(skill.signature.params, call, scene)
    return replace(scene, facts=changed(scene.facts, skill, names))


def _resized(scene: Scene, call: SkillCall, off_m: float) -> Scene:
    """Return a scene whose objects are larger on all sides by so much, but for those of a call."""
    named = {*call.args, scene.held}
    return replace(
        scene,
        objects=tuple(
            _wider(item, off_m) if item.kind in MOVABLE and item.name not in named else item
            for item in scene.objects
        ),
    )


def _wider(item: SceneObject, off_m: float) -> SceneObject:
    upright = vertical_axis(item)
    x, y, z = (
        size if axis == upright else max(size + 2 * off_m, OFF_M)
        for axis, size in enumerate(item.size_m)
    )
    return replace(item, size_m=(x, y, z))
