"""
The grammar of FLTRNN's replies: lists of sub-goals, and plans of calls on numbered objects.

    sub-goals = {"subgoal" "{" goal "}"}         in round words: `subgoal{on_milk_table: 1}`
    plan      = {line}
    line      = [number "." | "-" | "*"] call | "#" text | "def" name "():"
    call      = verb "(" [thing {"," thing}] ")"
    thing     = "'" class "(id:" number ")" "'"

Both may be one line `cannot: <reason>` instead. No text is ever executed: a call in a branch, a
loop, a helper function or a string is no call of the plan, because only Python could decide
whether it is reached. Prose between the lines is ignored; other lines that resemble calls are
discarded, and reported. A call that is written a third time in a row ends the plan, as does the
head of a second function.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bbllm import ChatModel, EpisodeContext, SkillCall, errors, events
from bbllm.planning import (
    LostReplyError,
    PromptRequest,
    ReplyDiagnostics,
    ask,
    class_of,
    id_of,
    instance_name,
    meant_by,
    reason_of,
    refuse_if_impossible,
)

MAX_CALLS = 200
"""Longer plans come from models that repeat themselves."""
MAX_LINE = 500
"""Maximum length of a line [characters]."""
MAX_SUB_GOALS = 40
"""Longer lists come from models that repeat themselves; the paper's tasks have ten at most."""
MAX_REPEATS = 2
"""How often in a row a plan may have one call; nothing needs more."""
MAX_REPORTED = 200
"""How much of a discarded line is reported [characters]."""

_OBJECT = r"""\s*['"]?([^\W\d]\w*)\s*\(\s*id\s*:\s*(\d{1,9})\s*\)['"]?\s*"""
_CALL = re.compile(rf'([a-z]\w*)\s*\(\s*((?:{_OBJECT}(?:,{_OBJECT})*)?)\)\s*;?\s*(?:#.*)?')
_OBJECTS = re.compile(_OBJECT)
_MARK = re.compile(r'(?:\d{1,4}[.)]|[-*])\s+')
_CALL_LIKE = re.compile(r'[a-z]\w*\s*\(|[^#]*?\b\w+\((?!\s*id\s*:)')
_WITHOUT_IDS = re.compile(r'^[\W\d]*[a-z]\w*\s*\((.*)\)')
_ARGUMENT = re.compile(r"""(['"]?)([^\W\d][\w ]*)\1""")
_HEADER = re.compile(r'def\s+(\w+)\s*\(\s*\)\s*:')
_BLOCK = re.compile(
    r'(?:async\s+)?(?:if|elif|else|for|while|def|class|with|try|except|finally|match|case)\b[^#]*:(?!\s*\d)'
)
_STRING = re.compile(r'"{3}|\'{3}')
_SUB_GOAL = re.compile(r'subgoal\s*(?:\{([^{}]*)\}|\[([^\[\]]*)\])', re.IGNORECASE)
_END = re.compile(r'#\s*done\b\W*', re.IGNORECASE)
MEANT_LISTED = 5
"""How many objects a reason lists that a word without an id may mean."""
FORM = (
    "calls such as `putin('milk(id:21)', 'fridge(id:5)')`, one a line, `# done` at the end, and "
    'comments with `#` between them'
)
SUB_GOALS_FORM = '`subgoal{on_milk_kitchentable: 1}, subgoal{turnon_tv: 1}`'


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """A parsed plan."""

    calls: tuple[SkillCall, ...]
    """By the names of scenes; empty if all is done."""
    discarded: tuple[events.LineDiscarded, ...] = ()


def shown(name: str) -> str:
    """Return an object as FLTRNN's prompts write it: `milk_21` as `milk(id:21)`."""
    number = id_of(name)
    return name if number is None else f'{class_of(name)}(id:{number})'


def parse_object(text: str) -> str | None:
    """Return the name in scenes of an object that `shown` wrote, None for other text."""
    found = _OBJECTS.fullmatch(text)
    return instance_name(found[1], int(found[2])) if found else None


def shown_call(call: SkillCall) -> str:
    """Return a call as FLTRNN's plans write it: `putin('milk(id:21)', 'fridge(id:5)')`."""
    return f'{call.skill}({", ".join(repr(shown(name)) for name in call.args)})'


def parse_calls(text: str, names: Collection[str] = ()) -> ParsedPlan:
    """
    Parse a plan; raise GaveUpError for the line `cannot: <reason>` in place of one.

    Args:
        text: The reply.
        names: Objects of the scene, for the reasons why lines cannot be read.

    Raises:
        LostReplyError: No call, and no `# done` either, or discarded lines beside it.
        ParseError: More than MAX_CALLS.
    """
    lines = _Lines(text, names)
    if not lines.calls and lines.cannot:
        raise errors.GaveUpError(lines.cannot)
    if not lines.calls and (lines.discarded or not lines.ended):
        raise LostReplyError(
            f'There is no call in the reply. {_reason(lines.discarded)}', lines.discarded
        )
    if len(lines.calls) > MAX_CALLS:
        raise errors.ParseError(
            f'The plan has {len(lines.calls)} calls; at most {MAX_CALLS} are accepted.'
        )
    return ParsedPlan(tuple(lines.calls), tuple(lines.discarded))


def _reason(discarded: Sequence[events.LineDiscarded]) -> str:
    """Return why the first of some lines cannot be used, and the form of a plan."""
    if not discarded:
        return f'A plan is {FORM}.'
    more = f' {len(discarded) - 1} more lines cannot be used either.' if discarded[1:] else ''
    return f'The line `{discarded[0].text}`: {discarded[0].why}.{more}'


class _Lines:
    """Reads the lines of a reply to the end of its plan."""

    def __init__(self, text: str, names: Collection[str]):
        self._names = names
        self.calls: list[SkillCall] = []
        self.discarded: list[events.LineDiscarded] = []
        self.cannot = ''
        self.ended = False
        self._block: int | None = None
        """Indentation of the head of the current block."""
        self._in_string = self._begun = False
        heads = [found[1] for line in text.splitlines() if (found := _HEADER.match(line.strip()))]
        self._name = 'task' if 'task' in heads else next(iter(heads), '')
        for raw in text.splitlines():
            if not self._read(raw.expandtabs()):
                break

    def _read(self, raw: str) -> bool:
        line = raw.strip()[: MAX_LINE + 1] if self._in_string else raw.strip()
        indent = len(raw) - len(raw.lstrip())
        turns = len(_STRING.findall(line[:MAX_LINE])) % 2 == 1
        if turns or self._in_string:
            self._in_string = self._in_string != turns
            if not line.startswith('#') and _CALL_LIKE.match(line):
                self._discard(line, in_block=True)
        elif self._block is not None and (not line or indent > self._block):
            if line and not line.startswith('#'):
                self._discard(line, in_block=True)
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
            self.discarded.append(events.LineDiscarded(line[:MAX_REPORTED], why))
        elif head := _HEADER.fullmatch(line):
            if self._begun and self.calls:
                return False  # continues with an invented task
            if self._name == head[1]:
                self._begun = True
            else:
                self._block = indent
        elif found := _CALL.fullmatch(bare):
            objects = _OBJECTS.findall(found[2])
            # As in the published program: where all is in sight, no search is needed.
            verb = 'walk' if found[1] == 'find' else found[1]
            call = SkillCall(verb, tuple(instance_name(w, int(n)) for w, n in objects))
            if self.calls[-MAX_REPEATS:] == [call] * MAX_REPEATS:
                why = f'it stands there more than {MAX_REPEATS} times in a row'
                self.discarded.append(events.LineDiscarded(line[:MAX_REPORTED], why))
                return False
            self.calls.append(call)
        elif reason := reason_of(line):
            self.cannot = self.cannot or reason
        elif _BLOCK.match(line):
            self._block = indent
            self._discard(line, in_block=True)
        elif not line.startswith('#') and _CALL_LIKE.match(bare):
            self._discard(line)
        return True

    def _discard(self, line: str, *, in_block: bool = False) -> None:
        what = 'it stands in a block' if in_block else self._lack(line)
        self.discarded.append(
            events.LineDiscarded(line[:MAX_REPORTED], f'{what}; a plan is {FORM}')
        )

    def _lack(self, line: str) -> str:
        """Return what keeps a line from being a call."""
        found = _WITHOUT_IDS.search(line[:MAX_LINE])
        for text in found[1].split(',') if found else ():
            if not (word := _ARGUMENT.fullmatch(text.strip())):
                continue
            known = [shown(name) for name in meant_by(word[2], self._names)[:MEANT_LISTED]]
            if known:
                return f'{word[2]} has no id; it is written {" or ".join(known)}'
            return f'nothing that is told of is named {word[2]}, and things have an id'
        return 'it cannot be read as a call'


def parse_sub_goals(text: str) -> tuple[str, ...]:
    found = (' '.join((a or b).split()).strip(' ,') for a, b in _SUB_GOAL.findall(text))
    texts = tuple(filter(None, found))
    if not texts:
        refuse_if_impossible(text.splitlines())
        raise errors.ParseError(
            f'There is no sub-goal in the reply. They are written {SUB_GOALS_FORM}.'
        )
    if len(texts) > MAX_SUB_GOALS:
        raise errors.ParseError(
            f'The reply has {len(texts)} sub-goals; at most {MAX_SUB_GOALS} are accepted.'
        )
    return texts


def ask_plan(
    model: ChatModel,
    prompt: str,
    context: EpisodeContext,
    request: PromptRequest,
    judge: Callable[[ParsedPlan], tuple[Sequence[events.LineDiscarded], str]] = lambda plan: (
        (),
        '',
    ),
) -> ParsedPlan:
    """
    Ask for a plan, and once more if the reply cannot be used as it is.

    If the second reply has the same faults, the result is its plan without these lines. `judge`
    returns the refused calls of a plan, and the objection to them for the model, '' for none.

    Raises:
        LostReplyError: The last reply had discarded lines, and no call.
        ParseError: Neither reply had a call.
    """
    latest: list[ParsedPlan | LostReplyError] = []
    names = request.scene.names if request.scene else ()
    diagnostics = ReplyDiagnostics(context.emit)

    def read(text: str) -> ParsedPlan:
        try:
            plan = parse_calls(text, names)
        except LostReplyError as error:
            if error.discarded:
                latest.append(error)
            diagnostics.of_reply(error.discarded)
            raise
        latest.append(plan)
        refused, objection = judge(plan)
        diagnostics.of_reply([*plan.discarded, *refused])
        if plan.discarded or objection:
            why = [_reason(plan.discarded)] if plan.discarded else []
            raise errors.ParseError(' '.join([*why, *([objection] if objection else [])]))
        return plan

    try:
        return ask(model, prompt, read, request=request, on_retry=context.warn, person=context)
    except errors.ParseError as error:
        if not latest:
            raise
        if isinstance(latest[-1], LostReplyError):
            raise LostReplyError(str(error), latest[-1].discarded) from error
        return latest[-1]
