"""
Checks in Desk, the robot's own pages, by the client of franky.

They only read, and neither take nor release control. The password goes to that client and nowhere
else; no text here contains what an error or a page of Desk states beside numbers and states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from bbllm.core.findings import Finding, Level, fail, ok, warn
from bbllm_franka.libraries import library

TIMEOUT_S = 5.0
"""How long Desk may take for an answer [s]."""
REFUSED = (401, 403)
"""Answers to a user and password that are not accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskLogin:
    """A user of Desk."""

    user: str
    password: SecretStr


def check_desk(host: str, login: DeskLogin | None) -> Iterator[Finding]:
    """
    Check brakes, operating mode, FCI, control and safety, as Desk reports them.

    Args:
        host: Of Desk, with a port where it is not 443. Its certificate is not verified: a robot
            signs its own.
        login: Who asks; None: nothing is asked.
    """
    if login is None:
        yield warn(
            'desk',
            'not checked without a password: brakes, operating mode, FCI, control, safety',
            '--desk-user NAME asks for the password of that user, and stores it nowhere.',
        )
        return
    session = library('franky').Desk(host, login.user, login.password.get_secret_value())
    try:
        session.open(timeout=TIMEOUT_S)
    except Exception as error:  # franky's own, those of http and of the network
        yield _unread('desk', host, login.user, error)
        return
    try:
        yield ok('desk', f'https://{host} accepts the user {login.user}')
        for name, path, judge in (
            ('brakes', '/api/arm/joints', judge_brakes),
            ('operation', '/api/system/operating-mode', judge_operation),
            ('activation', '/api/fci', judge_activation),
            ('control', '/api/system/control-token', judge_control),
            ('safety', '/api/safety/recovery', judge_safety),
        ):
            try:
                level, text, remedy = judge(session.send_api_request(path, method='GET'))
            except Exception as error:
                yield _unread(name, host, login.user, error)
            else:
                yield Finding(name, level, text, remedy)
    finally:
        session.close()  # without control, this only ends the connection


Judged = tuple[Level, str, str]


def judge_brakes(joints: list[dict[str, Any]]) -> Judged:
    locked = sum(joint['brakeStatus'] != 'Unlocked' for joint in joints)
    if not locked:
        return Level.OK, f'all {len(joints)} joints are unlocked', ''
    text = f'{locked} of {len(joints)} joints are locked'
    return Level.FAIL, text, 'Unlock the joints in Desk.'


def judge_operation(mode: dict[str, Any]) -> Judged:
    name = str(mode['status'])
    if name == 'Execution':
        return Level.OK, f'operating mode {name}', ''
    remedy = 'Switch Desk to Execution; in Programming the robot reports a user stop.'
    return Level.FAIL, f'operating mode {name}', remedy


def judge_activation(fci: dict[str, Any]) -> Judged:
    name = str(fci['status'])
    if name == 'Active':
        return Level.OK, 'FCI is active', ''
    return Level.FAIL, f'FCI is {name.lower()}', 'Activate FCI in the menu of Desk.'


def judge_control(token: dict[str, Any]) -> Judged:
    if owner := token.get('owner'):
        return Level.OK, f'{owner} has control in Desk', ''
    return Level.WARN, 'no user has control in Desk', 'Take control in Desk to unlock or activate.'


def judge_safety(safety: dict[str, Any]) -> Judged:
    if (recovery := safety.get('recovery')) is None:
        return Level.OK, 'nothing to be confirmed', ''
    text = f'the safety controller waits for a recovery: {recovery["type"]}'
    return Level.FAIL, text, 'Confirm it in Desk, as its page describes.'


def _unread(name: str, host: str, user: str, error: Exception) -> Finding:
    """Return why a state could not be read, without the text of the error."""
    code = getattr(error, 'http_code', None)
    if code in REFUSED:
        text = f'https://{host} does not accept the user {user} or the password ({code})'
        return fail(name, text, 'Users and passwords are those of Desk, not of a shell.')
    if code is not None:
        text = f'not checked: https://{host} answers with {code}'
        return warn(name, text, 'See it in a browser; franky 2.0.0 knows Desk of system 5.')
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        text = f'not checked: https://{host} does not answer ({reason})'
        return warn(name, text, f'Open https://{host} in a browser on this computer.')
    text = f'not checked: https://{host} answers in an unknown form ({type(error).__name__})'
    return warn(name, text, 'See it in a browser.')
