"""
Kinds of arguments that are no names of objects: seconds, a distance, a direction, degrees.

A parameter of a skill has the kind of its name, `push(object, direction, distance)`; a parameter
with any other name takes the name of an object, and `target` a pose too.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

WAIT_LIMIT_S = 60.0
"""The longest single wait [s]."""
DISTANCES_M = (0.01, 0.5)
"""The shortest and the longest distance [m]."""
TURNS_DEG = (1.0, 180.0)
"""The smallest and the largest turn, either way [deg]."""
LONGEST = 250
"""Longest text that is read as a number [characters]."""
SAME = 1e-6
"""Numbers that differ by less were written down differently."""
_NUMBER = r'[-+]?(?:\d+\.?\d*|\.\d+)'
_LENGTH = r'(?:mm|cm|m|millimet(?:re|er)s?|centimet(?:re|er)s?|met(?:re|er)s?)'
_ANGLE = r'(?:°|deg|degrees?)'
_WAY = r'(?:(?:counter|anti)[- ]?)?clockwise'
DIRECTIONS: Mapping[str, tuple[float, float]] = {
    'left': (0.0, 1.0),
    'right': (0.0, -1.0),
    'forward': (1.0, 0.0),
    'back': (-1.0, 0.0),
}
"""Unit vectors in the world frame, as seen from the robot: x forward, y left."""
_DIRECTION_WORDS = {
    **dict.fromkeys(('left', 'leftward', 'leftwards'), 'left'),
    **dict.fromkeys(('right', 'rightward', 'rightwards'), 'right'),
    **dict.fromkeys(('forward', 'forwards', 'ahead', 'away'), 'forward'),
    **dict.fromkeys(('back', 'backward', 'backwards'), 'back'),
}


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """How arguments of one kind are written."""

    read: Callable[[str], str]
    """Returns an argument in its one form; raises ValueError with what would do."""
    states: Callable[[str, str], bool]
    """Whether the text of a step states a value of that form."""
    pattern: str
    """Regular expression without groups for an argument within a step, in lower case."""
    schema: Mapping[str, object]
    """JSON schema of an argument, for tools."""
    numeric: bool = True
    """Whether it is a number."""


def _seconds(text: str) -> str:
    found = re.fullmatch(
        r'\s*([-+]?\d*\.?\d+(?:e[-+]?\d+)?)\s*(?:s|secs?|seconds?)?\s*', text[: LONGEST + 1]
    )
    seconds = float(found[1]) if found and len(text) <= LONGEST else math.nan
    if not 0.0 < seconds <= WAIT_LIMIT_S:  # false for nan as well
        raise ValueError(
            f'{text[:60]!r} is no waiting time: it must be more than 0 and at most '
            f'{WAIT_LIMIT_S:g} seconds, for example 2.5.'
        )
    return f'{seconds:g}'


def _distance(text: str) -> str:
    found = [*lengths_m(text)] if len(text) <= LONGEST else []
    whole = re.fullmatch(rf'\s*{_NUMBER}\s*{_LENGTH}?\s*', text.lower())
    low_m, high_m = DISTANCES_M
    distance_m = round(found[0], 3) if whole and len(found) == 1 else math.nan
    if not low_m <= distance_m <= high_m:
        raise ValueError(
            f'{text[:60]!r} is no distance: it must be {low_m:g} to {high_m:g} m, for example '
            '0.1 or 10 cm.'
        )
    return f'{distance_m:g}'


def lengths_m(text: str) -> Iterator[float]:
    """Yield the numbers of a text as lengths; a number without a unit is in metres."""
    pattern = rf'(?<![\w.+-])({_NUMBER})\s*({_LENGTH})?(?![\w.]*\w)'
    for number, unit in re.findall(pattern, text.lower()):
        factor = 1e-3 if unit.startswith(('mm', 'mil')) else 1e-2 if unit.startswith('c') else 1.0
        yield float(number) * factor


def _states_distance(text: str, value: str) -> bool:
    return any(abs(length_m - float(value)) < SAME for length_m in lengths_m(text))


def _direction(text: str) -> str:
    word = re.sub(r'^to the ', '', ' '.join(text.lower().split())[:LONGEST])
    if word not in _DIRECTION_WORDS:
        raise ValueError(
            f'{text[:60]!r} is no direction: it must be {", ".join([*DIRECTIONS][:-1])} or '
            f'{[*DIRECTIONS][-1]}, as seen from the robot.'
        )
    return _DIRECTION_WORDS[word]


def directions_in(text: str) -> set[str]:
    """Return the directions that a text names."""
    named = (_DIRECTION_WORDS.get(word) for word in re.findall(r'[a-z]+', text.lower()))
    return {word for word in named if word}


def _states_direction(text: str, value: str) -> bool:
    """Return whether it is the only direction of a text: of two, either may be the one meant."""
    return directions_in(text) == {value}


def _degrees(text: str) -> str:
    whole = re.fullmatch(
        rf'\s*{_NUMBER}\s*{_ANGLE}?\s*(?:{_WAY})?\s*', text.lower()[: LONGEST + 1]
    )
    low_deg, high_deg = TURNS_DEG
    turn_deg = round(next(angles_deg(text)), 1) if whole else math.nan
    if not low_deg <= abs(turn_deg) <= high_deg:
        raise ValueError(
            f'{text[:60]!r} is no turn: it must be {low_deg:g} to {high_deg:g} degrees, '
            'counter-clockwise as seen from above, or as many below 0, for example 90 or -45.'
        )
    return f'{turn_deg:g}'


def angles_deg(text: str) -> Iterator[float]:
    """Yield the numbers of a text as turns; `clockwise` after them turns them round."""
    pattern = rf'(?<![\w.+-])({_NUMBER})\s*(?:{_ANGLE})?(?![\w.]*\w)'
    lower = text.lower()
    ways = re.findall(_WAY, lower)
    sign = -1.0 if ways and all(way == 'clockwise' for way in ways) else 1.0
    for number in re.findall(pattern, lower):
        yield float(number) * sign


def _states_degrees(text: str, value: str) -> bool:
    return any(abs(turn_deg - float(value)) < SAME for turn_deg in angles_deg(text))


_METRES = {'description': 'In metres [m].'}
KINDS: Mapping[str, ArgumentKind] = {
    'seconds': ArgumentKind(
        _seconds,
        lambda text, value: True,  # to stand still for longer moves nothing
        rf'{_NUMBER}(?: ?(?:s|secs?|seconds?))?',
        {'type': 'number', 'description': f'More than 0 and at most {WAIT_LIMIT_S:g} [s].'},
    ),
    'distance': ArgumentKind(
        _distance,
        _states_distance,
        rf'{_NUMBER}(?: ?{_LENGTH})?',
        {'type': 'number', 'minimum': DISTANCES_M[0], 'maximum': DISTANCES_M[1], **_METRES},
    ),
    'direction': ArgumentKind(
        _direction,
        _states_direction,
        '|'.join(_DIRECTION_WORDS),
        {'type': 'string', 'enum': [*DIRECTIONS], 'description': 'As seen from the robot.'},
        numeric=False,
    ),
    'degrees': ArgumentKind(
        _degrees,
        _states_degrees,
        rf'{_NUMBER}(?: ?{_ANGLE})?(?: {_WAY})?',
        {'type': 'number', 'description': 'Counter-clockwise as seen from above [deg].'},
    ),
}
"""By the name of the parameter."""


def is_value(arg: str) -> bool:
    """Return whether an argument of a checked call is a number or a direction, and no name."""
    return arg in DIRECTIONS or re.fullmatch(rf'{_NUMBER}(?:e[-+]?\d+)?', arg) is not None
