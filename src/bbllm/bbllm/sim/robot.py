"""
The simulated robot: physics, controllers, hand and faults on one clock.

`advance` is the only thing that makes time pass; commands may come from any thread. What a stop
does, and what it takes to bring the arm back, is what franka_hardware and ros2_control do: read
from franka_ros2 3.4, libfranka 0.21 and ros2_control on Jazzy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bbllm.arm.driver import RobotMode
from bbllm.sim.controllers import (
    ARM_CONTROLLER,
    KINDS,
    ControllerManager,
    LifeCycle,
    Strictness,
    Switched,
)
from bbllm.sim.driven import DrivenSimulation
from bbllm.sim.faults import Fault, FaultMonitor
from bbllm.sim.goal_log import GoalSeen
from bbllm.sim.orders import Order
from bbllm.sim.ptp import REFLEX_TEXT, USER_STOP_TEXT
from bbllm.sim.settings import MODE_NAMES, MODE_TEXT
from bbllm.sim.simulation import Simulation

HELD_BACK = frozenset({Fault.DRIVER_HANG, Fault.ENDLESS_GOAL})
"""Faults in which the results of trajectory goals stay away."""


class SimulatedRobot(DrivenSimulation):
    """The FR3 with its driver's behaviour, in one process."""

    def __init__(
        self,
        simulation: Simulation,
        *,
        homed: bool = True,
        on_goal: Callable[[GoalSeen], None] | None = None,
    ) -> None:
        """
        Take over a simulation, which nobody else may step from now on.

        Args:
            simulation: The physics.
            homed: Whether the hand was homed already; otherwise it knows no width.
            on_goal: Told of every goal of arm or hand that arrives, in the sender's thread.
        """
        self._manager = ControllerManager(self)
        super().__init__(simulation, homed=homed, on_goal=on_goal)

    @property
    def mode(self) -> RobotMode:
        """The robot's mode."""
        return self._monitor.mode(self._controller.active or self._ptp.busy)

    @property
    def controllers_active(self) -> bool:
        """Whether the trajectory controller takes goals."""
        return self._controller.active

    @property
    def controllers(self) -> ControllerManager:
        """The states of controllers and hardware; to change them, call this class."""
        return self._manager

    @property
    def monitor(self) -> FaultMonitor:
        """Errors, thresholds and whether the hardware component is active."""
        return self._monitor

    @property
    def hangs(self) -> bool:
        """Whether the driver hangs: then nothing is heard of the arm."""
        return self._frozen is not None

    def inject(self, fault: Fault) -> None:
        """Make something go wrong."""
        with self._command():
            if fault is Fault.REFLEX:
                self._monitor.trip('cartesian_reflex')
            elif fault is Fault.USER_STOP:
                self._monitor.press_user_stop()
            elif fault is Fault.COMMUNICATION_LOSS:
                self._monitor.lose_packets()
            elif fault is Fault.JOINT_LIMIT:
                self._monitor.pass_limit()
            elif fault is Fault.GRIPPER_FAIL:
                self._gripper.fail_next = True
            elif fault is Fault.GRIPPER_MISS:
                self._gripper.miss_next = True
            else:
                self._hold_back(self._held_back | {fault})
            if not self._monitor.healthy:
                self._stop_motion()

    def clear(self, fault: Fault) -> None:
        """Take a lasting fault back; a reflex has to be recovered from instead."""
        with self._command():
            if fault is Fault.USER_STOP:
                self._monitor.release_user_stop()
            elif fault in (Fault.COMMUNICATION_LOSS, Fault.JOINT_LIMIT):
                self._monitor.unblock()
            elif fault is Fault.GRIPPER_FAIL:
                self._gripper.fail_next = False
            elif fault is Fault.GRIPPER_MISS:
                self._gripper.miss_next = False
            elif fault in HELD_BACK:
                self._hold_back(self._held_back - {fault})

    def recover_errors(self) -> str | None:
        """Error recovery, first of three steps; returns why it failed, None where it worked."""
        with self._command():
            return self._monitor.recover()

    def activate_hardware(self) -> bool:
        """Second step: the hardware component; False while the robot is out of reach."""
        return self.set_hardware(LifeCycle.ACTIVE)

    def activate_controllers(self) -> bool:
        """Third step: all controllers; False while hardware is not active, or in an error."""
        self.switch_controllers(tuple(KINDS), ())
        return self._controller.active

    def deactivate_controllers(self) -> None:
        """Take the trajectory controller down: the robot is idle then."""
        self.switch_controllers((), (ARM_CONTROLLER,))

    def set_hardware(self, target: LifeCycle | None) -> bool:
        """Bring the hardware component into a state; False where that is not possible."""
        with self._command():
            done = self._manager.set_component(target)
            self._monitor.hardware_active = self._manager.component is LifeCycle.ACTIVE
            return done

    def switch_controllers(
        self,
        activate: Sequence[str],
        deactivate: Sequence[str],
        strictness: Strictness = Strictness.BEST_EFFORT,
    ) -> Switched:
        """Activate and deactivate controllers, by the manager's rules."""
        with self._command():
            return self._manager.switch(activate, deactivate, strictness)

    def load_controller(self, name: str) -> bool:
        """Load a controller that the parameters name; False where that is not possible."""
        with self._command():
            return self._manager.load(name)

    def configure_controller(self, name: str) -> bool:
        """Configure a loaded controller that does not run."""
        with self._command():
            return self._manager.configure(name)

    def unload_controller(self, name: str) -> bool:
        """Forget a loaded controller that does not run."""
        with self._command():
            return self._manager.unload(name)

    def order(self, order: Order) -> str:
        """Tell the robot something that it takes only when idle; returns why it does not."""
        with self._command():
            if self.mode is not RobotMode.IDLE:
                return MODE_TEXT.format(order.name, MODE_NAMES[self.mode])
            reason = order.carry_out(self.settings, self._monitor)
            self._tell_load()
            self._playback.forget()
            return reason

    def reset(self) -> None:
        """
        Put everything back to its start; what runs ends as when controllers go down.

        Thresholds of contacts and collisions stay as they were set: who has set them does not
        hear of a reset, and trusts in them.
        """
        old = self._monitor
        with self._command() as simulation:
            self._controller.hold_results = False
            if self._ptp.busy:
                self._ptp.abort(REFLEX_TEXT, *self._measured())
            self._manager.fail_hardware()
            self._gripper.stop(simulation.width_m)
            simulation.reset()
            self._manager = ControllerManager(self, self._manager.revision + 1)
            self._make_controllers()
            self._monitor.keep_thresholds(old)

    def connect(self) -> bool:
        """Tell whether the robot can be reached: half of `controllers.Hardware`."""
        return self._monitor.reachable

    def start_control(self) -> bool:
        """Let the trajectory controller act; False where the robot's mode forbids it."""
        if self.mode is RobotMode.IDLE:
            self._use_gains(None)
            self._controller.activate(*self._measured())
            self._motion = self._controller
        return self._controller.active

    def stop_control(self) -> None:
        """Take the trajectory controller down."""
        self._controller.deactivate(*self._measured())

    def _stop_motion(self) -> None:
        """
        Do what an error or the user stop does to whatever moves the arm.

        The driver notices at once in its loop of torques, and then everything goes down. While
        the arm is idle, or the robot moves by itself, only lost packets reach the driver's loop.
        """
        if self._ptp.busy:
            pressed = self._monitor.mode(False) is RobotMode.USER_STOPPED
            self._ptp.abort(USER_STOP_TEXT if pressed else REFLEX_TEXT, *self._measured())
        if self._controller.active or not self._monitor.reachable:
            self._manager.fail_hardware()
            self._monitor.hardware_active = False

    def _hold_back(self, faults: frozenset[Fault]) -> None:
        """Let results stay away while any of some faults is in force."""
        self._held_back = faults
        self._controller.hold_results = bool(faults)
        hangs = Fault.DRIVER_HANG in faults
        self._frozen = (self._frozen or self._simulation.joint_state()) if hangs else None
