"""Replies of LLM-POP's model, a table that weighs, and what runs the planner on them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bbllm.core.protocols import ModelRequest, Pass
from bbllm.core.types import HandReading, Outcome, PlanStep, Pose, Scene, Skill, SkillCall, Task
from bbllm_planners.llm_pop.planner import LLMPop

TASK = Task('t', 'put the lighter cube on location_A')
UNKNOWN = 'FAIL\nThe weights are not known.'
LIGHTER = 'FAIL\nred_cube is lighter: force z -0.60 after action 0, and -1.10 after action 2.'
DONE = 'SUCCESS\nred_cube stands on location_A.'
WEIGH = """EXPLAIN
Lift both.
EXECUTE
ACTION PICK red_cube
ACTION PLACE [0.35 0.12 0.02 1 0 0 0]
ACTION PICK blue_cube
ACTION PLACE [0.51 0.12 0.02 1 0 0 0]"""
ACT = """EXPLAIN
The red one goes to location_A.
EXECUTE
ACTION PICK red_cube
ACTION PLACE [0.54 -0.18 0.02 1 0 0 0]
ACTION RESET"""
BOTH = ['pick(red_cube)', 'place(0.35 0.12 0.02 1 0 0 0)', 'pick(blue_cube)']


class NoBody:
    """A Body that must not be asked."""

    name, reads_calls = 'none', True

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        raise AssertionError(f'the Body was asked: {step}')


class Scales:
    """A World whose hand feels what it holds."""

    def __init__(self, table: Any, weights_n: Mapping[str | None, float]):
        self.table = table
        self._weights_n = weights_n

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self.table.skills

    def observe(self) -> Scene:
        z = -self._weights_n.get(self.table.held, 0.0)
        hand = HandReading(
            tcp=Pose(position_m=(0.3, 0.0, 0.2), quat_xyzw=(1.0, 0.0, 0.0, 0.0)),
            width_m=0.04 if self.table.held else 0.08,
            force_n=(0.0, 0.0, z),
        )
        return replace(self.table.observe(), hand=hand)

    def execute(self, call: SkillCall) -> Outcome:
        return self.table.execute(call)

    def stop(self) -> None:
        pass


def run(model: Any, world: Any, context: Any, *, evaluator: bool = True, **options: Any) -> None:
    LLMPop(model, NoBody(), evaluated=evaluator, **options).run(TASK, world, context)


def section(request: ModelRequest, label: str) -> str:
    """Return what stands below a label of a prompt."""
    return request.prompt.split(f'\n[{label}]\n')[1].split('\n\n[')[0].strip()
