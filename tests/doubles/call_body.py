"""A Body that asks no model."""

from bbllm.core.types import PlanStep, Scene, SkillCall


class CallBody:
    """Takes steps that are written as calls."""

    name, reads_calls = 'literal', True

    def map(self, step: PlanStep, scene: Scene) -> SkillCall:
        skill, _, rest = step.text.partition('(')
        return SkillCall(skill, tuple(arg for arg in rest.strip(')').split(', ') if arg))
