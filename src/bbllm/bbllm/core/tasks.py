"""What people ask for, checked before anything is done with it."""

import secrets
import time

from bbllm.core.errors import TaskError
from bbllm.core.redaction import key_fault
from bbllm.core.text import escape_line, hidden_fault, strip_hidden
from bbllm.core.types import Task

MAX_TASK_CHARACTERS = 2000


def make_task(instruction: str, episode_id: str = '') -> Task:
    """
    Check an instruction and give it an id.

    Raises TaskError where it is empty, too long, or contains a key or characters that are not
    visible.
    """
    text = _checked(instruction, 'task', 'put the red cube on the blue cube')
    if episode_id and not all(char.isalnum() or char in '-_' for char in episode_id):
        raise TaskError(f'{episode_id[:40]!r} is no episode id; use letters, digits, - and _.')
    return Task(episode_id or new_episode_id(), text)


def make_remark(text: str) -> str:
    """Return a remark on a task in one line; raises TaskError as `make_task`."""
    return _checked(text, 'remark', 'leave the green cube where it is')


def _checked(text: str, what: str, example: str) -> str:
    text = ' '.join(text.split())
    if key := key_fault(strip_hidden(text)):
        # Before any other fault, whose sentence may repeat the text.
        raise TaskError(
            f'The {what} contains {key}. It would be sent to models and be kept in journals, so '
            'it was not taken. Leave it out; keys belong in environment variables alone.'
        )
    if not text:
        raise TaskError(f'The {what} is empty; write one, for example {example!r}.')
    if len(text) > MAX_TASK_CHARACTERS:
        raise TaskError(
            f'The {what} has {len(text)} characters; at most {MAX_TASK_CHARACTERS} are taken. '
            'Shorten it, or split it.'
        )
    fault = hidden_fault(text, joined=True)
    if fault:
        raise TaskError(f'The {what} contains {fault}. Send plain text: {escape_line(text)[:200]}')
    return text


def new_episode_id() -> str:
    """Return an id that sorts by time and does not collide: 20260131-142501-3f9a."""
    return f'{time.strftime("%Y%m%d-%H%M%S")}-{secrets.token_hex(2)}'
