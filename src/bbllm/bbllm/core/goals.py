"""
The goal of a task: what the scene must be like at the end, as conditions in a fixed grammar.

    on(red_cube, blue_cube)
    side(all of red_cube|blue_cube, left)
    tower(green_cube, all of red_cube|blue_cube)
    gap(red_cube, blue_cube, at least 5 cm)
    not on(green_cube, table)

    goal      = condition {";" condition} [";" rest]   one a line in a reply of a model
    rest      = "not checked:" words                    what no condition expresses
    condition = ["not" | "once"] kind "(" argument {"," argument} ")"
    argument  = [(["exactly"] number | "all") "of"] name {"|" name} | amount | position
              | variable ["=" name {"|" name}]          one and the same object in all conditions
    position  = number number [number]                  x y z [m]
    amount    = ["at least" | "at most"] number ("mm" | "cm" | "m" | "deg" | "%")

A name is that of an object of the scene. In a household it is also a class, which stands for all
objects of the class; on a table also a kind, as in `all of cubes`, which stands for those within
reach, or `others`: all that can be moved and that the goal does not speak of. What `all of cubes`
and `all of others` leave out as out of reach is a part of the goal's words. Without a number, one
of the names has to fit; with `not`, none of them may. Different variables stand for different
objects. With `once`, it had to be so at some
time on the way, as observations show it. A goal with a rest can be unmet, and is at
most met as far as checked. A goal is text from a model or a person: it is read here, checked
against a scene, and never executed.
"""

import itertools
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
MET, UNMET, AS_FAR, NOT_CHECKED = 'met', 'unmet', 'met as far as checked', 'not checked'
"""What the end of a task can show of its goal; `GoalFinding.status`."""
LEFT_OUT = 'left out, out of reach'
"""Begins the words for what `all` does not count."""
QUOTED = 80
"""So much of what cannot be read is quoted [characters]."""
MAX_REST = 300
"""So much of what is not checked is kept [characters]."""
NONE = 'none'
"""Reply of a model for a task of which conditions can express nothing."""
GIVEN = 'person'
"""In place of the name of the model that reads a goal, where a person gave it."""
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

    ON = 'on(a, b)', 'a rests on b: an object, a location or furniture', 'on {}'
    IN = 'in(a, b)', 'a is inside b', 'in {}'
    BESIDE = 'beside(a, b)', 'side by side, at most a width apart', 'right next to {}'
    LEFT_OF = 'left_of(a, b)', '', 'left of {}'
    RIGHT_OF = 'right_of(a, b)', '', 'right of {}'
    NEARER = 'nearer(a, b)', '', 'nearer than {}'
    FARTHER = (
        'farther(a, b)',
        'a is wholly on that side of b',
        'farther than {}',
    )
    BETWEEN = (
        'between(a, b, c, 50 %)',
        'on the line from b to c, half a width off at most, and that far along it',
        '{amount}between {}',
    )
    AT = 'at(a, 0.5 0.1)', 'its middle at x y, or x y z [m], that the task gives', 'at {}'
    SIDE = (
        'side(a, left)',
        'half a width into that half of the table: left, right, near or far',
        'on the {}',
    )
    TOWER = 'tower(a, b, c)', 'one tower of just these, a at the bottom', 'tower'
    LINE = (
        'line(a, b, c, 5 cm)',
        'a row in this order, left to right or near to far, half a width off it, with that free '
        'space between neighbours (else middles at most 2.5 widths apart)',
        'straight line',
    )
    PLUS = 'plus(5 of a|b|c|d|e|f)', 'a plus sign', 'plus sign'
    HELD = 'held(a)', 'in the hand', 'in the hand'
    MOVED = 'moved(a)', '', 'somewhere else than before'
    UNCHANGED = (
        'unchanged(a)',
        'half a width or more from where it was; where and as it was',
        'as before',
    )
    SHIFTED = (
        'shifted(a, left, 10 cm)',
        'that much farther left, right, near or far than it was',
        '{amount}{} than before',
    )
    AT_PLACE_OF = 'at_place_of(a, b)', 'a is where b was at the start', 'where {} was'
    DISTANCE = 'distance(a, b, 20 cm)', 'between middles', '{amount}from {}, middle to middle'
    GAP = 'gap(a, b, 5 cm)', 'free space between outlines', '{amount}clear of {}'
    NEAREST = 'nearest(a, b|c, arm)', '', 'the nearest to {of}, compared with {}'
    FARTHEST = (
        'farthest(a, b|c, arm)',
        'of all these a is nearest to, or farthest from, the arm or an object in its place',
        'the farthest from {of}, compared with {}',
    )
    YAW = 'yaw(a, 45 deg)', '', 'at a yaw of {amount}'
    TURNED = (
        'turned(a, 45 deg)',
        'its yaw; its turn since the start, +45 for counter-clockwise',
        'turned by {amount}',
    )
    ALIGNED = 'aligned(a, b)', 'the same yaw', 'aligned with {}'
    MOVED_BEFORE = (
        'moved_before(a, b|c)',
        'a was put in its last place before any of these',
        'moved before {}',
    )
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
GROUPS = frozenset({K.DISTANCE, K.GAP, K.NEAREST, K.FARTHEST, K.MOVED_BEFORE})
"""Kinds that relate an object to all of some others: to the nearest of them, or to each."""
AMOUNTS: Mapping[ConditionKind, str] = {
    **{K.DISTANCE: 'cm', K.GAP: 'cm', K.SHIFTED: 'cm', K.LINE: 'cm'},
    **{K.YAW: 'deg', K.TURNED: 'deg', K.BETWEEN: '%'},
}
"""Kinds whose last argument is an amount, with its unit."""
NEEDS_NONE = frozenset({K.SHIFTED, K.BETWEEN, K.LINE})
"""Those that also go without one."""
UNITS: Mapping[str, tuple[str, float]] = {
    **{'mm': ('cm', 0.1), 'cm': ('cm', 1.0), 'm': ('cm', 100.0)},
    **{'deg': ('deg', 1.0), 'degrees': ('deg', 1.0), '°': ('deg', 1.0), '%': ('%', 1.0)},
}
"""Units that are read, as so much of one that is written."""
ARM = 'arm'
"""What `nearest` and `farthest` may be measured from beside objects."""
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
    counted: bool = False
    """Whether a number of them was written."""
    exact: bool = False
    """Whether no more of them may fit."""
    variable: str = ''
    """Stands for the same of them in all conditions of the goal."""

    def __str__(self) -> str:
        return self.text

    @property
    def in_words(self) -> str:
        if self.count == len(self.names) and not self.variable:
            return listed(self.names)
        short = self.text.rpartition('=' if self.variable else ' of ')[2].split('|')
        if self.variable:
            return f'{self.variable} ({" or ".join(short)})'
        exactly = 'exactly ' if self.exact else ''
        if self.count == 1 and not self.exact:
            return ' or '.join(short)
        if nouns := nouns_of(short):
            return f'{exactly}{self.count} of the {len(short)} {nouns}'
        return f'{exactly}{self.count} of{":" if short[1:] else ""} {", ".join(short)}'


def nouns_of(names: Sequence[str]) -> str:
    """Return `cubes` for names such as red_cube that all end so; '' for others."""
    ends = {name.rpartition('_')[2] for name in names if name.rpartition('_')[0]}
    noun = ends.pop() if len(ends) == 1 and all('_' in name for name in names) else ''
    regular = (
        noun.isalpha() and len(noun) > 1 and not noun.endswith(('s', 'x', 'sh', 'ch', 'y', 'fe'))
    )
    return f'{noun}s' if regular else ''


@dataclass(frozen=True, slots=True)
class Amount:
    """So much, within the tolerance that the checker states, or a bound."""

    value: float
    """In its unit; negative for clockwise."""
    unit: str
    """`cm`, `deg` or `%`."""
    bound: str = ''
    """`at least`, `at most`, or '' for exactly so much."""
    signed: bool = False
    """Whether it was written with a sign: a turn without one may be either way."""

    def __str__(self) -> str:
        sign = '+' if self.signed and self.value >= 0 else ''
        return f'{self.bound} {sign}{self.value:.7g} {self.unit}'.lstrip()


@dataclass(frozen=True, slots=True)
class GoalCondition:
    """One requirement."""

    kind: ConditionKind
    subjects: tuple[Selection, ...]
    """What it is about: one selection, or the parts of a tower or line in their order."""
    place: Selection | None = None
    """What that is related to."""
    word: str = ''
    """A side, a state, or from where `nearest` and `farthest` are measured."""
    negated: bool = False
    amount: Amount | None = None
    once: bool = False
    """Whether it only had to be so at some time on the way."""
    at_m: tuple[float, ...] = ()
    """Where the middle has to be, x y or x y z in the frame of the arm's base [m]."""

    def __str__(self) -> str:
        more = [str(part) for part in (self.place, self.word, self.at_words, self.amount) if part]
        text = f'{self.kind.value}({", ".join([*map(str, self.subjects), *more])})'
        return f'not {text}' if self.negated else f'once {text}' if self.once else text

    @property
    def at_words(self) -> str:
        """Where the middle has to be, as it is written; '' for other kinds."""
        return ' '.join(f'{value:g}' for value in self.at_m)

    @property
    def selections(self) -> tuple[Selection, ...]:
        return (*self.subjects, self.place) if self.place else self.subjects

    @property
    def counts_places(self) -> bool:
        """Whether it has to be so to a number of the objects that it relates its own to."""
        if self.place is None or self.kind is K.BETWEEN:
            return False
        several = self.place.count > 1 and self.kind not in GROUPS
        return self.place.counted or several

    @property
    def in_words(self) -> str:
        """The condition as a sentence without its full stop, for people."""
        return (
            f'{self._now_in_words}, at some time on the way' if self.once else self._now_in_words
        )

    @property
    def _now_in_words(self) -> str:
        who, words = self.subjects[0].in_words, self.kind.words
        if self.kind in SHAPES:
            form = f'{"do not form" if self.negated else "form"} one {words}'
            form += f' with {self.amount} between neighbours' if self.amount else ''
            if len(self.subjects) == 1:
                return f'{who} {form}'
            order = 'from the bottom up' if self.kind is K.TOWER else 'in this order'
            return f'{", ".join(item.in_words for item in self.subjects)} {form}, {order}'
        is_ = ('are' if self.subjects[0].count > 1 else 'is') + (' not' if self.negated else '')
        if self.negated and len(self.subjects[0].names) > 1 and not self.subjects[0].variable:
            who, is_ = f'none of {who.replace(" or ", ", ")}', 'is'
        words_of = WORDS.get(self.kind, {})
        second = self._others_in_words if self.place else words_of.get(self.word, self.at_words)
        amount = f'{self.amount} ' if self.amount else ''
        if self.kind is K.BETWEEN and amount:
            amount += 'of the way '
        of = f'the {ARM}' if self.word == ARM else self.word
        return f'{who} {is_} {words.format(second, amount=amount, of=of)}'.rstrip()

    @property
    def _others_in_words(self) -> str:
        """What it is related to; of a group, without the object itself."""
        assert self.place is not None
        names = set(self.subjects[0].names)
        rest = [name for name in self.place.names if name not in names]
        if (
            self.kind not in GROUPS
            or self.place.counted
            or self.place.variable
            or len(rest) == len(self.place.names)
        ):
            return self.place.in_words
        return listed(rest) if len(names) == 1 else listed([*rest, 'each other'])


@dataclass(frozen=True, slots=True)
class TaskGoal:
    """What must be so when a task is done, all of it."""

    conditions: tuple[GoalCondition, ...]
    rest: str = ''
    """What the task asks for beside, which no condition expresses."""
    left_out: tuple[str, ...] = ()
    """What `all of cubes` does not count, as it is out of reach."""

    def __str__(self) -> str:
        return '; '.join([*map(str, self.conditions), *self._unchecked])

    @property
    def in_words(self) -> tuple[str, ...]:
        words = (condition.in_words for condition in self.conditions)
        return (*words, *filter(None, [self.left_out_words]), *self._unchecked)

    @property
    def left_out_words(self) -> str:
        """What is left out, for people; '' for nothing."""
        return f'{LEFT_OUT}: {", ".join(self.left_out)}' if self.left_out else ''

    @property
    def _unchecked(self) -> tuple[str, ...]:
        return (f'{NOT_CHECKED}: {self.rest}',) if self.rest else ()

    @property
    def variables(self) -> Mapping[str, Selection]:
        each = (item for condition in self.conditions for item in condition.selections)
        return {item.variable: item for item in each if item.variable}

    def choices(self) -> Iterator[tuple[Mapping[str, str], tuple[GoalCondition, ...]]]:
        """Yield each way to choose different objects for the variables, and what it requires."""
        variables = self.variables
        for names in itertools.product(*(item.names for item in variables.values())):
            value = dict(zip(variables, names))
            made = tuple(_with_values(condition, value) for condition in self.conditions)
            alone = (c.place is not None and _is_to_itself(c) for c in made)
            if len(set(names)) == len(names) and not (value and any(alone)):
                yield value, made

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
    n_met: int = 0
    """How many conditions are met."""
    broken: tuple[GoalCondition, ...] = ()
    """The conditions that do not."""

    @property
    def met(self) -> bool:
        return not self.unmet and not self.unseen

    @property
    def status(self) -> str:
        """One of `met`, `unmet`, `met as far as checked` and `not checked`."""
        if self.unmet or self.met:
            return UNMET if self.unmet else MET
        return AS_FAR if self.n_met else NOT_CHECKED


def _with_values(condition: GoalCondition, value: Mapping[str, str]) -> GoalCondition:
    """Return a condition with objects in place of its variables."""

    def chosen(item: Selection) -> Selection:
        name = value.get(item.variable)
        return item if name is None else Selection((name,), 1, name)

    place = condition.place and chosen(condition.place)
    return replace(condition, subjects=tuple(map(chosen, condition.subjects)), place=place)


def kinds_for(domain: str) -> tuple[ConditionKind, ...]:
    """Return the kinds of conditions that a scene of a domain can be checked for."""
    return HOUSE_KINDS if domain in SYMBOLIC else TABLE_KINDS


def goal_form(domain: str) -> str:
    """Return what can be written, in one sentence, for refusals."""
    forms = ', '.join(kind.form for kind in kinds_for(domain))
    return (
        f'Conditions are {forms}; with `not` before one for its opposite, and `2 of a|b|c`, '
        '`exactly 2 of a|b|c` or `all of a|b|c` for several objects, `x=a|b` and then `x` for the '
        'same one.'
    )


_MARKS = ' \t\r>*_#`~-•.;"'
_NUMBERED = re.compile(r'\d{1,3}[.:)]\s+')
_CONDITION = re.compile(r'((?:not|once)\s+)?([A-Za-z]\w{0,40})\s*\(([^()]*)\)')
_REST = re.compile(rf'(?:^|[;\n])[\s*`-]*{NOT_CHECKED}:(.*)', re.IGNORECASE | re.DOTALL)
_COUNTED = re.compile(r'(exactly\s+)?(\d{1,4}|one|all)\s+of\s+(.+)', re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r'([A-Za-z]\w{0,15})\s*=\s*(\S.*)', re.DOTALL)
_POSITION = re.compile(r'[+-]?\d(?:\.\d{0,6})?(?:\s+[+-]?\d(?:\.\d{0,6})?){1,2}')
_OTHERS = re.compile(r'(\ball\s+of\s+)?\bothers\b', re.IGNORECASE)
_AMOUNT = re.compile(
    rf'(at least|at most|[<>]=|[≤≥=])?\s*([+-]?)(\d{{1,5}}(?:\.\d{{1,3}})?)\s*({"|".join(UNITS)})',
    re.IGNORECASE,
)
_BOUNDS = {'>=': 'at least', '≥': 'at least', '<=': 'at most', '≤': 'at most', '=': ''}
_ALL_OF = re.compile(r'\ball\s+of\s+([^,]+)', re.IGNORECASE)
_NUMBER_OF = re.compile(r'^(?:exactly\s+)?(?:\d{1,4}|one)\s+of\s+', re.IGNORECASE)


def parse_goal_reply(text: str, scene: Scene) -> TaskGoal | None:
    """
    Return the goal of a model's reply, None for the line `none`.

    A goal of nothing but `not checked: X` has no conditions, and the rest X, also beside `none`.
    Lines without a bracket are chatter and are ignored; every other line must be conditions.
    Raises ParseError for a line that is not, or names what the scene does not have.
    """
    lines = [_bare(line) for line in text.split('\n')]
    rest = [line for line in lines if line.lower().startswith(f'{NOT_CHECKED}:')]
    lines = [line for line in lines if line not in rest]
    unchecked = _kept(' / '.join(line.partition(':')[2].strip(_MARKS) for line in rest))
    wanted = [line for line in lines if '(' in line]
    nothing = any(line.lower() == NONE for line in lines)
    if unchecked and not wanted:
        return TaskGoal((), unchecked)
    if nothing:
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
    return replace(goal, rest=unchecked)


def _kept(rest: str) -> str:
    """Return what is not checked as one line that the grammar reads again."""
    return ' '.join(rest.replace(';', ',').split())[:MAX_REST].rstrip()


def _bare(line: str) -> str:
    return _NUMBERED.sub('', line.strip(_MARKS), count=1).strip(_MARKS)


def kinds_in(text: str) -> Iterator[str]:
    """Yield the kinds of the conditions of a goal, but for those with `not`."""
    return (kind for before, kind, _ in _CONDITION.findall(text) if not before)


def parse_goal(text: str, scene: Scene, known: Mapping[str, Selection] | None = None) -> TaskGoal:
    """
    Return the goal that a person or a model wrote; *known* are variables that it need not define.

    Raises:
        ParseError: It is not in the grammar; with the forms that are.
        UnknownNameError: The scene has no such object; with the nearest one.
    """
    if unchecked := _REST.search(text):
        rest, before = _kept(unchecked[1]), text[: unchecked.start()]
        is_bare = rest and not before.strip(' \t\r\n;')
        bare = TaskGoal(()) if is_bare else parse_goal(before, scene, known)
        return replace(bare, rest=rest)
    found: list[GoalCondition] = []
    left_out = _left_out(text, scene)
    text = _with_others(text, scene)
    meant = {name: str(item) for name, item in (known or {}).items()}
    meant |= _variables(text, scene)
    at = 0
    for match in _CONDITION.finditer(text):
        if not re.fullmatch(r'[\s,;.]*(?:and\b)?\s*', text[at : match.start()]):
            raise _unreadable(text[at : match.end()], scene)
        before = (match[1] or '').strip().lower()
        made = _condition(match[2], _with_variables(match[3], meant), before == 'not', scene)
        if before == 'once' and (scene.is_symbolic or made.kind in (K.HELD, K.MOVED_BEFORE)):
            raise ParseError(f'`once` goes with conditions on places of a table, not {match[0]}.')
        found.append(replace(made, once=before == 'once'))
        at = match.end()
    if not found or text[at:].strip(' \t\r\n;,.'):
        raise _unreadable(text[at:], scene)
    conditions = tuple(dict.fromkeys(found))
    if len(conditions) > MAX_CONDITIONS:
        raise ParseError(
            f'The goal has {len(conditions)} conditions; write {MAX_CONDITIONS} at most, with '
            'all of a|b|c for several objects.'
        )
    goal = TaskGoal(conditions, left_out=left_out)
    if goal.variables and next(goal.choices(), None) is None:
        raise ParseError(
            f'{" and ".join(goal.variables)} stand for different objects, of which there are too '
            'few.'
        )
    return goal


def _variables(text: str, scene: Scene) -> Mapping[str, str]:
    """Return the variables of a goal, each with its definition: `x` with `x=a|b`."""
    found: dict[str, str] = {}
    for _, _, args in _CONDITION.findall(text):
        for part in map(str.strip, args.split(',')):
            if defined := _VARIABLE.fullmatch(part):
                name = defined[1]
                if _alike(name, scene) or found.setdefault(name, part) != part:
                    raise ParseError(
                        f'{name} in {part[:QUOTED]!r} has a meaning already; use another letter.'
                    )
    return found


def _with_variables(args: str, meant: Mapping[str, str]) -> str:
    """Return arguments with each variable as it is defined."""
    parts = map(str.strip, args.split(','))
    return ', '.join(meant.get(part, part) for part in parts) if meant else args


def withdrawn(goal: TaskGoal, text: str, reason: str, scene: Scene) -> TaskGoal:
    """
    Return a goal without one of its conditions, which is from then on what is not checked.

    Raises ParseError where the text is none of its conditions.
    """
    try:
        gone = parse_goal(text, scene, goal.variables).conditions
    except UnknownNameError as error:
        raise ParseError(str(error)) from error
    if len(gone) != 1 or gone[0] not in goal.conditions:
        raise ParseError(
            f'{text[:QUOTED]!r} is none of the conditions of the goal, which are '
            f'{"; ".join(map(str, goal.conditions))}.'
        )
    left = tuple(condition for condition in goal.conditions if condition != gone[0])
    words = f'{gone[0].in_words} (withdrawn by the planner: {reason})'
    return replace(goal, conditions=left, rest=_kept(' / '.join(filter(None, (words, goal.rest)))))


def _unreadable(text: str, scene: Scene) -> ParseError:
    return ParseError(f'{text.strip()[:QUOTED]!r} is no condition. {goal_form(scene.domain)}')


def _condition(name: str, args: str, negated: bool, scene: Scene) -> GoalCondition:
    known = {kind.value: kind for kind in kinds_for(scene.domain)}
    kind = known.get(plain(name))
    if kind is None:
        raise _unreadable(f'{name.strip()}({args})', scene)
    parts = [part.strip() for part in args.split(',')]
    amount = _amount(kind, parts)
    if kind in SHAPES:
        members = _parts_of_shape(kind, parts, scene)
        return GoalCondition(kind, members, negated=negated, amount=amount)
    wanted = kind.form.count(',') + (kind not in AMOUNTS)
    if len(parts) != wanted or not all(parts):
        raise ParseError(
            f'{kind.value}({args[:QUOTED]}) has {len(parts)} arguments; write {kind.form}. '
            f'{goal_form(scene.domain)}'
        )
    if negated:
        _check_unnumbered(kind, parts)
    subject = _movable(_selection(parts[0], scene), scene)
    one_of = subject.counted or subject.variable
    if kind is K.UNCHANGED and not negated and not one_of:  # also without `all of`
        subject = replace(subject, count=len(subject.names))
    made = GoalCondition(kind, (subject,), negated=negated, amount=amount)
    if kind in WORDS:
        word = plain(parts[1])
        if word not in WORDS[kind]:
            raise ParseError(
                f'{parts[1][:QUOTED]!r} is none of {", ".join(WORDS[kind])}, which '
                f'{kind.value} takes.'
            )
        return replace(made, word=word)
    if kind is K.AT:
        return replace(made, at_m=_position(parts[1]))
    if wanted == 1:
        return made
    if kind in (K.NEAREST, K.FARTHEST):
        made = replace(made, word=_measured_from(parts.pop(), scene))
    made = replace(made, place=_place(kind, parts[1:], scene))
    if negated and made.counts_places:
        raise ParseError(
            f'`not` before {str(made.place)[:QUOTED]!r} in second place is not clear. Write '
            f'not {kind.value}(a, b) for each of them that is meant.'
        )
    if _is_to_itself(made):
        raise ParseError(
            f'{kind.value}({args[:QUOTED]}) relates an object to itself. {kind.form} takes '
            f'different objects; for a task that asks for that, there is no condition: `{NONE}`.'
        )
    return made


def _amount(kind: ConditionKind, parts: list[str]) -> Amount | None:
    """Take the amount off the end of the arguments of a condition, where it has one."""
    found = _AMOUNT.fullmatch(parts[-1]) if kind in AMOUNTS else None
    if found is None and (kind not in AMOUNTS or kind in NEEDS_NONE):
        return None
    words, sign, number, name = found.groups('') if found else ('', '', '0', '')
    bound = _BOUNDS.get(words, words.lower())
    unit, share = UNITS.get(name.lower(), ('', 1.0))
    turns = kind in (K.YAW, K.TURNED)
    if unit != AMOUNTS[kind] or (sign and not turns) or (bound and (sign or kind is K.YAW)):
        bounds = '' if kind is K.YAW else ', "at least" or "at most" before it'
        raise ParseError(
            f'{kind.value} ends with an amount in {AMOUNTS[kind]}{bounds}, not with '
            f'{parts[-1][:QUOTED]!r}; write {kind.form}.'
        )
    parts.pop()
    value = round(float(number) * share, 2)
    return Amount(-value if sign == '-' else value, unit, bound, signed=bool(sign))


def _position(text: str) -> tuple[float, ...]:
    if not _POSITION.fullmatch(text):
        raise ParseError(f'{text[:QUOTED]!r} is no position; write x y or x y z: {K.AT.form}.')
    return tuple(map(float, text.split()))


def _measured_from(text: str, scene: Scene) -> str:
    """Return the one object that `nearest` is measured from, or the arm."""
    if plain(text) == ARM:
        return ARM
    names = _selection(text, scene).names
    if len(names) > 1:
        raise ParseError(f'{text[:QUOTED]!r} comes last: write one object there, or {ARM}.')
    return names[0]


def _is_to_itself(condition: GoalCondition) -> bool:
    """Return whether an object would have to be related to itself."""
    (subject,), place = condition.subjects, condition.place
    assert place is not None
    if condition.kind in GROUPS:
        least = place.count if place.counted else 1
        words = condition.word
        alone = any(len({*place.names} - {name, words}) < least for name in subject.names)
        return alone or words in subject.names
    fitting = [n for n in subject.names if len({*place.names} - {n}) >= place.count]
    return len(fitting) < (1 if condition.negated else subject.count)


def _check_unnumbered(kind: ConditionKind, parts: Sequence[str]) -> None:
    """Refuse a number behind `not`: "not both" would be read as "none"."""
    plain_parts = [_NUMBER_OF.sub('', part) for part in parts]
    if numbered := next((part for part, bare in zip(parts, plain_parts) if part != bare), ''):
        raise ParseError(
            f'`not` before {numbered[:QUOTED]!r} is not clear: it means that none of some objects '
            f'may be so, and takes no number. Write not {kind.value}({", ".join(plain_parts)}) '
            f'where that is meant; another requirement goes behind `{NOT_CHECKED}:`.'
        )


def _place(kind: ConditionKind, parts: Sequence[str], scene: Scene) -> Selection:
    """Return what a condition relates its objects to: one of some, or the two ends of a line."""
    chosen = [_selection(part, scene) for part in parts]
    names = tuple(name for item in chosen for name in item.names)
    if kind is not K.BETWEEN:
        every = kind in GROUPS and not chosen[0].counted and not chosen[0].variable
        return replace(chosen[0], count=len(names)) if every else chosen[0]
    if not len(set(names)) == len(names) == len(chosen):
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
    if in_order:
        chosen = _without_singles(chosen)
    if exact := next((item for item in chosen if item.exact), None):
        raise ParseError(
            f'{str(exact)[:QUOTED]!r} does not go with {kind.value}: write {exact.count} of; a '
            f'{kind.value} is of just so many.'
        )
    members = [name for item in chosen for name in item.names]
    if fixed := [name for name in members if scene.object(name).kind not in MOVABLE]:
        raise ParseError(
            f'{fixed[0]} is a {scene.object(fixed[0]).kind.value}, which cannot be part of a '
            f'{kind.value}: it takes cubes and other objects that can be stacked, and a container '
            'comes second, as b in in(a, b).'
        )
    size = sum(item.count for item in chosen)
    mixed = kind is K.PLUS and in_order and size < len(members)
    if len(set(members)) < len(members) or mixed:
        raise ParseError(
            f'{kind.value} takes objects in their order, each once, as in {K.TOWER.form}, or so '
            f'many of some in any order, as in {kind.value}(3 of a|b|c|d).'
        )
    if in_order and kind is K.PLUS:  # it has no order
        chosen = (_all_of(members),)
    if size < 2 or (kind is K.PLUS and size != PLUS_SIZE):
        least = '5 objects, as in plus(5 of a|b|c|d|e|f)' if kind is K.PLUS else 'two or more'
        raise ParseError(f'{kind.value} takes {least}, and {size} are given.')
    return chosen


def _without_singles(chosen: tuple[Selection, ...]) -> tuple[Selection, ...]:
    """Return the parts of a shape; `all of cubes` leaves out what is a part by its own name."""
    singles = {item.names[0] for item in chosen if len(item.names) == 1}
    left: list[Selection] = []
    for item in chosen:
        rest = [name for name in item.names if name not in singles]
        whole = len(item.names) == item.count
        left.append(item if not (whole and 0 < len(rest) < item.count) else _all_of(rest))
    return tuple(left)


def _all_of(names: Sequence[str]) -> Selection:
    text = '|'.join(names)
    return Selection(tuple(names), len(names), f'all of {text}' if len(names) > 1 else text)


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
    variable = _VARIABLE.fullmatch(text)
    counted = None if variable else _COUNTED.fullmatch(text)
    alternatives = variable[2] if variable else counted[3] if counted else text
    words = [word.strip() for word in alternatives.split('|')]
    names = tuple(dict.fromkeys(name for word in words for name in _meant(word, scene)))
    number, exact = '1', False
    if counted:
        number, exact = counted[2].lower().replace('one', '1'), bool(counted[1])
    every = number == 'all' and not exact
    count = len(names) if every else int(number) if number != 'all' else 0
    if not 1 <= count <= len(names):
        raise ParseError(
            f'{text[:QUOTED]!r} asks for {number} of {len(names)} objects; any number from 1 to '
            f'{len(names)} will do.'
        )
    is_counted = bool(counted) and not every
    name = variable[1] if variable else ''
    return Selection(names, count, text, counted=is_counted, exact=exact, variable=name)


def _with_others(text: str, scene: Scene) -> str:
    """Return a goal with names in place of the word `others`."""
    if not _OTHERS.search(text) or scene.is_symbolic:
        return text
    rest = _others(text, scene)
    if not rest:  # of nothing else, all is so that may not be
        text = _CONDITION.sub(
            lambda m: (
                ''
                if ((m[1] or '').lower().startswith('not') or m[2] == K.UNCHANGED)
                and _OTHERS.search(m[3])
                else m[0]
            ),
            text,
        )
    near = [name for name in rest if not _is_far(name, scene)]

    def names(found: re.Match[str]) -> str:
        some = near if found[1] else rest
        return (found[1] or '') + '|'.join(some) if some else found[0]

    return _OTHERS.sub(names, text)


def _others(text: str, scene: Scene) -> list[str]:
    """Return what can be moved and no condition of a goal names."""
    words = {word for word in re.findall(r'\w+', text) if not _OTHERS.fullmatch(word)}
    named = {name for word in words for name in (*_alike(word, scene), *_of_kind(word, scene))}
    return [x.name for x in scene.objects if x.kind in MOVABLE and x.name not in named]


def _left_out(text: str, scene: Scene) -> tuple[str, ...]:
    """
    Return what `all of cubes` and `all of others` would mean, were it within reach.

    All cubes within reach, written name by name, are `all of cubes` too.
    """
    if scene.is_symbolic:
        return ()
    found: list[str] = []
    for before, kind, args in _CONDITION.findall(text):
        judged = before.lower().startswith('not') or kind == K.UNCHANGED
        for words in [] if judged else _ALL_OF.findall(args):
            meant: set[str] = set()
            for word in map(str.strip, words.split('|')):
                meant.update(names := _alike(word, scene))
                if _OTHERS.fullmatch(word):
                    found += _others(text, scene)
                elif not names:
                    found += _of_kind(word, scene, far=True)
            kinds = {scene.object(name).kind.value for name in meant}
            if len(meant) > 1 and any(meant == {*_of_kind(kind, scene)} for kind in kinds):
                found += _of_kind(kinds.pop(), scene, far=True)
    named = {plain(word) for word in re.findall(r'\w+', text)}
    return tuple(n for n in dict.fromkeys(found) if _is_far(n, scene) and plain(n) not in named)


def _is_far(name: str, scene: Scene) -> bool:
    return scene.has(name, 'reachable', 'no')


def _alike(word: str, scene: Scene) -> list[str]:
    return [name for name in scene.names if plain(name) == plain(word)]


def _of_kind(word: str, scene: Scene, *, far: bool = False) -> list[str]:
    """Return the objects of a kind, as `cubes`, that are within reach, or also the *far* ones."""
    kind = plain(word).removesuffix('s')
    alike = (x.name for x in scene.objects if x.kind.value == kind)
    return [name for name in alike if far or not _is_far(name, scene)]


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
