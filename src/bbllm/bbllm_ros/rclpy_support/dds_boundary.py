"""
Where messages may go: this machine only, unless it is opened to the network.

A profile of Fast DDS keeps a process to loopback sockets and shared memory. rmw_fastrtps adds
other transports to it for the discovery range LOCALHOST, and none for SYSTEM_DEFAULT. The
environment chooses both, so all that is decided here is an environment (docs/security.md). Needs
no ROS.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir

NETWORK = 'BBLLM_NETWORK'
"""Opens a stack, or a client, to the network; true or false."""
PROFILE = 'bbllm_loopback.xml'
"""`activate` chooses it, too; any file of this name is ours."""
FILE = 'FASTRTPS_DEFAULT_PROFILES_FILE'
"""Names the profile to Fast DDS 2.14."""
SKIP = 'SKIP_DEFAULT_XML_FILE'
"""Keeps Fast DDS from the file DEFAULT_FASTRTPS_PROFILES.xml of whatever folder it runs in."""
RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
OLD_RANGE = 'ROS_LOCALHOST_ONLY'
"""What `RANGE` replaces; where it is 1, LOCALHOST is the range whatever else is set."""
RMW = 'RMW_IMPLEMENTATION'
FAST_DDS = 'rmw_fastrtps_cpp'
"""The middleware where none is chosen; only those that begin with rmw_fastrtps read profiles."""
DECIDED = (FILE, SKIP, RANGE, OLD_RANGE)


def profile_file() -> Path:
    return config_dir() / 'dds' / PROFILE


def wants_network(environ: Mapping[str, str]) -> bool:
    """Return whether an environment is open to the network; ConfigError for a wrong value."""
    value = environ.get(NETWORK) or 'false'
    if value not in ('true', 'false'):
        raise ConfigError(f'{NETWORK} is {value[:40]!r}: set it to true or to false.')
    return value == 'true'


def has_own_profile(environ: Mapping[str, str]) -> bool:
    """Return whether another profile was chosen, which then decides alone."""
    return Path(environ.get(FILE, '')).name not in ('', PROFILE)


def bounded(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment whose processes stay on this machine, or use the network."""
    env = dict(environ)
    is_open = wants_network(env)
    if has_own_profile(env):
        return env
    if env.pop(FILE, ''):  # ours, from a process that this one was started by
        env.pop(SKIP, None)
        if env.get(RANGE) == 'SYSTEM_DEFAULT':
            del env[RANGE]
    if is_open:
        env.setdefault(RANGE, 'SUBNET')
    elif (env.get(RMW) or FAST_DDS).startswith('rmw_fastrtps'):
        env |= {FILE: str(profile_file()), SKIP: '1', RANGE: 'SYSTEM_DEFAULT'}
        env.pop(OLD_RANGE, None)
    else:
        env.setdefault(RANGE, 'LOCALHOST')
    return env


def bound_process(environ: Mapping[str, str] | None = None) -> None:
    """
    Keep this process, and those that it starts, in the boundary of *environ* (or its own).

    Only before its first node: Fast DDS reads its profile once.
    """
    # rcl and Fast DDS read these from the process; there is no other way to give them.
    env = bounded(os.environ if environ is None else environ)
    for name in DECIDED:
        if name in env:
            os.environ[name] = env[name]
        else:
            os.environ.pop(name, None)
