"""
The robot's server (version 10): franka-sim's, with what the simulated table knows beside it.

franka-sim has the protocol, the checks of what clients send, and lost packets. Added here: time
that passes with the states sent, thresholds of collisions, loads, stiffness, faults and the user
stop, which franka-sim acknowledges without effect or does not have.
"""

import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from franka_sim.franka_protocol import (
    Command,
    ConnectStatus,
    MessageHeader,
    MoveStatus,
    SetCartesianImpedanceCommand,
    SetCollisionBehaviorCommand,
    SetEEToKCommand,
    SetJointImpedanceCommand,
    SetLoadCommand,
    SetNEToEECommand,
)
from franka_sim.franka_sim_server import FrankaSimServer
from franka_sim.server.constants import RobotMode, logger

from bbllm.arm.driver import RobotMode as StoppedMode
from bbllm.arm.robot_settings import (
    T_FLANGE_NOMINAL,
    Order,
    cartesian_stiffness_order,
    collision_order,
    joint_stiffness_order,
    load_order,
    stiffness_frame_order,
    tcp_order,
)
from bbllm.sim.faults import MANUAL_TEXT, PRESSED_TEXT
from bbllm_fci.arm import PERIOD_S, TableArm
from bbllm_fci.sessions import others_refused, says_something

VERSION = 10
ERROR_BITS = {
    'joint_position_limits_violation': 0,
    'joint_reflex': 6,
    'cartesian_reflex': 7,
    'communication_constraints_violation': 25,
}
"""Places in the lists of errors of the robot's state (research_interface/robot/error.h)."""
SUCCESS, NOT_POSSIBLE, INVALID = 0, 1, 2
"""Answers to requests for settings (research_interface/robot/service_types.h)."""
ASYNCHRONOUS = 56
"""Place in a request to move of whether the robot plans the motion; libfranka 0.21 sends it."""
PATIENCE_S = 0.5
"""How long a client may take for an answer below real time before its packet is lost [s]."""
REFUSED_RECOVERY = {MANUAL_TEXT: 3, PRESSED_TEXT: 5}
"""Answers to a request for recovery, by why it is refused; `NOT_POSSIBLE` otherwise."""

Handler = Callable[[Any, MessageHeader, bytes], None]


class ArmServer(FrankaSimServer):
    """Serves one client at a time, and steps the arm once for each state that it sends."""

    server_socket: socket.socket | None
    udp_socket: socket.socket | None
    _pending_move_response: Any

    def __init__(self, arm: TableArm, ip: str, speed: float) -> None:
        self._arm, self._ip, self._speed = arm, ip, speed
        self._cycle_s = 0.0
        self.version = self._client_version = VERSION
        if speed < 1:  # for an answer that has come and is not read yet
            self._DRAIN_GATE_TIMEOUT = PATIENCE_S
        self._locked = False
        self.failure: Exception | None = None
        """What ended the physics, if something did."""
        super().__init__(
            host=ip,
            physics_sim=arm,
            enable_gripper=False,
            enforce_comm_constraints=True,
            enforce_motion_limits=True,
        )
        arm.in_control = lambda: self.robot_state.state['robot_mode'] == RobotMode.kMove
        arm.on_collision = self.abort
        self.reset_state()

    def handle_client(self, sock: socket.socket) -> None:
        if says_something(sock):
            with others_refused(self, sock):
                super().handle_client(sock)

    def reset_state(self) -> None:
        """Begin with the robot as it is: the hand, what is pressed, what went wrong."""
        super().reset_state()
        arm, state = self._arm, self.robot_state.state
        arm.settings = type(arm.settings)()
        state['F_T_NE'] = T_FLANGE_NOMINAL.T.ravel().tolist()
        state['m_ee'] = arm.tool.mass_kg
        state['F_x_Cee'] = arm.tool.centre_m.tolist()
        state['I_ee'] = arm.tool.inertia_kg_m2.T.ravel().tolist()
        state['robot_mode'] = self._mode_at_rest
        for name in arm.monitor.errors:
            state['errors'][ERROR_BITS[name]] = True
        for name in arm.monitor.last_errors:
            state['reflex_reason'][ERROR_BITS[name]] = True
        self._refresh_ee_transform()

    def abort(self, errors: Sequence[str]) -> None:
        """End the motion with errors, by their names in the robot's state."""
        bits = tuple(ERROR_BITS[name] for name in errors)
        self._abort_with_error(bits, ', '.join(errors))

    def lock(self, now: bool) -> None:
        """Close the brakes, or open them; a motion is aborted."""
        with self._motion_lock:
            if self._arm.in_control():
                self._abort_with_error((), 'the joints are locked')
            self._locked = now
            self.robot_state.state['robot_mode'] = self._mode_at_rest

    @property
    def _mode_at_rest(self) -> int:
        return int(RobotMode.kOther if self._locked else self._arm.monitor.mode(False))

    def press_user_stop(self) -> None:
        """End the motion as the robot does when its user stop is pressed."""
        with self._motion_lock:
            self._abort_with_error((), 'the user stop is pressed')
            self.robot_state.state['robot_mode'] = RobotMode.kUserStopped
            if self._pending_move_response is not None:
                motion, _, packed = self._pending_move_response
                self._pending_move_response = (motion, MoveStatus.kEmergencyAborted, packed)

    def start_command_receiver(self) -> None:
        """Send states from the address that the client has connected to, as a robot does."""
        assert self.udp_socket is not None
        self.udp_socket.bind((self._ip, 0))
        super().start_command_receiver()

    def receive_message(self, sock: Any) -> Any:
        header, payload = super().receive_message(sock)
        if header.command == Command.kConnect and payload and len(payload) >= 2:
            (self._client_version,) = struct.unpack('<H', payload[:2])
        return header, payload

    def send_response(
        self, sock: Any, command: Any, command_id: int, status: ConnectStatus, version: int
    ) -> None:
        """Answer Connect; a client of another version gets to know that."""
        if self._client_version != self.version:
            status = ConnectStatus.kIncompatibleLibraryVersion
        super().send_response(sock, command, command_id, status, self.version)

    def handle_move_command(self, sock: Any, header: MessageHeader, payload: bytes) -> None:
        """Refuse motions that the robot plans itself, which franka-sim would take for others."""
        if payload[ASYNCHRONOUS : ASYNCHRONOUS + 1] not in (b'', b'\0'):
            logger.warning(
                'A client asked for asynchronous motion (AsyncPositionControlHandler), which is '
                'not simulated. Motions of the real-time interface are.'
            )
            self.send_move_response(sock, command_id=header.command_id, status=MoveStatus.kAborted)
        else:
            super().handle_move_command(sock, header, payload)

    def handle_set_collision_behavior_command(
        self, sock: Any, header: MessageHeader, payload: bytes
    ) -> None:
        asked = SetCollisionBehaviorCommand.from_bytes(payload)
        order = collision_order(
            asked.lower_torque_thresholds_nominal + asked.lower_force_thresholds_nominal,
            asked.upper_torque_thresholds_nominal + asked.upper_force_thresholds_nominal,
            asked.upper_torque_thresholds_acceleration + asked.upper_force_thresholds_acceleration,
        )
        self._order(order, super().handle_set_collision_behavior_command, sock, header, payload)

    def handle_set_load_command(self, sock: Any, header: MessageHeader, payload: bytes) -> None:
        asked = SetLoadCommand.from_bytes(payload)
        order = load_order(asked.m_load, asked.F_x_Cload, asked.I_load)
        self._order(order, super().handle_set_load_command, sock, header, payload)

    def handle_set_ne_to_ee_command(
        self, sock: Any, header: MessageHeader, payload: bytes
    ) -> None:
        order = tcp_order(SetNEToEECommand.from_bytes(payload).NE_T_EE)
        self._order(order, super().handle_set_ne_to_ee_command, sock, header, payload)

    def handle_set_ee_to_k_command(self, sock: Any, header: MessageHeader, payload: bytes) -> None:
        order = stiffness_frame_order(SetEEToKCommand.from_bytes(payload).EE_T_K)
        self._order(order, super().handle_set_ee_to_k_command, sock, header, payload)

    def handle_set_joint_impedance_command(
        self, sock: Any, header: MessageHeader, payload: bytes
    ) -> None:
        order = joint_stiffness_order(SetJointImpedanceCommand.from_bytes(payload).K_theta)
        self._order(order, super().handle_set_joint_impedance_command, sock, header, payload)

    def handle_set_cartesian_impedance_command(
        self, sock: Any, header: MessageHeader, payload: bytes
    ) -> None:
        order = cartesian_stiffness_order(SetCartesianImpedanceCommand.from_bytes(payload).K_x)
        self._order(order, super().handle_set_cartesian_impedance_command, sock, header, payload)

    def handle_automatic_error_recovery_command(
        self, sock: Any, header: MessageHeader, payload: bytes
    ) -> None:
        refused = self._arm.monitor.recover()
        if refused is None:
            super().handle_automatic_error_recovery_command(sock, header, payload)
        else:
            self._refuse(sock, header, REFUSED_RECOVERY.get(refused, NOT_POSSIBLE))

    def _order(
        self, order: Order, acknowledge: Handler, sock: Any, header: MessageHeader, payload: bytes
    ) -> None:
        """Change a setting unless a client moves the arm, or refuse as libfranka knows it."""
        if self._arm.in_control():
            self._refuse(sock, header, NOT_POSSIBLE)
        elif self._arm.order(order):
            self._refuse(sock, header, INVALID)
        else:
            acknowledge(sock, header, payload)

    def _refuse(self, sock: Any, header: MessageHeader, status: int) -> None:
        reply = MessageHeader(header.command, header.command_id, 12 + 4)
        self._send_tcp(sock, reply.to_bytes() + struct.pack('<B3x', status))

    def _refuse_move_while_latched(self, sock: Any, header: MessageHeader) -> bool:
        if not (self._user_stopped or self._locked):
            return bool(super()._refuse_move_while_latched(sock, header))
        self.send_move_response(
            sock, command_id=header.command_id, status=MoveStatus.kCommandNotPossibleRejected
        )
        return True

    @property
    def _user_stopped(self) -> bool:
        return self._arm.monitor.mode(False) is StoppedMode.USER_STOPPED

    def _abort_with_error(self, bits: Any, reason: str, motion: int = 0) -> None:
        """Keep the errors of the last motion alone, as the robot does."""
        with self._motion_lock:
            state = self.robot_state.state
            if not any(state['errors']):
                state['reflex_reason'] = [False] * len(state['reflex_reason'])
            super()._abort_with_error(bits, reason, motion)

    def _switch_to_hold_position(self) -> None:
        super()._switch_to_hold_position()
        self._arm.brake()
        self._publish_hold_setpoint()

    def _publish_hold_setpoint(self, joint_positions: Any = None) -> Any:
        """Publish the reference where the arm rests, not its measured joints, which creep."""
        return super()._publish_hold_setpoint(self._arm.rest_rad())

    def _drain_gate(self, answer_deadline: float = 0.0) -> float:
        """
        Also let pass what a millisecond of the robot takes, below real time.

        There the robot's clock waits for its client, too, so that a busy machine loses no packets.
        """
        if self._speed >= 1:
            return float(super()._drain_gate(answer_deadline))
        begun_s = time.perf_counter()
        time.sleep(max(0.0, self._cycle_s + PERIOD_S / self._speed - begun_s))
        super()._drain_gate(self._cycle_s + PATIENCE_S)
        self._cycle_s = time.perf_counter()
        return self._cycle_s - begun_s

    def _account_for_communication_cycle(self) -> None:
        """Step the physics after the last command of the cycle, also one that was made up."""
        super()._account_for_communication_cycle()
        if self._user_stopped or self._locked:  # whatever a client that stops has made of it
            self.robot_state.state['robot_mode'] = self._mode_at_rest
        try:
            self._arm.step()
        except Exception as error:
            self.failure = error
            self.connection_running = self.running = False
            raise
