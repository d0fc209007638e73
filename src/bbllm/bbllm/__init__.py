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
    from bbllm.core.types import Outcome, Plan, PlanStep, Scene, Skill, SkillCall, Status, Task

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
    'api.robot': ('Robot',),
    'api.setup': ('run_episode',),
    'bench.suites.suite': ('load_suite',),
    'core': ('errors', 'events'),
    'core.protocols': ('ChatModel', 'EpisodeContext', 'Message', 'Planner', 'Reply', 'World'),
    'core.registry': ('load_planner',),
    'core.types': ('Outcome', 'Plan', 'PlanStep', 'Scene', 'Skill', 'SkillCall', 'Status', 'Task'),
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            module = f'bbllm.{place}'
            if place == 'core':
                found: Any = importlib.import_module(f'{module}.{name}')
            else:
                found = getattr(importlib.import_module(module), name)
            globals()[name] = found
            return found
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
