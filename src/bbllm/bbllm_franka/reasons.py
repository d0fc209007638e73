"""Reads what libfranka reports: which error of ours it is, and what has to be done."""

from bbllm.core.errors import WorldError
from bbllm_franka.errors import (
    ControlTakenError,
    FciOffError,
    LostRobotError,
    NoRouteError,
    RealtimeError,
    VersionError,
)

SYSTEM = '5.9.0'
"""Oldest system image that this libfranka connects to (server version 10)."""


def connection_error(kind: str, text: str, address: str) -> WorldError:
    """
    Return why a connection could not be made, by libfranka's exception and its text.

    Texts are those of libfranka 0.21 (src/network.h, src/robot_impl.cpp).
    """
    reason = text.removeprefix('libfranka: ').strip()
    low = reason.lower()
    if kind == 'RealtimeException' or 'realtime' in low.replace('-', '').replace(' ', ''):
        return RealtimeError(
            f'Real time is enforced, and this computer does not offer it ({reason}). Boot a '
            'PREEMPT_RT kernel and allow your user real-time priorities (rtprio 99 in '
            '/etc/security/limits.conf), or state --realtime ignore.'
        )
    if 'version' in low:
        return VersionError(
            f'{address} does not speak the protocol of this libfranka ({reason}). It needs a '
            f'Franka Research 3 with system image {SYSTEM} or later.'
        )
    if 'refused' in low:
        return FciOffError(
            f'{address} answers, but its FCI does not ({reason}). Open Desk (https://{address}), '
            'unlock the joints, and activate FCI in the menu.'
        )
    if 'closed' in low or 'reset' in low or 'udp receive' in low:
        return ControlTakenError(
            f'{address} took the connection and sent no states ({reason}). The robot serves one '
            'program at a time: end the other one (franka_ros2, franky, another bbllm), or take '
            'control in Desk.'
        )
    return NoRouteError(
        f"Nothing answers under {address} ({reason}). Check the cable to the robot's control "
        f'(not to the arm), the address in Desk under Settings > Network, and `ping {address}`. '
        'Where that answers, end the other program that uses the robot: it serves one at a time.'
    )


def lost_error(kind: str, text: str, address: str) -> LostRobotError:
    """Return that a connection broke, by libfranka's exception and its text."""
    reason = text.removeprefix('libfranka: ').strip() or kind
    return LostRobotError(
        f'The connection to the robot at {address} broke ({reason}). Check its power and the '
        'cable; the next task connects anew.'
    )
