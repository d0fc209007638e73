"""From an instruction in plain English to goals, or a refusal that names the words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.clauses_moves import read_move, read_pick
from bbllm.llm.offline.clauses_shapes import both, by_color, read_shape, read_stack
from bbllm.llm.offline.clauses_sides import (
    read_content,
    read_per_side,
    read_separate,
    read_stay,
)
from bbllm.llm.offline.goals import Act, Goal, PerSide, Separate, Shape, Stay
from bbllm.llm.offline.phrases import (
    Context,
    RefusalError,
    Select,
    noun_phrase,
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
    clauses = split_clauses(tokens)
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
    goals, problem = _goals(clauses, context)
    if problem is not None:
        raise problem
    if all(isinstance(goal, Stay) for goal in goals):
        raise RefusalError(f'I do not understand what is to be done in {text[:80]!r}. {w.HINT}')
    return goals


def _goals(
    clauses: Sequence[list[str]], context: Context
) -> tuple[list[Goal], RefusalError | None]:
    """Read clause by clause; what only explains an arrangement needs no understanding."""
    goals: list[Goal] = []
    problems: list[tuple[list[str], RefusalError]] = []
    for i, clause in enumerate(clauses):
        if i + 1 < len(clauses) and _introduces(clause, clauses[i + 1], context):
            continue
        try:
            read = _clause(clause, context)
            explains = clause[0] not in w.MAKE and _explains(clause, context)
            if not (goals and isinstance(read[0], Shape) and explains):
                goals = _joined(goals, read)
        except RefusalError as error:
            problems.append((clause, error))
        if goals and w.COLOR_WORDS & {*clause}:
            goals[-1] = by_color(goals[-1], clause)
    arranged = any(isinstance(goal, Shape | Separate | PerSide) for goal in goals)
    left = (error for clause, error in problems if not (arranged and _explains(clause, context)))
    return goals, next(left, None)


def _joined(goals: list[Goal], more: Sequence[Goal]) -> list[Goal]:
    """Add goals; one that says of the same things the same as the last, or more, joins it."""
    for goal in more:
        last = goals[-1] if goals else None
        if isinstance(goal, Separate) and isinstance(last, Separate):
            goals = [*goals[:-1], goal if last.first is None else last]
        elif (
            isinstance(goal, Shape)
            and isinstance(last, Shape)
            and (goal.shape, goal.items) == (last.shape, last.items)
        ):
            goals = [*goals[:-1], both(last, goal)]
        else:
            goals = [*goals, goal]
    return goals


def _introduces(clause: Sequence[str], following: Sequence[str], context: Context) -> bool:
    """Tell whether a clause only says what the next one is about: `take the cubes and build`."""
    if clause[0] not in ('take', 'get', 'use') or following[0] not in w.MAKE:
        return False
    if not {'them', 'those', 'these', 'it'} & {*following}:
        return False
    items = noun_phrase([token for token in clause[1:] if token not in w.ANYWHERE], context)
    context.last = items or context.last
    return bool(items)


def _explains(clause: Sequence[str], context: Context) -> bool:
    """Tell whether a clause only explains an arrangement: it names and asks for nothing."""
    names = {item.name for item in context.sight.things if item.kind != 'fixture'}
    telling = names | w.COLORS | {*w.ISH} | w.EXCEPT | {*w.SHAPES} - {'line', 'vertical'}
    doing = w.PICK | w.PUT | w.STACK | w.REACH | w.GRIPPER | w.WAIT
    return clause[0] not in doing and not telling & {*clause}


def _clause(tokens: list[str], context: Context) -> list[Goal]:
    problem: RefusalError | None = None
    for read in (
        _home,
        _gripper_or_wait,
        read_per_side,
        read_separate,
        read_stay,
        read_shape,
        read_stack,
        _reach,
        read_move,
        read_pick,
        read_content,
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
