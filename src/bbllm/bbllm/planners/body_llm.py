"""Body-LLM: a language model turns one step of a plan into one call."""

from __future__ import annotations

from bbllm.core.protocols import ChatModel, Pass
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.call_parsing import body_schema, parse_call
from bbllm.planners.prompting import Prompts, ask


class BodyLLM:
    """The paper's second model, with its execution prompt."""

    def __init__(self, model: ChatModel, *, prompts: Prompts | None = None):
        """
        Make a Body.

        Args:
            model: Who is asked.
            prompts: The prompts; those of the tabletop by default.
        """
        self.name = model.name
        self._model = model
        self._prompts = prompts or Prompts()

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """
        Return a call whose skill and objects are in the scene, or PASS.

        Raises:
            ParseError: The reply was not understood, also when asked again with the reason.
            ModelError: The model could not be reached.
        """
        return ask(
            self._model,
            self._prompts.execution(step, scene),
            lambda text: parse_call(text, scene),
            schema=body_schema(scene),
        )
