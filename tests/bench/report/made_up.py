"""A run that nobody played: results of every kind on tables of config/scenes, with journals."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bbllm.core.events import Event, SceneRecorded
from bbllm.core.journal import line_of
from bbllm.core.types import (
    Fact,
    Kind,
    Pose,
    Scene,
    SceneObject,
)
from bbllm.scene.scene_file import load_scene
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.log.store import Session
from tests.bench import made_results

TASKS = (
    ('right_side', 'Move the cubes to the right side of the environment only.', 'easy', 0),
    ('letter_l', 'Build the capital letter L from the cubes.', 'medium', 0),
    ('color_line', 'Put the cubes in a line by colour.', 'medium', 1),
    ('pairs_a_side', 'Leave one cube and one cylinder on each side.', 'medium', 1),
    ('triangle', 'Make a triangle of the reddish cubes on the left.', 'hard', 1),
    ('plus_sign', 'Form a plus sign with five cubes.', 'hard', 2),
    ('segregate', 'Cubes to one side, cylinders to the other.', 'hard', 1),
)
KS = (0, 1, 2, 3)


def make_settings(**changes: Any) -> RunSettings:
    """Return settings as the runner writes them."""
    values = {
        'suite_sha256': 'ab' * 32,
        'brain': 'some-large-model',
        'body': 'some-small-model',
        'mapping': 'text',
        'ks': KS,
        'trials': 5,
        'tasks': [
            {'name': name, 'instruction': text, 'difficulty': hard, 'least_loops': least}
            for name, text, hard, least in TASKS
        ],
        'llm': {'brain': {'model': 'some-large-model', 'temperature': 0.0}},
        'prompts': {'brain.md.j2': 'cd' * 32},
        'versions': {'bbllm': '0.1.0', 'commit': 'f' * 40, 'mujoco': '3.17.0', 'python': '3.11'},
    }
    return made_results.make_settings(**{**values, **changes})


def start_of(task: str, trial: int) -> Scene:
    """Return a table, a little different in every trial, with what is out of reach."""
    rng = random.Random(f'{task} {trial}')
    file = load_scene('tabletop')
    objects = (
        *file.fixtures,
        *(_moved(o, rng.uniform(-0.02, 0.02), rng.uniform(-0.02, 0.02)) for o in file.movables),
        *file.places,
    )
    far = [o.name for o in objects if o.name in ('azure_cube', 'location_H')]
    return Scene(objects, (), tuple(Fact(name, 'reachable', 'no') for name in far), 0.0)


def make_result(task: str, trial: int, k: int, least: int = 0, **changes: Any) -> EpisodeResult:
    """Return a result; the more feedback, the more of them pass."""
    rng = random.Random(f'{task} {trial} {k}')
    luck = random.Random(f'{task} {trial}').random()
    passed = luck < 0.35 + 0.19 * min(k, 3) - 0.15 * max(0, least - k)
    kinds = ('failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'lost')
    verdict = 'passed' if passed else rng.choice(kinds)
    items = [o.name for o in start_of(task, trial).objects if o.kind is Kind.CUBE]
    holds = {f'{name} right': passed or rng.random() < 0.6 for name in items}
    lost = verdict == 'lost'
    loops = 0 if lost else min(k, least + rng.randrange(2))
    values: dict[str, Any] = {
        'reason': '' if passed else f'{items[0]} is 0.{rng.randrange(10, 30)} m from its place.',
        'conditions': {} if lost else holds,
        'gcr': 0.0 if lost else sum(holds.values()) / len(holds),
        'executable': 0 if lost else 14 - rng.randrange(3),
        'attempted': 0 if lost else 14,
        'loops': loops,
        'least_loops': least,
        'passes': rng.randrange(2),
        'codes': {} if passed and not loops else {'OUT_OF_WORKSPACE': 1 + loops, 'OCCUPIED': k},
        'unsafe': None if lost else 0,
        'model_calls': 2 + loops + 14,
        'prompt_tokens': 18_000 + 2000 * loops,
        'robot_s': 84.0 + trial,
        'settled': () if lost else end_of(task, trial, k, rng),
        'models': {'brain': 'some-large-model-2026', 'body': 'some-small-model'},
    }
    if not lost and luck >= 0.8:
        values['ending'] = 'GAVE_UP'
    chosen = changes.pop('verdict', verdict)
    return made_results.make_result(task, trial, k, chosen, **{**values, **changes})


def end_of(task: str, trial: int, k: int, rng: random.Random) -> tuple[SceneObject, ...]:
    """Return a table on which some cubes went to the right."""
    moved = []
    for item in start_of(task, trial).objects:
        if item.kind is Kind.CUBE and item.name != 'azure_cube' and rng.random() < 0.3 + 0.2 * k:
            item = _moved(item, rng.uniform(-0.05, 0.05), -0.25 - rng.uniform(0, 0.2))
        moved.append(item)
    return tuple(moved)


def make_results(settings: RunSettings) -> list[EpisodeResult]:
    """Return a result for every episode that settings ask for."""
    return [
        make_result(task.name, trial, k, task.least_loops)
        for task in settings.tasks
        for trial in range(settings.trials)
        for k in settings.ks
    ]


def write_run(
    folder: Path,
    settings: RunSettings | None = None,
    results: Sequence[EpisodeResult] | None = None,
    *,
    journals: bool = True,
) -> Path:
    """Write the folder of a run as the runner leaves it, without the report."""
    settings = settings or make_settings()
    results = make_results(settings) if results is None else results
    session = Session(started_s=1.79e9, ended_s=1.79e9 + 300, episodes=len(results), jobs=2)
    made_results.write_run(folder, results, settings, [session])
    for result in results if journals else ():
        path = folder / 'episodes' / f'{result.key.name}.jsonl'
        path.write_text(journal_of(result), encoding='utf-8')
    return folder


def journal_of(result: EpisodeResult) -> str:
    """Return the lines of a journal that has both scenes."""
    before = start_of(result.key.task, result.key.trial)
    after = replace(before, objects=result.settled)
    scenes = {'before': before, **({'after': after} if result.settled else {})}
    events = [
        Event(0.0, SceneRecorded(moment=moment, scene=scene)) for moment, scene in scenes.items()
    ]
    return ''.join(line_of(event) for event in events)


def _moved(item: SceneObject, dx: float, dy: float) -> SceneObject:
    x, y, z = item.pose.position_m
    return replace(item, pose=Pose(position_m=(x + dx, y + dy, z), quat_xyzw=item.pose.quat_xyzw))
