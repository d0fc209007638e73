"""
Launch actions for the nodes of `stack.NODES`; for launch files, the only users of `launch`.

Types and descriptions of arguments are those of the parameters, defaults those of config/params.
"""

from __future__ import annotations

from dataclasses import fields

import yaml
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from bbllm.core.approval import ApprovalMode
from bbllm.core.namespaces import NAMESPACE, REAL_NAMESPACE
from bbllm.core.open_state_mode import OpenStateMode
from bbllm.core.paths import config_dir
from bbllm.nodes.params import NODE_PARAMS
from bbllm.nodes.stack import SIMULATED, SIMULATED_REMAPS, Value, params_file, remap_arguments

MODELS = ('llm_config', 'brain', 'body', 'record', 'replay')
ARGUMENTS = {
    'brain_planner': ('planner', 'feedback_loops', *MODELS),
    'body_mapper': MODELS,
    'state_estimator': ('open_state', 'llm_config'),
    'fr3_executor': ('speed_scale', 'approval', 'safety'),
    'mujoco_sim': ('scene', 'speed', 'viewer'),
}
"""The parameters that people change, which are arguments of the launch files."""
REAL_ARGUMENTS = {
    'state_estimator': ('gripper_node', 'sources', 'scene', 'catalogue'),
    'fr3_executor': ('gripper_node',),
}
"""Further ones beside a real arm."""
PARAMETERS = {'gripper_node': 'gripper'}
"""The parameter that an argument sets, where the two have different names."""
CHOICES = {
    'approval': [mode.value for mode in ApprovalMode],
    'open_state': [mode.value for mode in OpenStateMode],
}
"""What arguments can be, where that is a short list."""
DRIVER_ARGUMENTS = ('namespace', 'robot_ip', 'use_fake_hardware')
"""Arguments of the real arm's driver that are handed on to franka_ros2 as they are."""


def declare_driver_arguments() -> list[DeclareLaunchArgument]:
    """Declare `DRIVER_ARGUMENTS`; the robot's address has to be given."""
    return [
        declare_namespace(),
        DeclareLaunchArgument(
            'robot_ip', description="Address of the robot's control, for example 172.16.0.2."
        ),
        DeclareLaunchArgument(
            'use_fake_hardware',
            default_value='false',
            choices=['true', 'false'],
            description='Start the driver without a robot, to see whether everything is '
            'installed; neither arm nor hand can then move.',
        ),
    ]


def declare_namespace(*, simulated: bool = False) -> DeclareLaunchArgument:
    """Declare the argument for where all relative names lie."""
    return DeclareLaunchArgument(
        'namespace',
        default_value=NAMESPACE if simulated else REAL_NAMESPACE,
        description='Where the names of the nodes lie.',
    )


def declare_rviz() -> DeclareLaunchArgument:
    """Declare the argument for a window on what the nodes know and do."""
    return DeclareLaunchArgument(
        'rviz',
        default_value='false',
        choices=['true', 'false'],
        description='Start rviz2 with config/rviz/bbllm.rviz, and the node of its menus.',
    )


def start_rviz(*, simulated: bool = False) -> list[Node]:
    """Start rviz2 and `task_menu` where the argument says so."""
    wanted = IfCondition(LaunchConfiguration('rviz'))
    view = str(config_dir() / 'rviz' / 'bbllm.rviz')
    rviz = Node(
        package='rviz2',
        executable='rviz2',
        arguments=['-d', view],
        ros_arguments=[*_enclave('rviz'), *remap_arguments(simulated)],
        condition=wanted,
    )
    return [rviz, start_node('task_menu', simulated=simulated, condition=wanted)]


def arguments_of(node: str, simulated: bool) -> tuple[str, ...]:
    """Return the names of the arguments that go to a node."""
    real = () if simulated else REAL_ARGUMENTS.get(node, ())
    return (*ARGUMENTS.get(node, ()), *real)


def declare_arguments(*nodes: str, simulated: bool = False) -> list[DeclareLaunchArgument]:
    """Declare the arguments of some nodes; an argument of several is declared once."""
    found: dict[str, DeclareLaunchArgument] = {}
    for node in nodes:
        kinds = {field.name: field for field in fields(NODE_PARAMS[node])}
        values = _values(node, simulated)
        for name in arguments_of(node, simulated):
            parameter = PARAMETERS.get(name, name)
            found.setdefault(
                name,
                DeclareLaunchArgument(
                    name,
                    default_value=_text(values[parameter]),
                    description=kinds[parameter].metadata['description'],
                    choices=CHOICES.get(name),
                ),
            )
    return list(found.values())


def start_node(
    node: str, *, simulated: bool = False, condition: IfCondition | None = None
) -> Node:
    """
    Start a node with its file, and with the arguments that win over it.

    Args:
        node: Its name.
        simulated: The robot is; the node is then told what `SIMULATED` says.
        condition: Start it only if this holds.
    """
    values = _values(node, simulated)
    given = {
        PARAMETERS.get(name, name): ParameterValue(
            LaunchConfiguration(name), value_type=type(values[PARAMETERS.get(name, name)])
        )
        for name in arguments_of(node, simulated)
    }
    told = SIMULATED.get(node, {}) if simulated else {}
    return Node(
        package='bbllm',
        executable=node,
        namespace=LaunchConfiguration('namespace'),
        parameters=[str(params_file(node)), {**told, **given}],
        remappings=SIMULATED_REMAPS if simulated else (),
        ros_arguments=_enclave(node),
        condition=condition,
        output='screen',
    )


def _enclave(node: str) -> list[str | list[str | LaunchConfiguration]]:
    """Return what names the keys of a node in a graph with security (docs/security.md)."""
    return ['--enclave', ['/', LaunchConfiguration('namespace'), f'/{node}']]


def _values(node: str, simulated: bool) -> dict[str, Value]:
    """Return what the file of a node says, and what it is told beside a simulated robot."""
    told: dict[str, Value] = yaml.safe_load(params_file(node).read_text())['/**'][node][
        'ros__parameters'
    ]
    return {**told, **(SIMULATED.get(node, {}) if simulated else {})}


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
