"""The ways in which steps can become calls, by name."""

from __future__ import annotations

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
    Build what a method needs, from the words of `--brain` and `--body`.

    Args:
        method: With `embedding`, `body` names the embedding model, or is `lexical`.
        config: What config/llm.yaml says.
        brain: A provider or a model's name; None as the file says.
        body: Likewise.
        record: See `make_models`.
        replay: See `make_models`.
        environ: See `make_models`.

    Raises:
        ConfigError: See `make_models`; or the Body cannot do what the method asks of it.
        ReplayError: See `make_models`.
    """
    matching = method is MappingMethod.EMBEDDING
    said = {'brain': brain, 'embeddings' if matching else 'body': body}
    models = make_models(
        config,
        record=record,
        replay=replay,
        overrides={role: name for role, name in said.items() if name is not None},
        embedding=matching,
        environ=environ,
    )
    if method is MappingMethod.SCHEMA:
        need_schema(models.body)
    return models


def make_body(method: MappingMethod, run: EpisodeRun, models: Models) -> Body:
    """
    Build a Body whose model calls are on the episode's account.

    Raises:
        ConfigError: The model cannot do what the method asks of it.
    """
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
    """
    Build a Body of parts, for those who run it outside of an episode.

    Args:
        method: How it works.
        model: Who is asked; not used by `embedding`.
        embedder: Who embeds; used by `embedding` only.
        prompts: The prompts; those for the kind of the scene by default.
        known: Vectors that Bodies share, see `MatchingBody`.

    Raises:
        ConfigError: The model cannot do what the method asks of it, or there is no embedder.
    """
    if method is not MappingMethod.EMBEDDING:
        return BodyLLM(model, prompts=prompts, schema=_SCHEMA_USE[method])
    return MatchingBody(_needed(embedder), known=known)


def body_name(method: MappingMethod, models: Models) -> str:
    """
    Return what reports call the Body, for example `gpt-4o (text)` or `lexical matching`.

    Raises:
        ConfigError: `embedding` without an embedder.
    """
    if method is MappingMethod.EMBEDDING:
        return matching_name(_needed(models.embedder))
    return body_llm_name(models.body, _SCHEMA_USE[method])


def _needed(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise ConfigError(
            'Steps are to be matched by embedding, but there is no embedder. Build the models '
            'with planners.bodies.models_for, or make_models(..., embedding=True).'
        )
    return embedder
