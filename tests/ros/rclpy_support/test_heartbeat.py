"""Nodes that end and are started anew before anybody could have missed them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pytest
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm_ros.rclpy_support.heartbeat import QOS, TOPIC, Heartbeat, listen
from bbllm_ros.rclpy_support.liveness import Liveness
from bbllm_ros.rclpy_support.peer_process import PeerProcess
from tests.ros.members import member
from tests.ros.stacks import PATIENCE_S, until

pytestmark = pytest.mark.ros

NAME = 'fr3_executor'


spun = partial(member, executor=SingleThreadedExecutor)


@pytest.fixture
def received(ros_domain: int) -> Iterator[Liveness]:
    with spun('brain_planner') as node:
        yield listen(node)


def error_since(received: Liveness, since_s: float) -> str:
    try:
        received.check([NAME], since_s)
    except LostNodeError as error:
        return str(error)
    return ''


def test_node_that_was_started_anew_is_named_to_those_who_watched_it_before_and_no_others(
    received: Liveness,
) -> None:
    with spun(NAME) as node:
        Heartbeat(node).start()
        until(lambda: received.alive(NAME), 'first life')
        before_s = time.monotonic()
        received.check([NAME], before_s)

    with spun(NAME) as node:
        Heartbeat(node).start()
        until(lambda: 'anew' in error_since(received, before_s), 'second life')

        assert error_since(received, before_s) == (
            'The node fr3_executor has gone and was started anew: what it was about is lost.'
        )
        received.check([NAME], time.monotonic())
        received.check([NAME])


def test_a_beat_names_the_process_whose_node_it_is(ros_domain: int) -> None:
    beats: list[String] = []
    with spun('listener') as listener, spun(NAME) as node:
        listener.create_subscription(String, TOPIC, beats.append, QOS)
        Heartbeat(node).start()
        until(lambda: beats, 'beat')

    name, life, process = beats[0].data.split(' ', 2)
    assert (name, len(life)) == (NAME, 32)
    assert PeerProcess.parse(process) == PeerProcess.own() is not None


LISTENER = """
import sys, time
from bbllm.core.errors import LostNodeError
from bbllm_ros.rclpy_support.heartbeat import listen
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
with OwnNodes() as own:
    node = own.join('listener', '')
    heard = listen(node)
    own.spin(node, 'listener')
    end_s = time.monotonic() + 60.0
    while not heard.alive(sys.argv[1]):
        time.sleep(0.01)
        assert time.monotonic() < end_s, 'no beat'
    print('heard', flush=True)
    while True:
        time.sleep(0.01)
        try:
            heard.check([sys.argv[1]])
        except LostNodeError as error:
            sys.exit(str(error))
"""


LEAVER = """
import os, sys
from bbllm_ros.rclpy_support import heartbeat
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
heartbeat.RECEIVED_S = 60.0
with OwnNodes() as own:
    node = own.join(sys.argv[1], '')
    beat = heartbeat.Heartbeat(node)
    beat.start()
    own.spin(node, 'leaver')
    sys.stdin.readline()
    beat.reason = 'its work is done'
    beat.end()
os._exit(0)
"""


def test_a_node_leaves_only_when_its_last_beat_has_reached_a_listener_that_was_kept_waiting(
    ros_domain: int,
) -> None:
    def begin(script: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, '-c', script, NAME],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    listener, leaver = begin(LISTENER), begin(LEAVER)
    assert listener.stdout is not None and leaver.stdin is not None
    try:
        assert listener.stdout.readline() == 'heard\n'
        os.kill(listener.pid, signal.SIGSTOP)
        leaver.stdin.write('leave\n')
        leaver.stdin.flush()
        with suppress(subprocess.TimeoutExpired):
            leaver.wait(3.0)  # one that does not wait has gone by then
        os.kill(listener.pid, signal.SIGCONT)
        leaver.communicate(timeout=PATIENCE_S)
        _, error = listener.communicate(timeout=PATIENCE_S)
    finally:
        for process in (listener, leaver):
            process.kill()
            process.communicate()

    assert error == f'The node {NAME} has gone: its work is done. Start the stack again.\n'
