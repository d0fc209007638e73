"""
A small grammar of English instructions for a table: a sentence becomes goals, or a refusal.

A clause is read in two stages. Names and descriptions of objects become symbols: `put the red cube
on location_B` is `put M0 on L1`. Then one of a few forms has to fit. It is no language model: a
sentence with a word that it does not contain is refused by that word.
"""

import difflib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bbllm.core.arguments import DIRECTIONS, angles_deg, directions_in, lengths_m
from bbllm_bench.oracle.table_goals import (
    COLORS,
    Act,
    Arrange,
    RefusalError,
    Select,
    Side,
    TableGoal,
    TableObject,
    Use,
)

HINT = (
    "What works: 'put the red cube on location_B', 'stack the cubes', 'move all cylinders to the "
    "left side', 'create a plus sign using the cubes'. A language model would understand more: "
    'name one with --brain, or in config/llm.yaml.'
)
"""Ends every refusal."""
WHAT_COUNTS = ' What counts: '
"""Begins the tolerances in an instruction of a suite, which ask for nothing more; not read."""
MAX_CHARACTERS = 2000
MAX_WORDS = 60
"""Most words of a clause."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NUMBERS = {
    **{'zero': 0, 'one': 1, 'two': 2, 'three': 3, 'four': 4, 'five': 5},
    **{'six': 6, 'seven': 7, 'eight': 8, 'nine': 9, 'ten': 10},
}
ISH = {
    'reddish': _set('red crimson scarlet maroon salmon coral pink rose ruby cherry tomato '
                    'vermilion burgundy'),
    'bluish': _set('blue aqua cyan azure navy turquoise teal indigo'),
    'blueish': _set('blue aqua cyan azure navy turquoise teal indigo'),
    'greenish': _set('green lime mint olive teal turquoise'),
    'yellowish': _set('yellow gold amber'),
}  # fmt: skip
KINDS = {
    'cube': 'cube', 'block': 'cube', 'box': 'cube', 'cylinder': 'cylinder', 'can': 'cylinder',
    'location': 'location', 'spot': 'location', 'position': 'location',
}  # fmt: skip
ANY = _set('object thing item one everything anything')
PLURALS = {*(f'{noun}s' for noun in (*KINDS, *ANY)), 'boxes', 'everything'}
SHAPES = {
    'plus': 'plus', 'cross': 'plus', 'triangle': 'triangle', 'square': 'square', 'l': 'L',
    'column': 'column', 'row': 'row', 'line': 'row', 'rainbow': 'row',
    'tower': 'tower', 'stack': 'tower', 'pile': 'tower',
}  # fmt: skip
PICK = _set('pick grasp grab hold lift take get')
PUT = _set('put place move bring set carry transfer drop return')
STACK = _set('stack pile')
MAKE = _set('make create build form arrange construct use order sort align line group distribute')
SPLIT = _set('separate segregate divide split')
PUSH = _set('push shove slide nudge')
TURN = _set('rotate turn spin twist')
VERBS = (
    PICK
    | PUT
    | STACK
    | MAKE
    | SPLIT
    | PUSH
    | TURN
    | _set('reach hover open close release wait pause go')
)
ARTICLES = _set('the its their your my same of')
ALL = _set('all every each everything')
A = _set('a an any another some single anything')
PRONOUNS = _set('it them those these')
COLOR_WORDS = _set('color colors colour colours spectrum rainbow hue')
SKIPPED = _set(
    'please kindly carefully gently slowly only just again back directly also together up'
)
LEADING = _set(
    'now ok hey hello robot can could would will you i we want need like to and first finally so '
    'but afterwards ,'
)
FILLER = _set(
    'on onto at in into over upon above top inside side sides half part end table workspace work '
    'space working environment area right left gripper hand fingers arm home sign shape shapes '
    'shaped symbol letter capital horizontal vertical using from out made ordered sorted arranged '
    'based by sequence visible according center centre middle geometric geometrical that meet '
    'angle which is are be should must not consists with have has exactly own give either '
    'different kind kinds type types straight where they down seconds second base start for as or '
    'apart opposite per other others'
)
MEASURES = _set(
    'mm cm m millimetres millimeters centimetres centimeters metres meters degrees deg clockwise '
    'counterclockwise anticlockwise counter anti forward forwards ahead away backward backwards'
)
CONJUNCTIONS = _set('and , or')
NOUNS = {*KINDS, *ISH, *PLURALS} | ANY | COLORS | PRONOUNS
DESCRIBING = NOUNS | {*NUMBERS, 'both', 'other', 'others'} | ALL | A | ARTICLES | CONJUNCTIONS
VOCABULARY = (
    VERBS | MEASURES | COLOR_WORDS | SKIPPED | LEADING | FILLER | DESCRIBING | frozenset(SHAPES)
)
_SPELLINGS = (
    (r"['\"‘“]?\+['\"’”]?(?=\W|$)", ' plus '), (r"['’]s\b", ''), (r'(?<=\d),', ''),
    (r'[!?:;](?=\s|$)|\.(?!\d)|\bthen\b|\bafter that\b|\bthanks?\b(?: you\b)?', ' ; '),
    (r'(?<=[a-z])[-/](?=[a-z])', ' '), (r',? ?\bone (?:on|onto) (?:top of )?the other\b', ''),
    (r'\b(base|home|start(?:ing)?) position\b', r'\1'), (r'\bstarting\b', 'start'),
    (r'\b(?:should|must) (?:go|be put)\b', ''), (r'\bpick(?: up)? and place\b', 'put'),
)  # fmt: skip
_LETTERS = re.compile(r'\blocations? ((?:[a-z]\b(?:,? and |, ?)?)+)')
_ON = '(?:(?:on|onto|to|at|in|into|over|upon|above|top|inside) )+'
_ITEMS = r'M\d+(?: & M\d+)*'
_NUMBER = r'[-+]?\d*\.?\d+'
_PLACE = (
    r'(?:M\d+|L\d+(?: & L\d+)*|C\d+(?: & C\d+)*|T\d+|table|'
    rf'{_NUMBER}(?:(?: {_NUMBER}){{6}}|(?: {_NUMBER}){{2,3}})|'
    r'(?:left|right)(?: (?:side|half|part|end|environment|table|work ?space|working space|T\d+))*)'
)
"""M: objects that can be moved, L: locations, C: containers, T: anywhere on the table."""
_MOVE = rf'({_ITEMS}) {_ON}({_PLACE})(?= & M|$)'


def read_instruction(
    text: str, objects: Mapping[str, TableObject], held: str | None = None
) -> list[TableGoal]:
    """
    Return the goals of an instruction.

    Raises:
        RefusalError: It is not understood, or names what is not there, with the words.
    """
    if len(text) > MAX_CHARACTERS:
        raise RefusalError(
            f'The task has {len(text)} characters; I read at most {MAX_CHARACTERS}. {HINT}'
        )
    text = text.partition(WHAT_COUNTS)[0]
    clauses = _clauses(_words(text, objects))
    parts = {part for name in objects for part in name.lower().split('_')}
    known = VOCABULARY | {*objects} | parts
    spelled = {word.lower(): word for word in re.findall(r'\w+', text)}
    unknown = [w for clause in clauses for w in clause if w not in known and not _is_number(w)]
    if unknown:
        close = difflib.get_close_matches(unknown[0], objects, n=1, cutoff=0.75)
        hint = f' Did you mean {close[0]}?' if close else ''
        listed = ', '.join(repr(spelled.get(w, w)[:24]) for w in dict.fromkeys(unknown[:5]))
        raise RefusalError(f'I do not understand {listed}.{hint} {HINT}')
    reader = _Reader(objects, held)
    goals: list[TableGoal] = []
    for clause in clauses:
        try:
            goals += reader.read(clause)
        except RefusalError:
            asking = PICK | PUT | STACK | COLORS | {*ISH, *objects}
            if not goals or asking.intersection(clause):
                raise
            continue  # it only explains what was asked for before
    if not goals:
        raise RefusalError(f'I do not understand {text[:80]!r}. {HINT}')
    return goals


def names_in(text: str, objects: Mapping[str, TableObject]) -> list[str]:
    """Return all objects that a piece of text names or describes."""
    reader = _Reader(objects)
    try:
        reader.symbols(_words(text, objects))
    except RefusalError:
        return []
    return [name for select in reader.selects.values() for name in select.names]


def _words(text: str, objects: Mapping[str, TableObject]) -> list[str]:
    """Return the words of a text; a name of the scene is one word, also if it has spaces."""
    text = ' '.join(text.lower().split())
    for pattern, spelling in _SPELLINGS:
        text = re.sub(pattern, spelling, text)
    text = _LETTERS.sub(lambda found: re.sub(r'\b([a-z])\b', r'location_\1', found[0]), text)
    text = re.sub(r'\blocations?(?= location_)', '', text)
    for name in sorted(objects, key=len, reverse=True):
        spaced = re.escape(name.lower()).replace('_', '[ _]')
        text = re.sub(rf'\b{spaced}\b', name, text, flags=re.IGNORECASE)
    return re.findall(rf'{_NUMBER}(?!\w)|\w+|[,;]', text)


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """Split at ends of sentences, and at `and` or a comma before a verb."""
    clauses: list[list[str]] = [[]]
    for i, word in enumerate(words):
        following = next((w for w in words[i + 1 : i + 9] if w not in LEADING | SKIPPED), '')
        if word == ';' or (word in ('and', ',', 'but') and following in VERBS):
            clauses.append([])
        elif word == 'back' and PUSH.intersection(clauses[-1][:1]):
            clauses[-1].append('backward')
        elif word not in SKIPPED and (clauses[-1] or word not in LEADING):
            clauses[-1].append(word)
    return [clause for clause in clauses if clause]


def _is_number(word: str) -> bool:
    return word.isascii() and re.fullmatch(_NUMBER, word) is not None


def _side(text: str) -> Side | None:
    """Return the first side that is named."""
    found = re.search(r'\b(?:left|right)\b', text)
    return None if found is None else 'left' if found[0] == 'left' else 'right'


class _Reader:
    """Reads one clause after the other, and remembers what `it` or `them` means."""

    def __init__(self, objects: Mapping[str, TableObject], held: str | None = None):
        self._objects = objects
        self.selects: dict[str, Select] = {}
        """By symbol: the objects that it stands for."""
        self._last = self._symbol(Select(held, (held,))) if held and held in objects else ''

    def read(self, words: list[str]) -> list[TableGoal]:
        """
        Return the goals of a clause.

        Raises:
            RefusalError: None of the forms fits, or the scene has no such object.
        """
        verb = words[0] if words[0] in VERBS else ''
        text = self.symbols(words[1:] if verb else words)
        for form in (self._act, self._shift, self._put, self._sides, self._pattern):
            if len(words) <= MAX_WORDS and (goals := form(verb, text)):
                return goals
        raise RefusalError(f"I do not understand '{' '.join(words)[:80]}'. {HINT}")

    # --- forms of clauses ---------------------------------------------------------------------

    def _act(self, verb: str, text: str) -> list[TableGoal]:
        """Read `open the gripper`, `go home`, `wait 2 seconds`, `reach over location_A`."""
        if verb in ('go', 'return', 'move') and re.fullmatch('(?:to )?(?:base|home|start)', text):
            return [Act('home')]
        if verb in ('open', 'close', 'release') and text in ('gripper', 'hand', 'fingers'):
            return [Act('close' if verb == 'close' else 'open')]
        if verb in ('wait', 'pause'):
            numbers = re.findall(rf'{_NUMBER}|{"|".join(NUMBERS)}', text)
            seconds = [float(NUMBERS.get(number, number)) for number in numbers] or [1.0]
            if not 0 < seconds[0] <= 60:
                raise RefusalError('I can wait for more than 0 and at most 60 seconds at a time.')
            return [Act('wait', seconds=seconds[0])]
        found = re.fullmatch(rf'(hand |arm |gripper )?{_ON}({_PLACE})', text)
        if found and (found[1] or verb in ('reach', 'hover', 'go')):
            spots = self._target(found[2]).spots
            return [Act('reach', place=spots[0])] if spots else []
        return []

    def _shift(self, verb: str, text: str) -> list[TableGoal]:
        """Read `push the red cube 10 cm to the left`, `rotate the red cube by 45 degrees`."""
        found = re.fullmatch(r'(M\d+) (.+)', text) if verb in PUSH | TURN else None
        if found is None:
            return []
        self._last, items = found[1], self._phrase(found[1])
        if items[0].count != 1:
            raise RefusalError(f"I {verb} one object at a time, not '{items[0].words}'.")
        if verb in TURN:
            turns: list[TableGoal] = [
                Use('rotate', items, (f'{turn_deg:g}',), f'by {turn_deg:g} degrees')
                for turn_deg in angles_deg(found[2])
            ]
            return turns[:1]
        ways, lengths = [*directions_in(found[2])], [*lengths_m(found[2])]
        if len(ways) != 1 or len(lengths) != 1:
            return []
        way, length, (x, y) = ways[0], f'{lengths[0]:g}', DIRECTIONS[ways[0]]
        shift_m = (x * lengths[0], y * lengths[0])
        return [Use('push', items, (way, length), f'{way} by {length}', shift_m)]

    def _put(self, verb: str, text: str) -> list[TableGoal]:
        """Read `put A on B and C on D`, `stack the cubes`, `pick up A`, `set A down`."""
        if verb not in PICK | PUT | STACK | MAKE | SPLIT | {''}:
            return []
        text = re.sub(' from .*', '', text) if verb in PICK else text
        plain = re.sub(r' ?\bdown\b', '', text).strip()
        if re.match(_ON, plain):  # `and then on location_B`
            plain = f'{self._last} {plain}'
        if verb in STACK and not plain:
            plain = self._cubes()
        if chain := re.fullmatch(rf'(M\d+(?: {_ON}M\d+)+) {_ON}({_PLACE})', plain):
            upwards = re.findall(r'M\d+', chain[1])[::-1]
            return [self._moved(' & '.join(upwards), chain[2], 'stack')]
        if re.fullmatch(rf'{_MOVE}(?: & {_MOVE})*', plain):
            pairs: list[tuple[str, str]] = re.findall(_MOVE, plain)
            return [self._moved(items, place, verb) for items, place in pairs]
        if not re.fullmatch(_ITEMS, plain):
            return []
        self._last, items = plain, self._phrase(plain)
        if verb in STACK:
            return [Arrange('tower', items)]
        if verb in PICK:
            if len(items) > 1 or items[0].count != 1:
                raise RefusalError(f"The hand takes one object at a time, not '{items[0].words}'.")
            return [Act('pick', items)]
        return [Arrange('free', items)] if plain != text and verb in PUT else []

    def _moved(self, items: str, place: str, verb: str) -> Arrange:
        """Return the goal that objects are on a place; several on one object make a tower."""
        self._last, phrase = items, self._phrase(items)
        if place in self.selects and place.startswith('M'):
            return Arrange('tower', (self.selects[place], *phrase))
        target = self._target(place)
        return replace(target, shape='tower' if verb in STACK else target.shape, items=phrase)

    def _target(self, place: str) -> Arrange:
        """Return a goal, so far without objects, for `_PLACE`."""
        if side := _side(place):
            return Arrange('side', (), side=side)
        if place.startswith(('T', 'table')):
            return Arrange('free', ())
        names = (name for select in self._phrase(place) for name in select.names)
        return Arrange('spots', (), tuple(names) or (place,))

    def _sides(self, verb: str, text: str) -> list[TableGoal]:
        """Read `one cube and one cylinder on each side`, `segregate the objects by shape`."""
        words, lists = {*text.split()}, re.findall(_ITEMS, text)
        if verb not in PUT | MAKE | SPLIT or words & (COLOR_WORDS | {'not'}):
            return []
        two = {'left', 'right'} <= words or bool(words & {'each', 'both'} and 'side' in words)
        for phrase in map(self._phrase, lists) if two else ():
            if all(select.counted for select in phrase):
                return [Arrange('per side', phrase)]
        kinds: dict[str, list[str]] = {}
        for name in dict.fromkeys(n for one in self._phrase(text) for n in one.names):
            kinds.setdefault(self._objects[name].kind, []).append(name)
        apart = two or verb in SPLIT or words & {'apart', 'opposite', 'different'}
        if not apart or len(kinds) < 2:
            return []
        (first, names), *others = kinds.items()
        rest = tuple(name for _, many in others for name in many)
        groups = Select(f'{first}s', (*names,), None), Select('others', rest, None)
        return [Arrange('parted', groups)]

    def _pattern(self, verb: str, text: str) -> list[TableGoal]:
        """Read `create a plus sign using the cubes`, `sort the cubes by colour`."""
        words, lists, places = {*text.split()}, re.findall(_ITEMS, text), re.findall(r'L\d+', text)
        shape = next((shape for word, shape in SHAPES.items() if word in words), '')
        by_color = shape in ('', 'row') and bool(COLOR_WORDS & words)
        shape = shape or ('row' if verb == 'line' or by_color else '')
        clear = len(lists) < 2 and 'not' not in words and (not places or shape == 'tower')
        if not shape or verb not in MAKE | {'put', 'place'} or not clear:
            return []
        self._last = lists[0] if lists else self._cubes()
        side = _side(re.sub('from (?:left|right) to (?:left|right)|right angle', '', text))
        spots = self._target(places[0]).spots if places else ()
        reverse = 'from right to' in text
        return [Arrange(shape, self._phrase(self._last), spots, side, by_color, reverse)]

    # --- descriptions of objects --------------------------------------------------------------

    def symbols(self, words: Sequence[str]) -> str:
        """
        Return a clause with a symbol for each description, and `&` for what joins them.

        Raises:
            RefusalError: The scene has no such object, or too few.
        """
        inside, nouns = DESCRIBING | {*self._objects}, NOUNS | {*self._objects}
        found: list[str] = []
        for describes, run in itertools.groupby(words, lambda w: w in inside or w.isdecimal()):
            part = [*run]
            last = max((i for i, word in enumerate(part) if word in nouns), default=-1)
            if not describes or part == ['one']:
                last = -1
            pieces = itertools.groupby(part[: last + 1], lambda word: word in CONJUNCTIONS)
            noun, described = '', list[str]()
            for joins, piece in reversed([(joins, [*piece]) for joins, piece in pieces]):
                if joins:
                    described.append('&')
                elif PRONOUNS.issuperset({*piece} - ARTICLES):
                    described.append(self._last)
                else:  # `red and blue cubes`: the noun comes last
                    noun = next((w for w in piece[::-1] if _singular(w) in {*KINDS, *ANY}), noun)
                    described.append(self._symbol(self._select(piece, noun)))
            rest = [word for word in part[last + 1 :] if word not in ARTICLES]
            found += [*described[::-1], *('&' if word in CONJUNCTIONS else word for word in rest)]
        return re.sub(r'(?:^& )|(?: &$)|( &)+(?= &)', '', ' '.join(found))

    def _symbol(self, select: Select) -> str:
        kinds = {self._objects[name].kind for name in select.names}
        vague = select.count == 1 and len(select.names) > 1
        letter = {'location': 'T' if vague else 'L', 'container': 'C', 'fixture': 'T'}.get(
            min(kinds) if len(kinds) == 1 else '', 'X'
        )
        if all(self._objects[name].movable for name in select.names):
            letter = 'M'
        symbol = f'{letter}{len(self.selects)}'
        self.selects[symbol] = select
        return symbol

    def _phrase(self, text: str) -> tuple[Select, ...]:
        return tuple(self.selects[word] for word in text.split() if word in self.selects)

    def _cubes(self) -> str:
        return self.symbols(['cubes'])

    def _select(self, part: Sequence[str], noun: str) -> Select:
        content = [word for word in part if word in self._objects or word in COLORS or word in ISH]
        numbers = [word for word in part if word in NUMBERS or word.isdecimal()]
        if part[-1] == 'one':
            numbers = numbers[:-1]
        words = ' '.join(w for w in dict.fromkeys((*part, noun)) if w not in ARTICLES | ALL | A)
        names = tuple(name for name in self._objects if self._fits(name, content, noun))
        if not names or not (content or noun):
            known = ', '.join(self._objects) or 'none'
            raise RefusalError(f"There is no '{words}' in the scene. It has: {known}.")
        counted = bool(numbers) or not A.isdisjoint(part)
        count: int | None = 2 if 'both' in part else 1
        if numbers:
            count = NUMBERS[numbers[0]] if numbers[0] in NUMBERS else int(numbers[0][:9])
        elif not counted and (noun in PLURALS or not ALL.isdisjoint(part)):
            count = None
        if count is not None and count > len(names):
            raise RefusalError(f"'{words}' are more than there are: {', '.join(names)}.")
        return Select(words, names, count, counted=counted)

    def _fits(self, name: str, content: Sequence[str], noun: str) -> bool:
        entity = self._objects[name]
        if named := [word for word in content if word in self._objects]:
            return name in named
        kind = KINDS.get(_singular(noun))
        if entity.kind != kind if kind else not entity.movable:
            return False
        words = {entity.color, *name.lower().split('_')}
        return all(words & ISH.get(word, {word}) for word in content)


def _singular(word: str) -> str:
    return 'box' if word == 'boxes' else word.removesuffix('s')
