"""
The simulated robot: physics, controllers, hand and faults on one clock.

`advance` is the only thing that makes time pass; commands may come from any thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, JointState
from bbllm.arm.model import MAX_WIDTH_M
from bbllm.core.types import Pose, SceneObject
from bbllm.sim.faults import MANUAL_TEXT, NETWORK_TEXT, Fault, FaultMonitor, RobotMode
from bbllm.sim.gripper import Gripper, GripperPending
from bbllm.sim.playback import Playback
from bbllm.sim.servo import Servo
from bbllm.sim.simulation import Simulation, Touch
from bbllm.sim.trajectory_controller import Setpoint, TrajectoryController, TrajectoryPending
from bbllm.sim.trajectory_goal import TrajectoryGoal

CONTROL_PERIOD_S = 0.01
"""How often controllers look at the state; set points between are precomputed [s]."""


class SimulatedRobot:
    """The FR3 with its driver's behaviour, in one process."""

    def __init__(self, simulation: Simulation) -> None:
        """Take over a simulation, which nobody else may step from now on."""
        self._simulation = simulation
        self._lock = threading.RLock()
        self._waiting = 0
        self._counter = threading.Lock()
        self._period = max(1, round(CONTROL_PERIOD_S / simulation.timestep_s))
        self._servo = Servo(*simulation.servo_gains)
        self._frozen: JointState | None = None
        self._make_controllers()

    @property
    def simulation(self) -> Simulation:
        """The physics; hold `paused` while reading several things that belong together."""
        return self._simulation

    @contextmanager
    def paused(self) -> Iterator[Simulation]:
        """Keep time from passing, for reading or drawing."""
        with self._command():
            yield self._simulation

    @property
    def time_s(self) -> float:
        """Simulated time [s]."""
        return self._simulation.time_s

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
        """Return the newest measured state; an old one while communication is lost."""
        with self._command() as simulation:
            return self._frozen or simulation.joint_state()

    def follow(self, goal: TrajectoryGoal) -> TrajectoryPending:
        """Send a goal to the trajectory controller."""
        with self._command():
            return self._controller.start(goal, *self._measured())

    def cancel_follow(self) -> None:
        """Cancel the trajectory goal; the arm brakes and holds."""
        with self._command():
            self._controller.cancel(*self._measured())

    def set_point(self) -> Setpoint:
        """Return where the trajectory controller wants the arm to be now."""
        with self._command():
            return self._controller.set_point(self.time_s)

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperPending:
        """Send the hand to a width."""
        with self._command() as simulation:
            return self._gripper.move(width_m, speed_m_s, simulation.width_m)

    def grasp(
        self,
        width_m: float,
        speed_m_s: float,
        force_n: float,
        epsilon_inner_m: float,
        epsilon_outer_m: float,
    ) -> GripperPending:
        """Send the hand to grasp something of a width; see `gripper.Gripper.grasp`."""
        with self._command() as simulation:
            return self._gripper.grasp(
                width_m,
                speed_m_s,
                force_n,
                epsilon_inner_m,
                epsilon_outer_m,
                simulation.width_m,
            )

    def home_gripper(self) -> GripperPending:
        """Let the hand find its widest opening."""
        with self._command() as simulation:
            return self._gripper.home(simulation.width_m)

    def stop_gripper(self) -> None:
        """Stop the hand; its goal ends as aborted, a grip is kept."""
        with self._command() as simulation:
            self._gripper.stop(simulation.width_m)

    def cancel_gripper(self) -> None:
        """Cancel the hand's goal: stops it, and the goal ends as canceled."""
        with self._command() as simulation:
            self._gripper.cancel(simulation.width_m)

    @property
    def max_width_m(self) -> float:
        """Widest opening of the hand, as last homed [m]."""
        return self._gripper.max_width_m

    @property
    def mode(self) -> RobotMode:
        """The robot's mode."""
        return self._monitor.mode(self._controller.active)

    @property
    def controllers_active(self) -> bool:
        """Whether the trajectory controller takes goals."""
        return self._controller.active

    @property
    def monitor(self) -> FaultMonitor:
        """Errors, thresholds and whether the hardware component is active."""
        return self._monitor

    def inject(self, fault: Fault) -> None:
        """Make something go wrong."""
        with self._command():
            if fault is Fault.REFLEX:
                self._monitor.trip('cartesian_reflex')
                self._deactivate()
            elif fault is Fault.USER_STOP:
                self._monitor.press_user_stop()
                self._deactivate()
            elif fault is Fault.DRIVER_HANG:
                self._frozen = self._simulation.joint_state()
                self._controller.hold_results = True
            elif fault is Fault.COMMUNICATION_LOSS:
                self._monitor.block('communication_constraints_violation', NETWORK_TEXT)
                self._deactivate()
            elif fault is Fault.JOINT_LIMIT:
                self._monitor.block('joint_position_limits_violation', MANUAL_TEXT)
                self._deactivate()
            elif fault is Fault.GRIPPER_FAIL:
                self._gripper.fail_next = True
            elif fault is Fault.GRIPPER_MISS:
                self._gripper.miss_next = True
            else:
                self._controller.hold_results = True

    def clear(self, fault: Fault) -> None:
        """Take a lasting fault back; a reflex has to be recovered from instead."""
        with self._command():
            if fault is Fault.USER_STOP:
                self._monitor.release_user_stop()
            elif fault is Fault.DRIVER_HANG:
                self._frozen = None
                self._controller.hold_results = False
            elif fault is Fault.ENDLESS_GOAL:
                self._controller.hold_results = False
            elif fault in (Fault.COMMUNICATION_LOSS, Fault.JOINT_LIMIT):
                self._monitor.unblock()
            elif fault is Fault.GRIPPER_FAIL:
                self._gripper.fail_next = False
            elif fault is Fault.GRIPPER_MISS:
                self._gripper.miss_next = False

    def recover_errors(self) -> str | None:
        """Error recovery, first of three steps; returns why it failed, None where it worked."""
        with self._command():
            return self._monitor.recover()

    def activate_hardware(self) -> bool:
        """Second step: the hardware component; False while an error is in force."""
        with self._command():
            self._monitor.hardware_active = self._monitor.healthy
            return self._monitor.hardware_active

    def activate_controllers(self) -> bool:
        """Third step: the controllers; False while the hardware is not active."""
        with self._command():
            if not self._monitor.hardware_active:
                return False
            self._controller.activate(*self._measured())
            return True

    def deactivate_controllers(self) -> None:
        """Take the trajectory controller down: the robot is idle then."""
        with self._command():
            self._deactivate()

    def set_load(self, mass_kg: float, centre_m: Array) -> bool:
        """
        Tell the robot what it carries; only when idle, as the real one.

        Args:
            mass_kg: Mass [kg].
            centre_m: Centre of mass in the flange frame, shape (3,) [m].
        """
        with self._command():
            if self._controller.active:
                return False
            half = np.sqrt(0.5)  # the hand is turned by -45 degrees against the flange
            R_hand_flange = np.array([[half, -half, 0], [half, half, 0], [0, 0, 1.0]])
            self._servo.set_load(mass_kg, R_hand_flange @ centre_m)
            self._playback.forget()
            return True

    def flange_wrench(self) -> Array:
        """Return what the world does to the hand, flange frame, shape (6,) [N, Nm]."""
        with self._command() as simulation:
            return simulation.flange_wrench()

    def objects(self) -> tuple[SceneObject, ...]:
        """Return tables, objects and locations as they are now."""
        with self._command() as simulation:
            return simulation.objects()

    def touches(self) -> tuple[Touch, ...]:
        """Return what touches what."""
        with self._command() as simulation:
            return simulation.touches()

    def set_object_pose(self, name: str, pose: Pose) -> None:
        """Put an object somewhere, at rest; raises UnknownNameError."""
        with self._command() as simulation:
            simulation.set_object_pose(name, pose)

    def set_object_mass(self, name: str, mass_kg: float) -> None:
        """Change an object's mass; raises UnknownNameError."""
        with self._command() as simulation:
            simulation.set_object_mass(name, mass_kg)

    def reset(self) -> None:
        """Put everything back to its start; what runs ends as when controllers go down."""
        with self._command() as simulation:
            self._controller.hold_results = False
            self._deactivate()
            self._gripper.stop(simulation.width_m)
            simulation.reset()
            self._make_controllers()

    def _make_controllers(self) -> None:
        self._controller = TrajectoryController(self._simulation.joint_state().position_rad)
        self._gripper = Gripper(MAX_WIDTH_M)
        self._monitor = FaultMonitor()
        self._frozen = None
        self._playback = Playback(self._simulation, self._servo, MAX_WIDTH_M)

    @contextmanager
    def _command(self) -> Iterator[Simulation]:
        """Take the lock from whoever advances."""
        with self._counter:
            self._waiting += 1
        with self._lock:
            with self._counter:
                self._waiting -= 1
            yield self._simulation

    def _advance(self, n: int) -> None:
        """Look at the state once, then step n times."""
        simulation = self._simulation
        duration_s = n * simulation.timestep_s
        if self._controller.busy:
            self._controller.check(*self._measured())
        command = self._gripper.update(duration_s, simulation.width_m, simulation.width_speed_m_s)
        simulation.limit_grip(command.force_n)
        self._playback.step(n, self._controller, command.width_m)
        if self._monitor.watch(
            duration_s, simulation.external_torque(), simulation.flange_wrench()
        ):
            self._deactivate()

    def _deactivate(self) -> None:
        self._controller.deactivate(*self._measured())

    def _measured(self) -> tuple[float, Array, Array]:
        """Return the clock, joint positions and velocities, also while nobody else hears them."""
        data = self._simulation.data
        return self.time_s, data.qpos[:N_JOINTS].copy(), data.qvel[:N_JOINTS].copy()
