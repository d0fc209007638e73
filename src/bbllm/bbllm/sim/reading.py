"""The content of `robot_state` at one moment, read from physics."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import N_JOINTS, Array, RobotMode
from bbllm.arm.kinematics import jacobian, link_frames
from bbllm.arm.model import FLANGE_SITE
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.robot_settings import T_FLANGE_NOMINAL, Load, joined
from bbllm.sim.simulation import Simulation

FLANGE = 7
"""Index of fr3_link8 in `link_frames`."""
STRETCHED_RAD = -0.467002423653011
"""Joint 4 where the arm is fully extended: the elbow flips there [rad]."""
TOOL_BODIES = ('fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger')


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotReading:
    """
    One reading; names are those of franka_msgs/FrankaRobotState where it has them.

    Of the joints (q, dq, ddq, torque) shape (7,) [rad, rad/s, rad/s^2, Nm], with _d as desired.
    Poses have shape (4, 4): o is the base, f the flange, ee the tool, k the stiffness frame.
    Wrenches and twists have shape (6,), linear first.
    """

    stamp_s: float
    """On the robot's clock [s]."""
    q: Array
    dq: Array
    torque_nm: Array
    """Gravity included."""
    q_d: Array
    dq_d: Array
    ddq_d: Array
    torque_d_nm: Array
    """Without gravity."""
    external_torque_nm: Array
    """What the robot does to the world through its joints, filtered."""
    o_t_ee: Array
    """Pose of the tool in the base frame."""
    o_t_ee_d: Array
    f_t_ee: Array
    ee_t_k: Array
    o_dp_ee_d: Array
    """Twist of the tool, base frame [m/s, rad/s]."""
    k_f_ext: Array
    """What the robot does to the world at the stiffness frame, in its axes [N, Nm]."""
    o_f_ext: Array
    """The same in the axes of the base frame, about the stiffness frame's origin."""
    contacts: NDArray[np.bool_]
    """Above the lower threshold: joints, then force and torque, shape (13,)."""
    collisions: NDArray[np.bool_]
    """Above the upper one, shape (13,)."""
    load: Load
    mode: RobotMode
    errors: tuple[str, ...]
    """Fields of franka_msgs/Errors that are set now."""
    last_errors: tuple[str, ...]
    """Those that ended the last motion."""

    @property
    def elbow(self) -> tuple[float, float]:
        """Joint 3 [rad] and which way the elbow points, 1 or -1."""
        return elbow_of(self.q)

    @property
    def elbow_d(self) -> tuple[float, float]:
        return elbow_of(self.q_d)


def elbow_of(q: Array) -> tuple[float, float]:
    """Return joint 3 [rad] and the flip of the elbow, positions of shape (7,) [rad]."""
    return float(q[2]), 1.0 if q[3] > STRETCHED_RAD else -1.0


def read_robot(robot: SimulatedRobot) -> RobotReading:
    with robot.paused() as simulation:
        data, monitor, settings = simulation.data, robot.monitor, robot.settings
        state, wanted = simulation.joint_state(), robot.set_point()
        torque = data.actuator_force[:N_JOINTS].copy()
        gravity = data.qfrc_bias[:N_JOINTS].copy()
        q, q_d = state.position_rad, wanted.position_rad
        T_flange_ee = settings.flange_to_ee
        flange, flange_d = link_frames(np.array([q, q_d]))[:, FLANGE]
        k_f_ext, o_f_ext = _wrenches(simulation, flange, settings.flange_to_stiffness)
        return RobotReading(
            stamp_s=state.stamp_s,
            q=q,
            dq=state.velocity_rad_s,
            torque_nm=torque,
            q_d=q_d,
            dq_d=wanted.velocity_rad_s,
            ddq_d=wanted.acceleration_rad_s2,
            torque_d_nm=torque - gravity,
            external_torque_nm=-monitor.external_torque_nm,
            o_t_ee=flange @ T_flange_ee,
            o_t_ee_d=flange_d @ T_flange_ee,
            f_t_ee=T_flange_ee,
            ee_t_k=settings.T_ee_stiffness,
            o_dp_ee_d=_tool_twist(q_d, wanted.velocity_rad_s, flange_d, T_flange_ee),
            k_f_ext=k_f_ext,
            o_f_ext=o_f_ext,
            contacts=monitor.contacts,
            collisions=monitor.collisions,
            load=settings.load,
            mode=robot.mode,
            errors=monitor.errors,
            last_errors=monitor.last_errors,
        )


def read_wrenches(robot: SimulatedRobot) -> tuple[float, Array, Array]:
    """Return time and wrenches of a reading, `k_f_ext` and `o_f_ext`, without the rest of it."""
    with robot.paused() as simulation:
        q = simulation.joint_state().position_rad
        flange = link_frames(q[None])[0, FLANGE]
        T_flange_k = robot.settings.flange_to_stiffness
        return simulation.time_s, *_wrenches(simulation, flange, T_flange_k)


def tool_load(simulation: Simulation) -> Load:
    """Return the load of hand and fingers as they are, in the flange frame."""
    data, model = simulation.data, simulation.model
    site = data.site(FLANGE_SITE)
    R, origin = site.xmat.reshape(3, 3).T, site.xpos  # R_flange_world
    parts = []
    for name in TOOL_BODIES:
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


def _wrenches(simulation: Simulation, flange: Array, T_flange_k: Array) -> tuple[Array, Array]:
    """Return the wrench on the stiffness frame, in its axes and in those of the base frame."""
    # libfranka counts what the robot does to the world as positive, not what is done to it.
    wrench = -_moved(simulation.flange_wrench(), T_flange_k)
    R_base_k = (flange @ T_flange_k)[:3, :3]
    return wrench, np.concatenate([R_base_k @ wrench[:3], R_base_k @ wrench[3:]])


def _moved(wrench: Array, T: Array) -> Array:
    """Return a wrench of the flange frame in another frame and about its origin."""
    R, p = T[:3, :3].T, T[:3, 3]
    return np.concatenate([R @ wrench[:3], R @ (wrench[3:] - np.cross(p, wrench[:3]))])


def _tool_twist(q: Array, dq: Array, flange: Array, T_flange_ee: Array) -> Array:
    """Return the twist of the tool, which may lie elsewhere than between the finger tips."""
    twist = jacobian(q) @ dq
    arm = (flange @ T_flange_ee - flange @ T_FLANGE_NOMINAL)[:3, 3]
    twist[:3] += np.cross(twist[3:], arm)
    return np.asarray(twist)
