"""Past outcomes and forces, from which an open state is estimated."""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bbllm.core.arguments import is_value
from bbllm.core.observation import Observed
from bbllm.core.skill_calls import is_pose_like
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status

READINGS = 20
"""How many of the newest force readings are kept for each object."""
TAKING = frozenset({'pick', 'grab'})
"""Skills that take their first object into a hand."""
GIVING = frozenset({'place', 'open_gripper', 'grab_and_putin', 'put', 'putin', 'putback'})
"""Skills that empty the hand."""
OF_A_PLACE = frozenset({Code.GRASP_FAILED, Code.WOULD_NOT_RISE, Code.OUT_OF_WORKSPACE})
"""Failures that do not apply to an object after it has moved."""
LETTING_GO = frozenset({Code.OBJECT_LOST, Code.MISPLACED})
"""Failures that leave the hand empty."""
OPEN_M = 0.079
"""Minimum opening of an empty gripper [m]."""
FORGOTTEN = 'something'
"""Replaces a forgotten name in calls that still determine the contents of the hand."""


class InteractionHistory:
    """Keeps outcomes, and the forces measured with an object in the hand."""

    def __init__(self) -> None:
        self._history: list[Outcome] = []
        self._forces_n: dict[str, deque[float]] = {}

    @property
    def history(self) -> tuple[Outcome, ...]:
        return tuple(self._history)

    def add(self, outcome: Outcome) -> None:
        self._history.append(outcome)

    def sense(self, seen: Observed) -> None:
        """Add the force measured after the newest call, if an object is in the hand."""
        held = held_after(self._history)
        if held in (None, FORGOTTEN) or seen.force_n is None or seen.fingers_m is None:
            return
        if sum(seen.fingers_m) < OPEN_M:
            self._forces_n.setdefault(held, deque(maxlen=READINGS)).append(seen.force_n[2])

    def forces_n(self, name: str) -> tuple[float, ...]:
        """Return the readings of the force along z with an object; heavier is lower [N]."""
        return tuple(self._forces_n.get(name, ()))

    def felt(self) -> tuple[str, ...]:
        """Return the objects with force readings, in the order of the first one."""
        return tuple(self._forces_n)

    def move(self, names: Iterable[str], newest: int = 0) -> None:
        """
        Forget failures of a place with objects that have moved.

        A failed grasp may itself push the object aside: failures of the `newest` calls are kept,
        and so are the same failures with the same object before.
        """
        moved = set(names)
        just = self._history[max(len(self._history) - newest, 0) :]
        again = {(o.code, name) for o in just for name in objects_of(o)}

        def over(outcome: Outcome) -> bool:
            lay = moved.intersection(objects_of(outcome))
            return outcome.code in OF_A_PLACE and any(
                (outcome.code, name) not in again for name in lay
            )

        self._history = [_without(o, moved) if over(o) else o for o in self._history]


def objects_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the objects among the arguments of a call: neither poses nor values."""
    return tuple(arg for arg in outcome.call.args if not (is_pose_like(arg) or is_value(arg)))


def empties_hand(outcome: Outcome) -> bool:
    """Return whether the hand is certainly empty after a call; only an empty hand picks."""
    if outcome.succeeded:
        return outcome.call.skill in GIVING
    failed = outcome.status is Status.FAILED
    return failed and (outcome.code in LETTING_GO or outcome.call.skill == 'pick')


def _without(outcome: Outcome, gone: set[str]) -> Outcome:
    """Return an outcome without lost names, and without a message about them."""
    call = outcome.call
    if not gone.intersection(call.args):
        return outcome
    args = tuple(FORGOTTEN if arg in gone else arg for arg in call.args)
    return replace(outcome, call=SkillCall(call.skill, args), message='')


def held_after(history: Sequence[Outcome]) -> str | None:
    """Return the object in the hand after some calls; the newest of two."""
    for outcome in reversed(history):
        if empties_hand(outcome):
            return None
        if outcome.succeeded and outcome.call.skill in TAKING and outcome.call.args:
            return outcome.call.args[0]
    return None


MOVED_M = 0.02
"""Distance from which an object counts as moved [m]: half a cube, and ten times the noise of a
pose (docs/perception.md)."""


class MotionDetector:
    """Remembers where objects lay when beliefs about them were formed."""

    def __init__(self) -> None:
        self._lay: dict[str, tuple[tuple[str, ...], tuple[float, float, float]]] = {}

    def moved(self, attributes: Mapping[str, tuple[str, ...]], scene: Scene) -> frozenset[str]:
        """
        Return the objects that moved since their beliefs were formed.

        An object that was moved, by anyone, is not fixed.
        """
        found = set()
        lies = {item.name: item.pose.position_m for item in scene.objects}
        for name in self._lay.keys() - attributes.keys():
            del self._lay[name]
        for name, words in attributes.items():
            if not words or name not in lies or name == scene.held:
                self._lay.pop(name, None)
                continue
            formed, lay = self._lay.get(name, (words, lies[name]))
            far = math.dist(lay, lies[name]) > MOVED_M
            if formed == words and far:
                found.add(name)
            if formed != words or far or name not in self._lay:
                self._lay[name] = (words, lies[name])
        return frozenset(found)
