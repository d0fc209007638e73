"""The table as a robot on the network: arm server, hand server, and time that passes."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from types import TracebackType

from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError, WorldError
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.faults import ERRORS, Fault
from bbllm.sim.render import save_picture
from bbllm_fci.arm import PERIOD_S, TableArm
from bbllm_fci.hand import HandServer
from bbllm_fci.server import VERSION, ArmServer
from bbllm_fci.sessions import listen

ROBOT = 'fr3'
"""The robot of the protocol's version."""
END_S = 2.0
"""How long the threads may take to end [s]."""
IDLE_STEPS = 10
"""Steps of the physics at once while no state is sent."""
HAND_FAULTS = (Fault.GRIPPER_FAIL, Fault.GRIPPER_MISS)


class StateFault(StrEnum):
    """States in which a client may find a robot; they last until `clear`."""

    HAND_NOT_HOMED = 'hand_not_homed'
    """The hand was not homed since it was switched on; homing ends it, too."""
    JOINTS_LOCKED = 'joints_locked'
    """The brakes are closed."""
    OLD_SYSTEM = 'old_system'
    """The robot serves the version of the protocol before this one."""
    NO_HAND = 'no_hand'
    """Nothing serves the port of the hand; only from the start on."""


FAULTS = (Fault.USER_STOP, *ERRORS, *HAND_FAULTS, *StateFault)
"""Those of the robot itself; the others are of a driver, which is the client here."""


def fault_named(name: str) -> Fault | StateFault:
    """Return the fault of a name; raises UnknownNameError."""
    found = next((fault for fault in (*Fault, *StateFault) if fault.value == name), None)
    if found is None:
        raise UnknownNameError('fault', name, [fault.value for fault in FAULTS])
    return found


class FciTable:
    """
    Serves a scene from when it is entered until it is left.

    Raises ConfigError where it cannot: a scene without an FR3, a speed that is not above 0, an
    address or a port that cannot be had. *faults* are there from the start on.
    """

    def __init__(
        self,
        scene: SceneFile,
        *,
        ip: str = '127.0.0.1',
        speed: float = 1.0,
        faults: Sequence[Fault | StateFault] = (),
    ) -> None:
        if scene.robot != ROBOT:
            raise ConfigError(
                f'The scene has the robot {scene.robot}; the protocol served here is that of an '
                f'{ROBOT}. Choose a scene with `robot: {ROBOT}`, or one that names no robot.'
            )
        if not 0 < speed <= 1:
            raise ConfigError(
                f'--speed {speed:g}: the protocol runs at a share of real time above 0 and up to '
                '1, since clients count in milliseconds; 0.25 takes four times as long.'
            )
        self.arm = TableArm(scene)
        self._speed = speed
        self._server, self._hand = ArmServer(self.arm, ip, speed), HandServer(self.arm, ip)
        self._has_hand = StateFault.NO_HAND not in faults
        self._threads: list[threading.Thread] = []
        for fault in faults:
            if fault is not StateFault.NO_HAND:
                self.inject(fault)

    def __enter__(self) -> 'FciTable':
        for server in self._servers:
            try:
                server.server_socket = listen(server.host, server.port)
            except OSError as error:
                self._close()
                raise ConfigError(
                    f'Port {server.port} of {server.host} cannot be had ({error.strerror}). '
                    'Another `bbllm up fci` or simulator may have it: end that, or choose another '
                    'address of this machine, such as --ip 127.0.0.2.'
                ) from None
        for run in (self._pass_time, *(server.run_server for server in self._servers)):
            thread = threading.Thread(target=run, name='fci', daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def tend(self) -> None:
        """Raise what ended the simulation, if something did."""
        failure = self._server.failure
        if isinstance(failure, BbllmError):
            raise failure
        if failure is not None:
            raise WorldError(f'The simulated robot ended: {failure!r}.') from failure

    @property
    def _servers(self) -> Sequence[ArmServer | HandServer]:
        return (self._server, self._hand) if self._has_hand else (self._server,)

    def inject(self, fault: Fault | StateFault) -> None:
        """Make a fault of the robot happen; raises ConfigError for one that cannot."""
        self._check(fault)
        arm, server = self.arm, self._server
        if isinstance(fault, StateFault) or fault in HAND_FAULTS:
            self._set(fault, True)
            return
        with arm.paused():
            arm.monitor.inject(fault)
        if fault is Fault.USER_STOP:
            server.press_user_stop()
        else:
            server.abort(arm.monitor.errors)

    def clear(self, fault: Fault | StateFault) -> None:
        """End a lasting fault; the client still has to ask for recovery."""
        self._check(fault)
        if isinstance(fault, StateFault) or fault in HAND_FAULTS:
            self._set(fault, False)
            return
        with self.arm.paused():
            self.arm.monitor.clear(fault)

    def reset(self) -> None:
        """Put arm and objects back to their start; a motion that runs is aborted."""
        server = self._server
        if self.arm.in_control():
            server.abort(())
        self.arm.reset()

    def places(self) -> list[str]:
        """
        Return a line for each object: its name and pose.

        That is the position of its middle [m], then its quaternion (x, y, z, w).
        """
        with self.arm.paused() as simulation:
            objects = simulation.objects()
        return [
            f'{item.name} {" ".join(f"{number:.4f}" for number in numbers)}'
            for item in objects
            for numbers in [(*item.pose.position_m, *item.pose.quat_xyzw)]
        ]

    def arm_line(self) -> str:
        """Return the robot's mode, and the speed of its fastest joint [rad/s]."""
        with self.arm.paused() as simulation:
            _, speeds = simulation.arm_state()
            mode = self.arm.monitor.mode(self.arm.in_control())
        return f'{mode.name} {abs(speeds).max():.4f}'

    def draw(self, path: Path) -> None:
        """Draw arm and objects into a PNG file; raises ConfigError where that cannot be."""
        with self.arm.paused() as simulation:
            qpos = simulation.data.qpos.copy()
        save_picture(simulation, path, qpos)  # takes a second, in which time passes

    def _check(self, fault: Fault | StateFault) -> None:
        if fault is StateFault.NO_HAND:
            raise ConfigError(
                f'{fault.value} is a state from the start on: bbllm up fci --fault {fault.value}.'
            )
        if fault not in FAULTS:
            raise ConfigError(
                f'{fault.value} is a fault of a driver, and here the driver is the client. '
                f'Faults of the robot: {", ".join(FAULTS)}.'
            )

    def _set(self, fault: Fault | StateFault, now: bool) -> None:
        with self.arm.paused():
            match fault:
                case Fault.GRIPPER_FAIL:
                    self.arm.gripper.fail_next = now
                case Fault.GRIPPER_MISS:
                    self.arm.gripper.miss_next = now
                case StateFault.HAND_NOT_HOMED:
                    widest_m = self.arm.robot_model.hand.max_width_m
                    self.arm.gripper.max_width_m = 0.0 if now else widest_m
                case StateFault.JOINTS_LOCKED:
                    self._server.lock(now)
                case StateFault.OLD_SYSTEM:
                    self._server.version = VERSION - now

    def _pass_time(self) -> None:
        """Step the physics while no state is sent, as objects fall and hands close then too."""
        server, due_s = self._server, time.perf_counter()
        while not self.arm.ended and server.failure is None:
            due_s = max(due_s + IDLE_STEPS * PERIOD_S / self._speed, time.perf_counter())
            if not server.transmitting_state:
                try:
                    for _ in range(IDLE_STEPS):
                        self.arm.step()
                except Exception as error:
                    server.failure = error
            time.sleep(max(0.0, due_s - time.perf_counter()))

    def _close(self) -> None:
        self.arm.ended = True
        for server in self._servers:
            close: Callable[[], object] = server.stop
            with suppress(OSError):
                close()
        for thread in self._threads:
            thread.join(END_S)
