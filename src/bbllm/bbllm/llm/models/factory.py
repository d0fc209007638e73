"""From `config/llm.yaml`, options and the environment to the Brain's and the Body's model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.protocols import ChatModel, Embedder
from bbllm.core.registry import BRAIN_AND_BODY, ModelProvider, fallback_name, find_provider
from bbllm.llm.config import EmbeddingConfig, LlmConfig, ModelConfig, load_config, parse_config
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.openai.settings import decide, key_in_clear, openai_settings
from bbllm.llm.recording.replay import RecordingModel, ReplayModel
from bbllm.llm.recording.replay_embeddings import RecordingEmbedder, ReplayEmbedder

__all__ = [
    'LlmConfig',
    'ModelConfig',
    'Models',
    'ProbeResult',
    'load_config',
    'make_models',
    'openai_settings',
    'parse_config',
    'probe_models',
    'resolve',
]

ROLES = BRAIN_AND_BODY
EMBEDDER_ROLE = 'body'
"""An embedder does a Body's work: so it is called in recordings and on the command line."""
STAND_IN = 'a deterministic stand-in that compares spelling, not meaning.'


@dataclass(frozen=True, slots=True)
class Models:
    """The models, and notices about them for people."""

    brain: ChatModel
    body: ChatModel
    """The Brain again where an embedder does the Body's work: it is not asked then."""
    notices: tuple[str, ...] = ()
    """One sentence each; empty where the user chose everything."""
    embedder: Embedder | None = None
    """What matches steps with calls; None where the Body does."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Whether the model of one role can be reached."""

    role: str
    ok: bool
    sentence: str


def make_models(
    config: LlmConfig,
    *,
    record: Path | None = None,
    replay: Path | None = None,
    overrides: Mapping[str, str] | None = None,
    embedding: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Models:
    """
    Build the models: Brain and Body, or Brain and embedder.

    Args:
        config: The content of the file.
        record: Keep the whole conversation in this new file.
        replay: Answer from this recording, whatever else is configured.
        overrides: By role, a provider or a model's name: `{'brain': 'gpt-4o'}`; the embedder's
            role is `embeddings`.
        embedding: Whether an embedder is wanted in place of the Body.
        environ: Where keys and base URLs come from.

    Raises:
        ConfigError: A key is missing, options exclude each other, or there can be no recording.
        ReplayError: The recording cannot be read.
    """
    if record is not None and replay is not None:
        raise ConfigError('--record and --replay exclude each other: a replay is on record.')
    if record is not None and record.is_file() and record.stat().st_size > 0:
        raise ConfigError(
            f'{record} already holds a recording. Name another file for --record, or delete it.'
        )
    overrides = overrides or {}
    roles = ROLES[:1] if embedding else ROLES
    notices: list[str] = []
    built: dict[str, ChatModel] = {}
    for role in roles:
        section = resolve(config, role, overrides=overrides, replay=replay, environ=environ)
        built[role] = _build(section, role, environ, notices)
        if record is not None:
            built[role] = RecordingModel(built[role], record, role)
    told = _auto_notices(config, overrides, replay, environ, roles)
    embedder: Embedder | None = None
    if embedding:
        choice = overrides.get('embeddings')
        chosen = resolve_embeddings(
            config.embeddings, choice=choice, replay=replay, environ=environ
        )
        embedder = _make_embedder(chosen, environ)
        decided = (choice or config.embeddings.provider).strip() == 'auto'
        told += _embedder_notices(chosen, decided=decided, environ=environ)
        if record is not None:
            embedder = RecordingEmbedder(embedder, record)
    return Models(
        built['brain'],
        built.get('body', built['brain']),
        (*told, *dict.fromkeys(notices)),
        embedder,
    )


def resolve(
    config: LlmConfig,
    role: str,
    *,
    overrides: Mapping[str, str] | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ModelConfig:
    """Return a role's section with overrides applied and `auto` decided."""
    return decide(
        _section(config, role),
        role,
        choice=(overrides or {}).get(role),
        replay=replay,
        environ=environ,
        stand_in=fallback_name(),
    )


def record_models(models: Models, path: Path, *, episode: str = '') -> Models:
    """
    Return models whose exchanges are appended to a file.

    Args:
        models: The models that answer.
        path: The file.
        episode: Which episode of a run it is for, where the recording is one of a run.

    Raises:
        ConfigError: There can be no such file.
    """
    embedder = models.embedder
    if embedder is not None:
        embedder = RecordingEmbedder(embedder, path, episode=episode)
    return replace(
        models,
        brain=RecordingModel(models.brain, path, 'brain', episode=episode),
        body=RecordingModel(models.body, path, 'body', episode=episode),
        embedder=embedder,
    )


def replay_models(path: Path, *, embedding: bool, text: str | None = None) -> Models:
    """
    Return models that answer from a recording.

    Args:
        path: The recording.
        embedding: Whether an embedder did the Body's work in it.
        text: Lines of a recording, which then come in place of the file's.

    Raises:
        ReplayError: The recording cannot be read.
    """
    return Models(
        ReplayModel(path, 'brain', text=text),
        ReplayModel(path, 'body', text=text),
        embedder=ReplayEmbedder(path, text=text) if embedding else None,
    )


def resolve_embeddings(
    section: EmbeddingConfig,
    *,
    choice: str | None,
    replay: Path | None,
    environ: Mapping[str, str],
) -> EmbeddingConfig:
    """
    Return the section with an override applied and `auto` decided.

    Args:
        section: The section of the file.
        choice: A provider or a model's name; a built-in chat model is `lexical` here. None: as in
            the file.
        replay: A recording that answers, whatever else is configured.
        environ: Where keys and base URLs come from.

    Raises:
        ConfigError: The override is no name.
    """
    choice = 'lexical' if choice is not None and find_provider(choice.strip()) else choice
    return decide(
        section, EMBEDDER_ROLE, choice=choice, replay=replay, environ=environ, stand_in='lexical'
    )


def probe_models(
    config: LlmConfig,
    *,
    overrides: Mapping[str, str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[ProbeResult, ...]:
    """Return for each role whether its model can be reached; raises for none that cannot."""
    results = []
    for role in ROLES:
        try:
            section = resolve(config, role, overrides=overrides, environ=environ)
            results.append(ProbeResult(role, True, _probe(section, role, environ)))
        except BbllmError as error:
            results.append(ProbeResult(role, False, str(error)))
    return tuple(results)


def _probe(section: ModelConfig, role: str, environ: Mapping[str, str]) -> str:
    if section.provider == 'openai':
        from bbllm.llm.openai.chat import probe

        return probe(openai_settings(section, role, environ))
    model = _build(section, role, environ, [])
    if (provider := find_provider(section.provider)) is not None:
        return f'{model.name}: built in; {provider.short}.'
    return f'{model.name}: {section.recording} can be read.'


def _build(
    section: ModelConfig, role: str, environ: Mapping[str, str], notices: list[str]
) -> ChatModel:
    if (provider := find_provider(section.provider)) is not None:
        return _built_in(provider, section, role, notices)
    if section.provider == 'replay':
        if section.recording is None:
            raise ConfigError(
                f'The {role} has `provider: replay` but no file to answer from. Say --replay '
                'FILE, or set `recording` in config/llm.yaml.'
            )
        return ReplayModel(section.recording, role)
    from bbllm.llm.openai.chat import OpenAIChat

    settings = openai_settings(section, role, environ)
    notices += key_in_clear(settings)
    return OpenAIChat(settings)


def _built_in(
    provider: ModelProvider, section: ModelConfig, role: str, notices: list[str]
) -> ChatModel:
    """Build a model that is no server."""
    name = section.provider
    if role not in provider.roles:
        raise ConfigError(f'`{name}` can only be the Brain. Use --{role} {fallback_name()}.')
    if provider.needs_goal:
        if role == 'brain' and section.goal is None:
            raise ConfigError(
                f'`{name}` works in `bbllm bench` only: it has to be handed the goal of each '
                f'case, and here there is none. Use --brain {fallback_name()}, or name a model.'
            )
        notices.append(f'The {role.title()} `{name}` {provider.remark}.')
    return provider.build(section.goal)


def _auto_notices(
    config: LlmConfig,
    overrides: Mapping[str, str],
    replay: Path | None,
    environ: Mapping[str, str],
    roles: Sequence[str],
) -> tuple[str, ...]:
    """Return notices of what `auto` became."""
    if replay is not None:
        return ()
    chosen: dict[str, list[str]] = {}
    for role in roles:
        if overrides.get(role, _section(config, role).provider).strip() != 'auto':
            continue
        section = resolve(config, role, overrides=overrides, environ=environ)
        if (provider := find_provider(section.provider)) is not None:
            what = (
                f'neither ${section.api_key_env} nor ${section.base_url_env} is set, so {{}} '
                f'`{section.provider}`: {provider.short}.'
            )
        else:
            host = openai_settings(section, role, environ).host
            what = f'{{}} {section.model} at {host}.'
        chosen.setdefault(what, []).append(role)
    return tuple(_sentence(what, roles) for what, roles in chosen.items())


def _sentence(what: str, roles: list[str]) -> str:
    who = 'Brain and Body are' if len(roles) == len(ROLES) else f'the {roles[0].title()} is'
    text = what.format(who)
    return text[0].upper() + text[1:]


def _section(config: LlmConfig, role: str) -> ModelConfig:
    return config.brain if role == 'brain' else config.body


def _make_embedder(section: EmbeddingConfig, environ: Mapping[str, str]) -> Embedder:
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
        return ReplayEmbedder(section.recording, EMBEDDER_ROLE)
    from bbllm.llm.embedding.embeddings import OpenAIEmbedder

    return OpenAIEmbedder(openai_settings(section, 'embedder', environ))


def _embedder_notices(
    chosen: EmbeddingConfig, *, decided: bool, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """
    Return notices about an embedder.

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
