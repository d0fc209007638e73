"""
The grammar of what LLM-State's attention and state estimator may answer.

    reply = "none" | call*                          chatter between the calls is left out
    call  = "add_related_objects" "(" thing ("," thing)* ")"
          | ("update_reasoning" | "generate_summary") "(" text ")"
          | ("update_state" | "add_attribute") "(" thing "," [attribute ("|" attribute)*] ")"

Source: Chen et al., LLM-State, listings 1 to 4; the second names are those of the paper's text,
the first those of its prompts. A call that is malformed is left out and told. Nothing here is
ever executed as code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bbllm.planners.common.prompting import one_line
from bbllm.planners.common.reply_diagnostics import LostReplyError, RejectedLine

ADD, REASON, UPDATE = 'add_related_objects', 'update_reasoning', 'update_state'
ALIASES: Mapping[str, str] = {'generate_summary': REASON, 'add_attribute': UPDATE}
MAX_ATTRIBUTES_LENGTH = 500
"""All attributes of one thing together; more is no estimate of a state [characters]."""
MAX_SUMMARY_LENGTH = 6000
"""A summary of 150 steps, the longest task of the paper, has some 40 for each [characters]."""
MAX_CALLS = 300
"""A house has about 200 things; a longer reply is a model that repeats itself."""
SHOWN = 200
"""How much of a call that was left out is told [characters]."""

_BEGIN = re.compile(r'[\s>*_`-]*(?:\d{1,4}[.):]\s*)?(?P<name>[^\W\d]\w{0,60})\s*\((?P<rest>.*)')
_QUOTED_END = re.compile(r'["\'”’][ \t]*\)')
_NAMES = '|'.join((ADD, REASON, UPDATE, *ALIASES))
_NEXT_CALL = re.compile(rf'(?<=\))[ \t;,]*(?=(?:{_NAMES})\s*\()')
_HOLDS_CALL = re.compile(rf'\b(?:{_NAMES})\s*\(')
_END = ' \t\r`;.*'
_QUOTES = '"\'“”‘’` \t'


@dataclass(frozen=True, slots=True)
class StateEstimate:
    """What a state estimator said."""

    summary: str = ''
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Things as the model names them, each with all that is so of it, in the reply's order."""
    discarded: tuple[RejectedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Attention:
    """Which things an attention asked for."""

    things: tuple[str, ...]
    """As the model names them, in the reply's order."""
    discarded: tuple[RejectedLine, ...] = ()


def parse_attention(text: str) -> Attention:
    """
    Read which things are to be added.

    Raises:
        LostReplyError: No call, and no `none`; says what would be accepted.
    """
    things: list[str] = []
    discarded: list[RejectedLine] = []
    for name, body, whole in _calls(text, {ADD}, discarded):
        named = [word.strip(_QUOTES) for word in body.split(',')]
        if name != ADD or not all(named):
            discarded.append(RejectedLine(whole, f'{ADD} takes the name of a thing.'))
        else:
            things += named
    _must_say_something(text, bool(things), discarded, f'{ADD}("cup1")')
    return Attention(tuple(things), tuple(discarded))


def parse_estimate(text: str, functions: Collection[str] = (REASON, UPDATE)) -> StateEstimate:
    """
    Read a summary and what is so of things.

    Args:
        text: The reply.
        functions: Which of the two may be called; an ablation leaves one out.

    Raises:
        LostReplyError: No call, and no `none`; says what would be accepted.
    """
    summary = ''
    attributes: dict[str, tuple[str, ...]] = {}
    discarded: list[RejectedLine] = []
    for name, body, whole in _calls(text, functions, discarded):
        if name == REASON:
            said = one_line(body.strip(_QUOTES))
            summary = said[:MAX_SUMMARY_LENGTH]
            if said != summary:
                why = f'It has {len(said)} characters, of which {MAX_SUMMARY_LENGTH} are kept.'
                discarded.append(
                    RejectedLine(said[MAX_SUMMARY_LENGTH:][:SHOWN], why, refused=True)
                )
            continue
        thing, words, why = _entry(body)
        if why:  # what is only too long could be read
            discarded.append(RejectedLine(whole, why, refused=bool(thing)))
        else:
            attributes[thing] = words
    example = (
        'update_state("cup1", "in hand | hot")' if UPDATE in functions else f'{REASON}("...")'
    )
    _must_say_something(text, bool(summary or attributes), discarded, example)
    return StateEstimate(summary, tuple(attributes.items()), tuple(discarded))


def _entry(body: str) -> tuple[str, tuple[str, ...], str]:
    """Return a thing, its attributes, and why they cannot be used where they cannot."""
    thing, comma, rest = body.partition(',')
    thing, rest = thing.strip(_QUOTES), rest.strip(_QUOTES)
    if not comma or not thing:
        return '', (), f'{UPDATE} takes a thing and its attributes.'
    if len(rest) > MAX_ATTRIBUTES_LENGTH:
        limit = f'at most {MAX_ATTRIBUTES_LENGTH} are accepted'
        return thing, (), f'Its attributes have {len(rest)} characters; {limit}.'
    words = [one_line(word.strip(_QUOTES)) for word in rest.strip('[] ').split('|')]
    return thing, tuple(word for word in words if word), ''


def _calls(
    text: str, functions: Collection[str], discarded: list[RejectedLine]
) -> Iterator[tuple[str, str, str]]:
    """Yield of each call its function, what stands in its brackets, and how it begins."""
    n_calls = 0
    lines = _NEXT_CALL.sub('\n', text).splitlines()
    i = 0
    while i < len(lines):
        found = _BEGIN.fullmatch(lines[i])
        i += 1
        if found is None:
            if _HOLDS_CALL.search(lines[i - 1]):
                discarded.append(
                    RejectedLine(one_line(lines[i - 1])[:SHOWN], 'No call begins it.')
                )
            continue
        name = ALIASES.get(found['name'], found['name'])
        parts = [found['rest']]
        if name == REASON:
            parts = _summary_lines(found['rest'], lines[i:])
            i += len(parts) - 1
        whole = one_line(f'{found["name"]}({" ".join(parts)}')[:SHOWN]
        body, bracket = _body(' '.join(parts), name)
        n_calls += 1
        if name not in functions:
            why = f'The functions are: {", ".join(functions)}.'
            discarded.append(RejectedLine(whole, why, refused=True))
        elif not bracket:
            discarded.append(RejectedLine(whole, 'Its bracket is not closed.'))
        elif n_calls > MAX_CALLS:
            why = f'At most {MAX_CALLS} calls are accepted.'
            discarded.append(RejectedLine(whole, why, refused=True))
            return
        else:
            yield name, body, whole


def _body(rest: str, name: str) -> tuple[str, str]:
    """Return what stands in the brackets, and the bracket that ends it, '' where there is none."""
    end = None if name == REASON else _QUOTED_END.search(rest)
    if end is not None:  # behind it a note may stand, with brackets of its own
        return rest[: end.start() + 1], ')'
    body, bracket, _ = rest.rpartition(')')
    return body, bracket


def _summary_lines(first: str, others: Sequence[str]) -> list[str]:
    """
    Return the lines of a summary; the last one ends with a bracket.

    It goes on until a line ends with the bracket, behind a quotation mark where one opened it.
    Where none does, it ends with the reply or before the next call.
    """
    quoted = first.lstrip()[:1] in tuple('"\'“‘')
    parts = [first]
    for line in others:
        if _closed(parts[-1], quoted) or _begins(line):
            break
        parts.append(line)
    if _closed(parts[-1], quoted):
        return parts
    end = _QUOTED_END.search(first) if quoted else None
    if end is not None:  # what stands behind it is a note
        return [first[: end.end()]]
    return [*parts[:-1], f'{parts[-1]})']


def _closed(line: str, quoted: bool) -> bool:
    line = line.rstrip(_END)
    if not quoted:
        return line.endswith(')')
    return line.endswith(')') and line[:-1].rstrip(' \t')[-1:] in tuple('"\'”’')


def _begins(line: str) -> bool:
    found = _BEGIN.fullmatch(line)
    return found is not None and ALIASES.get(found['name'], found['name']) in (ADD, REASON, UPDATE)


def _must_say_something(
    text: str, said: bool, discarded: list[RejectedLine], example: str
) -> None:
    if said or text.strip(' \t\r\n`*_.').lower() == 'none':
        return
    first = f' The line {discarded[0].text[:80]!r}: {discarded[0].why}' if discarded else ''
    raise LostReplyError(
        f'No call was found in {text.strip()[:80]!r}. Reply with lines such as `{example}`, or '
        f'with the word `none`.{first}',
        discarded,
    )
