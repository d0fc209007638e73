"""Figures of transcripts: word errors, and whether a command is the one that was spoken."""

import re
from collections.abc import Sequence

_FIGURES = {'5': 'five', '10': 'ten', '45': 'forty five', '90': 'ninety', '2': 'two', '1': 'one'}
_SPELLINGS = {
    **{'centimeter': 'centimeters', 'centimetres': 'centimeters', 'cm': 'centimeters'},
    **{'colour': 'color', 'grey': 'gray', 'ok': 'okay'},
}
_EMPTY = {'the', 'a', 'an', 'of', 'please'}


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, figures written out."""
    found = re.findall(r"[\w']+", text.lower().replace('-', ' ').replace('°', ' degrees'))
    written = ' '.join(_FIGURES.get(word, _SPELLINGS.get(word, word)) for word in found)
    return written.split()


def same_command(text: str, other: str) -> bool:
    """Return whether two texts differ by articles and the plural of nouns at most."""
    return _meant(text) == _meant(other)


def _meant(text: str) -> list[str]:
    return [word.rstrip('s') for word in words(text) if word not in _EMPTY]


def word_errors(spoken: str, understood: str) -> tuple[int, int]:
    """Return how many words are wrong, missing or too many, and how many were spoken."""
    wanted, got = words(spoken), words(understood)
    return _distance(wanted, got), len(wanted)


def _distance(wanted: Sequence[str], got: Sequence[str]) -> int:
    row = list(range(len(got) + 1))
    for i, word in enumerate(wanted, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(got, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]
