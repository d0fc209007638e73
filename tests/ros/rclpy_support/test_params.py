"""Parameters: declared once, and files that hold nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
import rclpy.logging
import yaml
from annotated_types import Ge, Le
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir, episodes_dir
from bbllm_ros.parameters.model_params import journal_folder
from bbllm_ros.parameters.node_params import NODE_PARAMS, BrainPlannerParams, MujocoSimParams
from bbllm_ros.rclpy_support.diagnostics import PlainLogger
from bbllm_ros.rclpy_support.heartbeat import QOS, TOPIC, Heartbeat
from bbllm_ros.rclpy_support.params import Parameters, parameter_of
from bbllm_ros.stack.stack import DIRECT_NODES, NODES, PERCEPTION, node_arguments, params_file
from tests.ros.stacks import until

pytestmark = pytest.mark.ros


@pytest.fixture
def node(ros_domain: int, request: pytest.FixtureRequest) -> Iterator[Node]:
    context = rclpy.Context()
    rclpy.init(args=['--ros-args', *request.param], context=context)
    node = Node('mujoco_sim', context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def never_refused(name: str, dynamic: bool) -> str:
    return ''


@pytest.mark.parametrize(
    ('given', 'found'),
    [('', episodes_dir), ('/a/b', lambda: Path('/a/b')), ('~/a', lambda: Path.home() / 'a')],
)
def test_journals_go_to_the_folder_of_the_parameter(given: str, found: Callable[[], Path]) -> None:
    assert journal_folder(BrainPlannerParams(episodes_folder=given)) == found()


def test_every_node_has_a_record_and_a_file() -> None:
    files = {path.stem for path in (config_dir() / 'params').glob('*.yaml')}

    assert set(NODE_PARAMS) == {*NODES, *DIRECT_NODES, PERCEPTION} == files


@pytest.mark.parametrize('name', [*NODES, PERCEPTION])
def test_file_holds_only_what_is_declared_with_its_type_words_and_bounds(name: str) -> None:
    ((wildcard, inner),) = yaml.safe_load(params_file(name).read_text()).items()
    values = inner[name]['ros__parameters']

    assert wildcard == '/**'
    fields = {
        key: parameter_of(item.default) for key, item in NODE_PARAMS[name].model_fields.items()
    }
    assert set(values) <= set(fields)
    assert {key: type(value) for key, value in values.items()} == {
        key: type(fields[key]) for key in values
    }
    for item in NODE_PARAMS[name].model_fields.values():
        assert len(item.description) > 10
        if type(item.default) in (int, float):
            assert {Ge, Le} <= {type(bound) for bound in item.metadata}


@pytest.mark.parametrize(
    'node', [node_arguments('mujoco_sim', {'speed': 0, 'scene': 'it\'s: "x"'})], indirect=True
)
def test_values_of_the_command_line_win_and_keep_their_type(node: Node) -> None:
    params = Parameters(node, MujocoSimParams, never_refused, lambda _: None).values

    assert params == MujocoSimParams(speed=0.0, scene='it\'s: "x"')
    assert type(params.speed) is float


@pytest.mark.parametrize(
    ('node', 'expected'),
    [
        (
            ['-p', 'sped:=1.0'],
            "no parameter 'sped'. Known: camera_rate_hz, camera_size, cameras, clock, "
            'force_noise_n, homed, scene, seed, speed, viewer',
        ),
        (['-p', 'speed:=1000.0'], 'Between 0 and 100'),
        (['-p', 'speed:=101'], 'cannot be 101. It is: Simulated seconds'),
        (['-p', 'speed:=fast'], "cannot be 'fast'"),
        (['-p', 'viewer:=1'], 'viewer cannot be 1'),
    ],
    indirect=['node'],
)
def test_unusable_parameter_is_an_error_with_what_would_do(node: Node, expected: str) -> None:
    with pytest.raises(ConfigError, match='mujoco_sim') as error:
        Parameters(node, MujocoSimParams, never_refused, lambda _: None)

    assert expected in str(error.value)


@pytest.mark.parametrize('node', [[]], indirect=True)
def test_clock_cannot_be_exchanged_while_a_node_runs(node: Node) -> None:
    Parameters(node, MujocoSimParams, never_refused, lambda _: None)

    (kept,) = node.set_parameters([Parameter('use_sim_time', value=False)])
    (changed,) = node.set_parameters([Parameter('use_sim_time', value=True)])

    assert kept.successful
    assert not changed.successful
    assert 'use_sim_time can be set at the start only' in changed.reason
    assert node.get_parameter('use_sim_time').value is False


@pytest.mark.parametrize('node', [['-p', 'use_sim_time:=true']], indirect=True)
def test_heart_beats_also_where_the_time_of_ros_stands_still(node: Node) -> None:
    beats: list[str] = []
    node.create_subscription(String, TOPIC, lambda msg: beats.append(msg.data), QOS)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    Heartbeat(node).start()

    def third() -> bool:
        executor.spin_once(timeout_sec=0.1)
        return len(beats) >= 3

    # One that is only forgotten destroys in the garbage collector what its context has destroyed.
    try:
        until(third, 'a third beat')
    finally:
        executor.shutdown()

    assert node.get_clock().now().nanoseconds == 0


def test_hidden_characters_are_text_in_the_log_and_the_caller_is_named(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rclpy.logging.initialize()

    logger = PlainLogger('outside')
    logger.warning('heard \x1b[2J\u202e\x9b and 红色')

    output = capfd.readouterr().err
    assert r'heard \x1b[2J\u202e\x9b and 红色' in output
    assert '\x1b[2J' not in output
    (caller,) = logger.contexts
    assert caller.file_path == __file__
