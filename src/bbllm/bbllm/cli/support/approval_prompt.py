"""Sees to what `fr3_executor` asks while a task runs that was begun in this terminal."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from bbllm.cli.views.output import Output
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.question import ask, can_ask, line_to_type, person, show
from bbllm.cli.views.rich_view import LiveView
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.errors import ApprovalError, WorldError

if TYPE_CHECKING:
    from bbllm.ros.stack.approval_client import ApprovalClient

LOOK_S = 0.2
END_S = 2.0
"""How long the thread may take to end, wall clock [s]."""


class Attendant(AbstractContextManager['Attendant']):
    """
    A thread that answers the requests of one episode: by a person here, or by itself.

    Args:
        approvals: What waits.
        episode_id: Whose requests; those of others are left to others.
        output: Where people read.
        view: What shows the episode meanwhile; it stands still during a question.
        yes: Answer yes in place of a person, which only a simulated robot's executor takes.
    """

    def __init__(
        self,
        approvals: ApprovalClient,
        episode_id: str,
        output: Output,
        view: LineView | LiveView,
        *,
        yes: bool,
    ):
        self._approvals = approvals
        self._episode_id = episode_id
        self._output = output
        self._view = view
        self._yes = yes
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, name='attendant', daemon=True)

    def __enter__(self) -> Attendant:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join(END_S)

    def _work(self) -> None:
        seen: ApprovalRequest | None = None
        while not self._done.is_set():
            request = self._approvals.next(LOOK_S, after=seen)
            seen = request or seen
            if request is not None and request.episode_id == self._episode_id:
                self._see_to(request)

    def _see_to(self, request: ApprovalRequest) -> None:
        self._view.progress.activity = f'waiting for a person: {request.name}'
        if self._yes and self._answer_itself(request):
            return
        if can_ask(self._output):
            with self._view.paused():
                answer = ask(request, self._output, lambda: self._waits(request))
                if answer is not None:
                    self._send(request, answer)
                elif self._waits(request):
                    self._tell_line(request)
            return
        show(request, self._output)
        self._tell_line(request)

    def _tell_line(self, request: ApprovalRequest) -> None:
        self._output.say(f'  In another terminal: {line_to_type(request)}', 'cyan')

    def _answer_itself(self, request: ApprovalRequest) -> bool:
        """Answer yes; False where the executor wants a person."""
        if not self._approvals.simulated:
            # Asked nevertheless: the executor decides, and says so in its own words.
            self._output.say('  --yes is for simulated robots only.', 'yellow')
        by = f'{person()}, run --yes'
        return self._send(request, Answer(granted=True, by=by, automatic=True))

    def _send(self, request: ApprovalRequest, answer: Answer) -> bool:
        try:
            self._approvals.answer(request.hash, answer)
        except (ApprovalError, WorldError) as error:
            self._output.say(f'  ! {error}', 'yellow')
            return False
        return True

    def _waits(self, request: ApprovalRequest) -> bool:
        return not self._done.is_set() and self._approvals.waits(request)
