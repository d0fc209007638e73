"""
Launch actions for the nodes of `stack.NODES`; for launch files, the only users of `launch`.

Types and descriptions of arguments are those of the parameters, defaults those of config/params.
"""

from __future__ import annotations

import yaml
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from bbllm.nodes.params import NODE_PARAMS
from bbllm.nodes.stack import NAMESPACE, params_file

MODELS = ('llm_config', 'brain', 'body', 'record', 'replay')
ARGUMENTS = {
    'brain_planner': ('planner', 'feedback_loops', *MODELS),
    'body_mapper': MODELS,
    'fr3_executor': ('speed_scale',),
    'mujoco_sim': ('scene', 'speed', 'viewer'),
}
"""The parameters that people change, which are arguments of the launch files."""


def declare_namespace() -> DeclareLaunchArgument:
    """Declare the argument for where all relative names lie."""
    return DeclareLaunchArgument(
        'namespace', default_value=NAMESPACE, description='Where the names of the nodes lie.'
    )


def declare_arguments(*nodes: str) -> list[DeclareLaunchArgument]:
    """Declare the arguments of some nodes; an argument of several is declared once."""
    found = {}
    for node in nodes:
        fields = NODE_PARAMS[node].__dataclass_fields__
        for name in ARGUMENTS.get(node, ()):
            found.setdefault(
                name,
                DeclareLaunchArgument(
                    name,
                    default_value=_text(_values(node)[name]),
                    description=fields[name].metadata['description'],
                ),
            )
    return list(found.values())


def start_node(node: str) -> Node:
    """Start a node with its file, and with the arguments that win over it."""
    values = _values(node)
    given = {
        name: ParameterValue(LaunchConfiguration(name), value_type=type(values[name]))
        for name in ARGUMENTS.get(node, ())
    }
    return Node(
        package='bbllm',
        executable=node,
        namespace=LaunchConfiguration('namespace'),
        parameters=[str(params_file(node)), given],
        output='screen',
    )


def _values(node: str) -> dict[str, str | int | float | bool]:
    """Return what the file of a node says."""
    values: dict[str, str | int | float | bool] = yaml.safe_load(params_file(node).read_text())[
        '/**'
    ][node]['ros__parameters']
    return values


def _text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
