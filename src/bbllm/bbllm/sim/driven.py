"""
The arm of the simulated robot: what moves it, on one clock with the physics.

Either the trajectory controller moves it or the robot itself (a point-to-point motion); when
neither does, it holds where the last of them left it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, JointState
from bbllm.arm.limits import Q_MAX, Q_MIN
from bbllm.arm.model import FLANGE_SITE, MAX_WIDTH_M
from bbllm.sim.constraints import driver_constraints
from bbllm.sim.faults import Fault, FaultMonitor
from bbllm.sim.goal_log import GoalSeen
from bbllm.sim.gripper import Gripper
from bbllm.sim.hand import HandedSimulation
from bbllm.sim.playback import Motion, Playback
from bbllm.sim.ptp import BUSY_TEXT, LIMIT_ERROR, PtpGoal, PtpMotion, PtpPending, fault_of
from bbllm.sim.servo import Servo
from bbllm.sim.settings import MODE_NAMES, MODE_TEXT, Settings
from bbllm.sim.simulation import Simulation
from bbllm.sim.trajectory_controller import (
    Query,
    Setpoint,
    TrajectoryController,
    TrajectoryPending,
)
from bbllm.sim.trajectory_goal import TrajectoryGoal

CONTROL_PERIOD_S = 0.01
"""How often controllers look at the state; set points between are precomputed [s]."""
SPEEDING_RAD_S2 = 0.1
"""Above this the arm counts as accelerating, for the collision thresholds [rad/s^2]."""
SOFTEST_NM_RAD = 1.0
"""A joint stiffness of less is simulated as this one [Nm/rad]."""


class DrivenSimulation(HandedSimulation, ABC):
    """A simulation whose arm and hand take goals; faults and life cycles come with `robot`."""

    def __init__(
        self,
        simulation: Simulation,
        *,
        homed: bool = True,
        on_goal: Callable[[GoalSeen], None] | None = None,
    ) -> None:
        """Take over a simulation; see `sim.robot.SimulatedRobot`."""
        super().__init__(simulation, homed=homed, on_goal=on_goal)
        self._period = max(1, round(CONTROL_PERIOD_S / simulation.timestep_s))
        self._gains = simulation.servo_gains
        self._servo = Servo(*self._gains)
        self.on_force: Callable[[Array, float, float], None] | None = None
        """Told of the wrist sensor every 10 ms, in the thread that advances: what the world does
        to the hand, in world axes, shape (3,) [N]; the stamp [s]; the speed of the fastest
        joint [rad/s]."""
        self._motion: Motion
        """What the arm follows now."""
        self._make_controllers()

    def advance(self, duration_s: float) -> None:
        """
        Let simulated time pass, in whole physics steps.

        Raises:
            WorldError: The physics became unstable.
        """
        left = round(duration_s / self._simulation.timestep_s)
        while left > 0:
            n = min(left, self._period)
            with self._lock:
                self._advance(n)
            left -= n
            while self._waiting:
                time.sleep(5e-5)  # give the lock to who asked for it

    def joint_state(self) -> JointState:
        """Return the newest measured state; an old one while the driver hangs."""
        with self._command() as simulation:
            return self._frozen or simulation.joint_state()

    def follow(self, goal: TrajectoryGoal) -> TrajectoryPending:
        """Send a goal to the trajectory controller."""
        with self._command():
            self._note_trajectory(goal, 'follow_joint_trajectory')
            return self._controller.start(goal, *self._measured())

    def refuse(self, goal: TrajectoryGoal) -> str | None:
        """Return why a goal would be rejected, and keep it in the log; None: `follow` it."""
        with self._command():
            reason = self._controller.refusal(goal, self.time_s)
            if reason:
                self.note_goal('follow_joint_trajectory', refused=reason, trajectory=goal)
            return reason

    def replace_trajectory(self, goal: TrajectoryGoal) -> str | None:
        """Follow a trajectory from the topic; returns why it is ignored, if it is."""
        with self._command():
            self._note_trajectory(goal, 'joint_trajectory')
            return self._controller.replace(goal, *self._measured())

    def cancel_follow(self) -> None:
        """Cancel the trajectory goal; the arm brakes and holds."""
        with self._command():
            self._controller.cancel(*self._measured())

    def query_trajectory(self, time_s: float) -> Query | None:
        """Say where the trajectory in force is at a time [s]; None without a controller."""
        with self._command():
            _, q, dq = self._measured()
            return self._controller.query(time_s, q, dq)

    def move_to(self, goal: PtpGoal) -> PtpPending | str:
        """Let the robot itself plan and drive a motion; returns why it does not, if so."""
        with self._command():
            reason = self._ptp_refusal(goal)
            self.note_goal('ptp_motion', refused=reason)
            if reason:
                return reason
            q = self.set_point().position_rad
            self._use_gains(self.settings.joint_stiffness)
            pending = self._ptp.start(goal, self.time_s, q)
            self._motion = self._ptp
            outside = (np.array(goal.position_rad) > Q_MAX) | (goal.position_rad < Q_MIN)
            if outside.any():
                self._monitor.trip(LIMIT_ERROR)
                self._stop_motion()
            return pending

    def set_point(self) -> Setpoint:
        """Return where the arm is meant to be now."""
        with self._command():
            q, dq, ddq = self._motion.sample(np.array([self.time_s]))
            return Setpoint(q[0], dq[0], ddq[0])

    @property
    def trajectory_time_s(self) -> float:
        """How long the trajectory controller has been at its trajectory [s]."""
        return self.time_s - self._controller.origin_s

    def _make_controllers(self) -> None:
        """Start anew, with everything active and nothing asked of an idle robot."""
        position = self._simulation.joint_state().position_rad
        self._use_gains(None)
        self.settings = Settings()
        """What clients have told an idle robot."""
        self._controller = TrajectoryController(position, driver_constraints())
        self._ptp = PtpMotion()
        self._motion = self._controller
        self._gripper = Gripper(MAX_WIDTH_M, homed=self._homed)
        self._monitor = FaultMonitor()
        self._frozen: JointState | None = None
        self._held_back: frozenset[Fault] = frozenset()
        self._tell_load()
        self._playback = Playback(self._simulation, self._servo, MAX_WIDTH_M)

    def _advance(self, n: int) -> None:
        """Look at the state once, then step n times."""
        simulation = self._simulation
        duration_s = n * simulation.timestep_s
        if self._controller.busy:
            self._controller.check(*self._measured())
        elif self._ptp.busy:
            self._ptp.check(self.time_s)
        command = self._gripper.update(duration_s, simulation.width_m, simulation.width_speed_m_s)
        simulation.limit_grip(command.force_n)
        self._playback.step(n, self._motion, command.width_m)
        speeding = self._monitor.has_phases and self._speeding()
        wrench = simulation.flange_wrench()
        if self.on_force is not None:
            R_world_flange = simulation.data.site(FLANGE_SITE).xmat.reshape(3, 3)
            fastest_rad_s = float(np.abs(simulation.data.qvel[:N_JOINTS]).max())
            self.on_force(R_world_flange @ wrench[:3], self.time_s, fastest_rad_s)
        if self._monitor.watch(
            duration_s,
            simulation.external_torque(),
            wrench,
            accelerating=speeding,
            moving=self._controller.active or self._ptp.busy,
        ):
            self._stop_motion()

    @abstractmethod
    def _stop_motion(self) -> None:
        """Do what an error or the user stop does to whatever moves the arm."""

    def _speeding(self) -> bool:
        return bool(np.abs(self.set_point().acceleration_rad_s2).max() > SPEEDING_RAD_S2)

    def _ptp_refusal(self, goal: PtpGoal) -> str:
        if self._controller.active:
            return BUSY_TEXT
        if not self._monitor.healthy:
            return MODE_TEXT.format('Move', MODE_NAMES[self.mode])
        return fault_of(goal)

    def _use_gains(self, stiffness: Array | None) -> None:
        """Let the servos have a stiffness, shape (7,) [Nm/rad]; None for their own."""
        kp, kv = self._gains
        if stiffness is not None:
            soft = np.maximum(stiffness, SOFTEST_NM_RAD)
            kp, kv = soft, kv * np.sqrt(soft / kp)  # damped as well as with the servos' own
        self._servo.set_gains(kp, kv)
        self._simulation.set_servo_gains(kp, kv)

    def _tell_load(self) -> None:
        """Let the servos know what the robot was told that it carries."""
        self._servo.set_load(*self.settings.load.in_hand())

    def _note_trajectory(self, goal: TrajectoryGoal, kind: str) -> None:
        refused = self._controller.refusal(goal, self.time_s) or ''
        self.note_goal(kind, refused=refused, trajectory=goal)

    def _measured(self) -> tuple[float, Array, Array]:
        """Return the clock, joint positions and velocities, also while nobody else hears them."""
        data = self._simulation.data
        return self.time_s, data.qpos[:N_JOINTS].copy(), data.qvel[:N_JOINTS].copy()
