"""A World of cubes whose weight is felt and of which some are fixed: on paper, in microseconds."""

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bbllm.core.skill_calls import CallError, check_call, parse_pose
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
from bbllm.skills.catalog import SKILLS
from bbllm.skills.motions import refusal

EDGE_M = 0.04
GRIP_M = 0.012
"""How far above the centre of a cube the fingers take it [m]."""
LIFT_M = 0.08
Point = tuple[float, float, float]
G = 9.81


@dataclass(frozen=True)
class Cube:
    """One cube, and what no scene shows of it."""

    x: float
    y: float
    z: float = EDGE_M / 2
    yaw: float = 0.0
    mass_kg: float = 0.1
    fixed: bool = False


class FeltBlocks:
    """
    Keeps the seam `World`.

    Args:
        cubes: What is on the table, by name.
        noise_n: Deviation of each reading of the force; None: nothing measures it [N].
        bias_n: What all readings are off [N].
        seed: Of the noise.
        bad_spots: Places (x, y) that the hand cannot put anything down on.
    """

    skills: tuple[Skill, ...] = SKILLS

    def __init__(
        self,
        cubes: Mapping[str, Cube],
        *,
        noise_n: float | None = 0.045,
        bias_n: float = 0.0,
        seed: int = 0,
        bad_spots: Iterable[tuple[float, float]] = (),
    ):
        self.cubes = dict(cubes)
        self.calls: list[str] = []
        self.held: str | None = None
        self._noise_n = noise_n
        self._bias_n = bias_n
        self._dice = random.Random(seed)
        self._bad = tuple(bad_spots)
        self._tcp = (0.35, 0.0, 0.4, 0.0)

    def observe(self) -> Scene:
        force = None
        if self._noise_n is not None:
            mass = self.cubes[self.held].mass_kg if self.held else 0.0
            x, y, z = (self._dice.gauss(self._bias_n, self._noise_n) for _ in range(3))
            force = (x, y, z - G * mass)
        return self._scene(force)

    def _scene(self, force: Point | None = None) -> Scene:
        tx, ty, tz, yaw = self._tcp
        tcp = Pose(
            position_m=(tx, ty, tz), quat_xyzw=(math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)
        )
        hand = HandReading(tcp=tcp, width_m=EDGE_M if self.held else 0.08, force_n=force)
        facts = [Fact(name, 'on', self.on(name)) for name in self.cubes if name != self.held]
        if self.held is not None:
            facts.append(Fact(self.held, 'held_by', 'hand'))
        return Scene((_TABLE, *map(_item, self.cubes.items())), SKILLS, tuple(facts), 0.0, hand)

    def execute(self, call: SkillCall) -> Outcome:
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        self.calls.append(call.skill if call.skill != 'pick' else f'pick {call.args[0]}')
        refused = refusal(call, self._scene())
        if refused is not None:
            return refused.outcome(call)
        problem = None
        if call.skill == 'pick':
            problem = self._pick(call.args[0])
        elif call.skill == 'place':
            problem = self._place(call.args[0])
        if problem is None:
            return Outcome(call=call, status=Status.SUCCEEDED)
        code, message = problem
        status = Status.FAILED if code is Code.WOULD_NOT_RISE else Status.REJECTED
        return Outcome(call=call, status=status, code=code, message=message)

    def stop(self) -> None:
        pass

    def on(self, name: str) -> str:
        """Return what a cube stands on: another one, or `table`."""
        cube = self.cubes[name]
        for other, below in self.cubes.items():
            level = abs(cube.z - below.z - EDGE_M) < 0.002
            if level and math.dist((cube.x, cube.y), (below.x, below.y)) < 0.02:
                return other
        return 'table'

    def _pick(self, name: str) -> tuple[Code, str] | None:
        cube = self.cubes[name]
        self._tcp = (cube.x, cube.y, cube.z + GRIP_M + LIFT_M, cube.yaw)
        if cube.fixed:
            return Code.WOULD_NOT_RISE, f'{name} did not rise: the lift took more than 10 N.'
        self.held = name
        self.cubes[name] = replace(cube, z=cube.z + LIFT_M)
        return None

    def _place(self, pose: str) -> tuple[Code, str] | None:
        assert self.held is not None  # `refusal` looked
        literal = parse_pose(pose)
        x, y, z = literal.position_m
        if any(math.dist((x, y), spot) < 0.01 for spot in self._bad):
            return Code.OUT_OF_WORKSPACE, f'the pose {pose} is out of the workspace of the robot.'
        under = z - GRIP_M - EDGE_M / 2
        others = [cube for name, cube in self.cubes.items() if name != self.held]
        below = [c for c in others if math.dist((x, y), (c.x, c.y)) < EDGE_M / 2]
        top = max((cube.z + EDGE_M / 2 for cube in below), default=0.0)
        if abs(under - top) > 0.025:
            return Code.BAD_ARGUMENTS, f'there is nothing at the pose {pose} to set it on.'
        beside = [c for c in others if c not in below and abs(c.z - top - EDGE_M / 2) < EDGE_M]
        if any(math.dist((x, y), (c.x, c.y)) < EDGE_M for c in beside):
            return Code.OCCUPIED, f'the pose {pose} is occupied.'
        qx, qy, _, _ = literal.pose.quat_xyzw
        yaw = 2 * math.atan2(qy, qx)
        held = self.cubes[self.held]
        self.cubes[self.held] = replace(held, x=x, y=y, z=top + EDGE_M / 2, yaw=yaw)
        self._tcp = (x, y, z + LIFT_M, yaw)
        self.held = None
        return None


_TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.5, 0.0, -0.02)),
    size_m=(0.36, 0.6, 0.04),
)


def _item(named: tuple[str, Cube]) -> SceneObject:
    name, cube = named
    half = cube.yaw / 2
    return SceneObject(
        name=name,
        kind=Kind.CUBE,
        pose=Pose(
            position_m=(cube.x, cube.y, cube.z),
            quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)),
        ),
        size_m=(EDGE_M, EDGE_M, EDGE_M),
        color=name.partition('_')[0],
    )
