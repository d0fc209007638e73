"""Settings of one model on an OpenAI-compatible server, from a section and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import SecretStr

from bbllm.core.errors import ConfigError
from bbllm.core.registry import fallback_name
from bbllm.llm.config import ModelConfig, Section, ServerConfig, override

OPENAI_URL = 'https://api.openai.com/v1'
OPENAI_HOST = 'api.openai.com'
_DEFAULT_KEY_ENV = 'OPENAI_API_KEY'
_LOOPBACK = ('localhost', '127.0.0.1', '::1')


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings:
    """One model on one server, how to ask it and how long to wait."""

    model: str
    base_url: str = OPENAI_URL
    """Up to and with `/v1`; a `user:password@` in it is moved to `login`."""
    api_key: SecretStr | None = None
    """From the environment; None where the server wants none."""
    login: SecretStr | None = None
    """`user:password` for a server behind basic authentication."""
    key_env: str = 'OPENAI_API_KEY'
    """Name of the variable that the key comes from, for messages."""
    temperature: float = 0.5
    max_tokens: int = 2048
    """A reply that is longer ends with an error."""
    context_tokens: int | None = None
    """What the model takes in all, prompt and reply; None where it is not configured."""
    timeout_s: float = 120.0
    """For one whole reply [s]."""
    connect_timeout_s: float = 10.0
    """For the connection to be made [s]."""
    first_token_timeout_s: float = 60.0
    """For the first word, and for each next one [s]."""
    hang_timeout_s: float = 120.0
    """For the first word in all tries together, waits between them included; one try has its own
    time-out in full, also where that is longer [s]."""
    notice_s: float = 10.0
    """Silence after which a notice reports the wait [s]."""
    retries: int = 3
    """How often a request that failed is sent again."""
    schema: Literal['auto'] | bool = 'auto'
    """Whether replies may be bound to a JSON schema; `auto` tries it and falls back."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            # Reading the port is what checks it.
            _ = parts.port
        except ValueError:
            raise _bad_url() from None
        if parts.scheme not in ('http', 'https') or not parts.hostname or '@' in parts.path:
            raise _bad_url()
        if parts.query or parts.fragment:
            raise _bad_url()
        login, at, place = parts.netloc.rpartition('@')
        if at:
            object.__setattr__(self, 'login', SecretStr(unquote(login)))
        url = urlunsplit((parts.scheme, place, parts.path.rstrip('/'), '', ''))
        object.__setattr__(self, 'base_url', url)

    @property
    def prompt_limit_tokens(self) -> int | None:
        """How many tokens a prompt may have, so that there is room for the reply."""
        return None if self.context_tokens is None else self.context_tokens - self.max_tokens

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine."""
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def is_openai(self) -> bool:
        """Whether the server is OpenAI's own."""
        return urlsplit(self.base_url).hostname == OPENAI_HOST

    @property
    def sends_key_in_clear(self) -> bool:
        """Whether a key crosses a network without encryption."""
        has_secret = self.api_key is not None or self.login is not None
        return has_secret and self.base_url.startswith('http://') and not self.is_local

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be seen."""
        found = []
        if self.api_key is not None:
            found.append(self.api_key.get_secret_value())
        if self.login is not None:
            login = self.login.get_secret_value()
            found += [login, login.partition(':')[2]]
        return tuple(found)


def _bad_url() -> ConfigError:
    # The URL is not repeated: it may hold a password.
    return ConfigError(
        'The base URL of the model server is not one. It looks like https://host/v1 or '
        'http://localhost:11434/v1, without a query, maybe with user:password@ before the host '
        '(special characters in the password written as %40 and the like).'
    )


def openai_settings(
    section: ServerConfig, role: str, environ: Mapping[str, str] = os.environ
) -> OpenAISettings:
    """
    Add key and base URL from the environment to a section.

    Args:
        section: The section of the file.
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
    choice: str | None,
    replay: Path | None,
    environ: Mapping[str, str],
    stand_in: str,
) -> Section:
    """
    Return a section with an override applied and `auto` decided.

    Args:
        section: The section of the file.
        role: `brain` or `body`: the option of the override.
        choice: A provider or a model's name; None: as in the file.
        replay: A recording that answers, whatever else is configured.
        environ: Where keys and base URLs come from.
        stand_in: The provider where there is no server.

    Raises:
        ConfigError: The override is no name.
    """
    if choice is not None:
        section = override(section, role, choice)
    if replay is not None:
        section = section.model_copy(update={'provider': 'replay', 'recording': replay})
    if section.provider == 'auto':
        provider = 'openai' if has_server(section, environ) else stand_in
        section = section.model_copy(update={'provider': provider})
    return section


def has_server(section: ServerConfig, environ: Mapping[str, str]) -> bool:
    """Whether a key or a base URL is set."""
    return bool(
        section.base_url
        or environ.get(section.api_key_env, '').strip()
        or environ.get(section.base_url_env, '').strip()
    )


def key_in_clear(settings: OpenAISettings) -> tuple[str, ...]:
    """Return a notice where a key crosses a network unencrypted."""
    if not settings.sends_key_in_clear:
        return ()
    return (
        f'The key in ${settings.key_env} crosses the network unencrypted: the base URL of '
        f'{settings.host} begins with http, not https.',
    )
