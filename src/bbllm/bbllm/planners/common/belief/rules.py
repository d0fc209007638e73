"""
Rules that derive beliefs about objects from outcomes and forces.

design/open-state.md lists the attributes. Those that end in "before" are permanent; a call
that contradicts one of the others removes it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from statistics import fmean

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.naming import class_of
from bbllm.core.types import Code, Outcome, Status
from bbllm.planners.common.belief.interaction_history import (
    FORGOTTEN,
    TAKING,
    InteractionHistory,
    empties_hand,
    objects_of,
)
from bbllm.planners.common.belief.open_state import OpenState

MARGIN_KG = 0.02
"""Minimum difference of two measured weights [kg]. A reading is the mean of 20 samples; at
a noise of 0.2 N of each it is off by 0.06 N, so that two readings of one weight are as far apart
as this, 0.2 N, twice in a hundred pairs (design/open-state.md)."""
HEATERS = frozenset({'microwave', 'oven', 'stove', 'toaster', 'coffeemaker'})
"""Classes of objects that warm their contents while switched on."""
HEAVIER_THAN = 'heavier_than'


def concluded(past: InteractionHistory) -> OpenState:
    """Return what rules conclude from outcomes and forces."""
    story = _Story()
    for outcome in past.history:
        story.add(outcome)
    found: dict[str, tuple[str, ...]] = {}
    for name in story.names:
        if name != FORGOTTEN and (words := tuple(story.words(name))):
            found[name] = words
    for heavy, light in _heavier(past):
        found[heavy] = (*found.get(heavy, ()), f'{HEAVIER_THAN} {light}')
    return OpenState(found)


def _heavier(past: InteractionHistory) -> Iterator[tuple[str, str]]:
    """Yield pairs of a heavier and a lighter object, except pairs that follow from others."""
    felt = past.felt()
    force_n = {name: fmean(past.forces_n(name)) for name in felt}
    margin_n = MARGIN_KG * GRAVITY_M_S2

    def heavier(a: str, b: str) -> bool:
        return force_n[b] - force_n[a] > margin_n

    for heavy in felt:
        for light in felt:
            if heavier(heavy, light) and not any(
                heavier(heavy, other) and heavier(other, light) for other in felt
            ):
                yield heavy, light


ATTRIBUTES = {
    'would_not_rise': ('fixed_or_heavy',),
    **{word: (word,) for word in ('slipped_before', 'misplaced_before', 'out_of_workspace')},
    **{word: (word,) for word in ('opened_before', 'warm')},
}
"""What is noted of objects, and the words for it, in their order."""


class _Story:
    """Attributes of each object by the history."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        """All objects in calls, in that order."""
        self._held: str | None = None
        self._failed_grasps = Counter[str]()
        self._noted: dict[str, set[str]] = {word: set() for word in ATTRIBUTES}
        self._heating: set[str] = set()
        self._inside: dict[str, str] = {}
        """The heater of each object."""

    def add(self, outcome: Outcome) -> None:
        objects = objects_of(outcome)
        self.names.update(dict.fromkeys(objects))
        if outcome.succeeded:
            self._succeeded(outcome.call.skill, objects)
        else:
            self._failed(outcome, objects)
        if empties_hand(outcome):
            self._held = None

    def words(self, name: str) -> Iterator[str]:
        if count := self._failed_grasps[name]:
            yield 'failed_grasp_once' if count == 1 else 'failed_grasp_twice'
        for noted, words in ATTRIBUTES.items():
            yield from words if name in self._noted[noted] else ()

    def _succeeded(self, skill: str, objects: tuple[str, ...]) -> None:
        noted = self._noted
        noted['out_of_workspace'].difference_update(objects)
        match skill, *objects:
            case ('pick' | 'grab' | 'grab_and_putin', item, *_):
                self._failed_grasps.pop(item, None)
                noted['would_not_rise'].discard(item)
                self._inside.pop(item, None)
                self._held = item
            case ('put' | 'putin' | 'putback', item, place) if class_of(place) in HEATERS:
                self._inside[item] = place
                noted['warm'].update([item] if place in self._heating else [])
            case ('open', item, *_):
                noted['opened_before'].add(item)
            case ('switchon', heater, *_) if class_of(heater) in HEATERS:
                self._heating.add(heater)
                noted['warm'].update(k for k, place in self._inside.items() if place == heater)
            case ('switchoff', heater, *_):  # warm objects stay warm for the task
                self._heating.discard(heater)

    def _failed(self, outcome: Outcome, objects: tuple[str, ...]) -> None:
        in_hand = _taken(outcome) or self._held
        match outcome.code:
            # A rejected call names an invisible object; the hand was empty then.
            case Code.OBJECT_LOST if in_hand and outcome.status is not Status.REJECTED:
                self._noted['slipped_before'].add(in_hand)
                self.names.setdefault(in_hand)
            case Code.MISPLACED if in_hand:  # it was released, only elsewhere
                self._noted['misplaced_before'].add(in_hand)
            case Code.OUT_OF_WORKSPACE:
                # Of two objects the message names the one that is too far away.
                named = [name for name in objects if _names(outcome.message, name)]
                self._noted['out_of_workspace'].update(named or objects[:1])
            case Code.GRASP_FAILED:
                self._failed_grasps.update(objects[:1])
            case Code.WOULD_NOT_RISE:
                self._noted['would_not_rise'].update(objects[:1])


def _names(message: str, name: str) -> bool:
    """Return whether a message names an object; cube_10 and red_cube_1 do not name cube_1."""
    return re.search(rf'(?<![\w-]){re.escape(name)}(?![\w-])', message) is not None


def _taken(outcome: Outcome) -> str | None:
    """Return the object that a failed call took into the hand itself, None if it takes none."""
    call = outcome.call
    takes = call.skill in TAKING or call.skill == 'grab_and_putin'
    return call.args[0] if takes and call.args else None
