"""
What the robot can do, each skill as one object, and how it becomes motions.

Everything in `__all__` is for packages that bring a skill of their own, by an entry point of the
group `bbllm.skills`; docs/writing-a-skill.md shows one. Names are imported when they are first
used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bbllm.skills.grasps import Grip, Hand
    from bbllm.skills.needs import FREE_WAY, IN_REACH
    from bbllm.skills.placing import PlaceTarget
    from bbllm.skills.rejection import Rejection
    from bbllm.skills.segments import (
        CloseHand,
        CloseOn,
        Glide,
        LetGo,
        Lift,
        Motion,
        MoveAbove,
        OpenHand,
        Rest,
        Rise,
        StandStill,
        ToBase,
    )
    from bbllm.skills.skill import (
        ArmSkill,
        Handling,
        HandUse,
        Judge,
        Precondition,
        where_asked,
    )

__all__ = [
    'FREE_WAY',
    'IN_REACH',
    'ArmSkill',
    'CloseHand',
    'CloseOn',
    'Glide',
    'Grip',
    'Hand',
    'HandUse',
    'Handling',
    'Judge',
    'LetGo',
    'Lift',
    'Motion',
    'MoveAbove',
    'OpenHand',
    'PlaceTarget',
    'Precondition',
    'Rejection',
    'Rest',
    'Rise',
    'StandStill',
    'ToBase',
    'where_asked',
]
_MODULES = ('skill', 'segments', 'grasps', 'needs', 'placing', 'rejection')
"""Where public names are looked for."""


def __getattr__(name: str) -> Any:
    for place in _MODULES if name in __all__ else ():
        module = importlib.import_module(f'{__name__}.{place}')
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
