"""The table as a robot on the network: arm server, hand server, and time that passes."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from bbllm.core.errors import BbllmError, ConfigError, WorldError
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.faults import ERRORS, Fault
from bbllm_fci.arm import PERIOD_S, TableArm
from bbllm_fci.hand import HandServer
from bbllm_fci.server import ArmServer
from bbllm_fci.sessions import listen

ROBOT = 'fr3'
"""The robot of the protocol's version."""
END_S = 2.0
"""How long the threads may take to end [s]."""
IDLE_STEPS = 10
"""Steps of the physics at once while no state is sent."""
HAND_FAULTS = (Fault.GRIPPER_FAIL, Fault.GRIPPER_MISS)
FAULTS = (Fault.USER_STOP, *ERRORS, *HAND_FAULTS)
"""Those of the robot itself; the others are of a driver, which is the client here."""


class FciTable:
    """
    Serves a scene from when it is entered until it is left.

    Raises ConfigError where it cannot: a scene without an FR3, a speed that is not above 0, an
    address or a port that cannot be had.
    """

    def __init__(self, scene: SceneFile, *, ip: str = '127.0.0.1', speed: float = 1.0) -> None:
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
        self._servers = (
            ArmServer(self.arm, ip, speed),
            HandServer(self.arm, ip),
        )
        self._threads: list[threading.Thread] = []

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
        for name, run in (
            ('fci arm', self._servers[0].run_server),
            ('fci hand', self._servers[1].run_server),
            ('fci time', self._pass_time),
        ):
            thread = threading.Thread(target=run, name=name, daemon=True)
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
        failure = self._servers[0].failure
        if isinstance(failure, BbllmError):
            raise failure
        if failure is not None:
            raise WorldError(f'The simulated robot ended: {failure!r}.') from failure

    def inject(self, fault: Fault) -> None:
        """Make a fault of the robot happen; raises ConfigError for one of a driver."""
        self._check(fault)
        arm, server = self.arm, self._servers[0]
        if fault in HAND_FAULTS:
            self._set_hand_fault(fault, True)
            return
        with arm.paused():
            arm.monitor.inject(fault)
        if fault is Fault.USER_STOP:
            server.press_user_stop()
        else:
            server.abort(arm.monitor.errors)

    def clear(self, fault: Fault) -> None:
        """End a lasting fault; the client still has to ask for recovery."""
        self._check(fault)
        if fault in HAND_FAULTS:
            self._set_hand_fault(fault, False)
            return
        with self.arm.paused():
            self.arm.monitor.clear(fault)

    def reset(self) -> None:
        """Put arm and objects back to their start; a motion that runs is aborted."""
        server = self._servers[0]
        if self.arm.in_control():
            server.abort(())
        self.arm.reset()

    def places(self) -> list[str]:
        """Return a line for each object: its name, and where its middle is [m]."""
        with self.arm.paused() as simulation:
            objects = simulation.objects()
        return [
            f'{item.name} {" ".join(f"{number:.4f}" for number in item.pose.position_m)}'
            for item in objects
        ]

    def _check(self, fault: Fault) -> None:
        if fault not in FAULTS:
            raise ConfigError(
                f'{fault.value} is a fault of a driver, and here the driver is the client. '
                f'Faults of the robot: {", ".join(FAULTS)}.'
            )

    def _set_hand_fault(self, fault: Fault, now: bool) -> None:
        with self.arm.paused():
            if fault is Fault.GRIPPER_FAIL:
                self.arm.gripper.fail_next = now
            else:
                self.arm.gripper.miss_next = now

    def _pass_time(self) -> None:
        """Step the physics while no state is sent, as objects fall and hands close then too."""
        server, due_s = self._servers[0], time.perf_counter()
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
