"""
Trials of the bench of faults: what goes wrong in which trial, and what counts as a good end.

A fault strikes at a random moment of a task. The task must then either be finished, which the
settled table shows, or end in a clear stop: an ending that is none of the Brain's, with a
sentence that names what happened. Which of the two depends on the fault, and on whether a person
is there to answer.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bbllm.core.events import Ending
from bbllm.sim.faults import Fault


class Verdict(StrEnum):
    """How a trial came out."""

    FINISHED = 'finished'
    """The task was done, as the settled table shows."""
    CLEAR_STOP = 'clear stop'
    """It ended as WORLD_FAILED, with a sentence that names what happened."""
    NEITHER = 'neither'


NEEDS_PERSON = frozenset({Fault.USER_STOP, Fault.COMMUNICATION_LOSS, Fault.JOINT_LIMIT})
"""Faults that only a person can take back; each is tried with and without one."""
STATES: dict[Fault, tuple[str, ...]] = {
    Fault.REFLEX: ('reflex',),
    Fault.USER_STOP: ('user stop',),
    Fault.COMMUNICATION_LOSS: ('packets', 'communication', 'network'),
    Fault.JOINT_LIMIT: ('joint limit', 'its limit', 'limit of'),
    Fault.DRIVER_HANG: ('joint states',),
    Fault.GRIPPER_FAIL: ('hand',),
    Fault.GRIPPER_MISS: ('grasp',),
    Fault.ENDLESS_GOAL: ('controller',),
}
"""Words of which a clear stop's sentence must have one."""
LATEST_GOAL: dict[Fault, int] = {Fault.GRIPPER_FAIL: 3, Fault.GRIPPER_MISS: 0}
"""The goals of a pick after which the fault can still strike it; others, `LATEST`. A grasp that is
to miss is prepared before the first goal: two goals later, a few milliseconds, it is over."""
LATEST = 6
"""A pick and place has some nine goals of arm and hand, the last three of which take less than the
longest delay at full speed."""
MOST_DELAY_S = 0.12
"""How long after a goal a fault strikes at most, by the wall clock; those of LATEST_GOAL strike at
once, or a simulation at full speed would be past the pick [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTrial:
    """One task with one fault."""

    fault: Fault
    trial: int
    after_goals: int
    """It strikes after so many goals of arm or hand have arrived at the robot."""
    delay_s: float
    """And so much later, by the wall clock [s]."""
    person: bool
    """Whether a person answers when the robot has stopped."""

    @property
    def wanted(self) -> Verdict:
        if self.fault is Fault.DRIVER_HANG or not self.person:
            return Verdict.CLEAR_STOP
        return Verdict.FINISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultResult:
    """How one trial came out."""

    trial: FaultTrial
    verdict: Verdict
    struck: bool
    """Whether a call failed by it, the episode ended, or a person was asked to resume. A reflex
    between two motions is recovered from within its call, so there it may not; otherwise
    such a trial proves nothing."""
    ending: Ending
    message: str
    """Why it ended so; empty where it finished."""
    codes: tuple[str, ...] = ()
    """Codes of the calls that did not succeed, in order."""
    stray: tuple[str, ...] = ()
    """Goals that came while the user stop was in force, or while a person was waited for."""
    in_flight: tuple[str, ...] = ()
    """Goals that crossed the user stop on their way: sent before it could arrive anywhere."""
    taken: int = 0
    """Those of them that the robot accepted: of the hand, which no stop of the arm reaches."""
    goals: int = 0
    """Goals of arm or hand in all."""
    approvals: int = 0
    """Plans that a person approved."""
    wall_s: float = 0.0

    @property
    def good(self) -> bool:
        return self.verdict is self.trial.wanted and not self.stray


def draw_trials(faults: Sequence[Fault], n: int, seed: int) -> list[FaultTrial]:
    """Draw so many trials of each fault, and as many again where a person is needed."""
    drawn = []
    for fault in faults:
        for person in (True, False) if fault in NEEDS_PERSON else (True,):
            for trial in range(n):
                rng = random.Random(f'{seed}/{fault.value}/{person}/{trial}')
                latest = LATEST_GOAL.get(fault, LATEST)
                drawn.append(
                    FaultTrial(
                        fault=fault,
                        trial=trial,
                        after_goals=rng.randint(min(1, latest), latest),
                        delay_s=0.0 if fault in LATEST_GOAL else rng.uniform(0.0, MOST_DELAY_S),
                        person=person,
                    )
                )
    return drawn


def judge(trial: FaultTrial, ending: Ending, message: str, done: bool) -> Verdict:
    """Judge an episode by ending, message and whether the settled table shows it done."""
    if ending is Ending.FINISHED and done:
        return Verdict.FINISHED
    stated = message.lower()
    if ending is Ending.WORLD_FAILED and any(word in stated for word in STATES[trial.fault]):
        return Verdict.CLEAR_STOP
    return Verdict.NEITHER


def rows_of(results: Iterable[FaultResult]) -> list[dict[str, Any]]:
    """
    Sum up the trials of each fault, with and without a person, in the order of the first one.

    Counted are the fields of `FaultResult`.
    """
    groups: dict[tuple[Fault, bool], list[FaultResult]] = {}
    for result in results:
        groups.setdefault((result.trial.fault, result.trial.person), []).append(result)
    return [
        {
            'fault': fault.value,
            'person': person,
            'wanted': group[0].trial.wanted.value,
            'n': len(group),
            'good': sum(result.good for result in group),
            'struck': sum(result.struck for result in group),
            'verdicts': {
                verdict.value: sum(result.verdict is verdict for result in group)
                for verdict in Verdict
            },
            'stray': sum(len(result.stray) for result in group),
            'in_flight': sum(len(result.in_flight) for result in group),
            'taken': sum(result.taken for result in group),
        }
        for (fault, person), group in groups.items()
    ]


def line_of(result: FaultResult, done: int, total: int) -> str:
    trial = result.trial
    person = 'with a person' if trial.person else 'without a person'
    verdict = 'good' if result.good else 'not good'
    return (
        f'{done:>4}/{total}  {trial.fault.value} {trial.trial}, {person}  {verdict}: '
        f'{result.verdict.value}  {result.wall_s:.1f} s'
    )
