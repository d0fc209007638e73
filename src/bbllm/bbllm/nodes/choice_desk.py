"""Where choices from a menu are carried out: as tasks, answers and stops of everybody's kind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from action_msgs.srv import CancelGoal
from bbllm_interfaces.action import RunTask
from bbllm_interfaces.srv import Approve

from bbllm.core.approval import Answer
from bbllm.core.errors import BbllmError
from bbllm.core.events import Ending
from bbllm.nodes.convert_approval import answer_to_request
from bbllm.nodes.process import StackNode
from bbllm.nodes.safe_action_client import SafeActionClient
from bbllm.nodes.service_call import ServiceCall
from bbllm.nodes.waiting import ANSWER_S
from bbllm.worlds.menu import Choice, ChoiceKind

STOPPED = {'run_task': 'brain_planner', 'execute_skill': 'fr3_executor'}
"""Actions whose goals a stop ends, whoever gave them, with who serves them: the planner first."""
REASON = 'It was denied from the menu in rviz.'


class ChoiceDesk:
    """
    Holds nobody up: what becomes of a choice is told when it is known.

    Answers and stops wait in threads of their own until they are heard, since what a client sends
    that has only just found its server may be lost (see `ServiceCall`).
    """

    def __init__(self, node: StackNode, note: Callable[[str], None]):
        """
        Make the clients.

        Args:
            node: Whose clients they are.
            note: Called with one line about what became of the last choice.
        """
        self._note = note
        group = node.group
        self._run_task = SafeActionClient(node, RunTask, 'run_task', group)
        self._approve = ServiceCall(
            node, Approve, 'approve', 'fr3_executor', group, first=Approve.Request()
        )
        # Who has stopped is not stopped any more by the same request again.
        self._cancels = [
            ServiceCall(node, CancelGoal, f'{action}/_action/cancel_goal', server, group)
            for action, server in STOPPED.items()
        ]

    def carry_out(self, choice: Choice, *, by: str) -> None:
        """Begin what was chosen; *by* says who did, for logs."""
        if choice.kind is ChoiceKind.TASK:
            self._begin(choice.instruction)
        elif choice.kind is ChoiceKind.STOP:
            self._stop()
        else:
            self._answer(choice, by)

    def _begin(self, instruction: str) -> None:
        if not self._run_task.server_is_ready():
            self._note(f'{instruction!r} was not begun: brain_planner (run_task) is not running')
            return
        self._note(f'asked for {instruction!r}')
        sent = self._run_task.send_goal_async(RunTask.Goal(task=instruction))
        sent.add_done_callback(partial(self._accepted, instruction))

    def _accepted(self, instruction: str, sent: Any) -> None:
        goal = sent.result()
        if not goal.accepted:
            self._note(f'{instruction!r} was rejected without a reason')
            return
        goal.get_result_async().add_done_callback(partial(self._ended, instruction))

    def _ended(self, instruction: str, reply: Any) -> None:
        """Tell of a refusal: how an episode ends is heard from its events."""
        result = reply.result().result
        if not result.episode_id:
            self._note(f'{instruction!r} was refused: {result.message}')
        elif result.ending == Ending.FINISHED:
            self._note(f'{instruction!r} is done')

    def _answer(self, choice: Choice, by: str) -> None:
        granted = choice.kind is ChoiceKind.GRANT
        answer = Answer(granted=granted, reason='' if granted else REASON, by=by)
        self._note('approving' if granted else 'denying')
        _in_background('answer', self._deliver, choice.hash, answer)

    def _deliver(self, hash: str, answer: Answer) -> None:
        try:
            result = self._approve.run(answer_to_request(hash, answer), ANSWER_S)
        except BbllmError as error:
            self._note(f'the answer was not given: {error}')
            return
        done = 'approved' if answer.granted else 'denied'
        self._note(done if result.success else f'the answer was not taken: {result.message}')

    def _stop(self) -> None:
        self._note('asked for a stop')
        for cancel in self._cancels:
            _in_background('stop', self._cancel, cancel)

    def _cancel(self, cancel: ServiceCall) -> None:
        try:
            # An id and a stamp of zeros mean all goals (action_msgs/CancelGoal).
            cancel.run(CancelGoal.Request(), ANSWER_S)
        except BbllmError as error:
            self._note(f'not stopped: {error}')


def _in_background(name: str, call: Callable[..., None], *args: Any) -> None:
    # Daemon: an answer that never comes must not keep the node from ending.
    threading.Thread(target=call, args=args, name=name, daemon=True).start()
