"""
The grammar of the replies of a fine-tuned model; no text is ever executed.

    EXPLAIN: Both have to be weighed.
    ACTION: [pick('red_cube'), place('red_cube', [0.45, 0.1, 0.032], [1, 0, 0, 0]), reset()]

Without actions the second line is `ACTION: <nooutput>`. Further actions are
`reach([x, y, z], [qx, qy, qz, qw])` and `wait()`, and `grasp` is another word for `pick`. A pose
is that of the end effector in the world frame, also for `place`, in metres; in the examples of the
paper's appendix A.6 it is that of the block.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import cast

from bbllm import SkillCall, errors
from bbllm.planning import Seven, one_line, refuse_if_impossible
from bbllm_planners.llm_pop.grammar import MAX_ACTIONS, MAX_WORDS, WAIT_S, Verb

NO_OUTPUT = '<nooutput>'
"""Stands for no actions in a reply."""
KNOWN = (
    "The actions are pick('<block>'), place('<block>', [x, y, z], [qx, qy, qz, qw]), "
    'reach([x, y, z], [qx, qy, qz, qw]), reset() and wait().'
)

REPLY_FORM = (
    'The reply to this question is two lines: `EXPLAIN: ` and what the actions are for, then '
    f'`ACTION: ` and a list such as [reset(), wait()], or {NO_OUTPUT} where nothing is left to '
    'do.'
)
SOME_FORM = (
    'The reply to this question is two lines: `EXPLAIN: ` and what the actions are for, then '
    '`ACTION: ` and a list such as [reset(), wait()], with one action or more.'
)
ENOUGH_FORM = (
    'The reply to this question is two lines: `EXPLAIN: Yes. ` or `EXPLAIN: No. ` and why, then '
    f'`ACTION: {NO_OUTPUT}`, for actions are asked for next.'
)
"""The whole reply that a question wants, at its end and at that of each refusal."""

_WORDS = {**{verb.name.lower(): verb for verb in Verb}, 'grasp': Verb.PICK}
_BEFORE = ' \t>*_`'
_AFTER = ' \t*_`'
_FENCE = re.compile(r'\s*(?:```|~~~)')
_EXPLAIN = re.compile(r'EXPLAIN[*_` ]*:[*_` ]*(.*)', re.IGNORECASE)
_ACTIONS = re.compile(r'ACTIONS?[*_` ]*:[*_` ]*(.*)', re.IGNORECASE)
_CALL = re.compile(r'\s*([A-Za-z_]\w*)\s*\(([^()]{0,400})\)\s*')
_ARGUMENT = re.compile(r'\s*(?:([\'"]?)([A-Za-z_][\w -]{0,80})\1|\[([^\[\]]*)\])\s*')
_ANSWER = re.compile(r'(yes|no)\b', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FtAction:
    """One action of a reply."""

    verb: Verb
    name: str = ''
    """The block to pick, or the block in the hand for `place`, where it may be empty."""
    pose: Seven | None = None
    """Of the end effector, for `place` and `reach`: x y z qx qy qz qw, as written."""

    def __str__(self) -> str:
        parts = [f"'{self.name}'"] if self.name else []
        if self.pose is not None:
            parts += [vector(self.pose[:3]), vector(self.pose[3:])]
        return f'{self.verb.name.lower()}({", ".join(parts)})'

    @property
    def call(self) -> SkillCall:
        """The call of the action; its object is not checked."""
        if self.verb is Verb.WAIT:
            return SkillCall(self.verb.value, (WAIT_S,))
        if self.pose is not None:
            return SkillCall(self.verb.value, (' '.join(map(_number, self.pose)),))
        return SkillCall(self.verb.value, (self.name,) if self.name else ())


@dataclass(frozen=True, slots=True)
class FtReply:
    """A reply of the model."""

    explanation: str
    """On one line."""
    actions: tuple[FtAction, ...] = ()

    def __str__(self) -> str:
        actions = listed(self.actions) if self.actions else NO_OUTPUT
        return f'EXPLAIN: {self.explanation}\nACTION: {actions}'

    @property
    def enough(self) -> bool:
        return self.explanation[:3].lower() == 'yes'


def parse_reply(text: str) -> FtReply:
    """Parse a reply; raise ParseError with what is accepted, GaveUpError for `cannot: ...`."""
    with _ending_in(KNOWN, REPLY_FORM):
        return _read(text)


def parse_enough(text: str) -> FtReply:
    """Parse as `parse_reply` a reply that must begin with Yes or No and have no actions."""
    with _ending_in(ENOUGH_FORM):
        reply = _read(text)
        if not _ANSWER.match(reply.explanation):
            raise errors.ParseError(
                'The words after EXPLAIN must begin with Yes or No, but are '
                f'{reply.explanation[:80]!r}.'
            )
        if reply.actions:
            raise errors.ParseError('There are actions, but this question wants none yet.')
        return reply


def parse_some(text: str) -> FtReply:
    """Parse as `parse_reply` a reply that must have actions."""
    with _ending_in(KNOWN, SOME_FORM):
        reply = _read(text)
        if not reply.actions:
            raise errors.ParseError('There are no actions, but this question wants at least one.')
        return reply


@contextmanager
def _ending_in(*sentences: str) -> Iterator[None]:
    try:
        yield
    except errors.ParseError as error:
        raise errors.ParseError(' '.join([str(error), *sentences])) from error


def _read(text: str) -> FtReply:
    unfenced = (line for line in text.splitlines() if not _FENCE.match(line))
    lines = [line.lstrip(_BEFORE).rstrip(_AFTER) for line in unfenced]
    heads = [(i, found[1]) for i, line in enumerate(lines) if (found := _EXPLAIN.match(line))]
    bodies = [(i, found[1]) for i, line in enumerate(lines) if (found := _ACTIONS.match(line))]
    if not heads and not bodies:
        refuse_if_impossible(map(one_line, lines))
    if len(heads) != 1 or len(bodies) != 1 or heads[0][0] > bodies[0][0]:
        raise errors.ParseError(
            f'There are {len(heads)} lines `EXPLAIN: ` and {len(bodies)} lines `ACTION: `, not '
            'one of the first and below it one of the second.'
        )
    (head, words), (body, rest) = heads[0], bodies[0]
    explanation = one_line(' '.join([words, *lines[head + 1 : body]]))
    rest = ' '.join([rest, *lines[body + 1 :]]).strip().rstrip('.')
    actions = () if rest.lower() == NO_OUTPUT else parse_actions(rest)
    return FtReply(explanation[:MAX_WORDS], actions)


def parse_actions(text: str) -> tuple[FtAction, ...]:
    """Parse a list of actions in brackets, which may be empty; raise ParseError otherwise."""
    if not (text.startswith('[') and text.endswith(']')):
        raise errors.ParseError(f'{text[:80]!r} is no list of actions in brackets.')
    inside, actions, at = text[1:-1], [], 0
    while at < len(inside) and inside[at:].strip():
        call = _CALL.match(inside, at)
        if call is None:
            raise errors.ParseError(f'{inside[at : at + 80]!r} is no action.')
        actions.append(_action(call[1], call[2]))
        at = call.end()
        if at < len(inside) and inside[at] != ',':
            raise errors.ParseError(f'A comma is missing before {inside[at : at + 80]!r}.')
        at += 1
    if len(actions) > MAX_ACTIONS:
        raise errors.ParseError(
            f'There are more than {MAX_ACTIONS} actions. Write a shorter plan.'
        )
    return tuple(actions)


def listed(actions: Sequence[FtAction]) -> str:
    return f'[{", ".join(map(str, actions))}]'


def vector(values: Sequence[float]) -> str:
    """Return the numbers of an action, to a tenth of a millimetre."""
    return f'[{", ".join(map(_number, values))}]'


def _action(word: str, text: str) -> FtAction:
    verb = _WORDS.get(word.lower())
    if verb is None:
        raise errors.ParseError(f'{word[:40]!r} is no action.')
    names, vectors = _arguments(word, text)
    lengths = [len(values) for values in vectors]
    if verb in (Verb.PLACE, Verb.REACH):
        if lengths != [3, 4] or len(names) > (verb is Verb.PLACE):
            raise errors.ParseError(
                f'{word}({text[:120]}) needs a position of 3 numbers and a quaternion of 4, but '
                f'has {" and ".join(map(str, lengths)) or "none"}.'
            )
        pose = cast(Seven, (*vectors[0], *vectors[1]))
        return FtAction(verb, names[0] if names else '', pose)
    if vectors or len(names) != (verb is Verb.PICK):
        raise errors.ParseError(f'{word}({text[:120]}) has not the arguments that it takes.')
    return FtAction(verb, ''.join(names))


def _arguments(word: str, text: str) -> tuple[list[str], list[tuple[float, ...]]]:
    names: list[str] = []
    vectors: list[tuple[float, ...]] = []
    at = 0
    while text[at:].strip():
        found = _ARGUMENT.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != ','):
            raise errors.ParseError(f'{word}({text[:120]}): {text[at:][:40]!r} is no argument.')
        if found[2] and vectors:
            raise errors.ParseError(f'{word}({text[:120]}): a name comes before numbers.')
        if found[2]:
            names.append(found[2].strip())
        else:
            vectors.append(_numbers(word, found[3]))
        at = found.end() + 1
    return names, vectors


def _numbers(word: str, text: str) -> tuple[float, ...]:
    with suppress(ValueError):
        values = tuple(float(item) for item in text.replace(',', ' ').split())
        if all(map(math.isfinite, values)):
            return values
    raise errors.ParseError(f'{word}: [{text[:80]}] are not all numbers.')


def _number(value: float) -> str:
    # Adding zero turns the -0.0 that rounding leaves into 0.0.
    return f'{round(value, 4) + 0.0:.10g}'
