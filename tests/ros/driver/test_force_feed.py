"""What the hand feels over ROS: the driver's wrench, turned round, while the arm rests."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from bbllm_interfaces.srv import SetObjectMass
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.arm.force_estimator import SilentForceError
from bbllm.core.types import HandReading, Scene, SkillCall, Status
from bbllm.robots.fr3 import FR3
from bbllm_ros.convert.records import stamp_to_msg
from bbllm_ros.driver import force_feed
from bbllm_ros.driver.force_feed import TOPIC, ForceFeed, PullFeed
from bbllm_ros.driver.joint_feed import ARM_TOPIC, JointFeed
from tests.ros.drivers import driver_of
from tests.ros.managers import Topics
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

GRAVITY_M_S2 = 9.81


@pytest.fixture
def topics() -> Topics:
    return Topics()


@pytest.fixture
def feed(topics: Topics) -> ForceFeed:
    joints = JointFeed(topics, topics, 'hand', 60.0)  # type: ignore[arg-type]
    return ForceFeed(topics, topics, joints)  # type: ignore[arg-type]


@pytest.fixture(scope='module')
def arm_at_work(ros_domain: int) -> Iterator[Running]:
    exact: Any = {'mujoco_sim': {'force_noise_n': 0.0}}
    with started(('mujoco_sim', 'state_estimator', 'fr3_executor'), params=exact) as stack:
        yield stack


def arm(stamp_s: float, speed_rad_s: float, turned_rad: float = 0.0) -> JointStateMsg:
    msg = JointStateMsg(name=list(FR3.joints), position=[turned_rad] * 7, velocity=[0.0] * 7)
    msg.velocity[3] = -speed_rad_s
    msg.header.stamp = stamp_to_msg(stamp_s)
    return msg


def felt(stamp_s: float, force_n: tuple[float, float, float]) -> WrenchStamped:
    x, y, z = force_n
    msg = WrenchStamped(wrench=Wrench(force=Vector3(x=x, y=y, z=z)))
    msg.header.stamp = stamp_to_msg(stamp_s)
    return msg


def felt_scene(running: Running) -> tuple[Scene, HandReading]:
    """Return a scene with a force in it: on a busy machine readings may come late."""
    found: list[tuple[Scene, HandReading]] = []

    def observe() -> bool:
        scene = running.client.scene()
        if scene.hand is not None and scene.hand.force_n is not None:
            found.append((scene, scene.hand))
        return bool(found)

    until(observe, 'force in the scene')
    return found[0]


def test_what_the_robot_does_to_the_world_is_turned_into_what_is_done_to_it(
    feed: ForceFeed, topics: Topics
) -> None:
    topics.receive[ARM_TOPIC](arm(1.0, 0.0))
    topics.receive[TOPIC](felt(1.0, (0.0, 0.0, 0.0)))
    assert feed.force_n(1.0) is None  # the zeros of a singularity are no reading

    topics.receive[TOPIC](felt(1.0, (0.5, -0.25, 1.5)))

    assert feed.force_n(1.0) == (-0.5, 0.25, -1.5)


def test_the_force_is_unknown_while_the_arm_moves_or_sends_no_states(
    feed: ForceFeed, topics: Topics
) -> None:
    topics.receive[TOPIC](felt(0.9, (0.0, 0.0, 1.0)))
    assert feed.force_n(0.9) is None
    topics.receive[ARM_TOPIC](arm(1.0, 0.0))
    topics.receive[TOPIC](felt(1.0, (0.0, 0.0, 1.0)))
    assert feed.force_n(1.0) is not None

    topics.receive[ARM_TOPIC](arm(1.01, 0.4))
    topics.receive[TOPIC](felt(1.01, (0.0, 0.0, 1.0)))

    assert feed.force_n(1.01) is None


def test_a_motion_whose_states_were_all_lost_begins_the_rest_anew(
    feed: ForceFeed, topics: Topics
) -> None:
    for stamp_s, turned_rad, force_n in ((1.0, 0.0, 9.0), (1.3, 0.0, 9.0), (1.9, 0.5, 4.0)):
        topics.receive[ARM_TOPIC](arm(stamp_s, 0.0, turned_rad))
        topics.receive[TOPIC](felt(stamp_s, (0.0, 0.0, force_n)))
    assert feed.force_n(1.9) is None, 'the load still swings'

    for stamp_s in (1.92, 2.0, 2.15, 2.17):
        topics.receive[ARM_TOPIC](arm(stamp_s, 0.0, 0.5))
        topics.receive[TOPIC](felt(stamp_s, (0.0, 0.0, 1.0)))

    assert feed.force_n(2.17) == (0.0, 0.0, -1.0)


@pytest.fixture
def pull(topics: Topics) -> PullFeed:
    return PullFeed(topics)  # type: ignore[arg-type]


def test_a_pull_has_the_same_sign_and_ignores_zeros(pull: PullFeed, topics: Topics) -> None:
    topics.receive[TOPIC](felt(1.0, (0.0, 0.0, 0.0)))
    assert pull.settled_n(0.0) is None  # it was never told

    topics.receive[TOPIC](felt(1.0, (0.5, 0.0, 4.0)))
    topics.receive[TOPIC](felt(1.001, (0.0, 0.0, 0.0)))

    assert pull.meter.mean_n() == -4.0


def test_a_pull_is_the_mean_of_what_was_measured_since_a_time(
    pull: PullFeed, topics: Topics
) -> None:
    for i in range(30):
        topics.receive[TOPIC](felt(1.0 + 0.002 * i, (0.0, 0.0, float(i))))

    assert pull.settled_n(1.0) == pytest.approx(-24.5)
    assert pull.settled_n(1.0 + 0.002 * 19.5) == pytest.approx(-24.5)


def test_a_pull_without_a_new_reading_is_silent(
    pull: PullFeed, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(force_feed, 'SILENT_S', 0.05)
    topics.receive[TOPIC](felt(1.0, (0.0, 0.0, 4.0)))
    topics.receive[TOPIC](felt(1.1, (0.0, 0.0, 0.0)))  # near a singularity

    with pytest.raises(SilentForceError, match=f'{TOPIC} has sent no force'):
        pull.settled_n(1.05)


def test_an_arm_that_has_only_just_come_to_rest_is_waited_for(
    feed: ForceFeed, topics: Topics
) -> None:
    topics.receive[ARM_TOPIC](arm(1.0, 0.4))
    topics.receive[TOPIC](felt(1.0, (0.0, 0.0, 9.0)))
    topics.receive[ARM_TOPIC](arm(1.01, 0.0))
    late = threading.Thread(target=topics.receive[TOPIC], args=(felt(1.01, (0.0, 0.0, 1.0)),))
    late.start()

    force_n = feed.force_n(1.01, wait_s=60.0)
    late.join()

    assert force_n == (0.0, 0.0, -1.0)


def test_the_scene_holds_where_the_hand_is_and_what_the_held_cube_weighs(
    arm_at_work: Running,
) -> None:
    client, mass_kg = arm_at_work.client, 0.15
    driver = driver_of(arm_at_work)
    reply = arm_at_work.ask(SetObjectMass, 'sim/set_object_mass', name='red_cube', mass=mass_kg)
    assert reply.success, reply.message

    lifted = client.execute(SkillCall('pick', ('red_cube',)))
    assert (lifted.status, lifted.message) == (Status.SUCCEEDED, '')
    assert client.execute(SkillCall('wait', ('0.3',))).succeeded  # until it is weighed
    scene, hand = felt_scene(arm_at_work)

    cube = scene.object('red_cube')
    assert hand.force_n == pytest.approx((0.0, 0.0, -GRAVITY_M_S2 * mass_kg), abs=0.05)
    assert hand.width_m == pytest.approx(cube.size_m[1], abs=2e-3)
    assert hand.tcp.position_m[:2] == pytest.approx(cube.pose.position_m[:2], abs=2e-3)
    x, _, z, w = hand.tcp.quat_xyzw
    assert (z, w) == pytest.approx((0.0, 0.0), abs=0.02)
    assert x > 0
    # The newest reading: a busy machine may still have to take in states of the lift.
    weight_n = pytest.approx(-GRAVITY_M_S2 * mass_kg, abs=0.05)
    until(lambda: driver.vertical_force_n() == weight_n, 'weight of the cube')
    # An empty hand feels nothing, and is told open.
    for call in (('place', '0.45 0.2 0.02'), ('return_to_base',), ('wait', '0.5')):
        assert client.execute(SkillCall(call[0], call[1:])).message == ''
    _, hand = felt_scene(arm_at_work)
    assert hand.force_n == pytest.approx((0.0, 0.0, 0.0), abs=0.05)
    assert hand.width_m > cube.size_m[1] + 0.005
