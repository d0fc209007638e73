"""What of a task's text a planner receives: the goal, without the commands of a shell."""

import json
import re
from collections.abc import Mapping
from typing import Any

from bbllm.core.errors import TaskError
from bbllm.core.tasks import MAX_TASK_CHARACTERS

GOAL = re.compile(r'\*\*Goal:\*\*\s*(?P<text>.+?)(?:\n\s*\n|\Z)', re.DOTALL)
MARKUP = re.compile(r'[*`]')
COORDINATE = re.compile(r'\b[xy] (?:=|<|>|from )')
"""Coordinates in a text: they are in the frame of Robo Use."""
SHOWN_BY_THE_SCENE = frozenset(
    {'hand_pos', 'gripper_open', 'holding', 'objects', 'fixtures', 'grid', 'constraint_violations'}
)
"""Fields of an observation that the scene has."""
GIVE_UP = 'To end the episode without claiming success, reply with the one line "cannot: REASON".'
"""What `robo give-up` is to a coding agent, in the words in which its tasks describe that; a rule
on what to refuse is none of these tasks, but a condition of its own in others of Robo Use."""


def instruction_of(prompt: str, state: Mapping[str, Any], *, hint: str = '') -> str:
    """
    Return the goal of a task, and as data what else its observation shows, such as examples.

    The goals speak of fields of the observation, of cells by row and column, and of coordinates:
    what these are called in a scene is added. *hint* ends the text.

    Raises:
        TaskError: The text has no goal, or is longer than a task may be.
    """
    found = GOAL.search(prompt)
    if found is None:
        raise TaskError('The text of the task has no paragraph that begins with **Goal:**.')
    text = ' '.join(MARKUP.sub('', found['text']).split())
    for name, value in state.items():
        if name not in SHOWN_BY_THE_SCENE:
            data = json.dumps(value, separators=(',', ':'))
            text += f' The observation field {name} holds: {data}'
    if 'grid' in state:
        text += ' The cell [0, 1] in front of you is called cell_0_1, and so on.'
    if COORDINATE.search(text):
        text += ' The point (x, y) of this text is (y, -x) in the environment.'
    if hint:
        text += f' {hint}'
    if len(text) > MAX_TASK_CHARACTERS:
        raise TaskError(
            f'The goal has {len(text)} characters, and a task at most {MAX_TASK_CHARACTERS}.'
        )
    return text
