"""
Fast messages, read from what was serialized.

A driver sends a thousand a second that differ in stamp and numbers only. rclpy makes objects of
all that is in them, which takes five times as long as the reading here. In CDR a message follows
four bytes of encapsulation, numbers are aligned to their size from there on, and a sequence begins
with its length (OMG DDSI-RTPS 2.5, section 10).
"""

import struct
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.arm.driver import Array
from bbllm.robots.fr3 import FR3
from bbllm.scene.hand_force import Force
from bbllm_ros.convert.arm import arm_from_msg, force_from_wrench
from bbllm_ros.convert.records import stamp_from_msg, vector_from_msg

M = TypeVar('M')
LITTLE_ENDIAN = b'\x00\x01'
"""Begins what can be read here, by the identifier of its encapsulation."""
STAMP = struct.Struct('<iI')
STAMP_AT = 4
NAMES_AT = STAMP_AT + STAMP.size
COUNT = struct.Struct('<I')
DOUBLE = 8
FORCE = struct.Struct('<3d')


class ForceReading(NamedTuple):
    """An estimated force of the world on the hand [N], and when it was measured [s]."""

    stamp_s: float
    force_n: Force | None


class ArmReading(NamedTuple):
    """Positions and velocities of the arm, shape (7,) each, and when they were measured [s]."""

    stamp_s: float
    position_rad: Array
    velocity_rad_s: Array


def read_force(data: bytes) -> ForceReading:
    """Read a WrenchStamped; see `force_from_wrench`."""
    if not data.startswith(LITTLE_ENDIAN):
        msg = deserialize_message(data, WrenchStamped)
        force_n = vector_from_msg(msg.wrench.force)
        return ForceReading(stamp_from_msg(msg.header.stamp), force_from_wrench(force_n))
    (frame,) = COUNT.unpack_from(data, NAMES_AT)
    x, y, z = FORCE.unpack_from(data, _aligned(NAMES_AT + COUNT.size + frame, DOUBLE))
    return ForceReading(read_stamp(data), force_from_wrench((x, y, z)))


def read_stamp(data: bytes) -> float:
    """Return the stamp of a message that begins with a header [s]."""
    stamp = STAMP if data.startswith(LITTLE_ENDIAN) else struct.Struct('>iI')
    seconds, nanoseconds = stamp.unpack_from(data, STAMP_AT)
    return float(seconds) + nanoseconds * 1e-9


class StampedMessage(Generic[M]):
    """A message that begins with a header, and is read only once it is needed."""

    def __init__(self, kind: type[M], data: bytes):
        self._kind, self._data = kind, data
        self.stamp_s = read_stamp(data)
        """When what it states was measured, on the world's clock [s]."""

    @property
    def content(self) -> bytes:
        """All of it but the stamp."""
        return self._data[NAMES_AT:]

    @cached_property
    def message(self) -> M:
        message: M = deserialize_message(self._data, self._kind)
        return message


class ArmReader:
    """Reads JointStates; learns from the first of a driver where its numbers are."""

    def __init__(self) -> None:
        self._layout: _Layout | None = None

    def read(self, data: bytes) -> ArmReading | None:
        """Return the state of the arm; None if joints are missing."""
        layout = self._layout
        if layout is None or not layout.fits(data):
            return self._learn(data)
        return ArmReading(read_stamp(data), *layout.read(data))

    def _learn(self, data: bytes) -> ArmReading | None:
        msg = deserialize_message(data, JointStateMsg)
        measured = arm_from_msg(msg)
        if measured is None:
            return None
        self._layout = _Layout.of(msg)
        return ArmReading(stamp_from_msg(msg.header.stamp), *measured)


class _Layout(NamedTuple):
    """Where the numbers are in the joint states of one driver."""

    first: int
    """Where the positions begin."""
    names: int
    """What lies between the stamp and the positions: the frame, the names and their number."""
    mask: int
    """Which bits of that count; those between two names may be anything."""
    joints: int
    order: list[int]
    """Where the joints of the arm are among all."""

    @staticmethod
    def of(msg: JointStateMsg) -> '_Layout':
        names, mask = bytearray(), bytearray()

        def add(content: bytes, size: int) -> None:
            at = NAMES_AT + len(names)
            gap = bytes(_aligned(at, size) - at)
            names.extend(gap + content)
            mask.extend(gap + b'\xff' * len(content))

        def add_text(text: str) -> None:
            content = text.encode() + b'\0'
            add(COUNT.pack(len(content)) + content, COUNT.size)

        joints = len(msg.name)
        add_text(msg.header.frame_id)
        add(COUNT.pack(joints), COUNT.size)
        for name in msg.name:
            add_text(name)
        add(COUNT.pack(joints), COUNT.size)
        add(b'', DOUBLE)
        order = [msg.name.index(name) for name in FR3.joints]
        return _Layout(NAMES_AT + len(names), _number(names), _number(mask), joints, order)

    def fits(self, data: bytes) -> bool:
        """Return whether a message has the same names, and as many positions and velocities."""
        second = self.first + DOUBLE * self.joints
        return (
            data.startswith(LITTLE_ENDIAN)
            and len(data) >= second + DOUBLE * (self.joints + 1)
            and _number(data[NAMES_AT : self.first]) & self.mask == self.names
            and COUNT.unpack_from(data, second)[0] == self.joints
        )

    def read(self, data: bytes) -> tuple[Array, Array]:
        """Return positions and velocities of the arm, shape (7,) each."""
        second = self.first + DOUBLE * (self.joints + 1)
        position, velocity = (
            np.frombuffer(data, '<f8', self.joints, at)[self.order] for at in (self.first, second)
        )
        return position, velocity


def _aligned(at: int, size: int) -> int:
    return at + -(at - STAMP_AT) % size


def _number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, 'little')
