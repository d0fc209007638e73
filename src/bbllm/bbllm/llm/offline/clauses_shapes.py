"""Clauses about patterns and towers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from bbllm.llm.offline import words as w
from bbllm.llm.offline.clauses_moves import moves
from bbllm.llm.offline.goals import Goal, Shape
from bbllm.llm.offline.phrases import Context, Select, Side, Target, noun_phrase, read_target

_END = r'(?:red|violet|purple)(?: (?:on|at|to) the (?:far )?(?:left|right)| first| last)?'
_SPECTRUM = re.compile(
    r'\b(?:and )?(?:starting|beginning|ending|start|begin|end)?s? ?(?:from|with|at) (?:the )?'
    rf'{_END}'
    rf'(?: (?:to|and|through) {_END})?|\b(?:red|violet|purple) (?:(?:on|at) the (?:far )?'
    rf'(?:left|right)|first|last|leftmost|rightmost)\b'
)
"""Says where the spectrum begins and ends; that is no word on what a row is made of."""

_PATTERNS = {'plus', 'triangle', 'square', 'L'}


def read_shape(tokens: list[str], context: Context) -> list[Goal]:
    """Read `create a plus sign using the cubes`, `build a tower of all cubes on location_A`."""
    making = tokens[0] in w.MAKE | {'put', 'place', 'set'} or any(
        word in w.MODALS and verb in w.MAKE for word, verb in itertools.pairwise(tokens)
    )
    making = making or (tokens[0] in ('a', 'an') and bool({*w.SHAPES} & {*tokens[1:4]}))
    found = next((shape for word, shape in w.SHAPES.items() if word in tokens[1:]), '')
    by_color = bool(w.COLOR_WORDS & {*tokens}) and found in ('', 'row', 'column', 'tower')
    if tokens[0] == 'line' or (by_color and making):
        found = found or 'row'
    reverse = found == 'row' and _goes_back(' '.join(tokens))
    if found == 'row' and by_color:
        tokens = _SPECTRUM.sub(' ', ' '.join(tokens)).split()
    if len({w.SHAPES[word] for word in w.SHAPES if word in tokens} & _PATTERNS) > 1:
        return []
    if not making or not found or (found == 'tower' and tokens[0] in ('put', 'place')):
        return []
    tokens, base = _without_base(tokens, context) if found == 'tower' else (tokens, None)
    items, rest = _items_within(tokens, context)
    if base and base.kind == 'on':
        items, base = (*base.spots, *items), None
    if not items or _speaks_of_more(rest, context):
        return []
    context.last = items
    if found == 'tower':
        return [Shape(found, items, None, by_color, base=base)]
    side, middle = _side(rest), {'center', 'centre', 'middle', 'central', 'centered', 'centred'}
    centred = side is None and bool(middle & {*rest})
    return [Shape(found, items, side, by_color and found == 'row', reverse, centred)]


def by_color(goal: Goal, tokens: Sequence[str]) -> Goal:
    """Return a row that goes by colour, as words that came later say."""
    if not isinstance(goal, Shape) or goal.shape != 'row':
        return goal
    return replace(goal, by_color=True, reverse=_goes_back(' '.join(tokens)))


def both(one: Shape, other: Shape) -> Shape:
    """Return what two descriptions of the same pattern say together."""
    return replace(
        one,
        side=one.side or other.side,
        by_color=one.by_color or other.by_color,
        reverse=one.reverse or other.reverse,
        centred=one.centred or other.centred,
    )


def _goes_back(text: str) -> bool:
    """Tell whether colours are to run from right to left."""
    if re.search(
        r'red (?:on|at|to) the (?:far )?left|violet (?:on|at|to) the (?:far )?right', text
    ):
        return False
    if re.search(
        r'red (?:on|at|to) the (?:far )?right|violet (?:on|at|to) the (?:far )?left', text
    ):
        return True
    backwards = re.search(r'from (?:the )?right to (?:the )?left|right to left', text)
    violet_first = re.search(r'(?:from|with|at) (?:violet|purple)\b|violet first|reversed?', text)
    return bool(backwards) != bool(violet_first)


def _without_base(tokens: list[str], context: Context) -> tuple[list[str], Target | None]:
    """Split off what a tower is to stand on."""
    for i in range(len(tokens) - 1, 0, -1):
        if tokens[i] not in ('on', 'onto', 'at'):
            continue
        uses = (j for j in range(i + 1, len(tokens)) if tokens[j] in ('using', 'with', 'from'))
        end = next(uses, len(tokens))  # `on location_C using the cubes`
        target = read_target(tokens[i:end], context)
        if target is not None and target.kind != 'beside':
            return tokens[:i] + tokens[end:], target
    return tokens, None


def _side(tokens: Sequence[str]) -> Side | None:
    text = re.sub(r'from (?:the )?(left|right) to (?:the )?(left|right)', '', ' '.join(tokens))
    sides = re.findall(r'\b(left|right)(?! angle)\b', text)
    return ('left' if sides[0] == 'left' else 'right') if sides else None


def _speaks_of_more(rest: Sequence[str], context: Context) -> bool:
    """Tell whether words are left over that name things or colours: then it was misread."""
    names = {item.name for item in context.sight.things if item.kind != 'fixture'}
    things = {noun for noun, kind in w.KIND_NOUNS.items() if kind != 'location'}
    return bool({*rest} & (names | w.COLORS | {*w.ISH} | things | w.EXCEPT))


def _items_within(
    tokens: Sequence[str], context: Context
) -> tuple[tuple[Select, ...], Sequence[str]]:
    """Find the things that a shape is made of, all cubes where none are said, and the rest."""
    names = {item.name for item in context.sight.things if item.movable}
    nouns = {n for n in w.NOUNS if w.KIND_NOUNS.get(n) != 'location'} | names
    inside = nouns | w.ARTICLES | w.ALL | w.A | {*w.NUMBERS} | w.COLORS | {*w.ISH} | w.EXCEPT
    inside |= {',', 'and', 'both'}
    ends = [i for i, token in enumerate(tokens) if token in nouns and token != 'one']
    if not ends:
        referring = {'them', 'those', 'these'} & {*tokens}
        items = context.last if referring else noun_phrase(['the', 'cubes'], context)
        return items or (), tokens
    first, last = ends[0], ends[0] + 1
    while first and (tokens[first - 1] in inside or tokens[first - 1].isdecimal()):
        first -= 1
    while last < len(tokens) and tokens[last] in inside:
        last += 1
    while tokens[last - 1] in (',', 'and', 'the', 'a', 'of') or tokens[last - 1] in w.NUMBERS:
        last -= 1
    while tokens[first] in (',', 'and', 'of'):
        first += 1
    items = noun_phrase(tokens[first:last], context)
    return items or (), [*tokens[:first], *tokens[last:]]


def read_stack(tokens: list[str], context: Context) -> list[Goal]:
    """Read `stack the cubes`, `stack A on B on C`, `stack the cubes on location_A`."""
    if tokens[0] not in w.STACK:
        return []
    rest = [token for token in tokens[1:] if token not in w.ANYWHERE]
    parts: list[list[str]] = [[]]
    for token in rest:
        if token in ('on', 'onto', 'upon', 'atop'):
            parts.append([])
        elif not (token in ('top', 'of', 'each') and not parts[-1] and len(parts) > 1):
            parts[-1].append(token)
    if parts[-1] == ['other']:  # `stack the cubes on top of each other`
        parts.pop()
    last = read_target(['on', *parts[-1]], context) if len(parts) > 1 else None
    base = last if last is not None and last.kind in ('spots', 'free', 'pose', 'side') else None
    names = [noun_phrase(part, context) for part in (parts[:-1] if base else parts)]
    lower = names[1:]
    if not all(names) or any(len(part or ()) != 1 or part[0].count != 1 for part in lower if part):
        return moves(rest, context) or []  # `stack A on B and C on D`
    items = tuple(select for part in reversed(names) for select in part or ())
    context.last = items
    return [Shape('tower', items, base=base)]
