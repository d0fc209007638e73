"""Clauses about the two sides of the table, and about what is to stay where it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.goals import Goal, Move, PerSide, Separate, Stay
from bbllm.llm.offline.phrases import Context, Select, Side, noun_phrase, read_target

_BOTH = re.compile(
    r'\b(left|right)(?: \w+)? (?:and|or) (?:on |in |at |to )?(?:the )?(left|right)\b'
)
_MOVABLE = {noun: kind for noun, kind in w.KIND_NOUNS.items() if kind != 'location'}


def read_per_side(tokens: list[str], context: Context) -> list[Goal]:
    """Read `one cube and one cylinder on each side`: just that many things on both sides."""
    words = {*tokens}
    if tokens[0] in w.PICK or words & w.COLORS or words & (w.REST - {'other'}):
        return []
    mentions = _counted(tokens)
    kinds = list(dict.fromkeys(kind for kind, _ in mentions))
    if not mentions or any(count is None for _, count in mentions):
        return []
    all_sides = words & {'each', 'both', 'every', 'either'} and words & w.SIDE_NOUNS
    if len(mentions) == len(kinds):
        if not all_sides and not _BOTH.search(' '.join(tokens)):
            return []
    elif not {'left', 'right'} <= words or mentions != mentions[: len(kinds)] * 2:
        return []
    things = context.sight.things
    return [
        PerSide(
            tuple(
                Select(kind, tuple(item.name for item in things if item.kind == kind), count)
                for kind, count in mentions[: len(kinds)]
            )
        )
    ]


def _counted(tokens: Sequence[str]) -> list[tuple[str, int | None]]:
    """Return the kinds that are spoken of, and how many of each; None where that is not said."""
    found: list[tuple[str, int | None]] = []
    for i, token in enumerate(tokens):
        if token in _MOVABLE:
            before = tokens[i - 1] if i else ''
            count = 1 if before in ('a', 'an', 'single') else w.NUMBERS.get(before)
            if before.isdecimal():
                count = int(before[:3])
            found.append((_MOVABLE[token], count or None))
    return found


def read_separate(tokens: list[str], context: Context) -> list[Goal]:
    """Read `segregate the objects by shape`, `cubes on one side and cylinders on the other`."""
    words = {*tokens}
    if words & (w.COLOR_WORDS | w.COLORS) or words & {*w.SHAPES} - {'line', 'row'}:
        return []
    named = [token for token in tokens if token in _MOVABLE]
    plural = [token for token in named if token in w.PLURALS or w.ALL & words]
    shapes = words & {'shape', 'shapes', 'kind', 'kinds', 'type', 'types', 'geometry'}
    if not shapes and len({_MOVABLE[token] for token in plural}) < 2:
        return []
    sides = words & w.SIDE_NOUNS
    parted = words & (w.SPLIT | {'apart', 'opposite'}) or (sides and words & w.APART)
    sorting = tokens[0] in ('sort', 'group', 'arrange', 'distribute', 'organize', 'organise')
    if not parted and not (shapes and (sorting or {'left', 'right'} <= words)):
        return []
    things = [item for item in context.sight.things if item.movable]
    kinds = list(dict.fromkeys(item.kind for item in things))
    order = [kind for kind in dict.fromkeys(_MOVABLE[token] for token in named) if kind in kinds]
    order += [kind for kind in kinds if kind not in order]
    if len(order) < 2:
        return []
    first = tuple(item.name for item in things if item.kind == order[0])
    others = tuple(item.name for item in things if item.kind != order[0])
    groups = (Select(f'{order[0]}s', first, None), Select('other things', others, None))
    return [Separate(groups, _side_of_first(tokens))]


def _side_of_first(tokens: Sequence[str]) -> Side | None:
    """Return where the kind that is named first goes; None where that is not said."""
    told = [token for token in tokens if token in ('left', 'right') or token in _MOVABLE]
    if len(told) != 4 or not ({*told[0::2]} <= {*_MOVABLE} or {*told[1::2]} <= {*_MOVABLE}):
        return None
    first = next(token for token in told if token not in _MOVABLE)
    return 'left' if first == 'left' else 'right'


def read_content(tokens: list[str], context: Context) -> list[Goal]:
    """Read `the right side should contain all cubes`."""
    for i, token in enumerate(tokens):
        if token in ('contain', 'contains', 'has', 'have', 'hold', 'holds') and i:
            side = [t for t in tokens[:i] if t not in ('should', 'must', 'shall')]
            target = read_target(['on', *side], context) if w.SIDE_NOUNS & {*side} else None
            content = [t for t in tokens[i + 1 :] if t not in w.ANYWHERE]
            items = noun_phrase(content, context)
            if target is not None and target.kind == 'side' and items:
                return [Move(items, target)]
    return []


def read_stay(tokens: list[str], context: Context) -> list[Goal]:
    """Read `leave the cylinders where they are`, `do not move anything else`."""
    words = {*tokens}
    if not words & w.STAYING and not (words & w.NEGATIONS and words & (w.DISTURBING | w.REST)):
        return []
    if words & w.REST:
        return [Stay(())]
    names = {item.name for item in context.sight.things}
    describing = names | w.COLORS | {*w.ISH} | w.NOUNS | w.ALL | {'the', ',', 'and'}
    phrase = [token for token in tokens if token in describing]
    while phrase and phrase[0] in (',', 'and'):
        phrase.pop(0)
    items = noun_phrase(phrase, context) if phrase else None
    return [Stay(items)] if items else []
