"""Noun phrases and targets: from words to things of the scene."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bbllm.llm.offline import words as w
from bbllm.llm.offline.sight import Sight, Thing

SIDE_MARGIN_M = 0.025
"""How far beyond the middle line counts as left or right [m]."""
Side = Literal['left', 'right']


class RefusalError(Exception):
    """Something that is understood but cannot be, or is not understood; the text says what."""


@dataclass(frozen=True)
class Select:
    """Some things of the scene, by name or by description."""

    said: str
    """The words, for messages."""
    names: tuple[str, ...]
    """What fits, in the scene's order."""
    count: int | None = 1
    """How many of them are meant; None for as many as can be."""


@dataclass(frozen=True)
class Target:
    """Where something is to go."""

    kind: Literal['spots', 'side', 'on', 'pose', 'free', 'beside']
    said: str
    spots: tuple[Select, ...] = ()
    """Locations, objects for `on` and `beside`."""
    side: Side | None = None
    pose: str = ''


@dataclass
class Context:
    """What a sentence may refer to."""

    sight: Sight
    last: tuple[Select, ...] = field(default_factory=tuple)
    """What `it` or `them` means."""


def side_of(thing: Thing) -> Side | None:
    """Tell on which side of the arm's middle line a thing is; None where on neither."""
    if thing.at is None or abs(thing.at[1]) <= SIDE_MARGIN_M:
        return None
    return 'left' if thing.at[1] > 0 else 'right'


def noun_phrase(tokens: Sequence[str], context: Context) -> tuple[Select, ...] | None:
    """
    Read `the red and the blue cube`, `all cylinders`, `two of the cubes except red_cube`.

    Returns:
        What is meant, part by part; None where the words are no noun phrase.

    Raises:
        RefusalError: It is one, but the scene has no such thing, or too few.
    """
    for i, token in enumerate(tokens):
        if token in w.EXCEPT:
            main, without = noun_phrase(tokens[:i], context), noun_phrase(tokens[i + 1 :], context)
            return _minus(main, without) if main and without else None
    if tokens[-1:] == ['side'] or (len(tokens) > 2 and tokens[-1] in ('left', 'right')):
        return _on_side(tokens, context)
    parts = _split(tokens)
    if not parts or not all(parts):
        return None
    noun = ''
    selects: list[Select] = []
    for part in reversed(parts):  # `red and blue cubes`: the noun comes last
        nouns = [token for token in part if token in w.NOUNS and not _counts(token, part)]
        noun = nouns[-1] if nouns else noun
        found = _part(part, noun, context)
        if found is None:
            return None
        selects[:0] = found
    return tuple(selects)


def _split(tokens: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in (',', 'and', 'or'):
            if parts[-1]:
                parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _counts(token: str, part: Sequence[str]) -> bool:
    """`one` is a number in `one red cube` and a noun in `the red one`."""
    return token == 'one' and part[-1] != 'one'


def _part(part: Sequence[str], noun: str, context: Context) -> tuple[Select, ...] | None:
    sight = context.sight
    by_name = {item.name: item for item in sight.things}
    content: list[str] = []
    count: int | None = -1  # not said
    for token in part:
        if token in w.PRONOUNS and len(part) == 1:
            return context.last or None
        if token in w.NUMBERS and (token != 'one' or _counts(token, part)):
            count = w.NUMBERS[token]
        elif token.isdecimal():
            count = int(token[:9])
        elif token in w.ALL:
            count = None
        elif token in w.A:
            count = 1
        elif token == 'both':
            count = 2
        elif token in by_name or token in w.COLORS or token in w.ISH or token in w.FREE:
            content.append(token)
        elif token not in w.ARTICLES and token not in w.NOUNS and token not in w.PRONOUNS:
            return None
    if not content and not noun:
        return None
    if count == -1:
        count = None if noun in w.PLURALS or part[-1] in w.PLURALS else 1
    said = ' '.join(part) if noun in part or not noun else ' '.join([*part, noun])
    names = tuple(item.name for item in sight.things if _fits(item, content, noun, by_name))
    return (_checked(Select(said, names, count), sight),)


def _fits(item: Thing, content: Iterable[str], noun: str, by_name: dict[str, Thing]) -> bool:
    content = tuple(content)
    named = [token for token in content if token in by_name]
    if named:
        return item.name in named
    if w.KIND_NOUNS.get(noun, item.kind) != item.kind:
        return False
    if (noun in w.ANY_NOUNS or not noun) and not item.movable:
        return False
    for token in content:
        if token in w.ISH and item.color not in w.FAMILIES[w.ISH[token]].split():
            return False
        if token in w.COLORS and token != item.color and token not in item.words:
            return False
    return True


def _checked(select: Select, sight: Sight) -> Select:
    if not select.names:
        names = ', '.join(item.name for item in sight.things) or 'none'
        words = [word for word in select.said.split() if word not in w.ALL | w.A | w.ARTICLES]
        raise RefusalError(f"There is no '{' '.join(words)}' in the scene. It has: {names}.")
    if select.count is not None and select.count > len(select.names):
        raise RefusalError(f"'{select.said}' are more than there are: {', '.join(select.names)}.")
    return select


def _minus(selects: tuple[Select, ...], without: tuple[Select, ...]) -> tuple[Select, ...]:
    out = {name for select in without for name in select.names}
    return tuple(
        replace(select, names=tuple(name for name in select.names if name not in out))
        for select in selects
    )


def _on_side(tokens: Sequence[str], context: Context) -> tuple[Select, ...] | None:
    """Read `the cubes on the left side`."""
    for i, token in enumerate(tokens):
        if token in ('on', 'at', 'in', 'from') and i:
            target = read_target(tokens[i:], context)
            main = noun_phrase(tokens[:i], context)
            if not main or target is None or target.side is None:
                return None
            there = {item.name for item in context.sight.things if side_of(item) == target.side}
            return tuple(
                _checked(
                    replace(one, names=tuple(name for name in one.names if name in there)),
                    context.sight,
                )
                for one in main
            )
    return None


def read_target(tokens: Sequence[str], context: Context) -> Target | None:
    """
    Read what follows a noun phrase: `on location_B`, `to the right side`, `at 0.4 0 0.02`.

    Returns:
        The target; None where the words are none.

    Raises:
        RefusalError: It is one, but the scene has no such place.
    """
    said = ' '.join(tokens)
    rest = list(tokens)
    while rest and (rest[0] in w.PREPOSITIONS or rest[0] in ('of', 'the', 'down')):
        rest.pop(0)
    lead = tokens[: len(tokens) - len(rest)]
    numbers = [token for token in rest if _is_number(token) and token not in w.NUMBERS]
    others = [token for token in rest if token not in numbers]
    if len(numbers) in (3, 4, 7) and all(t in w.UNITS | {',', 'position', 'and'} for t in others):
        return Target('pose', said, pose=' '.join(numbers))
    if all(token in w.PLACES | w.ARTICLES | w.ANYWHERE | {'in', 'on', 'at'} for token in rest):
        sides = [token for token in rest if token in ('left', 'right')]
        if len(sides) == 1:
            return Target('side', said, side='left' if sides[0] == 'left' else 'right')
        known = {'table', 'somewhere', 'anywhere', 'aside', 'tabletop', 'workspace'}
        if not sides and ('down' in tokens or known & {*rest}):
            return Target('free', said)
        return None
    selects = noun_phrase(rest, context)
    if selects is None:
        return None
    things = {item.name: item for item in context.sight.things}
    kinds = {things[name].kind for select in selects for name in select.names}
    if kinds == {'location'}:
        if w.FREE & {*rest} or any(one.count == 1 and len(one.names) > 1 for one in selects):
            return Target('free', said)
        return Target('spots', said, spots=selects)
    if kinds == {'fixture'}:
        return Target('free', said)
    if kinds & {'location', 'fixture', 'hand'}:
        return None
    return Target('beside' if {'next', 'beside', 'near'} & {*lead} else 'on', said, spots=selects)


def _is_number(token: str) -> bool:
    return token.lstrip('+-').replace('.', '', 1).isdecimal()


def unknown_words(tokens: Sequence[str], sight: Sight) -> list[str]:
    """Return the words that are in no list and name nothing in the scene."""
    known = w.VOCABULARY | {item.name for item in sight.things}
    parts = {word for item in sight.things for word in item.words}
    return [
        token
        for token in tokens
        if token not in known
        and token not in parts
        and not _is_number(token)
        and any(char.isalnum() for char in token)
    ]


def refuse_words(unknown: Sequence[str], sight: Sight) -> RefusalError:
    """Say which words are not understood, and the nearest name in the scene where one is near."""
    named = list(dict.fromkeys(word[:24] for word in unknown))
    listed = ', '.join(repr(word) for word in named[:5])
    more = f' and {len(named) - 5} more' if len(named) > 5 else ''
    names = {item.name.lower(): item.name for item in sight.things}
    close = difflib.get_close_matches(named[0].lower(), names, n=1, cutoff=0.75)
    hint = f' Did you mean {names[close[0]]}?' if close else ''
    return RefusalError(f'I do not understand {listed}{more}.{hint} {w.HINT}')
