"""What a person is asked before the arm may move, and the answer from the terminal."""

from __future__ import annotations

import getpass
import os
import platform
import select
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bbllm.cli.views.output import Output
from bbllm.core.approval import Answer, ApprovalRequest, RequestKind
from bbllm.core.printable import escape_line

LOOK_S = 0.1
"""How often it is looked whether a question is still open, wall clock [s]."""
MOST_BYTES = 4096
"""The longest answer that is read [bytes]."""


def person() -> str:
    """Return who sits here: name and machine."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        name = 'somebody'
    return f'{name}@{platform.node() or "here"}'


def at_terminal() -> bool:
    """Tell whether a person typed this line, as far as can be told."""
    return sys.stdin is not None and sys.stdin.isatty()


def can_ask(output: Output) -> bool:
    """Tell whether a person reads what is printed and can type an answer."""
    return at_terminal() and output.console.is_terminal


def show(request: ApprovalRequest, output: Output) -> None:
    """Print what is asked, line by line."""
    waits = time.strftime('%H:%M:%S', time.localtime(request.since_s))
    left_s = max(0.0, request.since_s + request.timeout_s - time.time())
    output.say()
    output.say(escape_line(request.title), 'bold')
    for line in request.lines:
        output.say_item(line)
    if request.reason:
        output.say(f'  Why: {escape_line(request.reason)}.', 'yellow')
    episode = f' · episode {escape_line(request.episode_id)}' if request.episode_id else ''
    output.say(f'  {request.name}{episode} · asked at {waits}, waits {left_s:.0f} s more', 'dim')


def line_to_type(request: ApprovalRequest) -> str:
    """Return what approves exactly this request, from any other terminal."""
    domain = os.environ.get('ROS_DOMAIN_ID', '')
    there = f' --domain {domain}' if domain.isdigit() and domain != '0' else ''
    return f'bbllm approve --hash {request.hash[:12]}{there}'


def request_data(request: ApprovalRequest, answer: Answer | None) -> Mapping[str, object]:
    """Return what a program is told of a request and of its answer."""
    return {
        'kind': request.kind.value,
        'hash': request.hash,
        'title': request.title,
        'lines': list(request.lines),
        'reason': request.reason,
        'episode_id': request.episode_id,
        'since_s': request.since_s,
        'timeout_s': request.timeout_s,
        'answered': answer is not None,
        'granted': None if answer is None else answer.granted,
        'denial': None if answer is None or answer.granted else answer.reason,
        'by': None if answer is None else answer.by,
    }


def ask(request: ApprovalRequest, output: Output, is_open: Callable[[], bool]) -> Answer | None:
    """
    Ask on the terminal, where only `y` and `yes` approve.

    Args:
        request: What is asked; it is shown first.
        output: Where.
        is_open: Tells whether the request still waits; the question ends when it does not.

    Returns:
        The answer; None where there was none, because the request went away or the terminal did.
    """
    show(request, output)
    what = 'The robot may go on' if request.kind is RequestKind.RESUME else 'Approve'
    # What was typed before the question was seen is no answer to it.
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    typed = _lines(is_open)
    said = _prompt(f'{what} {request.hash[:12]}? [y/N] ', output, typed)
    if said is None:
        output.say()
        return None
    if said.strip().lower() in ('y', 'yes'):
        return Answer(granted=True, by=person())
    reason = _prompt('Why not? The Brain is told (Enter: no reason). ', output, typed)
    return None if reason is None else Answer(granted=False, reason=reason.strip(), by=person())


def _prompt(text: str, output: Output, typed: Iterator[str | None]) -> str | None:
    output.console.print(text, end='', style='bold cyan')
    # A line without an end stays in the buffer of a pipe or a terminal otherwise.
    (sys.stderr if output.json else sys.stdout).flush()
    return next(typed)


def _lines(is_open: Callable[[], bool]) -> Iterator[str | None]:
    """Yield what is typed, line by line; None where it is not waited for any more, or ends."""
    fd = sys.stdin.fileno()
    buffer = b''
    while True:
        while b'\n' not in buffer:
            if not is_open():
                yield None
            elif select.select([fd], [], [], LOOK_S)[0]:
                piece = _read(fd)
                if not piece or len(buffer) > MOST_BYTES:
                    yield None
                buffer += piece
        line, _, buffer = buffer.partition(b'\n')
        yield line.decode(errors='replace')


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, MOST_BYTES)
    except OSError:  # the terminal has gone
        return b''


def describe_answer(request: ApprovalRequest, answer: Answer) -> tuple[str, Any]:
    """Return a line for whoever answered, with its style."""
    if answer.granted:
        return f'Approved {request.name}.', 'green'
    return f'Denied {request.name}' + (f': {answer.reason}' if answer.reason else '.'), 'yellow'
