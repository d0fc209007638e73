"""Messages of fixed length, encoded once, in which stamp and numbers are replaced."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bbllm.bags.definitions import definition_of
from bbllm.bags.topics import JOINT_STATE, OBJECT_STATES
from bbllm.core.types import Pose, SceneObject

WORLD_FRAME = 'fr3_link0'
MOVED_M, MOVED_QUAT = 1e-4, 1e-3
"""What an object that lies still moves less than, each axis and each part of its quaternion."""
POSE = 7
"""Numbers of a pose: position [m], quaternion with the scalar last."""
MARK_S = 0x5EC0_57A3
"""A time that stands for a stamp which is replaced; no other number looks like it."""

STAMP = struct.Struct('<iI')
Numbers = tuple[float, ...]


def encoder_of(message: str) -> Callable[[object], bytes]:
    """Return what encodes the fields of a message, `package/msg/Name`, in CDR."""
    from mcap_ros2._dynamic import serialize_dynamic

    encode: Callable[[object], bytes] = serialize_dynamic(message, definition_of(message))[message]
    return encode


def stamp_of(time_s: float) -> dict[str, int]:
    """Return the fields of a builtin_interfaces/Time, rounded to a nanosecond."""
    seconds = math.floor(time_s)
    carry, nanoseconds = divmod(round((time_s - seconds) * 1e9), 1_000_000_000)
    return {'sec': seconds + carry, 'nanosec': nanoseconds}


def header_of(time_s: float, frame: str = WORLD_FRAME) -> dict[str, object]:
    """Return the fields of a std_msgs/Header."""
    return {'stamp': stamp_of(time_s), 'frame_id': frame}


def xyz(values: Sequence[float]) -> dict[str, float]:
    """Return the fields of a point or vector of three numbers."""
    return dict(zip('xyz', map(float, values), strict=True))


def pose_of(numbers: Sequence[float]) -> dict[str, object]:
    """Return the fields of a geometry_msgs/Pose from its `POSE` numbers."""
    turn = dict(zip('xyzw', map(float, numbers[3:]), strict=True))
    return {'position': xyz(numbers[:3]), 'orientation': turn}


def numbers_of(pose: Pose) -> Numbers:
    return (*pose.position_m, *pose.quat_xyzw)


class MessageTemplate:
    """An encoded message whose stamps, all the same, and rows of numbers change."""

    def __init__(
        self,
        message: str,
        fill: Callable[[list[list[float]]], Any],
        *,
        width: int,
        n_rows: int = 1,
    ) -> None:
        """
        Encode a message once.

        Args:
            message: Its type, `package/msg/Name`.
            fill: Returns the fields of the message from its rows; stamps are `MARK_S`.
            width: Numbers of a row.
            n_rows: How many rows there are.
        """
        marks = [[-1e9 - i * width - j for j in range(width)] for i in range(n_rows)]
        self._data = bytearray(encoder_of(message)(fill(marks)))
        self._row = struct.Struct(f'<{width}d')
        self._places = [self._data.index(self._row.pack(*row)) for row in marks]
        mark = STAMP.pack(MARK_S, 0)
        self._stamps = [match.start() for match in re.finditer(re.escape(mark), self._data)]

    def filled(self, stamp_s: float, rows: Iterable[Sequence[float]]) -> bytes:
        """Return the message of a time [s], with its rows of numbers."""
        stamp = STAMP.pack(*stamp_of(stamp_s).values())
        for place in self._stamps:
            self._data[place : place + STAMP.size] = stamp
        for place, row in zip(self._places, rows, strict=True):
            self._row.pack_into(self._data, place, *row)
        return bytes(self._data)


class JointsTemplate:
    """A sensor_msgs/JointState of positions, or with velocities and efforts as well."""

    def __init__(self, names: Sequence[str], frame: str = '', *, moving: bool = False) -> None:
        self._template = MessageTemplate(
            JOINT_STATE,
            lambda rows: {
                'header': header_of(MARK_S, frame),
                'name': list(names),
                **dict(zip(('position', 'velocity', 'effort'), rows, strict=False)),
            },
            width=len(names),
            n_rows=3 if moving else 1,
        )

    def filled(self, stamp_s: float, *rows: Sequence[float]) -> bytes:
        return self._template.filled(stamp_s, rows)


class ObjectsTemplate:
    """A bbllm_interfaces/ObjectStates of all objects of a scene, of which some move."""

    def __init__(self, objects: Sequence[SceneObject]) -> None:
        """Take the objects as they are; ValueError for equal names."""
        self._poses = {item.name: numbers_of(item.pose) for item in objects}
        if len(self._poses) != len(objects):
            raise ValueError('two objects have one name')
        self._shown: dict[str, Numbers] = {}
        self._template = MessageTemplate(
            OBJECT_STATES,
            lambda rows: {
                'header': header_of(MARK_S),
                'objects': [
                    {
                        'name': item.name,
                        'kind': item.kind.value,
                        'color': item.color,
                        'size': xyz(item.size_m),
                        'pose': pose_of(row),
                    }
                    for item, row in zip(objects, rows, strict=True)
                ],
            },
            width=POSE,
            n_rows=len(objects),
        )

    @property
    def poses(self) -> list[Numbers]:
        """Poses of all objects, in their order."""
        return list(self._poses.values())

    def take(self, poses: Mapping[str, Pose]) -> bool:
        """Take new poses; return whether an object has moved since `filled` by more than noise."""
        self._poses.update((name, numbers_of(pose)) for name, pose in poses.items())
        return self._has_moved()

    def filled(self, stamp_s: float) -> bytes:
        self._shown = dict(self._poses)
        return self._template.filled(stamp_s, self._poses.values())

    def _has_moved(self) -> bool:
        if len(self._shown) != len(self._poses):
            return True
        for name, now in self._poses.items():
            before = self._shown[name]
            if now is before:
                continue
            for i in range(POSE):
                if abs(now[i] - before[i]) > (MOVED_M if i < 3 else MOVED_QUAT):
                    return True
        return False
