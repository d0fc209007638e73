"""Who estimates the open state that `state_estimator` adds to its scenes."""

from __future__ import annotations

from enum import Enum


class OpenStateMode(str, Enum):
    """Who estimates it; see docs/design/open-state.md."""

    OFF = 'off'
    RULES = 'rules'
    MODEL = 'model'
