"""From an instruction in plain English to goals, or a refusal that names the words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.clauses_moves import read_move, read_pick
from bbllm.llm.offline.clauses_shapes import read_shape, read_stack
from bbllm.llm.offline.goals import Act, Goal, Move
from bbllm.llm.offline.phrases import (
    Context,
    RefusalError,
    Select,
    Side,
    Target,
    read_target,
    refuse_words,
    unknown_words,
)
from bbllm.llm.offline.sight import Sight
from bbllm.llm.offline.tokens import split_clauses, tokenize

MAX_CHARACTERS = 2000
"""A longer instruction is not read [characters]."""
MAX_WORDS = 100
"""Most words between one verb and the next."""


def read_instruction(text: str, sight: Sight) -> list[Goal]:
    """
    Understand an instruction.

    Raises:
        RefusalError: It is not understood, or names what is not there; says which words.
    """
    if len(text) > MAX_CHARACTERS:
        raise RefusalError(
            f'The task has {len(text)} characters; I read at most {MAX_CHARACTERS}. {w.HINT}'
        )
    tokens = tokenize(text, sight)
    clauses = [clause for clause in split_clauses(tokens) if not _describes(clause)]
    if unknown := unknown_words([token for clause in clauses for token in clause], sight):
        spelled = {word.lower(): word for word in re.findall(r"[\w']+", text)}
        raise refuse_words([spelled.get(word, word) for word in unknown], sight)
    if (longest := max(map(len, clauses), default=0)) > MAX_WORDS:
        raise RefusalError(
            f'A part of the task has {longest} words; I read at most {MAX_WORDS} in one go. '
            f'{w.HINT}'
        )
    context = Context(sight)
    if sight.held:
        context.last = (Select(sight.held, (sight.held,)),)
    goals = [goal for clause in clauses for goal in _clause(clause, context)]
    if not goals:
        raise RefusalError(f'I do not understand what is to be done in {text[:80]!r}. {w.HINT}')
    return goals


def _describes(clause: Sequence[str]) -> bool:
    """Tell whether a clause only explains the one before it, as the paper's tasks do."""
    return clause[:2] == ['the', 'shape'] or clause[:3] == ['objects', 'of', 'different']


def _clause(tokens: list[str], context: Context) -> list[Goal]:
    problem: RefusalError | None = None
    for read in (
        _home,
        _gripper_or_wait,
        _separate,
        read_shape,
        read_stack,
        _reach,
        read_move,
        read_pick,
    ):
        try:
            goals = read(tokens, context)
        except RefusalError as error:
            problem = problem or error
            continue
        if goals:
            return goals
    raise problem or RefusalError(f"I do not understand '{' '.join(tokens)[:80]}'. {w.HINT}")


def _home(tokens: list[str], context: Context) -> list[Goal]:
    if tokens[0] in ('go', 'return', 'move', 'home', 'come', 'drive', 'bring', 'take'):
        rest = [token for token in tokens[1:] if token not in w.ANYWHERE | w.ARTICLES]
        rest = [token for token in rest if token not in ('to', 'robot', 'arm', 'position')]
        if rest and all(token in ('base', 'home', 'start') for token in rest):
            return [Act('home')]
    return [Act('home')] if tokens == ['home'] else []


def _gripper_or_wait(tokens: list[str], context: Context) -> list[Goal]:
    rest = [token for token in tokens[1:] if token not in w.ARTICLES]
    hand = {'gripper', 'hand', 'fingers', 'finger', 'it'}
    if tokens[0] in ('open', 'close') and rest and {*rest} <= hand:
        return [Act('open' if tokens[0] == 'open' else 'close')]
    if (tokens[0] == 'release' and {*rest} <= hand) or tokens in (
        ['let', 'go'],
        ['let', 'it', 'go'],
    ):
        return [Act('open')]
    if tokens[0] in w.WAIT:
        return [Act('wait', seconds=_seconds(rest))]
    return []


def _seconds(rest: Sequence[str]) -> float:
    numbers = [float(w.NUMBERS.get(token, token)) for token in rest if _numeric(token)]
    if 'minute' in rest:
        return 60.0
    if len(numbers) > 1 or (numbers and not 0 < numbers[0] <= 60):
        raise RefusalError('I can wait for more than 0 and at most 60 seconds at a time.')
    return numbers[0] if numbers else 1.0


def _numeric(token: str) -> bool:
    return token in w.NUMBERS or token.replace('.', '', 1).isdecimal()


def _separate(tokens: list[str], context: Context) -> list[Goal]:
    """Read `segregate the objects by shape`, `separate cubes from cylinders`."""
    if tokens[0] not in w.SPLIT | {'sort'} or {'color', 'colour', 'colors'} & {*tokens}:
        return []
    things = context.sight.things
    kinds = list(dict.fromkeys(item.kind for item in things if item.movable))
    named = [w.KIND_NOUNS[token] for token in tokens if token in w.KIND_NOUNS]
    order = [kind for kind in dict.fromkeys(named) if kind in kinds]
    order += [kind for kind in kinds if kind not in order]
    if len(order) < 2 or not ({'shape', 'shapes', 'kind', 'type', 'left'} & {*tokens} or named):
        return []
    first = tuple(item.name for item in things if item.kind == order[0])
    rest = tuple(item.name for item in things if item.movable and item.kind != order[0])
    swap = {'left', 'right'} <= {*tokens} and tokens.index('right') < tokens.index('left')
    sides: tuple[Side, Side] = ('right', 'left') if swap else ('left', 'right')
    return [
        Move((Select(f'the {kind}s', names, None),), Target('side', f'{side} side', side=side))
        for kind, names, side in zip(('first kind', 'other'), (first, rest), sides, strict=True)
    ]


def _reach(tokens: list[str], context: Context) -> list[Goal]:
    words = tokens
    hovering = tokens[0] in w.REACH or (
        tokens[0] in ('move', 'go', 'bring')
        and ({'arm', 'hand', 'gripper', 'robot'} & {*tokens[1:4]} or tokens[0] == 'go')
    )
    if not hovering:
        return []
    words = [token for token in tokens[1:] if token not in w.ANYWHERE]
    while words and words[0] in ('the', 'arm', 'hand', 'gripper', 'robot', 'for', 'out'):
        words.pop(0)
    target = read_target(words, context)
    return (
        [Act('reach', target=target)] if target and target.kind in ('spots', 'on', 'pose') else []
    )
