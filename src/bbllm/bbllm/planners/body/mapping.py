"""Body-LLM, which turns one step of a plan into one call, and a Body for each mapping method."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.protocols import (
    Body,
    ChatModel,
    Embedder,
    Pass,
    PromptRequest,
)
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.llm.models.factory import LlmConfig, Models, make_models
from bbllm.planners.body.prompting import execution_prompt
from bbllm.planners.common.call_grammar import CallForm, body_schema, parse_reply, settled
from bbllm.planners.common.matching import MatchingBody, Vector, matching_name
from bbllm.planners.common.methods import MappingMethod
from bbllm.planners.common.prompting import ask
from bbllm.planners.domains.languages import language_of


class BodyLLM:
    """
    The paper's second model, with its execution prompt; see `need_schema`.

    In a household it answers in classes.
    """

    reads_calls = True

    def __init__(self, model: ChatModel, method: MappingMethod = MappingMethod.AUTO):
        self.name = body_llm_name(model, method)
        self._model = model
        self._method = method
        if method is MappingMethod.SCHEMA:
            need_schema(model)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Ask for a step, even if it already is a call; see `Body`."""
        as_text = self._method is MappingMethod.TEXT
        shown = language_of(scene).answer_scene(scene)
        form = CallForm(shown, step.index, in_json=self._model.supports_schema and not as_text)
        mapped = ask(
            self._model,
            execution_prompt(step, scene, form),
            partial(parse_reply, form=form),
            request=PromptRequest(kind='call', scene=scene, text=step.text),
            schema=None if as_text else body_schema(form),
        )
        if self._method is MappingMethod.SCHEMA:
            need_schema(self._model)
        return mapped if isinstance(mapped, Pass) else settled(mapped, scene)


def need_schema(model: ChatModel) -> None:
    """Raise ConfigError for a model that would invalidate a measurement of JSON schemas."""
    if not model.supports_schema:
        raise ConfigError(
            f'The Body {model.name} supports no JSON schema. Use `--mapping text` or '
            '`--mapping auto`, or name a model with `--body` whose server supports '
            'schemas or tools (and `schema: auto` in its section of config/llm.yaml).'
        )


def body_llm_name(model: ChatModel, method: MappingMethod) -> str:
    return model.name if method is MappingMethod.AUTO else f'{model.name} ({method.value})'


__all__ = ['MappingMethod', 'body_name', 'body_of', 'make_body', 'models_for']


def models_for(
    method: MappingMethod,
    config: LlmConfig,
    *,
    brain: str | None = None,
    body: str | None = None,
    record: Path | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Models:
    """
    Build the models for a method; `brain` and `body` are a provider or the name of a model.

    With `embedding`, `body` names the embedding model, or is `lexical`. See `make_models` for the
    other arguments and errors; ConfigError if the Body does not support the method.
    """
    matching = method is MappingMethod.EMBEDDING
    chosen = {'brain': brain, 'embeddings' if matching else 'body': body}
    models = make_models(
        config,
        record=record,
        replay=replay,
        overrides={role: name for role, name in chosen.items() if name is not None},
        embedding=matching,
        environ=environ,
    )
    if method is MappingMethod.SCHEMA:
        need_schema(models.body)
    return models


def make_body(method: MappingMethod, run: EpisodeRun, models: Models) -> Body:
    """Build a Body whose model calls count for the episode; see `body_of`."""
    if method is MappingMethod.EMBEDDING:
        return MatchingBody(run.embedder(_needed(models.embedder), 'body'))
    return body_of(method, run.model(models.body, 'body'), None)


def body_of(
    method: MappingMethod,
    model: ChatModel,
    embedder: Embedder | None,
    *,
    known: dict[str, Vector] | None = None,
) -> Body:
    """Build a Body outside of an episode; raise ConfigError if it does not fit the method."""
    if method is not MappingMethod.EMBEDDING:
        return BodyLLM(model, method)
    return MatchingBody(_needed(embedder), known=known)


def body_name(method: MappingMethod, models: Models) -> str:
    """Return the name of the Body in reports: `gpt-4o (text)` or `lexical matching`."""
    if method is MappingMethod.EMBEDDING:
        return matching_name(_needed(models.embedder))
    return body_llm_name(models.body, method)


def _needed(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise ConfigError(
            'Steps are to be matched by embedding, but there is no embedder. Build the models '
            'with planners.body.mapping.models_for, or make_models(..., embedding=True).'
        )
    return embedder
