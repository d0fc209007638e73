"""
The grammar of low-level plans, and what its calls are in the world.

    plan = ["Low-level Action Plan:"] line*         with nothing below it, it says that all is done
    line = [number ("." | ")" | ":")] (call [note] | "done" | "cannot:" reason)
    call = name "(" [thing ("," thing)*] ")"        a thing in quotes or without
    note = whatever stands in brackets or behind "#", such as (assuming there is one)

Source: Chen et al., LLM-State, section III-A and appendix VI-A. A line with a number or with
brackets that is no such call is left out and told, as in the paper; other lines are chatter.
Nothing here is ever executed as code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.core.calls import plain
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.protocols import PASS, Pass
from bbllm.core.types import Code, Scene, Skill, SkillCall
from bbllm.planners.short_names import ShortNames
from bbllm.planners.surroundings import HOUSEHOLD

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
_HEADING = re.compile(r'low-level action plan\b', re.IGNORECASE)
_DONE = re.compile(r'(?:all )?done\b\s*(?:\(\s*\))?[\s.!`*]*', re.IGNORECASE)
_CANNOT = re.compile(r'cannot\s*:\s*(.+)', re.IGNORECASE)
_FIGURE = re.compile(r'[-+]?\d*\.?\d+')


@dataclass(frozen=True, slots=True)
class Discarded:
    """A line of a reply that was left out."""

    text: str
    why: str
    code: Code | None = None
    """Of a line that is an action: what is wrong with its call."""


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
    discarded: tuple[Discarded, ...] = ()


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
    Read a plan; what stands behind a line `done` is left out.

    Args:
        text: The reply.
        actions: What can be called, and with how many things.

    Raises:
        ParseError: No line is a call, and none says `done`; says what would be accepted.
        GaveUpError: The line `cannot: <reason>` in place of calls.
    """
    calls: list[LowLevelCall] = []
    discarded: list[Discarded] = []
    ended = headed = False
    lines = [line for line in text.splitlines() if line.strip()]
    for raw in lines[:MAX_LINES]:
        found = _NUMBER.fullmatch(raw)
        line = found['text'].strip() if found else ''
        if not calls and (reason := _CANNOT.fullmatch(line)):
            raise GaveUpError(reason[1].strip()[:1000])
        if len(line) <= MAX_LINE and _DONE.fullmatch(line):
            ended = True
            break
        headed = headed or _HEADING.match(line) is not None
        read = read_call(line, actions)
        if isinstance(read, LowLevelCall):
            calls.append(read)
        elif (found and found['number']) or _CALL.match(line):
            discarded.append(replace(read, text=raw.strip()[:MAX_LINE]))
    if not calls and not ended and (discarded or not headed):
        raise ParseError(
            'No action was found. Each line of a plan is one, such as `1. '
            f'{_example(actions)}`; where nothing is left to do, reply with the line `done`, and '
            f'where it cannot be done, with `cannot: ` and why.{_first(discarded)}'
        )
    return LowLevelPlan(tuple(calls), tuple(discarded))


def read_call(line: str, actions: Sequence[Skill]) -> LowLevelCall | Discarded:
    """Return the call that a line without its number says, or why it says none."""
    found = _CALL.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None or (found['note'] and not _NOTE.fullmatch(found['note'])):
        return Discarded(line, f'It is no call such as {_example(actions)}.')
    wanted = plain(found['name'])
    skill = next((s for s in actions if wanted in (s.name, *map(plain, s.aliases))), None)
    if skill is None:
        known = ', '.join(item.name for item in actions)
        why = f'There is no action {found["name"]}. Known: {known}.'
        return Discarded(line, why, Code.UNKNOWN_SKILL)
    args = tuple(arg.strip(' \t\'"`‘’“”') for arg in found['args'].split(','))
    args = () if args == ('',) else args
    if len(args) > 1 and len(skill.params) == 1 and all(map(_FIGURE.fullmatch, args)):
        args = (' '.join(args),)  # a pose in numbers is one argument
    if len(args) != len(skill.params) or not all(args):
        why = f'{skill.name} takes {len(skill.params)} things, but this has {len(args)}.'
        return Discarded(line, why, Code.BAD_ARGUMENTS)
    return LowLevelCall(skill.name, args)


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


def _first(discarded: Sequence[Discarded]) -> str:
    return f' The line {discarded[0].text[:80]!r}: {discarded[0].why}' if discarded else ''
