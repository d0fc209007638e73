"""
A small grammar of English instructions for a table: a sentence becomes goals, or a refusal.

It reads put, stack, line, sort and pick sentences, and patterns such as a plus sign. It is no
language model: a sentence with a word that it does not contain is refused by that word.
"""

import difflib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bbllm.bench.oracle.table_goals import (
    COLORS,
    Act,
    Move,
    RefusalError,
    Select,
    Shape,
    Side,
    TableGoal,
    TableObject,
    Target,
)

HINT = (
    "What works: 'put the red cube on location_B', 'stack the cubes', 'move all cylinders to the "
    "left side', 'create a plus sign using the cubes'. A language model would understand more: "
    'name one with --brain, or in config/llm.yaml.'
)
"""Ends every refusal."""
MAX_CHARACTERS = 2000
MAX_WORDS = 60
"""Most words of a clause."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NUMBERS = {
    word: i
    for i, word in enumerate(
        ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
    )
}
_ISH = {
    'reddish': _set('red crimson scarlet maroon salmon coral pink rose ruby cherry tomato '
                    'vermilion burgundy'),
    'bluish': _set('blue aqua cyan azure navy turquoise teal indigo'),
    'blueish': _set('blue aqua cyan azure navy turquoise teal indigo'),
    'greenish': _set('green lime mint olive teal turquoise'),
    'yellowish': _set('yellow gold amber'),
}  # fmt: skip
_KINDS = {
    'cube': 'cube', 'block': 'cube', 'box': 'cube', 'cylinder': 'cylinder', 'can': 'cylinder',
    'location': 'location', 'spot': 'location', 'position': 'location',
}  # fmt: skip
_ANY = _set('object thing item one everything anything')
_PLURALS = {*(f'{noun}s' for noun in (*_KINDS, *_ANY)), 'boxes', 'everything'}
_SHAPES = {
    'plus': 'plus', 'cross': 'plus', 'triangle': 'triangle', 'square': 'square', 'l': 'L',
    'column': 'column', 'row': 'row', 'line': 'row', 'rainbow': 'row',
    'tower': 'tower', 'stack': 'tower', 'pile': 'tower',
}  # fmt: skip
_PICK = _set('pick grasp grab hold lift')
_PUT = _set('put place move bring set carry take transfer get drop return')
_STACK = _set('stack pile')
_MAKE = _set('make create build form arrange construct use order sort align line group distribute')
_SPLIT = _set('separate segregate divide split')
_HAND = _set('gripper hand fingers finger arm')
_VERBS = (
    _PICK | _PUT | _STACK | _MAKE | _SPLIT | _set('reach hover open close release wait pause go')
)
_PREPOSITIONS = _set('on onto to at in into over upon above top inside from of')
_ARTICLES = _set('the its their your my same')
_DETERMINERS = _ARTICLES | _set('other others rest remaining of free empty')
_ALL = _set('all every each everything')
_A = _set('a an any another some single anything')
_PRONOUNS = _set('it them those these')
_EXCEPT = _set('except without')
_SIDES = _set('side sides half part parts end')
_PLACES = _SIDES | _set('table workspace work working space environment area right left place')
_COLOR_WORDS = _set('color colors colour colours spectrum rainbow hue')
_SKIPPED = _set(
    'please kindly carefully gently slowly only just again back directly also together up'
)
_LEADING = _set(
    'please now ok hey hello robot can could would will you i we want need like to and also '
    'first finally then just so but afterwards'
)
_FILLER = _set(
    'sign shape shapes shaped symbol letter capital horizontal vertical figure using from out '
    'made ordering ordered sorted sorting arranged based by sequence visible according center '
    'centre middle geometric geometrical that meet meets angle which is are be should must not '
    'consists intersecting with have has exactly own give both either different kind kinds type '
    'types so straight where they down seconds second base home start somewhere aside two per '
    'as or go goes free empty off tabletop apart opposite contain locations colored coloured '
    'instead rather than for there other others rest remaining'
)
_NOUNS = frozenset(_KINDS) | _ANY | _PLURALS
_VOCABULARY = (
    _VERBS | _PREPOSITIONS | _ARTICLES | _ALL | _A | _PRONOUNS | _EXCEPT | _PLACES | _COLOR_WORDS
    | _SKIPPED | _LEADING | _FILLER | _HAND | COLORS | frozenset(_ISH) | frozenset(NUMBERS)
    | _NOUNS | frozenset(_SHAPES) | {','}
)  # fmt: skip
_SPELLINGS = (
    (r"[\"'`“”‘’]?\+[\"'`“”‘’]?(?=[- ]?(?:sign|shape|symbol|$|[.,;!]| ))", ' plus '),
    (r"\bdon['’]t\b", 'dont'), (r"['’]s\b", ''), (r'[!?:](?=\s|$)', ' ; '),
    (r'[\"“”‘’`()\[\]{}:*=]|(?<!\w)\'|\'(?!\w)', ' '),
    (r'\b(?:many )?(?:thanks|thank you)(?: a lot|(?: very| so) much)?\b', ' ; '),
    (r'(?<=[a-z])[-/](?=[a-z])', ' '), (r'\btriangular\b', 'triangle'),
    (r'\bpick(?: up)? and place\b', 'put'), (r'\bblock(s?)\b', r'cube\1'),
    (r'\b(?:should|must|has to|have to|needs? to|is to) (?:go|be|be put|be placed|end up)\b', ''),
    (r'\b(?:and )?(?:then|after that|afterwards|finally)\b', ' ; '), (r'\.(?!\d)', ' ; '),
    (r'\b(?:make|build|create) a (?:tower|stack|pile)(?: (?:of|from|using|with))?\b', 'stack'),
    (r'\bstack (on [^.,;]+) (?:using|with) ([^.,;]+)', r'stack \2 \1'),
)  # fmt: skip


def read_instruction(
    text: str, things: Mapping[str, TableObject], held: str | None = None
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
    clauses = _clauses(_tokens(text, things))
    if unknown := [word for clause in clauses for word in clause if not _known(word, things)]:
        raise _unknown_words(unknown, text, things)
    if any(len(clause) > MAX_WORDS for clause in clauses):
        raise RefusalError(f'A part of the task has more than {MAX_WORDS} words. {HINT}')
    reader = _Reader(things, held)
    goals: list[TableGoal] = []
    for clause in clauses:
        try:
            more = reader.read(clause)
        except RefusalError:
            if goals and reader.explains(clause):
                continue
            raise
        same = goals and isinstance(goals[-1], Shape) and isinstance(more[0], Shape)
        if same and goals[-1].items == more[0].items:
            goals.pop()  # `in a row, and order them by colour`: the same again, in more detail
        goals += more
    if not goals:
        raise RefusalError(f'I do not understand {text[:80]!r}. {HINT}')
    return goals


def names_in(text: str, things: Mapping[str, TableObject]) -> list[str]:
    """Return all objects that a piece of text names or describes."""
    describing = {*things} | COLORS | {*_ISH} | _NOUNS | _ALL | {'and', ','}
    tokens = [token for token in _tokens(text, things) if token in describing]
    try:
        selects = _Reader(things).noun_phrase(' '.join(tokens).strip(' ,').split()) or ()
    except RefusalError:
        return []
    return [name for select in selects for name in select.names]


def _tokens(text: str, things: Mapping[str, TableObject]) -> list[str]:
    """Return the words of a text; a name of the scene is one word, also if it has spaces."""
    text = ' '.join(text.lower().split())
    for pattern, spelling in _SPELLINGS:
        text = re.sub(pattern, spelling, text)
    names = sorted(things, key=len, reverse=True)
    for name in names:
        spaced = re.escape(name.lower()).replace('_', '[ _]')
        text = re.sub(rf'\b{spaced}\b', name, text, flags=re.IGNORECASE)
    letters = {name.removeprefix('location_').lower(): name for name in names if '_' in name}
    tokens = re.findall(r'[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?!\w)|[\w\']+|[,;]', text)
    expanded: list[str] = []
    listing = False  # within `locations A, B and C`
    for token, after in itertools.pairwise([*tokens, '']):
        if token in ('location', 'locations') and after in letters:
            listing = True
        elif listing and token in letters:
            expanded.append(letters[token])
        else:
            listing = (listing and token in (',', 'and')) or token.startswith('location_')
            expanded.append(token)
    return expanded


def _clauses(tokens: Sequence[str]) -> list[list[str]]:
    """Split at sequence words, and at `and`, `but` or a comma before a verb."""
    clauses: list[list[str]] = [[]]
    for i, token in enumerate(tokens):
        rest = _bare(tokens[i + 1 :])
        if token == ';' or (token in ('and', ',', 'but') and rest and rest[0] in _VERBS):
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [bare for clause in clauses if (bare := _bare(clause))]


def _bare(clause: Sequence[str]) -> list[str]:
    rest = [token for token in clause if token not in _SKIPPED]
    while rest and (rest[0] in _LEADING or rest[0] == ','):
        rest.pop(0)
    while rest and rest[-1] in (',', 'and'):
        rest.pop()
    return rest


def _known(word: str, things: Mapping[str, TableObject]) -> bool:
    named = word in things or any(word in name.lower().split('_') for name in things)
    return named or word in _VOCABULARY or _is_number(word)


def _unknown_words(
    unknown: Sequence[str], text: str, things: Mapping[str, TableObject]
) -> RefusalError:
    spelled = {word.lower(): word for word in re.findall(r"[\w']+", text)}
    named = list(dict.fromkeys(spelled.get(word, word)[:24] for word in unknown))
    close = difflib.get_close_matches(named[0], things, n=1, cutoff=0.75)
    hint = f' Did you mean {close[0]}?' if close else ''
    more = f' and {len(named) - 5} more' if len(named) > 5 else ''
    listed = ', '.join(map(repr, named[:5]))
    return RefusalError(f'I do not understand {listed}{more}.{hint} {HINT}')


def _is_number(token: str) -> bool:
    digits = token.lstrip('+-').replace('.', '', 1)
    return token in NUMBERS or (token.isascii() and digits.isdecimal())


def _one_side(tokens: Sequence[str]) -> Side | None:
    """Return the first of the two words for sides."""
    return next(
        ('left' if t == 'left' else 'right' for t in tokens if t in ('left', 'right')), None
    )


def _counted(tokens: Sequence[str]) -> dict[str, int]:
    """Return the kinds that are named, and how many of each; 0 where no number is given."""
    found = {}
    for before, token in itertools.pairwise(['', *tokens]):
        kind = _KINDS.get(token.removesuffix('s'), 'location')
        if kind != 'location':
            number = NUMBERS.get(before, int(before) if before.isdecimal() else 0)
            found[kind] = 1 if before in _A else number
    return found


class _Reader:
    """Reads one clause after the other, and remembers what `it` or `them` means."""

    def __init__(self, things: Mapping[str, TableObject], held: str | None = None):
        self._things = things
        self._last: tuple[Select, ...] = (Select(held, (held,)),) if held else ()

    def read(self, tokens: list[str]) -> list[TableGoal]:
        """
        Return the goals of a clause.

        Raises:
            RefusalError: None of the forms fits; the reason of the first that nearly did.
        """
        problem: RefusalError | None = None
        forms = (self._act, self._sides, self._shape, self._tower, self._moves, self._pick)
        for read in forms:
            try:
                if goals := read(tokens):
                    return goals
            except RefusalError as error:
                problem = problem or error
        raise problem or RefusalError(f"I do not understand '{' '.join(tokens)[:80]}'. {HINT}")

    def explains(self, clause: Sequence[str]) -> bool:
        """Whether a clause names nothing that could be moved: it only explains an arrangement."""
        names = {name for name, thing in self._things.items() if thing.kind != 'fixture'}
        return not {*clause} & (names | COLORS | {*_ISH} | _EXCEPT | _PICK | _PUT | _STACK)

    def _movable(self, items: Sequence[Select]) -> bool:
        return all(self._things[name].movable for item in items for name in item.names)

    # --- forms of clauses ---------------------------------------------------------------------

    def _act(self, tokens: list[str]) -> list[TableGoal]:
        verb, rest = tokens[0], [token for token in tokens[1:] if token not in _ARTICLES]
        if verb in ('go', 'return', 'move', 'home') and {*rest} <= {'to', 'base', 'home', 'start'}:
            return [Act('home')] if rest or verb == 'home' else []
        if verb in ('open', 'close', 'release') and rest and {*rest} <= _HAND - {'arm'} | {'it'}:
            return [Act('close' if verb == 'close' else 'open')]
        if verb in ('wait', 'pause'):
            numbers = [float(NUMBERS.get(token, token)) for token in rest if _is_number(token)]
            if numbers and not 0 < numbers[0] <= 60:
                raise RefusalError('I can wait for more than 0 and at most 60 seconds at a time.')
            return [Act('wait', seconds=numbers[0] if numbers else 1.0)]
        hand = verb in ('move', 'bring') and rest and rest[0] in _HAND
        if verb in ('reach', 'hover', 'go') or hand:
            target = self._target([token for token in rest if token not in _HAND])
            if target and target.kind in ('spots', 'on', 'pose'):
                return [Act('reach', target=target)]
        return []

    def _sides(self, tokens: list[str]) -> list[TableGoal]:
        """Read `one cube and one cylinder on each side`, `segregate the objects by shape`."""
        words, named = {*tokens}, _counted(tokens)
        if tokens[0] in _PICK or words & (_COLOR_WORDS | COLORS):
            return []
        kinds: dict[str, list[str]] = {kind: [] for kind in named}
        for name, thing in self._things.items():
            if thing.movable:
                kinds.setdefault(thing.kind, []).append(name)
        two = {'left', 'right'} <= words
        both = two or (words & {'each', 'both', 'either'} and words & _SIDES)
        if both and named and all(named.values()):
            return [Shape('per side', tuple(Select(k, (*kinds[k],), n) for k, n in named.items()))]
        by_shape = words & _set('shape shapes kind kinds type types')
        apart = words & (_SPLIT | _set('apart opposite different'))
        parted = apart or two or (words & _SIDES and 'other' in words)
        kinds = {kind: names for kind, names in kinds.items() if names}
        if not parted or not (by_shape or len(named) > 1) or len(kinds) < 2:
            return []
        (first, names), *others = kinds.items()
        rest = tuple(name for name in self._things if any(name in many for _, many in others))
        groups = (Select(f'{first}s', (*names,), None), Select('others', rest, None))
        return [Shape('parted', groups, _one_side(tokens) if len(named) > 1 else None)]

    def _shape(self, tokens: list[str]) -> list[TableGoal]:
        """Read `create a plus sign using the cubes`, `line the cubes up by colour`."""
        found = next((shape for word, shape in _SHAPES.items() if word in tokens[1:]), '')
        by_color = bool(_COLOR_WORDS & {*tokens}) and found in ('', 'row')
        found = found or ('row' if tokens[0] == 'line' or by_color else '')
        if not found or tokens[0] not in _MAKE | {'put', 'place'}:
            return []
        if found == 'tower' and tokens[0] in ('put', 'place'):
            return []
        items, rest = self._items_within(tokens)
        if not items or not self.explains([t for t in rest if t not in _PUT | _STACK]):
            return []
        self._last = items
        text = ' '.join(rest)
        reverse = re.search(r'from (?:the )?right to|from (?:violet|purple)', text) is not None
        text = re.sub(r'from (the )?(left|right) to (the )?(left|right)|right angle', '', text)
        side = _one_side(text.split()) if found != 'tower' else None
        centred = side is None and bool({'center', 'centre', 'middle'} & {*rest})
        return [Shape(found, items, side, by_color, reverse, centred)]

    def _items_within(self, tokens: list[str]) -> tuple[tuple[Select, ...], list[str]]:
        """Return the longest noun phrase of a clause, all cubes if there is none, and the rest."""
        nouns = {*self._things} | _NOUNS
        for length in range(len(tokens) - 1, 0, -1):
            for i in range(1, len(tokens) - length + 1):
                part = tokens[i : i + length]
                if nouns & {*part} and part[0] not in (',', 'and'):
                    items = self.noun_phrase(part)
                    if items and self._movable(items):
                        return items, tokens[:i] + tokens[i + length :]
        return (self._last if _PRONOUNS & {*tokens} else self._cubes()), tokens

    def _cubes(self) -> tuple[Select, ...]:
        return self.noun_phrase(['the', 'cubes']) or ()

    def _tower(self, tokens: list[str]) -> list[TableGoal]:
        """Read `stack the cubes`, `stack A on B on C`, `stack the cubes on location_A`."""
        if tokens[0] not in _STACK:
            return []
        other = r'(?:,? ?one )?(?:on|onto) (?:top of )?(?:the|each) other$'
        text = re.sub(other, '', ' '.join(tokens[1:]))
        parts = [
            part.split() for part in re.split(r'\b(?:on|onto|upon|at|to)\b(?: top of)?', text)
        ]
        last = self._target(['on', *parts[-1]]) if len(parts) > 1 else None
        base = last if last is not None and last.kind != 'on' else None
        parts = parts[:-1] if base else parts
        names = [self.noun_phrase(part) if part else self._cubes() for part in parts]
        single = all(part and len(part) == 1 and part[0].count == 1 for part in names[1:])
        if not names[0] or not single:
            return self._moves(tokens)  # `stack A on B and C on D`
        self._last = tuple(select for part in reversed(names) for select in part or ())
        return [Shape('tower', self._last, base=base)]

    def _moves(self, tokens: list[str]) -> list[TableGoal]:
        """Read `put <objects> <preposition> <target>`, and the same again after `and`."""
        if tokens[0] in _PICK | {'take', 'get'} and 'from' in tokens:
            return []
        if tokens[0] in _VERBS - _PUT - _PICK - _STACK - _MAKE:
            return []
        rest = tokens[1:] if tokens[0] in _VERBS else tokens
        if rest[:1] and rest[0] in _PREPOSITIONS and self._last:
            target = self._target(rest)  # `put it on A and then on B`
            return [Move(self._last, target)] if target else []
        for i in (len(rest), *(i for i, token in enumerate(rest) if token in ('and', ','))):
            if one := self._move(rest[:i]):
                more = self._moves(rest[i + 1 :]) if i < len(rest) else []
                if more or i == len(rest):
                    return [one, *more]
        items = self.noun_phrase([token for token in rest if token != 'down'])
        if items and tokens[0] in _PUT - {'take', 'get'} and ('down' in rest or rest == ['it']):
            return [Move(items, Target('free', 'down'))]
        return []

    def _move(self, tokens: list[str]) -> TableGoal | None:
        problem: RefusalError | None = None
        for i in range(len(tokens) - 1, 0, -1):
            if tokens[i] in _PREPOSITIONS or tokens[i] in ('down', 'aside', 'somewhere'):
                try:
                    items = self.noun_phrase(tokens[:i])
                    target = self._target(tokens[i:]) if items else None
                except RefusalError as error:
                    problem = problem or error
                    continue
                if items and target and self._movable(items):
                    self._last = items
                    return Move(items, target)
        if problem:
            raise problem
        return None

    def _pick(self, tokens: list[str]) -> list[TableGoal]:
        """Read `pick up the red cube`."""
        end = tokens.index('from') if 'from' in tokens else len(tokens)
        takes = tokens[0] in _PICK | {'take', 'get'}
        items = self.noun_phrase(tokens[1:end]) if takes else None
        if not items or not self._movable(items):
            return []
        if sum(item.most for item in items) > 1:
            raise RefusalError(
                f"The hand holds one thing at a time, not '{' '.join(tokens[1:])[:60]}'."
            )
        self._last = items
        return [Act('pick', items)]

    # --- noun phrases and targets -------------------------------------------------------------

    def noun_phrase(self, tokens: Sequence[str]) -> tuple[Select, ...] | None:
        """
        Read `the red and the blue cube`, `all cylinders`, `two of the cubes except red_cube`.

        Raises:
            RefusalError: It is a noun phrase, but the scene has no such object, or too few.
        """
        for i, token in enumerate(tokens):
            if token in _EXCEPT:
                main, without = self.noun_phrase(tokens[:i]), self.noun_phrase(tokens[i + 1 :])
                out = {name for select in without or () for name in select.names}
                left = tuple(
                    replace(one, names=tuple(name for name in one.names if name not in out))
                    for one in main or ()
                )
                return left if without else None
        groups = itertools.groupby(tokens, lambda token: token in (',', 'and', 'or'))
        noun, selects = '', list[Select]()
        for part in reversed([[*group] for comma, group in groups if not comma]):
            if len(part) == 1 and part[0] in _PRONOUNS:
                selects[:0] = self._last
                continue
            noun, select = self._part(part, noun)  # `red and blue cubes`: the noun comes last
            if select is None:
                return None
            selects.insert(0, select)
        return tuple(selects) or None

    def _part(self, part: Sequence[str], noun: str) -> tuple[str, Select | None]:
        content: list[str] = []
        count: int | None = -1
        for i, token in enumerate(part):
            if token in NUMBERS and not (token == 'one' and i == len(part) - 1):
                count = NUMBERS[token]
            elif token.isdecimal():
                count = int(token[:9])
            elif token in _ALL | _A | {'both'}:
                count = 2 if token == 'both' else None if token in _ALL else 1
                noun = token if token in _ANY else noun
            elif token in self._things or token in COLORS or token in _ISH:
                content.append(token)
            elif _singular(token) in _KINDS or _singular(token) in _ANY:
                noun = token
            elif token not in _DETERMINERS:
                return noun, None
        if not content and not noun:
            return noun, None
        if count == -1:
            count = None if noun in _PLURALS else 1
        fit = tuple(name for name in self._things if self._fits(name, content, noun))
        said = ' '.join(part if noun in part or not noun else [*part, noun])
        if not fit:
            said = ' '.join(t for t in said.split() if t not in _ALL | _A | _ARTICLES)
            known = ', '.join(self._things) or 'none'
            raise RefusalError(f"There is no '{said}' in the scene. It has: {known}.")
        if count is not None and count > len(fit):
            raise RefusalError(f"'{said}' are more than there are: {', '.join(fit)}.")
        return noun, Select(said, fit, count)

    def _fits(self, name: str, content: Sequence[str], noun: str) -> bool:
        thing = self._things[name]
        if named := [token for token in content if token in self._things]:
            return name in named
        kind = _KINDS.get(_singular(noun))
        if thing.kind != kind if kind else not thing.movable:
            return False
        words = {thing.color, *name.lower().split('_')}
        return all(words & _ISH.get(token, {token}) for token in content)

    def _target(self, tokens: Sequence[str]) -> Target | None:
        """
        Read what follows a noun phrase: `on location_B`, `to the right side`, `at 0.4 0 0.02`.

        Raises:
            RefusalError: It is a target, but the scene has no such place.
        """
        said, rest = ' '.join(tokens), list(tokens)
        while rest and (rest[0] in _PREPOSITIONS or rest[0] in ('the', 'down')):
            rest.pop(0)
        numbers = [token for token in rest if _is_number(token) and token not in NUMBERS]
        if len(numbers) in (3, 4, 7) and all(token in numbers or token == ',' for token in rest):
            return Target('pose', said, pose=' '.join(numbers))
        if {*rest} <= _PLACES | _ARTICLES | {'of', 'in', 'on', 'aside', 'somewhere'}:
            if {'left', 'right'} <= {*rest}:
                return None
            if side := _one_side(rest):
                return Target('side', said, side=side)
            free = {'table', 'aside', 'somewhere', 'workspace'} & {*rest} or 'down' in tokens
            return Target('free', said) if free else None
        selects = self.noun_phrase(rest)
        if selects is None:
            return None
        kinds = {self._things[name].kind for select in selects for name in select.names}
        vague = any(one.count == 1 and len(one.names) > 1 for one in selects)
        if kinds == {'fixture'} or (kinds == {'location'} and vague):
            return Target('free', said)
        if kinds == {'location'}:
            return Target('spots', said, selects)
        return None if kinds & {'location', 'fixture', 'hand'} else Target('on', said, selects)


def _singular(token: str) -> str:
    return 'box' if token == 'boxes' else token.removesuffix('s')
