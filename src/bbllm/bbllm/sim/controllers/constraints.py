"""
Tolerances of the trajectory controller: its defaults and those of a goal.

The defaults are the `constraints` of config/franka/controllers.yaml, the file with which the real
arm's controller is started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import yaml

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.model import ARM_JOINTS
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir

STOPPED_RAD_S = 0.01
"""The controller's own stopped_velocity_tolerance [rad/s]."""
ERASED = -1.0
"""What a goal writes for no limit at all."""
CONTROLLERS_FILE = 'franka/controllers.yaml'
"""In config/."""


def _none() -> Array:
    return np.zeros(N_JOINTS)


def _stopped() -> Array:
    return np.full(N_JOINTS, STOPPED_RAD_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Largest errors of each joint, shape (7,) each; 0: not checked."""

    path_rad: Array = field(default_factory=_none)
    """Of the position on the way [rad]."""
    path_rad_s: Array = field(default_factory=_none)
    """Of the velocity on the way [rad/s]."""
    goal_rad: Array = field(default_factory=_none)
    """Of the position at the end [rad]."""
    goal_rad_s: Array = field(default_factory=_stopped)
    """Of the velocity at the end [rad/s]."""
    goal_time_s: float = 0.0
    """How late the end may be met; 0: waits for ever [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTolerances:
    """What a goal says of them, shape (7,) each; 0: the default, -1: no limit."""

    path_rad: Array = field(default_factory=_none)
    path_rad_s: Array = field(default_factory=_none)
    goal_rad: Array = field(default_factory=_none)
    goal_rad_s: Array = field(default_factory=_none)
    goal_time_s: float = 0.0
    legible: bool = True
    """False where they name an unknown joint: then all defaults hold."""


def in_force(asked: AskedTolerances, default: Constraints) -> Constraints:
    """Return what holds for a goal; one value that has no meaning leaves all at the defaults."""
    arrays = (asked.path_rad, asked.path_rad_s, asked.goal_rad, asked.goal_rad_s)
    values = np.concatenate([*arrays, [asked.goal_time_s]])
    if not asked.legible or bool(((values < 0) & (values != ERASED)).any()):
        return default

    def resolved(value: Array, otherwise: Array) -> Array:
        return np.where(value == 0, otherwise, np.maximum(value, 0.0))

    return Constraints(
        path_rad=resolved(asked.path_rad, default.path_rad),
        path_rad_s=resolved(asked.path_rad_s, default.path_rad_s),
        goal_rad=resolved(asked.goal_rad, default.goal_rad),
        goal_rad_s=resolved(asked.goal_rad_s, default.goal_rad_s),
        goal_time_s=max(asked.goal_time_s or default.goal_time_s, 0.0),
    )


@cache
def driver_constraints() -> Constraints:
    """
    Return the defaults of the driver's controller.

    Raises:
        ConfigError: The file cannot be read as one of controllers.
    """
    path = config_dir() / CONTROLLERS_FILE
    try:
        content = yaml.safe_load(path.read_text('utf-8'))
        given = content['/**']['fr3_arm_controller']['ros__parameters'].get('constraints', {})
        return constraints_from(given)
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f'The constraints of fr3_arm_controller cannot be read from {path}: {error!r}. '
            'It needs /**: fr3_arm_controller: ros__parameters: constraints.'
        ) from error


def constraints_from(given: Mapping[str, Any]) -> Constraints:
    """Read the controller's parameters `constraints`; what is not there is not checked."""

    def each(name: str) -> Array:
        return np.array([float(given.get(joint, {}).get(name, 0.0)) for joint in ARM_JOINTS])

    stopped = float(given.get('stopped_velocity_tolerance', STOPPED_RAD_S))
    return Constraints(
        path_rad=each('trajectory'),
        goal_rad=each('goal'),
        goal_rad_s=np.full(N_JOINTS, stopped),
        goal_time_s=float(given.get('goal_time', 0.0)),
    )
