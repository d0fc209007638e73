"""
The grammar of FLTRNN's replies: lists of sub-goals, and plans of calls on things with numbers.

    sub-goals = {"subgoal" "{" goal "}"}         in round words: `subgoal{on_milk_table: 1}`
    plan      = {line}
    line      = [number "." | "-" | "*"] call | "#" text | "def" name "():"
    call      = verb "(" [thing {"," thing}] ")"
    thing     = "'" class "(id:" number ")" "'"

Both may be one line `cannot: <reason>` instead. It looks like Python, and none is ever executed:
what stands in a branch, a loop, a helper function or a string is no call of the plan, whatever it
looks like, for nobody works out whether Python would come to it. Prose between the lines is no
fault; what has the form of a call and is none of these is left out, and told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instance_names import class_of, id_of, instance_name
from bbllm.core.protocols import ChatModel, EpisodeContext, PromptRequest
from bbllm.core.types import SkillCall
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import RejectedLine, ReplyDiagnostics, reason_of

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
_MARK = re.compile(r'(?:\d{1,4}[.)]|[-*])\s+')
_CALL_LIKE = re.compile(r'[a-z]\w*\s*\(|[^#]*?\b\w+\((?!\s*id\s*:)')
_HEADER = re.compile(r'def\s+(\w+)\s*\(\s*\)\s*:')
_BLOCK = re.compile(
    r'(?:async\s+)?(?:if|elif|else|for|while|def|class|with|try|except|finally|match|case)\b[^#]*:(?!\s*\d)'
)
_STRING = re.compile(r'"{3}|\'{3}')
_SUB_GOAL = re.compile(r'subgoal\s*(?:\{([^{}]*)\}|\[([^\[\]]*)\])', re.IGNORECASE)
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
    has_blocks: bool = False
    """Whether some of those are branches, loops, helpers or strings with calls in them."""


class LostPlanError(ParseError):
    """
    No line of a plan is of the grammar.

    Args:
        message: As of a ParseError.
        left_out: The lines that look as if they were meant to be.
    """

    def __init__(self, message: str, left_out: tuple[tuple[str, str], ...]):
        super().__init__(message)
        self.left_out = left_out


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
        LostPlanError: No call, and no `# done` either, or lines that were left out beside it.
        ParseError: More than MAX_CALLS.
        GaveUpError: The line `cannot: <reason>` in place of a plan.
    """
    lines = _Lines(text)
    if not lines.calls and lines.cannot:
        raise GaveUpError(lines.cannot)
    left_out = tuple(lines.left_out)
    if not lines.calls and (left_out or not lines.ended):
        raise LostPlanError(f'There is no call in the reply. A plan is {FORM}.', left_out)
    if len(lines.calls) > MAX_CALLS:
        raise ParseError(
            f'The plan has {len(lines.calls)} calls; at most {MAX_CALLS} are accepted.'
        )
    return ParsedPlan(tuple(lines.calls), left_out, lines.has_blocks)


class _Lines:
    """What is on the lines of a reply, read from the first to where its plan ends."""

    def __init__(self, text: str):
        self.calls: list[SkillCall] = []
        self.left_out: list[tuple[str, str]] = []
        self.cannot = ''
        self.ended = self.has_blocks = False
        self._block: int | None = None
        """How far the head of the block is indented in which the reading is."""
        self._in_string = self._begun = False
        heads = [found[1] for line in text.splitlines() if (found := _HEADER.match(line.strip()))]
        self._name = 'task' if 'task' in heads else next(iter(heads), '')
        for raw in text.splitlines():
            if not self._read(raw.expandtabs()):
                break

    def _read(self, raw: str) -> bool:
        """Read a line; return whether the plan goes on behind it."""
        line = raw.strip()[: MAX_LINE + 1] if self._in_string else raw.strip()
        indent = len(raw) - len(raw.lstrip())
        if len(_STRING.findall(line[:MAX_LINE])) % 2:
            self._in_string = not self._in_string
            self._leave_out_if_call(line)
        elif self._in_string:
            self._leave_out_if_call(line)
        elif self._block is not None and (not line or indent > self._block):
            if line and not line.startswith('#'):
                self._leave_out(line, in_block=True)
        else:
            self._block = None
            return self._outside(line, indent)
        return True

    def _outside(self, line: str, indent: int) -> bool:
        bare = _MARK.sub('', line, count=1) if _MARK.match(line) else line
        if _END.fullmatch(line):
            self.ended = True
            return False
        if len(line) > MAX_LINE:
            why = f'it has {len(line)} characters, of {MAX_LINE}'
            self.left_out.append((line[:MAX_TOLD], why))
        elif head := _HEADER.fullmatch(line):
            if self._begun and self.calls:
                return False  # goes on with a task of its own making
            if self._name == head[1]:
                self._begun = True
            else:
                self._block = indent
        elif found := _CALL.fullmatch(bare):
            self.calls.append(_call(found))
        elif reason := reason_of(line):
            self.cannot = self.cannot or reason
        elif _BLOCK.match(line):
            self._block = indent
            self._leave_out(line, in_block=True)
        elif not line.startswith('#') and _CALL_LIKE.match(bare):
            self._leave_out(line)
        return True

    def _leave_out_if_call(self, line: str) -> None:
        if not line.startswith('#') and _CALL_LIKE.match(line):
            self._leave_out(line, in_block=True)

    def _leave_out(self, line: str, *, in_block: bool = False) -> None:
        self.has_blocks |= in_block
        what = 'it stands in a block' if in_block else 'it cannot be read as a call'
        self.left_out.append((line[:MAX_TOLD], f'{what}; a plan is {FORM}'))


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
            if reason := reason_of(line):
                raise GaveUpError(reason)
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


def ask_plan(
    model: ChatModel,
    prompt: str,
    context: EpisodeContext,
    *,
    request: PromptRequest,
    refusals: Callable[[ParsedPlan], Sequence[RejectedLine]] = lambda plan: (),
    against: Callable[[Sequence[RejectedLine]], str] = lambda refused: '',
) -> ParsedPlan:
    """
    Ask for a plan, and once more where the reply cannot be used as it is.

    Each line that is left out and each call that is refused is told as discarded, those of the
    first reply too; what the second repeats is not told again. A second reply with the same
    faults is a plan without these lines.

    Args:
        model: Who is asked.
        prompt: What it is asked.
        context: Is told.
        request: See `prompting.ask`.
        refusals: Tells which calls of a plan are refused.
        against: Tells what is to be said to the model against these, '' where nothing is.

    Raises:
        LostPlanError: The last reply had lines that should be calls, and none was.
        ParseError: Neither reply had any.
        GaveUpError: The model says that it cannot be done.
        ModelError: No reply.
    """
    latest: list[ParsedPlan | LostPlanError] = []
    left_out = ReplyDiagnostics(lambda line: line.tell(context))

    def read(text: str) -> ParsedPlan:
        try:
            plan = parse_calls(text)
        except LostPlanError as error:
            if error.left_out:
                latest.append(error)
            left_out.of_reply(_malformed(error.left_out))
            raise
        latest.append(plan)
        refused = refusals(plan)
        left_out.of_reply([*_malformed(plan.left_out), *refused])
        if plan.has_blocks:
            raise ParseError(
                f'Lines stand in a block, and none of these is done. A plan is {FORM}.'
            )
        if why := against(refused):
            raise ParseError(why)
        return plan

    try:
        return ask(model, prompt, read, request=request, on_retry=context.warn)
    except ParseError as error:
        if not latest:
            raise
        if isinstance(latest[-1], LostPlanError):
            raise LostPlanError(str(error), latest[-1].left_out) from error
        return latest[-1]


def _malformed(left_out: Sequence[tuple[str, str]]) -> list[RejectedLine]:
    return [RejectedLine(text, why) for text, why in left_out]
