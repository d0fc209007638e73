"""Journals of episodes that never were: who was asked, what was lifted, and what was felt."""

from __future__ import annotations

from typing import Any

from bbllm.core.events import Ending, Episode, Event, EventData, ModelCall, SceneRecorded
from bbllm.core.journal import line_of, read_line
from bbllm.core.observation import Observed
from bbllm.core.types import (
    Code,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
    Task,
)
from bbllm_bench.suites.case import Case

LIFT_M = 0.08
HAND = (0.5, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0)
"""Where the empty hand is; with something in it, it is where that is."""


class Journal:
    """Writes an episode down as it would have happened on the table of a case."""

    def __init__(self, case: Case, planner: str = 'llm_pop'):
        self._planner = planner
        self._events: list[Event] = []
        self._poses = {
            item.name: [*item.pose.position_m, *item.pose.quat_xyzw]
            for item in case.scene.movables
        }
        self._masses = {spec.name: spec.mass for spec in case.scene.objects}
        self._fixed = {spec.name for spec in case.scene.objects if spec.fixed}
        self._held = self._around = ''
        self._show('before')

    def reply(self, role: str = 'brain') -> Journal:
        """A model has answered."""
        return self._add(ModelCall(role=role, model='made up'))

    def pick(
        self,
        name: str,
        *,
        observed: bool = True,
        felt: bool = True,
        up: bool = True,
        code: Code = Code.WOULD_NOT_RISE,
    ) -> Journal:
        """Something is picked; what is fixed does not rise, or whatever the code says."""
        call = SkillCall('pick', (name,))
        if name in self._fixed:
            stuck = Outcome(call=call, status=Status.FAILED, code=code, message='No.')
            return self._done(call, stuck, observed=observed)
        self._held, self._around = name, ''
        self._poses[name][2] += LIFT_M if up else 0.0
        force = (0.0, 0.0, -9.81 * self._masses[name]) if felt else None
        return self._done(call, observed=observed, force_n=force)

    def place(
        self,
        on: str = '',
        *,
        observed: bool = True,
        status: Status = Status.SUCCEEDED,
        keeps: bool = False,
        stays: bool = False,
    ) -> Journal:
        """What is held is put down, or kept where that failed; the hand may stay around it."""
        keeps = keeps or status is Status.REJECTED
        name, self._held = self._held, self._held if keeps else ''
        self._around = name if stays else ''
        if name and not keeps:
            base = self._poses[on] if on else [0.4, 0.2, -0.02]
            self._poses[name][:3] = [base[0], base[1], base[2] + 0.04]
        call = SkillCall('place', (on or '0.4 0.2 0',))
        outcome = Outcome(call=call, status=status, message='' if not status else 'It slipped.')
        return self._done(call, outcome, observed=observed)

    def open_gripper(self) -> Journal:
        """The hand opens, and whatever it holds falls straight down."""
        if self._held:
            self._poses[self._held][2] -= LIFT_M
        self._held = ''
        return self._done(SkillCall('open_gripper'))

    def wait(self) -> Journal:
        """Time passes, and the planner looks."""
        force = (0.0, 0.0, -9.81 * self._masses[self._held]) if self._held else (0.0, 0.0, 0.0)
        return self._done(SkillCall('wait', ('1',)), force_n=force)

    def episode(self, ending: Ending = Ending.FINISHED) -> Episode:
        """The record, as it is read back from a file."""
        self._show('after')
        return Episode(
            id='made-up',
            task=Task('made-up', 'Do it.'),
            planner=self._planner,
            brain='b',
            body='b',
            ending=ending,
            message='',
            events=tuple(read_line(line_of(event)) for event in self._events),
        )

    def _done(
        self,
        call: SkillCall,
        outcome: Outcome | None = None,
        *,
        observed: bool = True,
        force_n: tuple[float, float, float] | None = (0.0, 0.0, 0.0),
    ) -> Journal:
        self._add(call)
        self._add(outcome or Outcome(call=call, status=Status.SUCCEEDED))
        if observed:
            blocks: Any = {name: tuple(pose) for name, pose in self._poses.items()}
            near = self._held or self._around
            x, y, z = self._poses[near][:3] if near else HAND[:3]
            finger_m = 0.02 if self._held else 0.032
            seen = Observed(
                blocks=blocks,
                eef=(x, y, z, *HAND[3:]),
                force_n=force_n,
                fingers_m=(finger_m, finger_m),
            )
            self._add(seen)
        return self

    def _show(self, moment: str) -> None:
        objects = tuple(
            SceneObject(
                name=name,
                kind=Kind.CUBE,
                pose=Pose(position_m=(pose[0], pose[1], pose[2])),
            )
            for name, pose in self._poses.items()
        )
        self._add(SceneRecorded(moment, Scene(objects, (), (), 0.0)))

    def _add(self, data: EventData) -> Journal:
        self._events.append(Event(float(len(self._events)), data))
        return self
