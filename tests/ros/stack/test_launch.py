"""The launch files; what needs `launch`, which PyPI does not have, says so when it skips."""

import ast
import importlib.util
import os
import re
from pathlib import Path

import pytest

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm.core.paths import config_dir
from bbllm_ros.parameters.node_params import NODE_PARAMS
from bbllm_ros.rclpy_support.dds_boundary import FILE, NETWORK, RANGE, bounded, profile_file
from bbllm_ros.stack.stack import DIRECT_NODES, NODES, PERCEPTION, REAL_NODES, SIMULATED_REMAPS

LAUNCH = Path(__file__).resolve().parents[3] / 'launch'
FILES = sorted(LAUNCH.glob('*.launch.py'))
SIM, REAL = LAUNCH / 'franka_sim.launch.py', LAUNCH / 'franka_real.launch.py'
NODES_ONLY, DRIVER = LAUNCH / 'franka_nodes.launch.py', LAUNCH / 'franka_driver.launch.py'
DIRECT = LAUNCH / 'franka_direct.launch.py'
STARTED = {SIM: NODES, REAL: REAL_NODES, NODES_ONLY: REAL_NODES, DIRECT: DIRECT_NODES}
ADDRESS = {SIM: {}, NODES_ONLY: {}, DIRECT: {'robot_ip': '192.0.2.7'}}
needs_launch = pytest.mark.skipif(
    importlib.util.find_spec('launch_ros') is None,
    reason='launch_ros is not installed: it comes with ROS 2, but not from PyPI',
)

# Arguments and defaults of franka_bringup/launch/franka.launch.py, franka_ros2 3.4.0.
PUBLISHED = {
    'robot_type': '',
    'arm_prefix': '',
    'namespace': '',
    'robot_ip': '172.16.0.3',
    'load_gripper': 'false',
    'use_fake_hardware': 'false',
    'fake_sensor_commands': 'false',
    'joint_state_rate': '30',
    'load_franka_robot_state_broadcaster': 'true',
    'controllers_yaml': 'theirs.yaml',
}
STAND_IN = f"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

ARGUMENTS = {PUBLISHED!r}

def note(context):
    given = {{name: context.launch_configurations[name] for name in ARGUMENTS}}
    print('GIVEN', given)

def generate_launch_description():
    declared = [DeclareLaunchArgument(name, default_value=ARGUMENTS[name]) for name in ARGUMENTS]
    return LaunchDescription([*declared, OpaqueFunction(function=note)])
"""
"""What stands in for franka_bringup's launch file: it takes the same, and prints what it got."""


def description_of(path: Path) -> list:
    spec = importlib.util.spec_from_file_location('launch_file', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.generate_launch_description().entities)


def arguments_of(path: Path) -> dict:
    from launch.actions import DeclareLaunchArgument

    found = [x for x in description_of(path) if isinstance(x, DeclareLaunchArgument)]
    assert len({argument.name for argument in found}) == len(found)
    return {argument.name: argument for argument in found}


def default_of(argument) -> str:
    return ''.join(part.text for part in argument.default_value)


def visit(path: Path, **given: str) -> list:
    """Visit a launch file with arguments, and whatever it includes; return the nodes it starts."""
    from launch import LaunchContext
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch_ros.actions import Node

    context = LaunchContext()
    source = PythonLaunchDescriptionSource(str(path))
    todo = [IncludeLaunchDescription(source, launch_arguments=given.items())]
    nodes = []
    while todo:
        entity = todo.pop(0)
        if isinstance(entity, Node):
            if entity.condition is not None and not entity.condition.evaluate(context):
                continue
            entity._perform_substitutions(context)
            nodes.append(entity)
        else:
            todo = [*(entity.visit(context) or []), *todo]
    return nodes


def command_of(node, **given: str) -> list[str]:
    from launch import LaunchContext
    from launch.utilities import perform_substitutions

    context = LaunchContext()
    context.launch_configurations.update(given)
    # All but the executable, whose package may not be installed.
    words = [perform_substitutions(context, list(part)) for part in node.cmd[1:]]
    return words + [f'{old}:={new}' for old, new in node.expanded_remapping_rules or ()]


def parameters_of(node, **given: str) -> dict:
    """Return the parameters that win over the node's file, as ROS will be given them."""
    from launch import LaunchContext
    from launch_ros.utilities import evaluate_parameters

    context = LaunchContext()
    context.launch_configurations.update(given)
    first, *others = evaluate_parameters(context, node._Node__parameters)
    assert str(first).endswith(f'config/params/{node.node_executable}.yaml')
    return {name: value for other in others for name, value in other.items()}


@pytest.fixture
def franka_bringup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    share = tmp_path / 'share'
    index = share / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    for package in ('franka_bringup', 'controller_manager'):
        (index / package).touch()
        (share / package / 'launch').mkdir(parents=True)
        (share / package / 'package.xml').write_text('<package/>')
    (share / 'franka_bringup' / 'launch' / 'franka.launch.py').write_text(STAND_IN)
    # bbllm too, from this checkout and not from wherever it was installed last.
    (index / 'bbllm').touch()
    (share / 'bbllm').mkdir()
    (share / 'bbllm' / 'launch').symlink_to(LAUNCH)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path), prepend=':')
    return tmp_path


@needs_launch
@pytest.mark.parametrize('path', STARTED, ids=lambda path: path.name)
def test_launch_file_starts_every_node(path: Path) -> None:
    from launch_ros.actions import Node

    started = [item for item in description_of(path) if isinstance(item, Node)]
    always = [node.node_executable for node in started if node.condition is None]

    assert always == list(STARTED[path])


@needs_launch
@pytest.mark.parametrize('path', [SIM, NODES_ONLY, DIRECT], ids=lambda path: path.name)
@pytest.mark.parametrize('sources', ['camera', 'static, camera', 'objects'])
def test_perception_is_started_exactly_where_pictures_are_a_source(
    path: Path, sources: str
) -> None:
    given = {'scene': 'tower', 'sources': sources, 'cameras': 'left, right', **ADDRESS[path]}

    nodes = {node.node_executable: node for node in visit(path, **given)}

    assert (PERCEPTION in nodes) is (sources != 'objects')
    defaults = {k: default_of(x) for k, x in arguments_of(path).items() if x.default_value}
    reported = parameters_of(nodes['state_estimator'], **{**defaults, **given})
    # The scene of a simulation is that of its simulator, which has all the objects.
    assert reported['scene'] == ('' if (path, sources) == (SIM, 'objects') else 'tower')
    if PERCEPTION in nodes:
        reported = parameters_of(nodes[PERCEPTION], **{**defaults, **given})
        assert (reported['scene'], reported['cameras']) == ('tower', 'left, right')


@needs_launch
@pytest.mark.parametrize('network', ['true', 'false'])
def test_launch_keeps_its_processes_on_this_machine_unless_it_is_opened(
    network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, 'environ', {**bounded({}), 'PATH': os.environ['PATH']})

    visit(SIM, network=network)

    assert (os.environ.get(FILE) == str(profile_file())) is (network == 'false')
    assert os.environ[RANGE] == ('SUBNET' if network == 'true' else 'SYSTEM_DEFAULT')
    assert os.environ[NETWORK] == network


@needs_launch
def test_arguments_are_parameters_of_their_nodes() -> None:
    from bbllm_ros.stack.launching import ARGUMENTS, PARAMETERS, REAL_ARGUMENTS

    for node, names in [*ARGUMENTS.items(), *REAL_ARGUMENTS.items()]:
        parameters = {PARAMETERS.get(name, name) for name in names}
        assert parameters <= set(NODE_PARAMS[node].model_fields)


@pytest.fixture
def rviz2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / 'rviz' / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'rviz2').touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'rviz'), prepend=':')


@needs_launch
@pytest.mark.parametrize('path', [SIM, NODES_ONLY, DIRECT], ids=lambda path: path.name)
def test_only_a_simulation_keeps_its_transforms_to_itself(path: Path, rviz2: None) -> None:
    for node in visit(path, rviz='true', **ADDRESS[path]):
        rules = node.expanded_remapping_rules or ()
        remaps = {(old, new.rpartition('/')[2]) for old, new in rules}
        assert remaps == (set(SIMULATED_REMAPS) if path == SIM else set()), node.node_executable


@needs_launch
def test_real_arm_begins_with_the_slow_envelope_and_a_simulated_one_with_the_full() -> None:
    from bbllm.arm.envelope import load_envelope

    defaults = {path: default_of(arguments_of(path)['safety']) for path in STARTED}

    assert defaults == {path: 'safety' if path == SIM else 'safety_slow' for path in STARTED}
    # What ISO 10218-1 calls reduced speed.
    assert load_envelope(defaults[REAL]).tcp_speed.max_m_s <= 0.25
    assert load_envelope(defaults[SIM]) == load_envelope()


@needs_launch
@pytest.mark.parametrize('path', STARTED, ids=lambda path: path.name)
def test_only_the_simulated_launch_sets_simulated(path: Path) -> None:
    arguments = arguments_of(path)
    given = {name: default_of(x) for name, x in arguments.items() if x.default_value}
    nodes = {node.node_executable: node for node in description_of(path) if hasattr(node, 'cmd')}

    reported = parameters_of(nodes['fr3_executor'], **given)

    assert reported.get('simulated', False) is (path == SIM)
    assert reported['approval'] == ('none' if path == SIM else 'plan')
    assert reported['safety'] == ('safety' if path == SIM else 'safety_slow')


@needs_launch
def test_name_of_the_hand_reaches_all_who_use_it() -> None:
    given = {name: default_of(argument) for name, argument in arguments_of(NODES_ONLY).items()} | {
        'gripper_node': 'fr3_gripper'
    }
    users = [node for node, record in NODE_PARAMS.items() if 'gripper' in record.model_fields]
    nodes = {n.node_executable: n for n in description_of(NODES_ONLY) if hasattr(n, 'cmd')}

    reported = {node: parameters_of(nodes[node], **given)['gripper'] for node in users}

    assert users and set(reported.values()) == {'fr3_gripper'}


@needs_launch
@pytest.mark.parametrize('path', [REAL, DRIVER], ids=lambda path: path.name)
def test_driver_gets_the_robot_the_hand_and_our_controllers(
    path: Path, franka_bringup: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visit(path, robot_ip='192.0.2.7', namespace='left', use_fake_hardware='true')

    reported = ast.literal_eval(capsys.readouterr().out.partition('GIVEN ')[2].strip())
    controllers = config_dir() / 'franka' / 'controllers.yaml'
    changed = {name: value for name, value in reported.items() if value != PUBLISHED[name]}
    assert changed == {
        'robot_type': 'fr3',
        'load_gripper': 'true',
        'controllers_yaml': str(controllers),
        'robot_ip': '192.0.2.7',
        'namespace': 'left',
        'use_fake_hardware': 'true',
    }
    assert controllers.is_file()


@needs_launch
def test_direct_driver_gets_the_address_and_what_it_is() -> None:
    given = {
        'robot_ip': '127.0.0.2',
        'simulated_robot': 'true',
        'realtime': 'ignore',
        'load_gripper': 'false',
    }

    nodes = {node.node_executable: node for node in visit(DIRECT, **given)}

    reported = parameters_of(nodes['franka_direct'], **{'use_sim_time': 'false', **given})
    assert reported == {
        'ip': '127.0.0.2',
        'simulated_robot': True,
        'realtime': 'ignore',
        'load_gripper': False,
        'use_sim_time': False,
    }


@needs_launch
@pytest.mark.parametrize(
    ('given', 'expected'),
    [
        ({}, 'as in robot_ip:=172.16.0.2'),
        ({'robot_ip': '127.0.0.2'}, 'simulated_robot:=true with ros2 launch'),
    ],
)
def test_direct_driver_needs_the_address_of_a_robot(given: dict[str, str], expected: str) -> None:
    from bbllm.core.errors import BbllmError

    with pytest.raises(BbllmError, match=re.escape(expected)):
        visit(DIRECT, **given)


@needs_launch
def test_arm_controller_is_spawned_where_the_driver_is(franka_bringup: Path) -> None:
    nodes = visit(REAL, robot_ip='192.0.2.7', namespace='left')

    spawners = [node for node in nodes if node.node_executable == 'spawner']
    assert [node.node_package for node in spawners] == ['controller_manager']
    assert {node.expanded_node_namespace for node in nodes} == {'/left'}
    assert 'fr3_arm_controller' in [part for item in spawners[0].cmd for part in texts(item)]
    assert [node.node_executable for node in nodes if node not in spawners] == list(REAL_NODES)


def texts(substitutions: list) -> list[str]:
    return [part.text for part in substitutions if hasattr(part, 'text')]


@needs_launch
@pytest.mark.parametrize(
    ('given', 'expected'),
    [
        ({'scene': 'tabeltop'}, "Did you mean 'tabletop'?"),
        ({'speed': 'fast'}, "mujoco_sim: the parameter speed cannot be 'fast'"),
        ({'viewer': 'true'}, 'needs a display'),
        ({'rviz': 'true'}, 'apt install ros-jazzy-rviz2'),
        ({'safety': '/nosuch.yaml'}, '/nosuch.yaml'),
        ({'namespace': 'a b'}, 'is no namespace'),
    ],
)
def test_arguments_are_checked_before_a_node_starts(
    given: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bbllm.core.errors import BbllmError

    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    with pytest.raises(BbllmError) as error:
        visit(SIM, **given)

    assert expected in str(error.value)


@needs_launch
@pytest.mark.parametrize('path', [REAL, DRIVER], ids=lambda path: path.name)
def test_launch_of_the_real_arm_names_franka_ros2_where_it_is_missing(path: Path) -> None:
    from bbllm.core.errors import ConfigError

    with pytest.raises(ConfigError, match=r'docs/real-arm\.md'):
        visit(path, robot_ip='172.16.0.2')


@needs_launch
@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_simulation_and_real_arm_lie_in_different_namespaces(path: Path) -> None:
    default = default_of(arguments_of(path)['namespace'])

    assert default == (NAMESPACE if path == SIM else REAL_NAMESPACE)
