"""
Suites made of ProgPrompt's own data, from a copy that the user brings.

The data is the folder `data` of github.com/NVlabs/progprompt-vh; its licence allows no copy here.
What is read:

    <set>/*_annotated.json                one line for each task: {"watch tv": {...}}
    final_states/final_states_<set>.json  one line for each task: the graph after a person's plan
    final_states/initial_states_<set>.json  the graphs before, or one for all of them

Its published program pairs tasks and graphs by the order in which a folder is listed, which is
any; graphs have no names. Here the order that the graphs were written in is given by file, and
tasks are paired by their names.

Of a task, the goals are the strings `class RELATION class` and `class STATE` that are true of the
annotated final graph and were not of the first one. GCR is the share of them that is true in the
end, and SR is 1 where all are; so an episode passes only if it ended next to the same classes of
objects as the annotator did. Source: `run_eval.eval` of the release.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph, GraphError
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.houses import House
from bbllm_bench.suites.house_goals import FinalStateGoal
from bbllm_bench.suites.task_spec import SuiteFileError

VARIABLE = 'BBLLM_PROGPROMPT_DATA'
WHERE_TO_GET = (
    "ProgPrompt's data cannot be shipped: clone https://github.com/NVlabs/progprompt-vh and name "
    f'its folder `data` with --data DIR or ${VARIABLE}.'
)
_FOLDERS: Mapping[str, tuple[str, ...]] = {
    'test_unseen': ('test_unseen',),
    'test_seen': ('test_seen',),
    'test_unseen_ambiguous': ('test_unseen_ambiguous_goals',),
    'env1': ('new_env', 'env1_annotated.json'),
    'env2': ('new_env', 'env2_annotated.json'),
}
"""Where the tasks of each set are: a folder, or one file of it."""
_ORDER: Mapping[str, tuple[tuple[str, ...], ...]] = {
    'test_unseen': (('test_unseen/file3',), ('test_unseen/file1',)),
    'test_seen': (('test_seen/file9', 'train/file9'), ('train/file7',)),
}
"""Files in whose order final graphs were written, each with where else it may lie. Those of
test_seen go on with a file of another set, which is not the one that the set has in its place:
five tasks would be off by one."""


@dataclass(frozen=True, slots=True)
class OriginalTask:
    """One task of a set, with the graphs that belong to it."""

    name: str
    """In the data's words, for example `watch tv`."""
    before: Graph
    goal: FinalStateGoal
    """True of the final graph and not of the first, HEATED and the like among the states."""

    @property
    def n_goals(self) -> int:
        return len(self.goal.relations) + len(self.goal.states)


def read_set(folder: Path, name: str) -> tuple[list[OriginalTask], list[str]]:
    """
    Return the tasks of a set that can be played, and those without a final graph of their own.

    The folder is `data` of the release, or the release itself; a set is for example `env1`.

    Raises:
        UnknownNameError: There is no such set.
        ConfigError: Something is missing or unreadable; names what, and where it is had.
    """
    name = name.removesuffix('_goals')
    if name not in _FOLDERS:
        raise UnknownNameError('set of ProgPrompt', name, _FOLDERS)
    if not folder.is_dir():
        raise ConfigError(f'There is no folder {folder}. {WHERE_TO_GET}')
    folder = folder / 'data' if (folder / 'data').is_dir() else folder
    place = folder.joinpath(*_FOLDERS[name])
    files = [place] if place.suffix == '.json' else sorted(place.glob('*.json'))
    if not files:
        raise ConfigError(f'There are no tasks in {place}. {WHERE_TO_GET}')
    asked = order = [task for file in files for task in _tasks(file)]
    if name in _ORDER:
        places = [[folder / f'{each}_annotated.json' for each in one] for one in _ORDER[name]]
        order = [task for one in places for task in _tasks(next(filter(Path.exists, one), one[0]))]
    kind = 'test_unseen_ambiguous_goals' if name == 'test_unseen_ambiguous' else name
    where = f'final_states_{kind}.json'
    finals = _lines(folder / 'final_states' / where)
    # The last file of an order may hold more tasks than there are graphs.
    after = dict(zip(order, finals, strict=False))
    firsts = _firsts(folder, name, kind, order, len(finals))
    tasks = [_task(task, firsts[task], after[task], where) for task in asked if task in after]
    return tasks, [task for task in asked if task not in after]


def _strings(data: Any) -> tuple[set[str], set[str]]:
    # Of nodes with the same id the last one counts.
    classes = {node['id']: node['class_name'] for node in data['nodes']}
    return {
        f'{classes[edge["from_id"]]} {edge["relation_type"]} {classes[edge["to_id"]]}'
        for edge in data['edges']
    }, {f'{n["class_name"]} {word}' for n in data['nodes'] for word in n['states']}


def _task(name: str, first: Any, final: Any, where: str) -> OriginalTask:
    try:
        relations, states = _strings(final)
        old_relations, old_states = _strings(first)
        # What devices have done is kept aside by the original, and no graph of ours has such
        # states. As there, what is there twice is no fault.
        nodes = [
            {**node, 'states': [word for word in node['states'] if word.lower() not in WORDS]}
            for node in first['nodes']
        ]
        before = Graph.from_dict({**first, 'nodes': nodes}, strict=False)
    except (KeyError, TypeError, GraphError) as error:
        raise ConfigError(f'{where}: {name}: a line is no graph ({error!r}).') from error
    goal = FinalStateGoal(
        kind='final_state',
        relations=tuple(sorted(relations - old_relations)),
        states=tuple(sorted(states - old_states)),
    )
    return OriginalTask(name, before, goal)


def _firsts(
    folder: Path, name: str, kind: str, order: Sequence[str], n_finals: int
) -> Mapping[str, Any]:
    """Return the first graph of each task; one for all stands for each."""
    environment = 'env0' if name not in ('env1', 'env2') else name
    names = [f'initial_states_{word}.json' for word in dict.fromkeys((kind, environment))]
    there = [folder / 'final_states' / file for file in names]
    for path in filter(Path.exists, there):
        graphs = _lines(path)
        if len(graphs) == 1:
            return dict.fromkeys(order, graphs[0])
        if len(graphs) >= n_finals:
            return dict(zip(order, graphs, strict=False))
        raise ConfigError(
            f'{path} has {len(graphs)} graphs, and there are {n_finals} final ones; give one for '
            'each, or a single one for all.'
        )
    raise ConfigError(
        f'The first graph of {name} is missing: {there[0]}. The release has none for this flat, '
        'since it comes from Unity: reset(0), a person added in the kitchen, and what '
        f'environment_graph() gives written there as one line of JSON ({names[-1]} does for all '
        'sets of it). env1 and env2 bring theirs along.'
    )


def _tasks(path: Path) -> list[str]:
    tasks = _lines(path)
    if not all(isinstance(data, Mapping) and len(data) == 1 for data in tasks):
        raise ConfigError(f'{path}: a line is no task, which is written {{"watch tv": {{...}}}}.')
    return [str(*data) for data in tasks]


def _lines(path: Path) -> list[Any]:
    try:
        return [json.loads(line) for line in path.read_text('utf-8').splitlines() if line.strip()]
    except OSError as error:
        raise ConfigError(f'{path} cannot be read: {error.strerror}. {WHERE_TO_GET}') from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f'{path} is not one JSON object a line: {error}. If it is a pointer of Git LFS, run '
            '`git lfs pull` in that clone.'
        ) from error


# --- the suite --------------------------------------------------------------------------------


def with_original(
    data: Mapping[str, object], copy: Path | None, where: str
) -> tuple[Mapping[str, object], Mapping[str, tuple[House, ...]]]:
    """
    Add to the content of a suite file the tasks of the set that its field `original` names.

    The user's copy of the data is $BBLLM_PROGPROMPT_DATA where no other is given. With the content
    the house of each task is returned.

    Raises:
        SuiteFileError: There is no copy, or it cannot be used, or the file has tasks too.
    """
    if 'tasks' in data:
        raise SuiteFileError(f'{where}: a suite of `original` has no tasks of its own.')
    name = str(data['original'])
    folder = copy or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    try:
        if folder is None:
            raise ConfigError(WHERE_TO_GET)
        tasks, left_out = read_set(folder.expanduser(), name)
    except BbllmError as error:
        raise SuiteFileError(f'{where}: {error}') from error
    # A task without a goal cannot be failed; the published program divides by zero there.
    playable = [task for task in tasks if task.n_goals]
    with_goals = {re.sub(r'\W+', '_', task.name).strip('_')[:64]: task for task in playable}
    if not with_goals:
        raise SuiteFileError(
            f'{where}: no task of {name} has a goal: their final graphs state nothing that the '
            'first ones do not.'
        )
    lacking = [*left_out, *(task.name for task in tasks if not task.n_goals)]
    without = f' Without {", ".join(lacking)}, of which no goals are known.' if lacking else ''
    content = {
        'mode': Mode.FRESH.value,
        **{field: value for field, value in data.items() if field != 'original'},
        'description': f'{data.get("description", "")}{without}',
        'tasks': [
            {
                'name': short,
                'instruction': task.name,
                'difficulty': 'medium',
                'least_loops': 0,
                'houses': (name,),
                'goal': task.goal.model_dump(),
            }
            for short, task in with_goals.items()
        ],
    }
    return content, {
        short: (House(f'{name}: {task.name}', '', task.before),)
        for short, task in with_goals.items()
    }
