"""
The grammar of FLTRNN's replies: lists of sub-goals, and plans of calls on things with numbers.

    sub-goals = {"subgoal" "{" goal "}"}         in round words: `subgoal{on_milk_table: 1}`
    plan      = {line}
    line      = call | "#" text | "def" name "():"
    call      = verb "(" [thing {"," thing}] ")"
    thing     = "'" class "(id:" number ")" "'"

Both may be one line `cannot: <reason>` instead. It looks like Python, and none is ever executed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instances import class_of, id_of, instance_name
from bbllm.core.types import SkillCall

MAX_CALLS = 200
"""A longer plan is a model that repeats itself."""
MAX_LINE = 500
"""Longest line [characters]."""
MAX_SUB_GOALS = 40
"""A longer list is a model that repeats itself; the paper's tasks have ten at most."""
MAX_TOLD = 200
"""How much of a line that was left out is told [characters]."""

_THING = r"""\s*['"]?([^\W\d]\w*)\s*\(\s*id\s*:\s*(\d{1,9})\s*\)['"]?\s*"""
_CALL = re.compile(rf'([a-z]\w*)\s*\(\s*((?:{_THING}(?:,{_THING})*)?)\)\s*;?\s*(?:#.*)?')
_THINGS = re.compile(_THING)
_CALL_LIKE = re.compile(r'^[a-z]\w*\s*\(')
_HEADER = re.compile(r'def\s+\w+\s*\(\s*\)\s*:')
_SUB_GOAL = re.compile(r'subgoal\s*(?:\{([^{}]*)\}|\[([^\[\]]*)\])', re.IGNORECASE)
_CANNOT = re.compile(r'[#>*\s]*cannot[*_` ]*:\s*(.+)', re.IGNORECASE)
_FENCE = re.compile(r'\s*```')
_END = re.compile(r'#\s*done\b\W*', re.IGNORECASE)
FORM = (
    "calls such as `putin('milk(id:21)', 'fridge(id:5)')`, one a line, `# done` at the end, and "
    'comments with `#` between them'
)
SUB_GOALS_FORM = '`subgoal{on_milk_kitchentable: 1}, subgoal{turnon_tv: 1}`'


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """What a reply says is to be done."""

    calls: tuple[SkillCall, ...]
    """In the names of scenes; none where nothing is left to do."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Lines that are nothing of the grammar, and why."""


def shown(name: str) -> str:
    """Write a thing as FLTRNN's prompts do: `milk_21` as `milk(id:21)`."""
    number = id_of(name)
    return name if number is None else f'{class_of(name)}(id:{number})'


def parse_thing(text: str) -> str | None:
    """Return the name in scenes of what `shown` wrote; None where it is nothing of the kind."""
    found = _THINGS.fullmatch(text)
    return instance_name(found[1], int(found[2])) if found else None


def parse_calls(text: str) -> ParsedPlan:
    """
    Read a plan.

    Raises:
        ParseError: No call, and no `# done` either; or more than MAX_CALLS.
        GaveUpError: The line `cannot: <reason>` in place of a plan.
    """
    calls: list[SkillCall] = []
    left_out: list[tuple[str, str]] = []
    begun = ended = False
    for raw in text.splitlines():
        line = raw.strip()
        if _HEADER.fullmatch(line):
            if begun and calls:
                break  # goes on with a task of its own making
            begun = True
        elif not calls and (reason := _CANNOT.fullmatch(line)):
            raise GaveUpError(reason[1][:1000])
        elif _END.fullmatch(line):
            ended = True
            break
        elif len(line) > MAX_LINE:
            left_out.append((line[:MAX_TOLD], f'it has {len(line)} characters, of {MAX_LINE}'))
        elif found := _CALL.fullmatch(line):
            calls.append(_call(found))
        elif _CALL_LIKE.match(line):
            left_out.append((line[:MAX_TOLD], f'it cannot be read as a call; a plan is {FORM}'))
    if not calls and not ended:
        raise ParseError(f'There is no call in the reply. A plan is {FORM}.')
    if len(calls) > MAX_CALLS:
        raise ParseError(f'The plan has {len(calls)} calls; at most {MAX_CALLS} are accepted.')
    return ParsedPlan(tuple(calls), tuple(left_out))


def parse_sub_goals(text: str) -> tuple[str, ...]:
    """
    Read a list of sub-goals, each as it is written.

    Raises:
        ParseError: None, or more than MAX_SUB_GOALS.
        GaveUpError: The line `cannot: <reason>` in place of a list.
    """
    found = [
        ' '.join((braced or squared).split()).strip(' ,')
        for braced, squared in _SUB_GOAL.findall(text)
    ]
    texts = [item for item in found if item]
    if not texts:
        for line in text.splitlines():
            if reason := _CANNOT.fullmatch(line.strip()):
                raise GaveUpError(reason[1][:1000])
        raise ParseError(f'There is no sub-goal in the reply. They are written {SUB_GOALS_FORM}.')
    if len(texts) > MAX_SUB_GOALS:
        raise ParseError(
            f'The reply has {len(texts)} sub-goals; at most {MAX_SUB_GOALS} are accepted.'
        )
    return tuple(texts)


def _call(found: re.Match[str]) -> SkillCall:
    things = [instance_name(word, int(number)) for word, number in _THINGS.findall(found[2])]
    # As in the published program: there is nothing to find where everything is in sight.
    verb = 'walk' if found[1] == 'find' else found[1]
    return SkillCall(verb, tuple(things))
