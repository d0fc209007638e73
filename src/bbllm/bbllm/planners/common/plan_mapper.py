"""The mapping of a plan: each step at its turn, from as few requests to a Body as it allows."""

import math
import re

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, MappedStep, OverlappingBody, Pass, PlanBody
from bbllm.core.skill_calls import looks_like_pose
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import answer_scene, settled
from bbllm.planners.common.scene_graph import squeezed
from bbllm.planners.common.step_grammar import call_of, is_call
from bbllm.planners.common.steps_ahead import MappedAhead, StepsAhead
from bbllm.planners.common.written_plan import WrittenPlan

MOVED_M = 0.005
"""How far an object must be from where it was to have moved [m]."""
FORESEEN = 3
"""How many calls are foreseen: a world prepares the next one or two."""


class PlanMapper:
    """
    A Body for the steps of one plan after the other, which keeps what was mapped ahead.

    A call that was mapped ahead is checked at its turn. If it has a pose that the Body took from
    the scene, and another object than that in the hand has moved since, the Body is asked again.

    A Body that overlaps is asked for one step at its turn, and for later ones while the arm moves
    (`look_ahead`). What it says of them then holds only if it is a call on what the step names,
    or if the scene and the hand are as they were; else it is asked at its turn.

    Args:
        body: The Body to ask; step by step if it maps none ahead.
        ahead: Whether it may map ahead; if not, it is asked for each step, as in the paper.
    """

    def __init__(self, body: Body, *, ahead: bool = True):
        self.name = body.name
        self._body = body
        self._ahead = ahead
        self._written: WrittenPlan | None = None
        self._plan = Plan()
        self._known: dict[int, tuple[MappedStep, Scene]] = {}
        """By the number of a step: what it became, and the scene for which the Body was asked."""
        self._scene: Scene | None = None
        """The scene of the last step."""
        self._beside: StepsAhead | None = None
        if ahead and isinstance(body, OverlappingBody) and body.overlaps:
            self._beside = StepsAhead(body)

    def take(self, plan: Plan) -> None:
        """Map the steps of this plan from now on."""
        self._plan, self._written, self._known = plan, None, {}
        if self._beside is not None:
            self._beside.follow(lambda: plan.steps, bool)

    def follow(self, written: WrittenPlan) -> None:
        """Map the steps of this plan from now on, also those that are still to be written."""
        self._written, self._known = written, {}
        if self._beside is not None:
            self._beside.follow(lambda: written.plan.steps, lambda: not written.is_whole)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return the call of a step of the plan, or a pass; see `Body`."""
        self._scene = scene
        if not self._ahead or not isinstance(self._body, PlanBody):
            return self._body.map(step, scene)
        if self._beside is not None:
            mapped = self._overlapped(step, scene, self._beside, self._body)
        else:
            if step.index not in self._known or self._is_stale(step, scene):
                self._map_rest(step, scene, self._body)
            mapped, _ = self._known.pop(step.index)
        if isinstance(mapped, ParseError):
            raise mapped
        return mapped if isinstance(mapped, Pass) else settled(mapped, answer_scene(scene))

    def passed_ahead(self) -> list[tuple[PlanStep, Pass]]:
        """Return the steps to come that the Body has passed already."""
        known = ((step, self._known.get(step.index, (None,))[0]) for step in self._whole().steps)
        return [(step, mapped) for step, mapped in known if isinstance(mapped, Pass)]

    def look_ahead(self, step: PlanStep) -> None:
        """Map the steps after one that was mapped last and is executed now."""
        if self._beside is not None and self._scene is not None:
            self._beside.begin(step.index + 1, self._scene)

    def foreseen(self, step: PlanStep) -> tuple[SkillCall, ...]:
        """Return the calls that will probably follow that of the step mapped last."""
        scene = self._scene
        if scene is None:
            return ()
        steps = self._plan.steps if self._written is None else self._written.plan.steps
        calls: list[SkillCall] = []
        for later in steps[step.index + 1 : step.index + 1 + FORESEEN]:
            try:
                call: object = call_of(later.text, scene)
            except ParseError:
                break
            if call is None:
                known, _ = self._known.get(later.index, (None, scene))
                call = self._beside.peek(later.index) if self._beside is not None else known
            if not isinstance(call, SkillCall):
                break
            calls.append(call)
        return tuple(calls)

    def discard(self) -> None:
        """Forget what was mapped beside the arm's motion: it was for another course of events."""
        if self._beside is not None:
            self._beside.discard()

    def close(self) -> bool:
        """End the requests under way; return whether they have ended."""
        return self._beside is None or self._beside.close()

    def _overlapped(
        self, step: PlanStep, scene: Scene, beside: StepsAhead, body: PlanBody
    ) -> MappedStep:
        found = beside.take(step.index)
        if found is not None and not is_call(step.text, scene) and _holds(found, step, scene):
            try:
                assert isinstance(found.mapped, SkillCall)
                return settled(found.mapped, answer_scene(scene))
            except ParseError:
                pass  # it fits the scene no longer
        mapped = body.map_ahead((step,), scene)[0]
        assert mapped is not None  # the first one never is
        if isinstance(mapped, Pass):
            # So that one feedback loop can treat all steps that are passed.
            later = self._whole().steps[step.index + 1 :]
            wanted = [not is_call(each.text, scene) for each in later]
            if any(wanted):
                self._map_rest(later[wanted.index(True)], scene, body)
        return mapped

    def _map_rest(self, step: PlanStep, scene: Scene, body: PlanBody) -> None:
        left: tuple[PlanStep, ...] = (step,)
        if self._written is None or not is_call(step.text, scene):
            left = self._whole().steps[step.index :] or left
        found = zip(left, body.map_ahead(left, scene), strict=False)
        self._known |= {each.index: (it, scene) for each, it in found if it is not None}

    def _whole(self) -> Plan:
        return self._plan if self._written is None else self._written.whole()

    def _is_stale(self, step: PlanStep, scene: Scene) -> bool:
        mapped, before = self._known[step.index]
        args = mapped.args if isinstance(mapped, SkillCall) else ()
        poses = [_numbers(arg) for arg in args if looks_like_pose(arg)]
        own = _numbers(step.text)
        return any(not pose <= own for pose in poses) and _has_moved(before, scene)


def _holds(ahead: MappedAhead, step: PlanStep, scene: Scene) -> bool:
    """Return whether what a step became would be the same now."""
    if ahead.step != step or not isinstance(ahead.mapped, SkillCall):
        return False
    args = ahead.mapped.args
    if args and all(_is_named(arg, step.text) for arg in args):
        return True
    return ahead.scene.facts == scene.facts and not _has_moved(ahead.scene, scene)


def _is_named(arg: str, text: str) -> bool:
    """Return whether a step has an argument of its call in its own words."""
    if arg[:1] in '+-.0123456789':
        return _numbers(arg) <= _numbers(text)
    return squeezed(arg) in squeezed(text)


def _numbers(text: str) -> set[float]:
    return {round(float(word), 4) for word in re.findall(r'[-+]?(?:\d+\.?\d*|\.\d+)', text)}


def _has_moved(before: Scene, now: Scene) -> bool:
    """Return whether an object is elsewhere, or another one is there, but for what is held."""
    was = {item.name: item.pose.position_m for item in before.objects}
    if was.keys() != {*now.names}:
        return True
    return any(
        math.dist(item.pose.position_m, was[item.name]) > MOVED_M
        for item in now.objects
        if item.name != now.held
    )
