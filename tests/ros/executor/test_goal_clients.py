"""Whether whoever gave a goal may still be there: real programs with clients of an action."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from rclpy.node import Node

from bbllm_ros.executor.skill_server import GoalClients
from tests.ros.members import member
from tests.ros.stacks import PATIENCE_S, until

pytestmark = pytest.mark.ros

ACTION = 'execute_skill'
FEEDBACK = f'{ACTION}/_action/feedback'
PROGRAM = f"""
import sys
import rclpy
from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import ActionClient

rclpy.init()
node = rclpy.create_node(sys.argv[1], namespace='bbllm')
client = ActionClient(node, ExecuteSkill, {ACTION!r})
sys.stdin.read()  # until whoever started it closes it
client.destroy()
node.destroy_node()
rclpy.shutdown()
"""
"""Can give goals until its input ends, and then leaves the graph as programs do."""

Start = Callable[[str], Callable[[], None]]


@pytest.fixture
def server(ros_domain: int) -> Iterator[Node]:
    with member('server', 'bbllm') as node:
        yield node


@pytest.fixture
def start(ros_domain: int) -> Iterator[Start]:
    with ExitStack() as ends:

        def begin(name: str) -> Callable[[], None]:
            process = subprocess.Popen(
                [sys.executable, '-c', PROGRAM, name], stdin=subprocess.PIPE
            )
            ends.enter_context(process)  # waits for its end
            ends.callback(process.kill)

            def end() -> None:
                process.communicate(timeout=PATIENCE_S)
                assert process.returncode == 0

            return end

        yield begin


def seen_by(server: Node, *names: str) -> None:
    """Wait until these programs, and no others, hear the feedback."""
    topic = server.resolve_topic_name(FEEDBACK)

    def here() -> list[str]:
        return sorted(info.node_name for info in server.get_subscriptions_info_by_topic(topic))

    until(lambda: here() == sorted(names), f'subscriptions of {names}')


def test_goal_is_left_when_the_last_of_those_who_may_have_given_it_has_gone(
    server: Node, start: Start
) -> None:
    end_ann, end_bob, _ = start('ann'), start('bob'), start('watcher')
    seen_by(server, 'ann', 'bob', 'watcher')
    givers = GoalClients(server, ACTION, frozenset({'watcher'}), found_s=0.0)
    start('late')
    seen_by(server, 'ann', 'bob', 'late', 'watcher')

    end_ann()
    seen_by(server, 'bob', 'late', 'watcher')
    assert not givers.gone
    end_bob()
    seen_by(server, 'late', 'watcher')

    assert givers.gone  # who came later has not given it
