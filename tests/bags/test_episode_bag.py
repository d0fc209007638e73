"""A task in this process leaves a bag with the topics of a stack."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from bbllm.bags.motion import read_motion
from bbllm.bags.topics import GOALS_TOPIC, WRENCH_TOPIC, WRITTEN
from bbllm.core.events import Ending, Episode, PlanMade, event_text
from bbllm.core.types import Pose, Scene, SkillCall
from bbllm.scene.scene_file import load_scene
from bbllm.scene.transforms import TransformTree
from bbllm.sim.episode_bag import EpisodeBag
from bbllm.sim.motion_recorder import MotionRecorder
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.doubles.demo_bags import record_demo

Decoded = dict[str, list[tuple[int, Any]]]
"""By topic relative to the namespace, the time in the file [ns] and the message."""


def messages_of(path: Path) -> Decoded:
    found: Decoded = {name: [] for name in WRITTEN}
    with path.open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, record, msg in reader.iter_decoded_messages():
            found[channel.topic.removeprefix('/bbllm/')].append((record.log_time, msg))
    return found


@pytest.fixture(scope='module')
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Episode, Scene]:
    path = tmp_path_factory.mktemp('bag') / 'demo.mcap'
    return path, *record_demo(path, 'put the red cube on location_B')


def test_every_topic_has_messages(demo: tuple[Path, Episode, Scene]) -> None:
    assert all(messages_of(demo[0]).values())


def test_events_and_plans_are_those_of_the_episode(demo: tuple[Path, Episode, Scene]) -> None:
    path, episode, _ = demo
    found = messages_of(path)
    assert episode.ending is Ending.FINISHED
    events = [msg for _, msg in found['episode_events']]
    assert [msg.text for msg in events] == [event_text(event.data) for event in episode.events]
    assert {msg.episode_id for msg in events} == {episode.id}
    plans = [event.data for event in episode.events if isinstance(event.data, PlanMade)]
    steps = [tuple(step.text for step in msg.steps) for _, msg in found['plan']]
    assert steps == [plan.steps for plan in plans]


def test_messages_play_at_the_speed_of_the_robot(demo: tuple[Path, Episode, Scene]) -> None:
    path, episode, _ = demo
    found = messages_of(path)
    for name in ('joint_states', 'objects', 'episode_events', GOALS_TOPIC, WRENCH_TOPIC):
        for log_ns, msg in found[name]:
            stamp = msg.header.stamp
            assert stamp.sec * 10**9 + stamp.nanosec == pytest.approx(log_ns, abs=1000)
    times = [log_ns * 1e-9 for log_ns, _ in found['joint_states']]
    assert times[-1] - times[0] >= episode.robot_s
    assert np.median(np.diff(times)) == pytest.approx(1 / 30, abs=0.011)


def test_the_arm_ends_where_its_last_goal_ends(demo: tuple[Path, Episode, Scene]) -> None:
    found = messages_of(demo[0])
    goal, arm = found[GOALS_TOPIC][-1][1], found['franka/joint_states'][-1][1]
    assert goal.joint_names == arm.name
    assert arm.position == pytest.approx(goal.points[-1].positions, abs=0.02)
    assert arm.velocity == pytest.approx([0.0] * 7, abs=0.01)


def tree_of(path: Path) -> TransformTree:
    found, tree = messages_of(path), TransformTree()
    for name in ('tf_static', 'tf'):
        # The arm's and the objects' come in messages of their own.
        last = {item.child_frame_id: item for _, msg in found[name] for item in msg.transforms}
        for item in last.values():
            at, turn = item.transform.translation, item.transform.rotation
            pose = Pose(position_m=(at.x, at.y, at.z), quat_xyzw=(turn.x, turn.y, turn.z, turn.w))
            tree.add(item.header.frame_id, item.child_frame_id, pose, 0.0, static=True)
    return tree


def test_transforms_of_the_bag_put_hand_and_objects_where_the_scene_has_them(
    demo: tuple[Path, Episode, Scene],
) -> None:
    path, _, scene = demo
    tree = tree_of(path)
    assert scene.hand is not None
    hand = tree.lookup('fr3_link0', 'fr3_hand_tcp', 0.0)
    assert hand.position_m == pytest.approx(scene.hand.tcp.position_m, abs=1e-3)
    cube = tree.lookup('fr3_link0', 'bbllm/red_cube', 0.0)
    assert cube.position_m == pytest.approx(scene.object('red_cube').pose.position_m, abs=2e-4)


def test_a_bag_is_a_motion_too(demo: tuple[Path, Episode, Scene]) -> None:
    path, _, scene = demo
    motion = read_motion(path)
    assert motion.complete
    last = motion.poses['red_cube'][-1, :3]
    assert last == pytest.approx(scene.object('red_cube').pose.position_m, abs=2e-4)


def test_recording_changes_no_state(tmp_path: Path) -> None:
    def states(bag_path: Path | None) -> np.ndarray:
        def watch() -> None:
            seen.append(world.robot.simulation.data.qpos.copy())
            recorder.sample()

        seen: list[np.ndarray] = []
        world = TabletopWorld('tabletop', seed=1, on_advance=watch)
        recorder = MotionRecorder(world.robot.simulation)
        if bag_path is None:
            world.execute(SkillCall('pick', ('red_cube',)))
        else:
            with (
                EpisodeBag(bag_path, world.robot, world.observe) as bag,
                recorder.calling(bag.write_state),
                recorder.record(tmp_path / 'b.jsonl'),
            ):
                world.execute(SkillCall('pick', ('red_cube',)))
        return np.array(seen)

    np.testing.assert_array_equal(states(tmp_path / 'a.mcap'), states(None))


def test_a_bag_of_a_panda_has_its_joints_and_hangs_the_objects_on_its_base(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'panda.mcap'
    world = TabletopWorld(load_scene('tabletop').model_copy(update={'robot': 'panda'}))
    with EpisodeBag(path, world.robot, world.observe) as bag:
        bag.write_state()
        cube_m = world.truth().object('red_cube').pose.position_m

    motion, tree = read_motion(path), tree_of(path)
    assert motion.robot.name == 'panda'
    np.testing.assert_allclose(motion.joints_rad[0], motion.robot.home_rad, atol=1e-3)
    assert tree.lookup('panda_link0', 'bbllm/red_cube', 0.0).position_m == pytest.approx(cube_m)
    tool_m = motion.robot.hand_at(motion.joints_rad[0], 0.08).tcp.position_m
    assert tree.lookup('base', 'panda_hand_tcp', 0.0).position_m == pytest.approx(tool_m, abs=1e-6)
