"""Gates, the plan whose steps they are asked for, and persons who answer them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest, Provenance, RequestKind
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
)
from bbllm.skills.catalog import SKILLS

YES = Answer(granted=True, by='ann')
NO = Answer(granted=False, reason='the red cube is glued', by='ann')
STEPS = ('pick up the red cube', 'place it on location_A', 'return to base')
CALLS = (
    SkillCall('pick', ('red_cube',)),
    SkillCall('place', ('location_A',)),
    SkillCall('return_to_base'),
)


def thing(name: str, kind: Kind, x: float) -> SceneObject:
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(x, 0.0, 0.02)))


SCENE = Scene(
    objects=(
        thing('red_cube', Kind.CUBE, 0.5),
        thing('blue_cube', Kind.CUBE, 0.6),
        thing('location_A', Kind.LOCATION, 0.4),
    ),
    skills=SKILLS,
    facts=(),
    stamp_s=0.0,
)
HELD = replace(SCENE, facts=(Fact('red_cube', 'held_by', 'hand'),))
"""The same scene, with the red cube in the hand."""


@dataclass
class Person:
    """Answers what is asked, in turn; whoever asks more often than expected fails."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[ApprovalRequest] = field(default_factory=list)

    def __call__(self, request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        self.asked.append(request)
        look()
        return self.answers.pop(0)

    @property
    def kinds(self) -> list[RequestKind]:
        return [request.kind for request in self.asked]


def nothing() -> None:
    """Look at nothing."""


def gate(person: Person, mode: str = 'plan', scene: Scene = SCENE) -> ApprovalGate:
    return ApprovalGate(person, lambda: scene, mode=ApprovalMode(mode))


def of_plan(
    step: int, steps: tuple[str, ...] = STEPS, episode: str = 'e', revision: int = 0
) -> Provenance:
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))
    return Provenance(episode_id=episode, revision=revision, plan=plan, step=step)


def ended(call: SkillCall, status: Status, code: Code = Code.NONE) -> Outcome:
    return Outcome(call=call, status=status, code=code)


def run(
    gate: ApprovalGate, step: int, status: Status = Status.SUCCEEDED, **where: int
) -> Outcome | None:
    """Ask for the call of a step and, where it is permitted, end it so."""
    gate.begin(of_plan(step, **where))
    refusal = gate.permit(CALLS[step], of_plan(step, **where), nothing)
    gate.settle(refusal or ended(CALLS[step], status))
    return refusal


CALLS_OF_MODES = [
    ('plan', SkillCall('pick', ('blue_cube',)), 'its step does not name blue_cube'),
    ('step', SkillCall('pick', ('red_cube',)), ''),
    ('risky', SkillCall('place', ('blue_cube',)), 'it puts red_cube on top of blue_cube'),
]
"""A call of each mode that is asked for by itself, and why."""


def scene_of_mode(mode: str) -> Scene:
    """Return the scene in which the call of a mode is asked for by itself."""
    return HELD if mode == 'risky' else SCENE
