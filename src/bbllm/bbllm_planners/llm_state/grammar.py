"""
The grammar of the replies of LLM-State's attention and state estimator.

    reply = "none" | call*              chatter is ignored, on lines of its own
    call  = "add_related_objects" "(" thing ("," thing)* ")"
          | ("update_reasoning" | "generate_summary") "(" text ")"
          | ("update_state" | "add_attribute") "(" thing "," [attribute ("|" attribute)*] ")"

Source: Chen et al., LLM-State, listings 1 to 4; the second names are those of the paper's text,
the first those of its prompts. A malformed call is discarded and reported. No text is ever
executed.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bbllm import events
from bbllm.planning import LostReplyError, one_line

ADD, REASON, UPDATE = 'add_related_objects', 'update_reasoning', 'update_state'
ALIASES: Mapping[str, str] = {'generate_summary': REASON, 'add_attribute': UPDATE}
MAX_ATTRIBUTES_LENGTH = 500
"""Maximum length of all attributes of one object [characters]."""
MAX_SUMMARY_LENGTH = 6000
"""A summary of 150 steps, the longest task of the paper, has some 40 for each [characters]."""
MAX_CALLS = 300
"""A house has about 200 objects; longer replies come from models that repeat themselves."""
SHOWN = 200
"""How much of a discarded call is reported [characters]."""

_BEGIN = re.compile(r'[\s>*_`-]*(?:\d{1,4}[.):]\s*)?(?P<name>[^\W\d]\w{0,60})\s*\((?P<rest>.*)')
_QUOTED_END = re.compile(r'["\'”’][ \t]*\)')
_NAMES = '|'.join((ADD, REASON, UPDATE, *ALIASES))
_NEXT_CALL = re.compile(rf'(?<=\))[ \t;,]*(?=(?:{_NAMES})\s*\()')
_HOLDS_CALL = re.compile(rf'\b(?:{_NAMES})\s*\(')
_BETWEEN = re.compile(r'\||(?<=["\'])\s*,\s*(?=["\'])')
"""Separates attributes: `hot | dry`, or `"hot", "dry"` as in a list."""
_END = ' \t\r`;.*'
_QUOTES = '"\'“”‘’` \t'


@dataclass(frozen=True, slots=True)
class StateEstimate:
    """A reply of a state estimator."""

    summary: str = ''
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Objects by the model's names, with all their attributes, in the reply's order."""
    discarded: tuple[events.LineDiscarded, ...] = ()


@dataclass(frozen=True, slots=True)
class Attention:
    """A reply of an attention."""

    objects: tuple[str, ...]
    """Objects by the model's names, in the reply's order."""
    discarded: tuple[events.LineDiscarded, ...] = ()


def parse_attention(text: str) -> Attention:
    """Parse which objects to add; raise LostReplyError without a call and without `none`."""
    objects: list[str] = []
    discarded: list[events.LineDiscarded] = []
    for name, body, whole in _calls(text, {ADD}, discarded):
        named = [word.strip(_QUOTES) for word in body.split(',')]
        if name != ADD or not all(named):
            discarded.append(events.LineDiscarded(whole, f'{ADD} takes the name of a thing.'))
        else:
            objects += named
    _refuse_no_call(text, bool(objects), discarded, f'{ADD}("cup1")')
    return Attention(tuple(objects), tuple(discarded))


def parse_estimate(text: str, functions: Collection[str] = (REASON, UPDATE)) -> StateEstimate:
    """Parse a summary and attributes by calls of `functions`, of which an ablation omits one."""
    summary = ''
    attributes: dict[str, tuple[str, ...]] = {}
    discarded: list[events.LineDiscarded] = []
    for name, body, whole in _calls(text, functions, discarded):
        if name == REASON:
            whole = one_line(body.strip(_QUOTES))
            summary, rest = whole[:MAX_SUMMARY_LENGTH], whole[MAX_SUMMARY_LENGTH:]
            if rest:
                why = f'It has {len(whole)} characters, of which {MAX_SUMMARY_LENGTH} are kept.'
                discarded.append(events.LineDiscarded(rest[:SHOWN], why, refused=True))
            continue
        item, words, why = _entry(body)
        if why:  # what is only too long could be read
            discarded.append(events.LineDiscarded(whole, why, refused=bool(item)))
        else:
            attributes[item] = words
    example = (
        'update_state("cup1", "in hand | hot")' if UPDATE in functions else f'{REASON}("...")'
    )
    _refuse_no_call(text, bool(summary or attributes), discarded, example)
    return StateEstimate(summary, tuple(attributes.items()), tuple(discarded))


def _entry(body: str) -> tuple[str, tuple[str, ...], str]:
    item, comma, rest = body.partition(',')
    item, rest = item.strip(_QUOTES), rest.strip(_QUOTES)
    if not comma or not item:
        return '', (), f'{UPDATE} takes a thing and its attributes.'
    if len(rest) > MAX_ATTRIBUTES_LENGTH:
        limit = f'at most {MAX_ATTRIBUTES_LENGTH} are accepted'
        return item, (), f'Its attributes have {len(rest)} characters; {limit}.'
    words = [one_line(word.strip(_QUOTES)) for word in _BETWEEN.split(rest.strip('[] '))]
    return item, tuple(word for word in words if word), ''


def _calls(
    text: str, functions: Collection[str], discarded: list[events.LineDiscarded]
) -> Iterator[tuple[str, str, str]]:
    """Yield the function of each call, the text in its brackets, and its beginning."""
    n_calls = 0
    lines = deque(_NEXT_CALL.sub('\n', text).splitlines())
    while lines:
        line = lines.popleft()
        if (found := _BEGIN.fullmatch(line)) is None:
            if _HOLDS_CALL.search(line):
                discarded.append(
                    events.LineDiscarded(one_line(line)[:SHOWN], 'No call begins it.')
                )
            continue
        name = ALIASES.get(found['name'], found['name'])
        parts = [found['rest']]
        if name == REASON:
            parts = _summary_lines(found['rest'], lines)
            for _ in parts[1:]:
                lines.popleft()
        whole = one_line(f'{found["name"]}({" ".join(parts)}')[:SHOWN]
        body, bracket = _body(' '.join(parts), name)
        n_calls += 1
        if name not in functions:
            why = f'The functions are: {", ".join(functions)}.'
            discarded.append(events.LineDiscarded(whole, why, refused=True))
        elif not bracket:
            discarded.append(events.LineDiscarded(whole, 'Its bracket is not closed.'))
        elif n_calls > MAX_CALLS:
            why = f'At most {MAX_CALLS} calls are accepted.'
            discarded.append(events.LineDiscarded(whole, why, refused=True))
            return
        else:
            yield name, body, whole


def _body(rest: str, name: str) -> tuple[str, str]:
    end = None if name == REASON else _QUOTED_END.search(rest)
    if end is not None:  # a note with brackets may follow
        return rest[: end.start() + 1], ')'
    body, bracket, _ = rest.rpartition(')')
    return body, bracket


def _summary_lines(first: str, others: Iterable[str]) -> list[str]:
    """
    Return the lines of a summary; the last one ends with a bracket.

    A line ends it with a bracket, behind a quotation mark if one opened it, else the next call.
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
    if end is not None:  # the rest is a note
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


def _refuse_no_call(
    text: str, found_any: bool, discarded: list[events.LineDiscarded], example: str
) -> None:
    has_none = any(line.strip(' \t`*_.').lower() == 'none' for line in text.splitlines())
    if found_any or (has_none and not discarded):
        return
    first = f' The line {discarded[0].text[:80]!r}: {discarded[0].why}' if discarded else ''
    raise LostReplyError(
        f'No call was found in {text.strip()[:80]!r}. Reply with lines such as `{example}`, or '
        f'with the word `none`.{first}',
        discarded,
    )
