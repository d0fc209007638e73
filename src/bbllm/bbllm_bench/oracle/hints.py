"""What `offline` understands, in one line of examples that a scene can carry out."""

from collections.abc import Mapping

from bbllm_bench.oracle.table_goals import TableObject

LANGUAGE_MODEL = 'A language model understands more: --brain MODEL (docs/models.md).'
_BEGIN = 'I understand English sentences such as '
MOST_EXAMPLES = 5
"""How many sentences a hint has."""


def hint_of(objects: Mapping[str, TableObject]) -> str:
    """Return a line with sentences about the objects of a scene, within reach where there are."""
    near = [item for item in objects.values() if item.in_reach is not False] or [*objects.values()]
    movable = [item for item in near if item.movable]
    taken = {name for item in objects.values() for name in item.below}
    spots = [item.name for item in near if item.kind == 'location' and item.name not in taken]
    words = [_described(item, objects) for item in movable]
    cubes = [item for item in movable if item.kind == 'cube']
    found = [f'put {words[0]} on {spots[0]}'] if words and spots else []
    found += [f'swap {words[0]} and {words[1]}'] if words[1:] else []
    found += ['stack the cubes'] if cubes[1:] else []
    found += [f'move {words[-1]} 10 cm to the left'] if words else []
    found += ['undo', 'which objects can you reach?']
    quoted = ', '.join(f"'{text}'" for text in found[:MOST_EXAMPLES])
    return f'{_BEGIN}{quoted}. {LANGUAGE_MODEL}'


def without_hint(text: str) -> str:
    """Return a text without the hint at its end."""
    return text.partition(f' {_BEGIN}')[0]


def _described(item: TableObject, objects: Mapping[str, TableObject]) -> str:
    """Return `the red cube` where that is one object, else the name."""
    words = item.name.split('_')
    alike = [one for one in objects.values() if (one.color, one.kind) == (item.color, item.kind)]
    is_plain = words == [item.color, item.kind]
    return f'the {item.color} {item.kind}' if is_plain and len(alike) == 1 else item.name
