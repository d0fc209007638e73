"""Whether an address can be that of a robot, or of a simulation of one."""

import ipaddress
import socket
import ssl
from contextlib import suppress

from bbllm_franka.errors import NoRouteError, SimulatedServerError

DESK_PORT = 443
"""Under which the control of a robot serves Desk, by TLS."""
DESK_S = 1.0
"""How long Desk is waited for; a robot in the same network answers in milliseconds [s]."""


def check_address(address: str, *, simulated: bool) -> None:
    """
    Raise SimulatedServerError where what was stated about an address cannot be so.

    A robot is no address of this computer, and a simulation serves no Desk. A simulation on
    another computer that was stated to be a robot is not found out. Raises NoRouteError for a name
    that does not resolve.
    """
    try:
        (_, _, _, _, (resolved, *_)), *_ = socket.getaddrinfo(address, None, socket.AF_INET)
    except OSError as error:
        raise NoRouteError(
            f'{address!r} is no address ({error}). That of the robot is in Desk under Settings > '
            'Network, such as 172.16.0.2.'
        ) from error
    if not simulated and _is_here(str(resolved)):
        raise SimulatedServerError(
            f'{address} is this computer, so no robot serves there: state that the robot is '
            'simulated (--simulated-robot, or simulated_robot:=true with ros2 launch), or give '
            'the address of the robot.'
        )
    if simulated and not _is_here(str(resolved)) and _serves_desk(str(resolved)):
        raise SimulatedServerError(
            f'{address} serves Desk, as the control of a real robot does, and was stated to be '
            'simulated: leave --simulated-robot out, so that plans are approved by a person, or '
            'give the address of the simulation.'
        )


def _is_here(resolved: str) -> bool:
    """Return whether an address is one of this computer: to its own alone can it bind."""
    if ipaddress.ip_address(resolved).is_loopback:
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        try:
            own.bind((resolved, 0))
        except OSError:
            return False
    return True


def _serves_desk(resolved: str) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # Desk signs its own
    with suppress(OSError), socket.create_connection((resolved, DESK_PORT), DESK_S) as raw:
        context.wrap_socket(raw).close()
        return True
    return False
