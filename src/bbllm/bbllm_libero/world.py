"""An episode of the benchmark as a world: scenes by the state of its simulator, and calls."""

import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)
from bbllm_libero.client import Worker
from bbllm_libero.panda import (
    EpisodeOverError,
    LiberoSkill,
    LiberoTask,
    Panda,
    Piece,
    Placement,
    State,
)

STATE_WORDS = {'open': 'open', 'close': 'closed', 'turnon': 'on', 'turnoff': 'off'}
"""The benchmark's predicates of one object, as facts have them."""


class LiberoWorld:
    """
    One episode from its initial state.

    The benchmark's check is looked at after every control step, and *passed* stays true once it
    was, as there an episode ends at that moment. Calls go on after it: they change no verdict.

    Args:
        worker: The benchmark; its task has begun.
        skills: What the robot can do.
    """

    def __init__(self, worker: Worker, skills: Sequence[LiberoSkill]) -> None:
        self._worker = worker
        self._skills: Mapping[str, LiberoSkill] = {each.signature.name: each for each in skills}
        self._robot = _Robot(worker)
        self._held: str | None = None

    @property
    def skills(self) -> tuple[Skill, ...]:
        return tuple(each.signature for each in self._skills.values())

    @property
    def passed(self) -> bool:
        """Whether the benchmark's check was true after any control step."""
        return self._robot.passed

    @property
    def steps(self) -> int:
        """Control steps that were made."""
        return self._worker.state.steps

    @property
    def out_of_budget(self) -> bool:
        return self.steps >= self._worker.task.budget

    @property
    def time_s(self) -> float:
        return self.steps / self._worker.task.rate_hz

    def observe(self) -> Scene:
        """Return the scene by the state of the simulator; raises WorldError where it has gone."""
        facts = [Fact('hand', 'is', 'empty')]
        if self._held is not None:
            facts = [Fact(self._held, 'held_by', 'hand')]
        return scene_of(
            self._worker.task,
            self._worker.state,
            [*facts, *facts_of(self._worker.task, self._worker.facts())],
            self.skills,
            self.time_s,
        )

    def execute(self, call: SkillCall) -> Outcome:
        """Execute a call to its end; raises WorldError where the benchmark has gone."""
        begun_s = self.time_s
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        self._robot.resume()
        try:
            result = self._skills[call.skill].run(self._robot, call.args, self._held)
        except EpisodeOverError as error:
            self._held = held_in(self._worker.task, self._worker.state)
            return Outcome(
                call=call,
                status=Status.FAILED,
                code=error.code,
                message=str(error),
                duration_s=self.time_s - begun_s,
            )
        self._held = result.held
        return Outcome(
            call=call,
            status=result.status,
            code=result.code,
            message=result.message,
            duration_s=self.time_s - begun_s,
        )

    def stop(self) -> None:
        """End the call that runs, before its next control step; from any thread."""
        self._robot.stop()


class _Robot(Panda):
    """The robot within the budget of the benchmark, and as long as nobody stops it."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._stopped = threading.Event()
        self.passed = worker.state.success

    @property
    def task(self) -> LiberoTask:
        return self._worker.task

    @property
    def state(self) -> State:
        return self._worker.state

    def shape(self, name: str) -> tuple[Piece, ...]:
        return self._worker.shape(name)

    def step(self, action: ArrayLike) -> State:
        if self._stopped.is_set():
            raise EpisodeOverError(Code.CANCELLED, 'The call was stopped.')
        if self.state.steps >= self.task.budget:
            raise EpisodeOverError(
                Code.TIMEOUT,
                f'The {self.task.budget} control steps that the benchmark allows are used up.',
            )
        state = self._worker.step(action)
        self.passed = self.passed or state.success
        return state

    def resume(self) -> None:
        self._stopped.clear()

    def stop(self) -> None:
        self._stopped.set()


def held_in(task: LiberoTask, state: State) -> str | None:
    """Return the object that both fingers touch; None where there is none."""
    both = {*state.touches['left']} & {*state.touches['right']}
    return next((name for name in sorted(both) if _is_movable(task, name)), None)


def _is_movable(task: LiberoTask, name: str) -> bool:
    return name in task.objects and not task.objects[name].fixture


def scene_of(
    task: LiberoTask,
    state: State,
    facts: Sequence[Fact],
    skills: Sequence[Skill],
    stamp_s: float,
) -> Scene:
    """
    Return a state as a scene: objects and regions by the benchmark's names.

    Heights count from the table or floor that the objects stand on.
    """
    items = [
        SceneObject(
            name=name,
            kind=Kind.FIXTURE if info.fixture else Kind.OTHER,
            pose=_pose(task, state.objects[name], state.objects[name].of(info.centre_m)),
            size_m=_triple(2 * info.half_size_m),
        )
        for name, info in task.objects.items()
    ]
    regions = [
        SceneObject(
            name=name,
            kind=Kind.LOCATION,
            pose=_pose(task, state.sites[name], state.sites[name].position_m),
            size_m=_triple(2 * info.half_size_m),
        )
        for name, info in task.sites.items()
    ]
    tool = state.tool
    hand = HandReading(tcp=_pose(task, tool, tool.position_m), width_m=state.width_m)
    return Scene((*items, *regions), tuple(skills), tuple(facts), stamp_s, hand=hand)


def facts_of(task: LiberoTask, found: Sequence[tuple[str, str, str]]) -> list[Fact]:
    """
    Return what the benchmark's predicates find as facts.

    A shut drawer may be neither open nor closed by them, and the knob of a cold stove neither on
    nor off, which are facts of their own: `not_open` and `not_closed`.
    A basket is in its own region by them, which is no fact.
    """
    facts = [
        Fact(a, relation, STATE_WORDS[b] if relation == 'is' else b)
        for a, relation, b in found
        if relation == 'is' or b not in task.sites or task.sites[b].parent != a
    ]
    joints = {name: info.joints for name, info in task.objects.items()}
    joints |= {name: site.joints for name, site in task.sites.items()}
    for name in sorted(joints.keys() - {f.subject for f in facts if f.predicate == 'is'}):
        able = {word for joint in joints[name] for word in task.joints[joint].ranges}
        facts += [
            Fact(name, 'is', f'not_{STATE_WORDS[word]}') for word in STATE_WORDS if word in able
        ]
    return facts


def _pose(task: LiberoTask, placed: Placement, position_m: ArrayLike) -> Pose:
    x, y, z = _triple(position_m)
    qx, qy, qz, qw = (float(value) for value in placed.quat_xyzw)
    return Pose(position_m=(x, y, z - task.surface_m), quat_xyzw=(qx, qy, qz, qw))


def _triple(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, float).tolist()
    return x, y, z
