"""
Launch actions for the nodes of `stack.NODES`; for launch files, the only users of `launch`.

Types and descriptions of arguments are those of the parameters, defaults those of config/params.
All arguments are checked before the first node starts. A node that ends, ends the launch with its
reason, unless `respawn:=true`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.substitution import Substitution
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from bbllm.api.config import Realtime, RuleChoice
from bbllm.core.approval import ApprovalMode
from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE, checked_namespace
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm_ros.parameters.node_params import NODE_PARAMS
from bbllm_ros.parameters.real_arguments import check_robot_ip, need_franka_ros2
from bbllm_ros.parameters.scene_sources import SceneSource, parse_sources
from bbllm_ros.rclpy_support.dds_boundary import NETWORK, bound_process, wants_network
from bbllm_ros.rclpy_support.domains import check_names_free, domain_of
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.rclpy_support.peer_process import owner_environ
from bbllm_ros.stack.namespaced_files import view_file
from bbllm_ros.stack.stack import (
    PERCEPTION,
    RESPAWN_S,
    RESPAWNS,
    SIMULATED,
    SIMULATED_REMAPS,
    params_file,
)
from bbllm_ros.stack.stack_checks import check_params, node_values, value_of_text

MODELS = ('llm_config', 'brain', 'body', 'record', 'replay')
ARGUMENTS = {
    'brain_planner': (
        'planner',
        'feedback_loops',
        'step_limit',
        'rehearse',
        'episodes_folder',
        *MODELS,
    ),
    'body_mapper': ('mapping', *MODELS),
    'state_estimator': ('sources', 'catalogue'),
    'perception': ('cameras', 'detector', 'detector_model', 'catalogue', 'llm_config'),
    'fr3_executor': ('speed_scale', 'approval', *RuleChoice.model_fields),
    'mujoco_sim': ('scene', 'speed', 'seed', 'viewer', 'clock'),
    'franka_direct': ('robot_ip', 'simulated_robot', 'realtime', 'load_gripper'),
}
"""Parameters that people change: arguments of the launch files."""
REAL_ARGUMENTS = {
    'state_estimator': ('gripper_node', 'scene'),
    'perception': ('gripper_node', 'scene'),
    'fr3_executor': ('gripper_node',),
}
LOOKERS = ('state_estimator', PERCEPTION)
"""Nodes with a parameter scene that is not the simulator's."""
PARAMETERS = {'gripper_node': 'gripper', 'robot_ip': 'ip'}
"""The parameter that an argument sets, where their names differ."""
CHOICES = {
    'approval': [mode.value for mode in ApprovalMode],
    'realtime': [word.value for word in Realtime],
}
SWITCHES = {
    'rviz': 'Start rviz2 with its view of this stack.',
    'respawn': 'Start a node that ends again; otherwise the launch ends with it.',
    'use_sim_time': 'Take the time from /clock: of a simulation with clock:=true, or of a bag.',
}
"""Arguments that are no parameters of single nodes, with descriptions."""
DRIVER_ARGUMENTS = ('namespace', 'robot_ip', 'use_fake_hardware')


def declare_driver_arguments() -> list[DeclareLaunchArgument]:
    return [
        declare_namespace(),
        DeclareLaunchArgument(
            'robot_ip', description="Address of the robot's control, for example 172.16.0.2."
        ),
        _switch(
            'use_fake_hardware',
            'Start the driver without a robot, to see whether everything is installed; neither '
            'arm nor hand can then move.',
        ),
    ]


def check_driver() -> OpaqueFunction:
    """Return what raises ConfigError where the driver cannot be started, before it is."""

    def check(context: LaunchContext) -> None:
        check_robot_ip(context.launch_configurations['robot_ip'])
        need_franka_ros2()

    return OpaqueFunction(function=check)


def declare_namespace(*, simulated: bool = False) -> DeclareLaunchArgument:
    return DeclareLaunchArgument(
        'namespace',
        default_value=NAMESPACE if simulated else REAL_NAMESPACE,
        description='Where the names of the nodes lie.',
    )


def keep_boundary() -> tuple[DeclareLaunchArgument, OpaqueFunction]:
    declared = _switch(
        'network',
        'Let other machines take part; otherwise all stays on this one.',
        wants_network(os.environ),
    )

    def bound(context: LaunchContext) -> None:
        os.environ[NETWORK] = LaunchConfiguration('network').perform(context)
        bound_process()

    return declared, OpaqueFunction(function=bound)


def describe_stack(
    *nodes: str, simulated: bool = False, driver: IncludeLaunchDescription | None = None
) -> LaunchDescription:
    """
    Describe a launch of some nodes: arguments, their check, the nodes, and rviz.

    *driver* starts the driver of the real arm; None where it runs elsewhere, or the robot is
    simulated.
    """
    network, boundary = keep_boundary()
    declared = [
        network,
        *(
            [declare_namespace(simulated=simulated)]
            if driver is None
            else declare_driver_arguments()
        ),
        *[_switch(name, description) for name, description in SWITCHES.items()],
        *declare_arguments(*nodes, PERCEPTION, simulated=simulated),
    ]
    check = _check_arguments(
        nodes,
        {argument.name for argument in declared},
        simulated=simulated,
    )
    return LaunchDescription(
        [
            *declared,
            OpaqueFunction(function=check),
            boundary,
            *([] if driver is None else [driver]),
            *[start_node(node, simulated=simulated) for node in nodes],
            start_node(PERCEPTION, simulated=simulated, condition=IfCondition(_UsesCameras())),
            start_rviz(simulated=simulated),
        ]
    )


def _switch(name: str, description: str, default: bool = False) -> DeclareLaunchArgument:
    return DeclareLaunchArgument(
        name, default_value=_text(default), choices=['true', 'false'], description=description
    )


def _check_arguments(
    nodes: Sequence[str], declared: Collection[str], *, simulated: bool
) -> Callable[[LaunchContext], None]:
    """Return what raises BbllmError where an argument cannot be used, before any node starts."""

    def check(context: LaunchContext) -> None:
        _refuse_unknown(context, declared)
        values = context.launch_configurations
        params: dict[str, dict[str, Value]] = {}
        cameras = SceneSource.CAMERA in parse_sources(values['sources'])
        started = (*nodes, PERCEPTION) if cameras else nodes
        for node in started:
            names = {name: PARAMETERS.get(name, name) for name in arguments_of(node, simulated)}
            params[node] = {
                parameter: value_of_text(node, parameter, values[name])
                for name, parameter in names.items()
            }
            if simulated and node in LOOKERS:
                params[node]['scene'] = _SceneOfSources().perform(context)
        check_params(started, params, simulated=simulated)
        namespace = checked_namespace(values['namespace'])
        check_names_free(started, namespace, domain_of(os.environ))
        if values['rviz'] == 'true':
            _need_rviz()

    return check


def _need_rviz() -> None:
    try:
        get_package_prefix('rviz2')
    except PackageNotFoundError:
        raise ConfigError(
            'rviz:=true needs rviz2, which is not in this shell. Install it with '
            'apt install ros-jazzy-rviz2, or leave rviz:=true out.'
        ) from None


def _refuse_unknown(context: LaunchContext, declared: Collection[str]) -> None:
    """Raise UnknownNameError where the command line has an argument that nothing declares."""
    here = Path(str(context.get_locals_as_dict().get('current_launch_file_path', ''))).name
    if here not in {Path(word).name for word in sys.argv}:
        return  # another launch file includes this one, and may have arguments of its own
    for word in context.argv:
        name, given, _ = word.partition(':=')
        if given and name not in declared:
            raise UnknownNameError('launch argument', name, declared)


def start_rviz(*, simulated: bool = False) -> Node:
    namespace = LaunchConfiguration('namespace')
    # rviz itself has no namespace, so a name that is relative would not lie in the stack's.
    remaps = SIMULATED_REMAPS if simulated else ()
    return Node(
        package='rviz2',
        executable='rviz2',
        arguments=['-d', _View()],
        parameters=[_sim_time()],
        remappings=[(old, ['/', namespace, '/', new]) for old, new in remaps],
        ros_arguments=_enclave('rviz'),
        condition=IfCondition(LaunchConfiguration('rviz')),
    )


class _UsesCameras(Substitution):
    """Whether a source of the scene is `camera`, as a condition reads it."""

    def perform(self, context: LaunchContext) -> str:
        sources = LaunchConfiguration('sources').perform(context)
        return _text(SceneSource.CAMERA in parse_sources(sources))


class _SceneOfSources(Substitution):
    """
    The scene file beside a simulator, for nodes with that parameter; empty with source objects.

    The simulator's own file has the furniture and locations, which no detector reports.
    """

    def perform(self, context: LaunchContext) -> str:
        sources = LaunchConfiguration('sources').perform(context)
        if SceneSource.OBJECTS in parse_sources(sources):
            return ''
        return str(LaunchConfiguration('scene').perform(context))


class _View(Substitution):
    """The file of rviz's view of the stack's namespace, which is set at the start only."""

    def perform(self, context: LaunchContext) -> str:
        return str(view_file(LaunchConfiguration('namespace').perform(context)))


def arguments_of(node: str, simulated: bool) -> tuple[str, ...]:
    real = () if simulated else REAL_ARGUMENTS.get(node, ())
    return (*ARGUMENTS.get(node, ()), *real)


def declare_arguments(*nodes: str, simulated: bool = False) -> list[DeclareLaunchArgument]:
    found: dict[str, DeclareLaunchArgument] = {}
    for node in nodes:
        fields = NODE_PARAMS[node].model_fields
        values = node_values(node, simulated=simulated)
        for name in arguments_of(node, simulated):
            parameter = PARAMETERS.get(name, name)
            found.setdefault(
                name,
                DeclareLaunchArgument(
                    name,
                    default_value=_text(values[parameter]),
                    description=fields[parameter].description,
                    choices=CHOICES.get(name),
                ),
            )
    return list(found.values())


def start_node(
    node: str, *, simulated: bool = False, condition: IfCondition | None = None
) -> Node:
    """Start a node with its file, and with the arguments that win over it."""
    values = node_values(node, simulated=simulated)
    given = {
        PARAMETERS.get(name, name): ParameterValue(
            LaunchConfiguration(name), value_type=type(values[PARAMETERS.get(name, name)])
        )
        for name in arguments_of(node, simulated)
    }
    if simulated and node in LOOKERS:
        given['scene'] = ParameterValue(_SceneOfSources(), value_type=str)
    fixed = SIMULATED.get(node, {}) if simulated else {}
    # The type that launch_ros gives to names, of which a dict of str is none.
    parameters: dict[Sequence[str | Substitution], Any] = {  # noqa: C416
        name: value for name, value in {**fixed, **given, **_sim_time()}.items()
    }
    return Node(
        package='bbllm',
        executable=node,
        namespace=LaunchConfiguration('namespace'),
        parameters=[str(params_file(node)), parameters],
        remappings=SIMULATED_REMAPS if simulated else (),
        ros_arguments=_enclave(node),
        additional_env=owner_environ('ros2 launch'),
        condition=condition,
        output='screen',
        on_exit=_end_launch(node),
        respawn=LaunchConfiguration('respawn'),
        respawn_delay=RESPAWN_S,
        respawn_max_retries=RESPAWNS,
    )


def _end_launch(node: str) -> Callable[[ProcessExited, LaunchContext], None]:
    """Return what ends the launch, with an exit code that is not 0, when a node has ended."""
    ends = count(1)

    def end(event: ProcessExited, context: LaunchContext) -> None:
        if context.is_shutdown:
            return
        if context.launch_configurations['respawn'] == 'true' and next(ends) <= RESPAWNS:
            return
        code = event.returncode
        how = f'was killed by signal {-code}' if code < 0 else f'ended with code {code}'
        raise RuntimeError(
            f'The node {node} {how}, so the launch ends. Its own last lines are above; '
            'respawn:=true starts such a node again.'
        )

    return end


def _sim_time() -> dict[str, ParameterValue]:
    return {'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)}


def _enclave(node: str) -> list[str | list[str | LaunchConfiguration]]:
    """Return what names the keys of a node in a graph with security (docs/security.md)."""
    return ['--enclave', ['/', LaunchConfiguration('namespace'), f'/{node}']]


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
