"""From a section of `config/llm.yaml` and the environment to what a client has to know."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from bbllm.core.errors import ConfigError
from bbllm.core.model_providers import fallback_name
from bbllm.llm.config import ModelConfig, Section, ServerConfig, override
from bbllm.llm.openai.settings import OPENAI_URL, OpenAISettings

_DEFAULT_KEY_ENV = 'OPENAI_API_KEY'


def openai_settings(
    section: ServerConfig, role: str, environ: Mapping[str, str] = os.environ
) -> OpenAISettings:
    """
    Add key and base URL from the environment to a section.

    Args:
        section: What the file says.
        role: `brain`, `body` or `embedder`, for messages.
        environ: Where keys and base URLs come from.

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
        timeout_s=section.timeout_s,
        connect_timeout_s=section.connect_timeout_s,
        retries=section.retries,
    )
    if isinstance(section, ModelConfig):
        settings = replace(
            settings,
            temperature=section.temperature,
            max_tokens=section.max_tokens,
            context_tokens=section.context_tokens,
            first_token_timeout_s=section.first_token_timeout_s,
            hang_timeout_s=section.hang_timeout_s,
            schema=section.use_schema,
        )
    # Servers of one's own mostly want no key; one that was asked for by name must be there.
    needed = settings.is_openai or section.api_key_env != _DEFAULT_KEY_ENV
    if not key and settings.login is None and needed:
        keyless = '--body lexical' if role == 'embedder' else f'--{role} {fallback_name()}'
        raise ConfigError(
            f'The {role} is to be {section.model} at {settings.host}, but ${section.api_key_env} '
            f'is not set. Set it (export {section.api_key_env}=...), or set '
            f'${section.base_url_env} for a server that wants no key, or go on without a key: '
            f'{keyless}.'
        )
    return settings


def decide(
    section: Section,
    role: str,
    *,
    said: str | None,
    replay: Path | None,
    environ: Mapping[str, str],
    stand_in: str,
) -> Section:
    """
    Return a section with what was said applied and `auto` decided.

    Args:
        section: What the file says.
        role: `brain` or `body`: the option with which it was said.
        said: A provider or a model's name; None: as the file says.
        replay: A recording that answers, whatever else is configured.
        environ: Where keys and base URLs come from.
        stand_in: The provider where there is no server.

    Raises:
        ConfigError: What was said is no name.
    """
    if said is not None:
        section = override(section, role, said)
    if replay is not None:
        section = section.model_copy(update={'provider': 'replay', 'recording': replay})
    if section.provider == 'auto':
        provider = 'openai' if has_server(section, environ) else stand_in
        section = section.model_copy(update={'provider': provider})
    return section


def has_server(section: ServerConfig, environ: Mapping[str, str]) -> bool:
    """Tell whether a key or a base URL is set."""
    return bool(
        section.base_url
        or environ.get(section.api_key_env, '').strip()
        or environ.get(section.base_url_env, '').strip()
    )


def key_in_clear(settings: OpenAISettings) -> tuple[str, ...]:
    """Return what people should be told where a key crosses a network unencrypted."""
    if not settings.sends_key_in_clear:
        return ()
    return (
        f'The key in ${settings.key_env} crosses the network unencrypted: the base URL of '
        f'{settings.host} begins with http, not https.',
    )
