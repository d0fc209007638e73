"""Tasks that people give, checked before anything is done with them; and suites of tasks."""

import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bbllm.core.errors import TaskError
from bbllm.core.plugins import load_part
from bbllm.core.redaction import key_fault
from bbllm.core.text import escape_line, hidden_fault, strip_hidden
from bbllm.core.types import Task

MAX_TASK_CHARACTERS = 2000


class SuiteTask(Protocol):
    """A task of a suite."""

    @property
    def name(self) -> str: ...

    @property
    def instruction(self) -> str: ...


class TaskSuite(Protocol):
    """A suite as programs read it; the bench scores it."""

    @property
    def name(self) -> str: ...

    @property
    def tasks(self) -> Sequence[SuiteTask]: ...


def load_suite(name_or_path: str | Path) -> TaskSuite:
    """
    Read a suite by its name, or by the path of a .yaml file.

    Raises:
        UnknownNameError: No suite of that name.
        SuiteFileError: The file cannot be read or used; names which task and field.
    """
    suite: TaskSuite = load_part('bbllm.suites', 'load')(name_or_path)
    return suite


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
