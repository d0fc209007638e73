"""Wrenches, load and frames of the simulated arm, as `robot_state` has them."""

from dataclasses import dataclass

import mujoco
import numpy as np

from bbllm.arm.driver import Array
from bbllm.robots.robot_model import FLANGE_SITE, RobotModel
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation

_HALF = np.sqrt(0.5)
T_FLANGE_TOOL: Array = np.array(
    [[_HALF, _HALF, 0, 0], [-_HALF, _HALF, 0, 0], [0, 0, 1, 0.1034], [0, 0, 0, 1.0]]
)
"""The tool between the finger tips, which is turned by -45 degrees against the flange."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A mass in the flange frame; shape (3,) [m] and, about its centre, (3, 3) [kg m^2]."""

    mass_kg: float
    centre_m: Array
    inertia_kg_m2: Array


def elbow_of(robot: RobotModel, q: Array) -> tuple[float, float]:
    """Return joint 3 [rad] and the flip of the elbow, positions of shape (7,) [rad]."""
    return float(q[2]), 1.0 if q[3] > robot.kinematics.stretched_rad else -1.0


def read_wrenches(robot: SimulatedRobot) -> tuple[Array, Array]:
    """
    Return the wrenches `k_f_ext` and `o_f_ext` on the tool, shape (6,) [N, Nm].

    Both are what the robot does to the world, at the tool: in its axes, which are those of the
    stiffness frame, and in those of the base frame.
    """
    with robot.paused() as simulation:
        # libfranka counts what the robot does to the world as positive, not what is done to it.
        wrench = -_moved(simulation.flange_wrench(), T_FLANGE_TOOL)
        R = T_FLANGE_TOOL[:3, :3]
        in_base = (simulation.to_world(R @ wrench[:3]), simulation.to_world(R @ wrench[3:]))
    return wrench, np.concatenate(in_base)


def tool_load(simulation: Simulation) -> Load:
    """Return the load of hand and fingers as they are, in the flange frame."""
    data, model, hand = simulation.data, simulation.model, simulation.robot_model.hand
    site = data.site(FLANGE_SITE)
    R, origin = site.xmat.reshape(3, 3).T, site.xpos  # R_flange_world
    parts = []
    for name in (hand.body, *hand.fingers):
        body = int(model.body(name).id)
        axes = R @ data.ximat[body].reshape(3, 3)
        inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
        parts.append(Load(
            mass_kg=float(model.body_mass[body]),
            centre_m=R @ (data.xipos[body] - origin),
            inertia_kg_m2=inertia,
        ))  # fmt: skip
    mass = sum(part.mass_kg for part in parts)
    centre = sum((part.mass_kg * part.centre_m for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        way = part.centre_m - centre
        inertia += part.inertia_kg_m2
        inertia += part.mass_kg * (way @ way * np.eye(3) - np.outer(way, way))
    return Load(mass_kg=mass, centre_m=centre, inertia_kg_m2=inertia)


def quat_xyzw(T: Array) -> list[float]:
    wxyz = np.empty(4)
    mujoco.mju_mat2Quat(wxyz, np.ascontiguousarray(T[:3, :3]).ravel())
    w, x, y, z = wxyz.tolist()
    return [x, y, z, w]


def _moved(wrench: Array, T: Array) -> Array:
    """Return a wrench of the flange frame in another frame and about its origin."""
    R, p = T[:3, :3].T, T[:3, 3]
    return np.concatenate([R @ wrench[:3], R @ (wrench[3:] - _cross(p, wrench[:3]))])


def _cross(a: Array, b: Array) -> Array:
    """Return the product of two vectors of shape (3,); numpy's takes ten times as long."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
