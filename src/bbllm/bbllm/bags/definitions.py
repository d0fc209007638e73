"""
Definitions of messages, as MCAP files contain them.

The file beside this module has those that are written without ROS: of Jazzy and of
bbllm_interfaces, without comments. `tools/message_definitions.py` writes it, and a test compares.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name('messages.ros2msg')
LINE = '=' * 80
_FIELD = re.compile(r'\s*((?:\w+/)?\w+)(?:<=\d+)?(\[[^\]]*\])?\s+(\w+)(?!\s*=|\w)')
"""Type, array and name of a field; constants have an equal sign behind their name."""
NUMBERS = tuple(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64))
PRIMITIVES = frozenset(
    ('bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring', *NUMBERS)
)


@cache
def _shipped() -> Mapping[str, str]:
    messages = FILE.read_text('utf-8').split(f'{LINE}\n')
    parts = (message.removeprefix('MSG: ').partition('\n') for message in messages)
    return {name: text.rstrip('\n') for name, _, text in parts}


def shipped_text(name: str) -> str:
    """Return the definition of one message, `package/Name`, that is shipped."""
    return _shipped()[name]


def fields_in(name: str, text: str) -> dict[str, tuple[str, bool]]:
    """Return the type of each field in a definition, `package/Name`, and whether it is a list."""
    package = name.partition('/')[0]
    found = {}
    for line in text.splitlines():
        if match := _FIELD.match(line):
            kind, array, field = match.groups()
            if kind not in PRIMITIVES and '/' not in kind:
                kind = f'{package}/{kind}'
            found[field] = (kind, array is not None)
    return found


@cache
def shipped_fields(name: str) -> Mapping[str, tuple[str, bool]]:
    """Return the fields of a message that is shipped; see `fields_in`."""
    return fields_in(name, shipped_text(name))


def parts_of(name: str, text: str) -> list[str]:
    """Return the names of the messages that stand directly in a definition."""
    kinds = [kind for kind, _ in fields_in(name, text).values()]
    return [kind for kind in dict.fromkeys(kinds) if kind not in PRIMITIVES]


def definition_of(message: str) -> str:
    """Return the definition of a message, `package/msg/Name`, in the form `ros2msg` of MCAP."""
    names = [message.replace('/msg/', '/')]
    texts = []
    for name in names:  # which grows
        texts.append(shipped_text(name).rstrip('\n'))
        names += [part for part in parts_of(name, texts[-1]) if part not in names]
    whole = [texts[0]]
    whole += [f'MSG: {name}\n{text}' for name, text in zip(names[1:], texts[1:], strict=True)]
    return f'\n{LINE}\n'.join(whole)
