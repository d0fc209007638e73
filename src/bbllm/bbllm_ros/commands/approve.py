"""`bbllm approve`: approves or denies what the arm waits to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

import typer

from bbllm.cli.support.options import JsonOption, StackOptions, seconds
from bbllm.cli.support.requests import flag, option
from bbllm.cli.support.verb_group import BAD_INPUT, FAILED
from bbllm.cli.views.output import Output
from bbllm.cli.views.question import (
    ask,
    at_terminal,
    can_ask,
    line_to_type,
    person,
)
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.errors import ApprovalError, ConfigError, LostNodeError
from bbllm.core.records import to_json
from bbllm_ros.stack.found_stack import found_stack

if TYPE_CHECKING:
    from bbllm_ros.stack.service_clients import ApprovalClient

HINT = 'A simulation asks only with `bbllm up sim --approval plan`.'
LEAST_HASH = 8
"""How many characters of a hash must be typed."""


def approve(
    *,
    hash: str | None = option(
        'Approve exactly this, without a question: the hash that is shown, or its first 8 '
        'characters or more.',
        metavar='HASH',
    ),
    deny: str | None = option(
        'Deny it, without a question; the Brain receives the reason.', metavar='REASON'
    ),
    watch: bool = flag('Stay, and ask again for each request; Ctrl-C ends.'),
    timeout: float | None = seconds('How long to wait for a request, where none is there.'),
    stack: StackOptions,
    json: JsonOption = False,
) -> None:
    """
    Approve or deny what the arm waits to do: a plan, a call, or to go on.

    Nothing moves before a person has approved it, where the stack asks for
    that: for a real arm unless it was started with `approval:=none`, for a
    simulated one with `bbllm up sim --approval plan`. Waits for a request
    where none is there. An answer without a terminal counts as a program's:
    it may deny, and approve only where the robot is simulated.

    Exit code: 0 when it was answered, either way, 1 when it was not, 2 where
    there is no terminal to answer on, or what waits is not what was named.

    Examples:
      bbllm approve
      bbllm approve --watch
      bbllm approve --hash 1a2b3c4d5e6f
      bbllm approve --deny 'the red cube is glued to the table'
    """
    output, named = Output(json), None if hash is None else _checked(hash)
    if watch and (json or named is not None or deny is not None):
        raise ConfigError('--watch asks a person: it cannot go with --hash, --deny or --json.')
    joined = attrgetter('approvals.known')
    with found_stack(
        'bbllm approve', stack, output, ['fr3_executor'], joined, hint=HINT
    ) as client:
        approvals = client.approvals
        if watch:
            _watch(approvals, timeout, output)
            return
        waiting = _waiting(approvals, named, timeout, output)
        if named is None and deny is None:
            answer = ask(waiting, output, lambda: approvals.waits(waiting), approvals.doubt)
        else:
            reason = ' '.join((deny or '').split())
            automatic = not at_terminal()
            answer = Answer(granted=deny is None, reason=reason, by=person(), automatic=automatic)
        if answer is not None:
            _send(approvals, waiting, answer, output)
    output.result(_values(waiting, answer))
    if answer is None:
        raise typer.Exit(FAILED if can_ask(output) else BAD_INPUT)


def _checked(typed: str) -> str:
    named = typed.strip().lower()
    if not re.fullmatch(rf'[0-9a-f]{{{LEAST_HASH},64}}', named):
        raise ConfigError(
            f'{typed[:80]!r} is no hash: it takes {LEAST_HASH} to 64 of the characters 0-9 and '
            'a-f. `bbllm approve` shows the one that waits.'
        )
    return named


def _waiting(
    approvals: ApprovalClient, named: str | None, timeout_s: float | None, output: Output
) -> ApprovalRequest:
    """Return what waits, if it is what was named; what is not named is waited for."""
    if named is not None:
        timeout_s = timeout_s or 0.0
    elif approvals.waiting is None:
        if approvals.doubt:
            output.print(f'  ! {approvals.doubt}', 'bold red')
        output.print('Nothing waits for approval; waiting for the first request ...', 'dim')
    request = approvals.next(timeout_s)
    if request is None and named is None:
        raise LostNodeError(f'Nothing was asked within {timeout_s:g} s.')
    if request is None:
        raise ApprovalError(f'Nothing waits for approval now, neither {named} nor anything else.')
    if not request.hash.startswith(named or ''):
        raise ApprovalError(
            f'{named} is not what waits now: that is {request.name}: '
            f'{" / ".join(request.lines)[:200]}. '
            f'Read it, and to approve it type: {line_to_type(request)}'
        )
    return request


def _watch(approvals: ApprovalClient, timeout_s: float | None, output: Output) -> None:
    if not can_ask(output):
        raise ConfigError(
            '--watch needs a terminal to ask on. Without one, what waits on a simulated robot is '
            'approved by its hash: bbllm approve --hash HASH.'
        )
    request: ApprovalRequest | None = None
    with suppress(KeyboardInterrupt):
        output.print('Waiting for the next request; Ctrl-C ends ...', 'dim')
        while (request := approvals.next(timeout_s, after=request)) is not None:
            answer = ask(request, output, partial(approvals.waits, request), approvals.doubt)
            if answer is not None:
                try:
                    _send(approvals, request, answer, output)
                except ApprovalError as error:  # it was answered elsewhere
                    output.print(str(error), 'yellow')
            output.print('Waiting for the next request; Ctrl-C ends ...', 'dim')
        output.print(f'Nothing was asked for {timeout_s:g} s.')


def _send(
    approvals: ApprovalClient, request: ApprovalRequest, answer: Answer, output: Output
) -> None:
    approvals.answer(request.hash, answer)
    if answer.granted:
        output.print(f'Approved {request.name}.', 'green')
    else:
        reason = f': {answer.reason}' if answer.reason else '.'
        output.print(f'Denied {request.name}{reason}', 'yellow')


def _values(request: ApprovalRequest, answer: Answer | None) -> Mapping[str, object]:
    given: dict[str, object] = {'granted': None, 'denial': None, 'by': None}
    if answer is not None:
        denial = None if answer.granted else answer.reason
        given = {'granted': answer.granted, 'denial': denial, 'by': answer.by}
    shown = {**to_json(request), 'hash': request.hash, 'lines': [*request.lines]}
    return {**shown, 'answered': answer is not None, **given}
