"""
The simulated robot: physics, controllers, hand and faults on one clock.

Time passes in `advance` only; commands may come from any thread. What a stop does, and what it
takes to bring the arm back, is what franka_hardware and ros2_control do: read from franka_ros2
3.4, libfranka 0.21 and ros2_control on Jazzy.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from bbllm.arm.controllers.manager import (
    ARM_CONTROLLER,
    KINDS,
    ControllerManager,
    LifeCycle,
    Switched,
)
from bbllm.arm.controllers.pending import GripperPending, Pending, TrajectoryPending
from bbllm.arm.controllers.ptp import (
    BUSY_TEXT,
    LIMIT_ERROR,
    REFLEX_TEXT,
    USER_STOP_TEXT,
    PtpGoal,
    PtpPending,
    fault_of,
)
from bbllm.arm.controllers.trajectory import Query, Setpoint
from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal
from bbllm.arm.driver import Array, GraspGoal, JointState, RobotMode
from bbllm.arm.robot_settings import MODE_NAMES, MODE_TEXT, Order, RobotSettings
from bbllm.core.types import Pose, SceneObject
from bbllm.robots.robot_model import RobotModel
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.faults import Fault, FaultMonitor
from bbllm.sim.gripper import Gripper
from bbllm.sim.playback import MotionController
from bbllm.sim.simulation import Simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSeen:
    """One goal that arrived."""

    kind: str
    """The driver's name of the action or topic, for example follow_joint_trajectory or grasp."""
    stamp_s: float
    mode: RobotMode
    accepted: bool
    """Whether it was taken; what became of it then is another question."""
    reason: str = ''
    joints: tuple[str, ...] = ()
    """Those that it moves, as it names them."""
    start_s: float | None = None
    """When a trajectory asks to begin, on the robot's clock; None for at once [s]."""
    lasts_s: float = 0.0
    """From the start of a trajectory to its last point; 0 for other goals [s]."""


CONTROL_PERIOD_S = 0.01
"""Period of the controllers' checks; set points between two checks are precomputed [s]."""
HELD_BACK = frozenset({Fault.DRIVER_HANG, Fault.ENDLESS_GOAL})


class SimulatedRobot:
    """A robot with the behaviour of the driver of an FR3, in one process."""

    def __init__(
        self,
        simulation: Simulation,
        *,
        homed: bool = True,
        on_goal: Callable[[GoalSeen], object] = lambda goal: None,
    ) -> None:
        """
        Take over a simulation; only this class may step it from now on.

        Unless the hand was *homed* already, its widest opening is 0; *on_goal* as the attribute.
        """
        self.simulation = simulation
        """The physics; use `paused` to read values that belong together."""
        self._lock = threading.RLock()
        self._waiting = 0
        self._counter = threading.Lock()
        self._period = max(1, round(CONTROL_PERIOD_S / simulation.timestep_s))
        self._homed = homed
        self.on_goal = on_goal
        """Called with every goal of arm or hand that arrives, in the sender's thread."""
        self.on_force: Callable[[Sequence[float], float, float], None] | None = None
        """Called every 10 ms in the thread that advances: the force of the world on the hand
        without noise, in world axes, shape (3,) [N]; the stamp [s]; the speed of the fastest
        joint [rad/s]."""
        self._motion = MotionController(simulation)
        self.controllers = ControllerManager(self)
        """States of controllers and hardware; change them through this class, or while paused."""
        self._start()

    def _start(self) -> None:
        self.settings = RobotSettings()
        hand = self.robot_model.hand
        self._gripper = Gripper(hand, hand.max_width_m, homed=self._homed)
        self.monitor = FaultMonitor()
        self._frozen: JointState | None = None
        self._held_back: frozenset[Fault] = frozenset()
        self._motion.set_load(self.settings.load.in_hand())

    @property
    def robot_model(self) -> RobotModel:
        return self.simulation.robot_model

    @property
    def time_s(self) -> float:
        return self.simulation.time_s

    @property
    def mode(self) -> RobotMode:
        return self.monitor.mode(self._motion.moving)

    @property
    def errors(self) -> tuple[str, ...]:
        return self.monitor.errors

    @property
    def controllers_active(self) -> bool:
        return self._motion.trajectory.active

    @property
    def hangs(self) -> bool:
        return self._frozen is not None

    @property
    def trajectory_time_s(self) -> float:
        return self.time_s - self._motion.trajectory.origin_s

    @classmethod
    def of(cls, scene: SceneFile, seed: int | None) -> 'SimulatedRobot':
        """Return a robot at the table of a scene; see `Simulation` for the seed."""
        return cls(Simulation(scene, seed=seed))

    @contextmanager
    def paused(self) -> Iterator[Simulation]:
        """Keep time from passing, to read, change or draw; `advance` yields to it."""
        with self._counter:
            self._waiting += 1
        with self._lock:
            with self._counter:
                self._waiting -= 1
            yield self.simulation

    def advance(self, duration_s: float, pending: Pending[Any] | None = None) -> None:
        """
        Let time pass, in whole physics steps, until a goal ends at most.

        Raises WorldError if the physics is unstable.
        """
        left = round(duration_s / self.simulation.timestep_s)
        while left > 0 and (pending is None or pending.result is None):
            n = min(left, self._period)
            with self._lock:
                self._advance(n)
            left -= n
            while self._waiting:
                time.sleep(5e-5)  # give the lock to the threads that wait for it

    def joint_state(self) -> JointState:
        with self.paused() as simulation:
            return self._frozen or simulation.joint_state()

    def flange_wrench(self) -> Array:
        """Return the wrench of the world on the hand, flange frame, shape (6,) [N, Nm]."""
        with self.paused() as simulation:
            return simulation.flange_wrench()

    def vertical_force_n(self) -> float:
        """Return the force of the world on the hand along z of the base [N]."""
        with self.paused() as simulation:
            return simulation.to_world(simulation.flange_wrench()[:3].tolist())[2]

    def objects(self) -> tuple[SceneObject, ...]:
        with self.paused() as simulation:
            return simulation.objects()

    def set_object_pose(self, name: str, pose: Pose) -> None:
        with self.paused() as simulation:
            simulation.set_object_pose(name, pose)

    def set_arm(self, q: Array, width_m: float) -> None:
        """Begin anew with the arm at joint positions, shape (7,) [rad], and the hand so wide."""
        with self.paused() as simulation:
            simulation.set_arm(q, width_m)
            self._motion.reset()
            self._gripper = Gripper(self.robot_model.hand, width_m, homed=self._homed)

    def set_object_mass(self, name: str, mass_kg: float) -> None:
        with self.paused() as simulation:
            simulation.set_object_mass(name, mass_kg)

    def reset(self) -> None:
        """
        Put everything back to its start; what runs ends as when controllers go down.

        Thresholds of contacts and collisions stay as they were set: their clients are not informed
        of a reset and rely on them.
        """
        old = self.monitor
        with self.paused() as simulation:
            self._motion.trajectory.hold_results = False
            if self._motion.ptp.busy:
                self._motion.ptp.abort(REFLEX_TEXT, *self._motion.measured())
            self.controllers.fail_hardware()
            self._gripper.stop(simulation.width_m)
            simulation.reset()
            self.controllers = ControllerManager(self, self.controllers.revision + 1)
            self._motion.reset()
            self._start()
            self.monitor.keep_thresholds(old)

    def follow(self, goal: TrajectoryGoal) -> TrajectoryPending:
        with self.paused():
            self._note_trajectory(goal, 'follow_joint_trajectory')
            return self._motion.trajectory.start(goal, *self._motion.measured())

    def refuse(self, goal: TrajectoryGoal) -> str | None:
        """Return why a goal would be rejected, and log it then; None: `follow` it."""
        with self.paused():
            reason = self._motion.trajectory.refusal(goal, self.time_s)
            if reason:
                self.note_goal('follow_joint_trajectory', refused=reason, trajectory=goal)
            return reason

    def replace_trajectory(self, goal: TrajectoryGoal) -> str | None:
        """Follow a trajectory from the topic; return why it is ignored, if it is."""
        with self.paused():
            self._note_trajectory(goal, 'joint_trajectory')
            return self._motion.trajectory.replace(goal, *self._motion.measured())

    def cancel_follow(self) -> None:
        with self.paused():
            self._motion.trajectory.cancel(*self._motion.measured())

    def query_trajectory(self, time_s: float) -> Query | None:
        """Return the trajectory in force at a time [s]; None without a controller."""
        with self.paused():
            _, q, dq = self._motion.measured()
            return self._motion.trajectory.query(time_s, q, dq)

    def move_to(self, goal: PtpGoal) -> PtpPending | str:
        """Start a motion that the robot plans itself; return why it does not start, if so."""
        with self.paused():
            reason = self._ptp_refusal(goal)
            self.note_goal('ptp_motion', refused=reason)
            if reason:
                return reason
            pending = self._motion.start_ptp(goal, self.settings.joint_stiffness)
            if not self.robot_model.limits.within(np.array(goal.position_rad), 0.0):
                self.monitor.trip(LIMIT_ERROR)
                self._stop_motion()
            return pending

    def set_point(self) -> Setpoint:
        with self.paused():
            return self._motion.set_point()

    @property
    def width_m(self) -> float:
        """Distance between the fingers, also while the arm's driver hangs [m]."""
        return self.simulation.width_m

    @property
    def max_width_m(self) -> float:
        """Widest opening of the hand, as last homed; 0 before that [m]."""
        return self._gripper.max_width_m

    def move_gripper(
        self, width_m: float, speed_m_s: float, *, kind: str = 'move'
    ) -> GripperPending:
        """Send the hand to a width; *kind* is the action's name in the log of goals."""
        with self.paused() as simulation:
            self.note_goal(kind)
            return self._gripper.move(width_m, speed_m_s, simulation.width_m)

    def grasp(self, goal: GraspGoal, *, kind: str = 'grasp') -> GripperPending:
        """Close the hand on an object of a width; see `gripper.Gripper.grasp`."""
        with self.paused() as simulation:
            self.note_goal(kind)
            return self._gripper.grasp(goal, simulation.width_m)

    def home_gripper(self) -> GripperPending:
        with self.paused() as simulation:
            self.note_goal('homing')
            return self._gripper.home(simulation.width_m)

    def stop_gripper(self) -> None:
        with self.paused() as simulation:
            self._gripper.stop(simulation.width_m)

    def cancel_gripper(self) -> None:
        with self.paused() as simulation:
            self._gripper.cancel(simulation.width_m)

    def note_goal(
        self, kind: str, *, refused: str = '', trajectory: TrajectoryGoal | None = None
    ) -> None:
        goal = GoalSeen(
            kind=kind,
            stamp_s=self.time_s,
            mode=self.mode,
            accepted=not refused,
            reason=refused,
            joints=() if trajectory is None else trajectory.joint_names,
            start_s=None if trajectory is None else trajectory.start_s,
            lasts_s=0.0 if trajectory is None else max(trajectory.time_s, default=0.0),
        )
        self.on_goal(goal)

    def inject(self, fault: Fault) -> None:
        with self.paused():
            self.monitor.inject(fault)
            self._set_hand_fault(fault, True)
            if fault in HELD_BACK:
                self._hold_back(self._held_back | {fault})
            if not self.monitor.healthy:
                self._stop_motion()

    def clear(self, fault: Fault) -> None:
        """Clear a lasting fault; a reflex requires recovery instead."""
        with self.paused():
            self.monitor.clear(fault)
            self._set_hand_fault(fault, False)
            if fault in HELD_BACK:
                self._hold_back(self._held_back - {fault})

    def recover_errors(self) -> str | None:
        with self.paused():
            return self.monitor.recover()

    def activate_hardware(self) -> bool:
        return self.set_hardware(LifeCycle.ACTIVE)

    def activate_controllers(self) -> bool:
        self.switch_controllers(tuple(KINDS), ())
        return self.controllers_active

    def deactivate_controllers(self) -> None:
        self.switch_controllers((), (ARM_CONTROLLER,))

    def set_hardware(self, target: LifeCycle | None) -> bool:
        """Bring the hardware component into a state; False where that is not possible."""
        with self.paused():
            done = self.controllers.set_component(target)
            self.monitor.hardware_active = self.controllers.component is LifeCycle.ACTIVE
            return done

    def switch_controllers(
        self, activate: Sequence[str], deactivate: Sequence[str], *, strict: bool = False
    ) -> Switched:
        with self.paused():
            return self.controllers.switch(activate, deactivate, strict=strict)

    def order(self, order: Order) -> str:
        """Apply a setting that requires an idle robot; return why it is refused, or ''."""
        with self.paused():
            if self.mode is not RobotMode.IDLE:
                return MODE_TEXT.format(order.name, MODE_NAMES[self.mode])
            reason = order.carry_out(self.settings, self.monitor)
            self._motion.set_load(self.settings.load.in_hand())
            return reason

    def connect(self) -> bool:
        """Whether the robot can be reached; part of `controllers.Hardware`."""
        return self.monitor.reachable

    def start_control(self) -> bool:
        if self.mode is RobotMode.IDLE:
            self._motion.start_trajectory_control()
        return self.controllers_active

    def stop_control(self) -> None:
        self._motion.trajectory.deactivate(*self._motion.measured())

    def _advance(self, n: int) -> None:
        simulation = self.simulation
        duration_s = n * simulation.timestep_s
        self._motion.check()
        command = self._gripper.update(duration_s, simulation.width_m, simulation.width_speed_m_s)
        simulation.limit_grip(command.force_n)
        self._motion.step(n, command.width_m)
        accelerating = self.monitor.has_phases and self._motion.accelerating()
        wrench = simulation.exact_wrench()
        if self.on_force is not None:
            force = simulation.to_world(wrench[:3])
            self.on_force(force, self.time_s, simulation.fastest_rad_s)
        if self.monitor.watch(
            duration_s,
            simulation.external_torque(),
            simulation.with_noise(wrench),
            accelerating=accelerating,
            moving=self._motion.moving,
        ):
            self._stop_motion()

    def _stop_motion(self) -> None:
        """
        Stop whatever moves the arm, as an error or the user stop does.

        The driver notices at once in its torque loop and takes everything down. While the arm
        is idle or moves by itself, only lost packets reach that loop.
        """
        if self._motion.ptp.busy:
            pressed = self.monitor.mode(False) is RobotMode.USER_STOPPED
            text = USER_STOP_TEXT if pressed else REFLEX_TEXT
            self._motion.ptp.abort(text, *self._motion.measured())
        if self.controllers_active or not self.monitor.reachable:
            self.controllers.fail_hardware()
            self.monitor.hardware_active = False

    def _set_hand_fault(self, fault: Fault, now: bool) -> None:
        if fault is Fault.GRIPPER_FAIL:
            self._gripper.fail_next = now
        elif fault is Fault.GRIPPER_MISS:
            self._gripper.miss_next = now

    def _hold_back(self, faults: frozenset[Fault]) -> None:
        self._held_back = faults
        self._motion.trajectory.hold_results = bool(faults)
        hangs = Fault.DRIVER_HANG in faults
        self._frozen = (self._frozen or self.simulation.joint_state()) if hangs else None

    def _ptp_refusal(self, goal: PtpGoal) -> str:
        if self.controllers_active:
            return BUSY_TEXT
        if not self.monitor.healthy:
            return MODE_TEXT.format('Move', MODE_NAMES[self.mode])
        return fault_of(goal)

    def _note_trajectory(self, goal: TrajectoryGoal, kind: str) -> None:
        refused = self._motion.trajectory.refusal(goal, self.time_s) or ''
        self.note_goal(kind, refused=refused, trajectory=goal)
