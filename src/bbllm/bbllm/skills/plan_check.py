"""
What is wrong with a plan, found without a simulator: every call on the table as it will be then.

Calls go through `check_call`, the table of `conditions` and the geometry of `motions`, as in the
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

from bbllm.core.skill_calls import CallError, check_call, looks_like_pose
from bbllm.core.types import (
    MOVABLE,
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
)
from bbllm.skills.catalog import GRAB_AND_PUTIN
from bbllm.skills.conditions import (
    TABLE,
    changed,
    names_before,
    names_where,
    out_of_reach,
    refusal,
)
from bbllm.skills.containers import is_container
from bbllm.skills.grab_and_putin import grab_and_putin
from bbllm.skills.grasps import MAX_WIDTH_M, Hand, closed_on, grips_for, tool_pose
from bbllm.skills.motions import Motions, Pick, Place, geometric_motions
from bbllm.skills.placing import put_down, square
from bbllm.skills.rejection import Rejection
from bbllm.skills.shapes import is_round, vertical_axis

OFF_M = 0.002
"""How much larger or smaller on each side objects may count: a pick may nudge what is beside it as
far [m]."""
_NO_HAND = Hand(
    tcp=Pose(position_m=(0.3, 0.0, 0.5), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=MAX_WIDTH_M
)
"""For picks, whose motions do not depend on it."""


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
        if call.skill == GRAB_AND_PUTIN.name:
            return grab_and_putin(call, self.observe, self.execute)
        refused = self._refusal(call)
        if refused is not None:
            return refused.outcome(call)
        return Outcome(call=call, status=Status.SUCCEEDED)

    def _refusal(self, call: SkillCall) -> Rejection | None:
        """Return why a call is refused, else have its effects."""
        scene = self._scene
        refused = refusal(call, scene)
        if refused is not None and refused.code is Code.NOT_HOLDING and _may_hold(scene):
            lying = [item.name for item in scene.objects if item.kind in MOVABLE]
            self._scene = _scattered(scene, lying)  # it may be any that is placed
            return None
        if refused is not None:
            return refused
        motions = self._motions(call)
        if isinstance(motions, Rejection):
            return motions
        far = out_of_reach(call, scene)
        if far is None:
            self._scene = _after(call, scene, motions)
        return far

    def _motions(self, call: SkillCall) -> Motions | Rejection | None:
        """Return the motions, or why there are none for certain; None where that is not known."""
        scene, hand = self._scene, self._hand(call)
        unsure = _unsure(scene)
        on_pose = any(map(looks_like_pose, call.args))
        if hand is None or unsure.intersection((*call.args, scene.held)) or (unsure and on_pose):
            return None
        if call.skill == 'place' and _is_container(call.args[0], scene):
            return None  # slow to find, and not where the arm will find it
        objects = tuple(item for item in scene.objects if item.name not in unsure)
        known = replace(scene, objects=objects)
        found = geometric_motions(call, known, hand)
        if isinstance(found, Rejection):
            return found if self._is_certain(found, call, known, hand) else None
        return found

    def _hand(self, call: SkillCall) -> Hand | None:
        reading = self._scene.hand
        if call.skill == 'pick':
            return _NO_HAND
        if reading is None or (call.skill == 'reach' and reading is not self._seen.hand):
            return None
        return Hand(tcp=reading.tcp, width_m=reading.width_m)

    def _is_certain(self, found: Rejection, call: SkillCall, scene: Scene, hand: Hand) -> bool:
        if scene.objects == self._seen.objects and scene.hand is self._seen.hand:
            return True
        if found.code is Code.NO_CLEARANCE and call.skill == 'place' and scene.held is not None:
            held = scene.object(scene.held)
            if not (square(held) or is_round(held)):
                return False  # how it is gripped decides, and the arm chooses that
        others = (_resized(scene, call, off_m) for off_m in (-OFF_M, OFF_M))
        return all(isinstance(geometric_motions(call, each, hand), Rejection) for each in others)


def _is_container(name: str, scene: Scene) -> bool:
    return name in scene.names and is_container(scene.object(name))


def _unsure(scene: Scene) -> set[str]:
    """Return the names of objects of which it is not known where they are, or how turned."""
    return {fact.subject for fact in scene.facts if fact.estimated}


def _may_hold(scene: Scene) -> bool:
    """Whether the hand has closed on something or nothing."""
    return any(fact.subject == 'hand' and fact.estimated for fact in scene.facts)


def _scattered(scene: Scene, names: Sequence[str]) -> Scene:
    """Return a scene in which some objects lie somewhere, and the hand is empty."""
    kept = [fact for fact in scene.facts if fact.subject not in ('hand', *names)]
    lying = [Fact(name, 'is', 'clear', estimated=True) for name in names]
    return replace(scene, facts=(*kept, *lying, Fact('hand', 'is', 'empty')))


def _after(call: SkillCall, scene: Scene, motions: Motions | None) -> Scene:
    """Return the scene once a call has succeeded; without motions, as far as names show."""
    names, now, unsure = names_before(call, scene), scene, False
    held = scene.held or ''
    if call.skill == 'pick':
        held, unsure = call.args[0], call.args[0] in _unsure(scene)
        now = _gripped(scene, call.args[0], motions)
    elif call.skill == 'place':
        target = motions.target if isinstance(motions, Place) else None
        names = {**names, **names_where(call, scene, target)}
        unsure = _lies_somewhere(call, scene, motions)
        if isinstance(motions, Place):
            now = _released(scene, motions)
    facts = changed(now.facts, TABLE[call.skill], names)
    if unsure:
        marks = Fact(held, 'is', 'clear'), Fact(held, 'held_by', 'hand')
        facts = tuple(replace(fact, estimated=True) if fact in marks else fact for fact in facts)
    return replace(now, facts=facts)


def _gripped(scene: Scene, name: str, motions: Motions | None) -> Scene:
    """Return the scene with the hand closed on an object; lifting changes nothing between them."""
    above = motions.above.grips if isinstance(motions, Pick) else grips_for(scene.object(name), ())
    if not isinstance(above, tuple):
        return scene
    hand = closed_on(above[0])
    return replace(scene, hand=HandReading(tcp=hand.tcp, width_m=hand.width_m))


def _released(scene: Scene, motions: Place) -> Scene:
    rests, grip = put_down(scene.object(motions.name), motions.target), motions.above.grips[0]
    objects = tuple(rests if item.name == rests.name else item for item in scene.objects)
    hand = HandReading(tcp=tool_pose(grip), width_m=grip.opening_m)
    return replace(scene, objects=objects, hand=hand)


def _lies_somewhere(call: SkillCall, scene: Scene, motions: Motions | None) -> bool:
    """Whether it is not known where exactly an object will rest, or how it is turned."""
    if not isinstance(motions, Place) or vertical_axis(scene.object(motions.name)) != 2:
        return True
    named = call.args[0] in scene.names
    return named and scene.object(call.args[0]).kind is Kind.FIXTURE


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
