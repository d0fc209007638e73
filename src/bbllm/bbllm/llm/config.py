"""From `config/llm.yaml`, options and the environment to the Brain's and the Body's model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.protocols import ChatModel
from bbllm.llm.openai_settings import OPENAI_URL, OpenAISettings
from bbllm.llm.replay import RecordingModel, ReplayModel
from bbllm.llm.sections import LlmConfig, ModelConfig, load_config, override, parse_config

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

ROLES = ('brain', 'body')
_DEFAULT_KEY_ENV = 'OPENAI_API_KEY'


@dataclass(frozen=True, slots=True)
class Models:
    """The two models, and what people should be told about them."""

    brain: ChatModel
    body: ChatModel
    notices: tuple[str, ...] = ()
    """One sentence each; empty where everything was said by the user."""


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
    environ: Mapping[str, str] = os.environ,
) -> Models:
    """
    Build both models.

    Args:
        config: What the file says.
        record: Keep the whole conversation in this new file.
        replay: Answer from this recording, whatever else is configured.
        overrides: By role, a provider or a model's name: `{'brain': 'gpt-4o'}`.
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
    notices: list[str] = []
    built: dict[str, ChatModel] = {}
    for role in ROLES:
        section = resolve(config, role, overrides=overrides, replay=replay, environ=environ)
        built[role] = _build(section, role, environ, notices)
        if record is not None:
            built[role] = RecordingModel(built[role], record, role)
    return Models(
        built['brain'],
        built['body'],
        (*_auto_notices(config, overrides or {}, replay, environ), *dict.fromkeys(notices)),
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
    section = _section(config, role)
    said = (overrides or {}).get(role)
    if said is not None:
        section = override(section, role, said)
    if replay is not None:
        section = section.model_copy(update={'provider': 'replay', 'recording': replay})
    if section.provider == 'auto':
        provider = 'openai' if _has_server(section, environ) else 'offline'
        section = section.model_copy(update={'provider': provider})
    return section


def openai_settings(
    section: ModelConfig, role: str, environ: Mapping[str, str] = os.environ
) -> OpenAISettings:
    """
    Add key and base URL from the environment to a section.

    Raises:
        ConfigError: The key is missing or is none, or the URL is none; never shows them.
    """
    key = environ.get(section.api_key_env, '').strip()
    if key and (not key.isascii() or not key.isprintable() or ' ' in key):
        raise ConfigError(
            f'${section.api_key_env} holds characters that a key cannot have. Set it again; it '
            'may have been copied with a line end or a quotation mark.'
        )
    url = section.base_url or environ.get(section.base_url_env, '').strip() or OPENAI_URL
    settings = OpenAISettings(
        model=section.model,
        base_url=url,
        api_key=SecretStr(key) if key else None,
        key_env=section.api_key_env,
        temperature=section.temperature,
        max_tokens=section.max_tokens,
        timeout_s=section.timeout_s,
        connect_timeout_s=section.connect_timeout_s,
        first_token_timeout_s=section.first_token_timeout_s,
        retries=section.retries,
        schema=section.use_schema,
    )
    # Servers of one's own mostly want no key; one that was asked for by name must be there.
    needed = settings.is_openai or section.api_key_env != _DEFAULT_KEY_ENV
    if not key and settings.login is None and needed:
        raise ConfigError(
            f'The {role} is to be {section.model} at {settings.host}, but ${section.api_key_env} '
            f'is not set. Set it (export {section.api_key_env}=...), or set '
            f'${section.base_url_env} for a server that wants no key, or go on without a key: '
            f'--{role} offline.'
        )
    return settings


def probe_models(
    config: LlmConfig,
    *,
    overrides: Mapping[str, str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[ProbeResult, ...]:
    """Tell for each role whether its model can be reached; never raises for one that cannot."""
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
        from bbllm.llm.probe import probe

        return probe(openai_settings(section, role, environ))
    model = _build(section, role, environ, [])
    if section.provider == 'offline':
        return f'{model.name}: built in; a deterministic stand-in, not a language model.'
    return f'{model.name}: {section.recording} can be read.'


def _build(
    section: ModelConfig, role: str, environ: Mapping[str, str], notices: list[str]
) -> ChatModel:
    if section.provider == 'offline':
        from bbllm.llm.offline import OfflineModel

        return OfflineModel()
    if section.provider == 'replay':
        if section.recording is None:
            raise ConfigError(
                f'The {role} has `provider: replay` but no file to answer from. Say --replay '
                'FILE, or set `recording` in config/llm.yaml.'
            )
        return ReplayModel(section.recording, role)
    from bbllm.llm.openai_chat import OpenAIChat

    settings = openai_settings(section, role, environ)
    if settings.sends_key_in_clear:
        notices.append(
            f'The key in ${section.api_key_env} crosses the network unencrypted: the base URL of '
            f'{settings.host} begins with http, not https.'
        )
    return OpenAIChat(settings)


def _auto_notices(
    config: LlmConfig,
    overrides: Mapping[str, str],
    replay: Path | None,
    environ: Mapping[str, str],
) -> tuple[str, ...]:
    """Say what `auto` came to."""
    if replay is not None:
        return ()
    chosen: dict[str, list[str]] = {}
    for role in ROLES:
        if overrides.get(role, _section(config, role).provider).strip() != 'auto':
            continue
        section = resolve(config, role, overrides=overrides, environ=environ)
        if section.provider == 'offline':
            what = (
                f'neither ${section.api_key_env} nor ${section.base_url_env} is set, so {{}} '
                '`offline`: a deterministic stand-in, not a language model.'
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


def _has_server(section: ModelConfig, environ: Mapping[str, str]) -> bool:
    return bool(
        section.base_url
        or environ.get(section.api_key_env, '').strip()
        or environ.get(section.base_url_env, '').strip()
    )
