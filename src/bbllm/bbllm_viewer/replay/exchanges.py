"""The calls of models in an episode: what was sent, what came back, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from bbllm.core.events import IMAGE, Episode, ModelCall, ModelReplied, PromptText
from bbllm.core.prompt_store import prompts_path, read_pictures, read_prompts

NOT_KEPT = 'The prompt of this call was not kept.'
EMBEDDING = 'An embedder is sent names and steps, which are not kept.'


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A picture of a message as it is on record."""

    hash: str
    data: bytes = field(repr=False, metadata={'json': False})
    """A PNG or JPEG file."""


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A message of a prompt as it is on record."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str
    """Without anything that looks like a key."""
    pictures: tuple[KeptPicture, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExchange:
    """One call of a model."""

    number: int
    """Of the call in the episode, from 1."""
    place: int
    """Index of its ModelCall among the events of the episode."""
    call: ModelCall
    messages: tuple[KeptMessage, ...] = ()
    schema: str = ''
    """The JSON schema that the reply had to obey; '' where none was sent."""
    reply: str = ''
    """'' where there was none; `call.error` is why."""
    missing: str = ''
    """Why not all of the prompt is here, in one sentence; '' where it is."""


def read_exchanges(episode: Episode, journal: Path) -> tuple[ModelExchange, ...]:
    """Return the calls of an episode in their order, with the prompts kept beside its journal."""
    path = prompts_path(journal)
    texts, pictures = read_prompts(path), read_pictures(path)
    places = [at for at, event in enumerate(episode.events) if isinstance(event.data, ModelCall)]
    found = []
    for number, (place, call) in enumerate(zip(places, episode.model_calls, strict=True), start=1):
        kept = list(_kept(call.prompt, texts, pictures))
        missing = ''
        if not call.prompt:
            missing = NOT_KEPT if call.prompt_chars else EMBEDDING
        elif lost := [p for p in call.prompt if p.hash not in texts and p.hash not in pictures]:
            what = 'parts' if any(p.role == IMAGE for p in call.prompt) else 'messages'
            missing = f'{len(lost)} of {len(call.prompt)} {what} of the prompt are not in {path}.'
        found.append(
            ModelExchange(
                number=number,
                place=place,
                call=call,
                messages=tuple(message for message in kept if message.role != 'schema'),
                schema=next((text.content for text in kept if text.role == 'schema'), ''),
                reply=_reply(episode, place, call),
                missing=missing,
            )
        )
    return tuple(found)


def _kept(
    prompt: Sequence[PromptText], texts: Mapping[str, str], pictures: Mapping[str, bytes]
) -> Iterator[KeptMessage]:
    """Yield what is on record of a prompt: messages with their pictures, and the schema."""
    for place, part in enumerate(prompt):
        if part.role == IMAGE or part.hash not in texts:
            continue
        own = takewhile(lambda other: other.role == IMAGE, prompt[place + 1 :])
        found = (KeptPicture(p.hash, pictures[p.hash]) for p in own if p.hash in pictures)
        yield KeptMessage(part.role, texts[part.hash], tuple(found))


def _reply(episode: Episode, place: int, call: ModelCall) -> str:
    """Return what the call's role replied before it was called again; '' for nothing."""
    for event in episode.events[place + 1 :]:
        match event.data:
            case ModelReplied(role=call.role, text=text):
                return text
            case ModelCall(role=call.role):
                break
    return ''
