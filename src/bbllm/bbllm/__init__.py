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

if TYPE_CHECKING:
    from bbllm.api.robot import Robot
    from bbllm.api.setup import run_episode
    from bbllm.bench.suites.suite import load_suite
    from bbllm.core import errors, events
    from bbllm.core.protocols import ChatModel, EpisodeContext, Message, Planner, Reply, World
    from bbllm.core.registry import load_planner
    from bbllm.core.types import (
        Outcome,
        Plan,
        PlanStep,
        Scene,
        Skill,
        SkillCall,
        Status,
        Task,
    )

__version__ = '0.1.0'
__all__ = [
    'ChatModel',
    'EpisodeContext',
    'Message',
    'Outcome',
    'Plan',
    'PlanStep',
    'Planner',
    'Reply',
    'Robot',
    'Scene',
    'Skill',
    'SkillCall',
    'Status',
    'Task',
    'World',
    'errors',
    'events',
    'load_planner',
    'load_suite',
    'run_episode',
]

_PLACES = {
    **dict.fromkeys(
        ('ChatModel', 'EpisodeContext', 'Message', 'Planner', 'Reply', 'World'), 'core.protocols'
    ),
    **dict.fromkeys(
        ('Outcome', 'Plan', 'PlanStep', 'Scene', 'Skill', 'SkillCall', 'Status', 'Task'),
        'core.types',
    ),
    'Robot': 'api.robot',
    'load_planner': 'core.registry',
    'load_suite': 'bench.suites.suite',
    'run_episode': 'api.setup',
}
_MODULES = ('errors', 'events')


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = importlib.import_module(f'bbllm.core.{name}')
    elif name in _PLACES:
        found = getattr(importlib.import_module(f'bbllm.{_PLACES[name]}'), name)
    else:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
