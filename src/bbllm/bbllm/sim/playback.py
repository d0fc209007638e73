"""
What moves the simulated arm: set points computed ahead and played to the physics, one per step.

A position servo alone sags by millimetres and lags by centimetres. With velocity and torque
feed-forward put into its set point,

    ctrl = q + (kv dq + tau(q, dq, ddq)) / kp,

it follows to tenths of a millimetre. tau is inverse dynamics of the arm with hand and known load.
"""

import mujoco
import numpy as np

from bbllm.arm.controllers.ptp import PtpGoal, PtpMotion, PtpPending
from bbllm.arm.controllers.trajectory import Setpoint, TrajectoryController
from bbllm.arm.controllers.trajectory_goal import driver_constraints
from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.motion.trajectory import Spline
from bbllm.arm.robot_settings import Load, joined
from bbllm.robots.robot_model import RobotModel
from bbllm.sim.simulation import NO_SENSORS, Simulation

SPACING = 4
"""Inverse dynamics is computed for every so many-th sample, and interpolated between them."""


class Servo:
    """
    Turns desired joint motion into servo set points; stateless but for the known load.

    Stiffness and damping have shape (7,) [Nm/rad, Nm s/rad]; the physics needs the same.
    """

    def __init__(self, robot: RobotModel, stiffness: Array, damping: Array) -> None:
        self.stiffness, self.damping = stiffness, damping
        self._model = robot.arm_model(shapes=False)
        self._model.opt.disableflags |= NO_SENSORS
        self._data = mujoco.MjData(self._model)
        self._hand = int(self._model.body(robot.hand.body).id)
        self._bare = _load_of(self._model, self._hand)

    def set_load(self, load: Load) -> None:
        total = joined(self._bare, load)
        moments, axes = np.linalg.eigh(total.inertia_kg_m2)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        model, hand = self._model, self._hand
        model.body_mass[hand], model.body_ipos[hand] = total.mass_kg, total.centre_m
        model.body_inertia[hand] = moments
        mujoco.mju_mat2Quat(model.body_iquat[hand], np.ascontiguousarray(axes).ravel())

    def set_points(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Return the set points [rad] for desired motions, shape (n, 7) each; see `torque`."""
        return np.asarray(q + (self.damping * dq + self.torque(q, dq, ddq)) / self.stiffness)

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Return the torque [Nm] of motions, shape (n, 7) each [rad, rad/s, rad/s^2]."""
        n = len(q)
        knots = np.arange(0, n, SPACING)
        if knots[-1] != n - 1:
            knots = np.append(knots, n - 1)
        exact = np.empty((len(knots), N_JOINTS))
        model, data, inverse = self._model, self._data, mujoco.mj_inverse
        qpos, qvel, qacc, torque = data.qpos, data.qvel, data.qacc, data.qfrc_inverse
        for row, i in zip(exact, knots.tolist(), strict=True):
            qpos[:], qvel[:], qacc[:] = q[i], dq[i], ddq[i]
            inverse(model, data)
            row[:] = torque
        if len(knots) == n:
            return exact
        samples = np.arange(n)
        return np.column_stack([np.interp(samples, knots, column) for column in exact.T])


def _load_of(model: mujoco.MjModel, body: int) -> Load:
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    axes = turn.reshape(3, 3)
    return Load(
        mass_kg=float(model.body_mass[body]),
        centre_m=model.body_ipos[body].copy(),
        inertia_kg_m2=axes @ np.diag(model.body_inertia[body]) @ axes.T,
    )


AHEAD_S = 20.0
AFTER_S = 0.02
SPEEDING_RAD_S2 = 0.1
SOFTEST_NM_RAD = 1.0


class Playback:
    """
    Steps the physics along a motion.

    Set points do not depend on the state, so they are computed many at a time, those of most
    motions all at once: that costs a tenth of what computing them step by step would.
    """

    def __init__(self, simulation: Simulation, servo: Servo, width_m: float) -> None:
        self._simulation, self._servo, self._width_m = simulation, servo, width_m
        self._rows: Array = np.empty((0, N_JOINTS + 1))
        """Commands of the steps from `_start` on; the fingers' set point comes with the step."""
        self._start = 0
        self._motion: Spline | None = None
        self._whole = True

    def forget(self) -> None:
        """Compute the motion in force anew, as after a change of the known load."""
        self._motion = None

    def step(self, n: int, motion: Spline, width_m: float) -> None:
        """Step n times, the fingers' set point going evenly to a new width [m]."""
        simulation = self._simulation
        first = simulation.steps - self._start
        if self._motion is not motion or (not self._whole and first + n > len(self._rows)):
            self._plan(motion)
            first = 0
        ctrl = self._rows[first : first + n]
        if not len(ctrl) and width_m == self._width_m:  # nothing moves
            self._rows[-1, N_JOINTS] = width_m
            simulation.stand(self._rows[-1], n)
            return
        if len(ctrl) < n:
            ctrl = np.concatenate([ctrl, np.tile(self._rows[-1], (n - len(ctrl), 1))])
        if width_m == self._width_m:
            ctrl[:, N_JOINTS] = width_m
        else:
            share = np.arange(1, n + 1)
            ctrl[:, N_JOINTS] = self._width_m + (width_m - self._width_m) / n * share
            self._width_m = width_m
        simulation.step_along(ctrl)

    def _plan(self, motion: Spline) -> None:
        dt, now = self._simulation.timestep_s, self._simulation.steps
        left, ahead = round((motion.end_s + AFTER_S) / dt) - now, round(AHEAD_S / dt)
        count, self._whole = max(1, min(left, ahead)), left <= ahead
        # One more than needed: a step's damping acts on the velocity at its end.
        steps = np.arange(now, now + count + 1, dtype=np.float64)
        q, dq, ddq = motion.at(steps * dt)
        self._rows = np.empty((count, N_JOINTS + 1))
        arm = self._rows[:, :N_JOINTS]
        arm[:] = self._servo.set_points(q[:-1], dq[1:], ddq[:-1])
        effort = motion.effort_at(steps[:-1] * dt)
        if effort is not None:
            arm += effort / self._servo.stiffness
        self._start, self._motion = now, motion


class MotionController:
    """
    Drives the arm along the motion in force, on the clock of the physics.

    Either the trajectory controller moves the arm or the robot itself (a point-to-point motion);
    while neither does, the arm stays where the last of them left it.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._gains = simulation.servo_gains
        self._servo = Servo(simulation.robot_model, *self._gains)
        self.reset()

    def reset(self) -> None:
        """Start again where the arm is, with the stiffness of the servos and no goal."""
        self._set_stiffness(None)
        position = self._simulation.joint_state().position_rad
        robot = self._simulation.robot_model
        self.trajectory = TrajectoryController(robot, position, driver_constraints())
        self.ptp = PtpMotion(robot.limits)
        self._source: TrajectoryController | PtpMotion = self.trajectory
        width_m = self._simulation.width_set_point_m
        self._playback = Playback(self._simulation, self._servo, width_m)

    @property
    def moving(self) -> bool:
        return self.trajectory.active or self.ptp.busy

    def measured(self) -> tuple[float, Array, Array]:
        """Return the time and copies of joint positions and velocities, shape (7,)."""
        return self._simulation.time_s, *self._simulation.arm_state()

    def set_point(self) -> Setpoint:
        return Setpoint(*self._source.reference.at_one(self._simulation.time_s))

    def accelerating(self) -> bool:
        return bool(np.abs(self.set_point().acceleration_rad_s2).max() > SPEEDING_RAD_S2)

    def check(self) -> None:
        if self.trajectory.busy:
            self.trajectory.check(*self.measured())
        elif self.ptp.busy:
            self.ptp.check(self._simulation.time_s)

    def step(self, n: int, width_m: float) -> None:
        """Step the physics n times; the fingers' set point goes evenly to a width [m]."""
        self._playback.step(n, self._source.reference, width_m)

    def start_trajectory_control(self) -> None:
        """Activate the trajectory controller, with the stiffness of the servos."""
        self._set_stiffness(None)
        self.trajectory.activate(*self.measured())
        self._source = self.trajectory

    def start_ptp(self, goal: PtpGoal, stiffness: Array | None) -> PtpPending:
        """Start a point-to-point motion with a joint stiffness, shape (7,) [Nm/rad]."""
        q = self.set_point().position_rad
        self._set_stiffness(stiffness)
        pending = self.ptp.start(goal, self._simulation.time_s, q)
        self._source = self.ptp
        return pending

    def set_load(self, load: Load) -> None:
        self._servo.set_load(load)
        self._playback.forget()

    def _set_stiffness(self, stiffness: Array | None) -> None:
        """Set the stiffness of the servos, shape (7,) [Nm/rad]; None for their own."""
        kp, kv = self._gains
        if stiffness is not None:
            soft = np.maximum(stiffness, SOFTEST_NM_RAD)
            kp, kv = soft, kv * np.sqrt(soft / kp)  # the same damping ratio
        self._servo.stiffness, self._servo.damping = kp, kv
        self._simulation.set_servo_gains(kp, kv)
