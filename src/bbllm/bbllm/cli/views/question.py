"""What a person is asked before the arm may move, and the answer from the terminal."""

from __future__ import annotations

import getpass
import os
import platform
import select
import sys
import termios
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress

from bbllm.api.session import Approvals, Running
from bbllm.cli.views.output import Output
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.rich_view import LiveView
from bbllm.core.approval import Answer, ApprovalRequest, RequestKind
from bbllm.core.errors import ApprovalError, TaskError, WorldError
from bbllm.core.events import QuestionAsked
from bbllm.core.paths import episodes_dir, predicted_path
from bbllm.core.plan_change import marked_lines
from bbllm.core.text import escape_line

POLL_S = 0.1
"""Period of the check whether a question is still open, wall clock [s]."""
NEXT_S = 0.05
"""How often the thread of a prompt looks for a request, wall clock [s]."""
END_S = 2.0
"""How long that thread may take to end, wall clock [s]."""
MOST_BYTES = 4096
"""The longest answer that is read [bytes]."""


def person() -> str:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        name = 'somebody'
    return f'{name}@{platform.node() or "here"}'


def at_terminal() -> bool:
    """Whether a person typed this line, as far as can be found out."""
    return sys.stdin is not None and sys.stdin.isatty()


def can_ask(output: Output) -> bool:
    """Whether a person reads what is printed and can type an answer."""
    return at_terminal() and output.console.is_terminal


def show(
    request: ApprovalRequest,
    output: Output,
    doubt: str = '',
    before: ApprovalRequest | None = None,
    done: Container[int] = (),
) -> None:
    """Print a request; its steps with what has become of them since the plan *before* it."""
    waits = time.strftime('%H:%M:%S', time.localtime(request.since_s))
    left_s = max(0.0, request.since_s + request.timeout_s - time.time())
    output.print()
    if doubt:
        output.print(f'  ! {escape_line(doubt)}', 'bold red')
    output.print(escape_line(request.title), 'bold')
    same = before is not None and before.episode_id == request.episode_id
    for mark, line in marked_lines(request, before, done):
        output.print_item(f'{mark} {line}' if same and mark else line)
    picture = predicted_path(episodes_dir() / f'{request.episode_id}.jsonl')
    if request.kind is RequestKind.PLAN and picture.exists():
        output.print_path('predicted', picture)
    if request.reason:
        output.print(f'  Why: {escape_line(request.reason)}.', 'yellow')
    episode = f' · episode {escape_line(request.episode_id)}' if request.episode_id else ''
    output.print(f'  {request.name}{episode} · asked at {waits}, waits {left_s:.0f} s more', 'dim')


def line_to_type(request: ApprovalRequest) -> str:
    """Return what approves exactly this request, from any other terminal."""
    domain = os.environ.get('ROS_DOMAIN_ID', '')
    there = f' --domain {domain}' if domain.isdigit() and domain != '0' else ''
    return f'bbllm approve --hash {request.hash[:12]}{there}'


def ask(
    request: ApprovalRequest,
    output: Output,
    is_open: Callable[[], bool],
    doubt: str = '',
    before: ApprovalRequest | None = None,
    done: Container[int] = (),
) -> Answer | None:
    """
    Show a request, and ask where a person can answer: only `y` and `yes` approve.

    *doubt* is why it may come from another program than the executor, if there is a reason.

    Returns:
        The answer; None where there was none, because there is no terminal, it was left, or the
        request went away (`is_open` returns False). What to type elsewhere is printed then.
    """
    show(request, output, doubt, before, done)
    answer = _answer(request, output, is_open) if can_ask(output) else None
    if answer is None and is_open():
        output.print(f'  In another terminal: {line_to_type(request)}', 'cyan')
    elif answer is None:
        output.print('  It does not wait any more: it was answered, or ended.', 'yellow')
    return answer


def _answer(
    request: ApprovalRequest, output: Output, is_open: Callable[[], bool]
) -> Answer | None:
    # What was typed before the question was seen is no answer to it.
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    what = 'The robot may go on' if request.kind is RequestKind.RESUME else 'Approve'
    typed = _typed(f'{what} {request.hash[:12]}? [y/N] ', output, is_open)
    if typed is None:
        return None
    if typed.lower() in ('y', 'yes'):
        return Answer(granted=True, by=person())
    reason = _typed('Why not? The Brain receives it (Enter: no reason). ', output, is_open)
    return None if reason is None else Answer(granted=False, reason=reason, by=person())


def _typed(text: str, output: Output, is_open: Callable[[], bool]) -> str | None:
    """Return the line that a person types, None where it is not waited for any more, or ends."""
    output.console.print(text, end='', style='bold cyan')
    # A line without an end stays in the buffer of a pipe or a terminal otherwise.
    (sys.stderr if output.json else sys.stdout).flush()
    while is_open():
        if select.select([sys.stdin], [], [], POLL_S)[0]:
            line = b''
            with suppress(OSError):  # the terminal has gone
                line = os.read(sys.stdin.fileno(), MOST_BYTES)  # it gives one line at once
            if line.endswith(b'\n'):
                return line.decode(errors='replace').strip()
            break
    output.print()
    return None


@contextmanager
def person_prompt(
    running: Running,
    approvals: Approvals,
    output: Output,
    view: LineView | LiveView,
    *,
    yes: bool = False,
) -> Iterator[None]:
    """
    Answer what one episode asks in a thread: by a person here, or without one.

    That is approval, and how the task is meant. The view of the episode stands still during a
    question. With *yes* it approves in place of a person, which only a simulated robot's executor
    takes.
    """
    done, episode_id = threading.Event(), running.task.id

    def send(request: ApprovalRequest, answer: Answer) -> bool:
        try:
            approvals.answer(request.hash, answer)
        except (ApprovalError, WorldError) as error:
            output.print(f'  ! {error}', 'yellow')
            return False
        return True

    def handle(request: ApprovalRequest, before: ApprovalRequest | None) -> None:
        view.progress.activity = f'waiting for a person: {request.name}'
        if yes:
            if not approvals.simulated:
                # Sent nevertheless: the executor decides, and its reason is printed.
                output.print('  --yes is for simulated robots only.', 'yellow')
            by = f'{person()}, run --yes'
            if send(request, Answer(granted=True, by=by, automatic=True)):
                return
        with view.paused():
            answer = ask(
                request,
                output,
                lambda: not done.is_set() and approvals.waiting == request,
                approvals.doubt,
                before,
                view.progress.done_steps,
            )
        if answer is not None:
            send(request, answer)

    def answer_question(question: QuestionAsked) -> None:
        def is_open() -> bool:
            return not done.is_set() and view.progress.question is question

        with view.paused():
            output.print()
            for line in question.lines:
                output.print(f'  ? {line}', 'bold cyan')
            can = can_ask(output)
            answer = _typed('Answer: ', output, is_open) if can else None
        if answer:
            with suppress(TaskError, WorldError):  # somebody else was faster, or it is over
                running.say(answer, 0.0, '', question.text)
        elif is_open() and not can:
            output.print("  It waits for an answer: bbllm say '...'", 'cyan')

    def work() -> None:
        seen: ApprovalRequest | None = None
        plan: ApprovalRequest | None = None
        asked: QuestionAsked | None = None
        while not done.is_set():
            question = view.progress.question
            if question is not asked:
                asked = question
                if question is not None:
                    answer_question(question)
            request = approvals.waiting
            if request is None or request == seen:
                done.wait(NEXT_S)
                continue
            seen = request
            if request.episode_id == episode_id:
                handle(request, plan)
            plan = request if request.steps else plan

    thread = threading.Thread(target=work, name='person_prompt', daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(END_S)
