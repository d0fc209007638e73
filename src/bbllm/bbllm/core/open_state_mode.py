"""Source of the open state that `state_estimator` adds to its scenes."""

from __future__ import annotations

from enum import Enum

from bbllm.core.errors import ConfigError


class OpenStateMode(str, Enum):
    """Source of the open state; see docs/design/open-state.md."""

    OFF = 'off'
    RULES = 'rules'
    MODEL = 'model'


def open_state_mode(name: str) -> OpenStateMode:
    """
    Return a mode by its name.

    Raises:
        ConfigError: No mode has that name.
    """
    try:
        return OpenStateMode(name)
    except ValueError:
        known = ', '.join(mode.value for mode in OpenStateMode)
        raise ConfigError(f'There is no open_state {name!r}. Known: {known}.') from None
