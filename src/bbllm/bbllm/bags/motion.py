"""
How arm and objects moved in an episode: an MCAP file beside its journal.

The topics and messages are those of a stack, `joint_states` and `objects`, so that one reader
serves both and the tools of ROS 2 read it. The time of a message in the file is the wall clock, as
in the journal; the stamp in its header is the world's clock.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.model import ARM_JOINTS, FINGER_JOINTS
from bbllm.bags.definitions import JOINT_STATE, OBJECT_STATES, definition_of
from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import ConfigError
from bbllm.core.types import Kind, Pose, SceneObject

if TYPE_CHECKING:
    from mcap.records import McapRecord

Array = NDArray[np.float64]

JOINTS = (*ARM_JOINTS, *FINGER_JOINTS)
FRAME = 'fr3_link0'
CHUNK_BYTES = 32 * 1024
"""Of messages before compression: what a crash loses at most, about 3 s of a motion."""
MOVED_M, MOVED_QUAT = 1e-4, 1e-3
"""What an object that lies still moves less than, each axis and each part of its quaternion."""
ROOM_BYTES = 16 * 1024**2
"""Free space that is left to journals, without which their episodes end."""
ROOM_S = 1.0
"""Time between two looks at the free space [s]."""
POSE = 7
"""Numbers of a pose: position [m], quaternion with the scalar last."""
UNMOVED = (Kind.FIXTURE, Kind.LOCATION)


@dataclass(frozen=True, slots=True)
class MotionSample:
    """Where the arm and the objects are at one time."""

    stamp_s: float
    """Wall clock, as stamps of events in the journal [s]."""
    world_s: float
    """The world's clock [s]."""
    joints_rad: Sequence[float]
    """Shape (7,)."""
    finger_m: float
    """Distance between the fingers [m]."""
    poses: Mapping[str, Pose]
    """Of objects by name, in the frame of the base."""


@dataclass(frozen=True, slots=True)
class RecordedMotion:
    """How the arm and the objects moved, as columns of N samples."""

    stamps_s: Array
    """Wall clock, shape (N,) [s]."""
    world_s: Array
    """The world's clock, which never runs backwards, shape (N,) [s]."""
    joints_rad: Array
    """Shape (N, 7)."""
    finger_m: Array
    """Distance between the fingers, shape (N,) [m]."""
    poses: Mapping[str, Array]
    """Of `objects` by name, in the frame of the base: position and quaternion with the scalar
    last, shape (N, 7). Before an object was first seen, where it was seen then."""
    objects: tuple[SceneObject, ...]
    """As first seen, without furniture and places."""
    complete: bool
    """False where the file breaks off: the episode runs, or its process died."""


def motion_path(journal: Path) -> Path:
    """Return where the motion of a journal's episode is."""
    return journal.with_suffix('.mcap')


class MotionWriter:
    """
    Writes the motion of one episode as it comes; close it at the end.

    Nothing is raised where the file cannot be written, because no arm stops for it: see `broken`.
    """

    def __init__(
        self, path: Path, objects: Sequence[SceneObject], namespace: str = NAMESPACE
    ) -> None:
        """Create a file; *objects* are all of the scene. ValueError for equal names."""
        from mcap_ros2.writer import Writer

        self.path = path
        self.broken = ''
        """Why not everything was written, in one sentence; empty where it was."""
        self._lock = threading.Lock()
        self._room_s = 0.0
        self._poses = {item.name: _numbers(item.pose) for item in objects}
        if len(self._poses) != len(objects):
            raise ValueError('two objects have one name')
        self._shown: dict[str, tuple[float, ...]] = {}
        self._joints = _Template(
            JOINT_STATE,
            len(JOINTS),
            lambda marks: {
                'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''},
                'name': list(JOINTS),
                'position': marks[0],
                'velocity': [],
                'effort': [],
            },
        )
        self._objects = _Template(
            OBJECT_STATES, POSE, lambda marks: _objects_message(objects, marks), len(objects)
        )
        self._file: BinaryIO | None = None
        try:
            self._file = path.open('xb')
            self._writer = Writer(self._file, chunk_size=CHUNK_BYTES)._writer
            self._channels = {
                topic: self._writer.register_channel(
                    f'/{namespace}/{topic}',
                    'cdr',
                    self._writer.register_schema(
                        message, 'ros2msg', definition_of(message).encode()
                    ),
                )
                for topic, message in (('joint_states', JOINT_STATE), ('objects', OBJECT_STATES))
            }
        except OSError as error:
            self._give_up(error)

    def add(self, sample: MotionSample) -> None:
        """Write a sample; objects only where one has moved. Nothing after `close`."""
        with self._lock:
            if self._file is None:
                return
            half_m = sample.finger_m / 2
            joints = ((*sample.joints_rad, half_m, half_m),)
            self._poses.update((name, _numbers(pose)) for name, pose in sample.poses.items())
            try:
                self._need_room(sample.stamp_s)
                self._write('joint_states', sample, self._joints.filled(sample.world_s, joints))
                if self._has_moved():
                    self._shown = dict(self._poses)
                    data = self._objects.filled(sample.world_s, self._poses.values())
                    self._write('objects', sample, data)
                self._file.flush()
            except OSError as error:
                self._give_up(error)

    def close(self) -> None:
        """Write the index of the file; the writer takes nothing more."""
        with self._lock:
            if self._file is None:
                return
            try:
                self._writer.finish()  # type: ignore[no-untyped-call]
                self._file.close()
            except OSError as error:
                self._give_up(error)
            self._file = None

    def __enter__(self) -> MotionWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, topic: str, sample: MotionSample, data: bytes) -> None:
        stamp_ns = round(sample.stamp_s * 1e9)
        self._writer.add_message(self._channels[topic], stamp_ns, data, stamp_ns)

    def _need_room(self, now_s: float) -> None:
        if abs(now_s - self._room_s) >= ROOM_S:
            self._room_s = now_s
            if shutil.disk_usage(self.path.parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

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

    def _give_up(self, error: OSError) -> None:
        self.broken = f'The motion {self.path} breaks off: {error.strerror or error}.'
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


def read_motion(path: Path) -> RecordedMotion:
    """
    Read a motion; also one that breaks off, as far as it goes.

    Raises:
        ConfigError: There is no such file, or no position of an arm in it; the text contains how
            one is made.
    """
    times, joints, fingers = list[tuple[float, float]](), list[list[float]](), list[float]()
    first: dict[str, SceneObject] = {}
    seen: dict[str, list[tuple[int, tuple[float, ...]]]] = {}
    messages = _Messages(path)
    for message, stamp_s, msg in messages.decoded():
        if message == JOINT_STATE:
            places = dict(zip(msg.name, msg.position, strict=False))
            if not all(name in places for name in JOINTS):
                continue  # the arm or the hand alone, as a driver publishes them too
            times.append((stamp_s, msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9))
            joints.append([places[name] for name in ARM_JOINTS])
            fingers.append(sum(places[name] for name in FINGER_JOINTS))
        else:
            for item in msg.objects:
                known = _object_from(item)
                if known.kind not in UNMOVED:
                    first.setdefault(known.name, known)
                    row = max(0, len(times) - 1)
                    seen.setdefault(known.name, []).append((row, _numbers(known.pose)))
    if not times:
        raise ConfigError(f'{path} contains no position of an arm. {HOW}')
    stamps, worlds = np.array(times).T
    return RecordedMotion(
        stamps_s=stamps,
        world_s=np.maximum.accumulate(worlds),
        joints_rad=np.array(joints),
        finger_m=np.array(fingers),
        poses={name: _column(rows, len(times)) for name, rows in seen.items()},
        objects=tuple(first.values()),
        complete=messages.complete,
    )


HOW = 'A task of an arm in this process writes one beside its journal: `bbllm demo` is one.'


class _Messages:
    """The messages of a file that a motion consists of; `complete` once all were read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.complete = False

    def decoded(self) -> Iterator[tuple[str, float, Any]]:
        """Yield type, time in the file [s] and content of each; raises ConfigError."""
        from mcap.records import Channel, Footer, Message, Schema
        from mcap_ros2.decoder import DecoderFactory

        factory = DecoderFactory()
        schemas, channels = dict[int, Schema](), dict[int, Schema]()
        for record in self._records():
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                if (schema := schemas.get(record.schema_id)) is not None:
                    channels[record.id] = schema
            elif isinstance(record, Message):
                schema = channels.get(record.channel_id)
                if schema is None or schema.name not in (JOINT_STATE, OBJECT_STATES):
                    continue
                decode = factory.decoder_for('cdr', schema)
                if decode is not None:
                    yield schema.name, record.log_time * 1e-9, decode(record.data)
            elif isinstance(record, Footer):
                self.complete = True

    def _records(self) -> Iterator[McapRecord]:
        from mcap.exceptions import InvalidMagic, McapError
        from mcap.stream_reader import StreamReader
        from zstandard import ZstdError

        try:
            with self._path.open('rb') as file:
                yield from StreamReader(file, record_size_limit=None).records
        except InvalidMagic as error:
            raise ConfigError(f'{self._path} is no MCAP file. {HOW}') from error
        except (McapError, ZstdError, struct.error):
            return  # what follows a break, as after a crash or a full disk, is lost
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(
                f'The motion {self._path} cannot be read ({reason}). {HOW}'
            ) from error


class _Template:
    """An encoded message of fixed length, in which stamp and rows of numbers change."""

    def __init__(self, message: str, width: int, fill: Any, n_rows: int = 1) -> None:
        """*fill* returns the content of the message from its rows of *width* numbers."""
        from mcap_ros2._dynamic import serialize_dynamic

        marks = [[-1e9 - i * width - j for j in range(width)] for i in range(n_rows)]
        encode = serialize_dynamic(message, definition_of(message))[message]
        self._data = bytearray(encode(fill(marks)))
        self._row = struct.Struct(f'<{width}d')
        self._places = [self._data.index(self._row.pack(*row)) for row in marks]

    def filled(self, world_s: float, rows: Any) -> bytes:
        """Return the message of a time on the world's clock [s]."""
        seconds = math.floor(world_s)
        nanoseconds = min(round((world_s - seconds) * 1e9), 999_999_999)
        struct.pack_into('<iI', self._data, STAMP_AT, seconds, nanoseconds)
        for place, row in zip(self._places, rows, strict=True):
            self._row.pack_into(self._data, place, *row)
        return bytes(self._data)


STAMP_AT = 4
"""Of the stamp of a message with a header, behind the four bytes that name the encoding."""


def _objects_message(objects: Sequence[SceneObject], marks: list[list[float]]) -> object:
    return {
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': FRAME},
        'objects': [
            {
                'name': item.name,
                'kind': item.kind.value,
                'color': item.color,
                'size': dict(zip('xyz', item.size_m, strict=True)),
                'pose': {
                    'position': dict(zip('xyz', row[:3], strict=True)),
                    'orientation': dict(zip('xyzw', row[3:], strict=True)),
                },
            }
            for item, row in zip(objects, marks, strict=True)
        ],
    }


def _numbers(pose: Pose) -> tuple[float, ...]:
    return (*pose.position_m, *pose.quat_xyzw)


def _object_from(item: Any) -> SceneObject:
    at, turn = item.pose.position, item.pose.orientation
    known = {kind.value: kind for kind in Kind}
    return SceneObject(
        name=item.name,
        kind=known.get(item.kind, Kind.OTHER),
        pose=Pose(position_m=(at.x, at.y, at.z), quat_xyzw=(turn.x, turn.y, turn.z, turn.w)),
        size_m=(item.size.x, item.size.y, item.size.z),
        color=item.color,
    )


def _column(rows: list[tuple[int, tuple[float, ...]]], n: int) -> Array:
    """Return poses for n samples from those of some rows; each stays until the next."""
    at = np.array([row for row, _ in rows])
    poses = np.array([pose for _, pose in rows])
    return poses[np.maximum(np.searchsorted(at, np.arange(n), side='right') - 1, 0)]
