"""Messages of a motion in CDR: encoded once, then stamp and numbers are replaced."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bbllm.core.types import Pose, SceneObject

JOINT_STATE = 'sensor_msgs/msg/JointState'
OBJECT_STATES = 'bbllm_interfaces/msg/ObjectStates'
WORLD_FRAME = 'fr3_link0'
MOVED_M, MOVED_QUAT = 1e-4, 1e-3
"""What an object that lies still moves less than, each axis and each part of its quaternion."""
POSE = 7
"""Numbers of a pose: position [m], quaternion with the scalar last."""
MARK_S = 0x5EC0_57A3
"""A time that stands for the stamp, which is replaced; no other number looks like it."""
STAMP = struct.Struct('<iI')
Numbers = tuple[float, ...]


def definition_of(message: str) -> str:
    """Return the definition of a message with those it contains, in the form `ros2msg` of MCAP."""
    name = message.rpartition('/')[2]
    return Path(__file__).with_name(f'{name}.ros2msg').read_text('utf-8').rstrip('\n')


def numbers_of(pose: Pose) -> Numbers:
    return (*pose.position_m, *pose.quat_xyzw)


def _stamp(time_s: float) -> tuple[int, int]:
    """Return seconds and nanoseconds, rounded to a nanosecond."""
    seconds = math.floor(time_s)
    carry, nanoseconds = divmod(round((time_s - seconds) * 1e9), 1_000_000_000)
    return seconds + carry, nanoseconds


class MessageTemplate:
    """An encoded message whose stamp and rows of numbers change."""

    def __init__(
        self,
        message: str,
        fill: Callable[[list[list[float]]], Mapping[str, Any]],
        *,
        frame: str = '',
        width: int,
        n_rows: int = 1,
    ) -> None:
        """
        Encode a message once.

        Args:
            message: Its type, `package/msg/Name`.
            fill: Returns its fields but the header from its rows.
            frame: Of the header.
            width: Numbers of a row.
            n_rows: How many rows there are.
        """
        from mcap_ros2._dynamic import serialize_dynamic

        marks = [[-1e9 - i * width - j for j in range(width)] for i in range(n_rows)]
        header = {'stamp': {'sec': MARK_S, 'nanosec': 0}, 'frame_id': frame}
        encode = serialize_dynamic(message, definition_of(message))[message]
        self._data = bytearray(encode({'header': header, **fill(marks)}))
        self._row = struct.Struct(f'<{width}d')
        self._places = [self._data.index(self._row.pack(*row)) for row in marks]
        self._stamp = self._data.index(STAMP.pack(MARK_S, 0))

    def filled(self, stamp_s: float, rows: Iterable[Sequence[float]]) -> bytes:
        """Return the message of a time [s], with its rows of numbers."""
        STAMP.pack_into(self._data, self._stamp, *_stamp(stamp_s))
        for place, row in zip(self._places, rows, strict=True):
            self._row.pack_into(self._data, place, *row)
        return bytes(self._data)


def joints_template(names: Sequence[str]) -> MessageTemplate:
    """Return a sensor_msgs/JointState, whose one row are the positions of joints."""
    return MessageTemplate(
        JOINT_STATE,
        lambda rows: {'name': list(names), 'position': rows[0]},
        width=len(names),
    )


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
            lambda rows: {'objects': list(map(_object, objects, rows))},
            frame=WORLD_FRAME,
            width=POSE,
            n_rows=len(objects),
        )

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


def _object(item: SceneObject, row: Sequence[float]) -> dict[str, object]:
    """Return the fields of a bbllm_interfaces/ObjectState, with the pose of a row."""
    pose = {
        'position': dict(zip('xyz', row[:3], strict=True)),
        'orientation': dict(zip('xyzw', row[3:], strict=True)),
    }
    size = dict(zip('xyz', map(float, item.size_m), strict=True))
    return {
        'name': item.name,
        'kind': item.kind.value,
        'color': item.color,
        'size': size,
        'pose': pose,
    }
