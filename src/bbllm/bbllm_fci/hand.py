"""The hand of the simulated table behind the gripper's protocol (server version 3)."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from franka_sim.gripper.backend import GripperBackend, GripperStateData
from franka_sim.gripper.protocol import (
    GraspRequest,
    GripperCommand,
    GripperStatus,
    MoveRequest,
    build_command_response,
)
from franka_sim.gripper.server import FrankaGripperServer

from bbllm.arm.controllers.pending import ABORTED_TEXT, GripperPending
from bbllm.arm.driver import GraspGoal
from bbllm.sim.gripper import Phase
from bbllm_fci.arm import TableArm
from bbllm_fci.sessions import others_refused, says_something

LONGEST_S = 30.0
"""How long a command of the hand may take in simulated time; homing takes about 5 s [s]."""
POLL_S = 0.002
TEMPERATURE_C = 30
FAILED = GripperStatus.kFail


class TableHand(GripperBackend):
    """Gives each command to the simulated hand, and waits for what becomes of it."""

    def __init__(self, arm: TableArm) -> None:
        self._arm = arm

    def homing(self) -> GripperStatus:
        return self._done(lambda width_m: self._arm.gripper.home(width_m))

    def move(self, width: float, speed: float) -> GripperStatus:
        return self._done(lambda width_m: self._arm.gripper.move(width, speed, width_m))

    def grasp(
        self, width: float, epsilon_inner: float, epsilon_outer: float, speed: float, force: float
    ) -> GripperStatus:
        goal = GraspGoal(
            width_m=width,
            speed_m_s=speed,
            force_n=force,
            inner_m=epsilon_inner,
            outer_m=epsilon_outer,
        )
        return self._done(lambda width_m: self._arm.gripper.grasp(goal, width_m))

    def stop(self) -> GripperStatus:
        with self._arm.paused() as simulation:
            self._arm.gripper.stop(simulation.width_m)
        return GripperStatus.kSuccess

    def get_state(self) -> GripperStateData:
        gripper = self._arm.gripper
        held = gripper.phase is Phase.HOLDING
        width_m = self._arm.simulation.width_m
        return GripperStateData(width_m, gripper.max_width_m, held, TEMPERATURE_C)

    def _done(self, begin: Callable[[float], GripperPending]) -> GripperStatus:
        """Return how a command ends; one that takes too long has failed."""
        arm = self._arm
        with arm.paused() as simulation:
            pending = begin(simulation.width_m)
            last_s = simulation.time_s + LONGEST_S
        while pending.result is None and not arm.ended and arm.simulation.time_s < last_s:
            time.sleep(POLL_S)
        if (result := pending.result) is None:
            return FAILED
        if result.success:
            return GripperStatus.kSuccess
        if result.error == ABORTED_TEXT:
            return GripperStatus.kAborted
        # An empty text is a grasp that missed its width, as in the driver.
        return FAILED if result.error else GripperStatus.kUnsuccessful


class HandServer(FrankaGripperServer):
    """The gripper's server; a stop, or another command, ends the one that runs."""

    server_socket: socket.socket | None

    def __init__(self, arm: TableArm, ip: str) -> None:
        super().__init__(host=ip, backend=TableHand(arm))
        self._sending = threading.Lock()

    def handle_client(self, sock: socket.socket) -> None:
        if says_something(sock):
            with others_refused(self, sock):
                super().handle_client(sock)

    def _dispatch_command(self, sock: socket.socket, header: Any, payload: bytes) -> None:
        """Begin a command in a thread of its own, so that the next one is read meanwhile."""
        threading.Thread(
            target=self._answer, args=(sock, header, payload), name='fci hand', daemon=True
        ).start()

    def _answer(self, sock: socket.socket, header: Any, payload: bytes) -> None:
        status = self._status(header.command, payload)
        reply = build_command_response(header.command, header.command_id, status)
        try:
            with self._sending:
                sock.sendall(reply)
        except OSError:
            pass  # the client is gone, and with it the one who asked

    def _status(self, command: int, payload: bytes) -> GripperStatus:
        hand = self.backend
        if command == GripperCommand.kHoming:
            return hand.homing()
        if command == GripperCommand.kStop:
            return hand.stop()
        if command == GripperCommand.kMove:
            move = MoveRequest.from_bytes(payload)
            return hand.move(move.width, move.speed)
        if command == GripperCommand.kGrasp:
            asked = GraspRequest.from_bytes(payload)
            return hand.grasp(
                asked.width, asked.epsilon_inner, asked.epsilon_outer, asked.speed, asked.force
            )
        return FAILED
