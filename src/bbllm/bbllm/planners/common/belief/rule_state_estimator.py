"""
A state estimator without a model: rules derive attributes from outcomes and forces.

* failed_grasp_once, failed_grasp_twice: the fingers missed it since it was last in the hand;
  `twice` is two times or more.
* would_not_rise, fixed_or_heavy: it did not rise when it was last lifted.
* slipped_before: it was lost out of the hand.
* misplaced_before: it came to rest in another place than requested.
* out_of_workspace: the last call that needed it (an object or a location) failed so.
* heavier_than OTHER: by the measured force; see `MARGIN_KG`.
* opened_before: it was opened, in a household.
* warm: it was in or on a heater that was switched on, in a household.

Those that end in "before" are permanent; a call that contradicts one of the others removes it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.naming import class_of
from bbllm.core.types import Code, Outcome, Scene, Status
from bbllm.planners.common.belief.interaction_history import (
    FORGOTTEN,
    GIVING,
    TAKING,
    InteractionHistory,
    empties_hand,
    objects_of,
)
from bbllm.planners.common.belief.open_state import OpenState

MARGIN_KG = 0.02
"""Minimum difference of two measured weights [kg]. A reading is the mean of 20 samples; at
a noise of 0.2 N of each (`bbllm bench weigh`) it is off by 0.06 N, so that two readings of one
weight are as far apart as this, 0.2 N, twice in a hundred pairs."""
HEATERS = frozenset({'microwave', 'oven', 'stove', 'toaster', 'coffeemaker'})
"""Classes of objects that warm their contents while switched on."""
HEAVIER_THAN = 'heavier_than'


class RuleEstimator:
    """
    An `OpenStateEstimator` of rules, from the first step on each time, as in LLM-State.

    Without experience, the source of measured forces, it compares no weights.
    """

    def __init__(self, experience: InteractionHistory | None = None):
        self._experience = experience or InteractionHistory()

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        story = _Story()
        for outcome in history:
            story.add(outcome)
        new = state.blank()
        for name in story.names:
            if name != FORGOTTEN and (words := tuple(story.words(name))):
                new = new.with_attributes(name, words)
        for heavy, light in self._heavier():
            words = (*new.attributes.get(heavy, ()), f'{HEAVIER_THAN} {light}')
            new = new.with_attributes(heavy, words)
        return new

    def _heavier(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of a heavier and a lighter object, except pairs that follow from others."""
        felt = self._experience.felt()
        force_n = {name: fmean(self._experience.forces_n(name)) for name in felt}
        margin_n = MARGIN_KG * GRAVITY_M_S2

        def heavier(a: str, b: str) -> bool:
            return force_n[b] - force_n[a] > margin_n

        for heavy in felt:
            for light in felt:
                if heavier(heavy, light) and not any(
                    heavier(heavy, other) and heavier(other, light) for other in felt
                ):
                    yield heavy, light


@dataclass
class _Story:
    """Attributes of each object by the history."""

    names: dict[str, None] = field(default_factory=dict)
    """All objects in calls, in that order."""
    held: str | None = None
    failed_grasps: Counter[str] = field(default_factory=Counter)
    stuck: set[str] = field(default_factory=set)
    slipped: set[str] = field(default_factory=set)
    misplaced: set[str] = field(default_factory=set)
    far: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    warm: set[str] = field(default_factory=set)
    heating: set[str] = field(default_factory=set)
    inside: dict[str, str] = field(default_factory=dict)
    """The heater of each object."""

    def add(self, outcome: Outcome) -> None:
        objects = objects_of(outcome)
        self.names.update(dict.fromkeys(objects))
        if outcome.succeeded:
            self._succeeded(outcome.call.skill, objects)
        else:
            self._failed(outcome, objects)

    def words(self, name: str) -> Iterator[str]:
        if count := self.failed_grasps[name]:
            yield 'failed_grasp_once' if count == 1 else 'failed_grasp_twice'
        attributes: tuple[tuple[set[str], tuple[str, ...]], ...] = (
            (self.stuck, ('would_not_rise', 'fixed_or_heavy')),
            (self.slipped, ('slipped_before',)),
            (self.misplaced, ('misplaced_before',)),
            (self.far, ('out_of_workspace',)),
            (self.opened, ('opened_before',)),
            (self.warm, ('warm',)),
        )
        for names, words in attributes:
            if name in names:
                yield from words

    def _succeeded(self, skill: str, objects: tuple[str, ...]) -> None:
        first = objects[0] if objects else None
        self.far.difference_update(objects)
        if first is not None and (skill in TAKING or skill == 'grab_and_putin'):
            self.failed_grasps.pop(first, None)
            self.stuck.discard(first)
            self.inside.pop(first, None)
            self.held = first
        if skill in ('put', 'putin', 'putback') and len(objects) == 2:
            thing, place = objects
            if class_of(place) in HEATERS:
                self.inside[thing] = place
                self.warm.update([thing] if place in self.heating else [])
        if skill in GIVING:
            self.held = None
        if first is None:
            return
        if skill == 'open':
            self.opened.add(first)
        elif skill == 'switchon' and class_of(first) in HEATERS:
            self.heating.add(first)
            self.warm.update(name for name, place in self.inside.items() if place == first)
        elif skill == 'switchoff':  # warm objects stay warm for the task
            self.heating.discard(first)

    def _failed(self, outcome: Outcome, objects: tuple[str, ...]) -> None:
        first = objects[0] if objects else None
        code = outcome.code
        if code is Code.OBJECT_LOST:
            # A rejected call names an invisible object; the hand was empty then.
            slipped = _taken(outcome) or self.held
            if outcome.status is not Status.REJECTED and slipped is not None:
                self.slipped.add(slipped)
                self.names.setdefault(slipped)
        elif code is Code.MISPLACED and (lies := _taken(outcome) or self.held):
            # It was released, only elsewhere.
            self.misplaced.add(lies)
        elif code is Code.OUT_OF_WORKSPACE:
            # Of two objects the message names the one that is too far away.
            named = [name for name in objects if _names(outcome.message, name)]
            self.far.update(named or objects[:1])
        elif first is not None and code is Code.GRASP_FAILED:
            self.failed_grasps[first] += 1
        elif first is not None and code is Code.WOULD_NOT_RISE:
            self.stuck.add(first)
        if empties_hand(outcome):
            self.held = None


def _names(message: str, name: str) -> bool:
    """Return whether a message names an object; cube_10 and red_cube_1 do not name cube_1."""
    return re.search(rf'(?<![\w-]){re.escape(name)}(?![\w-])', message) is not None


def _taken(outcome: Outcome) -> str | None:
    """Return the object that a failed call took into the hand itself, None if it takes none."""
    call = outcome.call
    takes = call.skill in TAKING or call.skill == 'grab_and_putin'
    return call.args[0] if takes and call.args else None
