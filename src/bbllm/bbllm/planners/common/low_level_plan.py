"""
The grammar of low-level plans, and what its calls are in the world.

    plan = ["Low-level Action Plan:"] line*         with nothing below it, it says that all is done
    line = [number ("." | ")" | ":")] (call [note] | "done" | "cannot:" reason)
    call = name "(" [thing ("," thing)*] ")"        a thing in quotes or without
    note = whatever stands in brackets or behind "#", such as (assuming there is one), but no
           second call in brackets

Source: Chen et al., LLM-State, section III-A and appendix VI-A. A line with a number, with a call
somewhere in it or with an action as its first word that is no such call is left out and told, as
in the paper; other lines are chatter. A heading with nothing but chatter below it is no plan, and
nor is `done` or `cannot:` in place of calls beside lines that look like actions: it may be a
heading of a part, `# Done (so far)`. Between calls `# done` is a remark.
Nothing here is ever executed as code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.core.errors import GaveUpError
from bbllm.core.protocols import PASS, Pass
from bbllm.core.skill_calls import plain
from bbllm.core.types import Code, Scene, Skill, SkillCall
from bbllm.planners.common.reply_diagnostics import (
    LostReplyError,
    RejectedLine,
    more_lines,
    reason_of,
    says_done,
)
from bbllm.planners.common.scene_graph import HOUSEHOLD
from bbllm.planners.common.short_names import ShortNames

WAIT = 'wait'
HOUSE_ACTIONS: Mapping[str, str] = {
    'move': 'walk',
    'pickup': 'grab',
    'placein': 'putin',
    'placeon': 'putback',
    'open': 'open',
    'close': 'close',
    'switchon': 'switchon',
    'switchoff': 'switchoff',
    'sit': 'sit',
    'standup': 'standup',
}
"""What the paper calls VirtualHome's actions, and VirtualHome's names; the last two are not the
paper's, but some tasks of other papers ask for them. `wait` does nothing there."""
MAX_LINES = 300
"""A longer reply is a model that repeats itself."""
MAX_LINE = 400
"""Longest line that may hold a call [characters]."""

_NUMBER = re.compile(r'[\s>*_`-]*(?P<number>\d{1,4}\s*[.):])?[\s*_`]*(?P<text>.*)')
_CALL = re.compile(r'(?P<name>[^\W\d]\w{0,60})\s*\((?P<args>[^()]*)\)[\s*_`;.,]*(?P<note>.*)')
_NOTE = re.compile(r'\(.*|#.*|--? .*|// .*')
_HOLDS_CALL = re.compile(r'([^\W\d]\w{0,60})\(')
_HEADING = re.compile(r'[#\s]*low-level action plan\b[\s*_`]*:?[\s*_`]*(.*)', re.IGNORECASE)
_FENCE = re.compile(r'\s*```\w*\s*')
_FIGURE = re.compile(r'[-+]?\d*\.?\d+')


@dataclass(frozen=True, slots=True)
class LowLevelCall:
    """An action and things, as the model names them: `placein(cup1, cupboard1)`."""

    action: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f'{self.action}({", ".join(self.args)})'


@dataclass(frozen=True, slots=True)
class LowLevelPlan:
    """What a reply asks for; without calls where it says that all is done."""

    calls: tuple[LowLevelCall, ...]
    discarded: tuple[RejectedLine, ...] = ()


def low_level_actions(scene: Scene) -> tuple[Skill, ...]:
    """Return the actions of a low-level plan: in a household the paper's, else the world's own."""
    if scene.domain != HOUSEHOLD:
        return scene.skills
    there = {skill.name: skill for skill in scene.skills}
    known = [
        Skill(action, there[word].params, there[word].summary)
        for action, word in HOUSE_ACTIONS.items()
        if word in there
    ]
    return (*known, Skill(WAIT, (), 'Do nothing for a moment.'))


def parse_low_level_plan(text: str, actions: Sequence[Skill]) -> LowLevelPlan:
    """
    Read a plan; what stands behind a line `done` is left out, in one.

    Args:
        text: The reply.
        actions: What can be called, and with how many things.

    Raises:
        LostReplyError: No line is a call, and nothing says clearly that all is done or cannot
            be; says what would be accepted.
        GaveUpError: The line `cannot: <reason>` in place of calls.
    """
    reader = _Reader(actions)
    lines = [line for line in text.splitlines() if line.strip() and not _FENCE.fullmatch(line)]
    kept = iter(lines[:MAX_LINES])
    for raw in kept:
        if not reader.take(raw):
            break
    n_more = sum(map(reader.looks_like_action, [*kept, *lines[MAX_LINES:]]))
    return reader.close(n_more)


class _Reader:
    """Takes a plan line by line."""

    def __init__(self, actions: Sequence[Skill]):
        self._actions = actions
        self._words = {plain(word) for skill in actions for word in (skill.name, *skill.aliases)}
        self._calls: list[LowLevelCall] = []
        self._discarded: list[RejectedLine] = []
        self._reason = ''
        self._headed = self._chatted = self._ended = False
        self._meant = False
        """Whether a line that was left out names an action, and is not just an item of a list."""

    def take(self, raw: str) -> bool:
        """Take a line; False where the plan ends with it."""
        numbered, line = _bare(raw)
        if heading := _HEADING.fullmatch(line):
            self._headed, self._chatted = True, False
            numbered, line = _bare(heading[1])
            if not line:
                return True
        if says_done(line) and not (self._calls and line.startswith('#')):
            self._ended = True
            return False
        call = read_call(line, self._actions)
        if isinstance(call, LowLevelCall):
            self._calls.append(call)
        elif reason := reason_of(line):
            self._refuse(reason, raw)
        elif numbered or self._names_action(line):
            self._discarded.append(replace(call, text=raw.strip()[:MAX_LINE]))
            self._meant = self._meant or self._names_action(line)
        else:
            self._chatted = True
        return True

    def close(self, n_more: int) -> LowLevelPlan:
        """Return the plan, where so many more lines that look like actions are left out."""
        if n_more:
            what = 'a line `done`' if self._ended else f'line {MAX_LINES}'
            self._discarded.append(RejectedLine(more_lines(n_more), f'Left out behind {what}.'))
        if not self._calls and (self._meant or (self._ended and n_more)):
            self._refuse_both()
        if self._reason and not self._calls:
            raise GaveUpError(self._reason)
        empty = self._ended or (self._headed and not self._chatted and not self._discarded)
        if not self._calls and not empty:
            raise LostReplyError(
                'No action was found. Each line of a plan is one, such as `1. '
                f'{_example(self._actions)}`; where nothing is left to do, reply with the line '
                f'`done`, and where it cannot be done, with `cannot: ` and why.'
                f'{_first(self._discarded)}',
                self._discarded,
            )
        return LowLevelPlan(tuple(self._calls), tuple(self._discarded))

    def _refuse_both(self) -> None:
        """Refuse what says that there is nothing to do beside lines that look like actions."""
        said = '`cannot: `' if self._reason else '`done`' if self._ended else ''
        if said:
            raise LostReplyError(
                f'The reply says {said}, and has lines that look like actions as well. Where '
                f'something is to be done, reply with actions alone, such as `1. '
                f'{_example(self._actions)}`; else with the line {said} alone.'
                f'{_first(self._discarded)}',
                self._discarded,
            )

    def looks_like_action(self, raw: str) -> bool:
        """Return whether a line is to be told where it is left out."""
        numbered, line = _bare(raw)
        return numbered or self._names_action(line)

    def _names_action(self, line: str) -> bool:
        first = re.match(r'\w+', line[:MAX_LINE])
        by_word = first is not None and plain(first[0]) in self._words
        return (
            by_word or _HOLDS_CALL.search(line[:MAX_LINE]) is not None or bool(_CALL.match(line))
        )

    def _refuse(self, reason: str, raw: str) -> None:
        """Keep why it cannot be done; what has calls before it or behind it is a plan."""
        if not self._calls and not self._reason:
            self._reason = reason
        else:
            why = 'A plan that has calls is carried out; `cannot: ` stands alone.'
            self._discarded.append(RejectedLine(raw.strip()[:MAX_LINE], why))


def _bare(raw: str) -> tuple[bool, str]:
    """Return whether a line has a number, and what it says without."""
    found = _NUMBER.fullmatch(raw)
    return (bool(found['number']), found['text'].strip()) if found else (False, '')


def read_call(line: str, actions: Sequence[Skill]) -> LowLevelCall | RejectedLine:
    """Return the call that a line without its number says, or why it says none."""
    found = _CALL.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None or (found['note'] and not _NOTE.fullmatch(found['note'])):
        return RejectedLine(line, f'It is no call such as {_example(actions)}.')
    if _has_call(found['note'], actions):
        return RejectedLine(line, 'It has more than one call; each stands on a line of its own.')
    wanted = plain(found['name'])
    skill = next((s for s in actions if wanted in (s.name, *map(plain, s.aliases))), None)
    if skill is None:
        known = ', '.join(item.name for item in actions)
        why = f'There is no action {found["name"]}. Known: {known}.'
        return RejectedLine(line, why, Code.UNKNOWN_SKILL)
    args = tuple(arg.strip(' \t\'"`‘’“”') for arg in found['args'].split(','))
    args = () if args == ('',) else args
    if len(args) > 1 and len(skill.params) == 1 and all(map(_FIGURE.fullmatch, args)):
        args = (' '.join(args),)  # a pose in numbers is one argument
    if len(args) != len(skill.params) or not all(args):
        why = f'{skill.name} takes {len(skill.params)} things, but this has {len(args)}.'
        return RejectedLine(line, why, Code.BAD_ARGUMENTS)
    return LowLevelCall(skill.name, args)


def _has_call(note: str, actions: Sequence[Skill]) -> bool:
    """Whether a note has another call; what is behind `#` or `//` is a remark on this one."""
    if note.startswith(('#', '//')):
        return False
    known = {word for skill in actions for word in (skill.name, *map(plain, skill.aliases))}
    return any(plain(found[1]) in known for found in _HOLDS_CALL.finditer(note))


def in_world(call: LowLevelCall, scene: Scene, names: ShortNames) -> SkillCall | Pass:
    """
    Return a call with the world's names, PASS where there is nothing to do.

    A thing that nobody has seen stays as it was said, so that the world refuses the call: in the
    paper too such a call is tried, and fails.
    """
    in_house = scene.domain == HOUSEHOLD
    if in_house and call.action == WAIT:
        return PASS
    skill = HOUSE_ACTIONS.get(call.action, call.action) if in_house else call.action
    return SkillCall(skill, tuple(names.name(arg) or arg for arg in call.args))


def as_planned(call: SkillCall, names: ShortNames, *, in_house: bool) -> LowLevelCall:
    """Return a call of the world as a low-level plan says it; the inverse of `in_world`."""
    words = {skill: action for action, skill in HOUSE_ACTIONS.items()} if in_house else {}
    return LowLevelCall(words.get(call.skill, call.skill), tuple(map(names.short, call.args)))


def _example(actions: Sequence[Skill]) -> str:
    if not actions:
        return 'open(fridge1)'
    return f'{actions[0].name}({", ".join(actions[0].params)})'


def _first(discarded: Sequence[RejectedLine]) -> str:
    return f' The line {discarded[0].text[:80]!r}: {discarded[0].why}' if discarded else ''
