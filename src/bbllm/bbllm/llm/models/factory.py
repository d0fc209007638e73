"""From `config/llm.yaml`, options and the environment to the Brain's and the Body's model."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.protocols import ChatModel, Embedder
from bbllm.core.registry import BRAIN_AND_BODY, ModelProvider, fallback_name, find_provider
from bbllm.llm.config import (
    EmbeddingConfig,
    LlmConfig,
    ModelConfig,
    Section,
    load_config,
    override,
    parse_config,
)
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.openai.settings import key_in_clear, openai_settings
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
    roles = BRAIN_AND_BODY[:1] if embedding else BRAIN_AND_BODY
    warnings: list[str] = []
    built: dict[str, ChatModel] = {}
    by_auto: dict[str, list[str]] = {}
    for role in roles:
        section = resolve(config, role, overrides=overrides, replay=replay, environ=environ)
        built[role] = _build(section, role, environ, warnings)
        asked = overrides.get(role, _section(config, role).provider).strip()
        if asked == 'auto' and replay is None:
            by_auto.setdefault(_auto_notice(section, role, environ), []).append(role)
    notices = []
    for notice, named in by_auto.items():
        who = 'Brain and Body are' if len(named) > 1 else f'the {named[0].title()} is'
        text = notice.format(who)
        notices.append(text[0].upper() + text[1:])
    embedder: Embedder | None = None
    if embedding:
        choice = overrides.get('embeddings')
        chosen = resolve_embeddings(
            config.embeddings, choice=choice, replay=replay, environ=environ
        )
        embedder = _make_embedder(chosen, environ)
        decided = (choice or config.embeddings.provider).strip() == 'auto'
        notices += _embedder_notices(chosen, decided=decided, environ=environ)
    brain = built['brain']
    notices += dict.fromkeys(warnings)
    models = Models(brain, built.get('body', brain), tuple(notices), embedder)
    return models if record is None else record_models(models, record)


def resolve(
    config: LlmConfig,
    role: str,
    *,
    overrides: Mapping[str, str] | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ModelConfig:
    """Return a role's section with overrides applied and `auto` decided."""
    choice = (overrides or {}).get(role)
    return _decided(_section(config, role), role, choice, replay, environ, fallback_name())


def resolve_embeddings(
    section: EmbeddingConfig,
    *,
    choice: str | None,
    replay: Path | None,
    environ: Mapping[str, str],
) -> EmbeddingConfig:
    """Return the section likewise; a built-in chat model as the choice is `lexical` here."""
    choice = 'lexical' if choice is not None and find_provider(choice.strip()) else choice
    # An embedder does a Body's work: so it is called on the command line.
    return _decided(section, 'body', choice, replay, environ, 'lexical')


def _decided(
    section: Section,
    option: str,
    choice: str | None,
    replay: Path | None,
    environ: Mapping[str, str],
    stand_in: str,
) -> Section:
    if choice is not None:
        section = override(section, option, choice)
    if replay is not None:
        section = section.model_copy(update={'provider': 'replay', 'recording': replay})
    if section.provider == 'auto':
        named = (environ.get(section.api_key_env, ''), environ.get(section.base_url_env, ''))
        has_server = section.base_url or any(text.strip() for text in named)
        provider = 'openai' if has_server else stand_in
        section = section.model_copy(update={'provider': provider})
    return section


def record_models(models: Models, path: Path, *, episode: str = '') -> Models:
    """
    Return models whose exchanges are appended to a file, for an episode of a run or for one alone.

    Raises:
        ConfigError: There can be no such file.
    """
    embedder = models.embedder
    return replace(
        models,
        brain=RecordingModel(models.brain, path, 'brain', episode=episode),
        body=RecordingModel(models.body, path, 'body', episode=episode),
        embedder=RecordingEmbedder(embedder, path, episode=episode) if embedder else None,
    )


def replay_models(path: Path, *, embedding: bool, text: str | None = None) -> Models:
    """
    Return models that answer from a recording, or from *text*, its lines for one episode.

    Raises:
        ReplayError: The recording cannot be read.
    """
    return Models(
        ReplayModel(path, 'brain', text=text),
        ReplayModel(path, 'body', text=text),
        embedder=ReplayEmbedder(path, text=text) if embedding else None,
    )


def probe_models(
    config: LlmConfig,
    *,
    overrides: Mapping[str, str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[ProbeResult, ...]:
    """Return for each role whether its model can be reached; raises for none that cannot."""
    results = []
    for role in BRAIN_AND_BODY:
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
    section: ModelConfig, role: str, environ: Mapping[str, str], warnings: list[str]
) -> ChatModel:
    if (provider := find_provider(section.provider)) is not None:
        return _built_in(provider, section, role, warnings)
    if section.provider == 'replay':
        return ReplayModel(_recording(section.recording, f'The {role}'), role)
    from bbllm.llm.openai.chat import OpenAIChat

    settings = openai_settings(section, role, environ)
    warnings += key_in_clear(settings)
    return OpenAIChat(settings)


def _recording(path: Path | None, who: str) -> Path:
    if path is None:
        raise ConfigError(
            f'{who} has `provider: replay` but no file to answer from. Say --replay FILE, or set '
            '`recording` in config/llm.yaml.'
        )
    return path


def _built_in(
    provider: ModelProvider, section: ModelConfig, role: str, warnings: list[str]
) -> ChatModel:
    name = section.provider
    if role not in provider.roles:
        raise ConfigError(f'`{name}` can only be the Brain. Use --{role} {fallback_name()}.')
    if provider.needs_goal:
        if role == 'brain' and section.goal is None:
            raise ConfigError(
                f'`{name}` works in `bbllm bench` only: it has to be handed the goal of each '
                f'case, and here there is none. Use --brain {fallback_name()}, or name a model.'
            )
        warnings.append(f'The {role.title()} `{name}` {provider.remark}.')
    return provider.build(section.goal)


def _auto_notice(section: ModelConfig, role: str, environ: Mapping[str, str]) -> str:
    """Return what `auto` became, with braces for who."""
    if (provider := find_provider(section.provider)) is None:
        return f'{{}} {section.model} at {openai_settings(section, role, environ).host}.'
    return (
        f'Neither ${section.api_key_env} nor ${section.base_url_env} is set, so {{}} '
        f'`{section.provider}`: {provider.short}.'
    )


def _section(config: LlmConfig, role: str) -> ModelConfig:
    return config.brain if role == 'brain' else config.body


def _make_embedder(section: EmbeddingConfig, environ: Mapping[str, str]) -> Embedder:
    if section.provider == 'lexical':
        return LexicalEmbedder()
    if section.provider == 'replay':
        return ReplayEmbedder(_recording(section.recording, 'The section `embeddings`'))
    from bbllm.llm.embedding.embeddings import OpenAIEmbedder

    return OpenAIEmbedder(openai_settings(section, 'embedder', environ))


def _embedder_notices(
    chosen: EmbeddingConfig, *, decided: bool, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return notices about an embedder; *decided*: whether `auto` chose it."""
    if chosen.provider == 'lexical' and decided:
        unset = f'Neither ${chosen.api_key_env} nor ${chosen.base_url_env} is set'
        return (f'{unset}, so steps are matched by `lexical`: {STAND_IN}',)
    if chosen.provider != 'openai':
        return ()
    settings = openai_settings(chosen, 'embedder', environ)
    where = (f'Steps are matched by {chosen.model} at {settings.host}.',) if decided else ()
    return (*where, *key_in_clear(settings))
