"""A sentence as clauses of known words."""

import difflib
from collections.abc import Mapping, Sequence

from bbllm_bench.oracle.phrases import Phrases
from bbllm_bench.oracle.table_goals import RefusalError, TableObject
from bbllm_bench.oracle.vocabulary import (
    CONJUNCTIONS,
    LEADING,
    SKIPPED,
    VERBS,
    VOCABULARY,
    is_number,
    words_of,
)

TOPPLING = frozenset({'knock', 'topple', 'tip', 'kick', 'hit', 'throw', 'toss'})
"""Verbs that no skill of the table carries out."""
MAX_CHARACTERS = 2000
MAX_WORDS = 60
"""Most words of a clause."""
EXPLANATIONS = (
    'a vertical and a horizontal line that meet at a right angle',
    'objects of different shapes should not be in the same part',
    'give every object a location of its own',
)
"""Clauses that only explain what was asked for before them."""


def names_in(text: str, objects: Mapping[str, TableObject]) -> list[str]:
    """Return all objects that a piece of text names or describes."""
    phrases = Phrases(objects)
    words = words_of(text[:MAX_CHARACTERS], objects)
    phrases.begin(words[:MAX_WORDS])
    found: list[str] = []
    i = 0
    while i < len(phrases.words):
        selects, i = next(phrases.selection(i), ((), i + 1))
        found += [name for select in selects for name in select.names]
    return found


def clauses_of(text: str, objects: Mapping[str, TableObject]) -> list[list[str]]:
    """
    Return the words of each clause of a sentence.

    Raises:
        RefusalError: It is too long, or a word is not in the vocabulary.
    """
    if len(text) > MAX_CHARACTERS:
        raise RefusalError(
            f'The task has {len(text)} characters; I read at most {MAX_CHARACTERS}.'
        )
    words = words_of(text, objects)
    known = VOCABULARY | {*objects}
    unknown = [word for word in words if word not in known and word != ';' and not is_number(word)]
    if not TOPPLING.isdisjoint(unknown):
        raise RefusalError('I knock nothing over. I push: "push the red cube 5 cm back".')
    if unknown:
        close = difflib.get_close_matches(unknown[0], objects, n=1, cutoff=0.75)
        hint = f' Did you mean {close[0]}?' if close else ''
        as_written = {word.lower(): word for word in text.replace("'", ' ').split()}
        listed = ', '.join(repr(as_written.get(w, w)[:24]) for w in dict.fromkeys(unknown[:5]))
        raise RefusalError(f'I do not understand {listed}.{hint}')
    return _clauses(words)


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """Split at ends of sentences, and at `and` or a comma before a verb."""
    clauses: list[list[str]] = [[]]
    for i, word in enumerate(words):
        following = next((w for w in words[i + 1 : i + 9] if w not in LEADING | SKIPPED), '')
        if word == ';' or (word in ('and', ',', 'but') and following in VERBS):
            clauses.append([])
        elif word not in SKIPPED and (clauses[-1] or word not in LEADING):
            clauses[-1].append(word)
    for clause in clauses:
        while clause and clause[-1] in CONJUNCTIONS:
            clause.pop()
    return [clause for clause in clauses if clause]
