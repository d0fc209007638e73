"""Clauses about taking things and putting them somewhere."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.goals import Act, Goal, Move
from bbllm.llm.offline.phrases import (
    Context,
    RefusalError,
    Select,
    Target,
    noun_phrase,
    read_target,
)


def read_move(tokens: list[str], context: Context) -> list[Goal]:
    """Read `put the red cube on location_A`, also without the verb."""
    verbless = tokens[0] not in w.VERBS
    if not verbless and tokens[0] not in w.PUT | w.PICK | w.MAKE:
        return []
    rest = tokens if verbless else tokens[1:]
    rest = [token for token in rest if token not in w.ANYWHERE]
    if verbless and rest and rest[0] in w.PREPOSITIONS and context.last:
        target = read_target(rest, context)  # `put it on A and then on B`
        return [Move(context.last, target)] if target else []
    goals = moves(rest, context)
    if goals is None and not verbless and tokens[0] in w.PUT - {'take', 'get'}:
        down = rest[-1:] == ['down'] or rest[:1] == ['down']
        items = noun_phrase([token for token in rest if token != 'down'], context)
        if items and (down or rest == ['it']):
            goals = [Move(items, Target('free', 'down'))]
    return goals or []


def moves(rest: Sequence[str], context: Context) -> list[Goal] | None:
    """Read `<things> <preposition> <target>`, then perhaps `and <things> <preposition> ...`."""
    return _moves(rest, context, set())


def _moves(rest: Sequence[str], context: Context, dead: set[int]) -> list[Goal] | None:
    """Read moves; `dead` holds the lengths of the ends of the clause that are known to be none."""
    if len(rest) in dead:
        return None
    problem: RefusalError | None = None
    try:
        if one := _first_move(rest, context):
            return one
    except RefusalError as error:
        problem = error
    for i, token in enumerate(rest):
        if token in ('and', ','):
            first = _first_move(rest[:i], context)
            more = _moves(rest[i + 1 :], context, dead) if first else None
            if first and more:
                return first + more
    if problem:
        raise problem
    dead.add(len(rest))
    return None


def _first_move(rest: Sequence[str], context: Context) -> list[Goal] | None:
    """Read `<things> <preposition> <target>` and nothing more."""
    problem: RefusalError | None = None
    for i in range(len(rest) - 1, 0, -1):
        if rest[i] not in w.PREPOSITIONS and rest[i] not in ('down', 'aside', 'somewhere'):
            continue
        try:
            one = _one_move(rest[:i], rest[i:], context)
        except RefusalError as error:
            problem = problem or error
            continue
        if one:
            return one
    if problem:
        raise problem
    return None


def _one_move(thing: Sequence[str], place: Sequence[str], context: Context) -> list[Goal] | None:
    items = noun_phrase(thing, context)
    if not items or not all(_movable(select, context) for select in items):
        return None
    target = read_target(place, context)  # before `it` gets a new meaning
    if target is None:
        return None
    context.last = items
    return [Move(items, target)]


def _movable(select: Select, context: Context) -> bool:
    return all((item := context.sight.thing(name)) and item.movable for name in select.names)


def read_pick(tokens: list[str], context: Context) -> list[Goal]:
    """Read `pick up the red cube`."""
    if tokens[0] not in w.PICK | {'take', 'get'}:
        return []
    rest = [token for token in tokens[1:] if token not in w.ANYWHERE]
    items = noun_phrase(rest, context)
    if not items or not all(_movable(select, context) for select in items):
        return []
    if (
        len(items) > 1
        or items[0].count not in (1, None)
        or (items[0].count is None and len(items[0].names) > 1)
    ):
        raise RefusalError(f"The hand holds one thing at a time, not '{' '.join(rest)[:60]}'.")
    context.last = items
    return [Act('pick', items)]
