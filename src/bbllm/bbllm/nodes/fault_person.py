"""The person of the bench of faults: answers what `approval` shows, and takes faults back."""

from __future__ import annotations

import threading
import time
from typing import Any

from bbllm_interfaces.msg import Approval
from bbllm_interfaces.srv import Approve, InjectFault

from bbllm.nodes.client import StackClient
from bbllm.nodes.qos import LATCHED
from bbllm.nodes.waiting import wait_for

THINKS_S = 0.3
"""How long the person takes to read, wall clock [s]."""
ANSWER_S = 10.0
"""How long a service may take [s]."""


class BenchPerson:
    """
    Approves every plan after a moment; when the robot has stopped, sees to it, if there at all.

    Answers as a program, which the executor takes only beside a simulated robot.
    """

    def __init__(self, client: StackClient):
        self._client = client
        self.there = True
        """Whether anybody answers when the robot has stopped."""
        self.approved_plans = 0
        self.fault = ''
        """What to take back before the robot may go on."""
        self._approve = self._service(Approve, 'approve')
        self._inject = self._service(InjectFault, 'sim/inject_fault')
        self._news = threading.Condition()
        self._shown: Approval | None = None
        self._answered = ''
        self._waiting_since_s: float | None = None
        self._ending = False
        client.node.create_subscription(
            Approval, 'approval', self._see, LATCHED, callback_group=client.group
        )
        self._thread = threading.Thread(target=self._work, name='person', daemon=True)
        self._thread.start()

    @property
    def waited_for_s(self) -> float:
        """How long a person has been waited for now, 0 where nobody is [s]."""
        since_s = self._waiting_since_s
        return 0.0 if since_s is None else time.monotonic() - since_s

    def inject(self, fault: str, *, clear: bool = False) -> None:
        """Make something go wrong, or take it back; an empty name takes everything back."""
        reply = self._ask(
            self._inject, InjectFault.Request(fault=fault, clear=clear), 'sim/inject_fault'
        )
        if not reply.success:
            raise AssertionError(reply.message)  # the names come from the enum itself

    def close(self) -> None:
        """Leave."""
        with self._news:
            self._ending = True
            self._news.notify_all()
        self._thread.join(timeout=ANSWER_S)

    def _see(self, msg: Approval) -> None:
        with self._news:
            self._shown = msg
            if not msg.hash:
                # The same plan may be asked for once more, as after a user stop.
                self._answered = ''
                self._waiting_since_s = None
            elif self._waiting_since_s is None:
                self._waiting_since_s = time.monotonic()
            self._news.notify_all()

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._ending or self._is_new())
                shown = self._shown
                if self._ending or shown is None:
                    return
                self._answered = shown.hash
            stopped = shown.kind == Approval.RESUME
            if stopped and not self.there:
                continue
            time.sleep(THINKS_S)
            if stopped and self.fault:
                self.inject(self.fault, clear=True)
            # From now on goals may come.
            self._waiting_since_s = None
            request = Approve.Request(
                hash=shown.hash, granted=True, by='bench of faults', automatic=True
            )
            reply = self._ask(self._approve, request, 'approve')
            self.approved_plans += int(reply.success and shown.kind == Approval.PLAN)

    def _is_new(self) -> bool:
        return self._shown is not None and self._shown.hash not in ('', self._answered)

    def _service(self, kind: Any, name: str) -> Any:
        client = self._client
        return client.node.create_client(kind, name, callback_group=client.group)

    @staticmethod
    def _ask(service: Any, request: Any, name: str) -> Any:
        return wait_for(service.call_async(request), name, ANSWER_S)
