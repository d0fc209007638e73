"""One task at a time on a running stack, begun by a program and followed until its end."""

import threading
import time
from contextlib import AbstractContextManager
from typing import Any

from bbllm.core.approval import SHORT, ApprovalMode, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.conversation import Turn
from bbllm.core.errors import ApprovalError, TaskError
from bbllm.core.events import Event, QuestionAsked
from bbllm.core.progress import Progress
from bbllm.core.tasks import make_remark, make_task
from bbllm.core.types import Task
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.service_clients import ExecutorSettingsClient
from bbllm_ros.stack.session import StackSession

PERMITTED = (ApprovalMode.PLAN, ApprovalMode.STEP)
"""Modes in which nothing moves without a person's permit."""
PROGRAM = 'mcp'
"""Who sends the remarks, in journals and prompts."""
POLL_S = 0.1


class TaskDesk(AbstractContextManager['TaskDesk']):
    """
    Gives a stack tasks on behalf of a program; may be called from any thread.

    It gives no permit: what moves the arm waits for a person, who answers elsewhere. Use it with
    `with`: a task that is under way at the end is cancelled.
    """

    def __init__(self, client: StackClient):
        self._session = StackSession(client)
        self._session.attended = True
        self._mode = ExecutorSettingsClient(client.node, client.group)
        self._lock = threading.Lock()
        self._progress = Progress()
        self._seen: ApprovalRequest | None = None
        """The request that was reported last."""
        self._heard: QuestionAsked | None = None
        """The question that was reported last."""

    def __exit__(self, *_: object) -> None:
        self._session.end('The client has left.')

    def begin(self, instruction: str) -> None:
        """
        Begin a task.

        Raises:
            ApprovalError: The stack would move without a person's permit.
            TaskError: The text is no task, or another task is under way.
            LostNodeError: A node of the stack does not answer.
        """
        task = make_task(instruction)
        self._need_permits()
        with self._lock:
            running = self._session.running
            if running is not None and running.is_under_way:
                raise TaskError(
                    f'The task {running.task.instruction!r} is under way. Wait for its end with '
                    'task_status, or call stop.'
                )
            self._progress, self._seen, self._heard = Progress(), None, None
            self._session.start(task, self._take)

    def say(self, text: str, wait_s: float = 0.0) -> str:
        """
        Send the planner a remark on the task that this desk has begun.

        Returns what became of it, or what was still waited for after a time [s].

        Raises:
            ApprovalError: The stack would move without a person's permit.
            TaskError: The text is no remark, or no such task is under way.
            LostNodeError: A node of the stack does not answer.
        """
        words = make_remark(text)
        self._need_permits()
        running = self._session.running
        if running is None or not running.is_under_way:
            raise TaskError(
                'No task of this server is under way, and a remark is for no other: run_task '
                'begins one.'
            )
        return running.say(words, wait_s, PROGRAM)

    def _need_permits(self) -> None:
        """Raise ApprovalError where the stack moves without a person's permit."""
        mode = self._mode.mode(CancelToken())
        if mode not in PERMITTED:
            asks = 'does not answer which' if mode is None else f'has approval: {mode.value}'
            raise ApprovalError(
                'A program moves the arm only with a permit of a person, and the stack '
                f'{asks}. Start it with `bbllm up sim --approval plan`, or step.'
            )

    def status(self, wait_s: float) -> dict[str, Any]:
        """
        Return the state of the newest task as JSON values.

        Waits at most *wait_s* for its end, or for a request to a person or a question of the
        planner that was not returned before [s]. Raises TaskError where there is no task, or the
        stack refused it; BbllmError where a node has gone.
        """
        running = self._session.running
        if running is None or running.future is None:
            raise TaskError('No task was begun yet: run_task begins one.')
        deadline_s = time.monotonic() + wait_s
        while running.is_under_way:
            request = self._request(running.task)
            if (request is not None and request != self._seen) or time.monotonic() >= deadline_s:
                self._seen = request
                return {**self._report(running.task, 'running'), **_permit(request)}
            question = self._progress.question
            if question is not None and question is not self._heard:
                self._heard = question
                return {**self._report(running.task, 'asks'), **_asked(question)}
            time.sleep(POLL_S)
        episode = running.future.result()
        assert episode.ending is not None
        return {
            **self._report(running.task, 'ended'),
            'ending': episode.ending.name,
            'goal': episode.goal,
            'message': episode.message,
            'summary': episode.summary,
        }

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The conversation of the stack, whoever gave the tasks."""
        return self._session.turns

    def stop(self) -> None:
        """Stop whatever moves the arm, whoever began it; raises WorldError where that failed."""
        self._session.stop('Stopped by a program.')

    def _take(self, event: Event) -> None:
        with self._lock:
            self._progress.take(event)

    def _request(self, task: Task) -> ApprovalRequest | None:
        request = self._session.approvals.waiting
        return request if request is not None and request.episode_id == task.id else None

    def _report(self, task: Task, state: str) -> dict[str, Any]:
        with self._lock:
            return {
                'episode_id': task.id,
                'task': task.instruction,
                'state': state,
                'activity': self._progress.activity,
                'steps': [
                    {
                        'index': row.index,
                        'text': row.text,
                        'state': row.state.value,
                        'call': row.call,
                        'note': row.note,
                    }
                    for row in self._progress.rows
                ],
            }


def _asked(question: QuestionAsked) -> dict[str, Any]:
    """Return what the planner asks, and how to answer."""
    return {
        'question': {'text': question.text, 'options': list(question.options)},
        'next': 'Nothing moves until it is answered: say(text) with the answer of the person, or '
        'the number of an option from 1. Then call task_status.',
    }


def _permit(request: ApprovalRequest | None) -> dict[str, Any]:
    """Return what a person is asked, and where the answer can be given."""
    if request is None:
        return {}
    return {
        'state': 'waiting for a person',
        'activity': f'a person is asked to permit {request.name}',
        'request': {
            'hash': request.hash,
            'kind': request.kind.value,
            'title': request.title,
            'lines': list(request.lines),
            'goal': list(request.goal),
            'reason': request.reason,
        },
        'next': (
            f'Nothing moves until a person permits {request.name}; no tool of this server does. '
            f'A person reads it and answers in a terminal: bbllm approve --hash '
            f'{request.hash[:SHORT]}. Then call task_status.'
        ),
    }
