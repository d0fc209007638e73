"""Why a connection fails or breaks: which error of ours it is, and what has to be done."""

import re
from collections.abc import Callable

from bbllm_franka.errors import (
    ControlTakenError,
    FciOffError,
    LostRobotError,
    NoRouteError,
    NoStatesError,
    NotARobotError,
    RealtimeError,
    RobotError,
    SafetyRulesError,
    VersionError,
)
from bbllm_franka.probe import PORT, Probe, Reached, probe

SYSTEMS = {10: '5.9.0', 9: '5.7.2', 8: '5.7.0', 7: '5.5.0', 6: '5.2.0', 5: '4.2.1', 4: '4.0.0'}
"""Oldest system image with each version of the robot's server (docs/compatibility_matrix.rst of
libfranka)."""
VERSIONS = re.compile(r'server version: (\d+), library version: (\d+)')
"""In the text of `franka::IncompatibleVersionException`."""


def connection_error(
    kind: str, text: str, address: str, ask: Callable[[str], Probe] = probe
) -> RobotError:
    """
    Return why a connection could not be made, by libfranka's exception and its text.

    What these leave open, the address is asked for: see `probe`. Texts are those of libfranka 0.21
    (src/network.cpp, src/exception.cpp).
    """
    reason = text.removeprefix('libfranka: ').strip()
    low = reason.lower()
    if kind == 'RealtimeException' or 'realtime' in low.replace('-', '').replace(' ', ''):
        return RealtimeError(
            f'Real time is enforced, and this computer does not offer it ({reason}).',
            'Boot a PREEMPT_RT kernel and allow your user real-time priorities (rtprio 99 in '
            '/etc/security/limits.conf), or state --realtime ignore.',
        )
    if (mismatch := version_error(low, address)) is not None:
        return mismatch
    if 'robot model' in low:
        return SafetyRulesError(
            f'{address} keeps its model from libfranka ({reason}).',
            'System image 5.9.1 does so while Watchman has safety rules (issue 232 of libfranka): '
            'see Safety in Desk. Whether they may be removed is for the risk assessment of the '
            'cell.',
        )
    reached, report = ask(address)
    why = f'{report}; libfranka: {reason}' if report else f'libfranka: {reason}'
    match reached:
        case Reached.NOTHING:
            return NoRouteError(
                f'Nothing answers under {address} ({why}).',
                "Check the cable to the robot's control (not to the arm), the network of that "
                'card of this computer, and the address in Desk under Settings > Network; '
                f'`ping {address}` would answer.',
            )
        case Reached.HOST | Reached.REFUSED:
            return FciOffError(
                f'{address} answers, but its FCI does not ({why}).',
                f'Open Desk (https://{address}), unlock the joints, and activate FCI in the menu.',
            )
        case Reached.PORT:
            return ControlTakenError(
                f'{address} took the connection and sent no states ({why}).',
                'The robot serves one program at a time: end the other one (franka_ros2, franky, '
                'another bbllm), or take control in Desk.',
            )
        case Reached.STRANGER:
            return NotARobotError(
                f'Port {PORT} of {address} is served by another program than a robot: it replied '
                f'{report}.',
                'State the address of the robot, which Desk shows under Settings > Network.',
            )
        case Reached.ROBOT:
            return NoStatesError(
                f'{address} replies, and its states do not arrive ({why}).',
                f'They are UDP packets: let those of {address} through the firewall of this '
                'computer, and connect without NAT or VPN. If another program has just ended, or '
                'this computer is busy, try again.',
            )


def version_error(text: str, address: str) -> VersionError | None:
    """Return which side is too old, by libfranka's text; None where it is about anything else."""
    if (found := VERSIONS.search(text.lower())) is None:
        return None
    server, library = map(int, found.groups())
    # Those of a hand are 3 and less, and have no entry.
    fact = (
        f'{address} does not speak the protocol of this libfranka: it has server version '
        f'{server}{_system(server)}, and libfranka needs version {library}{_system(library)}.'
    )
    if server > library:
        return VersionError(
            fact, 'Install a libfranka for it: a newer pylibfranka and franky-control.'
        )
    newest = max(SYSTEMS)
    system = SYSTEMS.get(library, SYSTEMS[newest])
    return VersionError(fact, f'Update the robot to system image {system} or later.')


def _system(server: int) -> str:
    return f' (system image {SYSTEMS[server]} or later)' if server in SYSTEMS else ''


def lost_error(kind: str, text: str, address: str) -> LostRobotError:
    """Return that a connection broke, by libfranka's exception and its text."""
    reason = text.removeprefix('libfranka: ').strip() or kind
    return LostRobotError(
        f'The connection to the robot at {address} broke ({reason}).',
        'Check its power and the cable; the next task connects anew.',
    )
