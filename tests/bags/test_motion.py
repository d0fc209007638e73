"""A motion is read as it was written, also where it breaks off."""

import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbllm.api.robot import Robot
from bbllm.bags.messages import JOINT_STATE, OBJECT_STATES, definition_of
from bbllm.bags.motion import (
    MOST_CHUNK_BYTES,
    MotionSample,
    MotionWriter,
    motion_path,
    read_motion,
)
from bbllm.core.errors import ConfigError
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Kind, Pose, SceneObject

TABLE = SceneObject(name='table', kind=Kind.FIXTURE, pose=Pose(position_m=(0.5, 0.0, 0.0)))
CUBE = SceneObject(
    name='<b>"cube"</b>',
    kind=Kind.CUBE,
    pose=Pose(position_m=(0.4, 0.1, 0.02), quat_xyzw=(0.0, 0.0, 0.6, 0.8)),
    size_m=(0.04, 0.05, 0.06),
    color='red',
)


def sample_at(i: int, x_m: float = 0.4) -> MotionSample:
    return MotionSample(
        stamp_s=1.8e9 + i / 30,
        world_s=i / 30,
        joints_rad=tuple(0.1 * j + i for j in range(7)),
        finger_m=0.04,
        poses={CUBE.name: Pose(position_m=(x_m, 0.1, 0.02), quat_xyzw=(0.0, 0.0, 0.6, 0.8))},
    )


def write(path: Path, samples: list[MotionSample]) -> Path:
    with MotionWriter(path, (TABLE, CUBE)) as writer:
        for sample in samples:
            writer.add(sample)
    assert not writer.broken
    return path


def messages_of(path: Path, topic: str) -> Iterator[Any]:
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with path.open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == 'ros2'
        for _, _, _, msg in reader.iter_decoded_messages(topics=[topic]):
            yield msg


def test_a_motion_is_read_as_it_was_written(tmp_path: Path) -> None:
    samples = [sample_at(i, 0.4 + 0.01 * max(0, i - 2)) for i in range(5)]
    motion = read_motion(write(tmp_path / 'a.mcap', samples))
    assert motion.complete
    assert motion.objects == (CUBE,)
    assert motion.stamps_s == pytest.approx([s.stamp_s for s in samples], abs=1e-6)
    assert motion.world_s == pytest.approx([s.world_s for s in samples], abs=1e-8)
    np.testing.assert_array_equal(motion.joints_rad, [s.joints_rad for s in samples])
    assert motion.finger_m == pytest.approx([0.04] * 5)
    assert motion.poses[CUBE.name][:, 0] == pytest.approx([0.4, 0.4, 0.4, 0.41, 0.42])
    assert motion.poses[CUBE.name][0, 3:] == pytest.approx(CUBE.pose.quat_xyzw)


def test_objects_are_written_where_one_has_moved_by_more_than_noise(tmp_path: Path) -> None:
    moves = [0.4, 0.40005, 0.40009, 0.4002, 0.4002]
    path = write(tmp_path / 'a.mcap', [sample_at(i, x) for i, x in enumerate(moves)])
    objects = list(messages_of(path, '/bbllm/objects'))
    assert [msg.objects[1].pose.position.x for msg in objects] == [0.4, 0.4002]
    assert len(list(messages_of(path, '/bbllm/joint_states'))) == len(moves)


def test_a_file_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = write(tmp_path / 'a.mcap', [sample_at(i) for i in range(400)])
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    motion = read_motion(cut)
    assert not motion.complete
    assert 50 < len(motion.world_s) < 400
    assert motion.objects == (CUBE,)


@pytest.mark.parametrize('compression', ['ZSTD', 'LZ4'])
def test_a_file_that_unpacks_to_very_much_is_refused(tmp_path: Path, compression: str) -> None:
    from mcap.writer import CompressionType, Writer

    path = tmp_path / 'a.mcap'
    with path.open('wb') as file:
        writer = Writer(file, chunk_size=2**30, compression=CompressionType[compression])
        writer.start()
        schema = writer.register_schema('sensor_msgs/msg/JointState', 'ros2msg', b'')
        channel = writer.register_channel('/joint_states', 'cdr', schema)
        writer.add_message(channel, 0, bytes(MOST_CHUNK_BYTES), 0)
        writer.finish()
    assert path.stat().st_size < 1_000_000

    with pytest.raises(ConfigError, match=r'a\.mcap cannot be read: .* more than 100 MB\.'):
        read_motion(path)


def test_what_was_written_before_a_crash_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / 'a.mcap'
    writer = MotionWriter(path, (TABLE, CUBE))
    for i in range(300):
        writer.add(sample_at(i))
    motion = read_motion(path)  # which nobody has closed
    assert not motion.complete
    assert len(motion.world_s) > 150
    writer.close()
    assert len(read_motion(path).world_s) == 300


@pytest.mark.parametrize('content', [None, b'', b'no recording at all', 'pipe'])
def test_a_file_that_is_no_motion_is_refused_with_how_one_is_made(
    tmp_path: Path, content: bytes | str | None
) -> None:
    path = tmp_path / 'a.mcap'
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        os.mkfifo(path)
    with pytest.raises(ConfigError, match=r'a\.mcap.*bbllm demo'):
        read_motion(path)


def test_a_full_disk_ends_the_file_and_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Path('/dev/full').open('wb')  # noqa: SIM115  # the writer closes it
    own = Path.open
    monkeypatch.setattr(
        Path,
        'open',
        lambda path, mode='r', *more, **words: (
            full if mode == 'xb' else own(path, mode, *more, **words)
        ),
    )
    with MotionWriter(tmp_path / 'a.mcap', (TABLE, CUBE)) as writer:
        for i in range(300):
            writer.add(sample_at(i))
    assert 'breaks off: No space left on device' in writer.broken


def test_a_motion_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / 'a.mcap', [sample_at(0)])
    with MotionWriter(path, (TABLE, CUBE)) as writer:
        writer.add(sample_at(1))
    assert 'File exists' in writer.broken
    assert len(read_motion(path).world_s) == 1


@pytest.mark.ros
@pytest.mark.parametrize('topic', ['joint_states', 'objects'])
def test_ros_reads_the_messages(tmp_path: Path, topic: str) -> None:
    from mcap.reader import make_reader
    from rclpy.serialization import deserialize_message

    path = write(tmp_path / 'a.mcap', [sample_at(3)])
    with path.open('rb') as file:
        schema, _, message = next(make_reader(file).iter_messages(topics=[f'/bbllm/{topic}']))
    package, _, name = schema.name.split('/')
    kind = getattr(importlib.import_module(f'{package}.msg'), name)
    msg = deserialize_message(message.data, kind)
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == (0, 100_000_000)
    if topic == 'objects':
        assert [item.name for item in msg.objects] == ['table', CUBE.name]
        assert msg.objects[1].pose.orientation.z == 0.6
    else:
        assert list(msg.position[:7]) == list(sample_at(3).joints_rad)


@pytest.mark.ros
@pytest.mark.parametrize('message', [JOINT_STATE, OBJECT_STATES])
def test_definitions_in_the_file_are_those_of_the_interfaces(message: str) -> None:
    from ament_index_python.packages import get_package_share_directory

    first, *others = definition_of(message).split('=' * 80 + '\n')
    parts = dict(part.removeprefix('MSG: ').split('\n', 1) for part in others)
    for name, text in {message.replace('/msg/', '/'): first, **parts}.items():
        package, _, part = name.partition('/')
        source = Path(get_package_share_directory(package), 'msg', f'{part}.msg').read_text()
        lines = (re.sub(r'\s*#.*', '', line) for line in source.splitlines())
        assert text.splitlines() == [line for line in lines if line.strip()], name


def test_a_task_leaves_its_motion_beside_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    with Robot('sim', brain='offline', goal='no') as robot:
        episode = robot.do('put the red cube on location_B')
        scene = robot.observe()
    motion = read_motion(motion_path(episodes_dir() / f'{episode.id}.jsonl'))
    assert motion.complete
    last = scene.object('red_cube').pose
    assert motion.poses['red_cube'][-1, :3] == pytest.approx(last.position_m, abs=2e-4)
    periods = np.diff(motion.world_s)
    assert np.median(periods) == pytest.approx(1 / 30, abs=0.011)
    assert len(periods) == pytest.approx(30 * (motion.world_s[-1] - motion.world_s[0]), rel=0.1)
    assert episode.events[0].stamp_s - 1.0 < motion.stamps_s[0] <= episode.events[-1].stamp_s
