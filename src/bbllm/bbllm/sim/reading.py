"""Wrenches, twist, load and frames of the simulated arm, as `robot_state` has them."""

import mujoco
import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.robot_settings import T_FLANGE_NOMINAL, Load, RobotSettings, joined
from bbllm.arm.robot_state import Mounted, RobotState
from bbllm.robots.robot_model import FLANGE_SITE, RobotModel
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation


def elbow_of(robot: RobotModel, q: Array) -> tuple[float, float]:
    """Return joint 3 [rad] and the flip of the elbow, positions of shape (7,) [rad]."""
    return float(q[2]), 1.0 if q[3] > robot.kinematics.stretched_rad else -1.0


def read_state(robot: SimulatedRobot) -> RobotState:
    """Return what a simulated robot reports."""
    with robot.paused() as simulation:
        measured, desired, monitor = simulation.joint_state(), robot.set_point(), robot.monitor
        torque_nm = simulation.data.actuator_force[:N_JOINTS].copy()
        return RobotState(
            robot_s=simulation.time_s,
            mode=robot.mode,
            success_rate=1.0,
            current_errors=monitor.errors,
            last_errors=monitor.last_errors,
            position_rad=measured.position_rad,
            velocity_rad_s=measured.velocity_rad_s,
            torque_nm=torque_nm,
            set_point_rad=desired.position_rad,
            set_point_rad_s=desired.velocity_rad_s,
            set_point_rad_s2=desired.acceleration_rad_s2,
            desired_nm=torque_nm - simulation.data.qfrc_bias[:N_JOINTS],
            external_nm=-monitor.external_torque_nm,
            contacts=monitor.contacts,
            collisions=monitor.collisions,
        )


def read_mounted(robot: SimulatedRobot, tool: Load) -> Mounted:
    """Return what is set in a simulated robot with this end effector."""
    settings = robot.settings
    return Mounted(
        tool=tool,
        load=settings.load,
        T_flange_ee=settings.flange_to_ee,
        T_ee_stiffness=settings.T_ee_stiffness,
    )


def read_wrenches(robot: SimulatedRobot) -> tuple[Array, Array]:
    """Return the wrenches of a simulated robot as `wrenches_of`."""
    with robot.paused() as simulation:
        return wrenches_of(simulation, robot.settings)


def wrenches_of(simulation: Simulation, settings: RobotSettings) -> tuple[Array, Array]:
    """
    Return the wrenches `k_f_ext` and `o_f_ext` on the stiffness frame, shape (6,) [N, Nm].

    Both are what the robot does to the world, at the origin of the stiffness frame: in its axes,
    and in those of the base frame.
    """
    T_flange_k = settings.flange_to_stiffness
    # libfranka counts what the robot does to the world as positive, not what is done to it.
    wrench = -_moved(simulation.flange_wrench(), T_flange_k)
    R = T_flange_k[:3, :3]
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
    return joined(*parts)


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


def tool_twist(robot: RobotModel, q: Array, dq: Array, flange: Array, T_flange_ee: Array) -> Array:
    """Return the twist of the tool, which may lie elsewhere than between the finger tips."""
    twist = robot.kinematics.jacobian(q) @ dq
    arm = (flange @ T_flange_ee - flange @ T_FLANGE_NOMINAL)[:3, 3]
    twist[:3] += _cross(twist[3:], arm)
    return np.asarray(twist)
