"""Tells whether a model can be reached, for `bbllm doctor`."""

from __future__ import annotations

import time
from dataclasses import replace

from bbllm.core.protocols import Message
from bbllm.llm.openai.settings import OpenAISettings

PROBE_S = 5.0


def probe(settings: OpenAISettings, *, timeout_s: float = PROBE_S) -> str:
    """
    Say in one sentence that a model answers.

    The list of models is asked for, which costs nothing; a server without one is asked a
    question of a few tokens.

    Args:
        settings: Which model and where.
        timeout_s: For each of the two requests [s].

    Raises:
        ModelError: It does not answer; says why and what would help.
    """
    from bbllm.llm.openai.chat import OpenAIChat
    from bbllm.llm.openai.connection import Connection
    from bbllm.llm.openai.failures import failure_of
    from bbllm.llm.redaction import Redactor

    hurried = replace(
        settings,
        timeout_s=timeout_s,
        connect_timeout_s=min(settings.connect_timeout_s, timeout_s),
        first_token_timeout_s=timeout_s,
        retries=0,
    )
    redactor = Redactor(settings.secrets)
    who = redactor.hide(f'{settings.model} at {settings.host}')
    begun_s = time.monotonic()
    try:
        names = Connection(hurried).models(timeout_s)
        failure = None
    except Exception as error:  # the SDK raises more than it documents
        # Its text may hold the key.
        names, failure = (), failure_of(error, settings, redactor)
    spent_s = time.monotonic() - begun_s
    if settings.model in names:
        return f'{who} answers in {spent_s:.1f} s; the server lists {len(names)} models.'
    if failure is not None and failure.status not in (404, 405, 501):
        raise failure.kind(redactor.hide(f'{who} {failure.what.rstrip(".")}. {failure.hint}'))
    # No list, or one that is not complete: only an answer proves that the model is there.
    reply = OpenAIChat(hurried).complete([Message('user', 'Say OK.')])
    return f'{who} answers in {reply.duration_s:.1f} s.'
