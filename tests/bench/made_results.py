"""Results made by hand, for tests of what is counted and drawn from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.core.records import to_json
from bbllm.core.types import Kind, Pose, SceneObject

TASKS = ('cubes_right', 'plus_sign')


def make_result(
    task: str = 'plus_sign', trial: int = 0, k: int = 3, verdict: str = 'passed', **changes: Any
) -> EpisodeResult:
    """Return a result whose other fields fit its verdict, but for what is given."""
    lost = verdict == 'lost'
    values: dict[str, Any] = {
        'key': EpisodeKey(task, trial, k),
        'verdict': verdict,
        'reason': '' if verdict == 'passed' else f'It {verdict}.',
        'conditions': {} if lost else {'a': True, 'b': verdict == 'passed'},
        'gcr': {'passed': 1.0, 'disputed': 1.0, 'failed': 0.5, 'lost': 0.0}[verdict],
        'executable': 0 if lost else 8,
        'attempted': 0 if lost else 10,
        'loops': 1,
        'least_loops': 1,
        'passes': 0,
        'codes': {} if lost else {'OUT_OF_WORKSPACE': 2},
        'ending': 'MODEL_FAILED' if lost else 'FINISHED',
        'message': 'The server is down.' if lost else '',
        'error': 'ModelUnavailableError' if lost else '',
        'unsafe': 0,
        'model_calls': 12,
        'prompt_tokens': 1000,
        'completion_tokens': 100,
        'cost': None,
        'model_s': 2.0,
        'wall_s': 3.0,
        'robot_s': 60.0,
        'settled': (
            SceneObject(name='red_cube', kind=Kind.CUBE, pose=Pose(position_m=(0.5, 0.0, 0.02))),
        ),
        'case_hash': f'{task}-{trial}',
        'models': {'brain': 'offline', 'body': 'offline'},
    }
    return EpisodeResult(**{**values, **changes})


def make_settings(**changes: Any) -> dict[str, Any]:
    """Return settings of a run of both tasks, as settings.json has them."""
    return {
        'suite': 'tabletop',
        'suite_sha256': 'abc',
        'world': 'tabletop',
        'planner': 'brain_body',
        'brain': 'offline',
        'body': 'offline',
        'mapping': 'auto',
        'ks': [3],
        'trials': 2,
        'seed': 0,
        'tasks': [
            {'name': name, 'instruction': f'Do {name}.', 'difficulty': 'easy', 'least_loops': i}
            for i, name in enumerate(TASKS)
        ],
        'prices': {},
        **changes,
    }


def write_run(
    folder: Path, results: Sequence[EpisodeResult], settings: Mapping[str, Any] | None = None
) -> Path:
    """Write a run's folder as far as readers need it, and return it."""
    folder.mkdir(parents=True)
    (folder / 'settings.json').write_text(json.dumps(settings or make_settings()))
    lines = (json.dumps(to_json(result)) + '\n' for result in results)
    (folder / 'results.jsonl').write_text(''.join(lines))
    return folder
