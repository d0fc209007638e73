"""
The swept volume of a motion: poses of tool, links and grasped object along it, as arrays.

The solid shapes are those of the robot's model that meet the world; that of a finger counts both
closed and wide open, since the lowest point of anything between is between the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import mujoco
import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.trajectory import sample
from bbllm.robots.kinematics import HAND, TCP
from bbllm.robots.robot_model import RobotModel

STEP_S = 0.02
"""Time between two samples of a motion: at 1.7 m/s the tool moves 3 cm, and at the 9 m/s^2 that
the robot allows it is at most 0.5 mm beside the straight line between two of them [s]."""
_WORLD_BIT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A motion, densely sampled."""

    robot: RobotModel
    position_rad: Array
    """Shape (n, 7), as the velocities."""
    velocity_rad_s: Array
    frames: Array
    """T_base_link, as `link_frames` returns them, shape (n, 10, 4, 4)."""

    @property
    def tcp_m(self) -> Array:
        """Return where the TCP is, shape (n, 3) [m]."""
        return np.asarray(self.frames[:, TCP, :3, 3])

    @property
    def tcp_speed_m_s(self) -> Array:
        """Return how fast the TCP moves, shape (n,) [m/s]."""
        axes = self.frames[:, :7, :3, 2] * self.velocity_rad_s[:, :, None]
        arms = self.frames[:, TCP, None, :3, 3] - self.frames[:, :7, :3, 3]
        twist = np.empty((len(axes), 3))
        for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):  # the cross product, summed up
            twist[:, i] = (axes[..., j] * arms[..., k] - axes[..., k] * arms[..., j]).sum(axis=1)
        return np.asarray(np.sqrt((twist * twist).sum(axis=1)))

    @property
    def joint_share(self) -> Array:
        """The share of its speed limit that each joint takes, shape (n, 7)."""
        return np.asarray(np.abs(self.velocity_rad_s) / self.robot.limits.velocity_rad_s)

    def points_m(self, points_tcp: Array) -> Array:
        """Return where points of the tool's frame come to, shape (n, m, 3) [m]."""
        tcp = self.frames[:, TCP]
        return np.asarray(points_tcp @ tcp[:, :3, :3].swapaxes(1, 2) + tcp[:, None, :3, 3])

    def lowest_m(self, below_m: float = np.inf) -> Array:
        """
        Return the height of the lowest point of each of `solid_names()`, shape (n, m) [m].

        Of what stays above *below_m* a lower bound, by the ball around it, which is quicker to
        have.
        """
        solids = _solids(self.robot)
        rows = self.frames[:, :, 2, :]  # (n, 10, 4): the base z axis in each frame, and the height
        centre = np.einsum('nmi,mi->nm', rows[:, solids.frame], solids.centre)
        lowest = centre - solids.ball_m
        i, j = np.nonzero(~(lowest >= below_m))
        along = np.einsum('ki,kij->kj', rows[i, solids.frame[j], :3], solids.rotation[j])
        reach = (np.abs(along) * solids.half_m[j]).sum(axis=-1)
        rim = np.sqrt(np.maximum(1.0 - along[:, 2] ** 2, 0.0)) * solids.rim_m[j]
        lowest[i, j] = centre[i, j] - reach - rim - solids.radius_m[j]
        return np.asarray(lowest)


def sweep(robot: RobotModel, trajectory: JointTrajectory) -> Sweep:
    """Sample a motion evenly, and at its knots where these are few."""
    count = max(2, int(np.ceil(trajectory.duration_s / STEP_S)) + 1)
    time_s = np.linspace(0.0, trajectory.duration_s, count)
    if len(trajectory.time_s) < count:  # else they are nearer to each other anyway
        time_s = np.sort(np.concatenate([time_s, trajectory.time_s[1:-1]]))
    position, velocity, _ = sample(trajectory, time_s)
    return Sweep(
        robot=robot,
        position_rad=position,
        velocity_rad_s=velocity,
        frames=robot.kinematics.link_frames(position),
    )


SLACK_M = 5e-4
"""How much deeper than at its start a motion may break a rule, for noise and rounding [m]."""


def broken_at(depth: Array) -> int | None:
    """
    Return where along a motion a rule is broken most, None where it is kept.

    *depth* is how far beyond the rule, negative within it, shape (n,) [m]. NaN breaks it.
    """
    start = max(float(depth[0]), 0.0)
    worst = int(np.argmax(np.nan_to_num(depth, nan=np.inf)))
    if not float(depth[worst]) <= start + SLACK_M:
        return worst
    return len(depth) - 1 if start > SLACK_M and not float(depth[-1]) < start else None


def beyond(points_m: Array, low_m: Array, high_m: Array) -> Array:
    """Return how far points, shape (..., 3), are beyond the sides of a box, shape (..., 6) [m]."""
    return np.concatenate([low_m - points_m, points_m - high_m], axis=-1)


def solid_names(robot: RobotModel) -> tuple[str, ...]:
    """Return the body of each solid, in the order of `Sweep.lowest_m`."""
    return _solids(robot).names


def corners(size_m: Iterable[float], T_tcp_object: Array) -> Array:
    """Return the corners of a box in the tool's frame, shape (8, 3) [m]."""
    half = np.array(tuple(size_m)) / 2
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.asarray((signs * half) @ T_tcp_object[:3, :3].T + T_tcp_object[:3, 3])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Solids:
    """
    The solid shapes of the moving arm, m of them: centre (m, 4) [m] and axes (m, 3, 3) in a frame.

    `frame` is its index in `link_frames` (m,). They reach half_m along their axes (m, 3), with the
    rim of a cylinder (m,), rounded by radius_m (m,); ball_m (m,) is a ball around all of each.
    """

    names: tuple[str, ...]
    frame: Array
    centre: Array
    rotation: Array
    half_m: Array
    rim_m: Array
    radius_m: Array
    ball_m: Array


@cache
def _solids(robot: RobotModel) -> _Solids:
    hand = robot.hand
    # What moves and could go below the table, with its row of `link_frames`: links 0 and 1 stand
    # on it and turn. The fingers are described in the frame of the hand.
    moving = {name: i for i, name in enumerate(robot.links[2:], 1)}
    of_fingers = dict.fromkeys(hand.fingers, HAND)
    closed = _of_model(robot, robot.arm_model(0.0), {**moving, hand.body: HAND, **of_fingers})
    found = [*closed, *_of_model(robot, robot.arm_model(), of_fingers)]
    names, *columns = zip(*found, strict=True)
    frame, position, rotation, half, rim, radius = (np.array(column) for column in columns)
    return _Solids(
        names=names,
        frame=frame,
        centre=np.column_stack([position, np.ones(len(names))]),
        rotation=rotation,
        half_m=half,
        rim_m=rim,
        radius_m=radius,
        ball_m=np.linalg.norm(half, axis=1) + rim + radius,
    )


def _of_model(
    robot: RobotModel, model: mujoco.MjModel, frames: Mapping[str, int]
) -> list[tuple[Any, ...]]:
    kinds = mujoco.mjtGeom
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = []
    for i in range(model.ngeom):
        name = model.body(model.geom_bodyid[i]).name
        if name not in frames or not model.geom_contype[i] & _WORLD_BIT:
            continue
        base = model.body(robot.hand.body if name in robot.hand.fingers else name).id
        turn = data.xmat[base].reshape(3, 3).T
        position = turn @ (data.geom_xpos[i] - data.xpos[base])
        rotation = turn @ data.geom_xmat[i].reshape(3, 3)
        x, y, z = model.geom_size[i]
        shapes = {
            kinds.mjGEOM_BOX: ((x, y, z), 0.0, 0.0),
            kinds.mjGEOM_CAPSULE: ((0.0, 0.0, y), 0.0, x),
            kinds.mjGEOM_CYLINDER: ((0.0, 0.0, y), x, 0.0),
            kinds.mjGEOM_SPHERE: ((0.0, 0.0, 0.0), 0.0, x),
        }
        half, rim, radius = shapes[kinds(model.geom_type[i])]
        found.append((name, frames[name], position, rotation, half, rim, radius))
    return found
