"""
One trial of the arm each: a random pick and place, a tower of five, a plus sign.

Every trial builds a scene of its own from its seed, so that trials may run in any order and in
any process. What a trial finds is measured on settled poses, never taken from outcomes.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from bbllm.arm.controllers.trajectory_goal import goal_from_trajectory
from bbllm.arm.driver import ArmDriver, JointState, Tolerances
from bbllm.arm.envelope import SafetyEnvelope
from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.motion.motion_planner import GraspPlannerParams
from bbllm.arm.motion.trajectory import joint_move
from bbllm.core.types import Outcome, Pose, SkillCall
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.sim.robot import CONTROL_PERIOD_S
from bbllm.skills.shapes import Vector, rotation_of
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.benchmarks.arm.time_bound import time_optimal_bound
from bbllm_bench.safety.limit_audit import NOTHING, RATE_HZ, Audit, audit, audit_samples
from bbllm_bench.safety.recording import RecordingDriver
from bbllm_bench.scorers.patterns import check_plus

EDGE_M = 0.04
PITCH_M = 0.06
SHAPE_TOLERANCE_M = 0.01
"""Every cube of a tower or plus sign must rest this near to its place [m]."""
SETTLE_S = 2.0
"""How long shapes must stand before they are measured [s]."""
NEIGHBOUR_M = 0.08
"""Least distance between the centres of objects on a random table [m]."""
RADIUS_M = (0.30, 0.70)
AZIMUTH_RAD = math.radians(90)
SCALE = 0.8
"""Share of the joint limits that the arm uses."""
STOPPED_S = 0.7
"""How long the set points are read after a stop, which takes 0.55 s at most [s]."""
COLOURS = ('red', 'green', 'blue', 'yellow', 'orange', 'purple')
CUBES = tuple(f'{colour}_cube' for colour in COLOURS[:5])

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one trial found."""

    kind: str
    """`pick_place`, `tower` or `plus`."""
    seed: int
    ok: bool
    reason: str = ''
    """Why not."""
    errors_m: tuple[float, ...] = ()
    """Distance from its place of every object that was placed; in the plane for pick_place [m]."""
    yaw_deg: float = 0.0
    """Yaw error of what was placed, for pick_place [deg]."""
    robot_s: float = 0.0
    """Robot time of all picks and places, without the way back to base [s]."""
    cycles: int = 0
    """How many picks and places that was."""
    motion_s: float = 0.0
    """Planned time of the trajectories alone [s]."""
    bound_s: float = math.nan
    """Least time for the same way-points within the same limits; nan where not computed [s]."""
    share_bound_s: float = math.nan
    """The same within the share of the limits that the arm uses [s]."""
    trajectories: int = 0
    audit: Audit = field(default=NOTHING)
    measured: Audit = field(default=NOTHING)
    """Of the joints as the simulation moved them, contacts included, every 10 ms."""


def run_trial(kind: str, seed: int, scale: float = SCALE) -> Trial:
    """Run one trial with a share of the joint limits."""
    return _TRIALS[kind](seed, scale)


def audit_stop(seed: int, scale: float = SCALE) -> Audit:
    """
    Cancel a motion at a random moment and audit the set points until the end of the next motion.

    Velocities are differences of positions at 1 kHz, as a robot computes them that is commanded
    positions.
    """
    rng = np.random.default_rng(seed)
    with closing(TabletopWorld(SceneFile(name='empty'))) as world:
        robot = world.robot
        arm = robot.robot_model
        positions = [robot.set_point().position_rad]

        def advance(duration_s: float) -> None:
            for _ in range(round(duration_s * RATE_HZ)):
                robot.advance(1 / RATE_HZ)
                positions.append(robot.set_point().position_rad)

        move = joint_move(arm, arm.home_rad, arm.home_rad + rng.uniform(-0.5, 0.5, 7), scale=scale)
        robot.follow(goal_from_trajectory(arm, move, Tolerances()))
        advance(float(rng.uniform(0.1, 0.9)) * move.duration_s)
        robot.cancel_follow()
        advance(STOPPED_S)
        start = TrajectoryExecutor(world.driver).q_start()
        move = joint_move(arm, start, arm.home_rad, scale=scale)
        robot.follow(goal_from_trajectory(arm, move, Tolerances()))
        advance(move.duration_s)
        q = np.array(positions)
        return audit_samples(q[1:], np.diff(q, axis=0) * RATE_HZ, RATE_HZ)


class ArmBench:
    """A world whose trajectories are kept, and the robot's time of its calls."""

    def __init__(
        self,
        scene: SceneFile,
        scale: float,
        *,
        measured: bool = True,
        safety: SafetyEnvelope | None = None,
    ) -> None:
        """With *measured* the joints are kept as the simulation moves them."""
        self.recorders: list[RecordingDriver] = []
        self.scale = scale
        params = ExecutorParams(ways=GraspPlannerParams(scale=scale))
        self.world = TabletopWorld(scene, params=params, wrap_driver=self._record, safety=safety)
        self._joints: list[JointState] = []
        self._on_force = self.world.robot.on_force
        if measured:
            self.world.robot.on_force = self._sense
        self.robot_s = 0.0

    def run(self, calls: Sequence[SkillCall]) -> Outcome | None:
        """Execute calls until one fails, and return that one's outcome."""
        for call in calls:
            outcome = self.world.execute(call)
            self.robot_s += outcome.duration_s
            if not outcome.succeeded:
                return outcome
        return None

    def settled(self, duration_s: float) -> dict[str, Pose]:
        """Let the objects stand for a while and return where they are."""
        self.world.driver.wait(duration_s)
        return self.world.settled()

    def trial(self, **found: Any) -> Trial:
        """Complete what was found with what was recorded."""
        moves = self.recorders[0].trajectories
        waypoints = [move.position_rad[0] for move in moves[:1]]
        waypoints += [move.position_rad[-1] for move in moves]
        stops = self.recorders[0].stops
        bound_s, share_bound_s = (
            time_optimal_bound(waypoints, stops, share=share) if moves else math.nan
            for share in (1.0, self.scale)
        )
        q, dq = (
            np.array([getattr(state, name) for state in self._joints])
            for name in ('position_rad', 'velocity_rad_s')
        )
        return Trial(
            robot_s=self.robot_s,
            motion_s=sum(move.duration_s for move in moves),
            bound_s=bound_s,
            share_bound_s=share_bound_s,
            trajectories=len(moves),
            audit=sum(map(audit, moves), NOTHING),
            measured=audit_samples(q, dq, 1 / CONTROL_PERIOD_S),
            **found,
        )

    def _sense(self, force_n: Sequence[float], stamp_s: float, fastest_rad_s: float) -> None:
        """Keep the joints, which the robot reports with every force."""
        self._joints.append(self.world.robot.simulation.joint_state())
        if self._on_force is not None:
            self._on_force(force_n, stamp_s, fastest_rad_s)

    def _record(self, driver: ArmDriver) -> ArmDriver:
        self.recorders.append(RecordingDriver(driver))
        return self.recorders[0]


def pick_place_trial(seed: int, scale: float = SCALE) -> Trial:
    """Pick one of eight objects on a random table and place it at a random pose."""
    scene, name, (x, y), yaw_deg = random_pick_place(seed)
    bench = ArmBench(scene, scale)
    failure = bench.run(pick_place_calls(name, (x, y), yaw_deg))
    pose = bench.settled(0.5)[name]
    error_m = math.dist(pose.position_m[:2], (round(x, 4), round(y, 4)))
    turned = 0.0 if 'cylinder' in name else yaw_error_deg(pose, round(yaw_deg, 1))
    reason = f'{failure.call}: {failure.message}' if failure else ''
    if not failure and error_m > SHAPE_TOLERANCE_M:
        reason = f'{name} rests {error_m * 1000:.1f} mm from its target.'
    return bench.trial(
        kind='pick_place', seed=seed, ok=not reason, reason=reason, cycles=1,
        errors_m=(error_m,), yaw_deg=turned,
    )  # fmt: skip


def tower_trial(seed: int, scale: float = SCALE) -> Trial:
    rng = np.random.default_rng(seed)
    (place,) = random_spots(rng, 1, (0.4, 0.55), math.radians(40))
    bench = ArmBench(_shape_scene(rng, [place], 0.14), scale)
    wanted = [(*place, EDGE_M * (level + 0.5)) for level in range(len(CUBES))]
    return _shape_trial('tower', seed, bench, ['location_0', *CUBES[:-1]], wanted)


def plus_trial(seed: int, scale: float = SCALE) -> Trial:
    """Put five cubes on five locations that form a plus sign, in random order."""
    rng = np.random.default_rng(seed)
    ((cx, cy),) = random_spots(rng, 1, (0.42, 0.55), math.radians(40))
    arms = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    places = [(cx + PITCH_M * ax, cy + PITCH_M * ay) for ax, ay in arms]
    bench = ArmBench(_shape_scene(rng, places, 0.12), scale)
    order = rng.permutation(5).tolist()
    wanted = [(*places[index], EDGE_M / 2) for index in order]
    return _shape_trial('plus', seed, bench, [f'location_{index}' for index in order], wanted)


_TRIALS: dict[str, Callable[[int, float], Trial]] = {
    'pick_place': pick_place_trial,
    'tower': tower_trial,
    'plus': plus_trial,
}


def random_pick_place(seed: int) -> tuple[SceneFile, str, Point, float]:
    """Return a random table, one of its eight objects, and where to place it [m], turned [deg]."""
    rng = np.random.default_rng(seed)
    spots = random_spots(rng, 9, RADIUS_M, AZIMUTH_RAD)
    scene = random_table(rng, spots[:8])
    name = scene.objects[int(rng.integers(8))].name
    return scene, name, spots[8], float(rng.uniform(-45, 45))


def pick_place_calls(name: str, spot: Point, yaw_deg: float) -> list[SkillCall]:
    target = f'{spot[0]:.4f} {spot[1]:.4f} {EDGE_M / 2} {yaw_deg:.1f}'
    return [SkillCall('pick', (name,)), SkillCall('place', (target,))]


def random_table(rng: np.random.Generator, spots: Sequence[Point]) -> SceneFile:
    """Return a table with six cubes and two cylinders at eight spots, each turned anyhow."""
    objects = []
    for index, spot in enumerate(spots):
        kind: Literal['cube', 'cylinder'] = 'cube' if index < len(COLOURS) else 'cylinder'
        name = f'{COLOURS[index]}_cube' if kind == 'cube' else f'cylinder_{index}'
        objects.append(
            ObjectSpec(name=name, kind=kind, xy=spot, yaw_deg=float(rng.uniform(-180, 180)))
        )
    return SceneFile(name='random', objects=tuple(objects))


def random_spots(
    rng: np.random.Generator,
    count: int,
    radius_m: tuple[float, float],
    azimuth_rad: float,
    taken: Sequence[Point] = (),
    apart_m: float = NEIGHBOUR_M,
) -> list[Point]:
    """Return spots in a part of a ring around the robot that keep apart from each other [m]."""
    spots: list[Point] = []
    while len(spots) < count:
        # The root makes them even over the area.
        radius = math.sqrt(rng.uniform(radius_m[0] ** 2, radius_m[1] ** 2))
        angle = rng.uniform(-azimuth_rad, azimuth_rad)
        spot = (float(radius * math.cos(angle)), float(radius * math.sin(angle)))
        if all(math.dist(spot, other) >= apart_m for other in (*spots, *taken)):
            spots.append(spot)
    return spots


def yaw_error_deg(pose: Pose, wanted_deg: float) -> float:
    """Return the yaw error of a cube, which is symmetric under a quarter turn [deg]."""
    rotation = rotation_of(pose)
    yaw_deg = math.degrees(math.atan2(rotation[1][0], rotation[0][0]))
    return abs((yaw_deg - wanted_deg + 45.0) % 90.0 - 45.0)


def _shape_scene(rng: np.random.Generator, places: Sequence[Point], apart_m: float) -> SceneFile:
    """Return cubes that lie about, well away from the places where the shape shall stand."""
    spots: list[Point] = []
    while len(spots) < len(CUBES):
        (spot,) = random_spots(rng, 1, (0.35, 0.65), math.radians(60), spots)
        if all(math.dist(spot, place) >= apart_m for place in places):
            spots.append(spot)
    cubes = tuple(
        ObjectSpec(name=name, kind='cube', xy=spot, yaw_deg=float(rng.uniform(-45, 45)))
        for name, spot in zip(CUBES, spots, strict=True)
    )
    marks = tuple(LocationSpec(name=f'location_{i}', xy=xy) for i, xy in enumerate(places))
    return SceneFile(name='shape', objects=cubes, locations=marks)


def _shape_trial(
    kind: str, seed: int, bench: ArmBench, targets: Sequence[str], wanted: Sequence[Vector]
) -> Trial:
    """Place each cube at its target, and compare where they rest with where they should."""
    calls = []
    for name, target in zip(CUBES, targets, strict=True):
        calls += [SkillCall('pick', (name,)), SkillCall('place', (target,))]
    failure = bench.run(calls)
    poses = bench.settled(SETTLE_S)
    rest = [poses[name].position_m for name in CUBES]
    errors = tuple(math.dist(is_at, place) for is_at, place in zip(rest, wanted, strict=True))
    reason = f'{failure.call}: {failure.message}' if failure else ''
    if not reason and kind == 'plus':
        reason = check_plus(poses, EDGE_M)[0]
    if not reason and max(errors) > SHAPE_TOLERANCE_M:
        reason = f'a cube rests {max(errors) * 1000:.1f} mm from its place.'
    return bench.trial(
        kind=kind, seed=seed, ok=not reason, reason=reason, errors_m=errors, cycles=len(wanted)
    )
