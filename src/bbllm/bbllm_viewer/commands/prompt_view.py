"""What was sent to the models of an episode and what they replied, call by call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode, PlanGrown, PlanMade, StepBegun
from bbllm.core.protocols import media_type
from bbllm.core.records import to_json
from bbllm.core.text import count_of, escape_line
from bbllm_viewer.replay.exchanges import KeptMessage, KeptPicture, ModelExchange

ELIDED_LINES = 4
"""So many lines in a row that an earlier prompt has as well are left out."""
Line = tuple[bool, str]
"""Whether it is the role of a message, which stands above it; and the text."""


def chosen(exchanges: Sequence[ModelExchange], number: int | None) -> Sequence[ModelExchange]:
    """Return all calls, or the one with a number; raises ConfigError where there is none."""
    if number is None:
        return exchanges
    if not 1 <= number <= len(exchanges):
        has = f'calls 1 to {len(exchanges)}' if exchanges else 'no call of a model'
        raise ConfigError(f'There is no call {number}: the episode has {has}.')
    return exchanges[number - 1 : number]


def print_exchanges(
    episode: Episode, exchanges: Sequence[ModelExchange], output: Output, number: int | None
) -> None:
    """
    Print each call: prompt, schema, reply and cost.

    Lines that the most similar earlier prompt of the same role has as well are left out, and new
    ones are marked with `+`. A call that is asked for by its number is printed in full.
    """
    shown = chosen(exchanges, number)
    for exchange in shown:
        output.print_line('')
        output.print(_heading(episode, exchange, len(exchanges)), 'bold')
        earlier = () if number else exchanges[: exchange.number - 1]
        for text, style in _prompt(exchange, _most_similar(exchange, earlier)):
            output.print(f'  {text}', style)
        for word, text in (('schema', exchange.schema), ('reply', exchange.reply)):
            if text:
                output.print(f'  --- {word}', 'cyan')
                for line in text.split('\n'):
                    output.print(f'    {escape_line(line)}')
        for fault in filter(None, (exchange.missing, exchange.call.error)):
            output.print(f'  {escape_line(fault)}', 'yellow')
    if not shown:
        output.print('The episode has no call of a model.')


def exchange_data(exchange: ModelExchange) -> Mapping[str, object]:
    """Return a call as JSON values."""
    cost = to_json(exchange.call)
    del cost['prompt']
    return {
        'call': exchange.number,
        **cost,
        'messages': [_message_data(each) for each in exchange.messages],
        'schema': exchange.schema,
        'reply': exchange.reply,
        'missing': exchange.missing,
    }


def _message_data(message: KeptMessage) -> Mapping[str, object]:
    data: dict[str, object] = to_json(message)
    if not message.pictures:
        del data['pictures']
    return data


def _heading(episode: Episode, exchange: ModelExchange, count: int) -> str:
    call = exchange.call
    parts = [f'{call.role} {call.model}']
    if call.prompt_tokens or call.completion_tokens:
        cached = f' ({call.cached_tokens} cached)' if call.cached_tokens else ''
        pictures = f' ({call.image_tokens} of pictures)' if call.image_tokens else ''
        sent = f'{call.prompt_tokens}{cached}{pictures}'
        parts.append(f'{sent} + {call.completion_tokens} tokens')
    parts.append(f'{call.duration_s:.2f} s')
    if call.retries:
        parts.append(f'sent again {count_of(call.retries, "time")}')
    return escape_line(
        f'call {exchange.number} of {count}: {", ".join(parts)}{_step(episode, exchange)}'
    )


def _step(episode: Episode, exchange: ModelExchange) -> str:
    """Return the step of the plan that was under way, '' where a plan was still to be made."""
    for event in reversed(episode.events[: exchange.place]):
        match event.data:
            case StepBegun(index=index, text=text):
                return f'; step {index}: {text}'
            case PlanGrown():
                pass  # the step under way goes on
            case PlanMade():
                break
    return ''


def _most_similar(
    exchange: ModelExchange, earlier: Sequence[ModelExchange]
) -> ModelExchange | None:
    """Return the earlier call of the role that has most of the lines; of equals, the last."""
    lines = set(_lines(exchange))
    same = [each for each in earlier if each.call.role == exchange.call.role and each.messages]
    # Planners ask under several prompts in turn, so the one before may have nothing in common.
    return max(
        same, key=lambda each: (len(lines.intersection(_lines(each))), each.number), default=None
    )


def _lines(exchange: ModelExchange) -> list[Line]:
    found: list[Line] = []
    for message in exchange.messages:
        found += [(True, message.role), *((False, x) for x in message.content.split('\n'))]
        found += [(False, f'[picture {each.hash}: {size_of(each)}]') for each in message.pictures]
    return found


def size_of(picture: KeptPicture) -> str:
    """Return format and length of a picture, for a line of text."""
    kind = media_type(picture.data).partition('/')[2].upper()
    return f'{kind}, {len(picture.data) / 1000:.0f} kB; --html FILE shows it'


def _prompt(exchange: ModelExchange, like: ModelExchange | None) -> Iterator[tuple[str, str]]:
    """Yield lines to print, each with its style."""
    lines, known = _lines(exchange), _lines(like) if like else []
    blocks = SequenceMatcher(None, known, lines, autojunk=False).get_matching_blocks()
    place = 0
    for _, start, size in blocks:
        yield from (_styled(line, '+ ' if like else '  ') for line in lines[place:start])
        place = start + size
        if like is not None and size >= ELIDED_LINES:
            yield f'  ({count_of(size, "line")} as in call {like.number})', 'dim'
        else:
            yield from (_styled(line, '  ') for line in lines[start:place])


def _styled(line: Line, mark: str) -> tuple[str, str]:
    is_role, text = line
    if is_role:
        return f'--- {text}', 'cyan'
    return f'{mark}{escape_line(text)}', 'green' if mark.strip() else ''
