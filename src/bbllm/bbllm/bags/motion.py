"""
How arm and objects moved in an episode: an MCAP file beside its journal.

The topics and messages are those of a stack, `joint_states` and `objects`, so that the tools of
ROS 2 read it, and `read_motion` reads what `ros2 bag record` writes. The time of a message in the
file is the wall clock, as in the journal; the stamp in its header is the world's clock.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bbllm.bags.messages import (
    JOINT_STATE,
    OBJECT_STATES,
    ObjectsTemplate,
    definition_of,
    joints_template,
    numbers_of,
)
from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import ConfigError
from bbllm.core.reading import MOST_BYTES, open_regular
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.robots.registry import DEFAULT_ROBOT, load_robot, robot_names

if TYPE_CHECKING:
    from mcap.records import Chunk, McapRecord

    from bbllm.robots.robot_model import RobotModel

Array = NDArray[np.float64]

UNMOVED = (Kind.FIXTURE, Kind.LOCATION)
SUFFIX = '.mcap'
TYPES = {'joint_states': JOINT_STATE, 'objects': OBJECT_STATES}
"""Of the messages of a topic, which is named without its namespace."""
CHUNK_BYTES = 32 * 1024
"""Of messages before compression: what a crash loses at most, about 3 s of a motion."""
ROOM_BYTES = 16 * 1024**2
"""Free space that is left to journals, without which their episodes end."""
ROOM_S = 1.0
"""Time between two looks at the free space [s]."""


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

    robot: RobotModel
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
    return journal.with_suffix(SUFFIX)


class MotionWriter:
    """
    Writes the motion of one episode as it comes, from any thread; close it at the end.

    Nothing is raised where the file cannot be written, because no arm stops for it: see `broken`.
    """

    def __init__(
        self, path: Path, objects: Sequence[SceneObject], *, robot: RobotModel | None = None
    ) -> None:
        """
        Create a file; *objects* are all of the scene. ValueError for equal names.

        *robot* names the joints, the default one where it is None.
        """
        from mcap.writer import Writer

        self.broken = ''
        """Why not everything was written, in one sentence; empty where it was."""
        self._path = path
        self._lock = threading.Lock()
        self._room_s = 0.0
        self._objects = ObjectsTemplate(objects)
        self._joints = joints_template((robot or load_robot()).all_joints)
        self._file: BinaryIO | None = None
        try:
            self._file = path.open('xb')
            self._writer = Writer(self._file, chunk_size=CHUNK_BYTES)
            self._writer.start(profile='ros2', library='bbllm')
            self._channels = {
                topic: self._writer.register_channel(
                    f'/{NAMESPACE}/{topic}',
                    'cdr',
                    self._writer.register_schema(kind, 'ros2msg', definition_of(kind).encode()),
                )
                for topic, kind in TYPES.items()
            }
        except OSError as error:
            self._give_up(error)

    def add(self, sample: MotionSample) -> None:
        """Write a sample; objects only where one has moved. Nothing after `close`."""
        half_m = sample.finger_m / 2
        with self._lock:
            if self._file is None:
                return
            row = (*sample.joints_rad, half_m, half_m)
            data = {'joint_states': self._joints.filled(sample.world_s, [row])}
            if self._objects.take(sample.poses):
                data['objects'] = self._objects.filled(sample.world_s)
            log_ns = round(sample.stamp_s * 1e9)
            try:
                self._need_room()
                for topic, message in data.items():
                    self._writer.add_message(self._channels[topic], log_ns, message, log_ns)
                self._file.flush()
            except OSError as error:
                self._give_up(error)

    def close(self) -> None:
        """Write the index of the file; the writer takes nothing more."""
        with self._lock:
            if self._file is None:
                return
            try:
                self._writer.finish()  # type: ignore[no-untyped-call]  # of mcap
                self._file.close()
            except OSError as error:
                self._give_up(error)
            self._file = None

    def _need_room(self) -> None:
        now_s = time.monotonic()
        if now_s - self._room_s >= ROOM_S:
            self._room_s = now_s
            if shutil.disk_usage(self._path.parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _give_up(self, error: OSError) -> None:
        self.broken = f'The recording {self._path} breaks off: {error.strerror or error}.'
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def __enter__(self) -> MotionWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    robot: RobotModel | None = None
    messages = _Messages(path)
    for message, stamp_s, msg in messages.decoded():
        if message == JOINT_STATE:
            places = dict(zip(msg.name, msg.position, strict=False))
            robot = robot or _robot_with(places)
            if robot is None or not all(name in places for name in robot.all_joints):
                continue  # the arm or the hand alone, as a driver publishes them too
            times.append((stamp_s, msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9))
            joints.append([places[name] for name in robot.joints])
            fingers.append(sum(places[name] for name in robot.hand.joints))
        else:
            for item in msg.objects:
                known = _object_from(item)
                if known.kind not in UNMOVED:
                    first.setdefault(known.name, known)
                    row = max(0, len(times) - 1)
                    seen.setdefault(known.name, []).append((row, numbers_of(known.pose)))
    if robot is None:
        raise ConfigError(f'{path} contains no position of an arm. {HOW}')
    stamps, worlds = np.array(times).T
    return RecordedMotion(
        robot=robot,
        stamps_s=stamps,
        world_s=np.maximum.accumulate(worlds),
        joints_rad=np.array(joints),
        finger_m=np.array(fingers),
        poses={name: _column(rows, len(times)) for name, rows in seen.items()},
        objects=tuple(first.values()),
        complete=messages.complete,
    )


def _robot_with(names: Collection[str]) -> RobotModel | None:
    """Return the robot all of whose joints are named, the default one first."""
    known = (load_robot(name) for name in dict.fromkeys((DEFAULT_ROBOT, *robot_names())))
    return next((robot for robot in known if {*robot.all_joints} <= {*names}), None)


MOST_CHUNK_BYTES = 100_000_000
"""Of one part of a file, unpacked; those that bbllm and rosbag2 write have about 1 MB [bytes]."""
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
        from mcap.records import Chunk
        from mcap.stream_reader import StreamReader, breakup_chunk
        from zstandard import ZstdError

        try:
            with open_regular(self._path) as file:
                reader = StreamReader(file, emit_chunks=True, record_size_limit=MOST_BYTES)
                for record in reader.records:
                    if isinstance(record, Chunk):
                        yield from breakup_chunk(self._unpacked(record))
                    else:
                        yield record
        except InvalidMagic as error:
            raise ConfigError(f'{self._path} is no MCAP file. {HOW}') from error
        except (McapError, ZstdError, struct.error, RuntimeError):  # lz4 has no error of its own
            return  # what follows a break, as after a crash or a full disk, is lost
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(
                f'The motion {self._path} cannot be read ({reason}). {HOW}'
            ) from error

    def _unpacked(self, chunk: Chunk) -> Chunk:
        """Return a chunk whose data is not compressed; raises ConfigError where it is too much."""
        import zstandard
        from lz4.frame import LZ4FrameDecompressor

        if chunk.compression == 'zstd':
            with zstandard.ZstdDecompressor().stream_reader(chunk.data) as stream:
                data = stream.read(MOST_CHUNK_BYTES + 1)
        elif chunk.compression == 'lz4':
            data = LZ4FrameDecompressor().decompress(chunk.data, MOST_CHUNK_BYTES + 1)
        else:
            return chunk
        if len(data) > MOST_CHUNK_BYTES:
            raise ConfigError(
                f'The motion {self._path} cannot be read: a part of {len(chunk.data)} bytes '
                f'unpacks to more than {MOST_CHUNK_BYTES // 10**6} MB. {HOW}'
            )
        return replace(chunk, compression='', data=data)


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
