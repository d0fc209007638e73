"""
Robots as data: what an arm and its hand are, without what they do.

A package adds a robot by an entry point of the group `bbllm.robots` that names a `RobotModel`;
design/robots.md shows one. Names are imported when they are first used, since a model of a
robot loads MuJoCo.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bbllm.robots.registry import load_robot, robot_names

if TYPE_CHECKING:
    from bbllm.robots.joint_limits import BrakingCurve, JointLimits
    from bbllm.robots.kinematics import ArmKinematics, ChainLengths
    from bbllm.robots.robot_model import HandModel, RobotModel, ServoModel, ToolLimits

__all__ = [
    'ArmKinematics',
    'BrakingCurve',
    'ChainLengths',
    'HandModel',
    'JointLimits',
    'RobotModel',
    'ServoModel',
    'ToolLimits',
    'load_robot',
    'robot_names',
]


def __getattr__(name: str) -> Any:
    for place in ('joint_limits', 'kinematics', 'robot_model') if name in __all__ else ():
        module = importlib.import_module(f'{__name__}.{place}')
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
