"""What was done and felt so far: what an estimator of the open state goes by."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from bbllm.core.observation import Observed
from bbllm.core.skill_calls import looks_like_pose
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status

LONGEST = 500
"""So many outcomes are kept, the newest; a node may live for days."""
READINGS = 20
"""So many readings of a weight are kept of each thing, the newest."""
TAKING = frozenset({'pick', 'grab'})
"""Skills that take their first thing into a hand."""
GIVING = frozenset({'place', 'open_gripper', 'grab_and_putin', 'put', 'putin', 'putback'})
"""Skills after which it is no longer there."""
OF_A_PLACE = frozenset({Code.GRASP_FAILED, Code.WOULD_NOT_RISE, Code.OUT_OF_WORKSPACE})
"""Failures that say nothing more of a thing that lies elsewhere since."""
LETTING_GO = frozenset({Code.OBJECT_LOST, Code.MISPLACED})
"""Failures that leave the hand empty."""
OPEN_M = 0.079
"""Fingers as far apart hold nothing [m]."""
FORGOTTEN = 'something'
"""In calls that are still needed to know what the hand holds, the name of what was forgotten."""


class InteractionHistory:
    """Keeps outcomes, and the forces that were felt while something was held."""

    def __init__(self, longest: int = LONGEST) -> None:
        """
        Begin with nothing.

        Args:
            longest: So many outcomes are kept, the newest.
        """
        self._history: deque[Outcome] = deque(maxlen=longest)
        self._forces_n: dict[str, deque[float]] = {}

    @property
    def history(self) -> tuple[Outcome, ...]:
        """All that was tried, oldest first."""
        return tuple(self._history)

    def add(self, outcome: Outcome) -> None:
        """Take in how a call ended."""
        self._history.append(outcome)

    def sense(self, seen: Observed) -> None:
        """Take in what was felt after the newest call, if that left something in the hand."""
        held = held_after(self._history)
        open_m = None if seen.fingers_m is None else sum(seen.fingers_m)
        if held in (None, FORGOTTEN) or seen.force_n is None:
            return
        if open_m is None or open_m >= OPEN_M:
            return
        self._forces_n.setdefault(held, deque(maxlen=READINGS)).append(seen.force_n[2])

    def forces_n(self, name: str) -> tuple[float, ...]:
        """Return what a held thing pulled along z, a reading each; the heavier the less [N]."""
        return tuple(self._forces_n.get(name, ()))

    def felt(self) -> tuple[str, ...]:
        """Return the names of what was felt in the hand, in the order of the first time."""
        return tuple(self._forces_n)

    def forget(self, names: Iterable[str]) -> None:
        """
        Forget all that was done to these things: what is found again may be another one.

        What other things have come to is kept, and so is what the hand has taken and let go.
        """
        gone = set(names)
        kept = [
            _without(outcome, gone) for outcome in self._history if not _only_of(outcome, gone)
        ]
        self._history = deque(kept, maxlen=self._history.maxlen)
        for name in gone:
            self._forces_n.pop(name, None)

    def move(self, names: Iterable[str], newest: int = 0) -> bool:
        """
        Forget what was tried in vain with things that now lie elsewhere; tell if there was any.

        What is fixed does not move, and a grasp or a place out of reach was one of where it lay.
        But a grasp that fails may push the thing aside itself: what the newest calls have come to
        is kept, and so is what came to the same with the same thing before.

        Args:
            names: What lies elsewhere than it did.
            newest: How many calls, the newest, may have moved it.
        """
        moved = set(names)
        just = list(self._history)[max(len(self._history) - newest, 0) :]
        again = {(o.code, name) for o in just for name in things_of(o)}

        def over(outcome: Outcome) -> bool:
            lay = moved.intersection(things_of(outcome))
            return outcome.code in OF_A_PLACE and any(
                (outcome.code, name) not in again for name in lay
            )

        kept = [_without(o, moved) if over(o) else o for o in self._history]
        changed = kept != list(self._history)
        self._history = deque(kept, maxlen=self._history.maxlen)
        return changed

    def clear(self) -> None:
        """Forget everything."""
        self._history.clear()
        self._forces_n.clear()


def things_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the names among the arguments of a call: neither poses nor seconds."""
    return tuple(
        arg for arg in outcome.call.args if not looks_like_pose(arg) and not arg[:1].isdigit()
    )


def empties_hand(outcome: Outcome) -> bool:
    """
    Return whether the hand is empty after a call, whatever was in it before.

    Only an empty hand picks: whatever it held when such a try fails, somebody has taken.
    """
    if outcome.succeeded:
        return outcome.call.skill in GIVING
    failed = outcome.status is Status.FAILED
    return failed and (outcome.code in LETTING_GO or outcome.call.skill == 'pick')


def _only_of(outcome: Outcome, gone: set[str]) -> bool:
    """Return whether a call was about a thing that is gone, and left the hand as it was."""
    if not gone.intersection(outcome.call.args[:1]):
        return False
    taken = outcome.succeeded and outcome.call.skill in TAKING
    return not taken and not empties_hand(outcome)


def _without(outcome: Outcome, gone: set[str]) -> Outcome:
    """Return an outcome without the names that are gone, and without a message about them."""
    call = outcome.call
    if not gone.intersection(call.args):
        return outcome
    args = tuple(FORGOTTEN if arg in gone else arg for arg in call.args)
    return replace(outcome, call=SkillCall(call.skill, args), message='')


def held_after(history: Sequence[Outcome]) -> str | None:
    """Return what calls have left in the hand, as far as they tell; the newest of two."""
    for outcome in reversed(history):
        if empties_hand(outcome):
            return None
        if outcome.succeeded and outcome.call.skill in TAKING and outcome.call.args:
            return outcome.call.args[0]
    return None


MOVED_M = 0.02
"""A thing that is so far from where it lay has been moved [m]: half a cube, and ten times the
noise of a pose (docs/perception.md)."""


class MotionDetector:
    """Keeps where things lay when something came to be believed of them."""

    def __init__(self) -> None:
        self._lay: dict[str, tuple[tuple[str, ...], tuple[float, float, float]]] = {}

    def moved(
        self,
        attributes: Mapping[str, tuple[str, ...]],
        scene: Scene,
        busy: Collection[str] = (),
    ) -> frozenset[str]:
        """
        Return what lies elsewhere than when the words on it were first told of it.

        It makes no difference who moved it: what the robot has lifted is believed to be fixed no
        more, and what it has pushed aside is not fixed either.

        Args:
            attributes: What is believed of each thing.
            scene: What is there now.
            busy: What the robot works with right now; it is looked at when that is over.
        """
        found = set()
        lies = {item.name: item.pose.position_m for item in scene.objects}
        for name in self._lay.keys() - attributes.keys():
            del self._lay[name]
        for name, words in attributes.items():
            if name in busy:
                continue
            if not words or name not in lies or name == scene.held:
                self._lay.pop(name, None)
                continue
            told, lay = self._lay.get(name, (words, lies[name]))
            far = math.dist(lay, lies[name]) > MOVED_M
            if told == words and far:
                found.add(name)
            if told != words or far or name not in self._lay:
                self._lay[name] = (words, lies[name])
        return frozenset(found)
