"""The mapping of a plan: each step at its turn, from as few requests to a Body as it allows."""

import math
import re

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, MappedStep, Pass, PlanBody
from bbllm.core.skill_calls import looks_like_pose
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import answer_scene, settled

MOVED_M = 0.005
"""How far an object must be from where it was to have moved [m]."""


class PlanMapper:
    """
    A Body for the steps of one plan after the other, which keeps what was mapped ahead.

    A call that was mapped ahead is checked at its turn. If it has a pose that the Body took from
    the scene, and another object than that in the hand has moved since, the Body is asked again.

    Args:
        body: The Body to ask; step by step if it maps none ahead.
        ahead: Whether it may map ahead; if not, it is asked for each step, as in the paper.
    """

    def __init__(self, body: Body, *, ahead: bool = True):
        self.name = body.name
        self._body = body
        self._ahead = ahead
        self._steps: tuple[PlanStep, ...] = ()
        self._known: dict[int, tuple[MappedStep, Scene]] = {}
        """By the number of a step: what it became, and the scene for which the Body was asked."""

    def take(self, plan: Plan) -> None:
        """Map the steps of this plan from now on."""
        self._steps, self._known = plan.steps, {}

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return the call of a step of the plan, or a pass; see `Body`."""
        if not self._ahead or not isinstance(self._body, PlanBody):
            return self._body.map(step, scene)
        if step.index not in self._known or self._is_stale(step, scene):
            left = self._steps[step.index :] or (step,)
            found = zip(left, self._body.map_ahead(left, scene), strict=False)
            self._known |= {each.index: (it, scene) for each, it in found if it is not None}
        mapped, _ = self._known.pop(step.index)
        if isinstance(mapped, ParseError):
            raise mapped
        return mapped if isinstance(mapped, Pass) else settled(mapped, answer_scene(scene))

    def passed_ahead(self) -> list[tuple[PlanStep, Pass]]:
        """Return the steps to come that the Body has passed already."""
        known = ((step, self._known.get(step.index, (None,))[0]) for step in self._steps)
        return [(step, mapped) for step, mapped in known if isinstance(mapped, Pass)]

    def _is_stale(self, step: PlanStep, scene: Scene) -> bool:
        mapped, before = self._known[step.index]
        args = mapped.args if isinstance(mapped, SkillCall) else ()
        poses = [_numbers(arg) for arg in args if looks_like_pose(arg)]
        own = _numbers(step.text)
        return any(not pose <= own for pose in poses) and _has_moved(before, scene)


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
