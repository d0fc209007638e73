"""
Records as the fields of messages, by their names, without ROS.

A field of a record has the same name in the message, or the same without its unit (`size_m` and
`size`). `has_<field>` in a message is false where the field of the record is None. Everything else
is listed in RENAMED and LEFT_OUT.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from enum import Enum, IntEnum
from functools import cache
from typing import Any

from bbllm.bags.definitions import shipped_fields
from bbllm.bags.templates import header_of, numbers_of, pose_of, stamp_of, xyz
from bbllm.core.approval import ApprovalRequest
from bbllm.core.events import (
    ApprovalAnswered,
    EpisodeStarted,
    LineDiscarded,
    PromptText,
    RepairBegun,
    StepFailed,
    SubGoalBegun,
)
from bbllm.core.types import Scene

RENAMED: Mapping[tuple[type, str], str] = {
    (ApprovalAnswered, 'what'): 'kind',
    (ApprovalRequest, 'since_s'): 'wall_stamp',
    (LineDiscarded, 'why'): 'reason',
    (Scene, 'stamp_s'): 'header',
    (SubGoalBegun, 'of'): 'count',
}
LEFT_OUT: Mapping[type, tuple[str, ...]] = {
    Scene: ('domain', 'whole', 'offers_all'),
    EpisodeStarted: ('episode_id', 'limits', 'settings'),
    PromptText: ('picture',),
    RepairBegun: ('index', 'text'),
    StepFailed: ('index', 'text'),
}
"""Fields that the caller converts, or that do not travel, by record."""
WRITERS: Mapping[str, Callable[[Any], object]] = {
    'float64': float,
    'builtin_interfaces/Time': stamp_of,
    'geometry_msgs/Pose': lambda pose: pose_of(numbers_of(pose)),
    'geometry_msgs/Vector3': xyz,
    'std_msgs/Header': header_of,
}
"""By the type of a message's field, what makes its value."""


def fields_of(record: Any, message: str, **given: object) -> dict[str, object]:
    """
    Return the fields of a message, `package/Name`, from a record.

    *given* are fields that the record lacks. TypeError where the message has no field for one.
    """
    kinds = shipped_fields(message)
    kind: Any = type(record)
    for name, there in _links(kind, message):
        value = getattr(record, name)
        if f'has_{there}' in kinds:
            given[f'has_{there}'] = value is not None
            if value is None:
                continue
        given[there] = _written(value, kinds[there][0])
    return given


@cache
def _links(record: Any, message: str) -> tuple[tuple[str, str], ...]:
    """Return the fields of a record that travel, each with its name in the message."""
    kinds, links = shipped_fields(message), []
    for item in dataclasses.fields(record):
        if item.name in LEFT_OUT.get(record, ()):
            continue
        there = RENAMED.get((record, item.name), item.name)
        if there not in kinds:
            there = re.sub('_[a-z]+$', '', there)
        if there not in kinds:
            raise TypeError(f'{message} has no field for {record.__name__}.{item.name}')
        links.append((item.name, there))
    return tuple(links)


def _written(value: Any, kind: str) -> object:
    if kind in WRITERS:
        return WRITERS[kind](value)
    if value is None or isinstance(value, IntEnum):
        return int(value or 0)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_written(item, kind) for item in value]
    return fields_of(value, kind) if dataclasses.is_dataclass(value) else value
