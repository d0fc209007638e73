"""
A small grammar of English instructions for a table: a sentence becomes goals, or a refusal.

It reads put, stack, line, sort and pick sentences, and patterns such as a plus sign. It is no
language model: a sentence with a word that it does not contain is refused by that word.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bbllm.bench.oracle.table_goals import (
    COLORS,
    Act,
    Context,
    Move,
    PerSide,
    RefusalError,
    Select,
    Separate,
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

NUMBERS = {
    word: i
    for i, word in enumerate(
        ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
    )
}
_ISH = {
    'reddish': 'red crimson scarlet maroon salmon coral pink rose ruby cherry tomato vermilion '
    'burgundy', 'bluish': 'blue aqua cyan azure navy turquoise teal indigo',
    'greenish': 'green lime mint olive teal turquoise', 'yellowish': 'yellow gold amber',
    'orangish': 'orange amber coral', 'purplish': 'purple violet lavender magenta indigo',
}  # fmt: skip
_ISH['blueish'] = _ISH['bluish']
_KINDS = {
    'cube': 'cube', 'block': 'cube', 'box': 'cube', 'cylinder': 'cylinder', 'can': 'cylinder',
    'location': 'location', 'spot': 'location', 'position': 'location',
}  # fmt: skip
_ANY = {'object', 'thing', 'item', 'one', 'everything', 'anything'}
_PLURALS = {*(f'{noun}s' for noun in (*_KINDS, *_ANY)), 'boxes', 'everything'}
_SHAPES = {
    'plus': 'plus', 'cross': 'plus', 'triangle': 'triangle', 'square': 'square', 'l': 'L',
    'column': 'column', 'row': 'row', 'line': 'row', 'rainbow': 'row',
    'tower': 'tower', 'stack': 'tower', 'pile': 'tower',
}  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PICK = _set('pick grasp grab hold lift')
_PUT = _set('put place move bring set carry take transfer get drop return')
_STACK = _set('stack pile')
_MAKE = _set('make create build form arrange construct use order sort align line group distribute')
_SPLIT = _set('separate segregate divide split')
_HAND = _set('gripper hand fingers finger')
_VERBS = (
    _PICK | _PUT | _STACK | _MAKE | _SPLIT | _set('reach hover open close release wait pause go')
)
_STARTERS = _VERBS
_PREPOSITIONS = _set('on onto to at in into over upon above top inside from of')
_ARTICLES = _set('the its their your my same')
_ALL = _set('all every each everything')
_A = _set('a an any another some single anything')
_PRONOUNS = _set('it them those these')
_EXCEPT = _set('except without')
_REST = _set('other others rest remaining')
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
_FILLER = _LEADING | _SKIPPED | _set(
    'sign shape shapes shaped symbol letter capital horizontal vertical figure using from out '
    'made ordering ordered sorted sorting arranged based by sequence visible according center '
    'centre middle geometric geometrical that meet meets angle which is are be should must not '
    'consists intersecting with have has exactly own give both either different kind kinds type '
    'types so straight where they down seconds second base home start arm somewhere aside two per '
    'as or go goes free empty off tabletop apart opposite '
    'anything contain location locations colored coloured instead rather than for there robot'
)  # fmt: skip
_VOCABULARY = (
    _STARTERS | _PREPOSITIONS | _ARTICLES | _ALL | _A | _PRONOUNS | _EXCEPT | _REST | _PLACES
    | _COLOR_WORDS | _FILLER | _HAND | COLORS | frozenset(_ISH) | frozenset(NUMBERS) | _ANY
    | _PLURALS | frozenset(_KINDS) | frozenset(_SHAPES)
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
    words = [token for clause in clauses for token in clause]
    if unknown := [word for word in words if not _known(word, things)]:
        raise _unknown_words(unknown, text, things)
    if any(len(clause) > MAX_WORDS for clause in clauses):
        raise RefusalError(f'A part of the task has more than {MAX_WORDS} words. {HINT}')
    context = Context(dict(things), (Select(held, (held,)),) if held else ())
    goals: list[TableGoal] = []
    problem: RefusalError | None = None
    for clause in clauses:
        try:
            goals = _joined(goals, _clause(clause, context))
        except RefusalError as error:
            problem = problem or (None if goals and _explains(clause, context) else error)
        last = goals[-1] if goals else None
        if isinstance(last, Shape) and last.shape == 'row' and _COLOR_WORDS & {*clause}:
            goals[-1] = replace(last, by_color=True, reverse=_goes_back(clause))
    if problem or not goals:
        raise problem or RefusalError(f'I do not understand {text[:80]!r}. {HINT}')
    return goals


def names_in(text: str, things: Mapping[str, TableObject]) -> list[str]:
    """Return all objects that a piece of text names or describes."""
    describing = {*things} | COLORS | {*_ISH} | {*_KINDS} | _ANY | _PLURALS | _ALL | {'and', ','}
    tokens = [token for token in _tokens(text, things) if token in describing]
    try:
        selects = noun_phrase(' '.join(tokens).strip(' ,').split(), Context(dict(things))) or ()
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
    listing = False
    for token, after in zip(tokens, [*tokens[1:], ''], strict=False):
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
        if token == ';' or (token in ('and', ',', 'but') and rest and rest[0] in _STARTERS):
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
    return named or word in _VOCABULARY or word == ',' or _is_number(word)


def _unknown_words(
    unknown: Sequence[str], text: str, things: Mapping[str, TableObject]
) -> RefusalError:
    spelled = {word.lower(): word for word in re.findall(r"[\w']+", text)}
    named = list(dict.fromkeys(spelled.get(word, word)[:24] for word in unknown))
    close = difflib.get_close_matches(named[0], things, n=1, cutoff=0.75)
    hint = f' Did you mean {close[0]}?' if close else ''
    more = f' and {len(named) - 5} more' if len(named) > 5 else ''
    return RefusalError(
        f'I do not understand {", ".join(map(repr, named[:5]))}{more}.{hint} {HINT}'
    )


def _joined(goals: list[TableGoal], more: Sequence[TableGoal]) -> list[TableGoal]:
    """Add goals; a shape or a separation that repeats the last one is the same."""
    last = goals[-1] if goals else None
    if isinstance(last, Shape | Separate | PerSide) and isinstance(more[0], type(last)):
        return goals if more[0].items == last.items else [*goals, *more]
    return [*goals, *more]


def _explains(clause: Sequence[str], context: Context) -> bool:
    """Whether a clause only explains an arrangement: it names nothing that could be moved."""
    names = {name for name, thing in context.things.items() if thing.kind != 'fixture'}
    return not {*clause} & (names | COLORS | {*_ISH} | _EXCEPT | _PICK | _PUT | _STACK)


def _clause(tokens: list[str], context: Context) -> list[TableGoal]:
    problem: RefusalError | None = None
    for read in (_act, _per_side, _separate, _shape, _tower, _moves, _pick):
        try:
            if goals := read(tokens, context):
                return goals
        except RefusalError as error:
            problem = problem or error
    raise problem or RefusalError(f"I do not understand '{' '.join(tokens)[:80]}'. {HINT}")


def _act(tokens: list[str], context: Context) -> list[TableGoal]:
    verb, rest = tokens[0], [token for token in tokens[1:] if token not in _ARTICLES]
    if verb in ('go', 'return', 'move', 'home') and {*rest} <= {'to', 'base', 'home', 'start'}:
        return [Act('home')] if rest or verb == 'home' else []
    if verb in ('open', 'close', 'release') and rest and {*rest} <= _HAND | {'it'}:
        return [Act('close' if verb == 'close' else 'open')]
    if verb in ('wait', 'pause'):
        numbers = [float(NUMBERS.get(token, token)) for token in rest if _is_number(token)]
        if numbers and not 0 < numbers[0] <= 60:
            raise RefusalError('I can wait for more than 0 and at most 60 seconds at a time.')
        return [Act('wait', seconds=numbers[0] if numbers else 1.0)]
    hand = verb in ('move', 'bring') and _HAND | {'arm'} & {*rest[:1]} and rest[:1] != []
    if verb in ('reach', 'hover', 'go') or (hand and rest[0] in _HAND | {'arm'}):
        target = read_target([token for token in rest if token not in _HAND | {'arm'}], context)
        return (
            [Act('reach', target=target)]
            if target and target.kind in ('spots', 'on', 'pose')
            else []
        )
    return []


def _counted(tokens: Sequence[str]) -> Iterator[tuple[str, int | None]]:
    """Yield the kinds that are named, and how many of each."""
    for before, token in itertools.pairwise(['', *tokens]):
        kind = _KINDS.get(token.removesuffix('s'), 'location')
        if kind != 'location':
            number = (
                1
                if before in _A
                else NUMBERS.get(before, int(before) if before.isdecimal() else 0)
            )
            yield kind, number or None


def _per_side(tokens: list[str], context: Context) -> list[TableGoal]:
    """Read `one cube and one cylinder on each side`."""
    words, found = {*tokens}, list(_counted(tokens))
    both = {'left', 'right'} <= words or (words & {'each', 'both', 'either'} and words & _SIDES)
    if (
        tokens[0] in _PICK
        or words & COLORS
        or not both
        or not found
        or None in dict(found).values()
    ):
        return []
    things = context.things.items()
    return [
        PerSide(
            tuple(
                Select(kind, tuple(name for name, thing in things if thing.kind == kind), count)
                for kind, count in dict(found).items()
            )
        )
    ]


def _separate(tokens: list[str], context: Context) -> list[TableGoal]:
    """Read `segregate the objects by shape`, `cubes on one side and cylinders on the other`."""
    words = {*tokens}
    named = list(dict.fromkeys(kind for kind, _ in _counted(tokens)))
    by_shape = words & {'shape', 'shapes', 'kind', 'kinds', 'type', 'types'}
    parted = words & (_SPLIT | {'apart', 'opposite', 'different'}) or (
        {'left', 'right'} <= words or (words & _SIDES and 'other' in words)
    )
    if words & (_COLOR_WORDS | COLORS) or not (by_shape or len(named) > 1):
        return []
    if not parted and not (by_shape and tokens[0] in _MAKE and (words & _SIDES or not named)):
        return []
    movable = {name: thing.kind for name, thing in context.things.items() if thing.movable}
    kinds = [
        kind for kind in dict.fromkeys((*named, *movable.values())) if kind in movable.values()
    ]
    if len(kinds) < 2:
        return []
    first = tuple(name for name, kind in movable.items() if kind == kinds[0])
    others = tuple(name for name, kind in movable.items() if kind != kinds[0])
    sides = [token for token in tokens if token in ('left', 'right')]
    side: Side | None = (
        ('left' if sides[0] == 'left' else 'right') if sides and len(named) > 1 else None
    )
    return [Separate((Select(f'{kinds[0]}s', first, None), Select('others', others, None)), side)]


def _shape(tokens: list[str], context: Context) -> list[TableGoal]:
    """Read `create a plus sign using the cubes`, `build a tower of all cubes on location_A`."""
    found = next((shape for word, shape in _SHAPES.items() if word in tokens[1:]), '')
    by_color = bool(_COLOR_WORDS & {*tokens}) and found in ('', 'row')
    if tokens[0] == 'line' or by_color:
        found = found or 'row'
    if not found or tokens[0] not in _MAKE | {'put', 'place', 'a', 'an'}:
        return []
    base: Target | None = None
    if found == 'tower':
        if tokens[0] in ('put', 'place'):
            return []
        tokens, base = _without_base(tokens, context)
    items, rest = _items_within(tokens, context)
    if base is not None and base.kind == 'on':
        items, base = (*base.spots, *items), None
    if not items or not _explains(
        [token for token in rest if token not in _MAKE | _PUT | _STACK], context
    ):
        return []
    context.last = items
    text = re.sub(r'from (the )?(left|right) to (the )?(left|right)', '', ' '.join(rest))
    sides = re.findall(r'\b(left|right)(?! angle)\b', text)
    side: Side | None = (
        ('left' if sides[0] == 'left' else 'right') if sides and found != 'tower' else None
    )
    centred = side is None and bool({'center', 'centre', 'middle'} & {*rest})
    return [Shape(found, items, side, by_color, _goes_back(tokens), centred, base)]


def _goes_back(tokens: Sequence[str]) -> bool:
    return bool(
        re.search(r'from (the )?right to (the )?left|from (violet|purple)', ' '.join(tokens))
    )


def _without_base(tokens: list[str], context: Context) -> tuple[list[str], Target | None]:
    """Split off what a tower is to stand on."""
    for i in (i for i, token in enumerate(tokens) if token in ('on', 'onto', 'at')):
        ends = (
            j for j in range(i + 1, len(tokens)) if tokens[j] in ('using', 'with', 'from', 'of')
        )
        end = next(ends, len(tokens))
        target = read_target(tokens[i:end], context)
        if target is not None:
            return tokens[:i] + tokens[end:], target
    return tokens, None


def _items_within(tokens: list[str], context: Context) -> tuple[tuple[Select, ...], list[str]]:
    """Return the longest noun phrase of a clause, all cubes if there is none, and the rest."""
    for length in range(len(tokens) - 1, 0, -1):
        for i in range(1, len(tokens) - length + 1):
            part = tokens[i : i + length]
            nouns = {*part} & ({*context.things} | {*_KINDS} | _ANY | _PLURALS)
            items = noun_phrase(part, context) if nouns and part[0] not in (',', 'and') else None
            if items and all(context.movable(item.names) for item in items):
                return items, tokens[:i] + tokens[i + length :]
    items = context.last if _PRONOUNS & {*tokens} else noun_phrase(['the', 'cubes'], context)
    return items or (), tokens


def _tower(tokens: list[str], context: Context) -> list[TableGoal]:
    """Read `stack the cubes`, `stack A on B on C`, `stack the cubes on location_A`."""
    if tokens[0] not in _STACK:
        return []
    text = re.sub(
        r'(?:,? ?one )?(?:on|onto) (?:top of )?(?:the|each) other$', '', ' '.join(tokens[1:])
    )
    parts = [part.split() for part in re.split(r'\b(?:on|onto|upon)\b(?: top of)?', text)]
    last = read_target(['on', *parts[-1]], context) if len(parts) > 1 else None
    base = last if last is not None and last.kind in ('spots', 'free', 'pose', 'side') else None
    names = [noun_phrase(part, context) for part in (parts[:-1] if base else parts)]
    if not all(names) or any(
        len(part or ()) != 1 or part[0].count != 1 for part in names[1:] if part
    ):
        return _moves(tokens, context)  # `stack A on B and C on D`
    items = tuple(select for part in reversed(names) for select in part or ())
    context.last = items
    return [Shape('tower', items, base=base)]


def _moves(tokens: list[str], context: Context) -> list[TableGoal]:
    """Read `put <objects> <preposition> <target>`, and the same again after `and`."""
    if tokens[0] in _PICK | {'take', 'get'} and 'from' in tokens:
        return []
    if tokens[0] in _VERBS - _PUT - _PICK - _STACK - _MAKE:
        return []
    rest = tokens[1:] if tokens[0] in _VERBS else tokens
    if rest[:1] and rest[0] in _PREPOSITIONS and context.last:
        target = read_target(rest, context)  # `put it on A and then on B`
        return [Move(context.last, target)] if target else []
    for i in (len(rest), *(i for i, token in enumerate(rest) if token in ('and', ','))):
        if one := _move(rest[:i], context):
            more = _moves(rest[i + 1 :], context) if i < len(rest) else []
            if more or i == len(rest):
                return [one, *more]
    items = noun_phrase([token for token in rest if token != 'down'], context)
    if items and tokens[0] in _PUT - {'take', 'get'} and ('down' in rest or rest == ['it']):
        return [Move(items, Target('free', 'down'))]
    return []


def _move(tokens: list[str], context: Context) -> TableGoal | None:
    problem: RefusalError | None = None
    for i in range(len(tokens) - 1, 0, -1):
        if tokens[i] in _PREPOSITIONS or tokens[i] in ('down', 'aside', 'somewhere'):
            try:
                items = noun_phrase(tokens[:i], context)
                target = read_target(tokens[i:], context) if items else None
            except RefusalError as error:
                problem = problem or error
                continue
            if items and target and all(context.movable(item.names) for item in items):
                context.last = items
                return Move(items, target)
    if problem:
        raise problem
    return None


def _pick(tokens: list[str], context: Context) -> list[TableGoal]:
    """Read `pick up the red cube`."""
    end = tokens.index('from') if 'from' in tokens else len(tokens)
    takes = tokens[0] in _PICK | {'take', 'get'}
    items = noun_phrase(tokens[1:end], context) if takes else None
    if not items or not all(context.movable(item.names) for item in items):
        return []
    if (
        len(items) > 1
        or items[0].count not in (1, None)
        or (items[0].count is None and len(items[0].names) > 1)
    ):
        raise RefusalError(
            f"The hand holds one thing at a time, not '{' '.join(tokens[1:])[:60]}'."
        )
    context.last = items
    return [Act('pick', items)]


def noun_phrase(tokens: Sequence[str], context: Context) -> tuple[Select, ...] | None:
    """
    Read `the red and the blue cube`, `all cylinders`, `two of the cubes except red_cube`.

    Raises:
        RefusalError: It is a noun phrase, but the scene has no such object, or too few.
    """
    for i, token in enumerate(tokens):
        if token in _EXCEPT:
            main, without = noun_phrase(tokens[:i], context), noun_phrase(tokens[i + 1 :], context)
            out = {name for select in without or () for name in select.names}
            left = tuple(
                replace(one, names=tuple(name for name in one.names if name not in out))
                for one in main or ()
            )
            return left if without else None
    parts = [
        [*group]
        for comma, group in itertools.groupby(tokens, lambda t: t in (',', 'and', 'or'))
        if not comma
    ]
    noun, selects = '', list[Select]()
    for part in reversed(parts):  # `red and blue cubes`: the noun comes last
        found = _part(part, noun, context)
        if found is None:
            return None
        noun, found_selects = found
        selects[:0] = found_selects
    return tuple(selects) or None


def _part(part: Sequence[str], noun: str, context: Context) -> tuple[str, Sequence[Select]] | None:
    if len(part) == 1 and part[0] in _PRONOUNS:
        return (noun, context.last) if context.last else None
    content: list[str] = []
    count: int | None = -1
    for i, token in enumerate(part):
        last = i == len(part) - 1
        if token in NUMBERS and not (token == 'one' and last):
            count = NUMBERS[token]
        elif token.isdecimal():
            count = int(token[:9])
        elif token in _ALL | _A | {'both'}:
            count = 2 if token == 'both' else None if token in _ALL else 1
            noun = token if token in _ANY else noun
        elif token in context.things or token in COLORS or token in _ISH:
            content.append(token)
        elif _singular(token) in _KINDS or _singular(token) in _ANY:
            noun = token
        elif token not in _ARTICLES | _REST | {'of', 'free', 'empty'}:
            return None
    if not content and not noun:
        return None
    if count == -1:
        count = None if noun in _PLURALS and (part[-1] == noun or noun not in part) else 1
        count = None if noun in _PLURALS and noun in part else count
    names = tuple(
        name for name, thing in context.things.items() if _fits(thing, content, noun, context)
    )
    said = ' '.join(part if noun in part or not noun else [*part, noun])
    return noun, [_checked(Select(said, names, count), context)]


def _singular(token: str) -> str:
    return 'box' if token == 'boxes' else token.removesuffix('s')


def _fits(thing: TableObject, content: Sequence[str], noun: str, context: Context) -> bool:
    named = [token for token in content if token in context.things]
    if named:
        return thing.name in named
    if _KINDS.get(_singular(noun), thing.kind) != thing.kind:
        return False
    if _singular(noun) not in _KINDS and not thing.movable:
        return False
    words = thing.name.lower().split('_')
    return all(
        thing.color in _ISH[token].split()
        if token in _ISH
        else token == thing.color or token in words
        for token in content
    )


def _checked(select: Select, context: Context) -> Select:
    if not select.names:
        said = ' '.join(word for word in select.said.split() if word not in _ALL | _A | _ARTICLES)
        raise RefusalError(
            f"There is no '{said}' in the scene. It has: {', '.join(context.things) or 'none'}."
        )
    if select.count is not None and select.count > len(select.names):
        raise RefusalError(f"'{select.said}' are more than there are: {', '.join(select.names)}.")
    return select


def read_target(tokens: Sequence[str], context: Context) -> Target | None:
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
    if all(
        token in _PLACES | _ARTICLES | {'of', 'in', 'on', 'aside', 'somewhere'} for token in rest
    ):
        sides = [token for token in rest if token in ('left', 'right')]
        if len(sides) == 1:
            return Target('side', said, side='left' if sides[0] == 'left' else 'right')
        free = {'table', 'aside', 'somewhere', 'workspace'} & {*rest} or 'down' in tokens
        return Target('free', said) if free and not sides else None
    selects = noun_phrase(rest, context)
    if selects is None:
        return None
    kinds = {context.things[name].kind for select in selects for name in select.names}
    vague = any(one.count == 1 and len(one.names) > 1 for one in selects)
    if kinds == {'fixture'} or (kinds == {'location'} and vague):
        return Target('free', said)
    if kinds == {'location'}:
        return Target('spots', said, selects)
    if kinds & {'location', 'fixture', 'hand'}:
        return None
    return Target('on', said, selects)


def _is_number(token: str) -> bool:
    return (
        token.isascii() and token.lstrip('+-').replace('.', '', 1).isdecimal()
    ) or token in NUMBERS
