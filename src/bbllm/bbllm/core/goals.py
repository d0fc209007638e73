"""
The goal of a task: what the scene must be like at the end, as conditions in a fixed grammar.

    on(red_cube, blue_cube)
    side(all of red_cube|blue_cube, left)
    tower(3 of red_cube|blue_cube|green_cube|pink_cube)
    not on(green_cube, table)

    goal      = condition {";" condition} [";" rest]   one a line in a reply of a model
    rest      = "not checked:" words                    what no condition expresses
    condition = ["not"] kind "(" argument {"," argument} ")"
    argument  = [(number | "all") "of"] name {"|" name}

A name is that of an object of the scene. In a household it is also a class, which stands for all
objects of the class; on a table also a kind, as in `all of cubes`, which stands for those within
reach, or `others`: all that can be moved and that the goal does not speak of. Without a number,
one of the names has to fit; with `not`, none of them may. A goal with a rest can be unmet, and is
never met: what is unchecked is not claimed. A goal is text from a model or a person: it is read
here, checked against a scene, and never executed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bbllm.core.errors import ParseError, UnknownNameError
from bbllm.core.naming import class_of
from bbllm.core.skill_calls import plain
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, SYMBOLIC, Kind, Scene

MAX_CONDITIONS = 40
"""Longer goals come from models that repeat themselves."""
NOT_CHECKED = 'not checked'
"""Status of a goal that nobody could check; the others are `met` and `unmet`."""
QUOTED = 80
"""So much of what cannot be read is quoted [characters]."""
MAX_REST = 160
"""So much of what is not checked is kept [characters]."""
NONE = 'none'
"""Reply of a model for a task of which conditions can express nothing."""
AUTO, NO_GOAL = 'auto', 'no'
"""What can be asked for beside conditions: that the Brain reads them from the task, or no check.
"""


class ConditionKind(StrEnum):
    """What a condition requires, with its form in a prompt and its words for people."""

    form: str
    meaning: str
    words: str

    def __new__(cls, form: str, meaning: str, words: str) -> 'ConditionKind':
        name = form.partition('(')[0]
        kind = str.__new__(cls, name)
        kind._value_, kind.form, kind.meaning, kind.words = name, form, meaning, words
        return kind

    ON = 'on(a, b)', 'a rests on b: an object, a location or a piece of furniture', 'on {}'
    IN = 'in(a, b)', 'a is inside b', 'in {}'
    BESIDE = 'beside(a, b)', 'a stands right next to b', 'right next to {}'
    LEFT_OF = 'left_of(a, b)', 'a is left of b, as seen from the arm', 'left of {}'
    RIGHT_OF = 'right_of(a, b)', 'a is right of b', 'right of {}'
    NEARER = 'nearer(a, b)', 'a is nearer to the arm than b', 'nearer than {}'
    FARTHER = 'farther(a, b)', 'a is farther away than b', 'farther than {}'
    BETWEEN = (
        'between(a, b, c)',
        'a is between b and c, near the straight line from one to the other',
        'between {}',
    )
    SIDE = 'side(a, left)', 'a is on that side of the table: left, right, near or far', 'on the {}'
    TOWER = 'tower(a, b, c)', 'one tower of exactly these, a at the bottom', 'tower'
    LINE = (
        'line(a, b, c)',
        'a straight row, its middles 2.5 widths apart at most, in this order from left to right, '
        'or from near to far if it runs away from the arm',
        'straight line',
    )
    PLUS = (
        'plus(5 of a|b|c|d|e|f)',
        'one in the middle of four others, as a plus sign',
        'plus sign',
    )
    HELD = 'held(a)', 'a is in the hand at the end', 'in the hand'
    MOVED = 'moved(a)', 'a is somewhere else than at the start', 'somewhere else than before'
    SHIFTED = (
        'shifted(a, left)',
        'a is farther left, right, near or far than it was',
        '{} than before',
    )
    AT_PLACE_OF = 'at_place_of(a, b)', 'a is where b was at the start', 'where {} was'
    STATE = 'state(a, open)', 'a is open, closed, on, off, clean, dirty or sitting', '{}'


K = ConditionKind
TABLE_KINDS = tuple(kind for kind in K if kind is not K.STATE)
HOUSE_KINDS = (K.ON, K.IN, K.STATE, K.HELD)
STATES = (
    *('open', 'closed', 'on', 'off', 'clean', 'dirty', 'plugged_in', 'plugged_out'),
    *('sitting', 'lying'),
)
"""What `state` may require; the words of a household's facts."""
WORDS: Mapping[ConditionKind, Mapping[str, str]] = {
    K.SIDE: {'left': 'left side', 'right': 'right side', 'near': 'near half', 'far': 'far half'},
    K.SHIFTED: {
        **{'left': 'farther left', 'right': 'farther right'},
        **{'near': 'nearer', 'far': 'farther away'},
    },
    K.STATE: {word: word for word in STATES},
}
"""Kinds whose second argument is one of some words, with these for people."""
SHAPES = frozenset({K.TOWER, K.LINE, K.PLUS})
"""Kinds of several objects: in the order given, or so many of some in any order."""
PLUS_SIZE = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """Some of some objects."""

    names: tuple[str, ...]
    """Objects of the scene."""
    count: int = 1
    """How many of them must fit."""
    text: str = ''
    """How it was written."""

    def __str__(self) -> str:
        return self.text

    @property
    def in_words(self) -> str:
        if self.count == len(self.names):
            return listed(self.names)
        short = self.text.rpartition(' of ')[2].split('|')
        return f'{self.count} of {", ".join(short)}' if self.count > 1 else ' or '.join(short)


@dataclass(frozen=True, slots=True)
class GoalCondition:
    """One requirement."""

    kind: ConditionKind
    subjects: tuple[Selection, ...]
    """What it is about: one selection, or the parts of a tower or line in their order."""
    place: Selection | None = None
    """What that is related to."""
    word: str = ''
    """A side or a state."""
    negated: bool = False

    def __str__(self) -> str:
        more = [str(self.place)] if self.place else [self.word] if self.word else []
        text = f'{self.kind.value}({", ".join([*map(str, self.subjects), *more])})'
        return f'not {text}' if self.negated else text

    @property
    def in_words(self) -> str:
        """The condition as a sentence without its full stop, for people."""
        who, words = self.subjects[0].in_words, self.kind.words
        if self.kind in SHAPES:
            form = f'{"do not form" if self.negated else "form"} one {words}'
            if len(self.subjects) == 1:
                return f'{who} {form}'
            order = 'from the bottom up' if self.kind is K.TOWER else 'in this order'
            return f'{", ".join(item.in_words for item in self.subjects)} {form}, {order}'
        is_ = ('are' if self.subjects[0].count > 1 else 'is') + (' not' if self.negated else '')
        second = self.place.in_words if self.place else WORDS.get(self.kind, {}).get(self.word, '')
        return f'{who} {is_} {words.format(second)}'


@dataclass(frozen=True, slots=True)
class TaskGoal:
    """What must be so when a task is done, all of it."""

    conditions: tuple[GoalCondition, ...]
    rest: str = ''
    """What the task asks for beside, which no condition expresses."""

    def __str__(self) -> str:
        return '; '.join([*map(str, self.conditions), *self._unchecked])

    @property
    def in_words(self) -> tuple[str, ...]:
        return (*(condition.in_words for condition in self.conditions), *self._unchecked)

    @property
    def _unchecked(self) -> tuple[str, ...]:
        return (f'{NOT_CHECKED}: {self.rest}',) if self.rest else ()

    @property
    def to_hold(self) -> frozenset[str]:
        """Objects that may be in the hand at the end."""
        held = [c.subjects[0].names for c in self.conditions if c.kind is K.HELD and not c.negated]
        return frozenset(name for names in held for name in names)


@dataclass(frozen=True, slots=True)
class GoalFinding:
    """What a scene shows of a goal."""

    unmet: tuple[str, ...] = ()
    """A sentence for each condition that does not hold, with what was measured."""
    unseen: str = ''
    """Why a condition cannot be decided, in one sentence; empty where each can."""

    @property
    def met(self) -> bool:
        return not self.unmet and not self.unseen


def kinds_for(domain: str) -> tuple[ConditionKind, ...]:
    """Return the kinds of conditions that a scene of a domain can be checked for."""
    return HOUSE_KINDS if domain in SYMBOLIC else TABLE_KINDS


def goal_form(domain: str) -> str:
    """Return what can be written, in one sentence, for refusals."""
    forms = ', '.join(kind.form for kind in kinds_for(domain))
    return (
        f'Conditions are {forms}; with `not` before one for its opposite, and `2 of a|b|c` or '
        '`all of a|b|c` for several objects.'
    )


_MARKS = ' \t\r>*_#`~-•.;"'
_NUMBERED = re.compile(r'\d{1,3}[.:)]\s+')
_CONDITION = re.compile(r'(not\s+)?([A-Za-z]\w{0,40})\s*\(([^()]*)\)')
_REST = re.compile(rf'(?:^|[;\n])[\s*`-]*{NOT_CHECKED}:(.*)', re.IGNORECASE | re.DOTALL)
_COUNTED = re.compile(r'(\d{1,4}|all)\s+of\s+(.+)', re.IGNORECASE | re.DOTALL)
_OTHERS = re.compile(r'\bothers\b')
_NUMBER_OF = re.compile(r'^\d{1,4}\s+of\s+', re.IGNORECASE)


def parse_goal_reply(text: str, scene: Scene) -> TaskGoal | None:
    """
    Return the goal of a model's reply, None for the line `none`.

    Lines without a bracket are chatter and are ignored; every other line must be conditions.
    Raises ParseError for a line that is not, or names what the scene does not have.
    """
    lines = [_bare(line) for line in text.split('\n')]
    rest = [line for line in lines if line.lower().startswith(f'{NOT_CHECKED}:')]
    lines = [line for line in lines if line not in rest]
    if any(line.lower() == NONE for line in lines):
        return None
    wanted = [line for line in lines if '(' in line]
    if rest and not wanted:
        return None
    if not wanted:
        raise ParseError(
            f'The reply has no condition. {goal_form(scene.domain)} Write one a line, or the '
            f'single line `{NONE}`.'
        )
    try:
        goal = parse_goal('; '.join(wanted), scene)
    except UnknownNameError as error:
        raise ParseError(str(error)) from error
    return replace(
        goal, rest=_kept(' / '.join(line.partition(':')[2].strip(_MARKS) for line in rest))
    )


def _kept(rest: str) -> str:
    """Return what is not checked as one line that the grammar reads again."""
    return ' '.join(rest.replace(';', ',').split())[:MAX_REST].rstrip()


def _bare(line: str) -> str:
    return _NUMBERED.sub('', line.strip(_MARKS), count=1).strip(_MARKS)


def kinds_in(text: str) -> Iterator[str]:
    """Yield the kinds of the conditions of a goal, but for those with `not`."""
    return (kind for negated, kind, _ in _CONDITION.findall(text) if not negated)


def parse_goal(text: str, scene: Scene) -> TaskGoal:
    """
    Return the goal that a person or a model wrote.

    Raises:
        ParseError: It is not in the grammar; with the forms that are.
        UnknownNameError: The scene has no such object; with the nearest one.
    """
    if unchecked := _REST.search(text):
        return replace(parse_goal(text[: unchecked.start()], scene), rest=_kept(unchecked[1]))
    found: list[GoalCondition] = []
    text = _with_others(text, scene)
    at = 0
    for match in _CONDITION.finditer(text):
        if not re.fullmatch(r'[\s,;.]*(?:and\b)?\s*', text[at : match.start()]):
            raise _unreadable(text[at : match.end()], scene)
        found.append(_condition(match[2], match[3], bool(match[1]), scene))
        at = match.end()
    if not found or text[at:].strip(' \t\r\n;,.'):
        raise _unreadable(text[at:], scene)
    conditions = tuple(dict.fromkeys(found))
    if len(conditions) > MAX_CONDITIONS:
        raise ParseError(
            f'The goal has {len(conditions)} conditions; write {MAX_CONDITIONS} at most, with '
            'all of a|b|c for several objects.'
        )
    return TaskGoal(conditions)


def _unreadable(text: str, scene: Scene) -> ParseError:
    return ParseError(f'{text.strip()[:QUOTED]!r} is no condition. {goal_form(scene.domain)}')


def _condition(name: str, args: str, negated: bool, scene: Scene) -> GoalCondition:
    known = {kind.value: kind for kind in kinds_for(scene.domain)}
    kind = known.get(plain(name))
    if kind is None:
        raise _unreadable(f'{name.strip()}({args})', scene)
    parts = [part.strip() for part in args.split(',')]
    if kind in SHAPES:
        return GoalCondition(kind, _parts_of_shape(kind, parts, scene), negated=negated)
    wanted = kind.form.count(',') + 1
    if len(parts) != wanted or not all(parts):
        raise ParseError(
            f'{kind.value}({args[:QUOTED]}) has {len(parts)} arguments; write {kind.form}. '
            f'{goal_form(scene.domain)}'
        )
    if negated:
        _check_unnumbered(kind, parts)
    subjects = (_movable(_selection(parts[0], scene), scene),)
    if kind in WORDS:
        word = plain(parts[1])
        if word not in WORDS[kind]:
            raise ParseError(
                f'{parts[1][:QUOTED]!r} is none of {", ".join(WORDS[kind])}, which '
                f'{kind.value} takes.'
            )
        return GoalCondition(kind, subjects, word=word, negated=negated)
    if wanted == 1:
        return GoalCondition(kind, subjects, negated=negated)
    place = _place(parts[1:], scene)
    others = [name for name in subjects[0].names if name not in place.names]
    if len(place.names) == place.count and len(others) < (1 if negated else subjects[0].count):
        raise ParseError(
            f'{kind.value}({args[:QUOTED]}) relates an object to itself. {kind.form} takes '
            f'different objects; for a task that asks for that, there is no condition: `{NONE}`.'
        )
    return GoalCondition(kind, subjects, place, negated=negated)


def _check_unnumbered(kind: ConditionKind, parts: Sequence[str]) -> None:
    """Refuse a number behind `not`: "not both" would be read as "none"."""
    plain_parts = [_NUMBER_OF.sub('', part) for part in parts]
    if numbered := next((part for part, bare in zip(parts, plain_parts) if part != bare), ''):
        raise ParseError(
            f'`not` before {numbered[:QUOTED]!r} is not clear: it means that none of some objects '
            f'may be so, and takes no number. Write not {kind.value}({", ".join(plain_parts)}) '
            f'where that is meant; another requirement goes behind `{NOT_CHECKED}:`.'
        )


def _place(parts: Sequence[str], scene: Scene) -> Selection:
    """Return what a condition relates its objects to: one of some, or the two ends of a line."""
    chosen = [_selection(part, scene) for part in parts]
    names = tuple(name for item in chosen for name in item.names)
    if any(item.count > 1 for item in chosen):
        raise ParseError(
            f'{parts[0][:QUOTED]!r} cannot come second: that is one object, or several of which '
            'any will do: a|b.'
        )
    if len(chosen) > 1 and len(set(names)) != len(chosen):
        raise ParseError(
            f'{K.BETWEEN.form} takes b and c as one object each, and two different ones.'
        )
    return Selection(names, len(chosen), ', '.join(parts))


def _parts_of_shape(
    kind: ConditionKind, parts: Sequence[str], scene: Scene
) -> tuple[Selection, ...]:
    """Return the members of a tower, line or plus sign."""
    chosen = tuple(_movable(_selection(part, scene), scene) for part in parts)
    in_order = len(chosen) > 1
    singles = all(len(item.names) == 1 for item in chosen)
    members = [name for item in chosen for name in item.names]
    if fixed := [name for name in members if scene.object(name).kind not in MOVABLE]:
        raise ParseError(
            f'{fixed[0]} is a {scene.object(fixed[0]).kind.value}, which cannot be part of a '
            f'{kind.value}: it takes cubes and other objects that can be stacked, and a container '
            'comes second, as b in in(a, b).'
        )
    if in_order and (not singles or len(set(members)) < len(members)):
        raise ParseError(
            f'{kind.value} takes objects in their order, each once, as in {K.TOWER.form}, or so '
            f'many of some in any order, as in {kind.value}(3 of a|b|c|d).'
        )
    if in_order and kind is K.PLUS:  # it has no order
        text = f'{len(members)} of {"|".join(members)}'
        chosen = (Selection(tuple(members), len(members), text),)
    size = len(members) if len(chosen) > 1 else chosen[0].count
    if size < 2 or (kind is K.PLUS and size != PLUS_SIZE):
        least = '5 objects, as in plus(5 of a|b|c|d|e|f)' if kind is K.PLUS else 'two or more'
        raise ParseError(f'{kind.value} takes {least}, and {size} are given.')
    return chosen


def _movable(selection: Selection, scene: Scene) -> Selection:
    """Return a selection of what a condition can be about; raises ParseError for the rest."""
    for name in selection.names:
        kind = scene.object(name).kind
        if not scene.is_symbolic and kind in (Kind.LOCATION, Kind.FIXTURE, Kind.HAND):
            raise ParseError(
                f'{name} is a {kind.value}, which nothing can move: it can only come second, as '
                'b in on(a, b).'
            )
    return selection


def _selection(text: str, scene: Scene) -> Selection:
    counted = _COUNTED.fullmatch(text)
    words = [word.strip() for word in (counted[2] if counted else text).split('|')]
    names = tuple(dict.fromkeys(name for word in words for name in _meant(word, scene)))
    count = 1
    if counted:
        count = len(names) if counted[1].lower() == 'all' else int(counted[1])
    if not 1 <= count <= len(names):
        raise ParseError(
            f'{text[:QUOTED]!r} asks for {count} of {len(names)} objects; any number from 1 to '
            f'{len(names)} will do.'
        )
    return Selection(names, count, text)


def _with_others(text: str, scene: Scene) -> str:
    """Return a goal with names in place of the word `others`."""
    if not _OTHERS.search(text) or scene.is_symbolic:
        return text
    words = {word for word in re.findall(r'\w+', text) if not _OTHERS.fullmatch(word)}
    named = {name for word in words for name in (*_alike(word, scene), *_of_kind(word, scene))}
    rest = [x.name for x in scene.objects if x.kind in MOVABLE and x.name not in named]
    if not rest:  # of nothing else, all is so that may not be
        text = _CONDITION.sub(lambda m: '' if m[1] and _OTHERS.search(m[3]) else m[0], text)
    return _OTHERS.sub('|'.join(rest), text) if rest else text


def _alike(word: str, scene: Scene) -> list[str]:
    return [name for name in scene.names if plain(name) == plain(word)]


def _of_kind(word: str, scene: Scene) -> list[str]:
    """Return the objects of a kind that are within reach, as `cubes`."""
    kind = plain(word).removesuffix('s')
    near = (x for x in scene.objects if not scene.has(x.name, 'reachable', 'no'))
    return [x.name for x in near if x.kind.value == kind]


def _meant(word: str, scene: Scene) -> list[str]:
    """Return the objects of a name, of a class in a household, or of a kind on a table."""
    alike = _alike(word, scene)
    if not alike and not scene.is_symbolic:
        alike = _of_kind(word, scene)
    if not alike and scene.is_symbolic:
        squeezed = plain(word).replace('_', '')
        alike = [n for n in scene.names if class_of(n).replace('_', '').lower() == squeezed]
    if not alike:
        known = {class_of(n) for n in scene.names} if scene.is_symbolic else scene.names
        raise UnknownNameError('object', word, known)
    return alike
