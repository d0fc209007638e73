"""
A suite made of ProgPrompt's own data, scored as its published program scores.

Of a task, the goals are the strings `class RELATION class` and `class STATE` that are true of the
annotated final graph and were not of the first one. GCR is the share of them that is true in the
end, and SR is 1 where all are; so an episode passes only where it ended next to the same classes
of things as the annotator did. Source: `run_eval.eval` of the release; planners.md in the
reference tells which goals that makes of each task.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbllm.bench.suites.house_goals import FinalStateGoal
from bbllm.bench.suites.original_data import (
    VARIABLE,
    OriginalSet,
    OriginalTask,
    read_set,
    where_to_get,
)
from bbllm.bench.suites.suite_errors import SuiteFileError
from bbllm.core.errors import BbllmError, ConfigError
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.houses import House


def with_original(
    data: Mapping[str, Any], copy: Path | None, where: str
) -> tuple[dict[str, Any], Mapping[str, House]]:
    """
    Return the content of a suite file with the tasks of the set that its field `original` names.

    Args:
        data: The file's content.
        copy: The user's copy of the data; None takes what $BBLLM_PROGPROMPT_DATA says.
        where: What errors call the file.

    Returns:
        The content, and the house of each task.

    Raises:
        SuiteFileError: There is no copy, or it cannot be used, or the file has tasks too.
    """
    if 'tasks' in data:
        raise SuiteFileError(f'{where}: a suite of `original` has no tasks of its own.')
    name = str(data['original'])
    folder = copy or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    try:
        if folder is None:
            raise ConfigError(where_to_get())
        found = read_set(folder.expanduser(), name)
    except BbllmError as error:
        raise SuiteFileError(f'{where}: {error}') from error
    # A task without a goal cannot be failed; the published program divides by zero there.
    with_goals = {_short(task.name): task for task in found.tasks if task.n_goals}
    if not with_goals:
        raise SuiteFileError(
            f'{where}: no task of {name} has a goal: their final graphs say nothing that the '
            'first ones do not.'
        )
    content = {
        'mode': Mode.FRESH.value,
        **{field: value for field, value in data.items() if field != 'original'},
        'description': f'{data.get("description", "")}{_without(found)}',
        'tasks': [_as_in_a_file(short, task, name) for short, task in with_goals.items()],
    }
    return content, {
        short: House(f'{name}: {task.name}', '', task.before) for short, task in with_goals.items()
    }


def _as_in_a_file(short: str, task: OriginalTask, name: str) -> dict[str, object]:
    return {
        'name': short,
        'instruction': task.name,
        'difficulty': 'medium',
        'least_loops': 0,
        'houses': (name,),
        'goal': goal_of(task).model_dump(),
    }


def _short(name: str) -> str:
    return re.sub(r'\W+', '_', name).strip('_')[:64]


def _without(found: OriginalSet) -> str:
    """Say which tasks cannot be scored, '' where all can."""
    lacking = [*found.left_out, *(task.name for task in found.tasks if not task.n_goals)]
    return f' Without {", ".join(lacking)}, of which no goals are known.' if lacking else ''


def goal_of(task: OriginalTask) -> FinalStateGoal:
    """Return what the annotator's plan changed, by classes."""
    return FinalStateGoal(
        kind='final_state',
        relations=tuple(sorted(task.goals_relations)),
        states=tuple(sorted(task.goals_states)),
    )
