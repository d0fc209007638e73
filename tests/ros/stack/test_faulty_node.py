"""A node whose callback raises: its process ends, and what it has begun ends before that."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from std_msgs.msg import Empty

from bbllm.core.errors import WorldError
from bbllm.core.types import Code, SkillCall
from bbllm_ros.stack.stack import SIMULATED, node_arguments, node_environ
from tests.ros.robots import feed_of, speed_rad_s
from tests.ros.stack import faulty_executor
from tests.ros.stacks import PATIENCE_S, Background, Running, started, until

pytestmark = pytest.mark.ros

MOVING_RAD_S = 0.05
STATUS = 'fr3_arm_controller/follow_joint_trajectory/_action/status'


def executor(folder: Path) -> subprocess.Popen[bytes]:
    arguments = node_arguments('fr3_executor', SIMULATED['fr3_executor'])
    command = [sys.executable, str(Path(faulty_executor.__file__).resolve()), *arguments]
    with (folder / 'log').open('wb') as log:
        return subprocess.Popen(
            command,
            env=node_environ(more=dict(os.environ)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def test_trajectory_is_cancelled_when_the_executor_fails_in_mid_motion(
    ros_domain: int, tmp_path: Path
) -> None:
    # Slowly, so that a motion that nobody stops would go on for long.
    with started(('mujoco_sim', 'state_estimator'), speed=0.25) as stack:
        process = executor(tmp_path)
        try:
            fail_in_mid_motion(stack)
            assert process.wait(PATIENCE_S) == 1
        finally:
            process.kill()
            process.wait()
    log = (tmp_path / 'log').read_text()
    assert 'told to fail' in log
    assert 'fault in coming to rest' not in log


def fail_in_mid_motion(stack: Running) -> None:
    client = stack.client
    states: dict[bytes, int] = {}

    def learn(msg: GoalStatusArray) -> None:
        states.update(
            {bytes(item.goal_info.goal_id.uuid): item.status for item in msg.status_list}
        )

    client.node.create_subscription(
        GoalStatusArray, STATUS, learn, 10, callback_group=client.group
    )
    fault = client.node.create_publisher(Empty, faulty_executor.TOPIC, 1)
    joints = feed_of(stack)
    client.wait_ready(('fr3_executor',), PATIENCE_S)
    until(fault.get_subscription_count, 'the executor')
    call = Background(lambda: client.execute(SkillCall('pick', ('red_cube',))))
    until(lambda: speed_rad_s(joints) > MOVING_RAD_S, 'motion of the arm')

    fault.publish(Empty())

    ended = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
    until(lambda: states and all(state in ended for state in states.values()), 'end of the motion')
    assert list(states.values()) == [GoalStatus.STATUS_CANCELED]
    with suppress(WorldError):  # its process may have ended before that was sent
        assert call.result().code is Code.CANCELLED
