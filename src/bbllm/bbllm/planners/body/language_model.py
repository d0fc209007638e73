"""Body-LLM: a language model turns one step of a plan into one call."""

from typing import Literal

from bbllm.core.errors import ConfigError
from bbllm.core.protocols import ChatModel, Pass, PromptRequest
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import body_schema, parse_call
from bbllm.planners.common.prompting import Prompts, ask

SchemaUse = Literal['auto'] | bool
"""Whether replies must obey a JSON schema; `auto` if the model supports that."""


class BodyLLM:
    """The paper's second model, with its execution prompt; see `need_schema`."""

    def __init__(
        self, model: ChatModel, *, prompts: Prompts | None = None, schema: SchemaUse = 'auto'
    ):
        self.name = body_llm_name(model, schema)
        self._model = model
        self._prompts = prompts or Prompts()
        self._schema = schema
        if schema is True:
            need_schema(model)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Map a step; raise ConfigError if the server refuses a required schema; see `Body`."""
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
    """Raise ConfigError for a model that would invalidate a measurement of JSON schemas."""
    if not model.supports_schema:
        raise ConfigError(
            f'The Body {model.name} cannot be held to a JSON schema. Take `--mapping text` or '
            '`--mapping auto`, or name a model with `--body` whose server supports '
            '`response_format` (and `schema: auto` or `true` in its section of config/llm.yaml).'
        )


def body_llm_name(model: ChatModel, schema: SchemaUse) -> str:
    """Return the name in reports of a Body with this model."""
    if schema == 'auto':
        return model.name
    return f'{model.name} (schema)' if schema else f'{model.name} (text)'
