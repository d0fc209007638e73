"""A table of boxes with poses: scenes as real ones, and calls that move boxes at once."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from bbllm.core.skill_calls import CallError, check_call, is_pose_like, parse_pose
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
)
from bbllm.scene.relations import build_scene
from bbllm.skills.catalog import SKILLS

EDGE_M = 0.04
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.45, 0.0, -0.02)),
    size_m=(1.2, 1.6, 0.04),
)
Place = tuple[float, ...]


def box(name: str, at: Place) -> SceneObject:
    """Return a location, or a cube that stands on the table unless a height is given."""
    kind = Kind.LOCATION if name.startswith('location') else Kind.CUBE
    size = (0.0,) * 3 if kind is Kind.LOCATION else (EDGE_M,) * 3
    z = at[2] if len(at) > 2 else size[2] / 2
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(*at[:2], z)), size_m=size)


class BoxTable:
    """A World; what lies on `unreachable` names cannot be picked or filled."""

    skills = SKILLS

    def __init__(self, places: Mapping[str, Place], unreachable: Collection[str] = ()):
        self.unreachable = unreachable
        self.held = ''
        self.items = {name: box(name, at) for name, at in places.items()}
        self.calls: list[str] = []

    def observe(self) -> Scene:
        """Return the scene, with the facts of a real one."""
        made = build_scene(
            (TABLE, *self.items.values()), None, skills=SKILLS, stamp_s=0.0, now_s=0.0
        )
        held = (Fact(self.held, 'held_by', 'hand'),) if self.held else ()
        return replace(made, facts=(*made.facts, *held))

    def stop(self) -> None:
        """Nothing runs longer than a call."""

    def execute(self, call: SkillCall) -> Outcome:
        """Move a box, or refuse."""
        self.calls.append(str(call))
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        why = ''
        if call.skill == 'pick':
            why = self._pick(call.args[0])
        elif call.skill == 'place':
            why = self._place(call.args[0])
        if not why:
            return Outcome(call=call, status=Status.SUCCEEDED)
        return Outcome(call=call, status=Status.REJECTED, code=Code.OCCUPIED, message=why)

    def at(self, name: str) -> tuple[float, float, float]:
        return self.items[name].pose.position_m

    def _pick(self, name: str) -> str:
        covered = any(
            fact.object == name for fact in self.observe().facts if fact.predicate == 'on'
        )
        if (
            self.held
            or covered
            or name in self.unreachable
            or self.items[name].kind is not Kind.CUBE
        ):
            return f'{name} cannot be picked.'
        self.held = name
        x, y, _ = self.at(name)
        self._put(name, (x, y, 0.5))
        return ''

    def _place(self, target: str) -> str:
        if not self.held or target in (self.held, *self.unreachable):
            return f'Nothing can be placed at {target}.'
        if is_pose_like(target):
            x, y, z = parse_pose(target).position_m
        elif target == 'table':
            free = ((0.3 + 0.05 * i, 0.4 - 0.05 * j) for i in range(8) for j in range(17))
            x, y = next(spot for spot in free if not self._blocked((*spot, EDGE_M / 2)))
            z = EDGE_M / 2
        else:
            x, y, z = self.at(target)
            z += EDGE_M if self.items[target].kind is Kind.CUBE else EDGE_M / 2
        if self._blocked((x, y, z)):
            return f'{target} is occupied.'
        self._put(self.held, (x, y, z))
        self.held = ''
        return ''

    def _blocked(self, at: Place) -> bool:
        others = (self.at(n) for n, item in self.items.items() if item.kind is Kind.CUBE)
        return any(
            all(abs(p - q) < EDGE_M - 1e-6 for p, q in zip(at, o, strict=True)) for o in others
        )

    def _put(self, name: str, at: tuple[float, float, float]) -> None:
        self.items[name] = replace(self.items[name], pose=Pose(position_m=at))
