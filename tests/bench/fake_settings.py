"""Settings of a run that is not played for real."""

from __future__ import annotations

from typing import Any

from bbllm.bench.log.run_settings import RunSettings, TaskSettings
from bbllm.core.budget import Limits


def make_run_settings(tasks: tuple[str, ...] = ('fine',), **changes: Any) -> RunSettings:
    """Return settings of a run of the fake suite."""
    values: dict[str, Any] = {
        'suite': 'fake',
        'suite_sha256': 'abc',
        'world': 'tabletop',
        'planner': 'brain_body',
        'brain': 'offline',
        'body': 'offline',
        'mapping': 'auto',
        'ks': (0, 3),
        'trials': 2,
        'seed': 0,
        'tasks': tuple(
            TaskSettings(name=name, instruction='do nothing', difficulty='easy', least_loops=0)
            for name in tasks
        ),
        'limits': Limits(),
        'llm': {'brain': {'provider': 'offline'}, 'body': {'provider': 'offline'}},
        'prompts': {'planning.md.j2': 'p1'},
        'versions': {'bbllm': '1', 'commit': 'c1', 'mujoco': '3'},
        'machine': {'cores': '2'},
    }
    return RunSettings(**{**values, **changes})
