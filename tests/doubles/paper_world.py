"""A world on paper: scenes as in the simulator, but calls just move the names around."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace

from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)
from bbllm.scene.scene_file import SceneFile, load_scene
from bbllm.skills.catalog import SKILLS

REACH_M = 0.8


class PaperWorld:
    """Keeps the seam `World`, with a clock and a close, in microseconds instead of seconds."""

    def __init__(
        self,
        scene: str | SceneFile,
        *,
        seconds: float = 4.0,
        on_call: Callable[[], object] | None = None,
    ):
        file = scene if isinstance(scene, SceneFile) else load_scene(scene)
        self._objects = {o.name: o for o in (*file.fixtures, *file.movables, *file.places)}
        self._held: str | None = None
        self._seconds = seconds
        self.on_call = on_call
        self.stopped = threading.Event()
        self.time_s = 0.0
        self.closed = False

    @property
    def skills(self) -> tuple[Skill, ...]:
        return SKILLS

    def observe(self) -> Scene:
        facts = [Fact(name, 'on', 'table') for name in self._objects if name.endswith('_cube')]
        for item in self._objects.values():
            if item.kind is not Kind.FIXTURE:
                facts.append(Fact(item.name, 'reachable', 'yes' if _near(item) else 'no'))
        facts.append(
            Fact(self._held, 'held_by', 'hand') if self._held else Fact('hand', 'is', 'empty')
        )
        return Scene(tuple(self._objects.values()), SKILLS, tuple(facts), self.time_s)

    def execute(self, call: SkillCall) -> Outcome:
        if self.on_call is not None:
            self.on_call()
        if self.stopped.is_set():
            return Outcome(
                call=call, status=Status.FAILED, code=Code.CANCELLED, message='It was stopped.'
            )
        if (
            call.args
            and call.skill in ('pick', 'place')
            and not _near(self._objects[call.args[0]])
        ):
            return Outcome(
                call=call,
                status=Status.REJECTED,
                code=Code.OUT_OF_WORKSPACE,
                message=f'{call.args[0]} is out of the workspace of the robot.',
            )
        self.time_s += self._seconds
        if call.skill == 'pick':
            self._held = call.args[0]
        if call.skill == 'place' and self._held:
            self._put(self._held, self._objects[call.args[0]])
            self._held = None
        return Outcome(call=call, status=Status.SUCCEEDED, duration_s=self._seconds)

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        self.closed = True

    def _put(self, name: str, target: SceneObject) -> None:
        x, y, z = target.pose.position_m
        height = self._objects[name].size_m[2] / 2
        pose = Pose(position_m=(x, y, z + target.size_m[2] / 2 + height))
        self._objects[name] = replace(self._objects[name], pose=pose)


def _near(item: SceneObject) -> bool:
    return math.hypot(*item.pose.position_m[:2]) < REACH_M
