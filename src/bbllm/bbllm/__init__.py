"""
A Brain model plans, a Body model maps each step to a call, and a robot arm executes it.

    from bbllm import Robot

    with Robot('sim') as robot:
        episode = robot.do('stack the red cube on the blue cube')

Everything in `__all__` is public; docs/python.md describes it. Names are imported when they are
first used, so that `import bbllm` loads neither the simulator nor NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bbllm.core.version import VERSION

if TYPE_CHECKING:
    from bbllm.api.robot import Robot
    from bbllm.api.setup import run_episode
    from bbllm.core import errors, events
    from bbllm.core.model_wrapper import ModelWrapper
    from bbllm.core.protocols import (
        ChatModel,
        EpisodeContext,
        Message,
        ModelRequest,
        Planner,
        Reply,
        ScenePicture,
        World,
        WorldFeatures,
    )
    from bbllm.core.registry import load_planner
    from bbllm.core.tasks import load_suite
    from bbllm.core.types import (
        Fact,
        Kind,
        Outcome,
        Plan,
        PlanStep,
        Pose,
        Scene,
        SceneObject,
        Skill,
        SkillCall,
        Status,
        Task,
    )
    from bbllm.core.world_wrapper import WorldWrapper

__version__ = VERSION
__all__ = [
    'ChatModel',
    'EpisodeContext',
    'Fact',
    'Kind',
    'Message',
    'ModelRequest',
    'ModelWrapper',
    'Outcome',
    'Plan',
    'PlanStep',
    'Planner',
    'Pose',
    'Reply',
    'Robot',
    'Scene',
    'SceneObject',
    'ScenePicture',
    'Skill',
    'SkillCall',
    'Status',
    'Task',
    'World',
    'WorldFeatures',
    'WorldWrapper',
    'errors',
    'events',
    'load_planner',
    'load_suite',
    'run_episode',
]

_MODULES = (
    *('bbllm.core.types', 'bbllm.core.protocols', 'bbllm.core.registry'),
    *('bbllm.core.world_wrapper', 'bbllm.core.model_wrapper'),
    *('bbllm.core.tasks', 'bbllm.api.setup', 'bbllm.api.robot'),
)
"""Where public names are looked for, in that order: what is light comes first."""


def __getattr__(name: str) -> Any:
    if name in ('errors', 'events'):
        return importlib.import_module(f'bbllm.core.{name}')
    for place in _MODULES if name in __all__ else ():
        module = importlib.import_module(place)
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
