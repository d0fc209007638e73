"""From text to words, and from words to clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.sight import Sight

_COLORS = '|'.join(sorted(w.COLORS | {*w.ISH}, key=len, reverse=True))
_SPACED = (
    (r"[\"'`“”‘’]?\+[\"'`“”‘’]?(?=[- ]?(?:sign|shape|symbol|$|[.,;!]| ))", ' plus '),
    (r"\b(don|can|won|couldn)['’]t\b", r'\1t'),
    (r"['’]s\b", ''),
    (r'[!?;]|:(?=\s)', ' ; '),
    (r'[\"“”‘’`()\[\]{}:*=]|(?<!\w)\'|\'(?!\w)', ' '),
    (r'&', ' and '),
    (r'\b(?:many )?(?:thanks|thank you|thx)(?: a lot|(?: very| so) much)?\b', ' ; '),
    (r'(?<=[a-z])[-/–—](?=[a-z])', ' '),
    (r'\s[-–—]+\s', ' , '),
    (r'\bupper ?case\b|\bmajuscule\b', 'capital'),
    (r'\btriangular\b', 'triangle'),
    (r'\b(left|right) hand(?:ed)?\b', r'\1'),
    (r'\b(?:in |of |with )?(?:shades? of|close to|similar to|(?:kind|sort) of|somewhat|roughly) '
     r'(red|blue|green|yellow|orange|purple|pink|brown|grey|white|black)\b', r'\1ish'),
    (r'\b(\w+)[- ]ish\b', r'\1ish'),
    (r'\b(?:whose|which have a|with a) (?:colou?rs? (?:is|are) )?(?=(?:' + _COLORS + r')\b)', ''),
    (r'\b(' + _COLORS + r')[- ](?:colou?r(?:ed|s)?|tones?|hues?)\b', r'\1'),
    (r'\bpick(?: up)? and (?:then )?place\b', 'put'),
    (r'\bso (?:that )?(?:it|they|all of them) (?:is|are|all are|ends? up|sits?) (?=on|in|at)', ''),
    (r'\b(?:make sure|ensure|see to it|take care)(?: that)?\b', ' ; '),
    (r'\b(?:should|must|shall|needs? to|ha(?:s|ve) to|(?:is|are) to) (?:all )?(?:be '
     r'(?:put|placed|moved|located)|end up|be|go|sit|stand|end|belong)\b(?! (?:apart|moved))', ''),
    (r'(?<=s )go\b(?= (?:on|to|at|in)\b)', ''),
    (r'\b(?:goes|belongs?|sits)\b(?= (?:on|to|at|in))', ''),
    (r'\b(?:and )?(?:then|after that|afterwards|thereafter|finally|lastly)\b', ' ; '),
    (r'\.(?!\d)', ' ; '),
)  # fmt: skip


def tokenize(text: str, sight: Sight) -> list[str]:
    """Split text into words, in lower case but for names of the scene, which become one word."""
    text = ' '.join(text.lower().split())
    for pattern, spaced in _SPACED:
        text = re.sub(pattern, spaced, text)
    tokens = re.findall(r'[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?!\w)|[\w\']+|[,;]', text)
    return _expand(_join_names(tokens, sight), sight)


def _join_names(tokens: list[str], sight: Sight) -> list[str]:
    names = {tuple(item.name.lower().split('_')): item.name for item in sight.things}
    names |= {(item.name.lower(),): item.name for item in sight.things}
    longest = max(map(len, names), default=1)
    joined: list[str] = []
    i = 0
    while i < len(tokens):
        for n in range(min(longest, len(tokens) - i), 0, -1):
            if (name := names.get(tuple(tokens[i : i + n]))) is not None:
                joined.append(name)
                break
        else:
            n = 1
            joined.append(tokens[i])
        i += n
    return joined


def _expand(tokens: list[str], sight: Sight) -> list[str]:
    """Turn `locations B, C and D` into three names."""
    names = {item.name.lower(): item.name for item in sight.things if item.kind == 'location'}
    expanded: list[str] = []
    listing = False
    for i, token in enumerate(tokens):
        name = names.get(f'location_{token}')
        after = tokens[i + 1] if i + 1 < len(tokens) else ''
        if token in ('location', 'locations') and f'location_{after}' in names:
            listing = True
        elif listing and name:
            expanded.append(name)
        else:
            listing = token in names.values() or (listing and token in (',', 'and'))
            expanded.append(token)
    return expanded


def split_clauses(tokens: Sequence[str]) -> list[list[str]]:
    """Split at sequence words, and at `and`, `but` or a comma before a verb."""
    clauses: list[list[str]] = [[]]
    fronted: list[str] = []
    for i, token in enumerate(tokens):
        parts = token in ('and', ',', 'but') and _verb_follows(tokens[i + 1 :])
        if parts and token == ',' and _begins_before_its_verb(clauses[-1]):
            fronted, clauses[-1] = clauses[-1], []
        elif token == ';' or parts:
            clauses[-1] += fronted
            clauses.append([])
            fronted = []
        else:
            clauses[-1].append(token)
    clauses[-1] += fronted
    cleaned = (without_leading(clause) for clause in clauses)
    return [clause for clause in cleaned if clause]


def _begins_before_its_verb(clause: Sequence[str]) -> bool:
    """Tell whether a clause is only the beginning of one, as `on the left, put` has it."""
    first = clause[0] if clause else ''
    return first in w.PREPOSITIONS | {'using'} and not w.VERBS & {*clause}


def _verb_follows(tokens: Sequence[str]) -> bool:
    rest = without_leading(tokens)
    stays = w.STAYING & {*rest[1:4]}  # `and the others stay`
    return bool(rest) and (rest[0] in w.STARTERS or bool(stays))


def without_leading(clause: Sequence[str]) -> list[str]:
    """Leave out politeness at both ends of a clause."""
    rest = list(clause)
    while rest and (rest[0] in w.LEADING or rest[0] in w.ANYWHERE or rest[0] == ','):
        rest.pop(0)
    while rest and rest[-1] in w.TRAILING:
        rest.pop()
    return rest
