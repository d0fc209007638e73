"""Where choices from a menu are carried out: as tasks, answers and stops, as for any client."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from bbllm_interfaces.action import RunTask
from bbllm_interfaces.srv import Approve

from bbllm.core.approval import Answer
from bbllm.core.errors import BbllmError
from bbllm.core.events import Ending
from bbllm.worlds.tabletop.menu import ChoiceKind, MenuChoice
from bbllm_ros.convert.approval import answer_to_request
from bbllm_ros.rclpy_support.calls import (
    ANSWER_S,
    ActionCall,
    ServiceCall,
    StopClient,
    not_begun,
)
from bbllm_ros.rclpy_support.stack_node import StackNode

REASON = 'It was denied from the menu in rviz.'
STOPPED = 'stopped, as asked'


class ChoiceDesk:
    """
    Blocks no caller: the outcome of a choice is given to *note* in one line when it is there.

    Tasks, answers and stops wait in threads, since what a client sends that has only just found
    its server may be lost (see `ServiceCall`).
    """

    def __init__(self, node: StackNode, note: Callable[[str], None]):
        self._note = note
        group = node.group
        self._run_task = ActionCall(node, RunTask, 'run_task', 'brain_planner', group)
        self._approve = ServiceCall(
            node, Approve, 'approve', 'fr3_executor', group, first=Approve.Request()
        )
        self._stops = StopClient(node, group)
        self._answers = SimpleQueue[tuple[str, Answer]]()
        _in_background('answers', self._give_answers)

    def carry_out(self, choice: MenuChoice, *, by: str) -> None:
        """Begin what was chosen; *by* is the person, for logs."""
        if choice.kind is ChoiceKind.TASK:
            _in_background('task', self._run, choice.instruction)
        elif choice.kind is ChoiceKind.STOP:
            self._stop()
        else:
            self._answer(choice, by)

    def _run(self, instruction: str) -> None:
        self._note(f'asked for {instruction!r}')
        try:
            status, result = self._run_task.run(RunTask.Goal(task=instruction))
        except BbllmError as error:
            self._note(f'{instruction!r} was not carried out: {error}')
            return
        if result is None:
            self._note(not_begun(status, repr(instruction), 'brain_planner'))
        elif not result.episode_id:
            self._note(f'{instruction!r} was refused: {result.message}')
        elif result.ending == Ending.FINISHED:
            self._note(f'{instruction!r} is done')

    def _answer(self, choice: MenuChoice, by: str) -> None:
        granted = choice.kind is ChoiceKind.GRANT
        answer = Answer(granted=granted, reason='' if granted else REASON, by=by)
        self._note('approving' if granted else 'denying')
        self._answers.put((choice.hash, answer))

    def _give_answers(self) -> None:
        """Give one answer after the other, in the order of the clicks."""
        while True:
            self._give(*self._answers.get())

    def _give(self, hash: str, answer: Answer) -> None:
        try:
            result = self._approve.run(answer_to_request(hash, answer), ANSWER_S)
        except BbllmError as error:
            self._note(f'the answer was not given: {error}')
            return
        done = 'approved' if answer.granted else 'denied'
        self._note(done if result.success else f'the answer was not taken: {result.message}')

    def _stop(self) -> None:
        self._note('asked for a stop')
        _in_background('stop of the arm', self._stop_arm)
        _in_background('stop', self._stop_all)

    def _stop_arm(self) -> None:
        with suppress(BbllmError):  # `_stop_all` tells it
            self._stops.stop_arm()

    def _stop_all(self) -> None:
        try:
            self._stops.stop_all()
        except BbllmError as error:
            self._note(f'not all was stopped: {error}')
        else:
            self._note(STOPPED)


def _in_background(name: str, call: Callable[..., None], *args: Any) -> None:
    # Daemon: an answer that never comes must not keep the node from ending.
    threading.Thread(target=call, args=args, name=name, daemon=True).start()
