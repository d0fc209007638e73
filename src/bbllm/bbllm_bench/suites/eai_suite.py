"""
The VirtualHome tasks of the Embodied Agent Interface, from its published package.

The data are in the package `eai-eval` (Li et al., arXiv 2410.07166; MIT licence), which nothing
here imports. What is read, below its folder `virtualhome_eval`:

    resources/virtualhome/task_state_LTL_formula_accurate.json  goals, by task and program
    dataset/.../init_and_final_graphs/.../file<id>.json         the graphs of a program
    dataset/.../executable_programs/.../file<id>.txt            the annotated program

A planner is shown the objects that its prompts there list, those that the annotated program
changes, and beside them those that the program and the goals name, and all rooms.
"""

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.paths import config_dir
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.houses import House
from bbllm.worlds.household.script import ScriptLine, parse_line
from bbllm.worlds.household.vocabulary import OTHER_WORDS, Action
from bbllm_bench.suites.house_goals import GraphEdge, GraphGoal, GraphNode
from bbllm_bench.suites.household import action_text, edge_text
from bbllm_bench.suites.task_spec import SuiteFileError

PACKAGE = 'virtualhome_eval'
VERSION = '1.0.5'
WHERE_TO_GET = (
    f'The tasks are in the package eai-eval (390 MB on disk): make eai in a clone, or pip install '
    f'--no-deps eai-eval=={VERSION}; or name the folder {PACKAGE} of an unpacked copy with '
    '--data DIR.'
)
_GOALS = 'resources/virtualhome/task_state_LTL_formula_accurate.json'
PROGRAMS = 'dataset/programs_processed_precond_nograb_morepreconds'
_FOLDER = 'TrimmedTestScene1_graph/results_intentions_march-13-18'
_NAME = re.compile(r'(\w+)\.(\d+)')
"""An object in a goal as a formula, for example `washing_machine.1001`."""
_OBJECT_ID = re.compile(r'\(\d+\.(\d+)\)')
UNSOLVABLE: Mapping[str, str] = {
    '688_1': 'one glass must be in both hands, and a held glass cannot be grabbed'
}
"""Programs whose goal no plan reaches, with the reason."""


@dataclass(frozen=True, slots=True)
class EaiTask:
    """One annotated program, with its goal."""

    file_id: str
    """For example `27_2`."""
    category: str
    """What it is about in the data's words, for example `Wash clothes`."""
    instruction: str
    goal: GraphGoal

    @property
    def name(self) -> str:
        return f'{slug(self.category)}_{self.file_id}'


def slug(text: str) -> str:
    return re.sub(r'\W+', '_', text).strip('_').lower()


def data_folder(copy: Path | None = None) -> Path:
    """
    Return the folder of the data: a user's copy, or where the package is installed.

    That may be the environment of `make eai`.

    Raises:
        ConfigError: There is none; says how to get it.
    """
    if copy is not None:
        folder = copy.expanduser()
        folder = folder / PACKAGE if (folder / PACKAGE).is_dir() else folder
    else:
        found = importlib.util.find_spec(PACKAGE)
        here = [Path(found.origin)] if found is not None and found.origin is not None else []
        there = config_dir().parent.glob(f'build/eai/lib/*/site-packages/{PACKAGE}/__init__.py')
        origin = next(iter([*here, *there]), None)
        if origin is None:
            raise ConfigError(f'The package eai-eval is not installed. {WHERE_TO_GET}')
        folder = origin.parent
    if not (folder / _GOALS).is_file():
        raise ConfigError(f'There is no {_GOALS} in {folder}. {WHERE_TO_GET}')
    return folder


def read_tasks(folder: Path) -> list[EaiTask]:
    """
    Return all tasks, those without any goal included.

    Raises:
        ConfigError: Something is missing or of another form; names what.
    """
    tasks = []
    for category, programs in _json(folder / _GOALS)['scene_1'].items():
        for file_id, data in programs.items():
            try:
                goal = _goal(data['vh_goal'], read_program(folder, file_id))
                names = {int(n): f'{word}_{n}' for word, n in _NAME.findall(data['tl_goal'] or '')}
                text = _instruction(category, goal, names)
            except (KeyError, TypeError, ValueError) as error:
                raise ConfigError(f'{folder / _GOALS}: {category}, {file_id}: {error}') from error
            tasks.append(EaiTask(file_id, category, text, goal))
    return tasks


def read_program(folder: Path, file_id: str) -> tuple[str, ...]:
    """Return the lines of an annotated program; raises ConfigError where it cannot be read."""
    text = _text(folder / PROGRAMS / 'executable_programs' / _FOLDER / f'file{file_id}.txt')
    lines = [line.strip() for line in text.splitlines() if line.startswith('[')]
    # Its objects have two numbers, `(1.1000)`; the second is the id in the graph.
    return tuple(_OBJECT_ID.sub(r'(\1)', line) for line in lines)


def script_of(goal: GraphGoal) -> tuple[ScriptLine, ...]:
    """Return the annotated program of a goal."""
    return tuple(parse_line(line, i) for i, line in enumerate(goal.program))


def walked_script_of(goal: GraphGoal) -> tuple[ScriptLine, ...]:
    """Return the same with walks in place of FIND, none of them twice in a row."""
    lines: list[ScriptLine] = []
    for line in script_of(goal):
        plain = line._replace(action=Action.WALK) if line.action is Action.FIND else line
        if not lines or (plain.action, plain.objects) != (lines[-1].action, lines[-1].objects):
            lines.append(plain)
    return tuple(lines)


def _goal(data: Any, program: tuple[str, ...]) -> GraphGoal:
    nodes, edges = dict[GraphNode, None](), dict[GraphEdge, None]()
    for each in data['goal']:  # what is there twice counts once, as there
        if 'relation_type' in each:
            given = {'from_id': each['from_id'], 'to_id': each['to_id']}
            edges[GraphEdge(relation=each['relation_type'], **given)] = None
        else:
            nodes[GraphNode(id=each['id'], state=each['state'])] = None
    return GraphGoal(
        kind='graph',
        nodes=tuple(nodes),
        edges=tuple(edges),
        actions=tuple(tuple(_actions(text)) for text in data['actions']),
        program=program,
    )


def _actions(text: str) -> Iterator[Action]:
    for word in text.upper().replace(' ', '').split('|'):
        yield OTHER_WORDS.get(word) or Action[word]


@lru_cache(maxsize=16)
def read_house(folder: Path, task: EaiTask) -> House:
    """
    Return the house of a task as it is at first, and what of it a planner is shown.

    Raises:
        ConfigError: It cannot be read; names the file.
    """
    path = _graph_path(folder, task.file_id)
    data = _json(path)
    try:
        first, final = (
            Graph.from_dict(data[k], strict=False) for k in ('init_graph', 'final_graph')
        )
    except (KeyError, BbllmError) as error:
        raise ConfigError(f'{path}: {error!r}') from error
    changed = set(first.edges()) ^ set(final.edges())
    shown = {node_id for start, _, end in changed for node_id in (start, end)}
    shown |= {n for n, node in final.nodes.items() if node != first.nodes.get(n)}
    shown |= {n for edge in task.goal.edges for n in (edge.from_id, edge.to_id)}
    shown |= {node.id for node in task.goal.nodes}
    shown |= {n for line in script_of(task.goal) for _, n in line.objects}
    shown |= {n for n, node in first.nodes.items() if node.is_room or n == first.character}
    return House(f'eai_{task.file_id}', f'The house of {task.name}', first, frozenset(shown))


def _instruction(category: str, goal: GraphGoal, names: Mapping[int, str]) -> str:
    """Return the text for planners: what EAI's prompts for plans give, with names of the scene."""
    ends = [f'{names[node.id]} is {node.state.value.lower()}' for node in goal.nodes]
    ends += [edge_text(edge, names.__getitem__) for edge in goal.edges]
    parts = [f'{category}.']
    if ends:
        parts.append(f'At the end: {"; ".join(ends)}.')
    if goal.actions:
        steps = ', then '.join(map(action_text, goal.actions))
        parts.append(f'Among the actions: {steps}.')
    return ' '.join(parts)


class EaiHouses(Mapping[str, tuple[House, ...]]):
    """The houses by task, each read when it is asked for: all take a minute."""

    def __init__(self, folder: Path, tasks: Mapping[str, EaiTask]) -> None:
        self._folder, self._tasks = folder, tasks

    def __getitem__(self, name: str) -> tuple[House, ...]:
        return (read_house(self._folder, self._tasks[name]),)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    @cached_property
    def sha256(self) -> str:
        """Hash of all files of graphs."""
        each = (_graph_path(self._folder, task.file_id) for task in self._tasks.values())
        parts = b''.join(hashlib.sha256(path.read_bytes()).digest() for path in each)
        return hashlib.sha256(parts).hexdigest()


def with_eai(
    data: Mapping[str, object], copy: Path | None, where: str
) -> tuple[Mapping[str, object], EaiHouses]:
    """
    Add to the content of a suite file the tasks of the Embodied Agent Interface.

    With the content the house of each task is returned. Tasks without a goal, which no plan can
    fail, and those of UNSOLVABLE are left out, and the description names them.

    Raises:
        SuiteFileError: There are no data, or they cannot be used.
    """
    try:
        folder = data_folder(copy)
        tasks = read_tasks(folder)
    except ConfigError as error:
        raise SuiteFileError(f'{where}: {error}') from error
    empty = [each.name for each in tasks if not judged(each.goal)]
    never = {each.name: UNSOLVABLE[each.file_id] for each in tasks if each.file_id in UNSOLVABLE}
    played = {each.name: each for each in tasks if each.name not in {*empty, *never}}
    reasons = [f'{", ".join(empty)} (no goal)', *(f'{n} ({why})' for n, why in never.items())]
    content = {
        'mode': Mode.EAI.value,
        **{field: value for field, value in data.items() if field != 'original'},
        'description': f'{data.get("description", "")} Left out: {"; ".join(reasons)}.',
        'tasks': [
            {
                'name': each.name,
                'instruction': each.instruction,
                'difficulty': 'medium',
                'least_loops': 0,
                'label': each.file_id,
                'split': slug(each.category)[:32],
                'houses': (f'eai_{each.file_id}',),
                'goal': each.goal.model_dump(),
            }
            for each in played.values()
        ],
    }
    return content, EaiHouses(folder, played)


def judged(goal: GraphGoal) -> bool:
    """Whether a goal asks for anything."""
    return bool(goal.nodes or goal.edges or goal.actions)


def _graph_path(folder: Path, file_id: str) -> Path:
    return folder / PROGRAMS / 'init_and_final_graphs' / _FOLDER / f'file{file_id}.json'


def _text(path: Path) -> str:
    try:
        return path.read_text('utf-8')
    except OSError as error:
        raise ConfigError(f'{path} cannot be read: {error.strerror}. {WHERE_TO_GET}') from error


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f'{path} is not valid JSON: {error}.') from error
