"""Whether an address can be that of a robot, or of a simulation of one."""

import ipaddress
import socket
from contextlib import suppress

from bbllm_franka.errors import NoRouteError, SimulatedServerError

ROBOT_IP = '172.16.0.2'
"""As in Franka's documentation, in franka.config.yaml of franka_bringup, and in our pages. Its
franka.launch.py alone has 172.16.0.3, which is never used here."""


def check_address(address: str, *, simulated: bool) -> str:
    """
    Return the numeric address behind one, or behind a name, for the connection.

    A name is looked up once, so that what was checked is what is connected to. Raises
    SimulatedServerError where what was stated about it cannot be so: an address of this computer
    is a simulation, and any other may be a robot. Raises NoRouteError for what is no address.
    """
    resolved = resolved_address(address)
    if not simulated and is_here(resolved):
        raise SimulatedServerError(
            f'{address} is this computer, so no robot serves there: state that the robot is '
            'simulated (--simulated-robot, or simulated_robot:=true with ros2 launch), or give '
            'the address of the robot.'
        )
    if simulated and not is_here(resolved):
        raise SimulatedServerError(
            f'{address} is not this computer, so it may be a robot: leave --simulated-robot out, '
            'so that plans are approved by a person, or serve the simulation here (127.0.0.1).'
        )
    return resolved


def resolved_address(address: str) -> str:
    """
    Return a numeric address of IPv4, which the robot's control has alone.

    Raises NoRouteError for what is no address.
    """
    try:
        ((_, _, _, _, (resolved, *_)), *_) = socket.getaddrinfo(address, None, socket.AF_INET)
        return str(resolved)
    except (OSError, UnicodeError) as error:
        why = f'({error})'
    with suppress(ValueError):
        if ipaddress.ip_address(address.strip('[]')).version == 6:
            why = 'that the robot could have: it is one of IPv6, and its control has IPv4 alone'
    raise NoRouteError(
        f'{address!r} is no address {why}.',
        f'That of the robot is in Desk under Settings > Network, such as {ROBOT_IP}.',
    )


def is_here(resolved: str) -> bool:
    """Return whether an address is one of this computer: to its own alone can it bind."""
    if ipaddress.ip_address(resolved).is_loopback:
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        try:
            own.bind((resolved, 0))
        except OSError:
            return False
    return True
