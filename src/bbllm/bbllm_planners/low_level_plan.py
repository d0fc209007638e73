"""
The grammar of low-level plans, and the calls that they stand for.

    plan   = ["Low-level Action Plan:"] line*       empty below the heading: all is done
    line   = [number] (call [note] | "done" | "cannot:" reason)
    number = ["Step"] digits ("." | ")" | ":")
    call   = ["["] [word "."] name "(" [object ("," object)*] ")" ["]"]
    object = in quotes or without
    note   = any text behind one of ( # // - -- – — : , ; -> => →, but no second call in brackets

Source: Chen et al., LLM-State, section III-A and appendix VI-A. A line with a number, with a call
somewhere in it or with an action as its first word that is no such call ends the plan, and is
reported: what follows it relies on it. In the paper such a line is left out. Other lines are
chatter, as is all above the heading. A heading with only chatter below it is no plan, nor is
`done` or `cannot:` beside lines that resemble actions, nor are two plans. A call that is written
a third time in a row ends the plan, too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbllm import Skill, SkillCall, errors, events
from bbllm.planning import Code, LostReplyError, is_done_line, plain, reason_of

MAX_LINES = 300
"""Longer replies come from models that repeat themselves."""
MAX_LINE = 400
"""Maximum length of a line with a call [characters]."""
MAX_REPEATS = 2
"""How often in a row a plan may have one call on an object; nothing needs more."""

PUT = 'put'
PUTS = frozenset({PUT, 'place'})
"""Words that may mean `placein` or `placeon`; the place decides."""

_NUMBER = re.compile(
    r'[\s>*_`"-]*(?:(?:step\s*)?(?P<number>\d{1,4})\s*[.):])?[\s*_`"]*(?P<text>.*)', re.IGNORECASE
)
_CALL = re.compile(
    r'\[?\s*(?:\w{1,60}\.)?(?P<name>[^\W\d]\w{0,60})\s*\((?P<args>[^()]*)\)'
    r'[\s*_`".\]]*(?P<note>.*)'
)
_NOTE = re.compile(r'(?:[(#:,;–—→]|//|[-=]>|--? ).*')
_HOLDS_CALL = re.compile(r'([^\W\d]\w{0,60})\(')
_HEADING = re.compile(r'[#\s]*low-level action plan\b[\s*_`]*:?[\s*_`]*(.*)', re.IGNORECASE)
_FENCE = re.compile(r'\s*```\w*\s*')
_FIGURE = re.compile(r'[-+]?(\d+(\.\d+)?|\.\d+)')


@dataclass(frozen=True, slots=True)
class LowLevelPlan:
    """The calls of a reply; none if it states that all is done."""

    calls: tuple[SkillCall, ...]
    """By the model's names: `placein(cup1, cupboard1)`."""
    discarded: tuple[events.LineDiscarded, ...] = ()
    unread: events.LineDiscarded | None = None
    """The discarded line that ended the plan."""


def more_lines(number: int) -> str:
    return '1 more line' if number == 1 else f'{number} more lines'


def action_forms(actions: Sequence[Skill], *, documented: bool = False) -> list[str]:
    """
    Return the actions as prompts declare them, such as `placein(obj, target)`.

    *documented* ones have what they do and the units of their arguments.
    """
    forms = [f'{skill.name}({", ".join(skill.params)})' for skill in actions]
    if not documented:
        return forms
    return [f'{form}: {skill.summary}' for form, skill in zip(forms, actions, strict=True)]


def parse_low_level_plan(text: str, actions: Sequence[Skill]) -> LowLevelPlan:
    """
    Parse a plan of these actions, up to a line `done` or the first line that is no such action.

    Raises:
        LostReplyError: There is neither a call nor a clear end, or there are two plans.
        GaveUpError: The reply is `cannot: <reason>`.
    """
    reader = _Reader(actions)
    lines = [line for line in text.splitlines() if line.strip() and not _FENCE.fullmatch(line)]
    begins = [i for i, line in enumerate(lines) if _HEADING.fullmatch(_bare(line)[1])]
    lines = lines[begins[0] :] if begins else lines
    kept = iter(lines[:MAX_LINES])
    for raw in kept:
        if not reader.take(raw):
            break
    n_more = sum(map(reader.resembles_action, [*kept, *lines[MAX_LINES:]]))
    return reader.close(n_more)


class _Reader:
    def __init__(self, actions: Sequence[Skill]):
        self._actions = actions
        self._words = _words(actions)
        self._calls: list[SkillCall] = []
        self._discarded: list[events.LineDiscarded] = []
        self._unread: events.LineDiscarded | None = None
        self._reason = ''
        self._n_left_out = 0
        """How many lines that resemble actions stand behind the unread line."""
        self._headed = self._chatted = self._ended = False
        self._number = 0
        """The number of the latest line that has one."""
        self._meant = False
        """Whether a discarded line names an action, and is not only an item of a list."""

    def take(self, raw: str) -> bool:
        """Read a line; return whether the plan continues."""
        number, line = _bare(raw)
        heading = _HEADING.fullmatch(line)
        if heading:
            self._begin(again=self._headed)
            self._headed, self._chatted = True, False
            number, line = _bare(heading[1])
            if not line:
                return True
        if number == 1 < self._number:
            self._begin(again=True)
        self._number = self._number if number is None else number
        if is_done_line(line) and not (self._calls and line.startswith('#')):
            self._ended = True
            return False
        call = read_call(line, self._actions)
        if isinstance(call, SkillCall):
            self._add(call, raw)
        elif reason := reason_of(line):
            if self._calls or self._reason:  # a reply with calls is a plan all the same
                why = 'A plan that has calls is carried out; `cannot: ` stands alone.'
                self._discarded.append(events.LineDiscarded(raw.strip()[:MAX_LINE], why))
            else:
                self._reason = reason
        elif number is not None or self._names_action(line):
            self._meant = self._meant or self._names_action(line)
            self._discard(raw, call.why, call.code)
        else:
            self._chatted = True
        return True

    def _begin(self, *, again: bool) -> None:
        """Begin the plan anew; raise LostReplyError if an earlier one of the reply has calls."""
        if again and self._calls:
            raise LostReplyError(
                'The reply has two plans, and only one can be carried out. Reply with one, '
                f'whose lines are actions such as `1. {_example(self._actions)}`.'
            )
        self._unread = None

    def _add(self, call: SkillCall, raw: str) -> None:
        if self._unread:
            self._n_left_out += 1
            self._meant = True
        elif call.args and self._calls[-MAX_REPEATS:] == [call] * MAX_REPEATS:
            self._discard(raw, f'It stands there more than {MAX_REPEATS} times in a row.')
        else:
            self._calls.append(call)

    def _discard(self, raw: str, why: str, code: Code | None = None) -> None:
        if self._unread:
            self._n_left_out += 1
            return
        line = events.LineDiscarded(raw.strip()[:MAX_LINE], why, code=code)
        self._discarded.append(line)
        self._unread = line

    def close(self, n_more: int) -> LowLevelPlan:
        """Return the plan, given how many lines that resemble actions were not taken."""
        if n_left_out := n_more + self._n_left_out:
            what = 'a line `done`' if self._ended else f'line {MAX_LINES}'
            what = f'the line {self._unread.text[:80]!r}' if self._unread else what
            why = f'Left out behind {what}.'
            self._discarded.append(events.LineDiscarded(more_lines(n_left_out), why))
        found, example = tuple(self._discarded), _example(self._actions)
        first = f' The line {found[0].text[:80]!r}: {found[0].why}' if found else ''
        ending = '`cannot: `' if self._reason else '`done`' if self._ended else ''
        if not self._calls and ending and (self._meant or (self._ended and n_more)):
            raise LostReplyError(
                f'The reply says {ending}, and has lines that look like actions as well. Where '
                f'something is to be done, reply with actions alone, such as `1. '
                f'{example}`; else with the line {ending} alone.{first}',
                found,
            )
        if self._reason and not self._calls:
            raise errors.GaveUpError(self._reason)
        empty = self._ended or (self._headed and not self._chatted and not found)
        if not self._calls and not empty:
            raise LostReplyError(
                f'No action was found. Each line of a plan is one, such as `1. {example}`; where '
                'nothing is left to do, reply with the line `done`, and where it cannot be done, '
                f'with `cannot: ` and why.{first}',
                found,
            )
        return LowLevelPlan(tuple(self._calls), found, self._unread)

    def resembles_action(self, raw: str) -> bool:
        """Return whether a line is reported if it is discarded."""
        number, line = _bare(raw)
        return number is not None or self._names_action(line)

    def _names_action(self, line: str) -> bool:
        first = re.match(r'\w+', line[:MAX_LINE])
        if first is not None and plain(first[0]) in self._words:
            return True
        return bool(_HOLDS_CALL.search(line[:MAX_LINE]) or _CALL.match(line))


def _bare(raw: str) -> tuple[int | None, str]:
    """Return the number of a line, None if it has none, and its text."""
    found = _NUMBER.fullmatch(raw)
    if found is None:
        return None, ''
    return int(found['number']) if found['number'] else None, found['text'].strip()


def read_call(line: str, actions: Sequence[Skill]) -> SkillCall | events.LineDiscarded:
    """Return the call of a line without its number, or why it is none."""
    found = _CALL.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None or (found['note'] and not _NOTE.fullmatch(found['note'])):
        return events.LineDiscarded(line, f'It is no call such as {_example(actions)}.')
    if _has_call(found['note'], actions):
        return events.LineDiscarded(
            line, 'It has more than one call; each stands on a line of its own.'
        )
    wanted = plain(found['name'])
    skill = next((s for s in actions if wanted in (s.name, *map(plain, s.aliases))), None)
    if skill is None and wanted in PUTS:
        placing = next((s for s in actions if s.name == 'placeon'), None)
        skill = replace(placing, name=PUT) if placing else None
    if skill is None:
        known = ', '.join(item.name for item in actions)
        why = f'There is no action {found["name"]}. Known: {known}.'
        return events.LineDiscarded(line, why, code=Code.UNKNOWN_SKILL)
    args = tuple(arg.strip(' \t\'"`‘’“”<>[]') for arg in found['args'].split(','))
    args = () if args == ('',) else args
    if len(args) > 1 and len(skill.params) == 1 and all(map(_FIGURE.fullmatch, args)):
        args = (' '.join(args),)  # a pose in numbers is one argument
    if len(args) != len(skill.params) or not all(args):
        why = f'{skill.name} takes {len(skill.params)} things, but this has {len(args)}.'
        return events.LineDiscarded(line, why, code=Code.BAD_ARGUMENTS)
    return SkillCall(skill.name, args)


def _has_call(note: str, actions: Sequence[Skill]) -> bool:
    """Return whether a note contains another call; text behind `#` or `//` is a comment."""
    known = _words(actions)
    return not note.startswith(('#', '//')) and any(
        plain(found[1]) in known for found in _HOLDS_CALL.finditer(note)
    )


def _words(actions: Sequence[Skill]) -> set[str]:
    return {plain(word) for skill in actions for word in (skill.name, *skill.aliases)}


def _example(actions: Sequence[Skill]) -> str:
    return next(iter(action_forms(actions)), 'open(fridge1)')
