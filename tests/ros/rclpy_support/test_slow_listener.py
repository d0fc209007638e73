"""A listener whose executor takes one beat in a round, and nodes that beat on time meanwhile."""

from collections.abc import Callable
from itertools import count

import pytest
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm_ros.rclpy_support.entities import take_all
from bbllm_ros.rclpy_support.executor import UnspunGroup
from bbllm_ros.rclpy_support.heartbeat import QOS, TOPIC, listen
from bbllm_ros.rclpy_support.liveness import HANGS_S, PERIOD_S, Liveness
from bbllm_ros.rclpy_support.peer_process import PeerProcess
from tests.ros.members import member
from tests.ros.stacks import until

pytestmark = pytest.mark.ros

NAMES = tuple(f'node_{number}' for number in range(6))
ALL = QoSProfile(depth=1000, reliability=QOS.reliability)
TURNS = round(HANGS_S / PERIOD_S) + 4
"""With one beat in a turn, nodes would be told dead long before."""


def blamed(received: Liveness) -> set[str]:
    def gone(name: str) -> bool:
        try:
            received.check([name])
        except LostNodeError:
            return True
        return False

    return {name for name in NAMES if gone(name)}


@pytest.mark.parametrize('here', [True, False], ids=['on this machine', 'elsewhere'])
def test_a_turn_takes_in_all_beats_that_wait_and_detects_the_node_that_ended(
    ros_domain: int, here: bool
) -> None:
    process = str(PeerProcess.own()) if here else 'elsewhere 1 1'
    seen: list[String] = []
    numbers = count()
    with member('listener') as node, member('others') as others:
        received = listen(node)
        (timer,), (beats,) = node.timers, node.subscriptions
        turn: Callable[[], None] = timer.callback
        # Two turns that waited for a thread would count as two periods of listening.
        assert isinstance(timer.callback_group, MutuallyExclusiveCallbackGroup)
        assert isinstance(beats.callback_group, UnspunGroup)  # only a turn takes them
        publisher = others.create_publisher(String, TOPIC, QOS)
        witness = node.create_subscription(String, TOPIC, lambda _: None, ALL)
        until(lambda: publisher.get_subscription_count() == 2, 'listener')

        def rounds(names: tuple[str, ...]) -> None:
            for _ in range(TURNS):
                for name in names:
                    publisher.publish(String(data=f'{name} life {process}'))
                mark = String(data=f'mark {next(numbers)}')

                def all_came(mark: String = mark) -> bool:
                    publisher.publish(mark)  # again, as none is sent twice where it was lost
                    take_all(witness, lambda beat, _: seen.append(beat))
                    return mark in seen

                until(all_came, 'beats')
                turn()

        rounds(NAMES)
        assert blamed(received) == set()
        rounds(NAMES[1:])
        assert blamed(received) == {NAMES[0]}
