"""Records as text that is the same wherever and however often it is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DECIMALS = 4
"""Lengths count to a tenth of a millimetre."""


def canonical(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and rounded numbers."""
    return json.dumps(_plain(value), sort_keys=True, separators=(',', ':'), ensure_ascii=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0  # no minus before a zero
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
