"""
The grammar of low-level plans, and the calls that they stand for.

    plan = ["Low-level Action Plan:"] line*         empty below the heading: all is done
    line = [number ("." | ")" | ":")] (call [note] | "done" | "cannot:" reason)
    call = name "(" [object ("," object)*] ")"      an object in quotes or without
    note = any text in brackets or behind "#", but no second call in brackets

Source: Chen et al., LLM-State, section III-A and appendix VI-A. A line with a number, with a call
somewhere in it or with an action as its first word that is no such call is discarded and
reported, as in the paper; other lines are chatter. A heading with only chatter below it is no
plan, nor is `done` or `cannot:` beside lines that resemble actions.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.core.errors import GaveUpError
from bbllm.core.events import LineDiscarded
from bbllm.core.protocols import PASS, Pass
from bbllm.core.skill_calls import plain
from bbllm.core.types import Code, Scene, Skill, SkillCall
from bbllm.planners.common.observation_text import ShortNames
from bbllm.planners.common.reply_diagnostics import (
    LostReplyError,
    more_lines,
    reason_of,
    says_done,
)
from bbllm.planners.common.scene_graph import HOUSEHOLD

WAIT = 'wait'
HOUSE_ACTIONS: Mapping[str, str] = {
    **{'move': 'walk', 'pickup': 'grab', 'placein': 'putin', 'placeon': 'putback'},
    **{word: word for word in ('open', 'close', 'switchon', 'switchoff', 'sit', 'standup')},
}
"""The paper's names of VirtualHome's actions, and VirtualHome's own; the last two are not in the
paper, but tasks of other papers need them. `wait` has no effect there."""
MAX_LINES = 300
"""Longer replies come from models that repeat themselves."""
MAX_LINE = 400
"""Maximum length of a line with a call [characters]."""

_NUMBER = re.compile(r'[\s>*_`-]*(?P<number>\d{1,4}\s*[.):])?[\s*_`]*(?P<text>.*)')
_CALL = re.compile(r'(?P<name>[^\W\d]\w{0,60})\s*\((?P<args>[^()]*)\)[\s*_`;.,]*(?P<note>.*)')
_NOTE = re.compile(r'\(.*|#.*|--? .*|// .*')
_HOLDS_CALL = re.compile(r'([^\W\d]\w{0,60})\(')
_HEADING = re.compile(r'[#\s]*low-level action plan\b[\s*_`]*:?[\s*_`]*(.*)', re.IGNORECASE)
_FENCE = re.compile(r'\s*```\w*\s*')
_FIGURE = re.compile(r'[-+]?(\d+(\.\d+)?|\.\d+)')


@dataclass(frozen=True, slots=True)
class LowLevelPlan:
    """The calls of a reply; none if it states that all is done."""

    calls: tuple[SkillCall, ...]
    """By the model's names: `placein(cup1, cupboard1)`."""
    discarded: tuple[LineDiscarded, ...] = ()


def low_level_actions(scene: Scene) -> tuple[Skill, ...]:
    """Return the actions of a low-level plan: the paper's in a household, else the world's."""
    if scene.domain != HOUSEHOLD:
        return scene.skills
    there = {skill.name: skill for skill in scene.skills}
    known = [
        Skill(action, there[word].params, there[word].summary)
        for action, word in HOUSE_ACTIONS.items()
        if word in there
    ]
    return (*known, Skill(WAIT, (), 'Do nothing for a moment.'))


def action_forms(actions: Sequence[Skill]) -> list[str]:
    """Return the actions as prompts declare them, such as `placein(obj, target)`."""
    return [f'{skill.name}({", ".join(skill.params)})' for skill in actions]


def parse_low_level_plan(text: str, actions: Sequence[Skill]) -> LowLevelPlan:
    """
    Parse a plan of these actions; the lines behind a line `done` are discarded.

    Raises LostReplyError without a call and a clear end, GaveUpError for `cannot: <reason>`.
    """
    reader = _Reader(actions)
    lines = [line for line in text.splitlines() if line.strip() and not _FENCE.fullmatch(line)]
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
        self._discarded: list[LineDiscarded] = []
        self._reason = ''
        self._headed = self._chatted = self._ended = False
        self._meant = False
        """Whether a discarded line names an action, and is not only an item of a list."""

    def take(self, raw: str) -> bool:
        """Read a line; return whether the plan continues."""
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
        if isinstance(call, SkillCall):
            self._calls.append(call)
        elif reason := reason_of(line):
            if self._calls or self._reason:  # a reply with calls is a plan all the same
                why = 'A plan that has calls is carried out; `cannot: ` stands alone.'
                self._discarded.append(LineDiscarded(raw.strip()[:MAX_LINE], why))
            else:
                self._reason = reason
        elif numbered or self._names_action(line):
            self._discarded.append(replace(call, text=raw.strip()[:MAX_LINE]))
            self._meant = self._meant or self._names_action(line)
        else:
            self._chatted = True
        return True

    def close(self, n_more: int) -> LowLevelPlan:
        """Return the plan, given the number of unread lines that resemble actions."""
        if n_more:
            what = 'a line `done`' if self._ended else f'line {MAX_LINES}'
            self._discarded.append(LineDiscarded(more_lines(n_more), f'Left out behind {what}.'))
        found, example = tuple(self._discarded), _example(self._actions)
        first = f' The line {found[0].text[:80]!r}: {found[0].why}' if found else ''
        said = '`cannot: `' if self._reason else '`done`' if self._ended else ''
        if not self._calls and said and (self._meant or (self._ended and n_more)):
            raise LostReplyError(
                f'The reply says {said}, and has lines that look like actions as well. Where '
                f'something is to be done, reply with actions alone, such as `1. '
                f'{example}`; else with the line {said} alone.{first}',
                found,
            )
        if self._reason and not self._calls:
            raise GaveUpError(self._reason)
        empty = self._ended or (self._headed and not self._chatted and not found)
        if not self._calls and not empty:
            raise LostReplyError(
                f'No action was found. Each line of a plan is one, such as `1. {example}`; where '
                'nothing is left to do, reply with the line `done`, and where it cannot be done, '
                f'with `cannot: ` and why.{first}',
                found,
            )
        return LowLevelPlan(tuple(self._calls), found)

    def resembles_action(self, raw: str) -> bool:
        """Return whether a line is reported if it is discarded."""
        numbered, line = _bare(raw)
        return numbered or self._names_action(line)

    def _names_action(self, line: str) -> bool:
        first = re.match(r'\w+', line[:MAX_LINE])
        if first is not None and plain(first[0]) in self._words:
            return True
        return bool(_HOLDS_CALL.search(line[:MAX_LINE]) or _CALL.match(line))


def _bare(raw: str) -> tuple[bool, str]:
    found = _NUMBER.fullmatch(raw)
    return (bool(found['number']), found['text'].strip()) if found else (False, '')


def read_call(line: str, actions: Sequence[Skill]) -> SkillCall | LineDiscarded:
    """Return the call of a line without its number, or why it is none."""
    found = _CALL.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None or (found['note'] and not _NOTE.fullmatch(found['note'])):
        return LineDiscarded(line, f'It is no call such as {_example(actions)}.')
    if _has_call(found['note'], actions):
        return LineDiscarded(line, 'It has more than one call; each stands on a line of its own.')
    wanted = plain(found['name'])
    skill = next((s for s in actions if wanted in (s.name, *map(plain, s.aliases))), None)
    if skill is None:
        known = ', '.join(item.name for item in actions)
        why = f'There is no action {found["name"]}. Known: {known}.'
        return LineDiscarded(line, why, code=Code.UNKNOWN_SKILL)
    args = tuple(arg.strip(' \t\'"`‘’“”') for arg in found['args'].split(','))
    args = () if args == ('',) else args
    if len(args) > 1 and len(skill.params) == 1 and all(map(_FIGURE.fullmatch, args)):
        args = (' '.join(args),)  # a pose in numbers is one argument
    if len(args) != len(skill.params) or not all(args):
        why = f'{skill.name} takes {len(skill.params)} things, but this has {len(args)}.'
        return LineDiscarded(line, why, code=Code.BAD_ARGUMENTS)
    return SkillCall(skill.name, args)


def _has_call(note: str, actions: Sequence[Skill]) -> bool:
    """Return whether a note contains another call; text behind `#` or `//` is a comment."""
    known = _words(actions)
    return not note.startswith(('#', '//')) and any(
        plain(found[1]) in known for found in _HOLDS_CALL.finditer(note)
    )


def _words(actions: Sequence[Skill]) -> set[str]:
    return {plain(word) for skill in actions for word in (skill.name, *skill.aliases)}


def in_world(call: SkillCall, scene: Scene, names: ShortNames) -> SkillCall | Pass:
    """Return a call with the world's names if it has them; PASS for a `wait` in a household."""
    in_house = scene.domain == HOUSEHOLD
    if in_house and call.skill == WAIT:
        return PASS
    skill = HOUSE_ACTIONS.get(call.skill, call.skill) if in_house else call.skill
    return SkillCall(skill, tuple(names.name(arg) or arg for arg in call.args))


def as_planned(call: SkillCall, names: ShortNames, *, in_house: bool) -> SkillCall:
    """Return a call of the world as a low-level plan writes it; the inverse of `in_world`."""
    words = {skill: action for action, skill in HOUSE_ACTIONS.items()} if in_house else {}
    return SkillCall(words.get(call.skill, call.skill), tuple(map(names.short, call.args)))


def _example(actions: Sequence[Skill]) -> str:
    return next(iter(action_forms(actions)), 'open(fridge1)')
