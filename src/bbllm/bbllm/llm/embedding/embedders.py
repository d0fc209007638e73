"""From the section `embeddings` of `config/llm.yaml` to an embedder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.model_providers import find_provider
from bbllm.core.protocols import Embedder
from bbllm.llm.config import EmbeddingConfig
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.openai.servers import decide, key_in_clear, openai_settings
from bbllm.llm.recording.replay_embeddings import ReplayEmbedder

ROLE = 'body'
"""An embedder does a Body's work: so it is called in recordings and on the command line."""
STAND_IN = 'a deterministic stand-in that compares spelling, not meaning.'


def resolve_embeddings(
    section: EmbeddingConfig,
    *,
    said: str | None,
    replay: Path | None,
    environ: Mapping[str, str],
) -> EmbeddingConfig:
    """
    Return the section with what was said applied and `auto` decided.

    Args:
        section: What the file says.
        said: A provider or a model's name; a built-in chat model is `lexical` here. None: as the
            file says.
        replay: A recording that answers, whatever else is configured.
        environ: Where keys and base URLs come from.

    Raises:
        ConfigError: What was said is no name.
    """
    said = 'lexical' if said is not None and find_provider(said.strip()) else said
    return decide(section, ROLE, said=said, replay=replay, environ=environ, stand_in='lexical')


def make_embedder(section: EmbeddingConfig, environ: Mapping[str, str]) -> Embedder:
    """
    Build the embedder of a section in which `auto` is decided.

    Raises:
        ConfigError: A key is missing, or the recording is not named.
        ReplayError: The recording cannot be read.
    """
    if section.provider == 'lexical':
        return LexicalEmbedder()
    if section.provider == 'replay':
        if section.recording is None:
            raise ConfigError(
                'The section `embeddings` has `provider: replay` but no file to answer from. Say '
                '--replay FILE, or set `recording` in config/llm.yaml.'
            )
        return ReplayEmbedder(section.recording, ROLE)
    from bbllm.llm.embedding.embeddings import OpenAIEmbedder

    return OpenAIEmbedder(openai_settings(section, 'embedder', environ))


def embedder_notices(
    chosen: EmbeddingConfig, *, decided: bool, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """
    Say what people should know of an embedder.

    Args:
        chosen: The section in which `auto` is decided.
        decided: Whether `auto` stood there.
        environ: Where keys and base URLs come from.
    """
    if chosen.provider == 'lexical' and decided:
        unset = f'Neither ${chosen.api_key_env} nor ${chosen.base_url_env} is set'
        return (f'{unset}, so steps are matched by `lexical`: {STAND_IN}',)
    if chosen.provider != 'openai':
        return ()
    settings = openai_settings(chosen, 'embedder', environ)
    where = (f'Steps are matched by {chosen.model} at {settings.host}.',) if decided else ()
    return (*where, *key_in_clear(settings))
