"""From `config/llm.yaml`, options and the environment to the Brain's and the Body's model."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.protocols import ChatModel, Embedder, check_model
from bbllm.core.registry import BRAIN_AND_BODY, fallback_name, find_provider
from bbllm.llm.config import LIMITS, LlmConfig, ServerConfig, load_config, override, parse_config
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.openai.settings import key_in_clear, openai_settings
from bbllm.llm.recording.replay import (
    RecordingModel,
    ReplayModel,
    recording_embedder,
    replay_embedder,
)

__all__ = [
    'LlmConfig',
    'Models',
    'ProbeResult',
    'load_config',
    'make_eyes',
    'make_models',
    'openai_settings',
    'parse_config',
    'probe_models',
    'resolve',
]

EYES = 'eyes'
"""The role that the detector `vlm` asks."""
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
    keep_prompts: bool = True
    """Whether episodes keep what they send to the models."""


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

    `record` is a new file for the whole conversation, `replay` a recording to answer from,
    whatever else is configured. `overrides` have by role a provider or a model's name, for the
    embedder as `embeddings`. Keys and base URLs come from `environ`.

    Raises:
        ConfigError: A key is missing, options exclude each other, or there can be no recording.
        ReplayError: The recording cannot be read.
    """
    if record is not None and replay is not None:
        raise ConfigError('--record and --replay exclude each other: a replay is on record.')
    if record is not None and record.is_file() and record.stat().st_size > 0:
        raise ConfigError(
            f'{record} is a recording already. Name another file for --record, or delete it.'
        )
    roles = ('brain', 'embeddings' if embedding else 'body')
    sections = resolve_all(config, roles, overrides=overrides, replay=replay, environ=environ)
    brain = body = _build(sections['brain'], 'brain', environ)
    embedder: Embedder | None = None
    if embedding:
        embedder = _build_embedder(sections['embeddings'], environ)
    elif sections['body'].provider != 'openai' or sections['body'] != sections['brain']:
        # One client for equal sections learns once what its server refuses.
        body = _build(sections['body'], 'body', environ)
    asked = {role: (overrides or {}).get(role, getattr(config, role).provider) for role in roles}
    decided = [role for role in roles if asked[role].strip() == 'auto' and replay is None]
    notices = tuple(dict.fromkeys(_notices(sections, decided, environ)))
    models = Models(brain, body, notices, embedder, config.keep_prompts)
    return models if record is None else record_models(models, record)


def resolve(
    config: LlmConfig,
    role: str,
    *,
    overrides: Mapping[str, str] | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ServerConfig:
    """Return the section of a role with overrides applied and `auto` decided."""
    section: ServerConfig = getattr(config, role)
    choice = (overrides or {}).get(role)
    if choice is not None:
        embedding = role == 'embeddings'
        # An embedder does a Body's work: so it is called on the command line.
        option = 'body' if embedding else role
        section = override(
            section, option, 'lexical' if embedding and find_provider(choice.strip()) else choice
        )
    if replay is not None:
        section = section.model_copy(update={'provider': 'replay', 'recording': replay})
    if section.provider == 'auto':
        named = (environ.get(section.api_key_env, ''), environ.get(section.base_url_env, ''))
        has_server = section.base_url or any(text.strip() for text in named)
        stand_in = 'lexical' if role == 'embeddings' else fallback_name()
        provider = 'openai' if has_server else stand_in
        section = section.model_copy(update={'provider': provider})
    if role in (EYES, 'body') and section.provider == 'openai' and not section.model:
        brain = resolve(config, 'brain', overrides=overrides, environ=environ)
        if _on_one_server(brain, section):
            section = section.model_copy(update={'model': brain.model})
    return section


def resolve_all(
    config: LlmConfig,
    roles: Sequence[str],
    *,
    overrides: Mapping[str, str] | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, ServerConfig]:
    """
    Return the sections of roles as `resolve` does, each with the name of its model.

    Where none is named, the server is asked: one that lists a single model serves that one.

    Raises:
        ConfigError: A model has to be named; or as `openai_settings`.
    """
    sections: dict[str, ServerConfig] = {}
    for role in roles:
        section = resolve(config, role, overrides=overrides, replay=replay, environ=environ)
        same = (each.model for each in sections.values() if _on_one_server(each, section))
        if section.provider == 'openai' and not section.model:
            from bbllm.llm.openai.probe import only_model

            model = next(same, '') if role != 'embeddings' else ''
            model = model or only_model(openai_settings(section, role, environ), role)
            section = section.model_copy(update={'model': model})
        sections[role] = section
    return {role: _limited(section, sections.values()) for role, section in sections.items()}


def _limited(section: ServerConfig, others: Iterable[ServerConfig]) -> ServerConfig:
    """Return a section with the strictest limits that any states of its server."""
    there = [other for other in others if _on_one_server(other, section)]
    limits: dict[str, float] = {}
    for name in LIMITS:
        stated = [value for other in there if (value := getattr(other, name)) is not None]
        limits |= {name: min(stated)} if stated else {}
    return section.model_copy(update=limits)


def _on_one_server(first: ServerConfig, second: ServerConfig) -> bool:
    return all(getattr(first, name) == getattr(second, name) for name in _SERVER)


_SERVER = ('provider', 'base_url', 'base_url_env', 'api_key_env')
"""Fields that name a server: a Body on the Brain's is the same model where none is named."""


def _notices(
    sections: Mapping[str, ServerConfig], decided: Sequence[str], environ: Mapping[str, str]
) -> Iterator[str]:
    """Yield what `auto` became for the roles *decided* by it, and warnings."""
    became: dict[str, list[str]] = {}
    for role in decided:
        section = sections[role]
        if section.provider == 'openai':
            text = f'{{}} {section.model} at {openai_settings(section, role, environ).host}.'
        else:
            provider = find_provider(section.provider)
            text = (
                f'Neither ${section.api_key_env} nor ${section.base_url_env} is set, so {{}} '
                f'`{section.provider}`: {f"{provider.short}." if provider else STAND_IN}'
            )
        became.setdefault(text, []).append(role)
    for text, roles in became.items():
        notice = text.format('Brain and Body are' if len(roles) > 1 else _WHO[roles[0]])
        yield notice[0].upper() + notice[1:]
    for role, section in sections.items():
        if section.provider == 'openai':
            yield from key_in_clear(openai_settings(section, role, environ))
        elif (provider := find_provider(section.provider)) and provider.needs_goal:
            yield f'The {role.title()} `{section.provider}` {provider.remark}.'


_WHO = {'brain': 'the Brain is', 'body': 'the Body is', 'embeddings': 'steps are matched by'}


def make_eyes(
    config: LlmConfig,
    *,
    choice: str | None = None,
    record: Path | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ChatModel:
    """
    Build the model that looks at pictures; *choice* is the name of a model or a provider.

    Without a name it is the Brain's on the Brain's server. The others are as of `make_models`.

    Raises:
        ConfigError: There is none: no key, no name, or a stand-in, which sees nothing.
        ReplayError: The recording cannot be read.
    """
    overrides = {} if choice is None else {EYES: choice}
    (section,) = resolve_all(
        config, (EYES,), overrides=overrides, replay=replay, environ=environ
    ).values()
    if find_provider(section.provider) is not None:
        raise ConfigError(
            'The detector `vlm` asks a language model that takes images, and '
            f'`{section.provider}` is none. Set ${section.api_key_env} or '
            f'${section.base_url_env}, and name the model in the section `eyes` of '
            'config/llm.yaml, or use another detector.'
        )
    model = _build(section, EYES, environ)
    return model if record is None else RecordingModel(model, record, EYES)


def record_models(
    models: Models,
    path: Path,
    *,
    episode: str = '',
    earlier: str = '',
    other: str = '',
) -> Models:
    """Return models whose exchanges are appended to a file; see `RecordingModel`."""
    embedder = models.embedder
    of = {'episode': episode, 'earlier': earlier, 'other': other}
    return replace(
        models,
        brain=RecordingModel(models.brain, path, 'brain', **of),
        body=RecordingModel(models.body, path, 'body', **of),
        embedder=recording_embedder(embedder, path, **of) if embedder else None,
    )


def replay_models(
    path: Path, *, embedding: bool, text: str | None = None, changed_prompts: bool = False
) -> Models:
    """
    Return models that answer from a recording, or from *text*, its lines for one episode.

    *changed_prompts* is as in `ReplayModel`. An embedder is sent texts and no prompt: the vector
    of another text would be wrong, so that it answers only what was recorded.
    """
    return Models(
        ReplayModel(path, 'brain', text=text, changed_prompts=changed_prompts),
        ReplayModel(path, 'body', text=text, changed_prompts=changed_prompts),
        embedder=replay_embedder(path, text=text) if embedding else None,
    )


def changes_in(models: Models) -> tuple[str, ...]:
    """Return where prompts are not those that a recording replied to, reply by reply."""
    replayed = (model for model in (models.brain, models.body) if isinstance(model, ReplayModel))
    return tuple(change for model in replayed for change in model.changes)


def probe_models(
    config: LlmConfig,
    *,
    overrides: Mapping[str, str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[ProbeResult, ...]:
    """Return for each role whether its model can be reached; raises for none that cannot."""
    results = []
    asked = config.eyes.provider != 'auto' or config.eyes.model
    for role in (*BRAIN_AND_BODY, *((EYES,) if asked else ())):
        try:
            (section,) = resolve_all(
                config, (role,), overrides=overrides, environ=environ
            ).values()
            results.append(ProbeResult(role, True, _probe(section, role, environ)))
        except BbllmError as error:
            results.append(ProbeResult(role, False, str(error)))
    return tuple(results)


def _probe(section: ServerConfig, role: str, environ: Mapping[str, str]) -> str:
    if section.provider == 'openai':
        from bbllm.llm.openai.probe import probe, probe_images

        settings = openai_settings(section, role, environ)
        sentence = probe(settings)
        # The Body is sent no pictures.
        return f'{sentence} {probe_images(settings)}' if role != 'body' else sentence
    model = _build(section, role, environ)
    if (provider := find_provider(section.provider)) is not None:
        return f'{model.name}: built in; {provider.short}.'
    return f'{model.name}: {section.recording} can be read.'


def _build(section: ServerConfig, role: str, environ: Mapping[str, str]) -> ChatModel:
    if (provider := find_provider(section.provider)) is not None:
        goal = getattr(section, 'goal', None)
        if role not in provider.roles:
            raise ConfigError(
                f'`{section.provider}` can only be the Brain. Use --{role} {fallback_name()}.'
            )
        if provider.needs_goal and role == 'brain' and goal is None:
            raise ConfigError(
                f'`{section.provider}` works in `bbllm bench` only: it has to be handed the goal '
                f'of each case, and here there is none. Use --brain {fallback_name()}, or name a '
                'model.'
            )
        return check_model(provider.build(goal))
    if section.provider == 'replay':
        return ReplayModel(_recording(section, role), role)
    from bbllm.llm.openai.chat import OpenAIChat

    return OpenAIChat(openai_settings(section, role, environ))


def _build_embedder(section: ServerConfig, environ: Mapping[str, str]) -> Embedder:
    if section.provider == 'lexical':
        return LexicalEmbedder()
    if section.provider == 'replay':
        return replay_embedder(_recording(section, 'embeddings'))
    from bbllm.llm.openai.chat import OpenAIEmbedder

    return OpenAIEmbedder(openai_settings(section, 'embeddings', environ))


def _recording(section: ServerConfig, role: str) -> Path:
    if section.recording is None:
        raise ConfigError(
            f'The section `{role}` has `provider: replay` but no file to answer from. Use '
            '--replay FILE, or set `recording` in config/llm.yaml.'
        )
    return section.recording
