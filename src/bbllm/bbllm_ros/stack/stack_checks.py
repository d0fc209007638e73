"""
Checks the parameters of a stack before any of its nodes starts.

`bbllm up` and the launch files use it. Needs no ROS.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import yaml

from bbllm.arm.envelope import check_never
from bbllm.files.yaml_files import YamlError, parse_yaml
from bbllm.scene.scene_file import load_scene
from bbllm.sim.render import need_display
from bbllm_franka.address import check_address
from bbllm_ros.parameters.detector_params import detector_of
from bbllm_ros.parameters.model_params import (
    models_of_body,
    planner_and_models,
)
from bbllm_ros.parameters.node_params import NODE_PARAMS
from bbllm_ros.parameters.real_arguments import check_robot_ip
from bbllm_ros.parameters.scene_sources import parse_cameras, read_sources
from bbllm_ros.rclpy_support.params import Value, checked, parameter_of
from bbllm_ros.stack.stack import SIMULATED, SIMULATOR, params_file


def check_params(
    nodes: Iterable[str], given: Mapping[str, Mapping[str, Value]], *, simulated: bool
) -> None:
    """
    Check the parameters that some nodes would start with; *given* win over their files.

    Raises BbllmError with the value that cannot be used, and what could be.
    """
    params: dict[str, Any] = {}
    for node in nodes:
        values = {**node_values(node, simulated=simulated), **given.get(node, {})}
        params[node] = checked(node, NODE_PARAMS[node], values)
        CHECKS[node](params[node])
    if {'fr3_executor', SIMULATOR} <= set(params):
        objects = load_scene(params[SIMULATOR].scene).shown
        check_never(params['fr3_executor'].envelope, objects)


def node_values(node: str, *, simulated: bool) -> dict[str, Value]:
    file: dict[str, Value] = yaml.safe_load(params_file(node).read_text())['/**'][node][
        'ros__parameters'
    ]
    return {**file, **(SIMULATED.get(node, {}) if simulated else {})}


def value_of_text(node: str, name: str, text: str) -> Value:
    """Return the value that the text of a launch argument has, as launch_ros reads it."""
    if isinstance(parameter_of(NODE_PARAMS[node].model_fields[name].default), str):
        return text
    try:
        return cast(Value, parse_yaml(text))
    except YamlError:
        return text


def _check_perception(params: Any) -> None:
    parse_cameras(params.cameras)
    detector_of(params)


def _check_sim(params: Any) -> None:
    load_scene(params.scene)
    if params.viewer:
        need_display(os.environ)


def _check_direct(params: Any) -> None:
    check_robot_ip(params.ip)
    check_address(params.ip, simulated=params.simulated_robot)


CHECKS: Mapping[str, Callable[[Any], object]] = {
    'brain_planner': planner_and_models,
    'body_mapper': models_of_body,
    'state_estimator': lambda x: read_sources(x.sources, x.scene, x.catalogue),
    'perception': _check_perception,
    'fr3_executor': lambda params: params.envelope,
    'mujoco_sim': _check_sim,
    'franka_direct': _check_direct,
}
"""By node, what reads the files and names that its parameters refer to."""
