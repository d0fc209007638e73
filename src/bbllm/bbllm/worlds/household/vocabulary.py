"""VirtualHome's words for states, properties, relations and actions; see docs/household.md."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

ROOMS = 'Rooms'
"""The category of a node that is a room."""
CHARACTER = 'character'
"""The class of a node that is a person who acts."""


class State(str, Enum):
    """What can change about one object."""

    CLOSED = 'CLOSED'
    OPEN = 'OPEN'
    ON = 'ON'
    OFF = 'OFF'
    SITTING = 'SITTING'
    DIRTY = 'DIRTY'
    CLEAN = 'CLEAN'
    LYING = 'LYING'
    PLUGGED_IN = 'PLUGGED_IN'
    PLUGGED_OUT = 'PLUGGED_OUT'


class Relation(str, Enum):
    """How one object stands to another."""

    ON = 'ON'
    INSIDE = 'INSIDE'
    BETWEEN = 'BETWEEN'
    """A door stands between two rooms."""
    CLOSE = 'CLOSE'
    FACING = 'FACING'
    HOLDS_RH = 'HOLDS_RH'
    """In the right hand, which is filled first."""
    HOLDS_LH = 'HOLDS_LH'
    SITTING = 'SITTING'
    """In the vocabulary, yet no action makes or reads it."""


HANDS = (Relation.HOLDS_RH, Relation.HOLDS_LH)
"""The hands, in the order in which they are filled."""


class Property(str, Enum):
    """What an object is good for; it never changes."""

    SURFACES = 'SURFACES'
    GRABBABLE = 'GRABBABLE'
    SITTABLE = 'SITTABLE'
    LIEABLE = 'LIEABLE'
    HANGABLE = 'HANGABLE'
    DRINKABLE = 'DRINKABLE'
    EATABLE = 'EATABLE'
    RECIPIENT = 'RECIPIENT'
    CUTTABLE = 'CUTTABLE'
    POURABLE = 'POURABLE'
    CAN_OPEN = 'CAN_OPEN'
    HAS_SWITCH = 'HAS_SWITCH'
    READABLE = 'READABLE'
    LOOKABLE = 'LOOKABLE'
    CONTAINERS = 'CONTAINERS'
    CLOTHES = 'CLOTHES'
    PERSON = 'PERSON'
    BODY_PART = 'BODY_PART'
    COVER_OBJECT = 'COVER_OBJECT'
    HAS_PLUG = 'HAS_PLUG'
    HAS_PAPER = 'HAS_PAPER'
    MOVABLE = 'MOVABLE'
    CREAM = 'CREAM'


_WITHOUT_OBJECT = frozenset({'SLEEP', 'STANDUP', 'WAKEUP'})
_WITH_TWO_OBJECTS = frozenset({'POUR', 'PUTBACK', 'PUTIN'})


class Action(str, Enum):
    """The words that a line of a script begins with."""

    arity: int
    """How many objects an action takes."""

    def __init__(self, word: str) -> None:
        self.arity = 0 if word in _WITHOUT_OBJECT else 2 if word in _WITH_TWO_OBJECTS else 1

    CLOSE = 'CLOSE'
    CUT = 'CUT'
    DRINK = 'DRINK'
    DROP = 'DROP'
    EAT = 'EAT'
    FIND = 'FIND'
    GRAB = 'GRAB'
    GREET = 'GREET'
    LIE = 'LIE'
    LOOKAT = 'LOOKAT'
    LOOKAT_LONG = 'LOOKAT_LONG'
    LOOKAT_SHORT = 'LOOKAT_SHORT'
    MOVE = 'MOVE'
    OPEN = 'OPEN'
    PLUGIN = 'PLUGIN'
    PLUGOUT = 'PLUGOUT'
    POINTAT = 'POINTAT'
    POUR = 'POUR'
    PULL = 'PULL'
    PUSH = 'PUSH'
    PUTBACK = 'PUTBACK'
    """Puts an object on another."""
    PUTIN = 'PUTIN'
    PUTOBJBACK = 'PUTOBJBACK'
    """Puts an object where it was taken from."""
    PUTOFF = 'PUTOFF'
    PUTON = 'PUTON'
    """Puts clothes on."""
    READ = 'READ'
    RELEASE = 'RELEASE'
    RINSE = 'RINSE'
    RUN = 'RUN'
    SCRUB = 'SCRUB'
    SIT = 'SIT'
    SLEEP = 'SLEEP'
    SQUEEZE = 'SQUEEZE'
    STANDUP = 'STANDUP'
    SWITCHOFF = 'SWITCHOFF'
    SWITCHON = 'SWITCHON'
    TOUCH = 'TOUCH'
    TURNTO = 'TURNTO'
    TYPE = 'TYPE'
    WAKEUP = 'WAKEUP'
    WALK = 'WALK'
    WASH = 'WASH'
    WATCH = 'WATCH'
    WIPE = 'WIPE'

    @property
    def skill(self) -> str:
        """The skill's name, for example `putback`."""
        return str(self.value).lower()


OTHER_WORDS = {'LOOKAT_MEDIUM': Action.LOOKAT}
"""Words of a script that mean an action of another name."""

Word = TypeVar('Word', State, Relation, Property)


def known_word(kind: type[Word], text: object, where: str) -> Word:
    """
    Return the word that a text means, in capitals or not.

    Raises:
        ValueError: It is no such word; states where it stood and which one is nearest.
    """
    word = text.upper() if isinstance(text, str) else str(text)
    try:
        return kind(word)
    except ValueError:
        known = tuple(kind.__members__)
        hint = did_you_mean(word, known)
        raise ValueError(
            f'{where}: there is no {kind.__name__.lower()} {word[:40]!r}.{hint} '
            f'Known: {", ".join(known)}.'
        ) from None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known word, with a space in front; '' where none is near."""
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f' Did you mean {nearest[0]!r}?' if nearest else ''
