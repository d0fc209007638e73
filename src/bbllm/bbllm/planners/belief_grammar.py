"""
Which words of an estimator are a belief, by a grammar of what no sensor can say.

    belief     := {adverb} (comparison | past | ability | judgement | choice | property | known)
    comparison := WORDer_than NAME | more_WORD_than NAME | less_WORD_than NAME | as_WORD_as NAME
    past       := WORD [WORD [WORD]] (before | once | twice | again | NUMBER | NUMBER times)
    ability    := (would | will | can | cannot | does | did ...) {not | be} WORD [WORD]
    judgement  := (hard | easy | safe ... | too) {to | be} WORD [[to] WORD]
    choice     := WORD (or | and) WORD
    property   := WORD
    known      := on | off | plugged_in | plugged_out | out_of_workspace

WORD is any one word but those that tell where something is, or whether it is there and can be
seen or reached, and names of the scene. So how a thing lies to others can be said in no words: a
relation is a comparison or nothing, and more than one word needs one of these forms. The words
that are excepted are prepositions and adverbs of place, of which a language has few.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

ADVERBS = frozenset(
    {
        *('is', 'was', 'are', 'be', 'being', 'has', 'been', 'now', 'still', 'currently'),
        *('not', 'no', 'longer', 'isn', 't', 'already', 'fully', 'completely', 'partly'),
        *('the', 'a', 'an', 'bit', 'very', 'quite', 'rather', 'slightly', 'somewhat', 'so'),
        *('probably', 'maybe', 'perhaps', 'possibly', 'apparently', 'seems', 'feels'),
        *('looks', 'appears'),
        *('turned', 'switched', 'sitting', 'standing', 'lying', 'resting', 'located', 'placed'),
        *('stacked', 'left'),
    }
)
"""What may stand before the words that matter, and says nothing without them."""
KNOWN = frozenset(
    {('on',), ('off',), ('plugged', 'in'), ('plugged', 'out'), ('out', 'of', 'workspace')}
)
"""Said with prepositions, and about no place beside the thing itself."""
PLACE_WORDS = frozenset(
    {
        *('on', 'in', 'inside', 'at', 'under', 'underneath', 'below', 'beneath', 'above', 'over'),
        *('near', 'nearby', 'beside', 'besides', 'behind', 'between', 'within', 'outside', 'into'),
        *('onto', 'upon', 'by', 'from', 'off', 'out', 'of', 'to', 'toward', 'towards', 'with'),
        *('without', 'against', 'along', 'across', 'around', 'through', 'among', 'amid', 'past'),
        *('beyond', 'atop', 'down', 'up', 'next', 'close', 'far', 'away', 'here', 'there'),
        *(
            'closer',
            'nearer',
            'farther',
            'further',
            'higher',
            'lower',
            'elsewhere',
            'somewhere',
            'nowhere',
        ),
        *('anywhere', 'everywhere', 'left', 'right', 'free', 'freed', 'clear', 'cleared'),
        *('front', 'back', 'top', 'bottom', 'middle', 'center', 'centre', 'corner', 'edge'),
        *('side', 'north', 'south', 'east', 'west', 'upstairs', 'downstairs', 'indoors'),
        *('table', 'tabletop', 'floor', 'ground', 'hand', 'gripper', 'fingers', 'workspace'),
        *('where', 'it', 'its', 'this', 'that', 'these', 'those', 'what', 'which', 'who', 'when'),
        *(
            'all',
            'other',
            'another',
            'same',
            'than',
            'as',
            'if',
            'then',
            'room',
            'position',
            'location',
            'place',
            'pose',
            'spot',
            'area',
        ),
    }
)
"""Prepositions and adverbs of place, what they go with, and what may stand for a thing."""
SIGHT_STEMS = (
    *('reach', 'unreach', 'access', 'inaccess', 'visib', 'invisib', 'see', 'seen', 'unseen'),
    *('hid', 'locat', 'found', 'find', 'spot', 'held', 'hold', 'grasped', 'carr', 'lost', 'los'),
    *('gone', 'missing', 'disappear', 'vanish', 'absent', 'present', 'exist', 'remov', 'occup'),
    *('unoccup', 'vacant', 'empty', 'emptied', 'blocked', 'cover', 'uncover'),
    *('upright', 'tilt', 'toppl', 'tipped', 'fallen', 'upside', 'detect', 'observ', 'look'),
)
"""How words begin that tell whether a thing is there, what it carries, or can be got at."""
AUXILIARIES = frozenset(
    {
        *('would', 'will', 'could', 'can', 'cannot', 'should', 'must', 'may', 'might'),
        *('does', 'did', 'do', 'needs', 'needed', 'tends'),
    }
)
JUDGEMENTS = frozenset(
    {
        *('hard', 'easy', 'difficult', 'impossible', 'safe', 'unsafe', 'ready', 'unable', 'able'),
        *('too', 'likely', 'prone', 'hardly', 'easily', 'barely'),
    }
)
COUNTS = frozenset({'before', 'once', 'twice', 'thrice', 'again', 'times'})
LINKS = frozenset({'not', 'be', 'to'})
"""What may stand between such a word and what it is about."""

WRITTEN = re.compile(r"[A-Za-z0-9\s_'-]+")
"""The letters of a belief: none of other scripts, whose words are not known here."""


def read_belief(text: str, names: Collection[str]) -> tuple[str, str] | None:
    """
    Return predicate and object of what is believed; None where it is no belief.

    Args:
        text: An attribute, in whatever words.
        names: Of what is in the scene.
    """
    written = text.split()
    matter = written[:]
    while len(matter) > 1 and matter[0].lower() in ADVERBS:
        del matter[0]
    relation, _, other = '_'.join(matter).rpartition('_than_')
    if relation and other in names:
        matter = [f'{relation}_than', other]
    if len(matter) == 2 and matter[1] in names:
        return (matter[0].lower(), matter[1]) if is_comparison(matter[0]) else None
    if not WRITTEN.fullmatch(text) or not _is_belief(core(text), names):
        return None
    return 'is', '_'.join(written)


def core(text: str) -> tuple[str, ...]:
    """Return the words of an attribute in small letters, without the adverbs before them."""
    words = [word for word in re.split(r'[\W_]+', text.lower()) if word]
    while len(words) > 1 and words[0] in ADVERBS:
        del words[0]
    return tuple(words)


def is_comparison(predicate: str) -> bool:
    """Tell whether a predicate compares two things: `heavier_than`, `more_sticky_than`."""
    match predicate.lower().split('_'):
        case [word, 'than']:
            return word.endswith('er') and _is_plain(word, ())
        case ['more' | 'less', word, 'than'] | ['as', word, 'as']:
            return _is_plain(word, ())
    return False


def _is_belief(tokens: Sequence[str], names: Collection[str]) -> bool:
    if tuple(tokens) in KNOWN:
        return True

    def plain(words: Sequence[str], most: int) -> bool:
        return 1 <= len(words) <= most and all(_is_plain(word, names) for word in words)

    match list(tokens):
        case [word]:
            return plain([word], 1)
        case [first, 'or' | 'and', second]:
            return plain([first, second], 2)
        case [*words, number, 'times'] if number.isdecimal():
            return plain(words, 3)
        case [*words, last] if last in COUNTS or last.isdecimal():
            return plain(words, 3)
        case [first, *rest] if first in AUXILIARIES | JUDGEMENTS:
            while len(rest) > 1 and rest[0] in LINKS:
                rest = rest[1:]
            return plain([word for word in rest if word != 'to'], 2)
    return False


def _is_plain(word: str, names: Collection[str]) -> bool:
    """Tell whether a word says nothing of places, sight and reach, and is nothing's name."""
    return not (
        word in PLACE_WORDS
        or word.startswith(SIGHT_STEMS)
        or word in {name.lower() for name in names}
        or not word.isalpha()
    )
