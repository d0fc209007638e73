"""Declares what can be chosen, once: flags, ROS parameters, keywords, bounds and help read it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bbllm.core.errors import ConfigError, UnknownNameError

HERE = frozenset({'sim', 'arm', 'household', 'given'})
"""Worlds of this process: a simulated table, a robot over its network interface, a house, and one
that a program brings."""
EVERYWHERE = HERE | {'ros'}
"""These, and a stack that runs already."""

FilePath = Annotated[
    Path,
    BeforeValidator(lambda x: Path(x).expanduser() if isinstance(x, str | Path) else x),
]
"""A path, also where it is written as text; `~` is expanded."""


class Change(enum.Enum):
    """When a value can be changed in a node that has it as a parameter."""

    FIXED = enum.auto()
    """Only at the start of the process."""
    INACTIVE = enum.auto()
    """While the node is unconfigured or inactive."""
    AT_REST = enum.auto()
    """Also while the node is active and carries out nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """How a setting appears on the surfaces that have it."""

    flags: tuple[str, ...] = ()
    """Its flags; `--name-of-the-field` where there are none, and before a short one."""
    kind: Any = None
    """Type of the flag's value, where it is not that of the field."""
    metavar: str | None = None
    panel: str | None = None
    """Its heading in the whole help."""
    common: bool = False
    """Whether the short help lists it."""
    words: Callable[[], Iterable[str]] | None = None
    """What a shell completes."""
    listed: bool = False
    """Whether the whole help lists these words."""
    change: Change = Change.INACTIVE
    worlds: frozenset[str] = HERE
    """The worlds of `EVERYWHERE` that have it."""
    low: float | None = None
    high: float | None = None


def setting(
    default: Any,
    help: str,
    *flags: str,
    low: float | None = None,
    high: float | None = None,
    **surface: Any,
) -> Any:
    """
    Return the field of a `Settings` with its default, description and bounds, all of it once.

    *surface* are more fields of `Surface`.
    """
    shown = Surface(flags=flags, low=low, high=high, **surface)
    return Field(
        default,
        description=help,
        ge=low,
        le=high,
        json_schema_extra={'surface': shown},  # type: ignore[dict-item]  # no schema is made of it
    )


def surface_of(item: FieldInfo) -> Surface:
    """Return how a field appears; that of a field without a `setting` has nothing special."""
    extra: Any = item.json_schema_extra or {}
    surface: Surface = extra.get('surface') or Surface()
    return surface


def revised(owner: type[Settings], name: str, default: Any = PydanticUndefined) -> Any:
    """Return a setting of another record, for a field with another default or type."""
    item = owner.model_fields[name]
    shown = surface_of(item)
    return Field(
        item.default if default is PydanticUndefined else default,
        description=item.description,
        ge=shown.low,
        le=shown.high,
        json_schema_extra={'surface': shown},  # type: ignore[dict-item]  # as in `setting`
    )


class Settings(BaseModel):
    """Values that were chosen together, and which of them were: `model_fields_set`."""

    model_config = ConfigDict(frozen=True, extra='forbid', arbitrary_types_allowed=True)

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """
        Return the record of values, of which None stands for one that was not chosen.

        Raises:
            UnknownNameError: There is no setting of that name.
            ConfigError: A value cannot be used; the text contains what can.
        """
        chosen = {name: value for name, value in values.items() if value is not None}
        try:
            return cls.model_validate(chosen)
        except ValidationError as error:
            (first, *_) = error.errors()
            name = str(first['loc'][0])
        if first['type'] == 'extra_forbidden':
            raise UnknownNameError('option', name, cls.model_fields)
        if words := choices_of(cls.model_fields[name]):
            raise UnknownNameError(name, str(chosen.get(name)), words)
        raise ConfigError(
            f'{name} cannot be {chosen.get(name)!r}. It is: {describe(cls.model_fields[name])}'
        )

    @property
    def given(self) -> dict[str, object]:
        """The values that were chosen, by name, in the order of the fields."""
        chosen = self.model_fields_set
        return {name: getattr(self, name) for name in type(self).model_fields if name in chosen}


def choices_of(item: FieldInfo) -> tuple[str, ...]:
    """Return the words that a setting takes, none where it takes others too."""
    kind = item.annotation
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return tuple(str(word.value) for word in kind)
    return get_args(kind) if get_origin(kind) is Literal else ()


def describe(item: FieldInfo) -> str:
    """Return what a setting is, its bounds and an example, as sentences."""
    low, high = surface_of(item).low, surface_of(item).high
    between = '' if low is None else f' Between {low:g} and {high:g}.'
    example = item.default.value if isinstance(item.default, enum.Enum) else item.default
    shown = '' if example is None else f' For example {example!r}.'
    return f'{item.description}{between}{shown}'


def flag_of(name: str) -> str:
    """Return the flag of a setting of that name without one of its own."""
    return f'--{name.replace("_", "-")}'
