"""Starting and ending the stack: what runs, what is left, what is said when it cannot."""

import signal
from contextlib import suppress

import pytest

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm.core.errors import ConfigError, LostNodeError, WorldError
from bbllm.core.events import Ending, EventKind
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import NODES, REAL_NODES, Stack, StackConfig, node_arguments
from tests.doubles.fork_server import serve_module
from tests.ros.stacks import PATIENCE_S, started, until

pytestmark = pytest.mark.ros


def test_stack_leaves_no_process_behind_and_logs_no_warning(ros_domain: int) -> None:
    with started() as running:
        processes = list(running.stack.processes.values())
        assert [process.poll() for process in processes] == [None] * len(NODES)
        logs = [running.stack.log_file(node) for node in NODES]

    assert [process.returncode for process in processes] == [0] * len(NODES)
    output = [line for log in logs for line in log.read_text().splitlines()]
    assert [line for line in output if 'INFO' not in line] == []


def test_one_node_per_name_namespace_and_domain(ros_domain: int) -> None:
    nodes = ('body_mapper',)
    with Stack(StackConfig(nodes=nodes, start=serve_module)) as stack:
        stack.wait_ready(PATIENCE_S).close()
        pid = stack.processes['body_mapper'].pid

        with pytest.raises(ConfigError, match=f'body_mapper runs already.*process {pid}'):
            Stack(StackConfig(nodes=nodes)).start()
        with Stack(StackConfig(nodes=nodes, namespace='other', start=serve_module)) as other:
            other.wait_ready(PATIENCE_S).close()


def test_simulation_and_real_arm_lie_in_different_namespaces() -> None:
    assert StackConfig().namespace == NAMESPACE
    assert StackConfig(nodes=REAL_NODES).namespace == REAL_NAMESPACE
    assert StackConfig(nodes=REAL_NODES, namespace='left').namespace == 'left'


def test_only_a_simulation_keeps_its_transforms_to_itself() -> None:
    simulated = node_arguments('mujoco_sim', simulated=True)

    assert [x for x in simulated if x.startswith('/tf')] == ['/tf:=tf', '/tf_static:=tf_static']
    assert not [x for x in node_arguments('state_estimator') if x.startswith('/tf')]


@pytest.mark.parametrize(
    ('params', 'expected'),
    [
        ({'mujoco_sim': {'viewer': True}}, 'needs a display'),
        ({'brain_planner': {'planner': 'llm_pop', 'brain': 'offline'}}, 'cannot work with `off'),
    ],
)
def test_node_that_cannot_start_is_named_with_its_reason(
    ros_domain: int,
    params: dict[str, dict[str, str]],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    (node,) = params
    config = StackConfig(nodes=(node,), params=params, start=serve_module)

    with Stack(config) as stack, pytest.raises(LostNodeError, match=node) as error:
        stack.wait_ready(PATIENCE_S)

    assert expected in str(error.value)
    assert 'Traceback' not in str(error.value)


def test_client_without_a_stack_names_what_is_missing(ros_domain: int) -> None:
    with StackClient() as client:
        with pytest.raises(LostNodeError, match='brain_planner, body_mapper') as error:
            client.wait_ready(timeout_s=0.2)
        assert 'bbllm up sim' in str(error.value)
        with pytest.raises(LostNodeError, match='brain_planner'):
            client.run_task('put the red cube on location_B')


def test_scene_without_objects_is_an_error(ros_domain: int) -> None:
    from bbllm.core.errors import SceneError

    config = StackConfig(nodes=('state_estimator',), params={'state_estimator': {'wait_s': 0.2}})
    with Stack(config) as stack:
        with StackClient(stack.config.namespace) as client:
            until(lambda: not client.missing(('state_estimator',)), 'state_estimator')
            with pytest.raises(SceneError, match='no message came on /bbllm_real/objects'):
                client.scene()
        stack.check()


def test_nodes_that_all_get_sigterm_in_mid_task_end_without_a_traceback(ros_domain: int) -> None:
    with started(speed=0.25) as running:
        task = running.begin('put the red cube on location_B')
        running.wait_for(EventKind.CALL)
        processes = dict(running.stack.processes)
        logs = [running.stack.log_file(node) for node in NODES]

        for process in processes.values():
            process.send_signal(signal.SIGTERM)

        codes = {node: process.wait(PATIENCE_S) for node, process in processes.items()}
        with suppress(WorldError):  # the planner may be gone before its result is there
            assert task.result().ending in (Ending.CANCELLED, Ending.WORLD_FAILED)
    assert codes == dict.fromkeys(NODES, 0)
    assert [log.name for log in logs if 'Traceback' in log.read_text()] == []
