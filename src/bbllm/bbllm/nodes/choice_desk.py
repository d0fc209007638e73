"""Where choices from a menu are carried out: as tasks, answers and stops of everybody's kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from action_msgs.srv import CancelGoal
from bbllm_interfaces.action import RunTask
from bbllm_interfaces.srv import Approve

from bbllm.core.approval import Answer
from bbllm.core.events import Ending
from bbllm.nodes.convert_approval import answer_to_request
from bbllm.nodes.process import StackNode
from bbllm.nodes.safe_action_client import SafeActionClient
from bbllm.worlds.menu import Choice, ChoiceKind

STOPPED = ('run_task', 'execute_skill')
"""Actions whose goals a stop ends, whoever gave them: the planner's first."""
REASON = 'It was denied from the menu in rviz.'


class ChoiceDesk:
    """Waits for nothing: what becomes of a choice is told when it is known."""

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
        self._approve = node.create_client(Approve, 'approve', callback_group=group)
        self._cancels = [
            node.create_client(CancelGoal, f'{action}/_action/cancel_goal', callback_group=group)
            for action in STOPPED
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
        if not self._approve.service_is_ready():
            self._note('the answer was not given: fr3_executor (approve) is not running')
            return
        granted = choice.kind is ChoiceKind.GRANT
        answer = Answer(granted=granted, reason='' if granted else REASON, by=by)
        request = answer_to_request(choice.hash, answer)
        self._approve.call_async(request).add_done_callback(partial(self._answered, granted))

    def _answered(self, granted: bool, reply: Any) -> None:
        result = reply.result()
        done = 'approved' if granted else 'denied'
        self._note(done if result.success else f'the answer was not taken: {result.message}')

    def _stop(self) -> None:
        asked = [client for client in self._cancels if client.service_is_ready()]
        if not asked:
            self._note('nothing was stopped: neither run_task nor execute_skill is served')
            return
        self._note('asked for a stop')
        for client in asked:
            # An id and a stamp of zeros mean all goals (action_msgs/CancelGoal).
            client.call_async(CancelGoal.Request())
