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
        things = ''.join(f' <{name}> ({node_id})' for name, node_id in self.objects)
        return f'[{self.action.value}]{things} [{self.number}]'


def parse_line(text: str, number: int = 0) -> ScriptLine:
    """Read one line; text between and behind the objects is ignored; raises ScriptError."""
    line = text.strip()
    if len(line) > _LONGEST_LINE:
        # The search for objects takes time with the square of the length.
        raise ScriptError(
            f'Cannot parse action of {_quoted(line)}: the line has {len(line)} characters, '
            f'and at most {_LONGEST_LINE} are read.'
        )
    head = _ACTION.match(line)
    if head is None:
        raise ScriptError(
            f'Cannot parse action of {_quoted(line)}; a line looks like {_quoted(EXAMPLE)}.'
        )
    action = _action(head.group(1).upper())
    objects = tuple(
        [
            (name.lower().replace(' ', '_'), _id(node_id, line))
            for name, node_id in _OBJECT.findall(line, head.end())
        ]
    )
    if len(objects) != action.arity:
        raise ScriptError(
            f'Wrong number of parameters for "{action.value}". '
            f'Got {len(objects)}, expected {action.arity}'
        )
    return ScriptLine(action, objects, number)


def _action(word: str) -> Action:
    try:
        return _ACTIONS[word]
    except KeyError:
        known = tuple(Action.__members__)
        hint = did_you_mean(word, known)
        raise ScriptError(
            f'Unknown action "{word[:_LONGEST_QUOTE]}".{hint} Known: {", ".join(known)}.'
        ) from None


def _id(text: str, line: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ScriptError(
            f'The id in ({text[:_LONGEST_QUOTE]}) of {_quoted(line)} is no whole number; '
            f'a line looks like {_quoted(EXAMPLE)}.'
        ) from None


def _quoted(text: str) -> str:
    return f'"{text[:_LONGEST_QUOTE]}"'
