"""Lines of a script, such as `[PUTIN] <salmon> (328) <fridge> (305)`."""

import re
from typing import NamedTuple

from bbllm.core.errors import ParseError
from bbllm.worlds.household.vocabulary import OTHER_WORDS, Action, did_you_mean

EXAMPLE = '[PUTIN] <salmon> (328) <fridge> (305)'
_ACTION = re.compile(r'\[(\w+)\]')
_OBJECT = re.compile(r'<(.+?)>\s*\((.+?)\)')
_ACTIONS = {**Action.__members__, **OTHER_WORDS}
_LONGEST_LINE = 1000
"""The search for objects takes time with the square of the length [characters]."""
_LONGEST_QUOTE = 60


class ScriptError(ParseError):
    """A line that is no line of a script; begins as VirtualHome's own message does."""


class ScriptLine(NamedTuple):
    """One action and what it is done to; a tuple, as it is made faster than a frozen record."""

    action: Action
    objects: tuple[tuple[str, int], ...] = ()
    """Class name and id of each object; only the id identifies it."""
    number: int = 0
    """Number of the line; messages end with it."""

    def __str__(self) -> str:
        items = ''.join(f' <{name}> ({node_id})' for name, node_id in self.objects)
        return f'[{self.action.value}]{items} [{self.number}]'


def parse_line(text: str, number: int = 0) -> ScriptLine:
    """Read one line; text between and behind the objects is ignored; raises ScriptError."""
    line = text.strip()
    quoted = (
        f'"{line[:_LONGEST_QUOTE]}"; a line has at most {_LONGEST_LINE} characters, as {EXAMPLE}'
    )
    head = _ACTION.match(line)
    if head is None or len(line) > _LONGEST_LINE:
        raise ScriptError(f'Cannot parse action of {quoted}.')
    word = head[1].upper()
    action = _ACTIONS.get(word)
    if action is None:
        hint = did_you_mean(word, _ACTIONS)
        known = ', '.join(_ACTIONS)
        raise ScriptError(f'Unknown action "{word[:_LONGEST_QUOTE]}".{hint} Known: {known}.')
    try:
        objects = tuple(
            [
                (name.lower().replace(' ', '_'), int(node_id))
                for name, node_id in _OBJECT.findall(line, head.end())
            ]
        )
    except ValueError:
        raise ScriptError(f'An id is no whole number in {quoted}.') from None
    if len(objects) != action.arity:
        raise ScriptError(
            f'Wrong number of parameters for "{action.value}". '
            f'Got {len(objects)}, expected {action.arity}'
        )
    return ScriptLine(action, objects, number)
