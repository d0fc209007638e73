"""Records as text that is the same wherever and however often it is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bbllm.sim.force_noise import ForceNoise

DECIMALS = 4
"""Lengths count to a tenth of a millimetre."""


LATER: Mapping[str, tuple[Any, ...]] = {
    'fixed': (False, 0),
    'force_noise_n': (ForceNoise().model_dump(),),
    'mass': (None,),
    'mass_ratio': (1.0,),
    'needs': ('none',),
}
"""Fields that records got later, and what each says where all was as before: left out, so that
what was hashed before keeps its hash."""


def canonical(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and rounded numbers."""
    return json.dumps(_plain(value), sort_keys=True, separators=(',', ':'), ensure_ascii=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0  # no minus before a zero
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item)
            for key, item in value.items()
            if key not in LATER or item not in LATER[key]
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
