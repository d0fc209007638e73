"""
Parameters of nodes: one record for each node, one line for each parameter.

A field becomes a ParameterDescriptor; the files in config/params have values only. A parameter is
read when its node is configured, so it can be changed while the node is unconfigured or inactive.
A dynamic one can be changed while the node is active and at rest, too. What a person relies on
when they approve motion is fixed: it needs a new start of the node.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from bbllm.api.settings import Change, Settings, describe, setting, surface_of
from bbllm.core.errors import ConfigError

if TYPE_CHECKING:
    from rcl_interfaces.msg import SetParametersResult
    from rclpy.node import Node
    from rclpy.parameter import Parameter

OF_EVERY_NODE = ('autostart', 'use_sim_time', 'qos_overrides', 'start_type_description_service')

CLOCK_IS_FIXED = (  # half of a graph would stay behind
    'use_sim_time can be set at the start only, of all nodes together: start the stack again, '
    'for example with the launch argument use_sim_time'
)
Value = str | int | float | bool
"""The types of parameters."""
P = TypeVar('P', bound='NodeParams')


def param(
    default: Any,
    description: str,
    low: float | None = None,
    high: float | None = None,
    *,
    change: Change = Change.INACTIVE,
) -> Any:
    """Return the field of a parameter that no other surface has."""
    return setting(default, description, low=low, high=high, change=change)


live = partial(param, change=Change.AT_REST)
fixed = partial(param, change=Change.FIXED)


class NodeParams(Settings):
    """Values of a node's parameters; an int stands for a float, and no other type for another."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode='before')
    @classmethod
    def _without_empty(cls, values: Any) -> Any:
        """ROS has no None: an empty text stands for it."""
        fields = cls.model_fields
        return {
            name: value
            for name, value in values.items()
            if not (value == '' and name in fields and fields[name].default is None)
        }


def parameter_of(value: object) -> Value:
    """Return the value of a parameter that stands for a setting's; the empty text for None."""
    if value is None:
        return ''
    if isinstance(value, tuple):
        return '; '.join(value)
    if isinstance(value, enum.Enum):
        return str(value.value)
    return value if isinstance(value, Value) else str(value)


def checked(node: str, cls: type[P], given: Mapping[str, object]) -> P:
    """
    Return the parameters of a node, with defaults for those that are not *given*.

    Raises ConfigError with what a parameter is, or those that there are.
    """
    try:
        return cls.model_validate(given)
    except ValidationError as error:
        name = str(error.errors()[0]['loc'][0])
    if name not in cls.model_fields:
        known = ', '.join(sorted(cls.model_fields))
        raise ConfigError(f'{node} has no parameter {name!r}. Known: {known}.')
    raise ConfigError(
        f'{node}: the parameter {name} cannot be {given[name]!r}. It is: '
        f'{describe(cls.model_fields[name])}'
    )


class Parameters(Generic[P]):
    """
    The parameters of a node as one record *cls*, which follows their changes.

    *refuse* returns why a parameter cannot be changed now (empty where it can) by its name, and
    whether it can be changed while the node is active. *on_change* is called with the new record
    after a change. Raises ConfigError as `checked`.
    """

    def __init__(
        self,
        node: Node,
        cls: type[P],
        refuse: Callable[[str, bool], str],
        on_change: Callable[[P], None],
    ):
        self._on_change = on_change
        self._node, self._cls, self._refuse = node.get_name(), cls, refuse
        # rclpy keeps what came from files and the command line here, and offers no other way. A
        # misspelt one is otherwise ignored without a word.
        given = {
            name: override.value
            for name, override in node._parameter_overrides.items()
            if not name.startswith(OF_EVERY_NODE)
        }
        self.values = checked(self._node, cls, given)
        for name, item in cls.model_fields.items():
            value = parameter_of(getattr(self.values, name))
            node.declare_parameter(name, value, _descriptor(item), ignore_override=True)
        self._sim_time = node.get_parameter('use_sim_time').value
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._take)

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        from rcl_interfaces.msg import SetParametersResult

        for change in changes:
            if reason := self._fault_of(change):
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _fault_of(self, change: Parameter) -> str:
        if change.name == 'use_sim_time' and change.value != self._sim_time:
            return CLOCK_IS_FIXED
        item = self._cls.model_fields.get(change.name)
        if item is None:
            return ''
        if reason := self._refuse(change.name, surface_of(item).change is Change.AT_REST):
            return reason
        try:
            checked(self._node, self._cls, {change.name: change.value})
        except ConfigError as error:
            return str(error)
        return ''

    def _take(self, changes: list[Parameter]) -> None:
        own = self._cls.model_fields
        mine = {change.name: change.value for change in changes if change.name in own}
        if mine:
            self.values = self._cls.model_validate({**self.values.model_dump(), **mine})
            self._on_change(self.values)


def _descriptor(item: FieldInfo) -> Any:
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    shown = surface_of(item)
    low, high = shown.low, shown.high
    descriptor = ParameterDescriptor(
        description=item.description, read_only=shown.change is Change.FIXED
    )
    if isinstance(item.default, float):
        # People write speed:=0 where ROS wants 0.0; `checked` sees to the type instead.
        descriptor.dynamic_typing = True
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    elif low is not None and high is not None:
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
    return descriptor
