"""
Checks the parameters of a stack before any of its nodes starts.

`bbllm up` and the launch files use it. Needs no ROS.
"""

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from bbllm.arm.envelope import load_envelope
from bbllm.bench.suites.suite import load_suite
from bbllm.core.approval import approval_mode
from bbllm.core.constants import OpenStateMode, open_state_mode
from bbllm.ros.parameters.model_params import (
    mapping_of,
    model_of_open_state,
    models_of_body,
    planner_and_models,
)
from bbllm.ros.rclpy_support.params import NODE_PARAMS, unusable
from bbllm.ros.stack.stack import SIMULATED, Value, params_file
from bbllm.sim.render import need_display
from bbllm.sim.scene_file import load_scene
from bbllm.worlds.perception.sources import read_sources

PARSED: Mapping[type, Callable[[str], Value]] = {
    bool: lambda text: {'true': True, 'false': False}[text.lower()],
    int: int,
    float: float,
    str: str,
}


def check_params(
    nodes: Iterable[str], given: Mapping[str, Mapping[str, Value]], *, simulated: bool
) -> None:
    """
    Check the parameters that some nodes would start with; *given* win over their files.

    Raises BbllmError with the value that cannot be used, and what could be.
    """
    for node in nodes:
        values = {**node_values(node, simulated=simulated), **given.get(node, {})}
        record = NODE_PARAMS[node]
        fields = {item.name: item for item in dataclasses.fields(record)}
        checked = {name: _checked(node, fields[name], value) for name, value in values.items()}
        CHECKS[node](record(**checked))


def node_values(node: str, *, simulated: bool) -> dict[str, Value]:
    file: dict[str, Value] = yaml.safe_load(params_file(node).read_text())['/**'][node][
        'ros__parameters'
    ]
    return {**file, **(SIMULATED.get(node, {}) if simulated else {})}


def value_of_text(node: str, name: str, text: str) -> Value:
    """Return the value of a parameter from its text in a launch argument; raises ConfigError."""
    (item,) = (item for item in dataclasses.fields(NODE_PARAMS[node]) if item.name == name)
    try:
        kind: Callable[[str], Value] = PARSED[type(item.default)]
        return kind(text)
    except (KeyError, ValueError):
        raise unusable(node, item, repr(text)) from None


def _checked(node: str, item: dataclasses.Field[Any], value: Value) -> Value:
    meta = item.metadata
    kind: type = type(item.default)
    number = kind in (int, float)
    if number and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if kind is float else value
    if type(value) is not kind or (number and not meta['low'] <= value <= meta['high']):
        raise unusable(node, item, repr(value))
    return value


def _check_executor(params: Any) -> None:
    approval_mode(params.approval)
    load_envelope(params.safety)


def _check_estimator(params: Any) -> None:
    read_sources(params.sources, params.scene, params.catalogue)
    if open_state_mode(params.open_state) is OpenStateMode.MODEL:
        model_of_open_state(params)


def _check_sim(params: Any) -> None:
    load_scene(params.scene)
    if params.viewer:
        need_display(os.environ)


CHECKS: Mapping[str, Callable[[Any], object]] = {
    'brain_planner': planner_and_models,
    'body_mapper': lambda params: models_of_body(params, mapping_of(params.mapping)),
    'state_estimator': _check_estimator,
    'fr3_executor': _check_executor,
    'mujoco_sim': _check_sim,
    'task_menu': lambda params: load_suite(params.suite),
}
"""By node, what reads the files and names that its parameters refer to."""
