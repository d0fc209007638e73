"""
`bbllm bench eai-check`: our houses beside the evaluator of the Embodied Agent Interface.

Its annotated programs, whole and each with one line left out, are carried out by both, line by
line; then both judge the goals. Its evaluator runs as it is, from the package `eai-eval`.
"""

import importlib
import logging
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import PlainConsole
from bbllm.core.errors import ConfigError
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import ScriptLine
from bbllm_bench.benchmarks.shared import TrialBar, exit_unless, write_json
from bbllm_bench.log.files import claim_folder
from bbllm_bench.report.grid import grid_of, print_grid
from bbllm_bench.scorers.eai_errors import error_class
from bbllm_bench.suites.eai_suite import (
    PROGRAMS,
    EaiTask,
    data_folder,
    judged,
    read_house,
    read_tasks,
    script_of,
)
from bbllm_bench.suites.household import judge_household

app = typer.Typer(add_completion=False)
ANNOTATED = 'annotated'
LEAST = 0.99
"""Share of its programs on which both have to agree."""
CHARACTER = 65
"""The person in all its graphs."""
CLASSES = ('WRONG_ORDER', 'MISSING_STEP', 'AFFORDANCE', 'UNSEEN', 'ADDITIONAL_STEP')
"""Its classes of errors, by their numbers."""


@dataclass(frozen=True, slots=True)
class EaiOutcome:
    """What one side made of a program."""

    done: tuple[bool, ...]
    """Whether each line was carried out."""
    errors: tuple[str, ...]
    """Class of each line that was not."""
    graph: tuple[frozenset[tuple[int, str, int]], frozenset[tuple[int, str]]]
    """Edges and states at the end."""
    met: tuple[int, int, int]
    """How many goals are met: of nodes, of edges, of actions."""
    passed: bool


def original(task: EaiTask, script: Sequence[ScriptLine], folder: Path, ev: Any) -> EaiOutcome:
    """Carry a program out in EAI's simulator, and judge it by its evaluator."""
    place = (1, task.file_id, str(folder / PROGRAMS))  # its scene, and where programs are
    planner, *_ = ev.construct_planner(None, None, None, *place)
    checker = importlib.import_module(f'{EVALUATOR}.checker').TemporalOrderChecker
    planner.reset()
    states, lines = [planner.env_state.to_dict()], list[str]()
    done, errors = list[bool](), list[str]()
    for line in script:
        text = str(line).rpartition(' [')[0]
        succeeded, info = planner.my_execute_primitive_action_eval(text)
        done.append(succeeded)
        if succeeded:
            lines.append(text)
            states.append(planner.env_state.to_dict())
        else:
            number = checker(info, states).run_checker().get_error_type()
            errors.append('none' if number is None else CLASSES[number])
    goal, end = task.goal, planner.env_state.to_dict()
    nodes = [{'id': n.id, 'state': n.state.value} for n in goal.nodes]
    edges = [
        {'from_id': e.from_id, 'relation_type': e.relation.value, 'to_id': e.to_id}
        for e in goal.edges
    ]
    actions = ['|'.join(action.value for action in options) for options in goal.actions]
    found = ev.scene_evaluate_wID(end, nodes, edges, CHARACTER, lines, actions)
    graph = (
        frozenset((e['from_id'], e['relation_type'], e['to_id']) for e in end['edges']),
        frozenset((n['id'], state) for n in end['nodes'] for state in n['states']),
    )
    return EaiOutcome(tuple(done), tuple(errors), graph, tuple(found[:3]), found[3])


def ours(task: EaiTask, script: Sequence[ScriptLine], folder: Path) -> EaiOutcome:
    """Carry a program out in a house of ours, and judge it by our scorer."""
    home = Household(read_house(folder, task).graph, mode=Mode.EAI)
    states, done, errors = [home.copy()], list[bool](), list[str]()
    for line in script:
        result = home.step(line)
        done.append(result.succeeded)
        if result.succeeded:
            states.append(home.copy())
        else:
            errors.append(error_class(states, line, result.broken))
    actions = [line.action for line, succeeded in zip(script, done) if succeeded]
    score = judge_household(task.goal, home.graph, frozenset(), done=actions)
    holds = iter([condition.holds for condition in score.conditions])
    sizes = (len(task.goal.nodes), len(task.goal.edges), len(task.goal.actions))
    nodes, edges, steps = (sum(next(holds) for _ in range(size)) for size in sizes)
    graph = (
        frozenset((start, relation.value, end) for start, relation, end in home.graph.edges()),
        frozenset((n.id, state.value) for n in home.graph.nodes.values() for state in n.states),
    )
    return EaiOutcome(tuple(done), tuple(errors), graph, (nodes, edges, steps), score.passed)


EVALUATOR = 'virtualhome_eval.simulation.evolving_graph'


def load_evaluator(folder: Path) -> Any:
    """
    Import EAI's evaluator, and silence its log.

    Raises:
        ConfigError: It cannot be imported; names what is missing.
    """
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    try:
        module = importlib.import_module(f'{EVALUATOR}.eval_utils')
    except ImportError as error:
        raise ConfigError(f'The evaluator in {folder} cannot be imported: {error}.') from error
    logging.getLogger('virtualhome_eval').setLevel(logging.CRITICAL)
    return module


def differences(one: EaiOutcome, other: EaiOutcome, n_edges: int) -> Iterator[str]:
    """Return the classes of what two outcomes of a program differ in: the original's, and ours."""
    if one.done != other.done:
        yield 'another line is carried out'
    elif one.errors != other.errors:
        pairs = zip(one.errors, other.errors)
        yield from dict.fromkeys(f'error {a} there, {b} here' for a, b in pairs if a != b)
    if one.graph != other.graph:
        yield 'another graph at the end'
    if one.met != other.met or one.passed is not other.passed:
        counts_one = n_edges > 1 and one.met[1] == min(1, other.met[1])
        alike = (one.met[0], one.met[2]) == (other.met[0], other.met[2])
        yield ONE_EDGE if counts_one and alike else 'goals are judged otherwise'


ONE_EDGE = 'it counts one edge goal at most, and leaves such a program out'


def spoiled(task: EaiTask) -> tuple[ScriptLine, ...]:
    """Return an annotated program without one of its lines."""
    script = list(script_of(task.goal))
    del script[random.Random(task.file_id).randrange(len(script))]
    return tuple(script)


@app.command()
def eai_check(
    data: Annotated[
        Path | None,
        typer.Option(metavar='DIR', help='Folder of the data, where eai-eval is not installed.'),
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help='Only so many tasks; all 342 take minutes.')
    ] = None,
    out: Annotated[Path, typer.Option(metavar='DIR', help='Folder of the JSON.')] = Path(
        'bench-eai-check'
    ),
    json: JsonOption = False,
) -> None:
    """
    Compare our houses and scores with EAI's evaluator, on its own annotated programs.

    Exit code: 0 where both agree on 99 % of the programs that it evaluates itself.
    """
    folder = data_folder(data)
    claim_folder(out, 'eai-check.json', 'this benchmark')
    evaluator = load_evaluator(folder)
    tasks = [task for task in read_tasks(folder) if judged(task.goal)][:first]
    rows, agreed = list[dict[str, str]](), 1.0
    kinds: Mapping[str, Callable[[EaiTask], Sequence[ScriptLine]]] = {
        ANNOTATED: lambda task: script_of(task.goal),
        'a line left out': spoiled,
    }
    with TrialBar(2 * len(tasks), every=50) as bar:
        for kind, of in kinds.items():
            found, total = Counter[str](), Counter[str]()
            for task in tasks:
                script = of(task)
                there, here = original(task, script, folder, evaluator), ours(task, script, folder)
                differ = list(differences(there, here, len(task.goal.edges)))
                left_out = len(task.goal.edges) > 1
                total['all'] += 1
                total['lines'] += len(script)
                total['passed there'] += there.passed
                total['passed here'] += here.passed
                total['evaluated'] += not left_out
                total['alike'] += not left_out and not differ
                found.update(differ)
                bar.advance(f'{kind}: {task.name}')
            rows.append({'programs': kind, **{name: str(n) for name, n in total.items()}})
            rows += [{'programs': f'  {why}', 'alike': f'-{n}'} for why, n in found.most_common()]
            if kind == ANNOTATED:
                agreed = total['alike'] / max(1, total['evaluated'])
    note = 'Evaluated: programs that its own test takes, those with one edge goal at most.'
    print_grid(
        grid_of('Household and EAI', rows, notes={'programs': note}), PlainConsole(stderr=json)
    )
    write_json(out / 'eai-check.json', {'rows': rows}, printed=json)
    exit_unless(agreed >= LEAST)
