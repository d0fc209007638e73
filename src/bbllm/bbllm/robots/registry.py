"""Robots by name, from entry points of the group `bbllm.robots` of installed packages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.plugins import installed

if TYPE_CHECKING:
    from bbllm.robots.robot_model import RobotModel

GROUP = 'bbllm.robots'
DEFAULT_ROBOT = 'fr3'


def robot_names() -> tuple[str, ...]:
    """Return the names of all installed robots, sorted."""
    return tuple(sorted({point.name for point in installed(GROUP)}))


@cache
def load_robot(name: str = DEFAULT_ROBOT) -> RobotModel:
    """
    Return a robot; the same one for the same name.

    Raises:
        UnknownNameError: No such robot is installed; lists those that are.
        ConfigError: The installed object cannot be imported, is no robot, does not match its
            MuJoCo model, or is one of two with that name.
    """
    from bbllm.robots.robot_model import RobotModel, fault_of  # here, since it loads MuJoCo
    from bbllm.skills.grasps import MAX_WIDTH_M

    points = {point.value: point for point in installed(GROUP) if point.name == name}
    if not robot_names():
        raise ConfigError(
            'No robot is installed, not even those of bbllm: its entry points are those of an '
            'earlier version. `make setup`, or `pip install .` once more, renews them.'
        )
    if not points:
        raise UnknownNameError('robot', name, robot_names())
    if len(points) > 1:
        raise ConfigError(
            f'Two robots are named {name}: {" and ".join(sorted(points))}. Rename one in its '
            'package, or uninstall that.'
        )
    (point,) = points.values()
    load: Callable[[], object] = point.load
    try:
        found = load()
    except Exception as error:  # whatever the module of another package does when imported
        raise ConfigError(
            f'The robot {name} is installed, but {point.value} cannot be imported '
            f'({type(error).__name__}: {error}). Mend or reinstall the package that brings it.'
        ) from error
    if not isinstance(found, RobotModel):
        raise ConfigError(
            f'The robot {name} is installed, but {point.value} is {type(found).__name__} and no '
            'RobotModel. design/robots.md shows one.'
        )
    if found.name != name:
        raise ConfigError(
            f'The robot {found.name} is installed under the name {name}: {point.value} has '
            f'name={found.name!r}. Write `{found.name} = "{point.value}"` in the entry points of '
            f'its package, or name={name!r} in the robot.'
        )
    if abs(found.hand.max_width_m - MAX_WIDTH_M) > 1e-9:
        raise ConfigError(
            f'The hand of the robot {name} opens to {found.hand.max_width_m:g} m. Skills plan '
            f'grasps for the Franka Hand alone, which opens to {MAX_WIDTH_M:g} m '
            '(bbllm/skills/grasps.py).'
        )
    # A test compares those of bbllm with their models.
    if point.module.partition('.')[0] != 'bbllm' and (fault := fault_of(found)):
        raise ConfigError(f'The robot {name} {fault}.')
    return found
