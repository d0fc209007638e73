"""The person of the bench of faults: answers what `approval` shows, and takes faults back."""

import threading
import time

from bbllm_interfaces.msg import Approval
from bbllm_interfaces.srv import Approve

from bbllm_ros.convert.records import LATCHED
from bbllm_ros.rclpy_support.calls import ANSWER_S, ServiceCall
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.service_clients import SimClient

THINKS_S = 0.3
"""How long the person takes to read, wall clock [s]."""


class BenchPerson:
    """
    Approves every plan after a moment; when the robot has stopped, sees to it, if there at all.

    Answers as a program, which the executor takes only beside a simulated robot.
    """

    def __init__(self, client: StackClient):
        self.sim = SimClient(client.node, client.group)
        self.there = True
        """Whether anybody answers when the robot has stopped."""
        self.approved_plans = 0
        self.asked_to_resume = 0
        """How often the robot had stopped and waited for a person."""
        self.fault = ''
        """What to take back before the robot may go on."""
        self._approve = ServiceCall(
            client.node, Approve, 'approve', 'fr3_executor', client.group, first=Approve.Request()
        )
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
        """How long a person has been waited for now, 0 where no person is [s]."""
        since_s = self._waiting_since_s
        return 0.0 if since_s is None else time.monotonic() - since_s

    def close(self) -> None:
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
            self.asked_to_resume += stopped
            if stopped and not self.there:
                continue
            time.sleep(THINKS_S)
            if stopped and self.fault:
                self.sim.inject(self.fault, clear=True)
            # From now on goals may come.
            self._waiting_since_s = None
            request = Approve.Request(
                hash=shown.hash, granted=True, by='bench of faults', automatic=True
            )
            reply = self._approve.run(request, ANSWER_S)
            self.approved_plans += int(reply.success and shown.kind == Approval.PLAN)

    def _is_new(self) -> bool:
        return self._shown is not None and self._shown.hash not in ('', self._answered)
