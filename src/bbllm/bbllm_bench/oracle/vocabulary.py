"""The words that `offline` reads, and how a sentence becomes a list of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bbllm_bench.oracle.table_goals import COLORS, RELATED, TableObject


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _each(meanings: Mapping[str, str]) -> dict[str, str]:
    """Return the meaning of each word: of a line of words by its meaning."""
    return {word: meaning for meaning, words in meanings.items() for word in words.split()}


NUMBER = r'[-+]?\d*\.?\d+'
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
"""What shades of a colour are called."""
KINDS = _each({
    'cube': 'cube block box', 'cylinder': 'cylinder can', 'location': 'location spot position',
})  # fmt: skip
ANY = _set('object thing item one everything anything')
"""Nouns for whatever can be moved."""
PLURALS = {*(f'{noun}s' for noun in (*KINDS, *ANY)), 'boxes', 'everything'}
PRONOUNS = _set('it them those these')
SHAPES = {
    **{'plus': 'plus', 'cross': 'plus', 'triangle': 'triangle', 'square': 'square', 'l': 'L'},
    **{'column': 'column', 'row': 'row', 'line': 'row', 'rainbow': 'row'},
    **{'tower': 'tower', 'stack': 'tower', 'pile': 'tower'},
}
SIDES = {'left': 'left', 'right': 'right', 'near': 'near', 'far': 'far'}
SUPERLATIVES = _each({
    'near': 'nearest closest', 'far': 'farthest furthest',
    'left': 'leftmost', 'right': 'rightmost',
})  # fmt: skip
WAYS = _each({
    'left': 'left leftward leftwards', 'right': 'right rightward rightwards',
    'far': 'forward forwards ahead away farther further',
    'near': 'backward backwards nearer closer',
})  # fmt: skip
"""Directions, as seen from the arm."""

PICK = _set('pick grasp grab hold lift take get')
PUT = _set('put place move bring set carry transfer drop return')
STACK = _set('stack pile')
MAKE = _set('make create build form arrange construct use order sort align line group distribute')
SPLIT = _set('separate segregate divide split')
PUSH = _set('push shove slide nudge')
TURN = _set('rotate turn spin twist')
SWAP = _set('swap exchange switch interchange')
CLEAR = _set('clear empty')
HAND_OVER = _set('bring give hand pass fetch')
TIDY = _set('tidy clean')
WAIT = _set('wait pause')
LOOSE = _set('open close release')
REACH = _set('reach hover go')
VERBS = frozenset().union(
    *(PICK, PUT, STACK, MAKE, SPLIT, PUSH, TURN, SWAP, CLEAR, HAND_OVER, TIDY, WAIT, LOOSE, REACH),
    {'undo'},
)
ARTICLES = _set('the its their your my same of')
ALL = _set('all every each everything')
A = _set('a an any another some single anything')
OTHER = _set('other others rest remaining')
CONJUNCTIONS = _set('and , or')
LOCATING = _set('location locations spot spots position positions place')
"""Nouns before the letter of a location."""
COLOR_WORDS = _set('color colors colour colours spectrum rainbow hue')
KIND_WORDS = _set('shape shapes kind kinds type types')
MEASURES = _set(
    'mm cm m millimetres millimeters centimetres centimeters metres meters centimetre centimeter '
    'degrees deg clockwise counterclockwise anticlockwise counter anti'
)
SKIPPED = _set(
    'please kindly carefully gently slowly only just again directly also together up so'
)
"""Words that change nothing of what is done on a table."""
LEADING = _set(
    'now ok okay hey hello hi robot can could would will you i we want need like to and first '
    'finally but afterwards ,'
)
"""Words that change nothing at the begin of a clause."""
ON = _set('on onto to at in into over upon above top inside')
AREA = _set('table workspace work space working environment area desk board')
PARTS = _set('side sides half part end hand')
PLACING = (
    ON
    | AREA
    | PARTS
    | {*SIDES, *RELATED, *WAYS}
    | _set(
        'back aside elsewhere middle center centre home base start down bit little by backthere '
        'placeof'
    )
)
LINKS = _set('is are be stands stand stood lies lie that which where was were')
OTHERS = _set(
    'except outofreach withinreach not me us with for from out using have has exactly so highest '
    'sign shaped symbol letter capital horizontal vertical straight ordered sorted arranged based '
    'sequence visible according geometric geometrical different apart opposite per gripper '
    'fingers arm robot seconds second places place positions meet angle should given as own give '
    'quarter half turn around them sideways last previous task tasks things moves turns steps'
)
QUESTIONS = _set(
    'what which where how many is are can could do you see there hold holding free your have'
)
NOUNS = {*KINDS, *ISH, *PLURALS} | ANY | COLORS | PRONOUNS
DESCRIBING = (
    NOUNS
    | {*NUMBERS, *SUPERLATIVES, 'both', 'non'}
    | OTHER | ALL | A | ARTICLES | CONJUNCTIONS
)  # fmt: skip
VOCABULARY = frozenset().union(
    *(VERBS, MEASURES, COLOR_WORDS, KIND_WORDS, SKIPPED, LEADING, PLACING, LINKS, OTHERS),
    *(DESCRIBING, SHAPES, [f'{shape}s' for shape in SHAPES], QUESTIONS),
)

ABBREVIATIONS = _each({
    'please': 'pls plz', 'thanks': 'thx ty', 'you': 'u', 'and': 'n', 'location': 'loc',
    'cylinder': 'cyl', 'degrees': '°',
})  # fmt: skip
WORDS_OF_THEIR_OWN = _set('sing tow lien angel')
"""Words that are no slips of others."""
_AREA = rf'(?:the |my |your )?(?:{"|".join(sorted(AREA))})'
_HAND_SIDE = r'(?: hand)?(?: side)?'
SPELLINGS = (
    (r"\b(what|where|which)['’]s\b", r'\1 is'), (r"\bcan['’]t\b|\bcannot\b", 'can not'),
    (r"n['’]t\b", ' not'), (r"['\"‘“]?\+['\"’”]?(?=\W|$)", ' plus '), (r"['’]s\b", ''),
    (r'(?<=\d),', ''),
    (r'(?<=\d)\s*°', ' degrees'), (r'(?<=\d)(?=(?:mm|cm|m|deg)\b)', ' '),
    (r'[!?:;](?=\s|$)|\.(?!\d)|\bthen\b|\bafter that\b|\bthank(?:s\b| you\b)', ' ; '),
    (r'(?<=[a-z])[-/](?=[a-z])', ' '), (r',? ?\bone (?:on|onto) (?:top of )?the other\b', ''),
    (r'\b(base|home|start(?:ing)?) position\b', r'\1'), (r'\bstarting\b', 'start'),
    (r'\b(?:should|must) (?:go|be put|be)\b', ''), (r'&', ' and '),
    (r'\bpick(?: up)? and place\b', 'put'),
    (r'\b(?:in|to) the shape of\b', 'as'), (r'\bin order of\b', 'ordered by'),
    (r'\bin front of\b', 'infront'), (r'\b(?:at )?(?:the )?back of\b', 'behind'),
    (r'\b(?:right |directly )?(?:next|close|near|adjacent) to\b|\balongside\b', 'beside'),
    (rf'\bnear (?!side|half|part|end|{_AREA})', 'beside '),
    (rf'\b(?:(?:to|on|at) )?(?:the )?(left|right){_HAND_SIDE} of (?!{_AREA}\b)', r'\1of '),
    (r'\b(?:apart from|except for|other than|but not|but for|without|excluding)\b', 'except'),
    (r'\b(all|everything|every \w+|all (?:the )?\w+) but\b', r'\1 except'),
    (r', ?except\b', ' except'),
    (r'\bas (?:high|tall) as (?:you can|possible|can be)\b', 'highest'),
    (r'\b(?:out of|not (?:in|within)) (?:your |the |its )?reach\b', 'outofreach'),
    (r'\b(?:(?:that )?(?:you can not|can not you|can you not) reach|unreachable)\b',
     'outofreach'),
    (r'\b(?:(?:in|within) (?:your |the |its )?reach|(?:that )?(?:can )?you (?:can )?reach'
     r'|can be reached|reachable)\b', 'withinreach'),
    (r'\bback (?:to )?(?:where (?:it|they) (?:was|were|came from)(?: before)?|(?:its|their|the)'
     r' (?:old |original |former |previous )?(?:places?|positions?|spots?))\b', 'backthere'),
    (r'\bwhere (?:it|they) (?:was|were)(?: before)?\b', 'backthere'),
    (r'\b(?:in|to) (?:the )?(?:place|position|spot) of\b', 'placeof'),
    (r'\bout of the way\b', 'aside'),
)  # fmt: skip
"""Patterns and what stands for them, in this order."""


SPOKEN = {
    **{'leftof': 'left of', 'rightof': 'right of', 'infront': 'in front of'},
    **{'withinreach': 'within reach', 'outofreach': 'out of reach'},
    **{'backthere': 'back where it was', 'placeof': 'in the place of'},
}
"""What a word of this grammar stands for."""


WHAT_COUNTS = ' What counts: '
"""Begins the tolerances in an instruction of a suite, which ask for nothing more; not read."""


def words_of(text: str, objects: Mapping[str, TableObject]) -> list[str]:
    """
    Return the words of a text; a name of the scene is one word, also if it has spaces.

    `F` is location_F where there is one, and a slip of the keys becomes the word that was meant.
    """
    text = ' '.join(text.partition(WHAT_COUNTS)[0].lower().split())
    for pattern, spelling in SPELLINGS:
        text = re.sub(pattern, spelling, text)
    for name in sorted(objects, key=len, reverse=True):
        spaced = re.escape(name.lower()).replace('_', '[ _]')
        text = re.sub(rf'\b{spaced}\b', name, text, flags=re.IGNORECASE)
    words = re.findall(rf'{NUMBER}(?!\w)|\w+|[,;]', text)
    known = (
        VOCABULARY | {*objects} | {part for name in objects for part in name.lower().split('_')}
    )
    words = [word if word in known else _corrected(word) for word in words]
    return _with_locations(words, objects)


def spoken(words: Iterable[str]) -> str:
    """Return words for a message: with `left of` for `leftof`."""
    return ' '.join(SPOKEN.get(word, word) for word in words)


def is_number(word: str) -> bool:
    return word.isascii() and re.fullmatch(NUMBER, word) is not None


def _with_locations(words: Sequence[str], objects: Mapping[str, TableObject]) -> list[str]:
    """Return the words with names for the letters of locations."""
    named = {name.lower(): name for name in objects}
    found: list[str] = []
    listing = False
    for i, word in enumerate(words):
        last, following = found[-1] if found else '', words[i + 1] if i + 1 < len(words) else ';'
        joined = last in CONJUNCTIONS and found[-2:-1] and found[-2] in objects
        listing = last in LOCATING or (listing and (last in objects or last in CONJUNCTIONS))
        letter = len(word) == 1 and word.isalpha()
        alone = word != 'a' or following in (*CONJUNCTIONS, ';')
        name = named.get(f'location_{word}', f'location_{word}')
        if (
            letter
            and alone
            and (listing or (name in objects and (joined or last in {*ON, *RELATED, 'from'})))
        ):
            if last in LOCATING:
                found.pop()
            found.append(name)
        else:
            found.append(word)
    return found


@lru_cache(maxsize=1000)
def _corrected(word: str) -> str:
    """
    Return the word that was meant: an abbreviation, or the only one that differs by one slip.

    The first letter counts as right, so that `bright` does not become `right`. Two letters
    changed places or one was doubled; a word of seven letters or more may differ by any one.
    """
    if word in ABBREVIATIONS:
        return ABBREVIATIONS[word]
    meant = (
        set()
        if word in WORDS_OF_THEIR_OWN
        else {known for known in VOCABULARY if known[0] == word[0] and _is_slip(word, known)}
    )
    return meant.pop() if len(meant) == 1 else word


def _is_slip(word: str, known: str) -> bool:
    if abs(len(word) - len(known)) > 1 or min(len(word), len(known)) < 3:
        return False
    i = next(
        (i for i, (a, b) in enumerate(zip(word, known)) if a != b), min(map(len, (word, known)))
    )
    swapped = word[:i] + word[i : i + 2][::-1] + word[i + 2 :]
    if len(word) == len(known):
        return swapped == known or (len(known) >= 7 and word[i + 1 :] == known[i + 1 :])
    longer, shorter = sorted((word, known), key=len, reverse=True)
    doubled = longer[i : i + 1] == longer[i - 1]
    return longer[:i] + longer[i + 1 :] == shorter and (doubled or len(shorter) >= 7)
