"""Reads the prompts of FT-CoT and FT-Vanilla, and writes replies in their grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from bbllm.core.marks import FAILED, IN_SHORT
from bbllm.core.observation import Observed, Seven, Three, Two
from bbllm.llm.expert.deciding import Decision, Stage
from bbllm.llm.expert.pop_prompt import corners_of
from bbllm.llm.expert.sight import Asked, Deed, Move, Sight, UnreadableError

QUESTIONS = {
    'Is enough known': Asked.ENOUGH,
    'Which actions find out': Asked.GATHER,
    'Which actions solve': Asked.SOLVE,
    'Which actions come next': Asked.PLAN,
}
"""How the questions begin, and what they want to know."""

_ROUND = re.compile(r'Round \d+: \[([^\[\]]*)\] \[(.*)\] \[([^\[\]]*)\]$')
_CALL = re.compile(r"(\w+)\(((?:'[^']*')?)[, ]*((?:\[[^\]]*\][, ]*)*)\)")
_SHORT = re.compile(r'(\w+) (?:(.+) )?force z (-?\d+\.\d+)')


def is_ft_prompt(text: str) -> bool:
    """Tell whether a message is one of the prompts of these planners."""
    lines = [line.partition(':')[0] for line in text.splitlines()]
    return all(label in lines for label in ('Task', 'Blocks', 'Question', 'Current', 'Past'))


def read_ft_prompt(text: str) -> Sight:
    """
    Take a prompt apart.

    Raises:
        UnreadableError: A question of other words, or numbers that are not as many as they should.
    """
    head, _, past = text.partition('\nPast:')
    told = dict(line.partition(': ')[::2] for line in head.splitlines())
    names = tuple(name.strip() for name in told['Blocks'].split(','))
    asked = [what for words, what in QUESTIONS.items() if told['Question'].startswith(words)]
    if not asked:
        raise UnreadableError(f'The question {told["Question"][:80]!r} is none that is known.')
    return Sight(
        asked=asked[0],
        names=names,
        now=_observed(names, told['Current'].strip('[] ')),
        deeds=tuple(deed for line in past.splitlines() for deed in _deeds(names, line)),
        corners=corners_of([line for line in head.splitlines() if line.startswith('Table:')]),
    )


def write_ft_reply(asked: Asked, decision: Decision) -> str:
    """Write what was decided, as an answer to a question."""
    actions = f'[{", ".join(map(_action, decision.moves))}]' if decision.moves else '<nooutput>'
    reason = decision.reason
    if asked is Asked.ENOUGH:
        answer = 'No' if decision.stage is Stage.GATHER else 'Yes'
        reason, actions = f'{answer}. {reason}', '<nooutput>'
    return f'EXPLAIN: {reason}\nACTION: {actions}'


def _action(move: Move) -> str:
    arguments = [f"'{move.name}'"] if move.name else []
    if move.pose is not None:
        arguments += [_vector(move.pose[:3]), _vector(move.pose[3:])]
    return f'{move.verb}({", ".join(arguments)})'


def _vector(values: Sequence[float]) -> str:
    return f'[{", ".join(f"{value:.4f}" for value in values)}]'


def _deeds(names: tuple[str, ...], line: str) -> Iterator[Deed]:
    """Yield the actions of a round; where one failed, it was the last."""
    found = _ROUND.match(line.strip())
    if found is None:
        return
    words, _, told = found[1].partition(IN_SHORT)
    reason = words.partition(FAILED)[2].strip()
    moves = [_move(call) for call in _CALL.finditer(found[2])]
    looks = [_observed(names, part) for part in found[3].split(';') if part.strip()]
    if len(looks) != len(moves):
        raise UnreadableError(f'{len(moves)} actions have {len(looks)} observations: {line[:80]}')
    deeds = [
        Deed(move=move, done=True, seen=look) for move, look in zip(moves, looks, strict=True)
    ]
    deeds = deeds or [_short_deed(part) for part in told.split(';') if part.strip()]
    if reason and deeds:
        deeds[-1] = replace(deeds[-1], done=False, message=reason)
    yield from deeds


def _short_deed(text: str) -> Deed:
    found = _SHORT.fullmatch(text.strip())
    if found is None:
        raise UnreadableError(f'{text[:80]!r} is no action in short.')
    return Deed(move=Move(found[1], found[2] or ''), done=True, force_z_n=float(found[3]))


def _move(call: re.Match[str]) -> Move:
    verb = 'pick' if call[1] == 'grasp' else call[1]
    numbers = [float(word) for word in re.findall(r'[-+.\de]+', call[3])]
    pose = cast(Seven, tuple(numbers)) if len(numbers) == 7 else None
    return Move(verb, call[2].strip("'"), pose)


def _observed(names: tuple[str, ...], text: str) -> Observed:
    """Read a vector, as `Observed.vector` makes it."""
    try:
        values = tuple(float(word) for word in text.split(','))
    except ValueError:
        values = ()
    if len(values) != 7 * len(names) + 12:
        raise UnreadableError(
            f'{len(names)} blocks make an observation of {7 * len(names) + 12} numbers, but one '
            f'has {len(values)}.'
        )
    parts = [values[i : i + 7] for i in range(0, 7 * len(names) + 7, 7)]
    eef, force, fingers = parts[-1], values[-5:-2], values[-2:]
    return Observed(
        blocks={name: cast(Seven, part) for name, part in zip(names, parts, strict=False)},
        eef=cast(Seven, eef),
        force_n=cast(Three, force),
        fingers_m=cast(Two, fingers),
    )
