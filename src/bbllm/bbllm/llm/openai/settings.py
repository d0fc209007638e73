"""What has to be known to talk to one model on one OpenAI-compatible server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import SecretStr

from bbllm.core.errors import ConfigError

OPENAI_URL = 'https://api.openai.com/v1'
OPENAI_HOST = 'api.openai.com'
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
    """What the model takes in all, prompt and reply; None where nobody said."""
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
    """Silence after which people are told that the model is waited for [s]."""
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
