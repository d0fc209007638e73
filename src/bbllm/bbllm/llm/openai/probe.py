"""Asks a server which models it has, and whether one of them answers."""

import io
import time
from collections.abc import Sequence

from bbllm.core.errors import ConfigError, ModelError, NoImagesError
from bbllm.core.protocols import Message, ModelRequest
from bbllm.core.registry import fallback_name
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.client import ModelClient
from bbllm.llm.openai.failures import Failure
from bbllm.llm.openai.settings import OpenAISettings

PROBE_S = 5.0
"""Time limit of each of the two requests of a probe [s]."""
MOST_LISTED = 30
"""How many models a sentence names; hosted servers have a hundred."""


def probe(settings: OpenAISettings) -> str:
    """
    Return a sentence that a model answers, for `bbllm doctor`; raise ModelError if it does not.

    The list of models is requested, which costs nothing, else an answer of a few tokens.
    """
    hurried = _hurried(settings)
    client, begun_s = ModelClient(hurried), time.monotonic()
    names = client.run(client.attempt(client.models(PROBE_S)))
    spent_s = time.monotonic() - begun_s
    if isinstance(names, Failure):
        if names.status not in (404, 405, 501):
            text = f'{client.label} {names.what.rstrip(".")}. {names.hint}'
            raise names.kind(client.redactor.hide(text))
        names = ()
    elif settings.model in names:
        return f'{client.label} answers in {spent_s:.1f} s; the server {listing(names)}.'
    # No list, or one that is not complete: only an answer proves that the model is there.
    reply = OpenAIChat(hurried, client).ask(ModelRequest.of('Say OK.'))
    listed = f'; the server {listing(names)}' if names else ''
    return f'{client.label} answers in {reply.duration_s:.1f} s{listed}.'


def probe_images(settings: OpenAISettings) -> str:
    """
    Return a sentence on whether a model takes images; for a model that answers.

    One picture of a few tokens is sent. Its colour is asked for, since some servers accept
    pictures and leave them out.
    """
    if not settings.images:
        return 'It is sent no images: its section has `images: no`.'
    question = 'Which colour is this picture? Reply with one word.'
    message = Message('user', question, images=(_red_picture(),))
    try:
        reply = OpenAIChat(_hurried(settings)).ask(ModelRequest([message]))
    except NoImagesError as error:
        return f'It takes no images, so only `image=none`. {error}'
    except ModelError as error:
        return f'Whether it takes images is not known: {error}'
    if 'red' in reply.text.lower():
        return 'It takes images.'
    stated = ' '.join(reply.text.split())[:60]
    return f'It accepts images, but called a red picture {stated!r}: it may not be shown them.'


def _red_picture() -> bytes:
    """Return a PNG; of 64 pixels a side, since some models refuse a side of less than 28."""
    from PIL import Image

    file = io.BytesIO()
    Image.new('RGB', (64, 64), (230, 20, 20)).save(file, format='PNG')
    return file.getvalue()


def only_model(settings: OpenAISettings, role: str) -> str:
    """
    Return the model of a server that lists exactly one, for a role for which none is named.

    Raises ConfigError with the models that the server lists where there are more, or none. One
    that is listed need not make vectors, so a model for `embeddings` is always named by a person.
    """
    client = ModelClient(_hurried(settings))
    names = client.run(client.attempt(client.models(PROBE_S)))
    if not isinstance(names, Failure) and len(names) == 1 and role != 'embeddings':
        return names[0]
    found = names.what.rstrip('.') if isinstance(names, Failure) else listing(names)
    where = f'set `model` in the section `{role}` of config/llm.yaml'
    option = 'body' if role == 'embeddings' else role
    keyless = 'lexical' if role == 'embeddings' else fallback_name()
    help_text = (
        f'S{where[1:]}.'
        if role == 'eyes'  # has no option
        else f'Use --{option} NAME, or {where}; to go on without a language model: --{option} '
        f'{keyless}.'
    )
    text = f'No model is named for `{role}` at {settings.host}: the server {found}. {help_text}'
    raise ConfigError(client.redactor.hide(text))


def listing(names: Sequence[str]) -> str:
    """Return the models of a server, as a sentence about it ends."""
    if not names:
        return 'lists no models'
    listed = ', '.join(sorted(names)[:MOST_LISTED])
    more = f' and {len(names) - MOST_LISTED} more' if len(names) > MOST_LISTED else ''
    n = f'{len(names)} models' if len(names) > 1 else '1 model'
    return f'lists {n}: {listed}{more}'


def _hurried(settings: OpenAISettings) -> OpenAISettings:
    connect_s = min(settings.connect_timeout_s, PROBE_S)
    limits = {'timeout_s': PROBE_S, 'connect_timeout_s': connect_s, 'retries': 0}
    return settings.model_copy(update={**limits, 'first_token_timeout_s': PROBE_S})
