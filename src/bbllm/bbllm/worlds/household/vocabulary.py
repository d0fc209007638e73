"""VirtualHome's words for states, properties, relations and actions; see docs/household.md."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

ROOMS = 'Rooms'
"""The category of a node that is a room."""
CHARACTER = 'character'
"""The class of a node that is a person who acts."""


class State(StrEnum):
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


class Relation(StrEnum):
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


class Property(StrEnum):
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


class Action(StrEnum):
    """The words that a line of a script begins with: number of objects, and what it does."""

    arity: int
    summary: str

    def __new__(cls, word: str, arity: int, summary: str) -> Action:
        action = str.__new__(cls, word)
        action._value_, action.arity, action.summary = word, arity, summary
        return action

    CLOSE = 'CLOSE', 1, 'Close something that is open; no hand has to be free.'
    CUT = 'CUT', 1, 'Cut food, with a knife in one hand and the other hand free.'
    DRINK = 'DRINK', 1, 'Drink from what is held.'
    DROP = 'DROP', 1, 'Let what is held fall where you are.'
    EAT = 'EAT', 1, 'Eat food that is close.'
    FIND = 'FIND', 1, 'Go to something and look for it.'
    GRAB = 'GRAB', 1, 'Take something that is close into a free hand; there are two hands.'
    GREET = 'GREET', 1, 'Greet a person.'
    LIE = 'LIE', 1, 'Lie down on something that is close.'
    LOOKAT = 'LOOKAT', 1, 'Look at something in the same room.'
    LOOKAT_LONG = 'LOOKAT_LONG', 1, 'Look at something for long.'
    LOOKAT_SHORT = 'LOOKAT_SHORT', 1, 'Have a short look at something.'
    MOVE = 'MOVE', 1, 'Move something that can be moved.'
    OPEN = 'OPEN', 1, 'Open something that is closed; one hand has to be free.'
    PLUGIN = 'PLUGIN', 1, 'Put the plug of a device in.'
    PLUGOUT = 'PLUGOUT', 1, 'Pull the plug of a device.'
    POINTAT = 'POINTAT', 1, 'Point at something in the same room.'
    POUR = 'POUR', 2, 'Pour what is held into something that is close.'
    PULL = 'PULL', 1, 'Pull something that can be moved.'
    PUSH = 'PUSH', 1, 'Push something.'
    PUTBACK = 'PUTBACK', 2, 'Put what is held on something that is close.'
    PUTIN = 'PUTIN', 2, 'Put what is held into something that is close and not closed.'
    PUTOBJBACK = 'PUTOBJBACK', 1, 'Put what is held where it was taken from.'
    PUTOFF = 'PUTOFF', 1, 'Take off clothes that you wear.'
    PUTON = 'PUTON', 1, 'Put on clothes that are held.'
    READ = 'READ', 1, 'Read what is held.'
    RELEASE = 'RELEASE', 1, 'Let go of what is held.'
    RINSE = 'RINSE', 1, 'Rinse something that is close.'
    RUN = 'RUN', 1, 'Run to something, or into a room.'
    SCRUB = 'SCRUB', 1, 'Scrub something that is close.'
    SIT = 'SIT', 1, 'Sit down on something that is close.'
    SLEEP = 'SLEEP', 0, 'Sleep, sitting or lying.'
    SQUEEZE = 'SQUEEZE', 1, 'Squeeze something that is close.'
    STANDUP = 'STANDUP', 0, 'Stand up.'
    SWITCHOFF = 'SWITCHOFF', 1, 'Switch off a device that is on.'
    SWITCHON = 'SWITCHON', 1, 'Switch on a device that is off.'
    TOUCH = 'TOUCH', 1, 'Touch something that is close.'
    TURNTO = 'TURNTO', 1, 'Turn to something.'
    TYPE = 'TYPE', 1, 'Type on something that is close.'
    WAKEUP = 'WAKEUP', 0, 'Wake up.'
    WALK = 'WALK', 1, 'Walk to something, or into a room.'
    WASH = 'WASH', 1, 'Wash something that is close.'
    WATCH = 'WATCH', 1, 'Watch something in the same room.'
    WIPE = 'WIPE', 1, 'Wipe something that is close, with something in a hand.'

    @property
    def skill(self) -> str:
        """The skill's name, for example `putback`."""
        return str(self.value).lower()


OTHER_WORDS = {'LOOKAT_MEDIUM': Action.LOOKAT}
"""Words of a script that mean an action of another name."""

Word = TypeVar('Word', State, Relation, Property)


def known_word(kind: type[Word], text: object) -> Word:
    """Return the word of a text, in capitals or not; raises ValueError with the nearest one."""
    word = text.upper() if isinstance(text, str) else str(text)
    known = kind.__members__  # each value is its name; a lookup is faster than a call of the kind
    if word in known:
        return known[word]
    hint = did_you_mean(word, known)
    raise ValueError(
        f'there is no {kind.__name__.lower()} {word[:40]!r}.{hint} Known: {", ".join(known)}.'
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known word, with a space in front; '' where none is near."""
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f' Did you mean {nearest[0]!r}?' if nearest else ''
