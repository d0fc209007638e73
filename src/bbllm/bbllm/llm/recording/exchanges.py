"""
The form of a recording: JSON lines, one per exchange with a model.

A recording holds prompts and replies, never a key: neither is ever in a message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pydantic

from bbllm.core.errors import ReplayError
from bbllm.core.protocols import JsonSchema, Message, Reply

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it; a line of a recording."""

    format: int
    role: str
    """Who asked: `brain` or `body`."""
    name: str
    """The model's name in reports."""
    supports_schema: bool
    """Whether the model honoured schemas when it was asked."""
    messages: tuple[Message, ...]
    stop: tuple[str, ...]
    schema_hash: str
    reply: Reply | None = None
    error: str | None = None
    """Type of the error where there was no reply."""
    error_text: str = ''
    prompt_limit_tokens: int | None = None
    """How long the model's prompts could be; None where that was not known [tokens]."""
    episode: str = ''
    """Which episode of a run it belongs to; '' in the recording of a single one."""

    @property
    def digest(self) -> str:
        """What equal requests have in common."""
        return digest_of(self.role, self.messages, self.stop, self.schema_hash)


_EXCHANGE = pydantic.TypeAdapter(Exchange)


def line_of(exchange: Exchange) -> str:
    """Return an exchange as a line of a recording."""
    data = asdict(exchange)
    data['messages'] = [{'role': item.role, 'content': item.content} for item in exchange.messages]
    return json.dumps(data, ensure_ascii=False) + '\n'


def read_recording(path: Path) -> list[Exchange]:
    """
    Return all exchanges of a recording, oldest first.

    Raises:
        ReplayError: There is no such file, or a line of it is no exchange.
    """
    try:
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is not text'
        raise ReplayError(f'Cannot read the recording {path}: {reason}.') from None
    return parse_recording(text, path)


def parse_recording(text: str, path: Path) -> list[Exchange]:
    """
    Return all exchanges in the text of a recording, oldest first.

    Args:
        text: The lines.
        path: Where they are from, for messages.

    Raises:
        ReplayError: A line is no exchange.
    """
    *lines, torn = text.split('\n')
    if torn:
        lines.append(torn)
    exchanges: list[Exchange] = []
    for i, line in enumerate(lines):
        try:
            exchange = _EXCHANGE.validate_json(line)
        except pydantic.ValidationError:
            if torn and i == len(lines) - 1:
                break  # by a crash while it was written; what came before is whole
            raise ReplayError(
                f'Line {i + 1} of {path} is no recorded exchange; a recording is made by --record.'
            ) from None
        if exchange.format != FORMAT:
            raise ReplayError(
                f'{path} is a recording of format {exchange.format}, this version of bbllm reads '
                f'format {FORMAT}. Record it anew with --record.'
            )
        exchanges.append(exchange)
    return exchanges


def digest_of(
    role: str, messages: Sequence[Message], stop: Sequence[str], schema_hash: str
) -> str:
    content = [role, [[item.role, item.content] for item in messages], list(stop), schema_hash]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def schema_hash_of(schema: JsonSchema | None) -> str:
    if schema is None:
        return ''
    return hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()
