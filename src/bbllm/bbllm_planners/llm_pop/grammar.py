"""
The grammar of replies of LLM-POP's planner and evaluator; no text is ever executed.

A planner's reply:

    EXPLAIN
    Both have to be weighed.
    EXECUTE
    ACTION PICK red_cube
    ACTION PLACE [0.45 0.10 0.02 1 0 0 0]
    ACTION RESET

Without an evaluator it may have DONE in place of actions; or it is one line `cannot: <reason>`.
An evaluator's reply is SUCCESS or FAIL, alone on a line, and below it the reason. Markdown around
lines and chatter before the first label are ignored, but not text between the actions.
"""

import math
import re
from dataclasses import dataclass
from enum import Enum

from bbllm import SkillCall, errors
from bbllm.planning import one_line, refuse_if_impossible

MAX_ACTIONS = 50
"""Longer rounds come from models that repeat themselves."""
MAX_LINE = 300
"""Maximum length of an action [characters]."""
MAX_WORDS = 2000
"""Maximum length of an explanation or a reason; the rest is cut [characters]."""
WAIT_S = '1'
"""Duration of a WAIT [s]."""
POSE_FORM = '[x y z qx qy qz qw], for example [0.45 -0.1 0.05 1 0 0 0]'
KNOWN = (
    'The actions are PICK <object>, PLACE <pose>, REACH <pose>, RESET and WAIT, with a pose like '
    f'{POSE_FORM}.'
)

_BEFORE = ' \t>*_`-•'
_AFTER = ' \t*_`'
_FENCE = re.compile(r'\s*(?:```|~~~)')
_EXPLAIN = re.compile(r'EXPLAIN[*_` ]*(?::[*_` ]*(.*))?', re.IGNORECASE)
_EXECUTE = re.compile(r'EXECUTE[*_` ]*:?', re.IGNORECASE)
_ACTION = re.compile(
    r'(?:\d{1,3}[.):]\s*)?(?:ACTION(?:\s+\d{1,3})?\s*:?[*_` ]+)?([A-Za-z]\w*)\b\s*(.*)',
    re.IGNORECASE,
)
_COMMENT = re.compile(r'\s*(?://|#).*')
_VERDICT = re.compile(r'(SUCCESS|FAIL)[*_` ]*(?:[.:!–—-][*_` ]*(.*))?', re.IGNORECASE)


class Verb(Enum):
    """The kind of an action; the value is its skill."""

    PICK = 'pick'
    PLACE = 'place'
    REACH = 'reach'
    RESET = 'return_to_base'
    WAIT = 'wait'


@dataclass(frozen=True, slots=True)
class PopAction:
    """One action of a plan."""

    verb: Verb
    argument: str = ''
    """Name of an object, or the numbers of a pose separated by spaces; else empty."""

    def __str__(self) -> str:
        if self.verb in _WITH_POSE:
            return f'{self.verb.name} [{self.argument}]'
        return f'{self.verb.name} {self.argument}'.rstrip()

    @property
    def call(self) -> SkillCall:
        """The call of the action; its object is not checked."""
        if self.verb is Verb.WAIT:
            return SkillCall(self.verb.value, (WAIT_S,))
        return SkillCall(self.verb.value, (self.argument,) if self.argument else ())

    @property
    def problem(self) -> str:
        """
        Why its pose is not seven numbers; empty if it is.

        Skills also take poses of three and four numbers, but those are of the object.
        """
        if self.verb not in _WITH_POSE:
            return ''
        numbers = self.argument.split()
        what = 'is no list of numbers'
        if all(map(_is_number, numbers)):
            if len(numbers) == 7:
                return ''
            what = f'has {len(numbers)} numbers'
        return (
            f'{self} {what}, but {self.verb.name} takes a pose of seven for the end effector: '
            f'{POSE_FORM}.'
        )


_WITH_POSE = frozenset({Verb.PLACE, Verb.REACH})


@dataclass(frozen=True, slots=True)
class PlannerReply:
    """A reply of the planner."""

    explanation: str
    """On one line."""
    actions: tuple[PopAction, ...]
    """Empty if the task is done."""


def parse_planner(text: str, *, may_end: bool) -> PlannerReply:
    """
    Parse a reply of the planner, which may have DONE in place of actions if `may_end`.

    Raises ParseError, GaveUpError for the line `cannot: <reason>` in place of a plan.
    """
    lines = [line.lstrip(_BEFORE).rstrip(_AFTER) for line in text.splitlines()]
    marks = [i for i, line in enumerate(lines) if _EXECUTE.fullmatch(line)]
    if not marks:
        refuse_if_impossible(lines)
        raise errors.ParseError(
            'There is no line EXECUTE. The reply must be a line EXPLAIN with a few words below '
            f'it, then a line EXECUTE, then lines like `ACTION PICK <object>`. {KNOWN}'
        )
    if len(marks) > 1:
        raise errors.ParseError('EXECUTE stands there more than once. Give one plan only.')
    fenceless = [line for line in text.splitlines()[marks[0] + 1 :] if not _FENCE.match(line)]
    actions, done = _read_actions(fenceless)
    if not actions and not (done and may_end):
        rather = 'the evaluator says the task is not done'
        if may_end:
            rather = 'or DONE where the task is done'
        raise errors.ParseError(
            f'No action stands below EXECUTE: write at least one, {rather}. {KNOWN}'
        )
    return PlannerReply(_explanation(lines[: marks[0]]), actions)


def parse_evaluator(text: str) -> tuple[bool, str]:
    """Return whether the task is done, and on one line why, not empty if it is not."""
    lines = [line.lstrip(_BEFORE).rstrip(_AFTER) for line in text.splitlines()]
    found = [(i, match) for i, line in enumerate(lines) if (match := _VERDICT.fullmatch(line))]
    verdicts = {match[1].upper() for _, match in found}
    if len(verdicts) != 1:
        what = 'Both SUCCESS and FAIL stand' if verdicts else 'Neither SUCCESS nor FAIL stands'
        raise errors.ParseError(
            f'{what} alone on a line. The first line must be one of them, and the second the '
            'reason.'
        )
    first, match = found[0]
    reason = one_line(' '.join([match[2] or '', *lines[first + 1 :]]))[:MAX_WORDS]
    success = verdicts == {'SUCCESS'}
    if not success and not reason:
        raise errors.ParseError(
            'FAIL stands there without a reason. Say below it, in one line, what is known and '
            'what is missing.'
        )
    return success, reason


def _explanation(lines: list[str]) -> str:
    for i, line in enumerate(lines):
        if match := _EXPLAIN.fullmatch(line):
            lines = [match[1] or '', *lines[i + 1 :]]
            break
    return one_line(' '.join(lines))[:MAX_WORDS]


def _read_actions(lines: list[str]) -> tuple[tuple[PopAction, ...], bool]:
    """Return the actions, and whether DONE ended them; later lines are ignored."""
    actions: list[PopAction] = []
    for raw in lines:
        line = _COMMENT.sub('', raw).lstrip(_BEFORE).rstrip(_AFTER + '.;')
        if not line:
            continue
        if len(line) > MAX_LINE:
            raise errors.ParseError(
                f'A line below EXECUTE has {len(line)} characters, but an action has at most '
                f'{MAX_LINE}.'
            )
        match = _ACTION.fullmatch(line)
        if match is not None and match[1].upper() == 'DONE' and not match[2]:
            return tuple(actions), True
        if len(actions) == MAX_ACTIONS:
            raise errors.ParseError(
                f'There are more than {MAX_ACTIONS} actions. Write a shorter plan.'
            )
        actions.append(_action(line, match))
    return tuple(actions), False


def _action(line: str, match: re.Match[str] | None) -> PopAction:
    name = match[1].upper() if match is not None else ''
    if match is None or name not in Verb.__members__:
        raise errors.ParseError(f'{line[:80]!r} stands below EXECUTE and is no action. {KNOWN}')
    verb, rest = Verb[name], match[2].strip()
    if re.search(r'\bACTION\b', rest, re.IGNORECASE):
        raise errors.ParseError(f'{line[:80]!r} holds two actions. Put each on a line of its own.')
    if verb in (Verb.RESET, Verb.WAIT):
        if rest:
            raise errors.ParseError(f'{line[:80]!r}: {name} takes nothing behind it. {KNOWN}')
        return PopAction(verb)
    if verb in _WITH_POSE:
        inside = re.fullmatch(r'[\[(<]([^\[\]()<>]*)[\])>]', rest)
        rest = (inside[1] if inside else rest).replace(',', ' ')
    else:
        rest = rest.strip('<>[]()\'"')
    if not rest.split():
        raise errors.ParseError(f'{line[:80]!r} lacks what {name} needs. {KNOWN}')
    return PopAction(verb, one_line(rest))


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
