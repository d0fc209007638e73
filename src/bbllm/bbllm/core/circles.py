"""
Guard against going in circles: the same call in the same scene, over and over.

If a planner asks for a call again, in a scene that shows what it showed then, the outcome names
the earlier calls; if it asks for it yet again, the episode ends with WENT_IN_CIRCLES. How often a
call may be tried depends on how it ended (`PATIENCE`): a refused one is refused again, one that
failed may work at another try, and one that worked has come back to where it was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbllm.core.errors import WentInCirclesError
from bbllm.core.observation import UNSEEN_FOR
from bbllm.core.text import count_of
from bbllm.core.types import Code, Outcome, Pose, Scene, SkillCall, Status

SAME_M = 0.01
"""Objects that moved less are where they were: noise of a scene and of a second try [m]."""
SAME_RAD = math.radians(10.0)
WAITING = frozenset({'wait'})
"""Skills that are called in order to see the same scene later."""
DRAWN = 12
"""How many calls of a circle its message draws."""
RULE = 'circles'
"""In `Outcome.raw` of a call that is refused by this guard."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one call may end in one way in one scene."""

    warn: int
    """With so many, the outcome names the earlier ones."""
    end: int
    """After so many, the next one is not made any more."""


PATIENCE = {
    Status.REJECTED: Patience(warn=2, end=2),
    Status.FAILED: Patience(warn=3, end=4),
    Status.SUCCEEDED: Patience(warn=4, end=4),
}
"""
A call counts once for each plan: what one plan repeats was decided once. Nothing moves for a
refused call, so a second refusal is the last. The four failures are a first try and
the three feedback loops of the paper. A call that works counts only where the same calls ended in
the same way since each time; the fifth is refused first.
"""


@dataclass(frozen=True, slots=True)
class Tried:
    """A call that was made, and the scene in which it was."""

    number: int
    """Of the call in its episode, from 1 on."""
    call: SkillCall
    status: Status
    scene: Scene | None
    """None where the planner had not observed it."""
    plan: int
    """Number of the plan that it was a part of."""


class CircleGuard:
    """The calls of one episode so far; `before` each call, `after` it with its outcome."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._tried: list[Tried] = []
        self._count = 0
        self._since = 0
        """Calls before the last word of a person count no more."""
        self._warned: set[SkillCall] = set()

    def knows(self, call: SkillCall) -> bool:
        """Return whether the scene matters for a call: it was made before."""
        return self._enabled and any(tried.call == call for tried in self._tried[self._since :])

    def begin_anew(self) -> None:
        """Forget what was tried: a person has given feedback."""
        self._since = len(self._tried)
        self._warned.clear()

    def before(self, call: SkillCall, scene: Scene | None, plan: int) -> Outcome | None:
        """
        Return the refusal of a call that only comes back to where it was; None where it may go on.

        Raises:
            WentInCirclesError: It was tried too often in this scene, also after a warning.
        """
        if not self._enabled or call.skill in WAITING:
            return None
        for status, patience in PATIENCE.items():
            same = self._same(call, scene, status, plan)
            if len(same) < patience.end:
                continue
            comes_back = status is Status.SUCCEEDED
            if comes_back and not self._is_periodic(same[-patience.end :]):
                continue
            if comes_back and call not in self._warned:
                return Outcome(
                    call=call,
                    status=Status.REJECTED,
                    code=Code.PRECONDITION,
                    message=f'{call} was not made once more: {_reported(same, status)}',
                    raw=RULE,
                )
            raise WentInCirclesError(
                f'The plan went in circles: {call} {_ended(status)} {_where(same)}. '
                f'{self._drawn(same[0].number)}'
            )
        return None

    def after(self, outcome: Outcome, scene: Scene | None, plan: int) -> Outcome:
        """Take in how a call ended; return the outcome, which may name the earlier ones."""
        call, status = outcome.call, outcome.status
        self._count += 1
        if outcome.raw == RULE:
            self._warned.add(call)
            return outcome
        self._tried.append(Tried(self._count, call, status, scene, plan))
        if status is Status.SUCCEEDED or call in self._warned or not self._enabled:
            return outcome
        same = [*self._same(call, scene, status, plan), self._tried[-1]]
        if len(same) < PATIENCE[status].warn:
            return outcome
        self._warned.add(call)
        return replace(outcome, message=f'{outcome.message} {_reported(same, status)}'.strip())

    def _same(
        self, call: SkillCall, scene: Scene | None, status: Status, plan: int
    ) -> list[Tried]:
        """
        Return the calls like this one that ended so in this scene, oldest first.

        One for each earlier plan.
        """
        if scene is None:
            return []
        found: list[Tried] = []
        for tried in self._tried[self._since :]:
            if (tried.call, tried.status) != (call, status) or tried.scene is None:
                continue
            if tried.plan in (plan, *(each.plan for each in found)):
                continue
            if same_scene(tried.scene, scene):
                found.append(tried)
        return found

    def _is_periodic(self, same: Sequence[Tried]) -> bool:
        """Return whether the calls from each one to the next were the same and ended so too."""
        begins = [tried.number for tried in same]
        ends = [*begins[1:], self._count + 1]
        rounds = {
            tuple((each.call, each.status) for each in self._tried if begin <= each.number < end)
            for begin, end in zip(begins, ends, strict=True)
        }
        return len(rounds) == 1

    def _drawn(self, first: int) -> str:
        """Draw the calls from a number on, as `4 pick(a) > 5 place(a, B) > back to 4`."""
        since = [tried for tried in self._tried if tried.number >= first]
        calls = [f'{tried.number} {tried.call}{_mark(tried)}' for tried in since]
        if len(calls) > DRAWN:
            left_out = len(calls) - DRAWN
            calls[DRAWN // 2 : -DRAWN // 2] = [f'... {left_out} more ...']
        return f'Calls: {" > ".join(calls)} > back to {first}.'


def same_scene(one: Scene, other: Scene) -> bool:
    """Return whether two scenes show the same, up to noise of poses."""
    if one is other:
        return True
    if (one.domain, one.names) != (other.domain, other.names) or _facts(one) != _facts(other):
        return False
    pairs = zip(one.objects, other.objects, strict=True)
    return all(a.pose == b.pose or _same_pose(a.pose, b.pose) for a, b in pairs)


def _facts(scene: Scene) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (fact.subject, fact.predicate, fact.object)
        for fact in scene.facts
        if fact.predicate != UNSEEN_FOR
    )


def _same_pose(one: Pose, other: Pose) -> bool:
    if math.dist(one.position_m, other.position_m) > SAME_M:
        return False
    dot = sum(a * b for a, b in zip(one.quat_xyzw, other.quat_xyzw, strict=True))
    return 2.0 * math.acos(min(1.0, abs(dot))) <= SAME_RAD


def _reported(same: Sequence[Tried], status: Status) -> str:
    if status is Status.SUCCEEDED:
        return (
            f'it was made {_where(same)}, and the scene came back each time. Another call, or '
            'another order, would do.'
        )
    return f'The same call {_ended(status)} {_where(same)}: another call would do.'


def _ended(status: Status) -> str:
    done = {Status.REJECTED: 'was refused', Status.FAILED: 'failed', Status.SUCCEEDED: 'was made'}
    return done[status]


def _where(same: Sequence[Tried]) -> str:
    *numbers, last = (str(tried.number) for tried in same)
    named = f'{", ".join(numbers)} and {last}' if numbers else last
    calls = 'calls' if numbers else 'call'
    return f'{count_of(len(same), "time")} in this same scene ({calls} {named})'


def _mark(tried: Tried) -> str:
    return '' if tried.status is Status.SUCCEEDED else f' {tried.status.name.lower()}'
