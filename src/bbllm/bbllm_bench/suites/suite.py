"""
Suite files: the tasks of a bench.

A suite is `config/suites/<name>.yaml`; `tabletop.yaml` there explains every field. A task has an
instruction, a goal (suites.goals) and a table: either scenes made anew for every trial
(`generate:`, suites.scene_recipe), or one that never changes (`scene:`, sim.scenes). Or it is
played in houses (`houses:`, suites.house_suite); `household.yaml` explains that. The tasks of a
benchmark of others are those that it lists (`benchmark:`, suites.benchmark).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from bbllm.core.errors import BbllmError, SceneFileError, UnknownNameError
from bbllm.core.paths import is_yaml_path
from bbllm.core.records import canonical
from bbllm.files.yaml_files import FileRecord, WordsLoader, YamlFiles, explain
from bbllm.scene.scene_file import Name, SceneFile, load_scene
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.houses import House
from bbllm.worlds.household.visibility import SeenWord
from bbllm_bench.suites.benchmark import with_benchmark
from bbllm_bench.suites.eai_suite import EaiHouses, with_eai
from bbllm_bench.suites.goal_needs import lacks
from bbllm_bench.suites.house_goals import HouseholdGoal, text_of
from bbllm_bench.suites.house_suite import checked_houses
from bbllm_bench.suites.task_spec import KNOWN_ONLY, AnyGoal, SuiteFileError, TaskSpec

__all__ = ['FILES', 'AnyGoal', 'Suite', 'TaskSpec', 'list_suites', 'load_suite', 'parse_suite']


class _SuiteFile(FileRecord):
    name: Name
    description: str = ''
    tasks: tuple[TaskSpec, ...]
    k: Annotated[int, Field(ge=0, le=20)] = 3
    """Feedback loops of a run that names no number of them."""
    mode: Mode = Mode.SANE
    """The rules of all houses; of no meaning on tables."""
    visibility: SeenWord = 'full'
    say: Literal['sentence', 'predicates'] = 'sentence'
    """The text for planners: each task's instruction, or its goal as predicates."""

    @model_validator(mode='after')
    def _tasks_go_together(self) -> _SuiteFile:
        if not self.tasks:
            raise ValueError('a suite needs a task')
        in_houses = [task.name for task in self.tasks if task.houses]
        if in_houses and len(in_houses) < len(self.tasks):
            raise ValueError(
                f'{", ".join(in_houses)} are played in houses and the other tasks on tables; make '
                'two suites of them'
            )
        if not in_houses and self.model_fields_set & {'mode', 'visibility', 'say'}:
            raise ValueError('mode, visibility and say are for suites that are played in houses')
        for name, count in Counter(task.name for task in self.tasks).items():
            if count > 1:
                raise ValueError(
                    f'the task name {name} is given {count} times; names must be unique'
                )
        return self


FILES = YamlFiles('suite', fields='tasks, description', error=SuiteFileError, loader=WordsLoader)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Tasks that are scored together."""

    name: str
    description: str
    tasks: tuple[TaskSpec, ...]
    scenes: Mapping[str, SceneFile] = field(default_factory=dict)
    """The fixed scenes, by task."""
    houses: Mapping[str, tuple[House, ...]] = field(default_factory=dict)
    """The houses, by task; empty where the suite is played on tables."""
    k: int = 3
    """Feedback loops of a run that names no number of them."""
    mode: Mode = Mode.SANE
    visibility: SeenWord = 'full'

    @cached_property
    def sha256(self) -> str:
        """Hash of all that counts: not of comments, labels and descriptions."""
        parts = {
            'name': self.name,
            'tasks': [task.model_dump(exclude=_not_in_hash(task)) for task in self.tasks],
            'scenes': {
                task: scene.model_dump(exclude={'name', 'description'})
                for task, scene in self.scenes.items()
            },
            **self._of_houses(),
        }
        return _hash(parts)

    def _of_houses(self) -> dict[str, object]:
        if not self.houses:
            return {}
        if isinstance(self.houses, EaiHouses):
            return {'houses': self.houses.sha256, 'visibility': self.visibility}
        # Of all that is in a house, not of its name and description.
        each = {house.name: house.graph for many in self.houses.values() for house in many}
        hashes = {name: _hash(graph.to_dict()) for name, graph in each.items()}
        shuffled = [task.name for task in self.tasks if task.shuffled]
        return {
            **({'shuffled': shuffled} if shuffled else {}),
            'houses': {task: [hashes[h.name] for h in many] for task, many in self.houses.items()},
            'at_first': {t.name: [c.model_dump() for c in t.at_first] for t in self.tasks},
            'mode': self.mode.value,
            'visibility': self.visibility,
        }

    @property
    def benchmark(self) -> str:
        """The benchmark of others whose tasks these are; '' where they are ours."""
        start = self.tasks[0].start
        return '' if start is None else start.benchmark

    def task(self, name: str) -> TaskSpec:
        """Return the task of that name; raises UnknownNameError where there is none."""
        found = {task.name: task for task in self.tasks}
        if name not in found:
            raise UnknownNameError(f'task of the suite {self.name}', name, found)
        return found[name]


def _not_in_hash(task: TaskSpec) -> set[str]:
    of_houses = {'scene', 'houses', 'at_first', 'shuffled'}
    absent = {name for name in ('person', 'start') if getattr(task, name) is None}
    return {*of_houses, *KNOWN_ONLY, *absent}


def _hash(value: object) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def list_suites() -> tuple[str, ...]:
    return FILES.names()


def load_suite(name_or_path: str | Path, *, data: Path | None = None) -> Suite:
    """
    Read a suite by its name, or by the path of a .yaml file.

    *data* is the user's copy of what a suite is made of that cannot be shipped.

    Raises:
        UnknownNameError: No suite of that name.
        SuiteFileError: The file cannot be read or used; names which task and field.
    """
    return parse_suite(*FILES.read(name_or_path), copy=data)


def parse_suite(content: str, path: Path, *, copy: Path | None = None) -> Suite:
    """
    Make a suite from the text of a file.

    Args:
        content: YAML.
        path: What errors call the file; its stem names the suite, its folder has the scenes.
        copy: See `load_suite`.

    Raises:
        SuiteFileError: Not YAML, unknown fields, values that will not do, or a goal that speaks
            of what its scene lacks.
    """
    data: Mapping[str, object] = FILES.parse(content, str(path))
    given: Mapping[str, tuple[House, ...]] = {}
    if 'original' in data:
        if data['original'] != 'eai':
            raise SuiteFileError(f'{path}: original takes `eai`, not {data["original"]!r}.')
        data, given = with_eai(data, copy, str(path))
    if 'benchmark' in data:
        try:
            data = with_benchmark(data)
        except BbllmError as error:
            raise SuiteFileError(f'{path}: {error}') from error
    try:
        file = _SuiteFile.model_validate({'name': path.stem, **data})
    except ValidationError as error:
        raise SuiteFileError(f'{path}: {explain(error, data)}') from error
    places = {task.name: f'{path}: tasks[{i}] ({task.name})' for i, task in enumerate(file.tasks)}
    tasks = file.tasks
    if file.say == 'predicates':
        tasks = tuple(_as_predicates(task, places[task.name]) for task in tasks)
    scenes: dict[str, SceneFile] = {}
    houses: dict[str, tuple[House, ...]] = {}
    for task in tasks:
        if task.scene is not None:
            scenes[task.name] = _scene_of(task, task.scene, places[task.name], path.parent)
        elif task.houses and not given:
            houses[task.name] = checked_houses(task, path.parent, places[task.name])
    return Suite(
        name=file.name,
        description=file.description,
        tasks=tasks,
        scenes=scenes,
        houses=given or houses,
        k=file.k,
        mode=file.mode,
        visibility=file.visibility,
    )


def _as_predicates(task: TaskSpec, where: str) -> TaskSpec:
    goal = task.house_goal
    text = text_of(goal) if isinstance(goal, HouseholdGoal) else None
    if text is None:
        raise SuiteFileError(
            f'{where}: say = predicates will not do: its goal is more than objects on and in '
            'places, open, closed, on, off or held; write say: sentence.'
        )
    return task.model_copy(update={'instruction': text})


def _scene_of(task: TaskSpec, name: str, where: str, folder: Path) -> SceneFile:
    try:
        scene = load_scene(folder / name if is_yaml_path(name) else name)
    except (UnknownNameError, SceneFileError) as error:
        raise SuiteFileError(f'{where}, scene: {error}') from error
    if faults := lacks(task.table_goal, scene, needs=task.needs):
        there = ', '.join(item.name for item in (*scene.movables, *scene.places)) or 'nothing'
        raise SuiteFileError(f'{where}: {"; ".join(faults)}. The scene has {there}.')
    return scene
