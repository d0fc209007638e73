"""Who estimates the open state that `state_estimator` adds to its scenes."""

from __future__ import annotations

from enum import Enum

from bbllm.core.errors import ConfigError


class OpenStateMode(str, Enum):
    """Who estimates it; see docs/design/open-state.md."""

    OFF = 'off'
    RULES = 'rules'
    MODEL = 'model'


def open_state_mode(name: str) -> OpenStateMode:
    """
    Return who estimates.

    Raises:
        ConfigError: There is nobody of that name.
    """
    try:
        return OpenStateMode(name)
    except ValueError:
        known = ', '.join(mode.value for mode in OpenStateMode)
        raise ConfigError(f'There is no open_state {name!r}. Known: {known}.') from None
