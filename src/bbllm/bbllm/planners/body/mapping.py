"""Builds a Body for each mapping method."""

import os
from collections.abc import Mapping
from pathlib import Path

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.protocols import Body, ChatModel, Embedder
from bbllm.llm.models.factory import LlmConfig, Models, make_models
from bbllm.planners.body.language_model import BodyLLM, SchemaUse, body_llm_name, need_schema
from bbllm.planners.common.matching import MatchingBody, Vector, matching_name
from bbllm.planners.common.methods import MappingMethod
from bbllm.planners.common.prompting import Prompts

__all__ = ['MappingMethod', 'body_name', 'body_of', 'make_body', 'models_for']

_SCHEMA_USE: Mapping[MappingMethod, SchemaUse] = {
    MappingMethod.AUTO: 'auto',
    MappingMethod.TEXT: False,
    MappingMethod.SCHEMA: True,
}


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
    Build the models for a method; see `make_models` for the other arguments.

    `brain` and `body` are a provider or the name of a model, as for `--brain`; None for the
    configured one. With `embedding`, `body` names the embedding model, or is `lexical`.

    Raises:
        ConfigError: See `make_models`; or the Body does not support the method.
        ReplayError: See `make_models`.
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
    prompts: Prompts | None = None,
    known: dict[str, Vector] | None = None,
) -> Body:
    """Build a Body outside of an episode; raise ConfigError if it does not fit the method."""
    if method is not MappingMethod.EMBEDDING:
        return BodyLLM(model, prompts=prompts, schema=_SCHEMA_USE[method])
    return MatchingBody(_needed(embedder), known=known)


def body_name(method: MappingMethod, models: Models) -> str:
    """Return the name of the Body in reports: `gpt-4o (text)` or `lexical matching`."""
    if method is MappingMethod.EMBEDDING:
        return matching_name(_needed(models.embedder))
    return body_llm_name(models.body, _SCHEMA_USE[method])


def _needed(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise ConfigError(
            'Steps are to be matched by embedding, but there is no embedder. Build the models '
            'with planners.body.mapping.models_for, or make_models(..., embedding=True).'
        )
    return embedder
