"""The queue where a request waits until a person has answered it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.cancel import POLL_S, CancelToken
from bbllm.core.errors import ApprovalError

REMEMBERED = 100
"""Number of requests whose answer is kept, for late answers."""

OnChange = Callable[[ApprovalRequest | None], None]
OnAnswer = Callable[[ApprovalRequest, Answer], None]


class ApprovalQueue:
    """
    One request at a time; asked from one thread, answered from any other.

    Args:
        timeout_s: How long a person is waited for, wall clock [s].
        simulated: Whether a program may answer in place of a person.
        on_change: Called with the request that waits, or None; in the thread that asks.
        on_answer: Called with every request and its answer, in the same thread, also when the
            time ran out.
    """

    def __init__(
        self,
        *,
        timeout_s: float,
        simulated: bool = False,
        on_change: OnChange | None = None,
        on_answer: OnAnswer | None = None,
    ):
        self.timeout_s = timeout_s
        self._simulated = simulated
        self._on_change = on_change
        self._on_answer = on_answer
        self._asking = threading.Lock()
        self._condition = threading.Condition()
        self._request: ApprovalRequest | None = None
        self._answer: Answer | None = None
        self._last = ''
        self._told: dict[str, str] = {}

    @property
    def waiting(self) -> ApprovalRequest | None:
        """What waits for an answer now."""
        return self._request

    def ask(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        """
        Wait for the answer to a request.

        Args:
            request: What is asked; time-out and time of asking are filled in here.
            cancel: Ends the wait.

        Returns:
            The answer; a refusal without a name when the time is over.
        """
        request = replace(request, timeout_s=self.timeout_s, since_s=time.time())
        with self._asking:
            with self._condition:
                self._request, self._answer = request, None
            try:
                self._tell(request)
                answer = self._wait(request, cancel)
            finally:
                with self._condition:
                    self._request = self._answer = None
                self._tell(None)
        if self._on_answer is not None:
            self._on_answer(request, answer)
        return answer

    def answer(self, hash: str, answer: Answer) -> ApprovalRequest:
        """
        Answer what waits, from any thread.

        Args:
            hash: What the answer is for: the whole hash of the request.
            answer: The answer of the person or the program.

        Returns:
            The request that is answered by this.

        Raises:
            ApprovalError: Another request waits or none, it was answered before, or a program
                allows something to a robot that is not simulated; nothing was answered then.
        """
        # To refuse is always safe, so a program may.
        if answer.granted and answer.automatic and not self._simulated:
            raise ApprovalError(
                'A program may approve only where the robot is simulated, and this one is not '
                '(parameter simulated of fr3_executor). What is sent without a terminal counts as '
                "a program's. A person answers on a terminal with: bbllm approve"
            )
        with self._condition:
            request = self._request
            if request is None:
                last = f' The last answer: {self._last}.' if self._last else ''
                raise ApprovalError(
                    f'Nobody waits for an answer now.{last} The next request: bbllm approve'
                )
            if hash != request.hash:
                # The next request may come before the second of two people is heard.
                told = f' It was answered: {self._told[hash]}.' if hash in self._told else ''
                raise ApprovalError(
                    f'{hash[:12] or "An empty hash"!r} is not what waits now: that is '
                    f'{request.name} ({request.title}).{told} Read it and answer it: bbllm approve'
                )
            if self._answer is not None:
                raise ApprovalError(f'It was answered already: {self._last}.')
            self._answer = answer
            self._note(request, answer)
            self._condition.notify_all()
            return request

    def _wait(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        deadline_s = time.monotonic() + self.timeout_s
        while True:
            with self._condition:
                if self._answer is None:
                    self._condition.wait(POLL_S)
                if self._answer is not None:
                    return self._answer
                if time.monotonic() >= deadline_s:
                    # Closed before the lock is let go: who answers later is told so.
                    self._request = None
                    answer = Answer(
                        granted=False, reason=f'nobody answered within {self.timeout_s:g} s'
                    )
                    self._note(request, answer)
                    return answer
            cancel.raise_if_cancelled()

    def _note(self, request: ApprovalRequest, answer: Answer) -> None:
        self._last = answer.told_of(request)
        self._told.pop(request.hash, None)
        self._told[request.hash] = self._last
        while len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]

    def _tell(self, request: ApprovalRequest | None) -> None:
        if self._on_change is not None:
            self._on_change(request)
