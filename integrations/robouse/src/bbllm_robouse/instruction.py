"""What of a task's text a planner receives: the goal, without the commands of a shell."""

import json
import re
from collections.abc import Mapping
from typing import Any

from bbllm.core.errors import TaskError
from bbllm.core.tasks import MAX_TASK_CHARACTERS

GOAL = re.compile(r'\*\*Goal:\*\*\s*(?P<text>.+?)(?:\n\s*\n|\Z)', re.DOTALL)
MARKUP = re.compile(r'[*`]')
SHOWN_BY_THE_SCENE = frozenset(
    {'hand_pos', 'gripper_open', 'holding', 'objects', 'fixtures', 'grid', 'constraint_violations'}
)
"""Fields of an observation that the scene has."""


def instruction_of(prompt: str, state: Mapping[str, Any]) -> str:
    """
    Return the goal of a task, and as data what else its observation shows, such as examples.

    Raises:
        TaskError: The text has no goal, or is longer than a task may be.
    """
    found = GOAL.search(prompt)
    if found is None:
        raise TaskError('The text of the task has no paragraph that begins with **Goal:**.')
    text = ' '.join(MARKUP.sub('', found['text']).split())
    for name, value in state.items():
        if name not in SHOWN_BY_THE_SCENE:
            text += f' {name}: {json.dumps(value, separators=(",", ":"))}'
    if len(text) > MAX_TASK_CHARACTERS:
        raise TaskError(
            f'The goal has {len(text)} characters, and a task at most {MAX_TASK_CHARACTERS}.'
        )
    return text
