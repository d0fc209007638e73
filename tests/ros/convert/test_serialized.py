"""What is read from serialized messages is what rclpy reads from them."""

import numpy as np
import pytest
from bbllm_interfaces.msg import ObjectStates
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from bbllm.robots.fr3 import FR3
from bbllm_ros.convert import serialized
from bbllm_ros.convert.arm import arm_from_msg
from bbllm_ros.convert.records import stamp_from_msg, stamp_to_msg
from bbllm_ros.convert.serialized import (
    ArmReader,
    StampedMessage,
    read_force,
)

pytestmark = pytest.mark.ros

LAYOUTS = {
    'all': JointState(effort=[1.0] * 7),
    'without efforts': JointState(),
    'in a frame': JointState(effort=[2.0] * 7),
}
LAYOUTS['in a frame'].header.frame_id = 'base_link'


def state_of(layout: JointState, seed: int) -> JointState:
    rng = np.random.default_rng(seed)
    layout.name = list(FR3.joints)
    layout.position, layout.velocity = rng.normal(size=(2, 7)).tolist()
    layout.header.stamp = stamp_to_msg(1.7e9 + rng.uniform())
    return layout


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the messages that are read as a whole."""
    read: list[bytes] = []
    original = serialized.deserialize_message

    def deserialize(data: bytes, kind: type) -> object:
        read.append(data)
        return original(data, kind)

    monkeypatch.setattr(serialized, 'deserialize_message', deserialize)
    return read


@pytest.mark.parametrize('layout', LAYOUTS.values(), ids=list(LAYOUTS))
def test_states_of_an_arm_are_read_as_a_whole_once(layout: JointState, whole: list[bytes]) -> None:
    reader = ArmReader()

    for seed in range(5):
        msg = state_of(layout, seed)
        found = reader.read(serialize_message(msg)) or pytest.fail('not read')
        position, velocity = arm_from_msg(msg) or pytest.fail('not read')
        np.testing.assert_array_equal(found.position_rad, position)
        np.testing.assert_array_equal(found.velocity_rad_s, velocity)
        assert found.stamp_s == stamp_from_msg(msg.header.stamp)
    assert len(whole) == 1


def test_joints_in_another_order_and_more_of_them_are_found(whole: list[bytes]) -> None:
    names = [*reversed(FR3.joints), 'fr3_finger_joint1']
    reader = ArmReader()

    for first in (0.0, 10.0):
        numbers = (first + np.arange(8)).tolist()
        msg = JointState(name=names, position=numbers, velocity=[-x for x in numbers])
        found = reader.read(serialize_message(msg)) or pytest.fail('not read')
        np.testing.assert_array_equal(found.position_rad, first + np.arange(7)[::-1])
        np.testing.assert_array_equal(found.velocity_rad_s, -first - np.arange(7)[::-1])
    assert len(whole) == 1


def test_a_driver_that_changes_its_states_is_read_anew_and_without_joints_not_at_all() -> None:
    reader = ArmReader()
    msg = state_of(JointState(), 1)
    assert reader.read(serialize_message(msg)) is not None

    fewer = JointState(name=msg.name, position=[0.0] * 8, velocity=[0.0] * 6)
    assert reader.read(serialize_message(fewer)) is None
    assert reader.read(serialize_message(JointState(name=['fr3_joint1']))) is None

    swapped = JointState(name=msg.name[::-1], position=msg.position, velocity=msg.velocity)
    found = reader.read(serialize_message(swapped)) or pytest.fail('not read')
    np.testing.assert_array_equal(found.position_rad, np.array(msg.position)[::-1])


@pytest.mark.parametrize('frame', ['', 'base', 'fr3_link0'])
def test_a_force_is_read_whatever_its_frame_is_called(frame: str) -> None:
    force, torque = Vector3(x=1.5, y=-2.5, z=0.25), Vector3(x=7.0, y=8.0, z=9.0)
    msg = WrenchStamped(wrench=Wrench(force=force, torque=torque))
    msg.header.frame_id, msg.header.stamp = frame, stamp_to_msg(12.5)

    assert read_force(serialize_message(msg)) == (12.5, (-1.5, 2.5, -0.25))

    msg.wrench.force = Vector3()
    assert read_force(serialize_message(msg)).force_n is None


def test_a_message_of_another_encapsulation_is_read_as_a_whole(whole: list[bytes]) -> None:
    force = Vector3(x=1.5, y=-2.5, z=0.25)
    data = serialize_message(WrenchStamped(wrench=Wrench(force=force)))
    big_endian = bytearray(data)
    big_endian[1] = 0
    for at in range(len(data) - 48, len(data), 8):
        big_endian[at : at + 8] = data[at : at + 8][::-1]
    big_endian[12:16] = data[12:16][::-1]

    assert read_force(bytes(big_endian)).force_n == (-1.5, 2.5, -0.25)
    assert len(whole) == 1


def test_a_stamped_message_is_read_once_it_is_needed(whole: list[bytes]) -> None:
    reported = ObjectStates()
    reported.header.stamp, reported.header.frame_id = stamp_to_msg(1.7e9 + 0.25), 'fr3_link0'
    later = ObjectStates(header=reported.header)

    first = StampedMessage(ObjectStates, serialize_message(reported))
    later.header.stamp = stamp_to_msg(1.7e9 + 0.5)
    second = StampedMessage(ObjectStates, serialize_message(later))

    assert (first.stamp_s, second.stamp_s) == (1.7e9 + 0.25, 1.7e9 + 0.5)
    assert first.content == second.content
    assert not whole
    assert first.message.header.frame_id == 'fr3_link0'
    assert first.message is first.message
    assert len(whole) == 1
