"""
The thread that watches a robot over libfranka, and the clock that the rest of the graph sees.

Stamps are the wall time at which a state was read. The robot's own clock, by which trajectories
are followed, may drift against it; times are mapped by the newest state. A simulated robot may be
slower than real time: its stamps are of its own clock, as those of `mujoco_sim`, since clients
wait for the end of a goal by the clock of the stamps.
"""

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bbllm.api.config import ArmAddress
from bbllm.arm.driver import Array
from bbllm.arm.robot_state import Mounted, RobotState
from bbllm.robots.fr3 import FR3
from bbllm_franka.address import check_address
from bbllm_franka.arm_link import ArmLink, check_machine
from bbllm_franka.controlled_robot import LibfrankaRobot
from bbllm_franka.hand import HandLink
from bbllm_franka.libraries import need_libraries
from bbllm_franka.messages import ENFORCE, IGNORE

PERIOD_S = 0.01
"""How often the controller judges and states are published [s]."""


class FrankaLoop:
    """Implements `driver_front.Backend`; owns the connections to one robot until `end`."""

    def __init__(self, arm: ArmAddress, *, hand: bool, log: Callable[[str], object]) -> None:
        """
        Connect to a robot, as `bbllm_franka.driver.FrankaDriver`; nothing moves.

        Raises as that one, and where the address cannot be what it is stated to be.

        *log* takes what the driver of franka_ros2 writes to its log.
        """
        need_libraries()
        realtime = IGNORE if arm.ignores_realtime else ENFORCE
        address = check_address(arm.ip, simulated=arm.simulated_robot)

        def connect() -> ArmLink:
            link = ArmLink(address, realtime=realtime, robot=FR3.name)
            try:
                check_machine(link.quality, realtime)
            except BaseException:
                link.close()
                raise
            return link

        def connect_hand(robot_s: Callable[[], float]) -> HandLink | None:
            return HandLink(address, robot_s) if hand else None

        self._robot = LibfrankaRobot(connect, connect_hand, log)
        self._simulated = arm.simulated_robot
        self._epoch_s = time.time() - (
            self._robot.reading.robot_s if self._simulated else time.monotonic()
        )
        """What is added to the clock of a reading for its stamp [s]."""
        self._goals = 0
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self.on_advance: Callable[[float], None] = _nothing
        """Called with the clock after every new state, in the loop's own thread [s]."""
        self.on_fault: Callable[[str], None] = _nothing
        """Called with the reason where the program failed."""
        self._thread = threading.Thread(target=self._run, name='franka_direct', daemon=True)

    @property
    def robot(self) -> LibfrankaRobot:
        return self._robot

    @property
    def now_s(self) -> float:
        reading = self._robot.reading
        if self._simulated:
            return self._epoch_s + reading.robot_s
        return self._epoch_s + (time.monotonic() if self._robot.lost else reading.host_s)

    @property
    def busy(self) -> bool:
        return self._goals > 0

    @property
    def hurries(self) -> bool:
        return self._goals > 0 or self._robot.busy

    def to_robot_s(self, stamp_s: float) -> float:
        reading = self._robot.reading
        behind_s = 0.0 if self._simulated else reading.robot_s - reading.host_s
        return stamp_s - self._epoch_s + behind_s

    @contextmanager
    def goal(self) -> Iterator[None]:
        with self._lock:
            self._goals += 1
        try:
            yield
        finally:
            with self._lock:
                self._goals -= 1

    def state(self) -> tuple[RobotState, Mounted, float]:
        return *self._robot.state(), self.now_s

    def wrenches(self) -> tuple[Array, Array]:
        reading = self._robot.reading
        return reading.wrench_in_stiffness, reading.wrench

    def measured(self) -> tuple[Array, Array, Array]:
        reading = self._robot.reading
        return reading.position_rad, reading.velocity_rad_s, reading.torque_nm

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """End the connections; an arm that moves brakes first."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        self._robot.close()

    def step(self) -> None:
        """Read the robot once, do what is due, and publish what is new."""
        before_s = self._robot.reading.robot_s
        news = self._robot.tick()
        if self._simulated:  # one that was started anew counts from 0; stamps never run backwards
            self._epoch_s += max(0.0, before_s - self._robot.reading.robot_s)
        if news:
            self.on_advance(self.now_s)

    def _run(self) -> None:
        while not self._ending.wait(PERIOD_S):
            try:
                self.step()
            except Exception:  # a driver that stands still must not look alive
                self.on_fault(f'fault in the program:\n{traceback.format_exc()}')
                return


def _nothing(*_: object) -> None:
    """Do nothing: there is no listener yet."""
