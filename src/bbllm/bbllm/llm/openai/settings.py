"""Settings of one model on an OpenAI-compatible server, from a section and the environment."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import ConfigDict, SecretStr, model_validator

from bbllm.core.errors import ConfigError
from bbllm.core.registry import fallback_name
from bbllm.llm.config import ModelConfig, ServerConfig

OPENAI_URL = 'https://api.openai.com/v1'
OPENAI_HOST = 'api.openai.com'
_DEFAULT_KEY_ENV = 'OPENAI_API_KEY'
_LOOPBACK = ('localhost', '127.0.0.1', '::1')


class OpenAISettings(ModelConfig):
    """One model on one server: a section of the file, and what the environment adds to it."""

    model_config = ConfigDict(populate_by_name=True, frozen=True)

    provider: str = 'openai'
    base_url: str = OPENAI_URL
    """Up to and with `/v1`; a `user:password@` in it is moved to `login`."""
    api_key: SecretStr | None = None
    """From the environment; None where the server wants none."""
    login: SecretStr | None = None
    """`user:password` for a server behind basic authentication."""
    notice_s: float = 10.0
    """Silence after which a notice reports the wait [s]."""

    @model_validator(mode='before')
    @classmethod
    def _split_login(cls, data: dict[str, Any]) -> dict[str, Any]:
        try:
            parts = urlsplit(data.get('base_url', OPENAI_URL))
            _ = parts.port  # reading it checks it
        except ValueError:
            raise _bad_url() from None
        if parts.scheme not in ('http', 'https') or not parts.hostname:
            raise _bad_url()
        if '@' in parts.path or parts.query or parts.fragment:
            raise _bad_url()
        login, _, place = parts.netloc.rpartition('@')
        url = urlunsplit((parts.scheme, place, parts.path.rstrip('/'), '', ''))
        return {**data, 'base_url': url} | ({'login': unquote(login)} if login else {})

    @property
    def prompt_limit_tokens(self) -> int | None:
        """How many tokens a prompt may have, so that there is room for the reply."""
        return None if self.context_tokens is None else self.context_tokens - self.max_tokens

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    @property
    def is_local(self) -> bool:
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def secrets(self) -> tuple[str, ...]:
        key, login = (
            secret.get_secret_value() if secret else '' for secret in (self.api_key, self.login)
        )
        return tuple(filter(None, (key, login, login.partition(':')[2])))


def _bad_url() -> ConfigError:
    # The URL is not repeated: it may hold a password.
    return ConfigError(
        'The base URL of the model server is not one. An example is https://host/v1 or '
        'http://localhost:11434/v1, without a query, maybe with user:password@ before the host '
        '(special characters in the password written as %40 and the like).'
    )


def openai_settings(
    section: ServerConfig, role: str, environ: Mapping[str, str] = os.environ
) -> OpenAISettings:
    """
    Add key and base URL from the environment to the section of a role.

    Raises ConfigError if the key is missing or is none, or the URL is none; never shows them.
    """
    key = environ.get(section.api_key_env, '').strip()
    if key and (not key.isascii() or not key.isprintable() or ' ' in key):
        raise ConfigError(
            f'${section.api_key_env} has characters that a key cannot have. Set it again; it '
            'may have been copied with a line end or a quotation mark.'
        )
    url = section.base_url or environ.get(section.base_url_env, '').strip() or OPENAI_URL
    given = section.model_dump(exclude={'provider', 'recording', 'goal', 'language'})
    settings = OpenAISettings.model_validate({**given, 'base_url': url, 'api_key': key or None})
    # Servers of one's own mostly want no key; one that was asked for by name must be there.
    needed = urlsplit(url).hostname == OPENAI_HOST or section.api_key_env != _DEFAULT_KEY_ENV
    if not key and settings.login is None and needed:
        asked = section.model or 'a model'
        keyless = {
            'embeddings': '--body lexical',
            'eyes': 'another detector than `vlm`',
            'speech': 'provider: local',
        }.get(role, f'--{role} {fallback_name()}')
        raise ConfigError(
            f'The {role} is to be {asked} at {settings.host}, but '
            f'${section.api_key_env} is not set. Set it (export {section.api_key_env}=...), or '
            f'set ${section.base_url_env} for a server that wants no key, or go on without a key: '
            f'{keyless}.'
        )
    return settings


def key_in_clear(settings: OpenAISettings) -> tuple[str, ...]:
    if not settings.secrets or settings.is_local or settings.base_url.startswith('https:'):
        return ()
    return (
        f'The key in ${settings.api_key_env} crosses the network unencrypted: the base URL of '
        f'{settings.host} begins with http, not https.',
    )
