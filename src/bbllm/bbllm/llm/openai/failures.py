"""What went wrong with a request: one plain sentence, what would help, and whether to retry."""

import difflib
import email.utils
import json
import math
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import responses

import openai

from bbllm.core.errors import (
    ModelDeclinedError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    PromptTooLongError,
)
from bbllm.core.redaction import Redactor
from bbllm.core.registry import fallback_name
from bbllm.llm.openai.settings import OpenAISettings

_TOO_LONG = re.compile(
    r'context[ _](?:length|size|window|limit)|(?:prompt|input) is too long|too many tokens'
    r'|reduce the length|exceeds the maximum number of tokens|\bn_ctx\b',
    re.IGNORECASE,
)
"""Words of servers for a prompt that is longer than the context: there is no code for it."""
LONGER_CONTEXT = (
    'Take a model, or start the server, with a longer context, or lower `max_tokens`; '
    '`context_tokens` in config/llm.yaml is how long it is.'
)
_FILTERED = re.compile(r'content[ _](?:filter|management policy)', re.IGNORECASE)
_NO_IMAGES = re.compile(
    r"(?:not|n't|cannot) (?:support|accept|process|take)\w* [^.]{0,30}"
    r'(?:image|vision|multi-?modal)'
    r'|(?:images?|image_url|vision|multi-?modal)(?! (?:format|type|size|data))[^.]{0,30} '
    r'(?:not|only) (?:be )?(?:supported|accepted|allowed)'
    r'|no endpoints? [^.]{0,30}support[^.]{0,20}image|not a multi-?modal model|at most 0 image'
    r'|mmproj|unknown variant `?image_url|untagged enum \w*content|sequence, expected a string'
    r"|content must be a string|input should be (?:a valid string|'text')",
    re.IGNORECASE,
)
"""Words of servers for a picture that the model does not take: there is no code for it."""
WITHOUT_IMAGES = (
    'Use a model that takes images, or send none: `image=none` of the planner, or another '
    'detector than `vlm`.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One request that got no usable reply."""

    what: str
    """Goes on after `the model at the host`, for example `answered 502 (bad gateway)`."""
    hint: str = ''
    """What would have worked."""
    kind: type[ModelError] = ModelUnavailableError
    retry: bool = True
    wait_s: float | None = None
    """What the server asked for [s]."""
    status: int = 0
    """HTTP status, 0 where there was no answer."""
    param: str | None = None
    """The parameter that the server blames, if it names one."""
    text: str = ''
    """The server's own text."""


def refuses_images(failure: Failure) -> bool:
    """Return whether a server refused a request because its model takes no images."""
    # llama.cpp answers 500.
    refused = failure.status in (400, 404, 415, 422, 500, 501)
    return refused and _NO_IMAGES.search(failure.text) is not None


class OddReplyError(Exception):
    """The server answered 200 with something that is no reply; the text contains it."""


class FailedReplyError(Exception):
    """The server answered 200 with an error; the text is its own."""


class TooLateError(Exception):
    """A limit has passed; the text names what was waited for and how long."""


class CutReplyError(Exception):
    """The stream ended before the reply did."""


def failure_of(error: Exception, settings: OpenAISettings, redactor: Redactor) -> Failure:
    """Return the meaning of an exception of a request, without secrets."""
    where, go_on = f'now {settings.base_url}', _go_on()
    stated = _clean(str(error), redactor)
    match error:
        case openai.APIStatusError():
            return _of_status(error, settings, redactor)
        case TooLateError():
            hint = (
                'Raise `timeout_s`, `first_token_timeout_s` or `hang_timeout_s` in '
                f'config/llm.yaml if the model is just slow. {go_on}'
            )
            return Failure(what=f'did not answer in time: {stated}', hint=hint)
        case CutReplyError():
            return Failure(what=f'cut its reply off: {stated}', hint=go_on)
        case OddReplyError():
            hint = f'Is the base URL right? It usually ends in /v1; {where}.'
            return Failure(what=stated, hint=hint, retry=False)
        case openai.APITimeoutError():
            hint = f'Check the network and the base URL ({where}). {go_on}'
            return Failure(what='could not be reached in time, or fell silent', hint=hint)
        case openai.APIConnectionError():
            return _of_connection(error, settings, redactor)
        case openai.APIError() | FailedReplyError():
            stated = _clean(text_of(getattr(error, 'body', None)), redactor) or stated
            what = f'broke off with an error: {stated}'
            if _TOO_LONG.search(stated):
                kind = PromptTooLongError
                return Failure(what=what, hint=LONGER_CONTEXT, kind=kind, retry=False)
            return Failure(what=what, hint=go_on)
        case json.JSONDecodeError() | UnicodeDecodeError():
            return Failure(what='sent a stream that is not JSON', hint=go_on)
    # The SDK and what it stands on raise more than they document.
    what = f'could not be asked: {type(error).__name__}: {stated}'
    return Failure(what=what, hint=go_on, retry=False)


def with_models(failure: Failure, settings: OpenAISettings, names: Sequence[str]) -> Failure:
    if not names:
        return failure
    close = difflib.get_close_matches(settings.model, names, n=1)
    nearest = f'Did you mean {close[0]}? ' if close else ''
    listed = ', '.join(sorted(names)[:12])
    more = f' and {len(names) - 12} more' if len(names) > 12 else ''
    hint = (
        f'{nearest}The server has: {listed}{more}. Set `model` in config/llm.yaml, or use '
        '`--brain NAME`, `--body NAME`.'
    )
    return replace(failure, hint=hint)


def _of_status(
    error: openai.APIStatusError, settings: OpenAISettings, redactor: Redactor
) -> Failure:
    status = error.status_code
    stated = _clean(text_of(error.body) or error.response.text, redactor)
    meaning = f' ({responses[status].lower()})' if status in responses else ''
    key, where, go_on = f'${settings.api_key_env}', f'now {settings.base_url}', _go_on()
    passing = status in (408, 409, 429) or status >= 500
    hint = go_on
    kind: type[ModelError] = ModelRefusedError
    if passing and status != 429:
        kind = ModelUnavailableError
    unwanted = error.response.headers.get('x-should-retry') == 'false'
    match status:
        case 401 | 403 if settings.login is not None:
            hint = f'Check the user and password in the base URL ({where}).'
        case 401 | 403:
            do = f'Check {key}.' if settings.api_key else f'No key was sent: set {key}.'
            hint = f'{do} {go_on}'
        # llama.cpp before September 2025 answers 500.
        case 400 | 413 | 422 | 500 if _TOO_LONG.search(f'{error.code} {stated}'):
            hint, kind, unwanted = LONGER_CONTEXT, PromptTooLongError, True
        case 400 | 422 if _FILTERED.search(f'{error.code} {stated}'):
            hint, kind = "The server's content filter stopped the prompt.", ModelDeclinedError
        case 400 | 413 | 422:
            more = '' if settings.effort is None else '`effort`, '
            hint = f'Check `model`, `max_tokens`, {more}and `schema` in config/llm.yaml.'
        case 404:
            hint = f'Check `model`, and the base URL ({where}), which usually ends in /v1.'
        case 429 if 'insufficient_quota' in (error.code, error.type):
            hint, unwanted = f'The quota behind {key} is used up. {go_on}', True
        case 429:
            hint = f'Wait a while, or raise `retries` in config/llm.yaml. {go_on}'
    return Failure(
        what=f'answered {status}{meaning}' + (f': {stated}' if stated else ''),
        hint=hint,
        kind=kind,
        retry=passing and not unwanted,
        wait_s=retry_after_s(error.response.headers),
        status=status,
        param=error.param if isinstance(error.param, str) else None,
        text=stated,
    )


def _of_connection(
    error: openai.APIConnectionError, settings: OpenAISettings, redactor: Redactor
) -> Failure:
    root = _root_of(error)
    text = str(root) or type(root).__name__
    if isinstance(root, OSError) and root.errno and 'Connect call failed' in text:
        # asyncio leaves out what the error number means.
        text = f'[Errno {root.errno}] {os.strerror(root.errno)}'
    stated = _clean(text, redactor)
    if re.search(r'incomplete|peer closed|disconnected|reset', stated, re.IGNORECASE):
        return Failure(what=f'cut the connection: {stated}', hint=_go_on())
    hint = (
        f'Is a server running at {settings.host}? (now {settings.base_url}) Check its name, the '
        f'network and, for https, its certificate. {_go_on()}'
    )
    return Failure(what=f'could not be reached: {stated}', hint=hint)


def _root_of(error: BaseException) -> BaseException:
    """Return the first cause of an error; of several attempts to connect, that of the first."""
    several: Sequence[BaseException] = getattr(error, 'exceptions', ())
    cause = next(iter(several), None) or error.__cause__ or error.__context__
    return error if cause is None else _root_of(cause)


def _go_on() -> str:
    name = fallback_name()
    return f'To go on without a server: `--brain {name} --body {name}`.'


def text_of(body: object) -> str:
    """Return the words of an error body, whose shape differs between servers."""
    if isinstance(body, str):
        return body
    if isinstance(body, list) and len(body) == 1:
        return text_of(body[0])  # Gemini
    if isinstance(body, Mapping):
        for key in ('message', 'error', 'detail', 'msg'):
            if body.get(key):
                return text_of(body[key]) or json.dumps(body)
    return json.dumps(body) if body and isinstance(body, (Mapping, list)) else ''


def _clean(text: str, redactor: Redactor, limit: int = 300) -> str:
    # Secrets go before the text is cut: half a key would not be recognised any more.
    line = ' '.join(redactor.hide(text).split())
    return line if len(line) <= limit else f'{line[:limit]} ...'


def retry_after_s(
    headers: Mapping[str, str], clock: Callable[[], float] = time.time
) -> float | None:
    """Return the wait that a server asks for, in seconds or as a date [s]; None if it does not."""
    for name, per_second in (('retry-after-ms', 1000.0), ('retry-after', 1.0)):
        try:
            asked_s = float(headers.get(name, '')) / per_second
        except ValueError:
            continue
        if math.isfinite(asked_s):
            return max(asked_s, 0.0)
    try:
        date = email.utils.parsedate_to_datetime(headers.get('retry-after', ''))
    except (TypeError, ValueError):
        return None
    return max(date.timestamp() - clock(), 0.0)
