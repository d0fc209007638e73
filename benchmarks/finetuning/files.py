"""
The files of a data set.

`alpaca.json`: a list of objects with instruction, input and output. `chat.jsonl`: on each line
the two messages of a chat, the host's prompt to the letter and the answer. `pairs.jsonl`: the
pairs with where they come from and what the blocks weighed, for checks; not to be trained on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pydantic

from bbllm.bench.log.store import write_atomically
from bbllm.core.errors import ConfigError, ParseError
from benchmarks.finetuning.pairs import Pair, split_prompt

ALPACA = 'alpaca.json'
CHAT = 'chat.jsonl'
PAIRS = 'pairs.jsonl'
CARD = 'card.json'
CARD_PAGE = 'card.md'
FORMS = 'alpaca.json, chat.jsonl or pairs.jsonl, as `bbllm data generate` writes them'


class _Message(pydantic.BaseModel):
    role: str
    content: str


class _Chat(pydantic.BaseModel):
    messages: list[_Message]


_PAIR = pydantic.TypeAdapter(Pair)
_PAIRS = pydantic.TypeAdapter(list[Pair])


def write_pairs(pairs: Sequence[Pair], folder: Path) -> None:
    """
    Write all three files.

    Raises:
        ConfigError: The folder cannot be written.
    """
    alpaca = [
        {'instruction': pair.instruction, 'input': pair.input, 'output': pair.output}
        for pair in pairs
    ]
    write_atomically(folder / ALPACA, json.dumps(alpaca, ensure_ascii=False, indent=1) + '\n')
    write_atomically(folder / CHAT, ''.join(map(_chat_line, pairs)))
    lines = (json.dumps(asdict(pair), ensure_ascii=False) + '\n' for pair in pairs)
    write_atomically(folder / PAIRS, ''.join(lines))


def read_pairs(path: Path) -> list[Pair]:
    """
    Read any of the three files.

    Raises:
        ConfigError: It cannot be read, or is none of them; names the first line that is not.
    """
    try:
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is not text'
        raise ConfigError(f'Cannot read {path}: {reason}.') from None
    if text.lstrip().startswith('['):
        try:
            return _PAIRS.validate_json(text)
        except pydantic.ValidationError as error:
            where = '.'.join(map(str, error.errors()[0]['loc']))
            raise ConfigError(
                f'{path} is a list, but entry {where} will not do ({error.errors()[0]["msg"]}). '
                f'It must be {FORMS}.'
            ) from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ConfigError(f'{path} is empty. It must be {FORMS}.')
    return [_read_line(line, f'Line {i + 1} of {path}') for i, line in enumerate(lines)]


def _read_line(line: str, where: str) -> Pair:
    try:
        if '"messages"' in line[:40]:
            asked, answered = _Chat.model_validate_json(line).messages
            instruction, given = split_prompt(asked.content)
            return Pair(instruction=instruction, input=given, output=answered.content)
        return _PAIR.validate_json(line)
    except (ParseError, ValueError):  # pydantic's errors and too many messages are ValueErrors
        raise ConfigError(f'{where} is no pair. The file must be {FORMS}.') from None


def _chat_line(pair: Pair) -> str:
    messages = [
        {'role': 'user', 'content': pair.prompt},
        {'role': 'assistant', 'content': pair.output},
    ]
    return json.dumps({'messages': messages}, ensure_ascii=False) + '\n'
