"""
The classes that a sentence names, and how many objects of each it mentions.

Classes are written in one word (`cutleryfork`), unlike in sentences (`two forks`, `water
glasses`): one to three words in a row name a class with the same spelling, or else each class that
ends with them, as English compounds end with the kind of an object. Synonyms are not found.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bbllm.planners.common.goal_predicates import in_words

SOME = 3
"""Number of objects of a plural without a number."""
MOST = 12
"""Number of objects of `all plates`, and maximum number."""
LONGEST_NAME = 3
"""Maximum number of words of a name: `kitchen counter drawer`."""
TAIL = 4
"""Minimum length of a word that matches the end of a class; shorter ones match by chance
[letters]."""
STEM = 3
"""Minimum length of the part before it [letters]."""
AHEAD = 2
"""How many unknown words may come between a number and its noun: `two clean mugs`."""
NUMBERS = {
    **{in_words(n): n for n in range(1, 11)},
    **{'any': 1, 'both': 2, 'couple': 2, 'pair': 2, 'all': MOST, 'every': MOST, 'each': MOST},
}
BETWEEN = frozenset({'of', 'the', 'my', 'our', 'your', 'these', 'those', 'other', 'more'})
"""Words between a number and its noun: `all of the plates`."""
ENDINGS = (('ves', 'fe'), ('ves', 'f'), ('ies', 'y'), ('es', ''), ('s', ''))
"""Endings of plurals and singulars."""
_PART = re.compile(r'[^\W\d_]+|\d+|[^\w\s]')


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun of a sentence."""

    noun: str
    """Its words in one."""
    count: int
    """Number of objects, at most `MOST`."""
    classes: tuple[str, ...]
    """The named classes; () for a noun with a number that names none."""


def mentions(sentence: str, classes: Collection[str]) -> Iterator[Mention]:
    """Yield the nouns of a sentence that name classes, and others that have a number."""
    known = {name.replace('_', ''): name for name in classes}
    words = _PART.findall(re.sub("[-_]|'s", ' ', sentence.lower()))
    count, unknown = 0, list[str]()
    i = 0
    while i < len(words):
        word = words[i]
        n, names = _name_at(words[i:], known)
        if names:
            last = words[i + n - 1]
            wanted = count or (SOME if last.endswith('s') and not last.endswith('ss') else 1)
            yield Mention(''.join(words[i : i + n]), wanted, names)
            i += n
            unknown = []
            # Of `two boxes of cereal` both are two.
            count = count if words[i : i + 1] == ['of'] else 0
            continue
        i += 1
        if word in BETWEEN and count:
            continue
        number = _number(word)
        if count and not number and word.isalpha():
            unknown.append(word)
        if number or not word.isalpha() or len(unknown) == AHEAD:
            if count and unknown:
                yield Mention(unknown[0], count, ())
            count, unknown = number, []
    if count and unknown:
        yield Mention(unknown[0], count, ())


def _name_at(words: Sequence[str], known: dict[str, str]) -> tuple[int, tuple[str, ...]]:
    """Return how many words at the start are a name, and its classes."""
    for n in range(min(LONGEST_NAME, len(words)), 0, -1):
        noun = ''.join(words[:n])
        forms = _forms(noun)
        found = [known[name] for name in known if forms & _forms(name)]
        if not found and len(noun) >= TAIL:
            tails = tuple(forms)
            found = [known[name] for name in known if name[STEM:].endswith(tails)]
        if found:
            return n, tuple(found)
    return 0, ()


def _forms(noun: str) -> set[str]:
    """Return a noun and its possible singulars; of `knives`: `knive`, `knif`, `knife`."""
    ends = ((one, noun.removesuffix(many)) for many, one in ENDINGS if noun.endswith(many))
    return {noun, *(stem + one for one, stem in ends if len(stem) > 1)}


def _number(word: str) -> int:
    """Return the value of a number word, 0 for other words."""
    return min(int(word) if word.isdecimal() else NUMBERS.get(word, 0), MOST)
