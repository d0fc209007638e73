"""Results made by hand, for tests of what is counted and drawn from them."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bbllm.core.records import to_json
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.log.store import Session
from bbllm_bench.report.summary import RunSummary, summarize_run, summary_text
from bbllm_bench.report.summary_table import print_summary

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
        'gcr': {'passed': 1.0, 'failed': 0.5, 'lost': 0.0}[verdict],
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


def make_settings(**changes: Any) -> RunSettings:
    """
    Return settings of a run of both tasks.

    Tasks may be given as names or as parts of `TaskSettings`.
    """
    given = changes.pop('tasks', TASKS)
    tasks = [{'name': task} if isinstance(task, str) else dict(task) for task in given]
    for i, task in enumerate(tasks):
        for key, value in (
            ('instruction', f'Do {task["name"]}.'), ('difficulty', 'easy'), ('least_loops', i)
        ):  # fmt: skip
            task.setdefault(key, value)
    return RunSettings.model_validate(
        {
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
            'tasks': tasks,
            'llm': {'brain': {'provider': 'offline'}, 'body': {'provider': 'offline'}},
            'prompts': {'planning.md.j2': 'p1'},
            'versions': {'bbllm': '1', 'commit': 'c1', 'mujoco': '3'},
            'machine': {'cores': '2'},
            **changes,
        }
    )


def write_run(
    folder: Path,
    results: Sequence[EpisodeResult],
    settings: RunSettings | None = None,
    sessions: Sequence[Session] = (),
) -> Path:
    """Write a run's folder as far as readers need it, with its summary, and return it."""
    settings = settings or make_settings()
    (folder / 'episodes').mkdir(parents=True)
    files = {
        'settings.json': json.dumps(settings.model_dump(mode='json')),
        'results.jsonl': ''.join(json.dumps(to_json(result)) + '\n' for result in results),
        'sessions.jsonl': ''.join(json.dumps(to_json(session)) + '\n' for session in sessions),
        'summary.json': summary_text(summarize_run(settings, results, sessions)),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding='utf-8')
    return folder


def printed(summary: RunSummary, width: int = 200) -> str:
    """Return the tables of a summary as a terminal shows them."""
    stream = io.StringIO()
    print_summary(summary, Console(file=stream, width=width))
    return stream.getvalue()
