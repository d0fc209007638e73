"""Whether an address can be that of a robot, or of a simulation of one."""

import ipaddress
import socket

from bbllm_franka.errors import NoRouteError, SimulatedServerError


def check_address(address: str, *, simulated: bool) -> None:
    """
    Raise SimulatedServerError where what was stated about an address cannot be so.

    An address of this computer is a simulation, and any other may be a robot: whatever is stated,
    nothing moves there that a person did not approve. Raises NoRouteError for a name that does not
    resolve.
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
    if simulated and not _is_here(str(resolved)):
        raise SimulatedServerError(
            f'{address} is not this computer, so it may be a robot: leave --simulated-robot out, '
            'so that plans are approved by a person, or serve the simulation here (127.0.0.1).'
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
