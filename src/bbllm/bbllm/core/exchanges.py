"""The calls of models in an episode: what was sent, what came back, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bbllm.core.events import Episode, ModelCall, ModelReplied
from bbllm.core.prompt_store import prompts_path, read_prompts

NOT_KEPT = 'The prompt of this call was not kept.'
EMBEDDING = 'An embedder is sent names and steps, which are not kept.'


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A message of a prompt as it is on record."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str
    """Without anything that looks like a key."""


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
    texts = read_prompts(path)
    places = [at for at, event in enumerate(episode.events) if isinstance(event.data, ModelCall)]
    found = []
    for number, (place, call) in enumerate(zip(places, episode.model_calls, strict=True), start=1):
        kept = [KeptMessage(p.role, texts[p.hash]) for p in call.prompt if p.hash in texts]
        missing = ''
        if not call.prompt:
            missing = NOT_KEPT if call.prompt_chars else EMBEDDING
        elif len(kept) < len(call.prompt):
            lost = len(call.prompt) - len(kept)
            missing = f'{lost} of {len(call.prompt)} messages of the prompt are not in {path}.'
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


def _reply(episode: Episode, place: int, call: ModelCall) -> str:
    """Return what the call's role replied before it was called again; '' for nothing."""
    for event in episode.events[place + 1 :]:
        match event.data:
            case ModelReplied(role=call.role, text=text):
                return text
            case ModelCall(role=call.role):
                break
    return ''
