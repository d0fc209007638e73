"""
Requests to a server that speaks OpenAI's protocol, tried again where that may help.

The `openai` package's own retries are off: here a stream that was cut counts as a failure too, a
caller hears why it waits, and an error says what was tried. Errors are raised outside of any
`except`, so that no exception of the package, which holds the request with its headers, hangs on
them.
"""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from bbllm.core.errors import ModelError
from bbllm.llm.openai.backoff import Backoff
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.openai.timeouts import BEAT_S
from bbllm.llm.redaction import Redactor

if TYPE_CHECKING:
    from bbllm.llm.openai.connection import Connection
    from bbllm.llm.openai.failures import Failure

T = TypeVar('T')
log_warning = logging.getLogger(__name__).warning


class Tries:
    """
    The requests to one model on one server.

    The arguments are those of `OpenAIChat`.
    """

    def __init__(
        self,
        settings: OpenAISettings,
        *,
        backoff: Backoff | None,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        tell: Callable[[str], None],
    ):
        self.settings = settings
        self.redactor = Redactor(settings.secrets)
        self.tell = tell
        self.who = self.redactor.hide(f'{settings.model} at {settings.host}')
        """What sentences call the model."""
        self._backoff = backoff or Backoff()
        self._sleep = sleep
        self._jitter = jitter
        self._connection: Connection | None = None

    @staticmethod
    def prepare() -> None:
        """Import the openai package: most of a second that is not the model's time."""
        importlib.import_module('bbllm.llm.openai.connection')

    def once(self, ask: Callable[[Connection], T]) -> T | Failure:
        """
        Send a request once; what goes wrong comes back as a Failure, clean of secrets.

        Raises:
            ModelError: `ask` raised it: an answer that another try would not better.
            Exception: What a function raised that `call_theirs` called: the caller's own.
        """
        from bbllm.llm.openai.connection import Connection
        from bbllm.llm.openai.failures import failure_of

        try:
            if self._connection is None:
                self._connection = Connection(self.settings)
            return ask(self._connection)
        except _TheirError as theirs:
            raised: Exception = theirs.error
        except ModelError as error:
            raised = error
        except Exception as error:  # the SDK raises more than it documents
            # Its text may hold the key.
            return failure_of(error, self.settings, self.redactor)
        raise raised

    def wait_after(
        self, failure: Failure, n_failed: int, begun_s: float, beat: Callable[[], None]
    ) -> None:
        """
        Wait until it makes sense to try again.

        Args:
            failure: How the last try ended.
            n_failed: How many have failed.
            begun_s: When the first began, on the monotonic clock [s].
            beat: Called about every 0.1 s.

        Raises:
            ModelError: It makes no sense.
        """
        too_long = self._is_too_long(failure)
        spent_s = time.monotonic() - begun_s
        wait_s = self._backoff.wait_s(n_failed, failure.wait_s, self._jitter)
        # A server that answers is asked as often as `retries` says, one that hangs is not.
        hangs = not failure.status and spent_s + wait_s >= self.settings.hang_timeout_s
        if not failure.retry or too_long or hangs or n_failed > self.settings.retries:
            raise self._error(failure, n_failed, spent_s)
        self.tell(
            f'{self.who} {failure.what}; trying again in {wait_s:.1f} s '
            f'({n_failed} of {self.settings.retries}).'
        )
        try:
            while wait_s > 0:
                beat()
                self._sleep(min(wait_s, BEAT_S))
                wait_s -= BEAT_S
            return
        except _TheirError as theirs:
            raised = theirs.error
        raise raised

    def _is_too_long(self, failure: Failure) -> bool:
        return failure.wait_s is not None and failure.wait_s > self._backoff.patience_s

    def _error(self, failure: Failure, n_failed: int, spent_s: float) -> ModelError:
        from bbllm.llm.openai.failures import with_models

        if failure.status == 404 and self._connection is not None:
            failure = with_models(failure, self.settings, self._connection.models_or_none())
        tried = f' (asked {n_failed} times in {spent_s:.1f} s)' if n_failed > 1 else ''
        text = f'{self.who} {failure.what.rstrip(".")}{tried}.'
        if self._is_too_long(failure):
            text += f' It asks to wait {failure.wait_s:.0f} s, which is too long.'
        return failure.kind(self.redactor.hide(f'{text} {failure.hint}'.strip()))


def call_theirs(function: Callable[[], None]) -> None:
    """Call what the caller gave, in `once` or `beat`: what it raises is passed on untouched."""
    try:
        function()
    except Exception as error:  # what it raised is its own, a cancel above all: never retried
        raise _TheirError(error) from None


class _TheirError(Exception):
    """What a function of the caller's raised."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error
