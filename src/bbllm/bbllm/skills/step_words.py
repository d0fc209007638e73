"""Words of plan steps that stand for no skill: those that forbid, and those of most steps."""

import re

from bbllm.core.arguments import DIRECTIONS
from bbllm.core.types import Kind

ARTICLES = ('the', 'a', 'an', 'any', 'every', 'all')
FORBIDDING = frozenset({
    *('not', 'never', 'no', 'nor', 'neither', 'none', 'nothing', 'without', 'cannot'),
    *('dont', 'doesnt', 'cant', 'wont', 'mustnt', 'shouldnt', 'except', 'unless', 'instead'),
    *('rather', 'avoid', 'avoids', 'avoiding', 'leave', 'leaves', 'leaving', 'keep', 'keeps'),
    *('keeping', 'stay', 'away', 'skip', 'ignore', 'refrain', 'untouched', 'unmoved', 'forbidden'),
    *('nicht', 'nichts', 'nie', 'niemals', 'kein', 'keine', 'keinen', 'keinem', 'keiner'),
    *('keines', 'ohne', 'statt', 'anstatt', 'ausser', 'lass', 'lasse', 'lassen', 'vermeide'),
    *('vermeiden', 'nunca', 'jamas', 'ni', 'nada', 'ningun', 'ninguna', 'ninguno', 'sin', 'salvo'),
    *('excepto', 'deja', 'dejar', 'evita', 'evitar', 'ne', 'pas', 'jamais', 'sans'),
})  # fmt: skip
"""Words of English, German, Spanish and French by which a step may forbid what it names, without
accents. They count in names of objects too, as a name may be meant as a word."""
COMMON = frozenset({
    *ARTICLES, *DIRECTIONS, *(kind.value for kind in Kind), *(f'{kind.value}s' for kind in Kind),
    *('and', 'then', 'next', 'so', 'that', 'this', 'it', 'its', 'them', 'there', 'here', 'your'),
    *('on', 'onto', 'in', 'into', 'to', 'of', 'at', 'by', 'for', 'from', 'with', 'over', 'above'),
    *('under', 'below', 'beside', 'between', 'near', 'up', 'down', 'top', 'is', 'be', 'are'),
    *('object', 'objects', 'block', 'blocks', 'table', 'pose', 'robot', 'arm', 'gripper'),
    *('fingers', 'm', 'cm', 'mm', 's', 'second', 'seconds', 'deg', 'degree', 'degrees'),
})  # fmt: skip
"""Words of the grammar of steps: a phrase of these alone is in many that mean another skill."""


def fault_of_phrase(phrase: str) -> str:
    """Return why a phrase cannot stand for a skill, '' where it can; as `plain` returns it."""
    words = [word for word in re.split(r'[\W_]+', phrase) if word]
    if forbids := [word for word in words if word in FORBIDDING]:
        return f'a step with {forbids[0]!r} may forbid what it names, and is never approved'
    if not words:
        return 'it has no letters'
    if COMMON.issuperset(words):
        return 'most steps have it, whatever they mean; a verb of its own would do'
    return ''
