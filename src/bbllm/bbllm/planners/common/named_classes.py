"""
Which classes of things a sentence names, and of how many things of each it speaks.

Classes are written in one word (`cutleryfork`), sentences are not (`two forks`, `water glasses`):
a word or up to three in a row name a class that they spell, or if none is, each that ends with
them, as English compounds end with what a thing is. It is spelling: synonyms are not found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bbllm.planners.common.goal_predicates import in_words

SOME = 3
"""How many things `plates` are, where nothing says how many."""
MOST = 12
"""How many things `all plates` are, and `40 plates`."""
LONGEST_NAME = 3
"""Of how many words a name is at most: `kitchen counter drawer`."""
TAIL = 4
"""Length from which a word names what ends with it; `and` ends some by chance [letters]."""
STEM = 3
"""How much of the class has to be before it [letters]."""
AHEAD = 2
"""How many unknown words may come between a number and its noun: `two clean mugs`."""
ALL = frozenset({'all', 'every', 'each'})
"""What speaks of `MOST`."""
NUMBERS = {in_words(n): n for n in range(1, 11)} | {'any': 1, 'both': 2, 'couple': 2, 'pair': 2}
BETWEEN = frozenset({'of', 'the', 'my', 'our', 'your', 'these', 'those', 'other', 'more'})
"""What comes between a number and its noun and says nothing: `all of the plates`."""
ENDINGS = (('ves', 'fe'), ('ves', 'f'), ('ies', 'y'), ('es', ''), ('s', ''))
"""How a noun for many ends, and the same noun for one."""
_PART = re.compile(r'[^\W\d_]+|\d+|[^\w\s]')


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun of a sentence."""

    noun: str
    """As it is said, its words put together."""
    count: int
    """How many things it speaks of, at most `MOST`."""
    classes: tuple[str, ...]
    """What it names; () where it has a number, but names no class."""


def mentions(sentence: str, classes: Collection[str]) -> Iterator[Mention]:
    """
    Find the nouns of a sentence that name classes, and those that have a number and name none.

    Args:
        sentence: What a person says.
        classes: What classes there are.
    """
    known = {name.replace('_', ''): name for name in classes}
    words = _PART.findall(re.sub("[-_]|'s", ' ', sentence.lower()))
    count, unknown = 0, list[str]()
    i = 0
    while i < len(words):
        word = words[i]
        n, names = _name_at(words[i:], known)
        if names:
            wanted = count or (SOME if _is_many(words[i + n - 1]) else 1)
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
    """Return how many words at the start are a name, and of which classes."""
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
    """Return a noun and all that it can be the many of: `knives`: `knive`, `knif`, `knife`."""
    ends = ((one, noun.removesuffix(many)) for many, one in ENDINGS if noun.endswith(many))
    return {noun, *(stem + one for one, stem in ends if len(stem) > 1)}


def _is_many(word: str) -> bool:
    return word.endswith('s') and not word.endswith('ss')


def _number(word: str) -> int:
    """Return the number that a word is, 0 where it is none."""
    if word in ALL:
        return MOST
    return min(int(word) if word.isdecimal() else NUMBERS.get(word, 0), MOST)
