"""`bbllm up`: what it starts, prints and refuses, and what happens when a node dies."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm_ros.commands.up import UpConfig, UpRequest, _nodes, _params, _print_hints
from bbllm_ros.rclpy_support.domains import lock_name, nodes_of
from bbllm_ros.stack.found_stack import stack_may_run
from bbllm_ros.stack.stack import NODES
from bbllm_viewer.commands.browser import BrowserOptions, PageOptions
from tests.doubles.terminals import bbllm, end, read_until, start

pytestmark = pytest.mark.ros
WAIT_S = 120.0
TASK = 'put the red cube on location_B'
NO_PAGE = BrowserOptions(page=PageOptions())


def children(pid: int) -> dict[str, int]:
    """Return the nodes that a process has started."""
    found = {}
    for word in Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
        command = Path(f'/proc/{word}/cmdline').read_text()
        if match := re.search(r'bbllm_ros\.nodes\.(\w+)', command):
            found[match[1]] = int(word)
    return found


def test_node_that_is_killed_is_named_in_both_terminals_and_in_the_journal(
    environment: dict[str, str], empty_domain: int
) -> None:
    node = 'brain_planner'
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}
    stack = start(there, 'up', 'sim', '--speed', '0.5')
    try:
        read_until(stack, 'Ctrl-C here ends all nodes')
        task = start(there, 'run', TASK)
        read_until(task, ' call ')

        os.kill(children(stack.pid)[node], signal.SIGKILL)

        out, err = task.communicate(timeout=WAIT_S)
        _, printed = stack.communicate(timeout=WAIT_S)
    finally:
        stack.kill()
        stack.wait()
    assert task.returncode != 0
    assert f'The node {node} has gone' in ' '.join((out + err).split())
    assert stack.returncode != 0
    assert f'The node {node} was killed by signal 9' in printed
    ended = [
        json.loads(line)['data'] for line in bbllm(there, 'show', '--events').stdout.splitlines()
    ][-1]
    assert ended['ending'] == 'WORLD_FAILED'
    assert f'The node {node} has gone' in ended['message']


def test_after_the_end_of_up_by_force_it_is_named_and_no_node(
    environment: dict[str, str], empty_domain: int
) -> None:
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}
    stack = start(there, 'up', 'sim', '--speed', '0.5')
    try:
        read_until(stack, 'Ctrl-C here ends all nodes')
        task = start(there, 'run', TASK)
        read_until(task, ' call ')

        stack.kill()

        out, err = task.communicate(timeout=WAIT_S)
    finally:
        stack.kill()
        stack.communicate()
    printed = ' '.join((out + err).split())
    assert task.returncode != 0
    assert f'bbllm up ({stack.pid}), which started it, has ended' in printed
    assert 'killed or crashed' not in printed


def test_a_node_that_runs_is_found_by_its_name_and_elsewhere_one_may_run() -> None:
    here = {'ROS_DOMAIN_ID': '203'}  # where nobody runs anything
    assert not stack_may_run(here)
    assert stack_may_run({**here, 'BBLLM_NETWORK': 'true'})
    assert stack_may_run({**here, 'FASTRTPS_DEFAULT_PROFILES_FILE': '/my/own.xml'})
    lock = lock_name('brain_planner', 'bbllm', 203)
    try:
        assert nodes_of(203) == ['/bbllm brain_planner']
        assert stack_may_run(here)
    finally:
        os.close(lock)
    assert not stack_may_run(here)


def test_constraints_and_boxes_reach_the_executor_as_one_text_each() -> None:
    request = request_of(
        never=('touch the blue cube', 'move any cylinder'), keep_out=('-0.1 0 0 0.1 0.2 1',)
    )

    assert _params(request)['fr3_executor'] == {
        'approval': 'none',
        'never': 'touch the blue cube; move any cylinder',
        'keep_out': '-0.1 0 0 0.1 0.2 1',
    }


def request_of(**options: Any) -> UpRequest:
    return UpRequest(config=UpConfig.of(options), page=NO_PAGE)


def test_perception_comes_with_the_source_camera_and_gets_the_scene_of_the_simulator() -> None:
    from bbllm_ros.stack.stack import NODES, PERCEPTION

    request = request_of(scene='tower', sources='camera', detector='blocks')

    assert _nodes(request) == (*NODES, PERCEPTION)
    params = _params(request)
    assert params['state_estimator']['sources'] == 'camera'
    assert params[PERCEPTION] == {'detector': 'blocks', 'scene': 'tower'}
    assert params['state_estimator']['scene'] == params['mujoco_sim']['scene'] == 'tower'


def test_the_file_of_a_network_is_found_from_any_folder_and_a_model_stays_a_name() -> None:
    from bbllm_ros.stack.stack import PERCEPTION

    def model_of(detector: str, name: str) -> object:
        request = request_of(sources='camera', detector=detector, detector_model=name)
        return _params(request)[PERCEPTION]['detector_model']

    assert model_of('onnx', 'nets/cubes.onnx') == str(Path('nets/cubes.onnx').resolve())
    assert model_of('vlm', 'maker/seer') == 'maker/seer'


def test_options_of_cameras_need_the_source_camera() -> None:
    from bbllm_ros.stack.stack import NODES

    plain = request_of()
    assert _nodes(plain) == NODES
    assert 'scene' not in _params(plain)['state_estimator']
    with pytest.raises(ConfigError, match='--cameras: only with --sources camera'):
        _nodes(request_of(cameras='hand_camera'))
    with pytest.raises(UnknownNameError, match='Known: hand_camera, table_camera'):
        _nodes(request_of(sources='camera', cameras='table_camera, hand'))


def test_every_hint_of_up_has_its_domain(capsys: pytest.CaptureFixture[str]) -> None:
    config = UpConfig.of({'approval': 'plan'})
    request = UpRequest(config=config, domain=7, page=NO_PAGE)

    _print_hints(Output(), request)

    hints = [line for line in capsys.readouterr().out.splitlines() if line.startswith('  bbllm')]
    assert len(hints) == 4
    assert all(' --domain 7' in line for line in hints)


@pytest.mark.slow  # two stacks
def test_clock_comes_and_goes_with_the_stack(
    environment: dict[str, str], ros_domain: int, repository: Path
) -> None:
    from bbllm_ros.stack.client import StackClient
    from bbllm_ros.stack.stack import NODES

    wide = {**environment, 'COLUMNS': '200'}
    process = start(wide, 'up', 'sim', '--clock', '--speed', '0')
    try:
        printed = read_until(process, 'Ctrl-C here ends all nodes')
        with StackClient() as client:
            deadline_s = time.monotonic() + WAIT_S
            while (
                client.node.count_subscribers('/clock') < len(NODES)
                or client.node.count_publishers('/clock') < 1
            ):
                assert time.monotonic() < deadline_s, f'not all nodes use /clock:\n{printed}'
                time.sleep(0.05)
            assert client.node.count_publishers('/clock') == 1
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_S)

    # 130 where Ctrl-C came before the command waited for it.
    assert process.returncode in (0, 130), errors


def free_port() -> int:
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return int(free.getsockname()[1])


@pytest.mark.slow  # a stack and four processes
def test_with_json_commands_that_keep_running_print_one_object_first(
    environment: dict[str, str], empty_domain: int
) -> None:
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}

    def first_object(process: subprocess.Popen[str]) -> Any:
        assert process.stdout is not None
        return json.loads(process.stdout.readline())

    stack = start(there, 'up', 'sim', '--speed', '0', '--json')
    others = []
    try:
        ready = first_object(stack)
        assert (ready['namespace'], ready['domain']) == ('bbllm', empty_domain)
        assert set(ready['nodes']) == set(NODES)
        alone = bbllm(there, 'say', 'hello', '--json')
        assert (alone.returncode, json.loads(alone.stdout)['error_kind']) == (2, 'TaskError')
        for verb, flag, package in (('console', '--port', 'uvicorn'), ('mcp', '--http', 'mcp')):
            pytest.importorskip(
                package, reason=f'the extra `{verb}` is not installed: make extras'
            )
            others.append(start(there, verb, flag, str(free_port()), '--json'))
            assert first_object(others[-1])['url'].startswith('http://127.0.0.1:')
    finally:
        for process in (*others, stack):
            end(process)
