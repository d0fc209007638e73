"""
A state estimator without a model: from what was tried and felt to attributes of things, by rules.

On a table:

* failed_grasp_once, failed_grasp_twice: the fingers closed on nothing since it was last held;
  `twice` is two times or more.
* would_not_rise, fixed_or_heavy: it did not rise when it was last lifted.
* slipped_before: it was lost out of the hand.
* misplaced_before: it came to rest somewhere else than asked.
* out_of_workspace: the last call that needed it (a thing or a location) ended by that.
* heavier_than OTHER: it was felt to be; see `MARGIN_KG`.

In a household also:

* opened_before: it was opened.
* warm: it was in or on something that heats while that was switched on.

What "before" ends is never taken back; the others are as soon as a call shows that they no longer
hold. A reason a model could be told in words is not kept: the words of the attributes say it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.instance_names import class_of
from bbllm.core.types import Code, Outcome, Scene, Status
from bbllm.planners.belief.interaction_history import (
    FORGOTTEN,
    GIVING,
    TAKING,
    InteractionHistory,
    empties_hand,
    things_of,
)
from bbllm.planners.common.open_state import OpenState

MARGIN_KG = 0.02
"""So much more a thing has to weigh by what was felt [kg]. A reading is the mean of 20 samples; at
a noise of 0.2 N of each (`bbllm bench weigh`) it is off by 0.06 N, so that two readings of one
weight are as far apart as this, 0.2 N, twice in a hundred pairs."""
HEATERS = frozenset({'microwave', 'oven', 'stove', 'toaster', 'coffeemaker'})
"""Classes of what warms what is in or on it while it is on."""
HEAVIER_THAN = 'heavier_than'


class RuleEstimator:
    """A `OpenStateEstimator` of rules; it begins anew each time, as that of LLM-State does."""

    def __init__(self, experience: InteractionHistory | None = None):
        """
        Make an estimator.

        Args:
            experience: Where it looks up what was felt; without one it compares no weights.
        """
        self._experience = experience or InteractionHistory()

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        """Return what is believed now; see `OpenStateEstimator`."""
        told = _Story()
        for outcome in history:
            told.hear(outcome)
        new = state.blank()
        for name in told.names:
            if name != FORGOTTEN and (words := tuple(told.words(name))):
                new = new.with_attributes(name, words)
        for heavy, light in self._heavier():
            words = (*new.attributes.get(heavy, ()), f'{HEAVIER_THAN} {light}')
            new = new.with_attributes(heavy, words)
        return new

    def _heavier(self) -> Iterator[tuple[str, str]]:
        """Yield who is heavier than whom, but for what follows from two others."""
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
    """What a history has shown of each thing."""

    names: dict[str, None] = field(default_factory=dict)
    """All that calls have named, in that order."""
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
    """What was put in or on what heats."""

    def hear(self, outcome: Outcome) -> None:
        """Take in one outcome."""
        things = things_of(outcome)
        self.names.update(dict.fromkeys(things))
        if outcome.succeeded:
            self._succeeded(outcome.call.skill, things)
        else:
            self._failed(outcome, things)

    def words(self, name: str) -> Iterator[str]:
        """Yield the attributes of a thing."""
        if count := self.failed_grasps[name]:
            yield 'failed_grasp_once' if count == 1 else 'failed_grasp_twice'
        told: tuple[tuple[set[str], tuple[str, ...]], ...] = (
            (self.stuck, ('would_not_rise', 'fixed_or_heavy')),
            (self.slipped, ('slipped_before',)),
            (self.misplaced, ('misplaced_before',)),
            (self.far, ('out_of_workspace',)),
            (self.opened, ('opened_before',)),
            (self.warm, ('warm',)),
        )
        for names, words in told:
            if name in names:
                yield from words

    def _succeeded(self, skill: str, things: tuple[str, ...]) -> None:
        first = things[0] if things else None
        self.far.difference_update(things)
        if first is not None and (skill in TAKING or skill == 'grab_and_putin'):
            self.failed_grasps.pop(first, None)
            self.stuck.discard(first)
            self.inside.pop(first, None)
            self.held = first
        if skill in ('put', 'putin', 'putback') and len(things) == 2:
            self._put(*things)
        if skill in GIVING:
            self.held = None
        if first is not None and skill in _HOUSE_RULES:
            _HOUSE_RULES[skill](self, first)

    def _failed(self, outcome: Outcome, things: tuple[str, ...]) -> None:
        first = things[0] if things else None
        code = outcome.code
        if code is Code.OBJECT_LOST:
            # What was rejected names a thing that nobody sees; nothing was in the hand then.
            slipped = _taken(outcome) or self.held
            if outcome.status is not Status.REJECTED and slipped is not None:
                self.slipped.add(slipped)
                self.names.setdefault(slipped)
        elif code is Code.MISPLACED and (lies := _taken(outcome) or self.held):
            # It was let go, only elsewhere.
            self.misplaced.add(lies)
        elif code is Code.OUT_OF_WORKSPACE:
            # Of two things the sentence names the one that is too far away.
            named = [name for name in things if _names(outcome.message, name)]
            self.far.update(named or things[:1])
        elif first is not None and code is Code.GRASP_FAILED:
            self.failed_grasps[first] += 1
        elif first is not None and code is Code.WOULD_NOT_RISE:
            self.stuck.add(first)
        if empties_hand(outcome):
            self.held = None

    def _put(self, thing: str, place: str) -> None:
        if class_of(place) in HEATERS:
            self.inside[thing] = place
            if place in self.heating:
                self.warm.add(thing)

    def open(self, thing: str) -> None:
        """Take in that a thing was opened."""
        self.opened.add(thing)

    def switch_on(self, thing: str) -> None:
        """Take in that a thing was switched on, which warms what is in it."""
        if class_of(thing) in HEATERS:
            self.heating.add(thing)
            self.warm.update(name for name, place in self.inside.items() if place == thing)

    def switch_off(self, thing: str) -> None:
        """Take in that a thing was switched off; what it has warmed stays warm for the task."""
        self.heating.discard(thing)


_HOUSE_RULES: dict[str, Callable[[_Story, str], None]] = {
    'open': _Story.open,
    'switchon': _Story.switch_on,
    'switchoff': _Story.switch_off,
}


def _names(message: str, name: str) -> bool:
    """Whether a sentence names a thing: cube_1 is not named by cube_10, nor by red_cube_1."""
    return re.search(rf'(?<![\w-]){re.escape(name)}(?![\w-])', message) is not None


def _taken(outcome: Outcome) -> str | None:
    """Return what a failed call had in the hand itself, None where it takes nothing."""
    call = outcome.call
    takes = call.skill in TAKING or call.skill == 'grab_and_putin'
    return call.args[0] if takes and call.args else None
