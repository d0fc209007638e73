"""Body-LLM: a language model turns one step of a plan into one call."""

from __future__ import annotations

from typing import Literal

from bbllm.core.errors import ConfigError
from bbllm.core.protocols import ChatModel, Pass, PromptRequest
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import body_schema, parse_call
from bbllm.planners.common.prompting import Prompts, ask

SchemaUse = Literal['auto'] | bool
"""Whether a model is held to a JSON schema; `auto` where it supports that."""


class BodyLLM:
    """The paper's second model, with its execution prompt."""

    def __init__(
        self,
        model: ChatModel,
        *,
        prompts: Prompts | None = None,
        schema: SchemaUse = 'auto',
    ):
        """
        Make a Body.

        Args:
            model: Who is asked.
            prompts: The prompts; those for the kind of the scene by default.
            schema: Whether it is held to a JSON schema.

        Raises:
            ConfigError: It is to be held to a schema and does not support that.
        """
        self.name = body_llm_name(model, schema)
        self._model = model
        self._prompts = prompts or Prompts()
        self._schema = schema
        if schema is True:
            need_schema(model)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """
        Return a call whose skill and objects are in the scene, or PASS.

        Raises:
            ParseError: The reply was not understood, also when asked again with the reason.
            ModelError: The model could not be reached.
            ConfigError: It is to be held to a schema, and its server refused that just now.
        """
        call = ask(
            self._model,
            self._prompts.execution(step, scene),
            lambda text: parse_call(text, scene),
            request=PromptRequest(kind='call', scene=scene, text=step.text),
            schema=body_schema(scene) if self._schema else None,
        )
        if self._schema is True:
            need_schema(self._model)
        return call


def need_schema(model: ChatModel) -> None:
    """
    Refuse what would pass for a measurement of schemas and be none.

    Raises:
        ConfigError: The model does not support JSON schemas.
    """
    if not model.supports_schema:
        raise ConfigError(
            f'The Body {model.name} cannot be held to a JSON schema. Take `--mapping text` or '
            '`--mapping auto`, or name a model with `--body` whose server supports '
            '`response_format` (and `schema: auto` or `true` in its section of config/llm.yaml).'
        )


def body_llm_name(model: ChatModel, schema: SchemaUse) -> str:
    """Return what reports call a Body that asks this model."""
    if schema == 'auto':
        return model.name
    return f'{model.name} (schema)' if schema else f'{model.name} (text)'
