"""
The arm of the simulated table as a backend of franka-sim: one step of 1 ms for each state sent.

What moves the arm is decided by commands of the protocol: joint positions and velocities, poses
and twists of the tool, torques. As in the robot, all but torques become a reference of joint
positions that the same servos follow which follow our own trajectories (`sim.playback`).
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
from franka_sim.cartesian_ik import CartesianJointSolver
from franka_sim.control_modes import ControlMode

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.motion.trajectory import Spline
from bbllm.arm.robot_settings import T_FLANGE_NOMINAL, Order, RobotSettings
from bbllm.robots.robot_model import FLANGE_SITE, RobotModel
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.faults import FaultMonitor
from bbllm.sim.gripper import Gripper
from bbllm.sim.playback import Servo
from bbllm.sim.reading import tool_load, wrenches_of
from bbllm.sim.simulation import Simulation

PERIOD_S = 0.001
"""Of the protocol: a state, the client's answer, and a step of the physics."""
SLOW_RAD_S = 0.02
"""Below this, friction of the joints is compensated in part only, so that it does not chatter."""
NEAR_RAD = 0.001
"""Up to this far from its reference, an arm is not held back by anything [rad]."""


class TableArm:
    """Physics, servos, hand and thresholds; implements what franka-sim calls a physics backend."""

    enable_vis = False
    """Asked for by franka-sim, whose viewer is not used."""

    def __init__(self, scene: SceneFile) -> None:
        """Put everything at its start; nothing moves before `step`."""
        self.simulation = Simulation(scene, timestep_s=PERIOD_S)
        self._lock = threading.RLock()
        robot = self.robot_model
        self._gains = self.simulation.servo_gains
        self._servo = Servo(robot, *self._gains)
        self._solver = CartesianJointSolver(_Tool(robot, lambda: self._T_flange_ee))
        self.monitor = FaultMonitor()
        self.on_collision: Callable[[Sequence[str]], None] = lambda errors: None
        """Called with the names of the errors when a force exceeds its threshold."""
        self.in_control: Callable[[], bool] = lambda: False
        """Whether a client moves the arm: an idle one has no reflexes."""
        self.ended = False
        """Set when nothing lets time pass any more."""
        self.tool = tool_load(self.simulation)
        self._T_flange_ee: Array = T_FLANGE_NOMINAL
        self._jacobian = np.zeros((6, self.simulation.model.nv))
        self._flange = int(self.simulation.model.site(FLANGE_SITE).id)
        self._start()

    def _start(self) -> None:
        hand = self.robot_model.hand
        self.settings = RobotSettings()
        self.gripper = Gripper(hand, hand.max_width_m)
        self._mode = ControlMode.POSITION
        self._q_d, _ = self.simulation.arm_state()
        self._dq_d, self._begins = np.zeros(N_JOINTS), True
        self._target: Array | None = None
        self._command: Any = None
        self._elbow: float | None = None
        self._brake: Spline | None = None
        self._torque = np.zeros(N_JOINTS)
        self._tau = np.zeros(N_JOINTS)
        self._steered(False)
        self._snapshot = self._read()

    @property
    def robot_model(self) -> RobotModel:
        return self.simulation.robot_model

    @contextmanager
    def paused(self) -> Iterator[Simulation]:
        """Keep time from passing, to read, change or command."""
        with self._lock:
            yield self.simulation

    def reset(self) -> None:
        """Put arm, hand and objects back to their start; thresholds stay."""
        with self._lock:
            self.simulation.reset()
            self._start()

    def initialize_simulation(self) -> None:
        """Part of the contract; the model is compiled already."""

    def start(self) -> None:
        """Part of the contract; `FciTable` lets time pass."""

    def stop(self) -> None:
        """Part of the contract; there is nothing to close."""

    def get_robot_state(self) -> dict[str, Any]:
        """Return the state after the last step, by the names of the protocol's fields."""
        return self._snapshot

    def set_control_mode(self, mode: ControlMode) -> None:
        """Begin another kind of motion from the reference in force."""
        with self._lock:
            if self._mode is ControlMode.TORQUE and mode is not ControlMode.TORQUE:
                self._q_d, _ = self.simulation.arm_state()
            self._mode, self._command, self._elbow = mode, None, None
            if mode is not ControlMode.POSITION:
                self._brake = None
            self._dq_d, self._begins = np.zeros(N_JOINTS), True
            self._steered(mode is ControlMode.TORQUE)

    def brake(self) -> None:
        """
        Come to rest from the reference, or from the measured motion where something holds the arm.

        So the next motion begins at the reference in force, as the one of our driver does.
        """
        with self._lock:
            q, dq = self.simulation.arm_state()
            if np.abs(q - self._q_d).max() < NEAR_RAD and self._mode is not ControlMode.TORQUE:
                q, dq = self._q_d, self._dq_d
            now_s = self.simulation.time_s
            self._brake = Spline.braking(self.robot_model.limits, q, dq, now_s)

    def rest_rad(self) -> list[float]:
        """Return the joint positions that the reference comes to rest at, 7 numbers [rad]."""
        with self._lock:
            rest = self._q_d if self._brake is None else self._brake.end_rad
            return [float(angle) for angle in rest]

    def update_joint_positions(self, q: Sequence[float]) -> None:
        with self._lock:
            self._target, self._brake = np.array(q, dtype=np.float64), None

    def update_joint_velocities(self, dq: Sequence[float]) -> None:
        self._command = np.array(dq, dtype=np.float64)

    def update_torques(self, torque: Sequence[float]) -> None:
        """Set torques, shape (7,), to which those of gravity and friction are added [Nm]."""
        self._torque = np.array(torque, dtype=np.float64)

    def update_cartesian_pose(self, pose: Sequence[float], elbow: float | None) -> None:
        """Set the tool's pose in the base frame, 16 numbers by columns, and joint 3 [rad]."""
        self._command, self._elbow = np.array(pose).reshape(4, 4).T, elbow

    def update_cartesian_velocity(self, twist: Sequence[float], elbow: float | None) -> None:
        """Set the tool's twist in the base frame, shape (6,) [m/s, rad/s], and joint 3 [rad]."""
        self._command, self._elbow = np.array(twist), elbow

    def update_ee_transform(self, F_T_EE: Sequence[float]) -> None:
        self._T_flange_ee = np.array(F_T_EE, dtype=np.float64).reshape(4, 4).T

    def order(self, order: Order) -> str:
        """Change a setting; return why it is refused, or ''."""
        with self._lock:
            reason = order.carry_out(self.settings, self.monitor)
            self._servo.set_load(self.settings.load.in_hand())
            return reason

    def joint_space_solver(self) -> CartesianJointSolver:
        """Return a solver of its own for franka-sim's checks of Cartesian motions."""
        return CartesianJointSolver(_Tool(self.robot_model, lambda: self._T_flange_ee))

    def step(self) -> None:
        """Let 1 ms pass; raises WorldError if the physics is unstable."""
        with self._lock:
            simulation = self.simulation
            width = self.gripper.update(PERIOD_S, simulation.width_m, simulation.width_speed_m_s)
            simulation.limit_grip(width.force_n)
            ctrl = np.empty(N_JOINTS + 1)
            ctrl[N_JOINTS] = width.width_m
            if self._mode is ControlMode.TORQUE:
                ctrl[:N_JOINTS] = 0.0
                simulation.data.qfrc_applied[:N_JOINTS] = self._torque + self._compensation()
            else:
                ctrl[:N_JOINTS] = self._servo.set_points(*self._reference())[0]
            simulation.hold(ctrl)
            simulation.step()
            errors = self._collisions()
            self._snapshot = self._read()
        if errors:
            self.on_collision(errors)

    def _steered(self, by_torque: bool) -> None:
        kp, kv = self._servo.stiffness, self._servo.damping
        off = np.zeros(N_JOINTS)
        self.simulation.set_servo_gains(*((off, off) if by_torque else (kp, kv)))
        self.simulation.data.qfrc_applied[:N_JOINTS] = 0.0

    def _reference(self) -> tuple[Array, Array, Array]:
        """Advance the reference by a step; return position, velocity, acceleration, (1, 7)."""
        now_s, was, dq_was = self.simulation.time_s, self._q_d, self._dq_d
        if self._brake is not None:
            q, dq, ddq = self._brake.at(np.array([now_s]))
            self._q_d, self._dq_d = q[0], dq[0]
            return q, dq, ddq
        if self._mode is ControlMode.POSITION and self._target is not None:
            self._q_d = self._target
        elif self._command is not None:
            self._q_d = self._commanded()
        limits = self.robot_model.limits
        dq = (self._q_d - was) / PERIOD_S
        if self._begins:  # at the measured joints, not at the reference
            dq, self._begins = np.zeros(N_JOINTS), self._q_d is was
        dq = np.clip(dq, -limits.velocity_rad_s, limits.velocity_rad_s)
        most = limits.acceleration_rad_s2
        ddq = np.clip((dq - dq_was) / PERIOD_S, -most, most)
        self._dq_d = dq
        return self._q_d[None], dq[None], ddq[None]

    def _commanded(self) -> Array:
        command, q = self._command, self._q_d
        if self._mode is ControlMode.CARTESIAN_POSE:
            return np.asarray(self._solver.solve_pose(command, q, self._elbow)[0])
        if self._mode is ControlMode.CARTESIAN_VELOCITY:
            command = self._solver.joint_velocity(q, command, self._elbow)
        return np.asarray(q + command * PERIOD_S)

    def _compensation(self) -> Array:
        """Return what the robot adds to torques: for gravity and friction, shape (7,) [Nm]."""
        model, (q, dq) = self.simulation.model, self.simulation.arm_state()
        still = np.zeros((1, N_JOINTS))
        friction = model.dof_damping[:N_JOINTS] * dq
        friction += model.dof_frictionloss[:N_JOINTS] * np.tanh(dq / SLOW_RAD_S)
        return np.asarray(self._servo.torque(q[None], still, still)[0] + friction)

    def _collisions(self) -> Sequence[str]:
        simulation, monitor = self.simulation, self.monitor
        over = monitor.watch(
            PERIOD_S,
            simulation.external_torque(),
            simulation.exact_wrench(),
            accelerating=monitor.has_phases and bool(np.abs(self._dq_d).max() > 0.0),
            moving=self.in_control(),
        )
        return monitor.errors if over else ()

    def _read(self) -> dict[str, Any]:
        simulation, monitor = self.simulation, self.monitor
        data, before = simulation.data, self._tau
        q, dq = simulation.arm_state()
        self._tau = data.actuator_force[:N_JOINTS] + data.qfrc_applied[:N_JOINTS]
        flange = np.eye(4)
        flange[:3, :3] = data.site_xmat[self._flange].reshape(3, 3)
        flange[:3, 3] = data.site_xpos[self._flange]
        pose = flange @ self._T_flange_ee
        body = int(simulation.model.site_bodyid[self._flange])
        rows = self._jacobian
        mujoco.mj_jac(simulation.model, data, rows[:3], rows[3:], pose[:3, 3], body)
        jacobian = rows[:, :N_JOINTS].copy()
        at_tool, in_base = wrenches_of(simulation, self.settings)
        contacts, collisions = (
            flags.astype(float).tolist() for flags in (monitor.contacts, monitor.collisions)
        )
        return {
            'q': q.tolist(),
            'dq': dq.tolist(),
            'tau_J': self._tau.tolist(),
            'dtau_J': ((self._tau - before) / PERIOD_S).tolist(),
            'tau_ext_hat_filtered': (-monitor.external_torque_nm).tolist(),
            'K_F_ext_hat_K': at_tool.tolist(),
            'O_F_ext_hat_K': in_base.tolist(),
            'joint_contact': contacts[:N_JOINTS],
            'cartesian_contact': contacts[N_JOINTS:],
            'joint_collision': collisions[:N_JOINTS],
            'cartesian_collision': collisions[N_JOINTS:],
            'O_T_EE': pose.T.ravel().tolist(),
            'O_dP_EE': jacobian[:3] @ dq,
            'O_J_EE': jacobian,
        }


class _Tool:
    """Kinematics of the tool on data of its own: franka-sim asks from other threads."""

    def __init__(self, robot: RobotModel, T_flange_ee: Callable[[], Array]) -> None:
        self._model = robot.arm_model(shapes=False)
        self._data = mujoco.MjData(self._model)
        self._flange = int(self._model.site(FLANGE_SITE).id)
        self._body = int(self._model.site_bodyid[self._flange])
        self._T_flange_ee = T_flange_ee

    def __call__(self, q: Array) -> tuple[Array, Array]:
        """Return pose, shape (4, 4), and Jacobian, shape (6, 7), in the base frame."""
        model, data = self._model, self._data
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        flange = np.eye(4)
        flange[:3, :3] = data.site_xmat[self._flange].reshape(3, 3)
        flange[:3, 3] = data.site_xpos[self._flange]
        pose = flange @ self._T_flange_ee()
        rows = np.zeros((6, N_JOINTS))
        mujoco.mj_jac(model, data, rows[:3], rows[3:], pose[:3, 3], self._body)
        return pose, rows
