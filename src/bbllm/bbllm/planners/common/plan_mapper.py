"""The mapping of a plan: each step at its turn, from as few requests to a Body as it allows."""

import math
import re
from collections.abc import Container, Mapping, Sequence
from functools import partial

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, MappedStep, OverlappingBody, Pass, PlanBody
from bbllm.core.skill_calls import is_pose_like
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import settled
from bbllm.planners.common.step_grammar import call_of, is_call
from bbllm.planners.common.steps_ahead import Batch, MappedAhead, StepsAhead
from bbllm.planners.common.written_plan import WrittenPlan
from bbllm.planners.domains.scene_graph import squeezed

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
    (`start_ahead`), all with the scene of that turn: as one request at that turn would be.
    Before the first such turn, the next step that needs the Body is asked for on trial: the answer
    counts only if it is a call on what the step names, or if nothing has changed meanwhile.

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
        self._kept: Mapping[int, SkillCall] = {}
        """By the number of a step: the call that it became in a rehearsal."""
        self._scene: Scene | None = None
        """The scene of the last step."""
        self._scenes: list[Scene] = []
        """The scenes with which a Body that overlaps was asked at a turn, for this plan."""
        self._beside: StepsAhead | None = None
        if ahead and isinstance(body, OverlappingBody) and body.overlaps:
            self._beside = StepsAhead(body)

    def take(self, plan: Plan) -> None:
        """Map the steps of this plan from now on."""
        self._plan, self._written, self._known, self._scenes = plan, None, {}, []
        self._kept = {}
        if self._beside is not None:
            self._beside.follow(lambda: plan.steps, bool)

    def follow(self, written: WrittenPlan) -> None:
        """Map the steps of this plan from now on, also those that are still to be written."""
        self._written, self._known, self._scenes, self._kept = written, {}, [], {}
        if self._beside is not None:
            self._beside.follow(lambda: written.plan.steps, lambda: not written.is_whole)

    def keep(self, calls: Mapping[int, SkillCall]) -> None:
        """Take these calls for steps of the plan in force, as a rehearsal of it did."""
        self._kept = dict(calls)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return the call of a step of the plan, or a pass; see `Body`."""
        self._scene = scene
        if step.index in self._kept:
            return settled(self._kept[step.index], scene)
        if not self._ahead or not isinstance(self._body, PlanBody):
            return self._body.map(step, scene)
        if self._beside is not None and isinstance(self._body, OverlappingBody):
            mapped = self._overlapped(step, scene, self._beside, self._body)
        else:
            if step.index not in self._known or self._is_stale(step, scene):
                self._map_rest(step, scene, self._body)
            mapped, _ = self._known.pop(step.index)
        if isinstance(mapped, ParseError):
            raise mapped
        return mapped if isinstance(mapped, Pass) else settled(mapped, scene)

    def passed_ahead(self) -> list[tuple[PlanStep, Pass]]:
        """Return the steps to come that the Body has passed already."""
        known = ((step, self._known.get(step.index, (None,))[0]) for step in self._whole().steps)
        return [(step, mapped) for step, mapped in known if isinstance(mapped, Pass)]

    def start_ahead(self, step: PlanStep) -> None:
        """Map the steps after one that was mapped last and is executed now."""
        if self._beside is not None and self._scene is not None:
            scene = self._scenes[-1] if self._scenes else self._scene
            self._beside.begin(step.index + 1, partial(_next_batch, scene, not self._scenes))

    def foreseen(self, step: PlanStep) -> tuple[SkillCall, ...]:
        """Return the calls that will probably follow that of the step mapped last."""
        scene = self._scene
        if scene is None:
            return ()
        steps = self._plan.steps if self._written is None else self._written.plan.steps
        calls: list[SkillCall] = []
        for later in steps[step.index + 1 : step.index + 1 + FORESEEN]:
            try:
                call: object = self._kept.get(later.index) or call_of(later.text, scene)
            except ParseError:
                break
            if call is None:
                call, _ = self._known.get(later.index, (None, scene))
                if call is None and self._beside is not None:
                    call = self._beside.peek(later.index)
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
        self, step: PlanStep, now: Scene, beside: StepsAhead, body: OverlappingBody
    ) -> MappedStep:
        found = beside.take(step.index)
        kept = self._known.pop(step.index, None)
        shown = self._shown(step)
        if shown is None and is_call(step.text, now):
            return _first(body.map_ahead((step,), now))
        if shown is None:
            if found is not None and _holds(found, step, now):
                beside.discard()  # what follows was not asked for with this scene
                self._scenes.append(now)
                assert found.mapped is not None
                return found.mapped
            return self._ask_now(step, now, beside, body)
        if not body.overlaps or (found is not None and found.mapped is None):
            return self._ask_now(step, now, beside, body)
        if kept is not None:
            mapped, _ = kept
        elif found is None or found.scene is not shown or isinstance(found.mapped, ParseError):
            mapped = _first(body.map_ahead((step,), shown))
        else:
            mapped = _first([found.mapped])
        if _has_old_pose(mapped, step) and _has_moved(shown, now):
            return self._ask_now(step, now, beside, body)
        self._map_passes(mapped, step, beside, body)
        return mapped

    def _ask_now(
        self, step: PlanStep, now: Scene, beside: StepsAhead, body: OverlappingBody
    ) -> MappedStep:
        beside.discard()
        self._known.clear()
        mapped = _first(body.map_ahead((step,), now))
        self._scenes.append(now)
        self._map_passes(mapped, step, beside, body)
        return mapped

    def _map_passes(
        self, mapped: MappedStep, step: PlanStep, beside: StepsAhead, body: OverlappingBody
    ) -> None:
        """After a pass, map all that follows: one feedback loop can treat all that is passed."""
        if not isinstance(mapped, Pass) or not self._scenes:
            return
        scene = self._scenes[-1]
        later = self._whole().steps[step.index + 1 :]
        batch = _next_batch(scene, False, later, ())
        if batch is not None:
            beside.discard()
            found = zip(batch[0], body.map_ahead(*batch), strict=False)
            self._known |= {each.index: (it, scene) for each, it in found if it is not None}

    def _shown(self, step: PlanStep) -> Scene | None:
        """Return the last scene with which one request at a turn would have asked for a step."""
        scenes = reversed(self._scenes)
        return next((each for each in scenes if not is_call(step.text, each)), None)

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
        return _has_old_pose(mapped, step) and _has_moved(before, scene)


def _next_batch(
    scene: Scene, on_trial: bool, steps: Sequence[PlanStep], known: Container[int]
) -> Batch | None:
    """Return the steps from the first on that needs the Body; on trial that one alone."""
    for at, step in enumerate(steps):
        if not is_call(step.text, scene):
            if step.index not in known:
                return (steps[at : at + 1] if on_trial else steps[at:]), scene
            if on_trial:
                break
    return None


def _first(mapped: Sequence[MappedStep | None]) -> MappedStep:
    first = mapped[0]
    assert first is not None  # only later steps are left to their turn
    return first


def _has_old_pose(mapped: MappedStep, step: PlanStep) -> bool:
    """Return whether a call has a pose that the Body took from its scene."""
    args = mapped.args if isinstance(mapped, SkillCall) else ()
    poses = [_numbers(arg) for arg in args if is_pose_like(arg)]
    return any(not pose <= _numbers(step.text) for pose in poses)


def _holds(ahead: MappedAhead, step: PlanStep, scene: Scene) -> bool:
    """Return whether what a step became would be the same now."""
    if not isinstance(ahead.mapped, SkillCall):
        return False
    try:
        settled(ahead.mapped, scene)
    except ParseError:
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
    """Return whether an object is elsewhere or new, but for what is in the hand."""
    was = {item.name: item.pose.position_m for item in before.objects}
    if was.keys() != {*now.names}:
        return True
    return any(
        math.dist(item.pose.position_m, was[item.name]) > MOVED_M
        for item in now.objects
        if item.name != now.held
    )
